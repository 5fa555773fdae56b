//! Computes the embeddings with which texts are compared, in a text space that is trained on the captions and labels of
//! the dataset. A batch is embedded in the existing space, and a reindex trains the space again.

use half::f16;

use super::{TaskContext, member_features::Scope};
use crate::task_error::TaskError;
use tessera_model::DatasetId;
use tessera_search::text::{language::Language, lsa::TextSpace};
use tessera_store::{Transaction, embedding};

enum TextSpaceUpdate {
    Kept,
    /// The space is replaced. The new space is `None` if no media item has text.
    Replaced(Option<TextSpace>),
}

pub struct EmbeddingUpdate {
    dataset: DatasetId,
    space: TextSpaceUpdate,
    /// The vectors in the order of their rows.
    vectors: Vec<(i64, Vec<f16>)>,
}

impl EmbeddingUpdate {
    pub fn compute(
        context: &TaskContext,
        dataset: DatasetId,
        scope: Scope,
        language: Language,
    ) -> Result<Self, TaskError> {
        context.check_cancelled()?;
        let texts = context.store.read(|c| embedding::texts(c, dataset, scope.source_row()))?;
        let space = match scope {
            Scope::Everything => TextSpace::train(language, texts.iter().map(|(_, text)| text)),
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

    /// Returns the dimension of the new embeddings, or `None` if there are none.
    pub fn dimension(&self) -> Option<usize> {
        self.vectors.first().map(|(_, vector)| vector.len())
    }

    /// Whether earlier embeddings are deleted.
    pub fn replaces_all(&self) -> bool {
        matches!(self.space, TextSpaceUpdate::Replaced(_))
    }

    /// Returns the new embedding of a media item.
    pub fn of(&self, row: i64) -> Option<&[f16]> {
        let found = self.vectors.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        Some(&self.vectors[found].1)
    }

    pub fn write(&self, transaction: &Transaction) -> tessera_store::Result<()> {
        if let TextSpaceUpdate::Replaced(space) = &self.space {
            let bytes = space.as_ref().map(TextSpace::to_bytes);
            embedding::replace_text_space(transaction, self.dataset, bytes.as_deref())?;
        }
        embedding::upsert_all(transaction, &self.vectors)
    }
}
