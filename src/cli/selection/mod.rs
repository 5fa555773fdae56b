//! `tessera selection`: what is marked in a dataset. Without `--name` it is the basket of the interface,
//! with it a selection that is kept by that name.

mod change;
mod kept;
mod results;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use change::Add;
use kept::Kept;

use crate::{
    cli::{Column, Context, Document, Ended, Exit, marks::Marks, read_argument},
    journal,
};
use tessera_model::{SafeText, text::counted};

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Selection {
    /// Mark media and clusters.
    Add(Add),
    /// Take marks away.
    Remove {
        /// Of what.
        #[command(flatten)]
        which: Which,
        /// The marks.
        #[command(flatten)]
        marks: Marks,
    },
    /// Leave media out of marked clusters.
    Exclude {
        /// Of what.
        #[command(flatten)]
        which: Which,
        /// The media that are left out; after `^` of the cluster that holds them, where that is not
        /// known here.
        #[command(flatten)]
        marks: Marks,
    },
    /// Show what is marked.
    Show {
        /// Of what.
        #[command(flatten)]
        which: Which,
    },
    /// List the selections that have a name.
    List,
    /// Take every mark away; a selection with a name is forgotten.
    Clear {
        /// Of what.
        #[command(flatten)]
        which: Which,
    },
    /// Mark what a file says, in the place of what is marked.
    #[command(allow_missing_positional = true)]
    Import {
        /// Of what.
        #[command(flatten)]
        which: Which,
        /// The file; - is standard input.
        from: PathBuf,
    },
    /// Write what is marked into a new file.
    #[command(allow_missing_positional = true)]
    Export {
        /// Of what.
        #[command(flatten)]
        which: Which,
        /// The file; - is standard output.
        to: PathBuf,
    },
}

/// Which selection.
#[derive(Debug, Args)]
pub struct Which {
    /// The dataset: its id or its name.
    #[arg(id = "of", value_name = "DATASET")]
    dataset: Option<String>,
    /// The selection of this name, instead of the basket.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

const MARKS: &[Column] = &[
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
pub async fn run(context: &Context, command: Selection) -> Result<Exit, Ended> {
    match command {
        Selection::Add(add) => add.run(context).await,
        Selection::Remove { which, marks } => change::remove(context, which, &marks).await,
        Selection::Exclude { which, marks } => change::exclude(context, which, &marks).await,
        Selection::Show { which } => show(context, &Kept::open(context, which).await?),
        Selection::List => kept::list(context),
        Selection::Clear { which } => Kept::open(context, which).await?.clear(context),
        Selection::Import { which, from } => import(context, which, from).await,
        Selection::Export { which, to } => export(context, &Kept::open(context, which).await?, to),
    }
}

fn show(context: &Context, kept: &Kept) -> Result<Exit, Ended> {
    let selection = kept.read()?;
    let document = journal::write_selection(kept.dataset, &selection);
    context.answer(&Document::list("tessera.selection/1", document, "_marks", MARKS))?;
    if selection.is_empty() {
        context.note.say("nothing is marked");
    }
    Ok(Exit::Done)
}

async fn import(context: &Context, which: Which, from: PathBuf) -> Result<Exit, Ended> {
    let kept = Kept::open(context, which).await?;
    let source = read_argument(&from)?;
    let selection = journal::read_selection(&source, kept.dataset)
        .map_err(|reason| Ended::new(Exit::Invalid, format!("{}: {reason}", from.display())))?;
    let before = kept.older()?.len();
    kept.write(&selection)?;
    let instead = match before {
        0 => String::new(),
        before => format!(", in the place of {}", counted(before, "mark", "marks")),
    };
    context.note.say(format!("{}{instead}", counted(selection.len(), "mark", "marks")));
    Ok(Exit::Done)
}

fn export(context: &Context, kept: &Kept, to: PathBuf) -> Result<Exit, Ended> {
    let selection = kept.read()?;
    if to.as_os_str() == "-" {
        context.out.json(&journal::write_selection(kept.dataset, &selection))?;
        return Ok(Exit::Done);
    }
    let file = journal::save_selection(to, kept.dataset, &selection)?;
    let file = SafeText::file(&file.to_string_lossy());
    context.note.say(format!("{} in {file}", counted(selection.len(), "mark", "marks")));
    Ok(Exit::Done)
}
