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

use crate::support::desk::{Desk, dataset, page};

fn key() -> StateKey {
    StateKey::KeptTags(dataset(1, Status::Ready).id)
}

/// Opens a dataset of a hosted service in the tagging mode.
fn tagging() -> Desk {
    let mut desk = Desk::with_clusters(3);
    desk.press("2 ;");
    desk
}

fn saved(desk: &Desk) -> KeptTags {
    match desk.kept.get(&key()) {
        Some(StateValue::KeptTags(_, tags)) => tags.clone(),
        other => panic!("{other:?}"),
    }
}

fn with_tag(desk: &Desk, name: &str) -> usize {
    saved(desk).get(&SafeText::name(name)).map_or(0, Selection::len)
}

/// Returns the tags of the cluster under the cursor, and of its preview under the cursor.
fn shown(desk: &Desk) -> (Vec<String>, Vec<String>) {
    let results = desk.app.results();
    let (cluster, preview) = (results.cluster().unwrap(), results.preview().unwrap());
    let names = |media| {
        desk.app
            .tagging()
            .kept_tags_of(desk.app.results(), cluster, media)
            .map(ToString::to_string)
            .collect()
    };
    (names(None), names(Some(preview)))
}

#[test]
fn a_key_keeps_a_tag_on_this_machine_and_says_where() {
    let mut desk = tagging();
    desk.press("p");
    assert!(desk.notice().contains("on this machine, as the selection tag:picked"));
    assert_eq!((with_tag(&desk, "picked"), shown(&desk)), (1, both(&["picked"])));
    desk.press("x");
    assert_eq!((with_tag(&desk, "picked"), with_tag(&desk, "rejected")), (0, 1));
    assert_eq!(shown(&desk), both(&["rejected"]));
    desk.press("x");
    assert_eq!(with_tag(&desk, "rejected"), 0);
    assert!(desk.notice().contains("no longer rejected"), "{}", desk.notice());
    desk.press("u u");
    assert_eq!(shown(&desk), both(&["picked"]));
    desk.press("u");
    assert!(saved(&desk).is_empty());
    assert!(unavailable_reason(&desk.app, Action::UndoTags).unwrap().contains("no tag"));
    assert!(desk.requests().iter().all(|it| !matches!(it, Request::ChangeTags(..))));
    assert!(desk.app.tickets().lanes().all(|lane| !matches!(lane, Lane::Tags(_))));
}

#[test]
fn a_local_service_behind_an_address_tags_cancels_and_manages_as_commands_do() {
    let mut desk = Desk::new();
    desk.local_dataset = Some(LocalDataset {
        folder_missing: false,
        uploads: 0,
        excluded: 0,
        patterns: PatternLists::default(),
        encoding: None,
    });
    let mut desk = desk.opening_clusters(3);
    desk.press("2 ; p");
    assert!(desk.requests().iter().any(|it| matches!(it, Request::ChangeTags(..))));
    assert!(!desk.kept.contains_key(&key()), "nothing is kept on this machine");
    for action in [Action::Rate5, Action::TagWholeSearch, Action::Rescan, Action::RenameDataset] {
        assert_eq!(unavailable_reason(&desk.app, action), None, "{action:?}");
    }
    let cancel = unavailable_reason(&desk.app, Action::CancelExport).unwrap();
    assert!(!cancel.contains("this deployment"), "{cancel}");
    let files = unavailable_reason(&desk.app, Action::TrashFiles).unwrap();
    assert!(files.contains("may be on another machine"), "{files}");
    assert!(desk.app.has_local_service());
    desk.press("esc A");
    let fields = desk.app.dialog::<AddMediaForm>().unwrap().fields();
    assert!(!fields.contains(&AddMediaField::Videos), "{fields:?}");
}

fn both(names: &[&str]) -> (Vec<String>, Vec<String>) {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    (names.clone(), names)
}

#[test]
fn a_tag_of_ones_own_has_a_key_and_a_selection_is_only_added() {
    let mut desk = tagging();
    desk.press("1");
    assert!(desk.notice().contains("no tag has this key"), "{}", desk.notice());
    desk.press("+");
    desk.type_text("night \u{1b}[31m");
    desk.press("enter");
    assert!(!desk.kept.contains_key(&key()), "an unprintable name is refused");
    desk.press("ctrl-u");
    desk.type_text("night");
    desk.press("enter 1 l space l space 1");
    assert_eq!(with_tag(&desk, "night"), 3);
    desk.press("1");
    assert_eq!(with_tag(&desk, "night"), 3, "a key adds to a selection");
}

#[test]
fn a_member_is_tagged_alone_or_left_out_of_its_tagged_cluster() {
    let mut desk = tagging();
    desk.press("i p");
    assert_eq!(shown(&desk), (vec![], vec!["picked".to_owned()]));
    desk.press("p f3 p i p");
    assert_eq!(shown(&desk), (vec!["picked".to_owned()], vec![]));
    let tags = saved(&desk);
    let entry = tags[&SafeText::name("picked")].ordered_entries()[0].clone();
    assert!(matches!(entry.content, EntryContent::Cluster(it) if it.excluded.len() == 1));
}

#[test]
fn tags_are_there_after_the_next_start_and_what_cannot_be_kept_is_refused() {
    let mut desk = tagging();
    desk.press("p");
    let mut desk = Desk::keeping(desk.kept).opening_clusters(3);
    assert_eq!(shown(&desk), both(&["picked"]));
    for action in [Action::TagWholeSearch, Action::Rate0, Action::Rate5] {
        let reason = unavailable_reason(&desk.app, action).unwrap();
        assert!(reason.contains("only media of local folders"), "{reason}");
    }
    desk.app.setup_mut().read_only = true;
    assert!(unavailable_reason(&desk.app, Action::Pick).unwrap().contains("--read-only"));
    desk.press("f");
    desk.answer_page(page(0, 3));
    assert_eq!(shown(&desk), both(&["picked"]), "in other searches, too");
}

#[test]
fn a_picked_member_of_a_rejected_cluster_is_rejected_and_an_excluded_one_is_tagged_again() {
    let mut desk = tagging();
    desk.press("i p f3 x");
    assert_eq!((with_tag(&desk, "picked"), with_tag(&desk, "rejected")), (0, 1));
    desk.press("i x f3");
    assert_eq!(shown(&desk), (vec!["rejected".to_owned()], vec![]), "without one member");
    desk.press("x");
    assert_eq!(shown(&desk), both(&["rejected"]), "the whole cluster");
}

#[test]
fn a_tag_on_this_machine_is_renamed_and_deleted() {
    let mut desk = tagging();
    desk.press("p l x t f2 ctrl-u k e e p enter");
    assert_eq!(desk.notice(), "renamed the tag picked to keep; u undoes this");
    assert_eq!((with_tag(&desk, "picked"), with_tag(&desk, "keep")), (0, 1));
    desk.press("f2 ctrl-u r e j e c t e d enter");
    assert_eq!((with_tag(&desk, "keep"), with_tag(&desk, "rejected")), (0, 2));
    desk.press("delete");
    assert_eq!((desk.notice(), saved(&desk).len()), ("deleted the tag rejected; u undoes this", 0));
    desk.press("esc u u u");
    assert_eq!((with_tag(&desk, "picked"), with_tag(&desk, "rejected")), (1, 1));
}

#[test]
fn tags_keep_their_keys_when_others_are_created_and_renamed() {
    let mut desk = tagging();
    for name in ["night", "day"] {
        desk.press("+");
        desk.type_text(name);
        desk.press("enter");
    }
    let keys = |desk: &Desk| [0, 1].map(|key| tag_of_key(&desk.app, key).unwrap().to_string());
    assert_eq!(keys(&desk), ["night", "day"]);
    desk.press("t f2 ctrl-u d u s k enter esc");
    assert_eq!(keys(&desk), ["dusk", "day"]);
}

#[test]
fn an_undo_brings_no_clusters_back_from_before_a_reindex_as_current_ones() {
    let mut desk = tagging();
    desk.press("p l p");
    for status in [Status::Indexing, Status::Ready] {
        desk.wait(15);
        desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, status)], 0));
    }
    desk.press("u");
    let picked = &saved(&desk)[&SafeText::name("picked")];
    assert_eq!((picked.totals().clusters, picked.totals().stale), (1, 1));
}

#[test]
fn a_tag_that_is_renamed_to_picked_removes_the_rejection() {
    let mut desk = tagging();
    desk.press("+");
    desk.type_text("keep");
    desk.press("enter 1 x l x t f2 ctrl-u p i c k e d enter esc");
    assert_eq!((with_tag(&desk, "picked"), with_tag(&desk, "rejected")), (1, 1));
    desk.press("u");
    assert_eq!((with_tag(&desk, "picked"), with_tag(&desk, "rejected")), (0, 2));
}
