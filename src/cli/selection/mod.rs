//! `tessera selection`: shows, lists, imports and exports the selections of this machine.

mod edit;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use edit::SelectionAddOptions;
use serde_json::{Value, json};

use crate::{
    cli::{
        CliError, CliResult, Column, Context, Document, Exit, input_options::ItemOptions,
        read_file_or_stdin,
    },
    state::{self, StateFolder},
};
use tessera_model::{DatasetId, SafeText, Selection, StateValue, text::count_with_noun};

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
    let open = async |selection| SavedSelection::open(context, selection).await;
    match command {
        SelectionCommand::Add(options) => options.run(context).await,
        SelectionCommand::Remove { selection, items } => {
            edit::remove(context, selection, &items).await
        }
        SelectionCommand::Exclude { selection, items } => {
            edit::exclude(context, &open(selection).await?, &items)
        }
        SelectionCommand::Show { selection } => show(context, &open(selection).await?),
        SelectionCommand::List => list(context),
        SelectionCommand::Clear { selection } => open(selection).await?.clear(context),
        SelectionCommand::Import { selection, from } => {
            import(context, &open(selection).await?, &from)
        }
        SelectionCommand::Export { selection, to } => export(context, &open(selection).await?, to),
    }
}

fn import(context: &Context, saved: &SavedSelection, from: &Path) -> CliResult {
    let selection = state::read_selection(&read_file_or_stdin(from)?, saved.dataset)
        .map_err(|reason| CliError::new(Exit::Invalid, format!("{}: {reason}", from.display())))?;
    let replaced = match saved.load_or_default()?.len() {
        0 => String::new(),
        before => format!(", replacing {}", count_entries(before)),
    };
    saved.save(&selection)?;
    context.messages.info(format!("{}{replaced}", count_entries(selection.len())));
    Ok(Exit::Done)
}

fn export(context: &Context, saved: &SavedSelection, to: PathBuf) -> CliResult {
    let selection = saved.load()?;
    if to.as_os_str() == "-" {
        let document = state::write_selection(saved.dataset, &selection);
        return context.out.print_json(&document).map(|()| Exit::Done);
    }
    let file = state::save_selection(to, saved.dataset, &selection)?;
    let file = SafeText::file_name(&file.to_string_lossy());
    context.messages.info(format!("{} in {file}", count_entries(selection.len())));
    Ok(Exit::Done)
}

const LIST_COLUMNS: &[Column] = &[
    Column::new("NAME", "name"),
    Column::short_id("DATASET", "dataset_id"),
    Column::new("CLUSTERS", "clusters"),
    Column::new("MEDIA", "media"),
    Column::new("EXCLUDED", "excluded"),
    Column::new("ESTIMATED", "estimated_total"),
];

const ITEM_COLUMNS: &[Column] = &[
    Column::new("NAME", "name"),
    Column::new("CLUSTER", "cluster_id"),
    Column::new("MEDIA", "media_id"),
    Column::new("ENTITY", "entity_type"),
    Column::new("MEMBERS", "members"),
    Column::new("EXCLUDED", "excluded"),
    Column::new("STALE", "stale"),
];

fn show(context: &Context, saved: &SavedSelection) -> CliResult {
    let selection = saved.load()?;
    let document = state::write_selection(saved.dataset, &selection);
    context.print(&Document::list("tessera.selection/1", document, "_entries", ITEM_COLUMNS))?;
    if selection.is_empty() {
        context.messages.info("the selection is empty");
    }
    Ok(Exit::Done)
}

fn list(context: &Context) -> CliResult {
    let state = context.state()?;
    let mut rows: Vec<Value> = Vec::new();
    for name in state.selection_names()? {
        match state.load_named_selection_of_any_dataset(&name) {
            Ok(Some((dataset, selection))) => rows.push(selection_row(&name, dataset, &selection)),
            // The selection was deleted after the names were read.
            Ok(None) => {}
            Err(failure) => context.messages.warn(failure.to_string()),
        }
    }
    let fields = json!({ "selections": rows });
    context.print(&Document::list("tessera.selections/1", fields, "selections", LIST_COLUMNS))
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

#[derive(Debug, Args)]
pub struct SelectionOptions {
    /// ID or name of the dataset.
    #[arg(id = "of", value_name = "DATASET")]
    dataset: Option<String>,
    /// Name of the selection, instead of the basket.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

struct SavedSelection {
    state: StateFolder,
    pub(super) dataset: DatasetId,
    /// The name of the selection, or `None` for the basket.
    name: Option<String>,
}

impl SavedSelection {
    /// Opens the selection. A request is sent only if the dataset is given by name.
    pub(super) async fn open(context: &Context, options: SelectionOptions) -> CliResult<Self> {
        let dataset = context.dataset_id(options.dataset.as_deref()).await?;
        Ok(Self { state: context.state()?, dataset, name: options.name })
    }

    pub(super) fn load(&self) -> CliResult<Selection> {
        let Some(name) = &self.name else { return self.load_or_default() };
        self.state.load_named_selection(name, self.dataset)?.ok_or_else(|| {
            let message = format!("unknown selection `{}`", SafeText::name(name));
            CliError::not_found(message).with_remedy("tessera selection list")
        })
    }

    pub(super) fn load_or_default(&self) -> CliResult<Selection> {
        Ok(match &self.name {
            Some(name) => self.state.load_named_selection(name, self.dataset)?.unwrap_or_default(),
            None => self.state.basket(self.dataset)?,
        })
    }

    pub(super) fn save(&self, selection: &Selection) -> CliResult<()> {
        match &self.name {
            Some(name) => drop(self.state.save_named_selection(name, self.dataset, selection)?),
            None => self.state.replace(&StateValue::Basket(self.dataset, selection.clone()))?,
        }
        Ok(())
    }

    /// Empties the basket, or deletes the named selection.
    pub(super) fn clear(&self, context: &Context) -> CliResult {
        let selection = self.load()?;
        match &self.name {
            Some(name) => drop(self.state.delete_named_selection(name)?),
            None => self.save(&Selection::default())?,
        }
        context.messages.info(format!("removed {}", count_entries(selection.len())));
        Ok(Exit::Done)
    }
}

/// Formats a count, such as "1 entry" or "2 entries".
fn count_entries(count: usize) -> String {
    count_with_noun(count, "entry", "entries")
}
