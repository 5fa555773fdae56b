//! Where a selection is kept: the basket of a dataset, or a file with its name. A running interface
//! holds a basket of its own: whoever writes last wins.

use serde_json::{Value, json};

use super::Which;
use crate::{
    cli::{Column, Context, Document, Ended, Exit},
    journal::Journal,
};
use tessera_model::{Book, DatasetId, Entry, SafeText, Selection};

/// A selection that is kept.
pub(super) struct Kept {
    journal: Journal,
    /// The dataset.
    pub(super) dataset: DatasetId,
    /// Its name; `None` for the basket.
    name: Option<String>,
}

const NAMED: &[Column] = &[
    Column::new("NAME", "name"),
    Column::new("DATASET", "dataset_id"),
    Column::new("CLUSTERS", "clusters"),
    Column::new("MEDIA", "media"),
    Column::new("LEFT OUT", "excluded"),
    Column::new("ESTIMATED", "estimated_total"),
];

impl Kept {
    /// Finds out which it is. The dataset is asked for only where it is not named by its id.
    pub(super) async fn open(context: &Context, which: Which) -> Result<Self, Ended> {
        let Which { dataset, name } = which;
        let dataset = context.dataset_id(dataset.as_deref()).await?;
        Ok(Self { journal: context.journal()?, dataset, name })
    }

    /// What is marked.
    ///
    /// # Errors
    /// There is no selection of this name: [`Exit::NotFound`]; or it cannot be read.
    pub(super) fn read(&self) -> Result<Selection, Ended> {
        let Some(name) = &self.name else { return self.older() };
        self.journal.named(name, self.dataset)?.ok_or_else(|| {
            let sentence = format!("no selection is called `{}`", SafeText::name(name));
            Ended::new(Exit::NotFound, sentence).remedy("tessera selection list")
        })
    }

    /// What was marked so far; nothing where there is no such selection yet.
    pub(super) fn older(&self) -> Result<Selection, Ended> {
        if let Some(name) = &self.name {
            return Ok(self.journal.named(name, self.dataset)?.unwrap_or_default());
        }
        match self.journal.recall(&Book::Basket(self.dataset))? {
            Some(Entry::Basket(_, selection)) => Ok(selection),
            _ => Ok(Selection::default()),
        }
    }

    /// Keeps this in its place.
    pub(super) fn write(&self, selection: &Selection) -> Result<(), Ended> {
        match &self.name {
            Some(name) => self.journal.keep_named(name, self.dataset, selection).map(drop)?,
            None => self.journal.keep(1, &Entry::Basket(self.dataset, selection.clone()))?,
        }
        Ok(())
    }

    /// Empties the basket, or forgets the name.
    pub(super) fn clear(&self, context: &Context) -> Result<Exit, Ended> {
        let selection = self.read()?;
        match &self.name {
            Some(name) => drop(self.journal.forget_named(name)?),
            None => self.write(&Selection::default())?,
        }
        context.note.say(format!("{} marks are gone", selection.len()));
        Ok(Exit::Done)
    }
}

/// Answers with every selection that has a name.
pub(super) fn list(context: &Context) -> Result<Exit, Ended> {
    let journal = context.journal()?;
    let mut rows: Vec<Value> = Vec::new();
    for name in journal.names()? {
        match journal.named_anywhere(&name) {
            Ok(Some((dataset, selection))) => rows.push(row(&name, dataset, &selection)),
            // It went since the names were read.
            Ok(None) => {}
            Err(failure) => context.note.warn(failure.to_string()),
        }
    }
    let answer = json!({ "selections": rows });
    context.answer(&Document::list("tessera.selections/1", answer, "selections", NAMED))?;
    Ok(Exit::Done)
}

fn row(name: &str, dataset: Option<DatasetId>, selection: &Selection) -> Value {
    let totals = selection.totals();
    json!({
        "name": name,
        "dataset_id": dataset,
        "clusters": totals.clusters,
        "media": totals.media,
        "excluded": totals.excluded,
        "estimated_total": totals.rows(),
        "stale": totals.stale,
    })
}
