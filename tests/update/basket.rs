//! Tests the selection across pages and searches, with exclusions.

use tessera::usecase::file_actions::selection_of_media;
use tessera_config::DeploymentKind;
use tessera_interface::{
    app::{
        Effect, Event, Pane,
        basket::{SelectedEntries, SelectionState},
        overlay::export::{ExportField, ExportForm},
    },
    message::{JobId, Lane, Payload, Request},
};
use tessera_model::{
    Cluster, ClusterPart, Dataset, EntryContent, EntryId, ExportFormat, ExportPart, ExportPreview,
    ExportSelection, FailureKind, Filter, MediaId, Page, SafeText, Search, Selection,
    SelectionItem, SelectionTotals, StateKey, StateValue, Status, basket::cluster_entry,
};
use uuid::Uuid;

use crate::support::app_harness::{AppHarness, cluster, dataset, page, task};

fn selection(harness: &AppHarness) -> &Selection {
    harness.app.baskets().selection(harness.app.results()).expect("the basket is there")
}

fn totals(harness: &AppHarness) -> SelectionTotals {
    selection(harness).totals()
}

/// A cluster as it is found without filters.
fn whole(number: u128) -> ClusterPart {
    ClusterPart::new(cluster(number).id, &[])
}

fn basket_key() -> StateKey {
    StateKey::Basket(dataset(1, Status::Ready).id)
}

#[test]
fn space_selects_and_deselects_the_cluster() {
    let mut harness = AppHarness::with_clusters(5);
    harness.press("l space");
    let SelectionItem::Cluster { cluster: id, exclude, .. } = &selection(&harness).items()[0]
    else {
        panic!("a cluster is selected");
    };
    assert_eq!((*id, exclude.len()), (cluster(1).id, 0));
    assert_eq!(totals(&harness).export_rows(), 3);
    harness.press("space");
    assert!(selection(&harness).is_empty());
}

#[test]
fn a_screen_of_the_basket_is_what_fits_there() {
    let mut harness = AppHarness::with_clusters(60);
    harness.happen(Event::Resize(120, 40));
    harness.press("l V 5 g g");
    assert_eq!((totals(&harness).clusters, harness.app.baskets().cursor()), (60, 0));
    harness.press("pagedown");
    let step = harness.app.baskets().cursor();
    assert!((5..40).contains(&step), "{step}");
    harness.press("pagedown pageup pageup");
    assert_eq!(harness.app.baskets().cursor(), 0);
}

#[test]
fn a_range_is_selected_by_its_two_ends() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("l v l l l");
    assert_eq!(harness.app.baskets().selected_tile_range(harness.app.results()), Some(1..=4));
    assert!(selection(&harness).is_empty(), "nothing is selected before the second end");
    harness.press("v");
    assert_eq!(
        (
            totals(&harness).clusters,
            harness.app.baskets().selected_tile_range(harness.app.results())
        ),
        (4, None)
    );
    harness.press("v h esc");
    assert_eq!(
        (
            totals(&harness).clusters,
            harness.app.baskets().selected_tile_range(harness.app.results())
        ),
        (4, None)
    );
}

#[test]
fn a_range_waits_while_another_pane_has_the_focus_and_ends_with_its_page() {
    let range =
        |harness: &AppHarness| harness.app.baskets().selected_tile_range(harness.app.results());
    let mut harness = AppHarness::with_clusters(100);
    harness.press("v l 3 esc");
    assert_eq!((harness.app.panes().focus, range(&harness)), (Pane::Results, Some(0..=1)));
    harness.press("n");
    harness.answer_page(page(100, 40));
    harness.press("p");
    assert_eq!((harness.app.results().page_number(), range(&harness)), (0, None));
}

#[test]
fn all_pages_are_selected_one_by_one_as_one_undo_step() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("g V");
    assert_eq!(totals(&harness).clusters, 100);
    harness.answer_page(page(100, 100));
    harness.answer_page(page(200, 7));
    assert_eq!(totals(&harness).clusters, 207);
    assert_eq!(harness.app.results().page_number(), 0, "the page on screen stays");
    assert_eq!(
        harness.notice(),
        "all pages loaded: selected 207 clusters from 3 pages; u undoes it"
    );
    harness.press("u");
    assert!(selection(&harness).is_empty());
    harness.press("U");
    assert_eq!(totals(&harness).clusters, 207);
}

/// Lets the polls of the datasets show that the dataset was clustered again.
fn recluster(harness: &mut AppHarness) {
    for status in [Status::Indexing, Status::Ready] {
        harness.wait(15);
        harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, status)], 0));
    }
}

#[test]
fn pages_from_before_a_reindex_are_not_selected() {
    for (keys, expected) in [("g V", 109), ("space *", 108)] {
        let mut harness = AppHarness::with_clusters(100);
        harness.press("n");
        harness.answer_page(page(100, 7));
        recluster(&mut harness);
        harness.answer_page(page(600, 9));
        assert_eq!(harness.app.results().loaded_clusters().len(), 9, "{keys}");
        harness.press(keys);
        harness.answer_page(page(500, 100));
        assert_eq!(totals(&harness).clusters, expected, "{keys}: {}", harness.notice());
        let former = ClusterPart::new(cluster(0).id, &[]);
        assert!(selection(&harness).cluster(&former).is_none(), "{keys}");
    }
}

#[test]
fn a_reindex_between_two_polls_is_noticed_by_the_time_of_the_record() {
    let mut harness = AppHarness::new();
    for (minute, explored) in [(1, 1), (1, 0), (2, 1), (2, 0)] {
        let time = Some(SafeText::name(&format!("2026-11-30T09:0{minute}:00")));
        let dataset = Dataset { updated_at: time, ..dataset(1, Status::Ready) };
        harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset], 0));
        let is_page = |request: &&&Request| matches!(request, Request::Explore(_));
        assert_eq!(harness.requests().iter().filter(is_page).count(), explored);
        if explored > 0 {
            harness.answer_page(page(0, 3));
        }
        harness.wait(15);
    }
}

#[test]
fn esc_ctrl_c_or_a_failed_page_stops_selecting_all() {
    for keys in ["g V esc", "g V ctrl-c", "* esc", "* ctrl-c"] {
        let mut harness = AppHarness::with_clusters(100);
        harness.press(keys);
        assert!(harness.requests().is_empty() && harness.cancelled.len() == 1, "{keys}");
        assert_eq!(totals(&harness).clusters, 100, "{keys}");
        assert!(harness.notice().starts_with("stopped: selected"), "{keys}: {}", harness.notice());
        assert!(!harness.other.contains(&Effect::Quit), "{keys}");
        harness.press("ctrl-c");
        assert!(harness.other.contains(&Effect::Quit), "{keys}");
    }
    let mut harness = AppHarness::with_clusters(100);
    harness.press("g V esc g V");
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Page(_)));
    let failure = tessera_model::Failure::new(tessera_model::FailureKind::Server, "it broke");
    harness.respond(ticket, Err(failure));
    assert!(
        harness.notice().starts_with("page 2 could not be loaded: selected 0 clusters from 1 page")
    );
    assert!(harness.app.baskets().pending.all_pages.is_none() && harness.requests().is_empty());
}

#[test]
fn selecting_all_pauses_after_fifty_pages() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("g V");
    for number in 1..50 {
        harness.answer_page(page(number * 100, 100));
    }
    assert!(harness.requests().is_empty(), "it waits for confirmation");
    assert_eq!(totals(&harness).clusters, 5_000);
    harness.press("g V");
    harness.answer_page(page(5_000, 1));
    assert_eq!(totals(&harness).clusters, 5_001);
}

#[test]
fn the_rest_of_the_search_is_selected_instead_of_the_selection() {
    let mut harness = AppHarness::with_clusters(100);
    // A whole cluster, a member of the second one, and the third one without its first member.
    harness.press("space l enter space esc l space x *");
    harness.answer_page(page(100, 4));
    assert_eq!(harness.notice(), "all pages loaded: selected the rest of 2 pages; u undoes it");
    let rest = selection(&harness).clone();
    assert!(rest.cluster(&whole(0)).is_none());
    let excluded = &rest.cluster(&whole(1)).unwrap().excluded;
    assert_eq!(excluded, &[cluster(1).previews[0].media].into());
    assert!(rest.cluster(&whole(2)).is_none());
    let item = rest.get(&EntryId::MediaItem(cluster(2).previews[0].media)).unwrap();
    assert_eq!(item.name.as_str(), "20.jpg");
    assert_eq!((totals(&harness).clusters, totals(&harness).media), (102, 1));
    // The rest of the rest is the selection, and one step undoes all pages.
    harness.press("*");
    assert_eq!(
        (totals(&harness).clusters, totals(&harness).media, totals(&harness).excluded),
        (2, 1, 1)
    );
    harness.press("u");
    assert_eq!(selection(&harness), &rest);
}

#[test]
fn a_local_service_says_what_the_rest_is_where_pages_cannot_show_it() {
    let mut harness = AppHarness::with_clusters(3);
    harness.app.setup_mut().deployment = DeploymentKind::Local;
    // A member may have no preview, so only the service knows whose member it is.
    harness.press("enter space esc");
    let before = selection(&harness).clone();
    harness.press("*");
    let dataset = dataset(1, Status::Ready).id;
    let asked = |request: &&Request| {
        matches!(request, Request::SelectRest(search, items)
            if search.dataset == dataset && *items == before.items())
    };
    assert!(harness.requests().iter().any(asked), "{:?}", harness.requests());
    let rest = selection_of_media(&[(MediaId(Uuid::from_u128(9)), "9.jpg".into())]);
    harness.answer(Lane::Rest(dataset), Payload::Selection(dataset, rest.clone()));
    assert_eq!(harness.notice(), "selected the rest: 1 image; u undoes it");
    assert_eq!(selection(&harness), &rest);
    harness.press("u");
    assert_eq!(selection(&harness), &before);
}

#[test]
fn pages_show_the_rest_of_clusters_in_a_local_folder_too() {
    let mut harness = AppHarness::with_clusters(3);
    harness.app.setup_mut().deployment = DeploymentKind::Local;
    harness.press("space *");
    assert_eq!(harness.notice(), "all pages loaded: selected the rest of 1 page; u undoes it");
    assert_eq!(totals(&harness).clusters, 2);
}

#[test]
fn what_the_search_does_not_show_is_deselected_and_named() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("space 3 a 6 0 . 5 f5");
    harness.answer_page(page(7, 2));
    harness.press("*");
    assert_eq!(
        harness.notice(),
        "all pages loaded: selected the rest of 1 page, which may include 1 entry that its pages do not show; u \
         undoes it"
    );
    assert!(selection(&harness).cluster(&whole(0)).is_none());
    assert_eq!(totals(&harness).clusters, 2);
    harness.press("u");
    assert_eq!(totals(&harness).clusters, 1, "one step undoes all of it");
    assert!(selection(&harness).cluster(&whole(0)).is_some());
}

#[test]
fn a_cluster_that_other_filters_have_selected_stays_as_it_is() {
    let mut harness = AppHarness::with_clusters(2);
    harness.press("space 3 a 6 0 . 5 f5");
    harness.answer_page(page(0, 2));
    harness.press("*");
    assert_eq!(
        harness.notice(),
        "all pages loaded: selected the rest of 1 page, except for 1 cluster that other filters \
         have selected; u undoes it"
    );
    assert_eq!(totals(&harness).clusters, 2);
}

#[test]
fn searches_select_their_own_parts_of_a_cluster() {
    let part = |member: usize| {
        let previews = vec![cluster(0).previews[member].clone()];
        Cluster { previews, n_images: Some(1), ..cluster(0) }
    };
    let dataset = dataset(1, Status::Ready).id;
    let filters = vec![Filter::uniqueness(0.7).unwrap()];
    let other = cluster_entry(&part(0), &Search { filters, ..Search::browse(dataset) });
    let kept = StateValue::Basket(dataset, [other].into_iter().collect());
    let mut harness = AppHarness::keeping([(basket_key(), kept)].into()).opening_clusters(1);
    harness.press("3 a 6 0 . 5 f5");
    harness.answer_page(Page { clusters: vec![part(1)], ..Page::default() });
    let results = harness.app.results();
    let state = harness.app.baskets().selection_state(results.cluster().unwrap(), None, results);
    assert_eq!(state, SelectionState::Unselected);
    harness.press("V");
    assert_eq!(harness.notice(), "1 cluster selected; u undoes it");
    assert_eq!((totals(&harness).clusters, totals(&harness).export_rows()), (2, 2));
    harness.press("space");
    assert_eq!(totals(&harness).clusters, 1, "the part of the other search stays");
}

#[test]
fn opening_an_item_in_the_basket_shows_that_item() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("enter l l space esc l M enter");
    assert_eq!(harness.app.results().preview().unwrap().file_name.as_str(), "2.jpg");
}

#[test]
fn the_page_is_selected_and_cleared() {
    let mut harness = AppHarness::with_clusters(4);
    harness.press("V");
    assert_eq!(totals(&harness).clusters, 4);
    harness.press("5 D");
    assert!(selection(&harness).is_empty());
    harness.press("u");
    assert_eq!(totals(&harness).clusters, 4, "also clearing can be taken back");
}

#[test]
fn the_selection_survives_paging_and_hidden_entries_are_counted() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("space l space n");
    harness.answer_page(page(100, 100));
    harness.press("space");
    assert_eq!(
        harness.app.baskets().selected_entries(harness.app.results()),
        SelectedEntries { on_page: 1, hidden: 2 }
    );
}

#[test]
fn a_member_of_a_selected_cluster_is_excluded_not_selected_twice() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("x");
    assert_eq!(
        harness.notice(),
        "the cluster of this item is not selected; Space in the results selects it"
    );
    harness.press("enter l space");
    assert_eq!(totals(&harness).media, 1);
    harness.press("esc space");
    assert_eq!(
        harness.notice(),
        "1 cluster selected, replacing 1 selected media item; u undoes it"
    );
    harness.press("enter x l space");
    let excluded: Vec<_> = cluster(0).previews[1..].iter().map(|it| it.media).collect();
    let items = selection(&harness).items();
    let [SelectionItem::Cluster { exclude, .. }] = items.as_slice() else {
        panic!("{items:?}");
    };
    assert_eq!((exclude, totals(&harness).export_rows()), (&excluded, 1));
    harness.press("space");
    assert_eq!(totals(&harness).excluded, 1);
}

#[test]
fn the_basket_is_saved_at_every_change_and_loaded() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("space l space u");
    let kept = harness.kept.get(&basket_key()).cloned().unwrap();
    assert_eq!(kept, StateValue::Basket(dataset(1, Status::Ready).id, selection(&harness).clone()));

    let mut again = AppHarness::new();
    again.kept.insert(basket_key(), kept);
    again.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    assert_eq!(totals(&again).clusters, 1);
}

#[test]
fn each_dataset_has_its_own_basket() {
    let mut harness = AppHarness::new();
    let both = vec![dataset(1, Status::Ready), dataset(2, Status::Ready)];
    harness.answer(Lane::Datasets, Payload::Datasets(both, 0));
    harness.answer_page(page(0, 3));
    harness.press("space 1 j enter");
    assert!(selection(&harness).is_empty());
    harness.press("1 k enter");
    assert_eq!(totals(&harness).clusters, 1);
}

#[test]
fn selected_clusters_are_stale_after_a_reindex_until_they_are_loaded_again() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("space l space");
    recluster(&mut harness);
    assert_eq!(totals(&harness).stale, 2);
    harness.answer_page(page(1, 5));
    assert_eq!(totals(&harness).stale, 1, "cluster 1 is loaded again, cluster 0 is not");
    let stale = |mark: &&tessera_model::SelectionEntry| match &mark.content {
        EntryContent::Cluster(cluster) => cluster.stale,
        EntryContent::MediaItem(..) => false,
    };
    let rows = harness.app.baskets().rows(harness.app.results());
    assert_eq!(rows.iter().find(|mark| stale(mark)).unwrap().id(), EntryId::Cluster(whole(0)));
}

#[test]
fn opening_a_row_goes_to_its_tile_or_searches_for_it() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("l space n");
    harness.answer_page(page(100, 100));
    harness.press("M enter");
    let view = harness.app.results().view().unwrap();
    assert_eq!(view.similar_to.as_ref().unwrap().as_str(), "10.jpg");
    harness.answer_page(page(0, 5));
    harness.press("M enter");
    assert_eq!(harness.app.results().cluster().unwrap().id, cluster(1).id);
}

/// Creates a core with two selected clusters, one of them with an excluded member.
fn with_selection() -> AppHarness {
    AppHarness::with_clusters(5).pressing("space l space x")
}

#[test]
fn the_basket_is_exported_as_it_was_shown() {
    let mut harness = with_selection();
    harness.press("E enter");
    let selection = selection(&harness).items().into();
    let (ticket, request) = harness.take(|lane| matches!(lane, Lane::StartJob(_)));
    let expected = Request::StartSelectionExport {
        dataset: dataset(1, Status::Ready).id,
        format: ExportFormat::Parquet,
        images: true,
        selection,
    };
    assert_eq!(request, expected);
    harness.respond(ticket, Ok(Payload::Export(task("COMPLETED"))));
    let selected = harness.app.jobs().get(JobId(0)).unwrap().export().unwrap().selection.clone();
    assert_eq!(selected.unwrap().as_str(), "2 clusters");
    let (_, request) = harness.take(|lane| matches!(lane, Lane::Download(_)));
    let Request::Download { target, .. } = request else { panic!("{request:?}") };
    assert_eq!(target.to_str(), Some("/downloads/set-1 selection.zip"));
}

/// Creates a local core with two selected clusters, whose export form is open.
fn exporting_locally(search: &str) -> AppHarness {
    let mut harness = AppHarness::with_clusters(5);
    harness.app.setup_mut().deployment = DeploymentKind::Local;
    if !search.is_empty() {
        harness.press(search);
        harness.answer_page(page(0, 5));
    }
    harness.press("1 2 space l space E");
    harness
}

#[test]
fn everything_else_in_the_dataset_is_counted_and_exported() {
    let mut harness = exporting_locally("");
    harness.press("left");
    let dataset = dataset(1, Status::Ready).id;
    let items = selection(&harness).items();
    let rest = ExportSelection { items, rest_of: Some(Search::browse(dataset)) };
    let expected = Request::ExportPreview {
        dataset,
        format: ExportFormat::Parquet,
        images: true,
        selection: Some(rest.clone()),
    };
    assert!(harness.requests().contains(&&expected), "{:?}", harness.requests());
    let lane = Lane::ExportPreview(ExportFormat::Parquet, true, ExportPart::RestOfDataset);
    let preview = ExportPreview { media_count: 1_234, omissions: vec![] };
    harness.answer(lane, Payload::ExportPreview(preview));
    let text = harness.app.dialog::<ExportForm>().unwrap().rest_text();
    assert_eq!(text.unwrap(), "1 234 media items: everything in the dataset, except");
    harness.press("enter");
    let (ticket, request) = harness.take(|lane| matches!(lane, Lane::StartJob(_)));
    let expected = Request::StartSelectionExport {
        dataset,
        format: ExportFormat::Parquet,
        images: true,
        selection: rest,
    };
    assert_eq!(request, expected);
    harness.respond(ticket, Ok(Payload::Export(task("COMPLETED"))));
    let export = harness.app.jobs().get(JobId(0)).unwrap().export().unwrap();
    assert_eq!(export.content().unwrap().as_str(), "all but 2 clusters");
    assert_eq!(export.spec.file_name.as_str(), "set-1 rest.zip");
}

#[test]
fn everything_else_in_a_search_has_the_search_on_screen() {
    let mut harness = exporting_locally("3 a 6 0 . 5 f5");
    let search = harness.app.results().view().unwrap().search.clone();
    assert!(!search.filters.is_empty());
    harness.press("space enter");
    let (_, request) = harness.take(|lane| matches!(lane, Lane::StartJob(_)));
    let Request::StartSelectionExport { selection, .. } = request else { panic!("{request:?}") };
    assert_eq!(selection.rest_of, Some(search));
}

#[test]
fn the_form_of_a_rest_shows_the_command_of_the_same_search() {
    let mut harness = exporting_locally("3 a 6 0 . 5 f5");
    harness.press("space");
    let search = harness.app.results().view().unwrap().search.clone();
    let filters = tessera_wire::vql::write(&search.filters);
    let command = harness.app.dialog::<ExportForm>().unwrap().command(harness.app.setup());
    let expected = format!("--rest --vql '{filters}'");
    assert!(command.as_str().contains(&expected), "{}", command.as_str());
}

#[test]
fn a_closed_form_does_not_wait_for_the_size_of_a_rest() {
    let mut harness = exporting_locally("");
    harness.press("space");
    let waits = |harness: &AppHarness| {
        harness.app.tickets().lanes().any(|lane| matches!(lane, Lane::ExportPreview(..)))
    };
    assert!(waits(&harness));
    harness.press("esc");
    assert!(!waits(&harness), "the answer would be shown for another selection");
}

#[test]
fn other_services_export_no_rest() {
    let mut harness = with_selection();
    harness.press("E");
    let form = harness.app.dialog::<ExportForm>().unwrap();
    assert_eq!((form.field, form.fields()), (ExportField::Name, &ExportField::ALL[1..]));
}

#[test]
fn an_empty_basket_is_not_exported() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("E");
    assert!(harness.app.overlay().is_none());
    assert_eq!(harness.notice(), "nothing is selected: Space selects a cluster");
}

#[test]
fn stale_entries_are_shown_but_not_exported() {
    let mut harness = with_selection();
    recluster(&mut harness);
    harness.press("E enter");
    assert!(harness.app.dialog::<ExportForm>().is_some(), "the form stays");
    assert_eq!(
        harness.notice(),
        "2 clusters may be gone: recheck or remove them in the basket (5)"
    );
    assert!(
        !harness.requests().iter().any(|it| matches!(it, Request::StartSelectionExport { .. }))
    );
}

#[test]
fn a_rejected_export_keeps_the_basket_and_reloads_the_dataset() {
    for (kind, doubt) in [(FailureKind::Conflict, 0), (FailureKind::NotFound, 2)] {
        let mut harness = with_selection();
        harness.press("E enter");
        harness.fail(Lane::StartJob(JobId(0)), kind);
        assert_eq!((totals(&harness).clusters, totals(&harness).stale), (2, doubt), "{kind:?}");
        assert!(harness.requests().contains(&&Request::Datasets), "{kind:?}");
    }
}

#[test]
fn the_form_shows_the_equivalent_command() {
    let mut harness = with_selection();
    harness.press("E");
    let Some(form) = harness.app.dialog::<ExportForm>() else { panic!("the form is open") };
    let (whole, part) = (cluster(0).id, cluster(1).id);
    let out = cluster(1).previews[0].media;
    assert_eq!(
        form.command(harness.app.setup()).as_str(),
        format!(
            "tessera export start {} --cluster {whole} --cluster '{part}^{out}' --format parquet \
             --images --name 'set-1 selection.zip'",
            dataset(1, Status::Ready).id
        )
    );
}

#[test]
fn the_command_of_a_filtered_cluster_reads_a_file_because_options_name_whole_clusters() {
    let mut harness = AppHarness::with_clusters(4);
    harness.press("3 a 6");
    harness.type_text("0.8");
    harness.press("f5");
    harness.answer_page(page(0, 2));
    harness.press("2 space E");
    let Some(form) = harness.app.dialog::<ExportForm>() else { panic!("the form is open") };
    let command = form.command(harness.app.setup());
    assert!(command.as_str().contains(" --selection-file FILE "), "{command}");
}

#[test]
fn a_selection_is_saved_under_a_name_and_opened_again() {
    let mut harness = with_selection();
    let selected = selection(&harness).clone();
    let id = dataset(1, Status::Ready).id;
    harness.press("M w enter");
    let path = std::path::PathBuf::from("/downloads/set-1.json");
    let request = Request::SaveSelection(path.clone(), id, selected.clone());
    assert_eq!(harness.requests(), [&request]);
    harness.answer(Lane::SaveSelection, Payload::SelectionSaved(path.clone()));
    assert_eq!(harness.notice(), "saved the selection to /downloads/set-1.json");
    harness.press("D o enter");
    assert!(harness.requests().contains(&&Request::LoadSelection(path, id)));
    harness.answer(Lane::LoadSelection, Payload::Selection(id, selected.clone()));
    assert_eq!(selection(&harness), &selected);
    harness.press("u");
    assert!(selection(&harness).is_empty());
}

#[test]
fn a_failed_save_of_a_selection_is_reported_after_another_one_has_begun() {
    let mut harness = with_selection();
    harness.press("M w enter");
    harness.press("w ctrl-u n i g h t enter");
    harness.press("o enter");
    harness.fail(Lane::SaveSelection, FailureKind::Local);
    assert!(harness.notice().contains("it broke"), "{}", harness.notice());
    harness.answer(Lane::SaveSelection, Payload::SelectionSaved("/selections/night.json".into()));
    assert!(harness.notice().contains("saved the selection"), "{}", harness.notice());
    assert_eq!(harness.app.tickets().outstanding(), harness.open.len());
}

#[test]
fn a_bare_name_refers_to_a_named_selection() {
    let mut harness = with_selection();
    let selected = selection(&harness).clone();
    let id = dataset(1, Status::Ready).id;
    harness.press("M w ctrl-u n i g h t enter");
    assert_eq!(harness.requests(), [&Request::SaveNamed("night".into(), id, selected.clone())]);
    harness.answer(
        Lane::SaveSelection,
        Payload::SelectionSaved("/state/selections/night.json".into()),
    );
    let names = ["night", "train", "val"].map(SafeText::name).to_vec();
    for (keys, name) in [
        ("n i g h t enter", "night"),
        ("down down enter", "train"),
        ("down down down down up enter", "train"),
        ("up v a l enter", "val"),
    ] {
        harness.press("o");
        harness.answer(Lane::SelectionNames, Payload::SelectionNames(names.clone()));
        harness.press(keys);
        assert_eq!(harness.requests(), [&Request::LoadNamed(name.into(), id)], "{keys}");
        harness.answer(Lane::LoadSelection, Payload::Selection(id, selected.clone()));
    }
}

#[test]
fn a_success_removes_the_failure_of_the_same_action() {
    let mut harness = with_selection();
    harness.press("M o enter");
    harness.fail(Lane::LoadSelection, FailureKind::Local);
    harness.wait(60);
    assert!(harness.notice().contains("it broke"), "an error stays: {}", harness.notice());
    harness.press("w enter");
    harness.answer(Lane::SaveSelection, Payload::SelectionSaved("/a.json".into()));
    harness.wait(60);
    assert!(harness.notice().contains("it broke"), "it was another action");
    harness.press("o enter");
    let (id, selected) = (dataset(1, Status::Ready).id, selection(&harness).clone());
    harness.answer(Lane::LoadSelection, Payload::Selection(id, selected));
    assert!(harness.notice().starts_with("loaded 2 entries; u restores"), "{}", harness.notice());
    harness.wait(60);
    assert_eq!(harness.app.notifications().current(), None);
}
