//! The JSON of each saved value, and the name of its file.

use serde_json::{Value, json};

use super::{history_json, jobs_json, selection_json, views_json};
use tessera_model::{StateKey, StateValue};

/// `None` for jobs, which have a file for each instance.
pub(super) fn file_name(key: &StateKey) -> Option<String> {
    match key {
        StateKey::Basket(dataset) => Some(format!("basket-{dataset}.json")),
        StateKey::Views => Some("views.json".to_owned()),
        StateKey::Jobs => None,
        StateKey::History => Some("history.json".to_owned()),
    }
}

pub(super) fn write(entry: &StateValue) -> String {
    let document = match entry {
        StateValue::Basket(dataset, selection) => selection_json::write(*dataset, selection),
        StateValue::Jobs { own, .. } => jobs_json::write(own),
        StateValue::Views(list) => views_json::write(list),
        StateValue::History(searches) => json!({
            "schema": "tessera.history/1",
            "searches": searches.iter().map(history_json::write).collect::<Vec<Value>>(),
        }),
    };
    format!("{document:#}\n")
}

pub(super) fn read(key: &StateKey, source: &str) -> Result<StateValue, String> {
    let document: Value = serde_json::from_str(source).map_err(|error| error.to_string())?;
    match key {
        StateKey::Basket(dataset) => selection_json::read(*dataset, &document)
            .map(|selection| StateValue::Basket(*dataset, selection)),
        StateKey::Jobs => jobs_json::read(&document)
            .map(|own| StateValue::Jobs { own, other_instances: Vec::new() }),
        StateKey::Views => views_json::read(&document).map(StateValue::Views),
        StateKey::History => {
            let searches = document["searches"].as_array().ok_or("`searches` must be a list")?;
            let searches: Result<Vec<_>, String> =
                searches.iter().map(history_json::read).collect();
            searches.map(StateValue::History)
        }
    }
}
