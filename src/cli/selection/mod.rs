//! `tessera selection`: what is marked in a dataset. Without `--name` it is the basket of the interface,
//! with it a selection that is kept by that name.

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

/// The commands.
#[derive(Debug, Subcommand)]
pub enum SelectionCommand {
    /// Mark media and clusters.
    Add(SelectionAddOptions),
    /// Take marks away.
    Remove {
        /// Of what.
        #[command(flatten)]
        which: SelectionOptions,
        /// The marks.
        #[command(flatten)]
        marks: ItemOptions,
    },
    /// Leave media out of marked clusters.
    Exclude {
        /// Of what.
        #[command(flatten)]
        which: SelectionOptions,
        /// The media that are left out; after `^` of the cluster that holds them, where that is not
        /// known here.
        #[command(flatten)]
        marks: ItemOptions,
    },
    /// Show what is marked.
    Show {
        /// Of what.
        #[command(flatten)]
        which: SelectionOptions,
    },
    /// List the selections that have a name.
    List,
    /// Take every mark away; a selection with a name is forgotten.
    Clear {
        /// Of what.
        #[command(flatten)]
        which: SelectionOptions,
    },
    /// Mark what a file says, in the place of what is marked.
    #[command(allow_missing_positional = true)]
    Import {
        /// Of what.
        #[command(flatten)]
        which: SelectionOptions,
        /// The file; - is standard input.
        from: PathBuf,
    },
    /// Write what is marked into a new file.
    #[command(allow_missing_positional = true)]
    Export {
        /// Of what.
        #[command(flatten)]
        which: SelectionOptions,
        /// The file; - is standard output.
        to: PathBuf,
    },
}

/// Which selection.
#[derive(Debug, Args)]
pub struct SelectionOptions {
    /// The dataset: its id or its name.
    #[arg(id = "of", value_name = "DATASET")]
    dataset: Option<String>,
    /// The selection of this name, instead of the basket.
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

/// Runs one of them.
///
/// # Errors
/// The dataset or the selection is not there, or the state folder cannot be read or written.
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
        context.messages.info("nothing is marked");
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
        before => format!(", in the place of {}", count_with_noun(before, "mark", "marks")),
    };
    context
        .messages
        .info(format!("{}{instead}", count_with_noun(selection.len(), "mark", "marks")));
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
        .info(format!("{} in {file}", count_with_noun(selection.len(), "mark", "marks")));
    Ok(Exit::Done)
}
