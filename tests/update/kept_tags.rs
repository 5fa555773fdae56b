//! Tests tags of services that have no requests for tags: what a key keeps on this machine, undo, and what is refused.

use tessera_config::input::Action;
use tessera_interface::{
    app::{
        availability::unavailable_reason,
        overlay::add_media::{AddMediaField, AddMediaForm},
        tag_of_key,
    },
    message::{Lane, Payload, Request},
};
use tessera_model::{
    EntryContent, KeptTags, LocalDataset, PatternLists, SafeText, Selection, StateKey, StateValue,
    Status,
};

use crate::support::app_harness::{AppHarness, dataset, page};

fn key() -> StateKey {
    StateKey::KeptTags(dataset(1, Status::Ready).id)
}

/// Opens a dataset of a hosted service in the tagging mode.
fn tagging() -> AppHarness {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("2 ;");
    harness
}

fn saved(harness: &AppHarness) -> KeptTags {
    match harness.kept.get(&key()) {
        Some(StateValue::KeptTags(_, tags)) => tags.clone(),
        other => panic!("{other:?}"),
    }
}

fn with_tag(harness: &AppHarness, name: &str) -> usize {
    saved(harness).get(&SafeText::name(name)).map_or(0, Selection::len)
}

/// Returns the tags of the cluster under the cursor, and of its preview under the cursor.
fn shown(harness: &AppHarness) -> (Vec<String>, Vec<String>) {
    let results = harness.app.results();
    let (cluster, preview) = (results.cluster().unwrap(), results.preview().unwrap());
    let names = |media| {
        harness
            .app
            .tagging()
            .kept_tags_of(harness.app.results(), cluster, media)
            .map(ToString::to_string)
            .collect()
    };
    (names(None), names(Some(preview)))
}

#[test]
fn a_key_keeps_a_tag_on_this_machine_and_says_where() {
    let mut harness = tagging();
    harness.press("p");
    assert!(harness.notice().contains("on this machine, as the selection tag:picked"));
    assert_eq!((with_tag(&harness, "picked"), shown(&harness)), (1, both(&["picked"])));
    harness.press("x");
    assert_eq!((with_tag(&harness, "picked"), with_tag(&harness, "rejected")), (0, 1));
    assert_eq!(shown(&harness), both(&["rejected"]));
    harness.press("x");
    assert_eq!(with_tag(&harness, "rejected"), 0);
    assert!(harness.notice().contains("no longer rejected"), "{}", harness.notice());
    harness.press("u u");
    assert_eq!(shown(&harness), both(&["picked"]));
    harness.press("u");
    assert!(saved(&harness).is_empty());
    assert!(unavailable_reason(&harness.app, Action::UndoTags).unwrap().contains("no tag"));
    assert!(harness.requests().iter().all(|it| !matches!(it, Request::ChangeTags(..))));
    assert!(harness.app.tickets().lanes().all(|lane| !matches!(lane, Lane::Tags(_))));
}

#[test]
fn a_local_service_behind_an_address_tags_cancels_and_manages_as_commands_do() {
    let mut harness = AppHarness::new();
    harness.local_dataset = Some(LocalDataset {
        folder_missing: false,
        uploads: 0,
        excluded: 0,
        patterns: PatternLists::default(),
        encoding: None,
    });
    let mut harness = harness.opening_clusters(3);
    harness.press("2 ; p");
    assert!(harness.requests().iter().any(|it| matches!(it, Request::ChangeTags(..))));
    assert!(!harness.kept.contains_key(&key()), "nothing is kept on this machine");
    for action in [Action::Rate5, Action::TagWholeSearch, Action::Rescan, Action::RenameDataset] {
        assert_eq!(unavailable_reason(&harness.app, action), None, "{action:?}");
    }
    let cancel = unavailable_reason(&harness.app, Action::CancelExport).unwrap();
    assert!(!cancel.contains("this deployment"), "{cancel}");
    let files = unavailable_reason(&harness.app, Action::TrashFiles).unwrap();
    assert!(files.contains("may be on another machine"), "{files}");
    assert!(harness.app.has_local_service());
    harness.press("esc A");
    let fields = harness.app.dialog::<AddMediaForm>().unwrap().fields();
    assert!(!fields.contains(&AddMediaField::Videos), "{fields:?}");
}

fn both(names: &[&str]) -> (Vec<String>, Vec<String>) {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    (names.clone(), names)
}

#[test]
fn a_tag_of_ones_own_has_a_key_and_a_selection_is_only_added() {
    let mut harness = tagging();
    harness.press("1");
    assert!(harness.notice().contains("no tag has this key"), "{}", harness.notice());
    harness.press("+");
    harness.type_text("night \u{1b}[31m");
    harness.press("enter");
    assert!(!harness.kept.contains_key(&key()), "an unprintable name is refused");
    harness.press("ctrl-u");
    harness.type_text("night");
    harness.press("enter 1 l space l space 1");
    assert_eq!(with_tag(&harness, "night"), 3);
    harness.press("1");
    assert_eq!(with_tag(&harness, "night"), 3, "a key adds to a selection");
}

#[test]
fn a_member_is_tagged_alone_or_left_out_of_its_tagged_cluster() {
    let mut harness = tagging();
    harness.press("i p");
    assert_eq!(shown(&harness), (vec![], vec!["picked".to_owned()]));
    harness.press("p f3 p i p");
    assert_eq!(shown(&harness), (vec!["picked".to_owned()], vec![]));
    let tags = saved(&harness);
    let entry = tags[&SafeText::name("picked")].ordered_entries()[0].clone();
    assert!(matches!(entry.content, EntryContent::Cluster(it) if it.excluded.len() == 1));
}

#[test]
fn tags_are_there_after_the_next_start_and_what_cannot_be_kept_is_refused() {
    let mut harness = tagging();
    harness.press("p");
    let mut harness = AppHarness::keeping(harness.kept).opening_clusters(3);
    assert_eq!(shown(&harness), both(&["picked"]));
    for action in [Action::TagWholeSearch, Action::Rate0, Action::Rate5] {
        let reason = unavailable_reason(&harness.app, action).unwrap();
        assert!(reason.contains("only media of local folders"), "{reason}");
    }
    harness.app.setup_mut().read_only = true;
    assert!(unavailable_reason(&harness.app, Action::Pick).unwrap().contains("--read-only"));
    harness.press("f");
    harness.answer_page(page(0, 3));
    assert_eq!(shown(&harness), both(&["picked"]), "in other searches, too");
}

#[test]
fn a_picked_member_of_a_rejected_cluster_is_rejected_and_an_excluded_one_is_tagged_again() {
    let mut harness = tagging();
    harness.press("i p f3 x");
    assert_eq!((with_tag(&harness, "picked"), with_tag(&harness, "rejected")), (0, 1));
    harness.press("i x f3");
    assert_eq!(shown(&harness), (vec!["rejected".to_owned()], vec![]), "without one member");
    harness.press("x");
    assert_eq!(shown(&harness), both(&["rejected"]), "the whole cluster");
}

#[test]
fn a_tag_on_this_machine_is_renamed_and_deleted() {
    let mut harness = tagging();
    harness.press("p l x t f2 ctrl-u k e e p enter");
    assert_eq!(harness.notice(), "renamed the tag picked to keep; u undoes this");
    assert_eq!((with_tag(&harness, "picked"), with_tag(&harness, "keep")), (0, 1));
    harness.press("f2 ctrl-u r e j e c t e d enter");
    assert_eq!((with_tag(&harness, "keep"), with_tag(&harness, "rejected")), (0, 2));
    harness.press("delete");
    assert_eq!(
        (harness.notice(), saved(&harness).len()),
        ("deleted the tag rejected; u undoes this", 0)
    );
    harness.press("esc u u u");
    assert_eq!((with_tag(&harness, "picked"), with_tag(&harness, "rejected")), (1, 1));
}

#[test]
fn tags_keep_their_keys_when_others_are_created_and_renamed() {
    let mut harness = tagging();
    for name in ["night", "day"] {
        harness.press("+");
        harness.type_text(name);
        harness.press("enter");
    }
    let keys =
        |harness: &AppHarness| [0, 1].map(|key| tag_of_key(&harness.app, key).unwrap().to_string());
    assert_eq!(keys(&harness), ["night", "day"]);
    harness.press("t f2 ctrl-u d u s k enter esc");
    assert_eq!(keys(&harness), ["dusk", "day"]);
}

#[test]
fn an_undo_brings_no_clusters_back_from_before_a_reindex_as_current_ones() {
    let mut harness = tagging();
    harness.press("p l p");
    for status in [Status::Indexing, Status::Ready] {
        harness.wait(15);
        harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, status)], 0));
    }
    harness.press("u");
    let picked = &saved(&harness)[&SafeText::name("picked")];
    assert_eq!((picked.totals().clusters, picked.totals().stale), (1, 1));
}

#[test]
fn a_tag_that_is_renamed_to_picked_removes_the_rejection() {
    let mut harness = tagging();
    harness.press("+");
    harness.type_text("keep");
    harness.press("enter 1 x l x t f2 ctrl-u p i c k e d enter esc");
    assert_eq!((with_tag(&harness, "picked"), with_tag(&harness, "rejected")), (1, 1));
    harness.press("u");
    assert_eq!((with_tag(&harness, "picked"), with_tag(&harness, "rejected")), (0, 2));
}
