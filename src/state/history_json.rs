//! Past searches as JSON, with the field names of the interface where it has them.

use serde_json::{Value, json};

use crate::state::query_json::{read_filters, read_query, write_filters, write_query};
use tessera_model::{EntityType, Granularity, HistoryEntry, SafeText, Search};
use tessera_wire::explore::{read_region, write_region};

pub(super) fn write(past: &HistoryEntry) -> Value {
    let HistoryEntry { search, similar_to, file, region } = past;
    json!({
        "dataset_id": search.dataset,
        "query": write_query(&search.query),
        "vql": write_filters(&search.filters),
        "entity_type": search.entity.as_str(),
        "granularity": search.granularity.level(),
        "similar_to": similar_to.as_ref().map(SafeText::as_str),
        "file": file,
        "bounding_box": region.map(write_region),
    })
}

pub(super) fn read(document: &Value) -> Result<HistoryEntry, String> {
    let text =
        |name: &str| document[name].as_str().ok_or_else(|| format!("`{name}` must be a string"));
    let level = document["granularity"].as_u64().and_then(|level| u8::try_from(level).ok());
    let search = Search {
        dataset: text("dataset_id")?.parse().map_err(|error| format!("`dataset_id`: {error}"))?,
        query: read_query(&document["query"])?,
        filters: read_filters(&document["vql"], "vql")?,
        entity: EntityType::parse(text("entity_type")?).ok_or("`entity_type` is unknown")?,
        granularity: level.and_then(Granularity::new).ok_or("`granularity` must be 0 to 4")?,
        page: 0,
    };
    let similar_to = document["similar_to"].as_str().map(SafeText::file_name);
    let file = document["file"].as_str().map(Into::into);
    let region = read_region(&document["bounding_box"]);
    Ok(HistoryEntry { search, similar_to, file, region })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use tessera_model::{
        Anchor, AnchorKind, DatasetId, Filter, Fraction, MediaId, Query, QueryText,
    };

    #[test]
    fn past_searches_round_trip() {
        let browse = Search::browse(DatasetId(Uuid::from_u128(1)));
        let anchor = Anchor { media: MediaId(Uuid::from_u128(2)), kind: AnchorKind::Upload };
        let text = QueryText::new("red \"van\"").unwrap();
        let caption = Query::Caption { text, max_score: Fraction::new(0.5) };
        let filters = vec![Filter::duplicates(0.9).unwrap()];
        let named = Some(SafeText::file_name("a.jpg"));
        for past in [
            HistoryEntry {
                search: Search { filters, ..browse.clone() },
                similar_to: None,
                file: None,
                region: None,
            },
            HistoryEntry {
                search: Search { query: Query::Similar(anchor), ..browse.clone() },
                similar_to: named,
                file: Some("/tmp/a.jpg".into()),
                region: tessera_model::Region::new(0.1, 0.2, 0.5, 0.25),
            },
            HistoryEntry {
                search: Search { query: caption, entity: EntityType::Objects, ..browse },
                similar_to: None,
                file: None,
                region: None,
            },
        ] {
            assert_eq!(read(&write(&past)), Ok(past));
        }
        assert!(read(&json!({"dataset_id": "x"})).is_err());
    }
}
