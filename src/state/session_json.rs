//! The last session as JSON: the dataset, the searches of its tabs, and the size of the tiles.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::history_json::{read_entry, write_entry};
use tessera_model::{HistoryEntry, SavedSession, Search};

pub(super) fn write(session: &SavedSession) -> Value {
    let tabs: Vec<Value> = session.tabs.iter().map(write_tab).collect();
    json!({
        "schema": "tessera.session/1",
        "dataset_id": session.dataset,
        "tabs": tabs,
        "active_tab": session.active_tab,
        "tile_size": session.tile_size,
        "picked_actions": session.picked_actions,
    })
}

fn write_tab(tab: &HistoryEntry) -> Value {
    let mut document = write_entry(tab);
    document["page"] = tab.search.page.into();
    document
}

pub(super) fn read(document: &Value) -> Result<SavedSession, String> {
    let dataset = document["dataset_id"].as_str().map(str::parse).transpose();
    let tabs = document["tabs"].as_array().ok_or("`tabs` must be a list")?;
    let active_tab = document["active_tab"].as_u64().and_then(|at| usize::try_from(at).ok());
    Ok(SavedSession {
        dataset: dataset.map_err(|error| format!("`dataset_id`: {error}"))?,
        tabs: tabs.iter().map(read_tab).collect::<Result<_, _>>()?,
        active_tab: active_tab.unwrap_or(0),
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
