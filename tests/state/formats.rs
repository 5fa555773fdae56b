//! Tests the file formats of `tessera::state`.

use std::{collections::BTreeMap, fs, time::Duration};

use serde_json::{Value, json};
use uuid::Uuid;

use tessera::state::{StateFolder, read_selection, write_selection};
use tessera_model::{
    AdditionJob, Anchor, AnchorKind, Archive, ArchiveName, ClusterId, DatasetId, EntityType,
    EntryContent, ExportFormat, ExportJob, ExportPart, ExportSpec, ExportTaskId, FailedExport,
    FileOrder, FileSortKey, Filter, Fraction, Granularity, HistoryEntry, JobKind, JobRecord,
    KeptTags, MediaId, ModelJob, Query, QueryText, Region, ResultCount, SafeText, SavedJobState,
    SavedSession, SavedView, Search, SelectedCluster, Selection, SelectionEntry, StateValue,
    Timestamp,
};
use tessera_wire::selection;

/// Saves a value, changes its file `name`, and loads it in a new instance.
fn reload(
    value: &StateValue,
    name: &str,
    change: impl Fn(&mut Value),
) -> Result<StateValue, String> {
    let folder = tempfile::tempdir().unwrap();
    let open = || StateFolder::in_dir(folder.path().to_owned());
    open().save(1, value).unwrap();
    let path = folder.path().join(name);
    let mut document = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut document);
    fs::write(&path, document.to_string()).unwrap();
    open().load(&value.key()).map(Option::unwrap).map_err(|failure| failure.to_string())
}

/// Returns a job of every kind, and a job in every state.
fn jobs() -> StateValue {
    let text = SafeText::detail("it broke");
    let task = ExportTaskId(Uuid::from_u128(9));
    let rejected = FailedExport { id: task, status: SafeText::name("REJECTED") };
    let archive = Archive { path: "/d/a.zip".into(), bytes: 9, entries: 4, images: 3 };
    let file_name = ArchiveName::new("a.zip");
    let spec = ExportSpec { file_name, format: ExportFormat::Parquet, include_images: true };
    let export = ExportJob {
        spec,
        selection: Some(text.clone()),
        part: ExportPart::RestOfSearch,
        folder: "/d".into(),
        auto_download: true,
        shortfall: None,
    };
    let addition =
        AdditionJob { source: text.clone(), cli_options: text.clone(), auto_reindex: true };
    let states = [
        SavedJobState::Queued,
        SavedJobState::Sent,
        SavedJobState::Running { export_task_id: task },
        SavedJobState::Accepted,
        SavedJobState::Completed { export_task_id: task },
        SavedJobState::Downloaded { archive, export_task_id: task },
        SavedJobState::Done { status_new: text.clone() },
        SavedJobState::Failed { reason: text.clone(), export: None },
        SavedJobState::Failed { reason: text.clone(), export: Some(rejected) },
        SavedJobState::Uncertain { reason: text.clone() },
        SavedJobState::Unwatched { export_task_id: Some(task) },
        SavedJobState::Unwatched { export_task_id: None },
    ];
    let part = ExportPart::Selection;
    let kinds = [
        JobKind::Export(ExportJob { selection: None, part, ..export.clone() }),
        JobKind::Export(export),
        JobKind::AddMedia(addition),
        JobKind::Reindex,
        JobKind::GetModel(ModelJob { model: text.clone() }),
    ];
    let record = |(second, (kind, state)): (u64, (&JobKind, &SavedJobState))| JobRecord {
        started_at: Timestamp::from_secs(second),
        ended_at: (second > 4).then(|| Timestamp::from_secs(second + 1)),
        dataset: DatasetId(Uuid::from_u128(1)),
        dataset_name: text.clone(),
        kind: kind.clone(),
        state: state.clone(),
    };
    let this_instance = (0..).zip(kinds.iter().cycle().zip(&states)).map(record).collect();
    StateValue::Jobs { this_instance, other_instances: Vec::new() }
}

#[test]
fn every_job_round_trips() {
    assert_eq!(reload(&jobs(), "jobs-0.json", |_| {}), Ok(jobs()));
}

#[test]
fn an_invalid_job_is_named() {
    let reason = reload(&jobs(), "jobs-0.json", |document| {
        document["jobs"][2]["export_task_id"] = "../x".into();
    });
    assert!(reason.unwrap_err().contains("job 2"));
}

#[test]
fn past_searches_round_trip() {
    let browse = Search::browse(DatasetId(Uuid::from_u128(1)));
    let anchor = Anchor { media: MediaId(Uuid::from_u128(2)), kind: AnchorKind::Upload };
    let text = QueryText::new("red \"van\"").unwrap();
    let caption = Query::Caption { text, max_score: Fraction::new(0.5) };
    let filters = vec![Filter::duplicates(0.9).unwrap()];
    let entry = HistoryEntry::new;
    let past = StateValue::History(vec![
        entry(Search { filters, ..browse.clone() }),
        HistoryEntry {
            similar_to: Some(SafeText::file_name("a.jpg")),
            file: Some("/tmp/a.jpg".into()),
            region: Region::new(0.1, 0.2, 0.5, 0.25),
            searched_at: Some(Duration::from_secs(1_795_000_000)),
            results: Some(ResultCount { clusters: 57, is_complete: false }),
            ..entry(Search { query: Query::Similar(anchor), ..browse.clone() })
        },
        entry(Search { query: caption, entity: EntityType::Objects, ..browse }),
    ]);
    assert_eq!(reload(&past, "history.json", |_| {}), Ok(past.clone()));
    let invalid = reload(&past, "history.json", |document| {
        document["searches"][0] = json!({ "dataset_id": "x" });
    });
    assert!(invalid.is_err());
}

fn view(query: Query) -> SavedView {
    SavedView {
        name: SafeText::name("vans at night"),
        dataset: Some(DatasetId(Uuid::from_u128(7))),
        query,
        filters: vec![Filter::uniqueness(0.8).unwrap()],
        disabled_filters: vec![Filter::full_text("red").unwrap()],
        entity: EntityType::Objects,
        granularity: Granularity::DEFAULT,
        order: Some(FileOrder { by: FileSortKey::Name, reversed: true }),
        similar_to: None,
        file: Some("/pictures/van.jpg".into()),
        region: Region::new(0.25, 0.5, 0.5, 0.25),
    }
}

#[test]
fn views_of_every_kind_round_trip() {
    let media = MediaId(Uuid::from_u128(9));
    let text = QueryText::new("van").unwrap();
    let views = StateValue::Views(vec![
        view(Query::Browse),
        view(Query::Similar(Anchor { media, kind: AnchorKind::Upload })),
        view(Query::Caption { text, max_score: Fraction::new(0.4) }),
        SavedView { dataset: None, file: None, region: None, ..view(Query::Browse) },
    ]);
    assert_eq!(reload(&views, "views.json", |_| {}), Ok(views));
}

#[test]
fn an_unreadable_view_is_reported() {
    let views = StateValue::Views(vec![view(Query::Browse), view(Query::Browse)]);
    let reason = reload(&views, "views.json", |document| {
        document["views"][1]["disabled_vql"] = json!([{ "uniqueness": 3 }]);
    });
    let reason = reason.unwrap_err();
    assert!(reason.contains("parsed: view 1: `disabled_vql`: filter 0, uniqueness"), "{reason}");
    assert!(reload(&views, "views.json", |document| *document = json!({})).is_err());
}

fn selection_of_two() -> Selection {
    let media = |numbers: [u128; 2]| numbers.map(|n| MediaId(Uuid::from_u128(n)));
    let cluster = EntryContent::Cluster(SelectedCluster {
        id: ClusterId(Uuid::from_u128(7)),
        filters: vec![Filter::uniqueness(0.5).unwrap()],
        member_count: Some(88),
        count_is_minimum: true,
        previewed: media([2, 1]).into(),
        excluded: media([2, 3]).into(),
        stale: true,
    });
    let entry = |name, content| SelectionEntry {
        name: SafeText::file_name(name),
        entity: EntityType::Objects,
        granularity: Granularity::new(4).unwrap(),
        content,
    };
    let media_item = EntryContent::MediaItem(MediaId(Uuid::from_u128(9)), None);
    [entry("b.jpg", cluster), entry("a.jpg", media_item)].into_iter().collect()
}

#[test]
fn a_selection_round_trips() {
    let dataset = DatasetId(Uuid::from_u128(1));
    let document = write_selection(dataset, &selection_of_two());
    assert_eq!(document["_counts"]["estimated_total"], 87);
    assert_eq!(read_selection(&document.to_string(), dataset), Ok(selection_of_two()));
    let reason = read_selection(&document.to_string(), DatasetId(Uuid::nil())).unwrap_err();
    assert!(reason.starts_with("it belongs to dataset"), "{reason}");
}

#[test]
fn parts_of_one_cluster_and_more_clusters_than_a_request_has_round_trip() {
    let dataset = DatasetId(Uuid::from_u128(1));
    let cluster = |id, uniqueness| {
        let mut entry = selection_of_two().ordered_entries()[0].clone();
        if let EntryContent::Cluster(cluster) = &mut entry.content {
            cluster.id = ClusterId(Uuid::from_u128(id));
            cluster.filters = vec![Filter::uniqueness(uniqueness).unwrap()];
            cluster.member_count = Some(u64::MAX);
        }
        entry
    };
    let parts = [0.7, 0.5, 0.6].map(|uniqueness| cluster(7, uniqueness));
    let many = (8..selection::MAX_ITEMS as u128 + 8).map(|id| cluster(id, 0.5));
    let all: Selection = parts.into_iter().chain(many).collect();
    let document = write_selection(dataset, &all);
    assert_eq!(document["_counts"]["estimated_total"], u64::MAX - 2 * all.len() as u64);
    assert_eq!(read_selection(&document.to_string(), dataset), Ok(all));
}

#[test]
fn a_selection_written_by_hand_is_accepted() {
    let dataset = DatasetId(Uuid::from_u128(1));
    let mut document = write_selection(dataset, &selection_of_two());
    document
        .as_object_mut()
        .unwrap()
        .retain(|field, _| !field.starts_with('_') && field != "schema");
    assert_eq!(
        document,
        selection::write(&selection_of_two().items()),
        "it is the body of the export"
    );
    let read = read_selection(&document.to_string(), dataset).unwrap();
    assert_eq!(read.items(), selection_of_two().items());
    assert_eq!(read.totals().uncounted, 1, "the size of the cluster is unknown");
    let items = json!({ "dataset_id": dataset, "items": document["media_selection"] }).to_string();
    assert_eq!(read_selection(&items, dataset), Ok(read));
    assert!(read_selection(&items, DatasetId(Uuid::nil())).is_err());
}

#[test]
fn a_session_round_trips() {
    let search = |page| Search { page, ..Search::browse(DatasetId(Uuid::from_u128(1))) };
    let session = StateValue::Session(SavedSession {
        dataset: Some(DatasetId(Uuid::from_u128(1))),
        tabs: vec![HistoryEntry::new(search(0)), HistoryEntry::new(search(8))],
        cursors: vec![0, 7],
        active_tab: 1,
        tile_size: Some("large".to_owned()),
        tile_layout: Some("mosaic".to_owned()),
        picked_actions: BTreeMap::from([("reindex".to_owned(), 3)]),
    });
    assert_eq!(reload(&session, "session.json", |_| {}), Ok(session.clone()));
    let invalid = reload(&session, "session.json", |document| document["tabs"] = json!("x"));
    assert!(invalid.is_err());
}

#[test]
fn kept_tags_round_trip_and_are_found_as_selections() {
    let dataset = DatasetId(Uuid::nil());
    let name = SafeText::name("night / \u{202e}wet");
    let selection = selection_of_two();
    let tags = KeptTags::from([
        (name.clone(), selection.clone()),
        (SafeText::name("a"), Selection::default()),
    ]);
    let value = StateValue::KeptTags(dataset, tags);
    let file = format!("tags-{dataset}.json");
    assert_eq!(reload(&value, &file, |_| {}), Ok(value.clone()));
    for damage in [json!("x"), json!({"a": 1}), json!({"a": {"media_selection": "x"}})] {
        assert!(reload(&value, &file, |document| document["tags"] = damage.clone()).is_err());
    }
    let folder = tempfile::tempdir().unwrap();
    let state = StateFolder::in_dir(folder.path().to_owned());
    let load = |name: &str| state.load_named_selection(name, dataset).unwrap();
    assert_eq!(load("tag:a"), None);
    state.save(1, &value).unwrap();
    let written = fs::read_to_string(folder.path().join(&file)).unwrap();
    assert!(written.contains(name.received()), "not as it is shown: {written}");
    assert_eq!(load(&format!("tag:{name}")), Some(selection));
    assert_eq!(load("tag:unknown"), None);
    let StateValue::KeptTags(_, tags) = value else { panic!() };
    let kept = state.kept_tags().unwrap();
    assert!(kept[0].1.keys().eq(tags.keys()), "in the order of their creation");
    assert_eq!(kept, [(dataset, tags)]);
    let error = state.has_named_selection("tag:b", dataset).unwrap_err();
    assert!(error.to_string().contains("changed in the interface"), "{error}");
    let other = DatasetId(Uuid::from_u128(9));
    assert_eq!(state.load_named_selection("tag:a", other).unwrap(), None);
}

#[test]
fn a_dismissed_offer_round_trips() {
    let dismissed = StateValue::ModelOfferDismissed;
    let file = "model_offer.json";
    assert_eq!(reload(&dismissed, file, |_| {}), Ok(dismissed.clone()));
    assert!(reload(&dismissed, file, |document| document["schema"] = json!("x")).is_err());
}
