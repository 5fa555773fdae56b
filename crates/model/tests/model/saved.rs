//! The search history and saved views.

use uuid::Uuid;

use tessera_model::*;

const OPEN: DatasetId = DatasetId(Uuid::from_u128(1));
const OTHER: DatasetId = DatasetId(Uuid::from_u128(2));

fn entry(page: u32) -> HistoryEntry {
    let search = Search { page, ..Search::browse(OPEN) };
    HistoryEntry::new(search)
}

fn pages(history: &[HistoryEntry]) -> Vec<u32> {
    history.iter().map(|entry| entry.search.page).collect()
}

#[test]
fn a_repeated_search_moves_to_the_end_of_the_history() {
    let mut history = Vec::new();
    for page in [1, 2, 3, 2] {
        entry(page).append_to(&mut history);
    }
    assert_eq!(pages(&history), [1, 3, 2]);
    HistoryEntry { similar_to: Some(SafeText::name("van.jpg")), ..entry(1) }
        .append_to(&mut history);
    assert_eq!(pages(&history), [3, 2, 1]);
    assert!(history[2].similar_to.is_some(), "the newer one is kept");
}

#[test]
fn the_history_keeps_the_last_200_searches() {
    let mut history = Vec::new();
    for page in 1..=200 {
        entry(page).append_to(&mut history);
    }
    assert_eq!((history.len(), history[0].search.page), (200, 1));
    entry(201).append_to(&mut history);
    assert_eq!((history.len(), history[0].search.page), (200, 2));
}

fn view(name: &str, dataset: Option<DatasetId>) -> SavedView {
    SavedView {
        name: SafeText::name(name),
        dataset,
        query: Query::Caption { text: QueryText::new("red van").unwrap(), max_score: None },
        filters: vec![Filter::uniqueness(0.5).unwrap()],
        disabled_filters: vec![Filter::uniqueness(0.9).unwrap()],
        entity: EntityType::Objects,
        granularity: Granularity::new(4).unwrap(),
        order: Some(FileOrder { by: FileSortKey::Date, reversed: true }),
        similar_to: None,
        file: None,
        region: None,
    }
}

#[test]
fn views_are_sorted_by_name_and_a_new_one_replaces_one_of_its_name() {
    let mut views = Vec::new();
    for name in ["vans", "buses", "trams"] {
        view(name, None).insert_into(&mut views);
    }
    view("trams", Some(OTHER)).insert_into(&mut views);
    let saved: Vec<_> = views.iter().map(|view| (view.name.as_str(), view.dataset)).collect();
    assert_eq!(saved, [("buses", None), ("trams", Some(OTHER)), ("vans", None)]);
}

#[test]
fn a_view_searches_its_dataset_or_the_open_one_without_disabled_filters() {
    let search = view("vans", None).search(OPEN);
    let expected = Search {
        dataset: OPEN,
        query: Query::Caption { text: QueryText::new("red van").unwrap(), max_score: None },
        filters: vec![Filter::uniqueness(0.5).unwrap()],
        entity: EntityType::Objects,
        granularity: Granularity::new(4).unwrap(),
        order: Some(FileOrder { by: FileSortKey::Date, reversed: true }),
        page: 0,
    };
    assert_eq!(search, expected);
    assert_eq!(view("vans", Some(OTHER)).search(OPEN).dataset, OTHER);
}

#[test]
fn each_saved_value_has_a_key_of_its_own_kind_and_dataset() {
    for (value, key) in [
        (StateValue::Basket(OTHER, Selection::default()), StateKey::Basket(OTHER)),
        (StateValue::Jobs { this_instance: vec![], other_instances: vec![] }, StateKey::Jobs),
        (StateValue::Views(vec![]), StateKey::Views),
        (StateValue::History(vec![]), StateKey::History),
        (StateValue::Session(SavedSession::default()), StateKey::Session),
    ] {
        assert_eq!(value.key(), key);
    }
}
