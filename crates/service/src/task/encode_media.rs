//! Computes vectors and labels with the user's own model. Finished batches stay in the store, so that an interruption
//! loses little work.

use super::{
    TaskContext,
    member_features::Scope,
    model_pictures::ModelPictures,
    progress::{ProgressRange, fraction},
};
use crate::task_error::TaskError;
use tessera_encoder::{Encoder, HashedFile};
use tessera_media::ingest::sidecar::push_name;
use tessera_model::DatasetId;
use tessera_store::{
    applied_model::{self, AppliedModel, ModelFile, ModelRecord},
    model_label, model_vector,
};

const BATCH_SIZE: usize = 32;

/// Encodes the media that have no vector of this deployment's model, except media that the model rejects. Without a
/// model, deletes the vectors and labels of a previous model.
pub fn encode_media(
    context: &TaskContext,
    dataset: DatasetId,
    scope: Scope,
    progress: &ProgressRange,
) -> Result<(), TaskError> {
    let model = context.settings.model.as_deref();
    let fingerprint = model.map(Encoder::fingerprint);
    if context.store.read(|c| applied_model::fingerprint(c, dataset))? != fingerprint {
        let applied = model.map(applied);
        context.write(|tx| applied_model::replace(tx, dataset, applied.as_ref()))?;
    }
    let Some(model) = model else { return Ok(()) };
    let rows = context.store.read(|c| model_vector::missing(c, dataset, scope.source_row()))?;
    let mut pictures = ModelPictures::new(context, model.input_side());
    let mut done = 0;
    for batch in rows.chunks(BATCH_SIZE) {
        if !progress.report(fraction(done, rows.len())) {
            return Err(TaskError::Stopped);
        }
        let (mut vectors, mut labels) = (Vec::new(), Vec::new());
        pictures.for_each(batch, |row, pixels| {
            // Calls are not made in parallel, because each call uses all cores already.
            let Ok(encoded) = model.encode_image(pixels) else { return };
            vectors.push((row, encoded.vector));
            labels.extend(encoded.label.map(|label| (row, bounded(&label.labels))));
        })?;
        context.write(|tx| {
            model_vector::upsert_all(tx, &vectors)?;
            model_label::insert_all(tx, &labels)
        })?;
        done += batch.len();
    }
    Ok(())
}

fn applied(model: &Encoder) -> AppliedModel {
    let file = |HashedFile { path, sha256 }: &HashedFile| ModelFile {
        path: path.clone(),
        sha256: sha256.clone(),
    };
    let record = ModelRecord {
        name: model.name(),
        takes_texts: model.takes_texts(),
        files: model.hashed_files().iter().map(file).collect(),
    };
    AppliedModel { fingerprint: model.fingerprint(), record }
}

/// Applies the same limits as for labels of the dataset.
fn bounded(labels: &[String]) -> Vec<String> {
    let mut bounded = Vec::new();
    for label in labels {
        push_name(&mut bounded, label);
    }
    bounded
}
