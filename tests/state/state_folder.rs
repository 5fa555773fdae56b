//! Tests `tessera::state`: the store of values, and its files.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use uuid::Uuid;

use tessera::state::{StateFolder, load_selection, save_selection};
use tessera_model::{
    DatasetId, EntityType, EntryContent, Granularity, HistoryEntry, JobKind, JobRecord, MediaId,
    Query, QueryText, SafeText, SavedJobState, SavedSession, Search, Selection, SelectionEntry,
    StateKey, StateValue, Timestamp,
};

fn basket(media: u128) -> StateValue {
    let entry = SelectionEntry {
        name: SafeText::file_name("a.jpg"),
        entity: EntityType::Images,
        granularity: Granularity::DEFAULT,
        content: EntryContent::MediaItem(MediaId(Uuid::from_u128(media)), None),
    };
    StateValue::Basket(DatasetId(Uuid::nil()), [entry].into_iter().collect())
}

#[test]
fn the_newest_basket_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let store = StateFolder::in_dir(folder.path().join("state"));
    let key = basket(1).key();
    assert_eq!(store.load(&key), Ok(None));
    store.save(2, &basket(2)).unwrap();
    store.save(1, &basket(1)).unwrap();
    assert_eq!(store.load(&key), Ok(Some(basket(2))));
    let reopened = StateFolder::in_dir(folder.path().join("state"));
    assert_eq!(reopened.load(&key), Ok(Some(basket(2))));
}

#[test]
fn a_save_is_dropped_if_a_newer_one_was_announced() {
    let folder = tempfile::tempdir().unwrap();
    let store = StateFolder::in_dir(folder.path().join("state"));
    let key = basket(1).key();
    store.announce_save(2, key);
    store.save(1, &basket(1)).unwrap();
    assert_eq!(store.load(&key), Ok(None));
    store.save(2, &basket(2)).unwrap();
    assert_eq!(store.load(&key), Ok(Some(basket(2))));
}

#[test]
fn each_dataset_has_the_tabs_of_its_own_last_session() {
    let folder = tempfile::tempdir().unwrap();
    let store = StateFolder::in_dir(folder.path().join("state"));
    let id = |number| DatasetId(Uuid::from_u128(number));
    let session = |number: u128, tile_size: &str| SavedSession {
        dataset: Some(id(number)),
        tabs: vec![HistoryEntry::new(Search::browse(id(number)))],
        tile_size: Some(tile_size.to_owned()),
        ..SavedSession::default()
    };
    assert_eq!(store.session(Some(id(1))), Ok(None));
    store.save(1, &StateValue::Session(session(1, "small"))).unwrap();
    store.save(2, &StateValue::Session(session(2, "large"))).unwrap();
    for dataset in [None, Some(id(2)), Some(id(3))] {
        assert_eq!(store.session(dataset), Ok(Some(session(2, "large"))), "{dataset:?}");
    }
    assert_eq!(store.session(Some(id(1))), Ok(Some(session(1, "large"))));
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn saved_state_is_private() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state/prod");
    let store = StateFolder::in_dir(state.clone());
    store.save(1, &basket(1)).unwrap();
    store.save(2, &jobs(&[1], &[])).unwrap();
    assert_eq!((mode(&state), mode(state.parent().unwrap())), (0o700, 0o700));
    let files: Vec<_> = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn an_open_state_folder_of_an_earlier_version_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    StateFolder::in_dir(folder.path().to_owned()).save(1, &basket(1)).unwrap();
    assert_eq!(mode(folder.path()), 0o700);
}

fn job(second: u64) -> JobRecord {
    JobRecord {
        started_at: Timestamp::from_secs(second),
        ended_at: None,
        dataset: DatasetId(Uuid::nil()),
        dataset_name: SafeText::name("x"),
        kind: JobKind::Reindex,
        state: SavedJobState::Accepted,
    }
}

fn jobs(this_instance: &[u64], others: &[u64]) -> StateValue {
    let all = |seconds: &[u64]| seconds.iter().copied().map(job).collect();
    StateValue::Jobs { this_instance: all(this_instance), other_instances: all(others) }
}

#[test]
fn one_instance_follows_a_job_and_the_next_adopts_orphaned_ones() {
    let folder = tempfile::tempdir().unwrap();
    let open = || StateFolder::in_dir(folder.path().to_owned());
    let first = open();
    first.save(1, &jobs(&[1], &[])).unwrap();
    let second = open();
    assert_eq!(second.load(&StateKey::Jobs), Ok(Some(jobs(&[], &[1]))));
    second.save(1, &jobs(&[2], &[])).unwrap();
    drop(first);
    assert_eq!(second.load(&StateKey::Jobs), Ok(Some(jobs(&[1], &[]))));
    drop(second);
    let third = open();
    assert_eq!(third.load(&StateKey::Jobs), Ok(Some(jobs(&[1, 2], &[]))), "nothing was written");
    third.save(1, &jobs(&[1, 2], &[])).unwrap();
    drop(third);
    let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let remaining = files.filter(|path| path.extension().is_some_and(|end| end == "json")).count();
    assert_eq!(remaining, 1, "what was taken over is gone");
    assert_eq!(open().load(&StateKey::Jobs), Ok(Some(jobs(&[1, 2], &[]))));
}

#[test]
fn unreadable_job_files_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("jobs-0.json");
    fs::write(&damaged, "{").unwrap();
    let store = StateFolder::in_dir(folder.path().to_owned());
    assert!(store.load(&StateKey::Jobs).is_err());
    store.save(1, &jobs(&[1], &[])).unwrap();
    assert_eq!(fs::read_to_string(damaged).unwrap(), "{");
}

#[test]
fn a_selection_file_is_never_overwritten_and_opens_for_its_dataset_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("night.json");
    let StateValue::Basket(dataset, selection) = basket(3) else { panic!("a basket") };
    save_selection(path.clone(), dataset, &selection).unwrap();
    assert_eq!(load_selection(&path, dataset), Ok(selection));
    let again = save_selection(path.clone(), dataset, &Selection::default()).unwrap_err();
    assert!(again.to_string().contains("already exists"), "{again}");
    let other = load_selection(&path, DatasetId(Uuid::from_u128(9))).unwrap_err();
    assert!(other.to_string().contains("belongs to dataset"), "{other}");
}

#[test]
fn a_damaged_file_is_reported_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = StateFolder::in_dir(folder.path().to_owned());
    let path = folder.path().join(format!("basket-{}.json", Uuid::nil()));
    for content in [&b"{\"schema\":"[..], b"\xff\xfe"] {
        fs::write(&path, content).unwrap();
        let failure = store.load(&basket(1).key()).unwrap_err().to_string();
        assert!(failure.contains("cannot be parsed"), "{failure}");
        assert!(failure.contains("Move the file away to start over"), "{failure}");
        assert!(path.exists());
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let failure = store.load(&basket(1).key()).unwrap_err().to_string();
    assert!(failure.contains("Move the file away to start over"), "{failure}");
}

fn tags(tags: &[(&str, &[u128])]) -> StateValue {
    let selection = |media: &[u128]| {
        let entry = |media: &u128| match basket(*media) {
            StateValue::Basket(_, selection) => selection.ordered_entries()[0].clone(),
            _ => unreachable!(),
        };
        media.iter().map(entry).collect()
    };
    let tags = tags.iter().map(|(name, media)| (SafeText::name(name), selection(media)));
    StateValue::KeptTags(DatasetId(Uuid::nil()), tags.collect())
}

#[test]
fn tags_of_two_windows_are_merged() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = [(); 2].map(|()| StateFolder::in_dir(folder.path().to_owned()));
    let key = tags(&[]).key();
    one.save(1, &tags(&[("picked", &[1, 2]), ("old", &[9])])).unwrap();
    other.load(&key).unwrap();
    one.save(2, &tags(&[("picked", &[1, 2, 3]), ("old", &[9])])).unwrap();
    // The other window has not seen the last change. It removes one item and a tag, and adds an item and a tag.
    other.save(1, &tags(&[("picked", &[2, 4]), ("night", &[7])])).unwrap();
    let merged = tags(&[("night", &[7]), ("picked", &[2, 3, 4])]);
    assert_eq!(other.load(&key), Ok(Some(merged)));
    // The first window undoes its last change, still without having seen the other one.
    one.save(3, &tags(&[("picked", &[1, 2]), ("old", &[9])])).unwrap();
    let merged = tags(&[("night", &[7]), ("picked", &[2, 4])]);
    assert_eq!(one.load(&key), Ok(Some(merged)));
    one.save(4, &tags(&[])).unwrap();
    assert_eq!(one.load(&key), Ok(Some(tags(&[]))));
}

fn basket_of(media: &[u128]) -> StateValue {
    let entries = media.iter().flat_map(|media| match basket(*media) {
        StateValue::Basket(_, selection) => {
            selection.ordered_entries().into_iter().cloned().collect::<Vec<_>>()
        }
        _ => unreachable!(),
    });
    StateValue::Basket(DatasetId(Uuid::nil()), entries.collect())
}

fn history(captions: &[&str]) -> StateValue {
    let entry = |caption: &&str| HistoryEntry {
        search: Search {
            query: Query::Caption { text: QueryText::new(caption).unwrap(), max_score: None },
            ..Search::browse(DatasetId(Uuid::nil()))
        },
        similar_to: None,
        file: None,
        region: None,
        searched_at: None,
        results: None,
    };
    StateValue::History(captions.iter().map(entry).collect())
}

#[test]
fn an_open_interface_keeps_what_a_command_adds() {
    let cases = [
        (basket_of(&[1, 2]), basket_of(&[1, 2, 3]), basket_of(&[2, 4]), basket_of(&[2, 3, 4])),
        (history(&["a"]), history(&["a", "b"]), history(&["a", "c"]), history(&["a", "b", "c"])),
    ];
    for (before, of_command, of_interface, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        let [interface, command] = [(); 2].map(|()| StateFolder::in_dir(folder.path().to_owned()));
        let key = before.key();
        interface.save(1, &before).unwrap();
        command.replace(&of_command).unwrap();
        interface.save(2, &of_interface).unwrap();
        assert_eq!(interface.load(&key), Ok(Some(expected)));
    }
}

#[test]
fn changes_at_the_same_time_are_all_kept() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = DatasetId(Uuid::nil());
    let add = &|media: u128| {
        let state = StateFolder::in_dir(folder.path().to_owned());
        let StateValue::Basket(_, added) = basket(media) else { unreachable!() };
        let with_added = |selection: &Selection| -> Selection {
            let all = selection.ordered_entries().into_iter().chain(added.ordered_entries());
            all.cloned().collect()
        };
        let lock = state.lock_named_selection("night", dataset).unwrap();
        let named = state.load_named_selection("night", dataset).unwrap().unwrap_or_default();
        state.replace_named_selection("night", dataset, &with_added(&named)).unwrap();
        drop(lock);
        let selected = with_added(&state.basket(dataset).unwrap());
        state.replace(&StateValue::Basket(dataset, selected)).unwrap();
        // An interface that has not seen the changes of others merges its own one into them.
        state.save(1, &tags(&[("picked", &[media])])).unwrap();
    };
    std::thread::scope(|scope| {
        for media in 1..=12 {
            scope.spawn(move || add(media));
        }
    });
    let state = StateFolder::in_dir(folder.path().to_owned());
    assert_eq!(state.basket(dataset).unwrap().len(), 12);
    for name in ["night", "tag:picked"] {
        assert_eq!(state.named_selection(name, dataset).unwrap().len(), 12, "{name}");
    }
}
