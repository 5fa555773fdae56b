//! Marking, and what is marked: across pages and searches, with exclusions, and never unseen.

use tessera::{
    app::Overlay,
    message::{JobId, Lane, Payload, Request},
};
use tessera_model::{
    EntryContent, EntryId, ExportFormat, FailureKind, Selection, SelectionItem, SelectionTotals,
    StateKey, StateValue, Status,
};

use crate::support::desk::{Desk, cluster, dataset, page, task};

fn selection(desk: &Desk) -> &Selection {
    desk.app.selection().expect("the basket is there")
}

fn totals(desk: &Desk) -> SelectionTotals {
    selection(desk).totals()
}

fn book() -> StateKey {
    StateKey::Basket(dataset(1, Status::Ready).id)
}

#[test]
fn space_marks_the_cluster_and_again_takes_it_away() {
    let mut desk = Desk::with_clusters(5);
    desk.press("l space");
    let SelectionItem::Cluster { cluster: id, exclude, .. } = &selection(&desk).items()[0] else {
        panic!("a cluster is marked");
    };
    assert_eq!((*id, exclude.len()), (cluster(1).id, 0));
    assert_eq!(totals(&desk).export_rows(), 3);
    desk.press("space");
    assert!(selection(&desk).is_empty());
}

#[test]
fn a_range_is_chosen_and_then_marked() {
    let mut desk = Desk::with_clusters(9);
    desk.press("l v l l l");
    assert_eq!(desk.app.selected_tile_range(), Some(1..=4));
    assert!(selection(&desk).is_empty(), "nothing is marked before it is said");
    desk.press("v");
    assert_eq!((totals(&desk).clusters, desk.app.selected_tile_range()), (4, None));
    desk.press("v h esc");
    assert_eq!((totals(&desk).clusters, desk.app.selected_tile_range()), (4, None));
}

#[test]
fn all_pages_are_marked_one_after_the_other_as_one_step() {
    let mut desk = Desk::with_clusters(100);
    desk.press("g V");
    assert_eq!(totals(&desk).clusters, 100);
    desk.answer_page(page(100, 100));
    desk.answer_page(page(200, 7));
    assert_eq!(totals(&desk).clusters, 207);
    assert_eq!(desk.app.page_number(), 0, "the page on screen stays");
    assert_eq!(desk.notice(), "all pages loaded: selected 207 clusters from 3 pages; u undoes it");
    desk.press("u");
    assert!(selection(&desk).is_empty());
    desk.press("U");
    assert_eq!(totals(&desk).clusters, 207);
}

#[test]
fn esc_stops_between_two_pages_and_a_lost_page_ends_it() {
    let mut desk = Desk::with_clusters(100);
    desk.press("g V esc");
    assert!(desk.requests().is_empty() && desk.cancelled.len() == 1);
    assert_eq!(totals(&desk).clusters, 100);
    desk.press("g V");
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Page(_)));
    let failure = tessera_model::Failure::new(tessera_model::FailureKind::Server, "it broke");
    desk.respond(ticket, Err(failure));
    assert!(
        desk.notice().starts_with("page 2 could not be loaded: selected 0 clusters from 1 page")
    );
    assert!(desk.app.baskets.pending.all_pages.is_none() && desk.requests().is_empty());
}

#[test]
fn after_fifty_pages_it_asks() {
    let mut desk = Desk::with_clusters(100);
    desk.press("g V");
    for number in 1..50 {
        desk.answer_page(page(number * 100, 100));
    }
    assert!(desk.requests().is_empty(), "it waits for the person");
    assert_eq!(totals(&desk).clusters, 5_000);
    desk.press("g V");
    desk.answer_page(page(5_000, 1));
    assert_eq!(totals(&desk).clusters, 5_001);
}

#[test]
fn the_page_is_marked_turned_over_and_cleared() {
    let mut desk = Desk::with_clusters(4);
    desk.press("space *");
    assert_eq!(totals(&desk).clusters, 3);
    assert!(selection(&desk).get(EntryId::Cluster(cluster(0).id)).is_none());
    desk.press("V");
    assert_eq!(totals(&desk).clusters, 4);
    desk.press("5 D");
    assert!(selection(&desk).is_empty());
    desk.press("u");
    assert_eq!(totals(&desk).clusters, 4, "also clearing can be taken back");
}

#[test]
fn marks_stay_across_pages_and_what_is_hidden_is_counted() {
    let mut desk = Desk::with_clusters(100);
    desk.press("space l space n");
    desk.answer_page(page(100, 100));
    desk.press("space");
    assert_eq!(desk.app.visible_and_hidden_selected(), (1, 2));
}

#[test]
fn a_member_is_left_out_of_its_marked_cluster_never_marked_twice() {
    let mut desk = Desk::with_clusters(3);
    desk.press("x");
    assert_eq!(desk.notice(), "its cluster is not selected; Space in the results selects it");
    desk.press("enter l space");
    assert_eq!(totals(&desk).media, 1);
    desk.press("esc space");
    assert_eq!(desk.notice(), "1 cluster selected, replacing 1 selected item; u undoes it");
    desk.press("enter x l space");
    let excluded: Vec<_> = cluster(0).previews[1..].iter().map(|it| it.media).collect();
    let items = selection(&desk).items();
    let [SelectionItem::Cluster { exclude, .. }] = items.as_slice() else {
        panic!("{items:?}");
    };
    assert_eq!((exclude, totals(&desk).export_rows()), (&excluded, 1));
    desk.press("space");
    assert_eq!(totals(&desk).excluded, 1);
}

#[test]
fn the_basket_is_kept_at_every_change_and_recalled() {
    let mut desk = Desk::with_clusters(3);
    desk.press("space l space u");
    let kept = desk.kept.get(&book()).cloned().unwrap();
    assert_eq!(kept, StateValue::Basket(dataset(1, Status::Ready).id, selection(&desk).clone()));

    let mut again = Desk::new();
    again.kept.insert(book(), kept);
    again.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    assert_eq!(totals(&again).clusters, 1);
}

#[test]
fn each_dataset_has_its_own_basket() {
    let mut desk = Desk::new();
    let both = vec![dataset(1, Status::Ready), dataset(2, Status::Ready)];
    desk.answer(Lane::Datasets, Payload::Datasets(both, 0));
    desk.answer_page(page(0, 3));
    desk.press("space 1 j enter");
    assert!(selection(&desk).is_empty());
    desk.press("1 k enter");
    assert_eq!(totals(&desk).clusters, 1);
}

#[test]
fn marked_clusters_are_in_doubt_after_a_reindex_until_they_are_seen_again() {
    let mut desk = Desk::with_clusters(3);
    desk.press("space l space");
    for status in [Status::Indexing, Status::Ready] {
        desk.wait(15);
        desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, status)], 0));
    }
    assert_eq!(totals(&desk).stale, 2);
    desk.answer_page(page(1, 5));
    assert_eq!(totals(&desk).stale, 1, "cluster 1 is told again, cluster 0 is not");
    let stale = |mark: &&tessera_model::SelectionEntry| match &mark.content {
        EntryContent::Cluster(cluster) => cluster.stale,
        EntryContent::MediaItem(..) => false,
    };
    let rows = desk.app.basket_rows();
    assert_eq!(rows.iter().find(|mark| stale(mark)).unwrap().id(), EntryId::Cluster(cluster(0).id));
}

#[test]
fn opening_a_row_goes_to_its_tile_or_looks_for_it() {
    let mut desk = Desk::with_clusters(100);
    desk.press("l space n");
    desk.answer_page(page(100, 100));
    desk.press("M enter");
    let view = desk.app.view().unwrap();
    assert_eq!(view.similar_to.as_ref().unwrap().as_str(), "10.jpg");
    desk.answer_page(page(0, 5));
    desk.press("M enter");
    assert_eq!(desk.app.cluster().unwrap().id, cluster(1).id);
}

/// A desk with two clusters marked, one of them without a member.
fn marked() -> Desk {
    let mut desk = Desk::with_clusters(5);
    desk.press("space l space x");
    desk
}

#[test]
fn the_basket_is_exported_as_it_was_shown() {
    let mut desk = marked();
    desk.press("E enter");
    let items = selection(&desk).items();
    let (ticket, request) = desk.take(|lane| matches!(lane, Lane::StartJob(_)));
    let expected = Request::StartSelectionExport {
        dataset: dataset(1, Status::Ready).id,
        format: ExportFormat::Parquet,
        images: true,
        items,
    };
    assert_eq!(request, expected);
    desk.respond(ticket, Ok(Payload::Export(task("COMPLETED"))));
    let selected = desk.app.jobs.get(JobId(0)).unwrap().export().unwrap().selection.clone();
    assert_eq!(selected.unwrap().as_str(), "2 clusters");
    let (_, request) = desk.take(|lane| matches!(lane, Lane::Download(_)));
    let Request::Download { target, .. } = request else { panic!("{request:?}") };
    assert_eq!(target.to_str(), Some("/downloads/set-1 selection.zip"));
}

#[test]
fn an_empty_basket_is_not_exported() {
    let mut desk = Desk::with_clusters(3);
    desk.press("E");
    assert!(desk.app.overlay.is_none());
    assert_eq!(desk.notice(), "nothing is selected: Space selects a cluster");
}

#[test]
fn what_is_in_doubt_is_shown_but_not_exported() {
    let mut desk = marked();
    for status in [Status::Indexing, Status::Ready] {
        desk.wait(15);
        desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, status)], 0));
    }
    desk.press("E enter");
    assert!(matches!(desk.app.overlay, Some(Overlay::Export(_))), "the form stays");
    assert_eq!(desk.notice(), "2 clusters may be gone: recheck or remove them in the basket (5)");
    assert!(!desk.requests().iter().any(|it| matches!(it, Request::StartSelectionExport { .. })));
}

#[test]
fn a_refused_export_keeps_the_basket_and_looks_again() {
    for (kind, doubt) in [(FailureKind::Conflict, 0), (FailureKind::NotFound, 2)] {
        let mut desk = marked();
        desk.press("E enter");
        desk.fail(Lane::StartJob(JobId(0)), kind);
        assert_eq!((totals(&desk).clusters, totals(&desk).stale), (2, doubt), "{kind:?}");
        assert!(desk.requests().contains(&&Request::Datasets), "{kind:?}");
    }
}

#[test]
fn the_form_tells_the_command_that_does_the_same() {
    let mut desk = marked();
    desk.press("E");
    let Some(Overlay::Export(form)) = &desk.app.overlay else { panic!("the form is open") };
    let (whole, part) = (cluster(0).id, cluster(1).id);
    let out = cluster(1).previews[0].media;
    assert_eq!(
        form.command(),
        format!(
            "tessera export start {} --cluster {whole} --cluster {part}^{out} --format parquet \
             --images --name 'set-1 selection.zip'",
            dataset(1, Status::Ready).id
        )
    );
}

#[test]
fn a_selection_is_saved_under_a_name_and_opened_again() {
    let mut desk = marked();
    let marked = selection(&desk).clone();
    let id = dataset(1, Status::Ready).id;
    desk.press("M w enter");
    let path = std::path::PathBuf::from("/downloads/set-1.json");
    let request = Request::SaveSelection(path.clone(), id, marked.clone());
    assert_eq!(desk.requests(), [&request]);
    desk.answer(Lane::Selection, Payload::SelectionSaved(path.clone()));
    assert_eq!(desk.notice(), "saved the selection to /downloads/set-1.json");
    desk.press("D o enter");
    assert_eq!(desk.requests(), [&Request::OpenSelection(path, id)]);
    desk.answer(Lane::Selection, Payload::Selection(id, marked.clone()));
    assert_eq!(selection(&desk), &marked);
    desk.press("u");
    assert!(selection(&desk).is_empty());
}

#[test]
fn a_bare_name_is_the_selection_that_commands_know_by_it() {
    let mut desk = marked();
    let marked = selection(&desk).clone();
    let id = dataset(1, Status::Ready).id;
    desk.press("M w ctrl-u n i g h t enter");
    assert_eq!(desk.requests(), [&Request::SaveNamed("night".into(), id, marked.clone())]);
    desk.answer(Lane::Selection, Payload::SelectionSaved("/state/selections/night.json".into()));
    desk.press("o ctrl-u n i g h t enter");
    assert_eq!(desk.requests(), [&Request::OpenNamed("night".into(), id)]);
}
