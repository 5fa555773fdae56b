//! Computes vectors with the user's own model, from thumbnails, which are as large as the input of most models.
//! Finished batches stay in the store, so that an interruption loses little.

use super::{
    TaskContext,
    cluster_step::Scope,
    progress::{ProgressRange, fraction},
};
use crate::{learned_model::LearnedModel, store::model_vector, task_error::TaskError};
use tessera_model::DatasetId;
use tessera_picture::decode::decode;

const BATCH_SIZE: usize = 32;

/// Encodes media without a vector of the model of this deployment, except those that the model rejects. Without a
/// model, deletes the vectors of a former one.
pub fn encode_media(
    context: &TaskContext,
    dataset: DatasetId,
    scope: Scope,
    progress: &ProgressRange,
) -> Result<(), TaskError> {
    let model = context.settings.model.as_deref();
    let fingerprint = model.map(LearnedModel::fingerprint);
    if context.store.read(|c| model_vector::applied_model(c, dataset))? != fingerprint {
        context.write(|tx| model_vector::replace_model(tx, dataset, fingerprint))?;
    }
    let Some(model) = model else { return Ok(()) };
    let rows = context.store.read(|c| model_vector::missing(c, dataset, scope.source_row()))?;
    let mut done = 0;
    for batch in rows.chunks(BATCH_SIZE) {
        if !progress.report(fraction(done, rows.len())) {
            return Err(TaskError::Stopped);
        }
        let thumbnails = context.store.read(|c| model_vector::thumbnails(c, batch))?;
        // Each call uses all cores already.
        let encoded: Vec<_> = thumbnails
            .iter()
            .filter_map(|(row, jpeg)| {
                let pixels = decode(jpeg, model.input_side()).ok()?.pixels;
                Some((*row, model.encode_image(&pixels).ok()?.vector))
            })
            .collect();
        context.write(|tx| model_vector::upsert_all(tx, &encoded))?;
        done += batch.len();
    }
    Ok(())
}
