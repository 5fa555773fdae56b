//! `tessera selection`: the basket of the interface, or with `--name` a named selection.

mod edit;
mod files;
mod list;
mod results;
mod store;

use std::path::PathBuf;

use clap::Subcommand;

use self::{
    edit::SelectionAddOptions,
    store::{SelectionOptions, SelectionStore},
};
use crate::cli::{CliResult, Context, item_options::ItemOptions};

#[derive(Debug, Subcommand)]
pub enum SelectionCommand {
    /// Select media and clusters.
    Add(SelectionAddOptions),
    /// Deselect media and clusters.
    Remove {
        #[command(flatten)]
        selection: SelectionOptions,
        #[command(flatten)]
        items: ItemOptions,
    },
    /// Exclude media from selected clusters.
    Exclude {
        #[command(flatten)]
        selection: SelectionOptions,
        #[command(flatten)]
        items: ItemOptions,
    },
    /// Show the selection.
    Show {
        #[command(flatten)]
        selection: SelectionOptions,
    },
    /// List the named selections.
    List,
    /// Clear the selection; a named selection is deleted.
    Clear {
        #[command(flatten)]
        selection: SelectionOptions,
    },
    /// Replace the selection with one loaded from a file.
    #[command(allow_missing_positional = true)]
    Import {
        #[command(flatten)]
        selection: SelectionOptions,
        /// Selection file; - for standard input.
        from: PathBuf,
    },
    /// Save the selection to a new file.
    #[command(allow_missing_positional = true)]
    Export {
        #[command(flatten)]
        selection: SelectionOptions,
        /// File to write; - for standard output.
        to: PathBuf,
    },
}

pub async fn run(context: &Context, command: SelectionCommand) -> CliResult {
    let open = async |selection| SelectionStore::open(context, selection).await;
    match command {
        SelectionCommand::Add(options) => options.run(context).await,
        SelectionCommand::Remove { selection, items } => {
            edit::remove(context, selection, &items).await
        }
        SelectionCommand::Exclude { selection, items } => {
            edit::exclude(context, &open(selection).await?, &items)
        }
        SelectionCommand::Show { selection } => list::show(context, &open(selection).await?),
        SelectionCommand::List => list::list(context),
        SelectionCommand::Clear { selection } => open(selection).await?.clear(context),
        SelectionCommand::Import { selection, from } => {
            files::import(context, &open(selection).await?, &from)
        }
        SelectionCommand::Export { selection, to } => {
            files::export(context, &open(selection).await?, to)
        }
    }
}
