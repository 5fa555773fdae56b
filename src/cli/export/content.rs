//! What is exported when it is not the whole dataset: a selection by its name, from a file, or put
//! together on the command line.

use std::path::PathBuf;

use clap::Args;

use crate::{
    cli::{CliError, Connection, Context, Exit, item_options::ItemOptions, read_file_or_stdin},
    state,
};
use tessera_model::{Dataset, Selection};

/// The options that choose.
#[derive(Debug, Args)]
#[command(next_help_heading = "What is exported; else all of the dataset")]
pub struct ExportContentOptions {
    /// The selection that was kept under this name.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["media", "cluster", "selection_file"])]
    selection: Option<String>,
    /// The selection in a file, or `-` for standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["media", "cluster"])]
    selection_file: Option<PathBuf>,
    /// What is named here.
    #[command(flatten)]
    items: ItemOptions,
}

impl ExportContentOptions {
    /// The name of the selection, if it has one.
    pub(super) fn name(&self) -> Option<&str> {
        self.selection.as_deref()
    }

    /// What is exported; `None` for the whole dataset.
    ///
    /// # Errors
    /// There is no such selection, it is of another dataset, or nothing is in it.
    pub(super) fn selection(
        &self,
        context: &Context,
        connection: &Connection,
        dataset: &Dataset,
    ) -> Result<Option<Selection>, CliError> {
        let selection = if let Some(name) = &self.selection {
            connection.journal.load_named_selection(name, dataset.id)?.ok_or_else(|| {
                let sentence = format!("no selection is called `{name}`");
                CliError::new(Exit::NotFound, sentence).with_remedy("tessera selection list")
            })?
        } else if let Some(path) = &self.selection_file {
            let source = read_file_or_stdin(path)?;
            state::read_selection(&source, dataset.id).map_err(|reason| {
                CliError::new(Exit::Usage, format!("{}: {reason}", path.display()))
            })?
        } else if self.items.is_empty() {
            return Ok(None);
        } else {
            self.items.to_marks().collect()
        };
        if selection.is_empty() {
            return Err(CliError::new(Exit::Usage, "nothing is marked in this selection"));
        }
        let stale = selection.totals().stale;
        if stale > 0 {
            context.messages.warn(format!(
                "{stale} clusters are from before the dataset was clustered anew and may be gone"
            ));
        }
        Ok(Some(selection))
    }
}
