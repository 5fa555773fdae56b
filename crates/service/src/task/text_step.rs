//! Computes what text searches use: the language of the captions, whose stems the full-text indexes contain, and the
//! text vectors of captions and labels. Both are computed again when the whole dataset is indexed, but a batch is
//! embedded in the existing text space.

use half::f16;

use super::{TaskContext, member_features::Scope};
use crate::task_error::TaskError;
use tessera_model::DatasetId;
use tessera_search::text::{detect_language, language::Language, lsa::TextSpace};
use tessera_store::{Transaction, captions, vectors};

#[derive(Clone, Copy)]
pub(crate) struct LanguageUpdate {
    dataset: DatasetId,
    indexed: Language,
    /// The language of the captions, which may have stayed the same.
    pub language: Language,
}

impl LanguageUpdate {
    /// Determines the language. A batch is indexed in the language of the dataset.
    pub fn compute(
        context: &TaskContext,
        dataset: DatasetId,
        scope: Scope,
    ) -> Result<Self, TaskError> {
        context.check_cancelled()?;
        let known = context.store.read(|c| captions::language(c, dataset))?;
        let language = match (scope, known.chosen) {
            (Scope::Batch(_), _) => known.indexed,
            (Scope::Everything, Some(chosen)) => chosen,
            (Scope::Everything, None) => {
                let captions = context.store.read(|c| captions::captions(c, dataset))?;
                detect_language(captions.iter().map(|(_, caption)| caption)).unwrap_or_default()
            }
        };
        Ok(Self { dataset, indexed: known.indexed, language })
    }

    pub fn write(self, transaction: &Transaction) -> tessera_store::Result<()> {
        if self.language == self.indexed {
            return Ok(());
        }
        captions::change_language(transaction, self.dataset, self.language)
    }
}

enum TextSpaceUpdate {
    Kept,
    /// The space is replaced. The new space is `None` if no media item has text.
    Replaced(Option<TextSpace>),
}

pub(crate) struct TextVectorUpdate {
    dataset: DatasetId,
    /// The language of the captions, by whose stems names are searched as well.
    pub language: Language,
    space: TextSpaceUpdate,
    /// The vectors in the order of their rows.
    vectors: Vec<(i64, Vec<f16>)>,
}

impl TextVectorUpdate {
    pub fn compute(
        context: &TaskContext,
        dataset: DatasetId,
        scope: Scope,
        language: Language,
    ) -> Result<Self, TaskError> {
        context.check_cancelled()?;
        let texts = context.store.read(|c| vectors::texts(c, dataset, scope.source_row()))?;
        let space = match scope {
            Scope::Everything => TextSpace::train(language, texts.iter().map(|(_, text)| text)),
            Scope::Batch(_) => {
                let kept = context.store.read(|c| vectors::text_space(c, dataset))?;
                kept.and_then(|bytes| TextSpace::from_bytes(&bytes))
            }
        };
        let embed = |(row, text): &(i64, String)| Some((*row, space.as_ref()?.embed(text)?));
        let vectors = texts.iter().filter_map(embed).collect();
        let space = match scope {
            Scope::Everything => TextSpaceUpdate::Replaced(space),
            Scope::Batch(_) => TextSpaceUpdate::Kept,
        };
        Ok(Self { dataset, language, space, vectors })
    }

    /// Returns the dimension of the new text vectors, or `None` if there are none.
    pub fn dimension(&self) -> Option<usize> {
        self.vectors.first().map(|(_, vector)| vector.len())
    }

    /// Whether earlier text vectors are deleted.
    pub(crate) fn replaces_all(&self) -> bool {
        matches!(self.space, TextSpaceUpdate::Replaced(_))
    }

    /// Returns the new text vector of a media item.
    pub fn of(&self, row: i64) -> Option<&[f16]> {
        let found = self.vectors.binary_search_by_key(&row, |(row, _)| *row).ok()?;
        Some(&self.vectors[found].1)
    }

    pub fn write(&self, transaction: &Transaction) -> tessera_store::Result<()> {
        if let TextSpaceUpdate::Replaced(space) = &self.space {
            let bytes = space.as_ref().map(TextSpace::to_bytes);
            vectors::replace_text_space(transaction, self.dataset, bytes.as_deref())?;
        }
        vectors::TEXT_VECTORS.upsert_all(transaction, &self.vectors)
    }
}
