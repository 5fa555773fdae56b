//! Tests the members of a cluster: what opens and closes them, and how further ones are loaded.

use tessera_config::input::Action;
use tessera_interface::{
    app::{Event, MissingMembers, Pane, availability::unavailable_reason},
    message::{Lane, Payload, Request},
};
use tessera_model::{Cluster, Failure, FailureKind, Page};
use tessera_picture::Protocol;

use super::results::{here, searched};
use crate::support::{
    app_harness::{AppHarness, cluster, page},
    duplicates::local_desk,
};

#[test]
fn a_cluster_opens_to_its_members_and_esc_closes_it() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("l enter");
    assert!(harness.app.results().shows_members());
    let names: Vec<String> = harness
        .app
        .results()
        .tiles()
        .iter()
        .map(|tile| tile.preview.unwrap().file_name.to_string())
        .collect();
    assert_eq!(names, ["10.jpg", "11.jpg", "12.jpg"]);
    harness.press("l l l");
    assert_eq!(harness.app.results().preview().unwrap().file_name.as_str(), "12.jpg");
    assert_eq!(here(&harness), 1, "past the last member there is no other cluster");
    harness.press("esc");
    assert_eq!(
        (harness.app.results().shows_members(), here(&harness), harness.app.panes().focus),
        (false, 1, Pane::Results)
    );
}

#[test]
fn the_members_of_a_cluster_are_not_filtered_sorted_folded_or_plotted_in_place_of_the_clusters() {
    let actions = [Action::Filter, Action::Sort, Action::Fold, Action::ScoreHistogram];
    let mut harness = searched(&[0.1, 0.2]);
    harness.press("enter");
    for action in actions {
        let reason = unavailable_reason(&harness.app, action).unwrap_or_default();
        assert!(reason.contains("members of one cluster"), "{action:?}: {reason}");
    }
    harness.press("1");
    assert_eq!(unavailable_reason(&harness.app, Action::Filter), None, "the datasets are filtered");
    harness.press("2 esc");
    for action in actions {
        assert_eq!(unavailable_reason(&harness.app, action), None, "{action:?}");
    }
}

/// Opens the members of a cluster of 150 images with three previews.
fn opened_large_cluster() -> AppHarness {
    let mut harness = AppHarness::with_clusters(3);
    let large = Cluster { n_images: Some(150), ..cluster(0) };
    harness.press("f");
    harness.answer_page(Page { clusters: vec![large], ..Page::default() });
    harness.press("enter");
    harness
}

/// Returns the members with these numbers, of which the first three are the previews of the cluster.
fn members(numbers: std::ops::Range<u128>) -> Payload {
    let clusters = numbers.map(|number| cluster(number).previews.swap_remove(0));
    let previews = cluster(0).previews.into_iter();
    Payload::Members(previews.chain(clusters.skip(1)).collect())
}

fn requested_members(harness: &AppHarness) -> Vec<u32> {
    let page = |request: &&Request| match request {
        Request::Members(search, _) => Some(search.page),
        _ => None,
    };
    harness.requests().iter().filter_map(page).collect()
}

#[test]
fn members_beyond_the_previews_are_loaded_while_the_user_goes_through_them() {
    let mut harness = opened_large_cluster();
    assert_eq!(requested_members(&harness), [0]);
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Members(..)));
    harness.respond(ticket, Ok(members(0..118)));
    assert_eq!(harness.app.results().tiles().len(), 120, "previews are not repeated");
    assert_eq!(requested_members(&harness), [0; 0], "the end is far");
    harness.press(&["l"; 30].join(" "));
    assert_eq!(harness.app.results().preview().unwrap().file_name.as_str(), "280.jpg");
    assert_eq!(requested_members(&harness), [1]);
    harness.press("esc");
    assert_eq!(requested_members(&harness), [0; 0], "the members are not on screen anymore");
    harness.press("enter");
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Members(..)));
    harness.respond(ticket, Ok(Payload::Members(Vec::new())));
    assert_eq!(requested_members(&harness), [0; 0], "the service has no more");
}

#[test]
fn a_service_that_does_not_list_members_gets_one_request() {
    let mut harness = opened_large_cluster();
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Members(..)));
    harness.respond(ticket, Err(Failure::new(FailureKind::NotFound, "no such path")));
    assert_eq!(harness.app.results().missing_members(), Some(MissingMembers::NotListed));
    harness.press("l esc enter l");
    assert_eq!(requested_members(&harness), [0; 0]);
}

#[test]
fn a_cluster_that_is_gone_does_not_end_the_listing_of_other_members() {
    let large = |number| Cluster { n_images: Some(150), ..cluster(number) };
    let clusters = || Page { clusters: vec![large(0), large(1)], ..Page::default() };
    for (mut harness, keys) in
        [(local_desk(120, 40), "esc l enter"), (AppHarness::with_clusters(3), "r")]
    {
        harness.press("r");
        harness.answer_page(clusters());
        harness.press("enter");
        let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Members(..)));
        harness.respond(ticket, Err(Failure::new(FailureKind::NotFound, "no such cluster")));
        assert_eq!(requested_members(&harness), [0; 0]);
        harness.press(keys);
        if keys == "r" {
            harness.answer_page(clusters());
        }
        assert_eq!(requested_members(&harness), [0], "{keys}");
    }
}

#[test]
fn members_are_requested_again_after_a_lost_connection_and_not_after_a_refusal() {
    let mut harness = opened_large_cluster();
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Members(..)));
    harness.respond(ticket, Err(Failure::new(FailureKind::Unreachable, "no connection")));
    harness.wait(60);
    assert_eq!(requested_members(&harness), [0]);
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Members(..)));
    harness.respond(ticket, Err(Failure::new(FailureKind::Invalid, "no")));
    harness.wait(60);
    assert_eq!(requested_members(&harness), [0; 0]);
    let missing = harness.app.results().missing_members();
    assert!(matches!(missing, Some(MissingMembers::Failed(_))), "{missing:?}");
}

/// Returns whether members are shown, their cluster, and the picture under the cursor.
fn member(harness: &AppHarness) -> (bool, u128, String) {
    let name = harness.app.results().preview().map(|it| it.file_name.to_string());
    (harness.app.results().shows_members(), here(harness), name.unwrap_or_default())
}

#[test]
fn members_stay_on_their_cluster_and_picture_when_the_page_changes() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("enter l");
    let mut changed = cluster(0);
    changed.previews.rotate_left(1);
    harness.press("r");
    harness
        .answer_page(Page { clusters: vec![cluster(2), cluster(1), changed], ..Page::default() });
    assert_eq!(member(&harness), (true, 0, "1.jpg".to_owned()));
    let other = Cluster { id: cluster(7).id, ..cluster(0) };
    harness.press("r");
    harness.answer_page(Page { clusters: vec![cluster(2), other], ..Page::default() });
    assert_eq!(
        member(&harness),
        (true, 7, "1.jpg".to_owned()),
        "the cluster with the same picture"
    );
    harness.press("r");
    harness.answer_page(page(20, 3));
    assert!(!harness.app.results().shows_members());
    assert_eq!(harness.notice(), "the open cluster is no longer among these results");
}

#[test]
fn the_full_size_view_closes_if_its_cluster_is_gone() {
    let mut harness = AppHarness::with_clusters(3);
    harness.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    harness.press("s r");
    harness.answer_page(Page { clusters: vec![cluster(1), cluster(0)], ..Page::default() });
    assert_eq!(harness.app.viewed_preview().unwrap().file_name.as_str(), "0.jpg");
    harness.press("r");
    harness.answer_page(page(20, 3));
    assert!(harness.app.viewer().is_none());
    assert_eq!(harness.notice(), "the open cluster is no longer among these results");
}

#[test]
fn a_filter_that_hides_the_cluster_of_the_detail_leaves_the_detail() {
    let mut harness = AppHarness::with_clusters(30);
    harness.press("l l i /");
    harness.type_text("121");
    assert_eq!(member(&harness), (false, 12, "120.jpg".to_owned()));
    assert_eq!(harness.app.panes().focus, Pane::Results);
    harness.press("enter esc");
    assert_eq!(here(&harness), 2);
}

#[test]
fn a_cluster_is_opened_although_the_selected_one_is_hidden() {
    for key in ["enter", "i", "s"] {
        let mut harness = AppHarness::with_clusters(30);
        harness.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
        harness.press("l l /");
        harness.type_text("121");
        harness.press("enter");
        harness.press(key);
        let pane = if key == "i" { Pane::Detail } else { Pane::Results };
        assert_eq!(member(&harness), (key == "enter", 12, "120.jpg".to_owned()), "{key}");
        assert_eq!((harness.app.panes().focus, harness.app.viewer().is_some()), (pane, key == "s"));
        assert_eq!(harness.notice(), "", "{key}");
    }
    let mut harness = searched(&[0.1, 0.2, 0.2, 0.2, 0.3]);
    harness.press("l l l C enter");
    assert_eq!(member(&harness), (true, 1, "10.jpg".to_owned()));
}

#[test]
fn the_detail_is_left_if_a_filter_hides_its_cluster_after_a_reload() {
    let mut harness = AppHarness::with_clusters(30);
    harness.press("l l /");
    harness.type_text("20");
    harness.press("enter i r");
    let mut changed = page(0, 30);
    changed.clusters[2].previews = cluster(3).previews;
    harness.answer_page(changed);
    assert_eq!((here(&harness), harness.app.panes().focus), (12, Pane::Results));
    assert_eq!(harness.notice(), "the open cluster is no longer among these results");
}

#[test]
fn no_other_picture_is_under_the_cursor_until_a_member_is_loaded_again() {
    let mut harness = opened_large_cluster();
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Members(..)));
    harness.respond(ticket, Ok(members(0..118)));
    harness.press(&["l"; 30].join(" "));
    harness.press("r");
    let large = Cluster { n_images: Some(149), ..cluster(0) };
    harness.answer_page(Page { clusters: vec![large], ..Page::default() });
    assert_eq!(member(&harness), (true, 0, String::new()));
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Members(..)));
    harness.respond(ticket, Ok(members(1..118)));
    assert_eq!(member(&harness), (true, 0, "280.jpg".to_owned()));
}
