//! `tessera selection`: shows, lists, imports and exports the selections of this machine.

mod edit;

use edit::SelectionAddOptions;
use tessera_model::Selection;

pub(super) use edit::name_taken;

use crate::cli::prelude::*;
use crate::{
    cli::{
        input_options::ItemOptions,
        read_file_or_stdin,
        selection::edit::{SavedSelection, SelectionOptions, count_entries},
    },
    state,
};

#[derive(Debug, Subcommand)]
pub enum SelectionCommand {
    /// Select media and clusters.
    Add(SelectionAddOptions),
    /// Deselect media and clusters.
    Remove(SelectedItemOptions),
    /// Exclude media from selected clusters.
    Exclude(SelectedItemOptions),
    /// Show the selection.
    Show(SelectionOptions),
    /// List the named selections.
    List,
    /// Clear the selection; a named selection is deleted.
    Clear(SelectionOptions),
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

/// Items of a selection.
#[derive(Debug, Args)]
pub struct SelectedItemOptions {
    #[command(flatten)]
    selection: SelectionOptions,
    #[command(flatten)]
    items: ItemOptions,
}

pub async fn run(context: &Context, command: SelectionCommand) -> CliResult {
    let open = async |selection| SavedSelection::open(context, selection).await;
    match command {
        SelectionCommand::Add(options) => options.run(context).await,
        SelectionCommand::Remove(SelectedItemOptions { selection, items }) => {
            edit::remove(context, selection, &items).await
        }
        SelectionCommand::Exclude(SelectedItemOptions { selection, items }) => {
            edit::exclude(&open(selection).await?, &items)
        }
        SelectionCommand::Show(selection) => show(&open(selection).await?),
        SelectionCommand::List => list(context),
        SelectionCommand::Clear(selection) => open(selection).await?.clear(),
        SelectionCommand::Import { selection, from } => import(&open(selection).await?, &from),
        SelectionCommand::Export { selection, to } => export(&open(selection).await?, to),
    }
}

fn import(saved: &SavedSelection<'_>, from: &Path) -> CliResult {
    let selection = state::read_selection(&read_file_or_stdin(from)?, saved.dataset)
        .map_err(|reason| CliError::new(Exit::Invalid, format!("{}: {reason}", from.display())))?;
    let _lock = saved.lock()?;
    let replaced = match saved.load_or_default()?.len() {
        0 => String::new(),
        before => format!(", replacing {}", count_entries(before)),
    };
    saved.save(&selection, &format!("{}{replaced}", count_entries(selection.len())))
}

fn export(saved: &SavedSelection<'_>, to: PathBuf) -> CliResult {
    let selection = saved.load()?;
    if to.as_os_str() == "-" {
        let document = state::write_selection(saved.dataset, &selection);
        return saved.context.out.print_json(&document).map(|()| Exit::Done);
    }
    let entries = count_entries(selection.len());
    saved.context.only_plans(&entries, Some(&to))?;
    let file = state::save_selection(to, saved.dataset, &selection)?;
    let file = SafeText::file_name(&file.to_string_lossy());
    saved.context.messages.info(format!("{entries} in {file}"));
    saved.context.print_for_programs(&saved.document(&selection))
}

fn show(saved: &SavedSelection<'_>) -> CliResult {
    let context = saved.context;
    let selection = saved.load()?;
    context.print(&saved.document(&selection))?;
    if selection.is_empty() {
        context.messages.info("the selection is empty");
    }
    Ok(Exit::Done)
}

fn list(context: &Context) -> CliResult {
    let state = context.state()?;
    let mut rows: Vec<Value> = Vec::new();
    for (name, dataset) in state.selection_names()? {
        match state.load_named_selection(&name, dataset) {
            Ok(Some(selection)) => rows.push(selection_row(&name, dataset, &selection)),
            // The selection was deleted after the names were read.
            Ok(None) => {}
            Err(failure) => context.messages.warn(failure.to_string()),
        }
    }
    for (dataset, tags) in state.kept_tags()? {
        rows.extend(
            tags.into_iter()
                .map(|(tag, selection)| selection_row(&format!("tag:{tag}"), dataset, &selection)),
        );
    }
    let fields = json!({ "selections": rows });
    context.print(&Document::new("tessera.selections/1", fields))
}

fn selection_row(name: &str, dataset: DatasetId, selection: &Selection) -> Value {
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
