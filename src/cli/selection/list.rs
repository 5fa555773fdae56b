//! `tessera selection list` and `show`.

use serde_json::{Value, json};

use super::store::SelectionStore;
use crate::{
    cli::{CliResult, Column, Context, Document, Exit},
    state,
};
use tessera_model::{DatasetId, Selection};

const LIST_COLUMNS: &[Column] = &[
    Column::new("NAME", "name"),
    Column::short_id("DATASET", "dataset_id"),
    Column::new("CLUSTERS", "clusters"),
    Column::new("MEDIA", "media"),
    Column::new("LEFT OUT", "excluded"),
    Column::new("ESTIMATED", "estimated_total"),
];

const ITEM_COLUMNS: &[Column] = &[
    Column::new("NAME", "name"),
    Column::new("CLUSTER", "cluster_id"),
    Column::new("MEDIA", "media_id"),
    Column::new("ENTITY", "entity_type"),
    Column::new("MEMBERS", "members"),
    Column::new("LEFT OUT", "excluded"),
    Column::new("STALE", "stale"),
];

pub(super) fn show(context: &Context, store: &SelectionStore) -> CliResult {
    let selection = store.load()?;
    let document = state::write_selection(store.dataset, &selection);
    context.print(&Document::list("tessera.selection/1", document, "_marks", ITEM_COLUMNS))?;
    if selection.is_empty() {
        context.messages.info("the selection is empty");
    }
    Ok(Exit::Done)
}

pub(super) fn list(context: &Context) -> CliResult {
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
