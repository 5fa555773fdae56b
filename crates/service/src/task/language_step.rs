//! Detects the language of the captions of a dataset whenever all of it is indexed. The full-text indexes contain the
//! stems of this language.

use super::{TaskContext, member_features::Scope};
use crate::task_error::TaskError;
use tessera_model::DatasetId;
use tessera_search::text::{detect_language, language::Language};
use tessera_store::{Transaction, caption_language, full_text};

#[derive(Clone, Copy)]
pub struct LanguageUpdate {
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
        let known = context.store.read(|c| caption_language::find(c, dataset))?;
        let language = match (scope, known.chosen) {
            (Scope::Batch(_), _) => known.indexed,
            (Scope::Everything, Some(chosen)) => chosen,
            (Scope::Everything, None) => {
                let captions = context.store.read(|c| caption_language::captions(c, dataset))?;
                detect_language(captions.iter().map(|(_, caption)| caption)).unwrap_or_default()
            }
        };
        Ok(Self { dataset, indexed: known.indexed, language })
    }

    pub fn write(self, transaction: &Transaction) -> tessera_store::Result<()> {
        if self.language == self.indexed {
            return Ok(());
        }
        full_text::change_language(transaction, self.dataset, self.language)
    }
}
