//! Computes embeddings with the user's own image encoder, from thumbnails, which are as large as
//! the input of encoders. Finished batches stay in the store, so that an interruption loses little.

use std::sync::Arc;

use super::{
    TaskContext,
    cluster_step::Scope,
    progress::{ProgressRange, fraction},
};
use crate::{store::embedding, task_error::TaskError, text::encoders::Encoders};
use tessera_model::DatasetId;
use tessera_picture::decode::decode;

const BATCH_SIZE: usize = 32;

/// Encodes media without an embedding of these encoders, except those that the encoder rejects.
pub fn encode_media(
    context: &TaskContext,
    dataset: DatasetId,
    scope: Scope,
    encoders: &Arc<Encoders>,
    progress: &ProgressRange,
) -> Result<(), TaskError> {
    let mark = encoders.space_marker();
    if context.store.read(|c| embedding::text_space(c, dataset))?.as_deref() != Some(&mark) {
        context.write(|tx| embedding::replace_text_space(tx, dataset, Some(&mark)))?;
    }
    let rows = context.store.read(|c| embedding::missing(c, dataset, scope.source_row()))?;
    let mut done = 0;
    for batch in rows.chunks(BATCH_SIZE) {
        if !progress.report(fraction(done, rows.len())) {
            return Err(TaskError::Stopped);
        }
        let thumbnails = context.store.read(|c| embedding::thumbnails(c, batch))?;
        // Each call uses all cores already.
        let encoded: Vec<_> = thumbnails
            .iter()
            .filter_map(|(row, jpeg)| {
                let pixels = decode(jpeg, encoders.input_side()).ok()?.pixels;
                Some((*row, encoders.embed_image(&pixels).ok()?))
            })
            .collect();
        context.write(|tx| embedding::upsert_all(tx, &encoded))?;
        done += batch.len();
    }
    Ok(())
}
