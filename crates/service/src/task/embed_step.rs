//! Computes embeddings that texts are compared with, in a text space trained on the captions and
//! labels of the dataset. A batch is embedded in the existing space; a reindex trains it again. The
//! user's own encoders, if configured, replace it.

use half::f16;

use super::{
    TaskContext, cluster_step::Scope, encode_media::encode_media, progress::ProgressRange,
};
use crate::{
    store::{self, Transaction, embedding},
    task_error::TaskError,
    text::lsa::TextSpace,
};
use tessera_model::DatasetId;

enum TextSpaceUpdate {
    Kept,
    /// `None` if no media item has text.
    Replaced(Option<TextSpace>),
}

pub struct EmbeddingUpdate {
    dataset: DatasetId,
    space: TextSpaceUpdate,
    vectors: Vec<(i64, Vec<f16>)>,
}

impl EmbeddingUpdate {
    pub fn compute(
        context: &TaskContext,
        dataset: DatasetId,
        scope: Scope,
        progress: &ProgressRange,
    ) -> Result<Self, TaskError> {
        context.check_cancelled()?;
        if let Some(encoders) = &context.settings.encoders {
            encode_media(context, dataset, scope, encoders, progress)?;
            return Ok(Self { dataset, vectors: Vec::new(), space: TextSpaceUpdate::Kept });
        }
        let texts = context.store.read(|c| embedding::texts(c, dataset, scope.source_row()))?;
        let space = match scope {
            Scope::Everything => TextSpace::train(texts.iter().map(|(_, text)| text)),
            Scope::Batch(_) => {
                let kept = context.store.read(|c| embedding::text_space(c, dataset))?;
                kept.and_then(|bytes| TextSpace::from_bytes(&bytes))
            }
        };
        let embed = |(row, text): &(i64, String)| Some((*row, space.as_ref()?.embed(text)?));
        let vectors = texts.iter().filter_map(embed).collect();
        let space = match scope {
            Scope::Everything => TextSpaceUpdate::Replaced(space),
            Scope::Batch(_) => TextSpaceUpdate::Kept,
        };
        Ok(Self { dataset, space, vectors })
    }

    pub fn write(&self, transaction: &Transaction) -> store::Result<()> {
        if let TextSpaceUpdate::Replaced(space) = &self.space {
            let bytes = space.as_ref().map(TextSpace::to_bytes);
            embedding::replace_text_space(transaction, self.dataset, bytes.as_deref())?;
        }
        embedding::upsert_all(transaction, &self.vectors)
    }
}
