//! Where a selection is saved: as the basket of a dataset, or in a file under its name. A running
//! interface has its own copy of the basket: the last write wins.

use clap::Args;

use crate::{
    cli::{CliError, CliResult, Context, Exit},
    state::StateStore,
};
use tessera_model::{DatasetId, SafeText, Selection, StateValue, text::count_with_noun};

#[derive(Debug, Args)]
pub struct SelectionOptions {
    /// ID or name of the dataset.
    #[arg(id = "of", value_name = "DATASET")]
    dataset: Option<String>,
    /// Name of the selection, instead of the basket.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

pub(super) struct SelectionStore {
    journal: StateStore,
    pub(super) dataset: DatasetId,
    /// `None` for the basket.
    name: Option<String>,
}

impl SelectionStore {
    /// Opens the selection. Sends a request only if the dataset is given by name.
    pub(super) async fn open(context: &Context, options: SelectionOptions) -> CliResult<Self> {
        let dataset = context.dataset_id(options.dataset.as_deref()).await?;
        Ok(Self { journal: context.journal()?, dataset, name: options.name })
    }

    pub(super) fn load(&self) -> CliResult<Selection> {
        let Some(name) = &self.name else { return self.load_or_default() };
        self.journal.load_named_selection(name, self.dataset)?.ok_or_else(|| {
            let message = format!("unknown selection `{}`", SafeText::name(name));
            CliError::not_found(message).with_remedy("tessera selection list")
        })
    }

    pub(super) fn load_or_default(&self) -> CliResult<Selection> {
        Ok(match &self.name {
            Some(name) => {
                self.journal.load_named_selection(name, self.dataset)?.unwrap_or_default()
            }
            None => self.journal.basket(self.dataset)?,
        })
    }

    pub(super) fn save(&self, selection: &Selection) -> CliResult<()> {
        match &self.name {
            Some(name) => drop(self.journal.save_named_selection(name, self.dataset, selection)?),
            None => self.journal.replace(&StateValue::Basket(self.dataset, selection.clone()))?,
        }
        Ok(())
    }

    /// Empties the basket, or deletes the named selection.
    pub(super) fn clear(&self, context: &Context) -> CliResult {
        let selection = self.load()?;
        match &self.name {
            Some(name) => drop(self.journal.delete_named_selection(name)?),
            None => self.save(&Selection::default())?,
        }
        context.messages.info(format!("removed {}", count_entries(selection.len())));
        Ok(Exit::Done)
    }
}

/// "1 entry", "2 entries".
pub(super) fn count_entries(count: usize) -> String {
    count_with_noun(count, "entry", "entries")
}
