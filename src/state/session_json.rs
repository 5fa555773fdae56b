//! The last session as JSON: the dataset, the searches of its tabs with their cursors, and the size of the tiles.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::history_json::{read_entry, write_entry};
use tessera_model::{HistoryEntry, SavedSession, Search};

pub(super) fn write(session: &SavedSession) -> Value {
    let cursors = session.cursors.iter().copied().chain(std::iter::repeat(0));
    let tabs: Vec<Value> =
        session.tabs.iter().zip(cursors).map(|(tab, cursor)| write_tab(tab, cursor)).collect();
    json!({
        "schema": "tessera.session/1",
        "dataset_id": session.dataset,
        "tabs": tabs,
        "active_tab": session.active_tab,
        "tile_size": session.tile_size,
        "picked_actions": session.picked_actions,
    })
}

fn write_tab(tab: &HistoryEntry, cursor: usize) -> Value {
    let mut document = write_entry(tab);
    document["page"] = tab.search.page.into();
    document["cursor"] = cursor.into();
    document
}

pub(super) fn read(document: &Value) -> Result<SavedSession, String> {
    let dataset = document["dataset_id"].as_str().map(str::parse).transpose();
    let tabs = document["tabs"].as_array().ok_or("`tabs` must be a list")?;
    let index = |value: &Value| value.as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or(0);
    Ok(SavedSession {
        dataset: dataset.map_err(|error| format!("`dataset_id`: {error}"))?,
        tabs: tabs.iter().map(read_tab).collect::<Result<_, _>>()?,
        cursors: tabs.iter().map(|tab| index(&tab["cursor"])).collect(),
        active_tab: index(&document["active_tab"]),
        tile_size: document["tile_size"].as_str().map(str::to_owned),
        picked_actions: read_counts(&document["picked_actions"]),
    })
}

fn read_counts(value: &Value) -> BTreeMap<String, u32> {
    let count = |(name, count): (&String, &Value)| {
        Some((name.clone(), u32::try_from(count.as_u64()?).ok()?))
    };
    value.as_object().into_iter().flatten().filter_map(count).collect()
}

fn read_tab(document: &Value) -> Result<HistoryEntry, String> {
    let entry = read_entry(document)?;
    let page = document["page"].as_u64().and_then(|page| u32::try_from(page).ok()).unwrap_or(0);
    Ok(HistoryEntry { search: Search { page, ..entry.search }, ..entry })
}
