//! `tessera selection`: the basket of the interface, or with `--name` a named selection.

mod edit;
mod results;
mod store;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use edit::SelectionAddOptions;
use store::SelectionStore;

use crate::{
    cli::{
        CliError, Column, Context, Document, Exit, item_options::ItemOptions, read_file_or_stdin,
    },
    state,
};
use tessera_model::{SafeText, text::count_with_noun};

#[derive(Debug, Subcommand)]
pub enum SelectionCommand {
    /// Select media and clusters.
    Add(SelectionAddOptions),
    /// Deselect media and clusters.
    Remove {
        #[command(flatten)]
        which: SelectionOptions,
        #[command(flatten)]
        marks: ItemOptions,
    },
    /// Exclude media from selected clusters.
    Exclude {
        #[command(flatten)]
        which: SelectionOptions,
        #[command(flatten)]
        marks: ItemOptions,
    },
    /// Show the selection.
    Show {
        #[command(flatten)]
        which: SelectionOptions,
    },
    /// List the named selections.
    List,
    /// Clear the selection; a named selection is deleted.
    Clear {
        #[command(flatten)]
        which: SelectionOptions,
    },
    /// Replace the selection with one loaded from a file.
    #[command(allow_missing_positional = true)]
    Import {
        #[command(flatten)]
        which: SelectionOptions,
        /// Selection file; - for standard input.
        from: PathBuf,
    },
    /// Save the selection to a new file.
    #[command(allow_missing_positional = true)]
    Export {
        #[command(flatten)]
        which: SelectionOptions,
        /// File to write; - for standard output.
        to: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct SelectionOptions {
    /// ID or name of the dataset.
    #[arg(id = "of", value_name = "DATASET")]
    dataset: Option<String>,
    /// Name of the selection, instead of the basket.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

const ITEM_COLUMNS: &[Column] = &[
    Column::new("NAME", "name"),
    Column::new("CLUSTER", "cluster_id"),
    Column::new("MEDIA", "media_id"),
    Column::new("ENTITY", "entity_type"),
    Column::new("MEMBERS", "members"),
    Column::new("LEFT OUT", "excluded"),
    Column::new("STALE", "stale"),
];

pub async fn run(context: &Context, command: SelectionCommand) -> Result<Exit, CliError> {
    match command {
        SelectionCommand::Add(add) => add.run(context).await,
        SelectionCommand::Remove { which, marks } => edit::remove(context, which, &marks).await,
        SelectionCommand::Exclude { which, marks } => edit::exclude(context, which, &marks).await,
        SelectionCommand::Show { which } => {
            show_selection(context, &SelectionStore::open(context, which).await?)
        }
        SelectionCommand::List => store::list(context),
        SelectionCommand::Clear { which } => {
            SelectionStore::open(context, which).await?.clear(context)
        }
        SelectionCommand::Import { which, from } => import_selection(context, which, from).await,
        SelectionCommand::Export { which, to } => {
            export_selection(context, &SelectionStore::open(context, which).await?, to)
        }
    }
}

fn show_selection(context: &Context, kept: &SelectionStore) -> Result<Exit, CliError> {
    let selection = kept.load()?;
    let document = state::write_selection(kept.dataset, &selection);
    context.print(&Document::list("tessera.selection/1", document, "_marks", ITEM_COLUMNS))?;
    if selection.is_empty() {
        context.messages.info("the selection is empty");
    }
    Ok(Exit::Done)
}

async fn import_selection(
    context: &Context,
    which: SelectionOptions,
    from: PathBuf,
) -> Result<Exit, CliError> {
    let kept = SelectionStore::open(context, which).await?;
    let source = read_file_or_stdin(&from)?;
    let selection = state::read_selection(&source, kept.dataset)
        .map_err(|reason| CliError::new(Exit::Invalid, format!("{}: {reason}", from.display())))?;
    let before = kept.load_or_default()?.len();
    kept.save(&selection)?;
    let instead = match before {
        0 => String::new(),
        before => format!(", replacing {}", count_with_noun(before, "entry", "entries")),
    };
    context
        .messages
        .info(format!("{}{instead}", count_with_noun(selection.len(), "entry", "entries")));
    Ok(Exit::Done)
}

fn export_selection(
    context: &Context,
    kept: &SelectionStore,
    to: PathBuf,
) -> Result<Exit, CliError> {
    let selection = kept.load()?;
    if to.as_os_str() == "-" {
        context.out.print_json(&state::write_selection(kept.dataset, &selection))?;
        return Ok(Exit::Done);
    }
    let file = state::save_selection(to, kept.dataset, &selection)?;
    let file = SafeText::file_name(&file.to_string_lossy());
    context
        .messages
        .info(format!("{} in {file}", count_with_noun(selection.len(), "entry", "entries")));
    Ok(Exit::Done)
}
