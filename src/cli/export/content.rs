//! What to export: a saved selection, a selection file, or items named on the command line.

use std::path::PathBuf;

use clap::Args;

use crate::{
    cli::{CliError, CliResult, Connection, item_options::ItemOptions, read_file_or_stdin},
    state,
};
use tessera_model::{Dataset, Selection};

#[derive(Debug, Args)]
#[command(next_help_heading = "What to export [default: the whole dataset]")]
pub struct ExportContentOptions {
    /// The saved selection of this name.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["media", "cluster", "selection_file"])]
    selection: Option<String>,
    /// A selection file; `-` for standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["media", "cluster"])]
    selection_file: Option<PathBuf>,
    #[command(flatten)]
    items: ItemOptions,
}

impl ExportContentOptions {
    pub(super) fn name(&self) -> Option<&str> {
        self.selection.as_deref()
    }

    /// The selection to export; `None` for the whole dataset.
    pub(super) fn selection(
        &self,
        connection: &Connection<'_>,
        dataset: &Dataset,
    ) -> CliResult<Option<Selection>> {
        let selection = if let Some(name) = &self.selection {
            connection.journal.load_named_selection(name, dataset.id)?.ok_or_else(|| {
                let message = format!("unknown selection `{name}`");
                CliError::not_found(message).with_remedy("tessera selection list")
            })?
        } else if let Some(path) = &self.selection_file {
            let source = read_file_or_stdin(path)?;
            state::read_selection(&source, dataset.id)
                .map_err(|reason| CliError::usage(format!("{}: {reason}", path.display())))?
        } else if self.items.is_empty() {
            return Ok(None);
        } else {
            self.items.entries().collect()
        };
        if selection.is_empty() {
            return Err(CliError::usage("this selection is empty"));
        }
        let stale = selection.totals().stale;
        if stale > 0 {
            connection.context.messages.warn(format!(
                "{stale} clusters were selected before the last reindex and may no longer exist"
            ));
        }
        Ok(Some(selection))
    }
}
