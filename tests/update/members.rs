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
    desk::{Desk, cluster, page},
    duplicates::local_desk,
};

#[test]
fn a_cluster_opens_to_its_members_and_esc_closes_it() {
    let mut desk = Desk::with_clusters(9);
    desk.press("l enter");
    assert!(desk.app.results().shows_members());
    let names: Vec<String> = desk
        .app
        .results()
        .tiles()
        .iter()
        .map(|tile| tile.preview.unwrap().file_name.to_string())
        .collect();
    assert_eq!(names, ["10.jpg", "11.jpg", "12.jpg"]);
    desk.press("l l l");
    assert_eq!(desk.app.results().preview().unwrap().file_name.as_str(), "12.jpg");
    assert_eq!(here(&desk), 1, "past the last member there is no other cluster");
    desk.press("esc");
    assert_eq!(
        (desk.app.results().shows_members(), here(&desk), desk.app.panes().focus),
        (false, 1, Pane::Results)
    );
}

#[test]
fn the_members_of_a_cluster_are_not_filtered_sorted_folded_or_plotted_in_place_of_the_clusters() {
    let actions = [Action::Filter, Action::Sort, Action::Fold, Action::ScoreHistogram];
    let mut desk = searched(&[0.1, 0.2]);
    desk.press("enter");
    for action in actions {
        let reason = unavailable_reason(&desk.app, action).unwrap_or_default();
        assert!(reason.contains("members of one cluster"), "{action:?}: {reason}");
    }
    desk.press("1");
    assert_eq!(unavailable_reason(&desk.app, Action::Filter), None, "the datasets are filtered");
    desk.press("2 esc");
    for action in actions {
        assert_eq!(unavailable_reason(&desk.app, action), None, "{action:?}");
    }
}

/// Opens the members of a cluster of 150 images with three previews.
fn opened_large_cluster() -> Desk {
    let mut desk = Desk::with_clusters(3);
    let large = Cluster { n_images: Some(150), ..cluster(0) };
    desk.press("f");
    desk.answer_page(Page { clusters: vec![large], ..Page::default() });
    desk.press("enter");
    desk
}

/// Returns the members with these numbers, of which the first three are the previews of the cluster.
fn members(numbers: std::ops::Range<u128>) -> Payload {
    let clusters = numbers.map(|number| cluster(number).previews.swap_remove(0));
    let previews = cluster(0).previews.into_iter();
    Payload::Members(previews.chain(clusters.skip(1)).collect())
}

fn requested_members(desk: &Desk) -> Vec<u32> {
    let page = |request: &&Request| match request {
        Request::Members(search, _) => Some(search.page),
        _ => None,
    };
    desk.requests().iter().filter_map(page).collect()
}

#[test]
fn members_beyond_the_previews_are_loaded_while_the_user_goes_through_them() {
    let mut desk = opened_large_cluster();
    assert_eq!(requested_members(&desk), [0]);
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Members(..)));
    desk.respond(ticket, Ok(members(0..118)));
    assert_eq!(desk.app.results().tiles().len(), 120, "previews are not repeated");
    assert_eq!(requested_members(&desk), [0; 0], "the end is far");
    desk.press(&["l"; 30].join(" "));
    assert_eq!(desk.app.results().preview().unwrap().file_name.as_str(), "280.jpg");
    assert_eq!(requested_members(&desk), [1]);
    desk.press("esc");
    assert_eq!(requested_members(&desk), [0; 0], "the members are not on screen anymore");
    desk.press("enter");
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Members(..)));
    desk.respond(ticket, Ok(Payload::Members(Vec::new())));
    assert_eq!(requested_members(&desk), [0; 0], "the service has no more");
}

#[test]
fn a_service_that_does_not_list_members_gets_one_request() {
    let mut desk = opened_large_cluster();
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Members(..)));
    desk.respond(ticket, Err(Failure::new(FailureKind::NotFound, "no such path")));
    assert_eq!(desk.app.results().missing_members(), Some(MissingMembers::NotListed));
    desk.press("l esc enter l");
    assert_eq!(requested_members(&desk), [0; 0]);
}

#[test]
fn a_cluster_that_is_gone_does_not_end_the_listing_of_other_members() {
    let large = |number| Cluster { n_images: Some(150), ..cluster(number) };
    let clusters = || Page { clusters: vec![large(0), large(1)], ..Page::default() };
    for (mut desk, keys) in [(local_desk(120, 40), "esc l enter"), (Desk::with_clusters(3), "r")] {
        desk.press("r");
        desk.answer_page(clusters());
        desk.press("enter");
        let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Members(..)));
        desk.respond(ticket, Err(Failure::new(FailureKind::NotFound, "no such cluster")));
        assert_eq!(requested_members(&desk), [0; 0]);
        desk.press(keys);
        if keys == "r" {
            desk.answer_page(clusters());
        }
        assert_eq!(requested_members(&desk), [0], "{keys}");
    }
}

#[test]
fn members_are_requested_again_after_a_lost_connection_and_not_after_a_refusal() {
    let mut desk = opened_large_cluster();
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Members(..)));
    desk.respond(ticket, Err(Failure::new(FailureKind::Unreachable, "no connection")));
    desk.wait(60);
    assert_eq!(requested_members(&desk), [0]);
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Members(..)));
    desk.respond(ticket, Err(Failure::new(FailureKind::Invalid, "no")));
    desk.wait(60);
    assert_eq!(requested_members(&desk), [0; 0]);
    let missing = desk.app.results().missing_members();
    assert!(matches!(missing, Some(MissingMembers::Failed(_))), "{missing:?}");
}

/// Returns whether members are shown, their cluster, and the picture under the cursor.
fn member(desk: &Desk) -> (bool, u128, String) {
    let name = desk.app.results().preview().map(|it| it.file_name.to_string());
    (desk.app.results().shows_members(), here(desk), name.unwrap_or_default())
}

#[test]
fn members_stay_on_their_cluster_and_picture_when_the_page_changes() {
    let mut desk = Desk::with_clusters(3);
    desk.press("enter l");
    let mut changed = cluster(0);
    changed.previews.rotate_left(1);
    desk.press("r");
    desk.answer_page(Page { clusters: vec![cluster(2), cluster(1), changed], ..Page::default() });
    assert_eq!(member(&desk), (true, 0, "1.jpg".to_owned()));
    let other = Cluster { id: cluster(7).id, ..cluster(0) };
    desk.press("r");
    desk.answer_page(Page { clusters: vec![cluster(2), other], ..Page::default() });
    assert_eq!(member(&desk), (true, 7, "1.jpg".to_owned()), "the cluster with the same picture");
    desk.press("r");
    desk.answer_page(page(20, 3));
    assert!(!desk.app.results().shows_members());
    assert_eq!(desk.notice(), "the open cluster is no longer among these results");
}

#[test]
fn the_full_size_view_closes_if_its_cluster_is_gone() {
    let mut desk = Desk::with_clusters(3);
    desk.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    desk.press("s r");
    desk.answer_page(Page { clusters: vec![cluster(1), cluster(0)], ..Page::default() });
    assert_eq!(desk.app.viewed_preview().unwrap().file_name.as_str(), "0.jpg");
    desk.press("r");
    desk.answer_page(page(20, 3));
    assert!(desk.app.viewer().is_none());
    assert_eq!(desk.notice(), "the open cluster is no longer among these results");
}

#[test]
fn a_filter_that_hides_the_cluster_of_the_detail_leaves_the_detail() {
    let mut desk = Desk::with_clusters(30);
    desk.press("l l i /");
    desk.type_text("121");
    assert_eq!(member(&desk), (false, 12, "120.jpg".to_owned()));
    assert_eq!(desk.app.panes().focus, Pane::Results);
    desk.press("enter esc");
    assert_eq!(here(&desk), 2);
}

#[test]
fn a_cluster_is_opened_although_the_selected_one_is_hidden() {
    for key in ["enter", "i", "s"] {
        let mut desk = Desk::with_clusters(30);
        desk.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
        desk.press("l l /");
        desk.type_text("121");
        desk.press("enter");
        desk.press(key);
        let pane = if key == "i" { Pane::Detail } else { Pane::Results };
        assert_eq!(member(&desk), (key == "enter", 12, "120.jpg".to_owned()), "{key}");
        assert_eq!((desk.app.panes().focus, desk.app.viewer().is_some()), (pane, key == "s"));
        assert_eq!(desk.notice(), "", "{key}");
    }
    let mut desk = searched(&[0.1, 0.2, 0.2, 0.2, 0.3]);
    desk.press("l l l C enter");
    assert_eq!(member(&desk), (true, 1, "10.jpg".to_owned()));
}

#[test]
fn the_detail_is_left_if_a_filter_hides_its_cluster_after_a_reload() {
    let mut desk = Desk::with_clusters(30);
    desk.press("l l /");
    desk.type_text("20");
    desk.press("enter i r");
    let mut changed = page(0, 30);
    changed.clusters[2].previews = cluster(3).previews;
    desk.answer_page(changed);
    assert_eq!((here(&desk), desk.app.panes().focus), (12, Pane::Results));
    assert_eq!(desk.notice(), "the open cluster is no longer among these results");
}

#[test]
fn no_other_picture_is_under_the_cursor_until_a_member_is_loaded_again() {
    let mut desk = opened_large_cluster();
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Members(..)));
    desk.respond(ticket, Ok(members(0..118)));
    desk.press(&["l"; 30].join(" "));
    desk.press("r");
    let large = Cluster { n_images: Some(149), ..cluster(0) };
    desk.answer_page(Page { clusters: vec![large], ..Page::default() });
    assert_eq!(member(&desk), (true, 0, String::new()));
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Members(..)));
    desk.respond(ticket, Ok(members(1..118)));
    assert_eq!(member(&desk), (true, 0, "280.jpg".to_owned()));
}
