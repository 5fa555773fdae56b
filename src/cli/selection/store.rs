//! Where a selection is saved: as the basket of a dataset, or in a file under its name. A running
//! interface has its own copy of the basket: the last write wins.

use serde_json::{Value, json};

use super::SelectionOptions;
use crate::{
    cli::{CliError, Column, Context, Document, Exit},
    state::StateStore,
};
use tessera_model::{DatasetId, SafeText, Selection, StateKey, StateValue};

pub(super) struct SelectionStore {
    journal: StateStore,
    pub(super) dataset: DatasetId,
    /// `None` for the basket.
    name: Option<String>,
}

const LIST_COLUMNS: &[Column] = &[
    Column::new("NAME", "name"),
    Column::new("DATASET", "dataset_id"),
    Column::new("CLUSTERS", "clusters"),
    Column::new("MEDIA", "media"),
    Column::new("LEFT OUT", "excluded"),
    Column::new("ESTIMATED", "estimated_total"),
];

impl SelectionStore {
    /// Opens the selection. Sends a request only if the dataset is given by name.
    pub(super) async fn open(context: &Context, which: SelectionOptions) -> Result<Self, CliError> {
        let SelectionOptions { dataset, name } = which;
        let dataset = context.dataset_id(dataset.as_deref()).await?;
        Ok(Self { journal: context.journal()?, dataset, name })
    }

    pub(super) fn load(&self) -> Result<Selection, CliError> {
        let Some(name) = &self.name else { return self.load_or_default() };
        self.journal.load_named_selection(name, self.dataset)?.ok_or_else(|| {
            let message = format!("there is no selection `{}`", SafeText::name(name));
            CliError::not_found(message).with_remedy("tessera selection list")
        })
    }

    /// The selection, or an empty one if it does not exist yet.
    pub(super) fn load_or_default(&self) -> Result<Selection, CliError> {
        if let Some(name) = &self.name {
            return Ok(self.journal.load_named_selection(name, self.dataset)?.unwrap_or_default());
        }
        match self.journal.load(&StateKey::Basket(self.dataset))? {
            Some(StateValue::Basket(_, selection)) => Ok(selection),
            _ => Ok(Selection::default()),
        }
    }

    pub(super) fn save(&self, selection: &Selection) -> Result<(), CliError> {
        match &self.name {
            Some(name) => {
                self.journal.save_named_selection(name, self.dataset, selection).map(drop)?;
            }
            None => self.journal.save(1, &StateValue::Basket(self.dataset, selection.clone()))?,
        }
        Ok(())
    }

    /// Empties the basket, or deletes the named selection.
    pub(super) fn clear(&self, context: &Context) -> Result<Exit, CliError> {
        let selection = self.load()?;
        match &self.name {
            Some(name) => drop(self.journal.delete_named_selection(name)?),
            None => self.save(&Selection::default())?,
        }
        context.messages.info(format!("removed {} entries", selection.len()));
        Ok(Exit::Done)
    }
}

/// Lists all named selections.
pub(super) fn list(context: &Context) -> Result<Exit, CliError> {
    let journal = context.journal()?;
    let mut rows: Vec<Value> = Vec::new();
    for name in journal.selection_names()? {
        match journal.load_named_selection_of_any_dataset(&name) {
            Ok(Some((dataset, selection))) => rows.push(selection_row(&name, dataset, &selection)),
            // Deleted since the names were read.
            Ok(None) => {}
            Err(failure) => context.messages.warn(failure.to_string()),
        }
    }
    let answer = json!({ "selections": rows });
    context.print(&Document::list("tessera.selections/1", answer, "selections", LIST_COLUMNS))
}

fn selection_row(name: &str, dataset: Option<DatasetId>, selection: &Selection) -> Value {
    let totals = selection.totals();
    json!({
        "name": name,
        "dataset_id": dataset,
        "clusters": totals.clusters,
        "media": totals.media,
        "excluded": totals.excluded,
        "estimated_total": totals.export_rows(),
        "stale": totals.stale,
    })
}
