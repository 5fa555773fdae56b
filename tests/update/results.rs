//! Tests the results: tabs, history, filters, order, folds and pages.

use tessera_interface::{
    app::{
        Effect, Event, Pane, View, outage,
        overlay::{
            caption::CaptionSearchForm, command_list::CommandList, prompt::TextPrompt,
            sort_filter::FilterInput,
        },
    },
    message::{Lane, Payload, Request},
    ui,
};
use tessera_model::{
    Cluster, EntityType, Failure, FailureKind, FileOrder, FileSortKey, Filter, HistoryEntry, Page,
    Relevance, SafeText, ScoreKind, Search, StateKey, StateValue, Status,
    set_algebra::{FoundCluster, Members, SetOperator, combine},
    vql::{ColumnValue, FileProperty, Operator, Property},
};

use crate::support::{
    app_harness::{AppHarness, cluster, dataset, page},
    duplicates::local_desk,
};

/// Returns clusters with these scores, in this order.
fn scored(scores: &[f64], kind: &ScoreKind) -> Page {
    let clusters = (0u128..).zip(scores).map(|(number, &score)| Cluster {
        relevance: Some(Relevance::new(score, kind.clone())),
        ..cluster(number)
    });
    Page { clusters: clusters.collect(), fills_pages: true, ..Page::default() }
}

/// Creates a core with the results of a search with these scores.
pub(super) fn searched(scores: &[f64]) -> AppHarness {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("f");
    harness.answer_page(scored(scores, &ScoreKind::CosineDistance));
    harness
}

/// Returns the numbers of the clusters on screen.
fn numbers(harness: &AppHarness) -> Vec<u128> {
    harness.app.results().tiles().iter().map(|tile| tile.cluster.id.0.as_u128() - 1_000).collect()
}

pub(super) fn here(harness: &AppHarness) -> u128 {
    harness.app.results().cluster().unwrap().id.0.as_u128() - 1_000
}

#[test]
fn the_entity_is_set_per_tab() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("t");
    assert_eq!(harness.open_searches()[0].entity, EntityType::Objects);
    harness.answer_page(page(50, 4));
    harness.press("ctrl-t");
    assert_eq!(harness.app.results().view().unwrap().search.entity, EntityType::Images);
    harness.press("alt-1");
    assert_eq!(harness.app.results().view().unwrap().search.entity, EntityType::Objects);
}

#[test]
fn tabs_keep_their_searches_and_cursors() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("l l f");
    harness.answer_page(page(50, 9));
    harness.press("l ctrl-t l l l");
    assert_eq!((harness.app.results().tab_count(), harness.steps(), here(&harness)), (2, 1, 3));
    harness.press("alt-1");
    assert_eq!((harness.steps(), here(&harness)), (2, 51));
    harness.press("alt-7");
    assert_eq!(harness.notice(), "there are 2 tabs");
    harness.press("g t");
    assert_eq!(here(&harness), 3);
    harness.press("g t");
    assert_eq!(here(&harness), 51);
    harness.press("g T g t");
    assert_eq!(here(&harness), 51);
    harness.press("ctrl-w ctrl-w");
    assert_eq!((harness.app.results().tab_count(), here(&harness)), (1, 3));
    assert_eq!(harness.notice(), "this is the only tab");
}

#[test]
fn forward_returns_to_where_back_came_from() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("f");
    harness.answer_page(page(50, 4));
    harness.press("l esc alt-right");
    assert_eq!((harness.steps(), here(&harness)), (2, 51));
    assert!(harness.open_searches().is_empty(), "both are cached");
    harness.press("]");
    assert_eq!(harness.notice(), "nothing to go forward to");
}

#[test]
fn a_filter_applies_while_it_is_typed_and_keeps_the_cursor() {
    let mut harness = AppHarness::with_clusters(30);
    harness.press("l l l");
    harness.press("/");
    harness.type_text("121");
    assert_eq!(numbers(&harness), [12], "121.jpg is in cluster 12");
    assert!(harness.app.dialog::<FilterInput>().is_some());
    harness.press("enter");
    assert_eq!((numbers(&harness), here(&harness)), (vec![12], 12));
    harness.press("esc");
    assert_eq!(
        (numbers(&harness).len(), here(&harness)),
        (30, 3),
        "Esc clears and finds the place"
    );
    assert!(harness.open_searches().is_empty(), "no request is sent");
}

#[test]
fn esc_in_the_filter_clears_it() {
    let mut harness = AppHarness::with_clusters(30);
    harness.press("/");
    harness.happen(Event::Paste("121".to_owned()));
    assert_eq!(numbers(&harness), [12]);
    harness.press("esc");
    assert_eq!((numbers(&harness).len(), harness.steps()), (30, 1));
}

#[test]
fn sorting_works_in_both_directions_and_the_cursor_follows() {
    let mut harness = searched(&[0.3, 0.1, 0.2]);
    harness.press("l , down enter");
    assert_eq!(numbers(&harness), [1, 2, 0]);
    assert_eq!((here(&harness), harness.app.results().view().unwrap().cursor), (1, 0));
    harness.press(", down enter");
    assert_eq!(numbers(&harness), [0, 2, 1]);
    harness.press(", 1");
    assert_eq!(numbers(&harness), [0, 1, 2], "the order of the service is a choice");
}

#[test]
fn scores_of_unknown_direction_cannot_be_sorted() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("f");
    harness.answer_page(scored(&[0.3, 0.1], &ScoreKind::Other(SafeText::name("dot"))));
    harness.press(", 2");
    assert_eq!(numbers(&harness), [0, 1]);
    assert_eq!(harness.notice(), "these results have no scores to sort by");
}

#[test]
fn near_duplicates_fold_into_one_tile_with_the_cursor() {
    let mut harness = searched(&[0.1, 0.2, 0.2, 0.2, 0.3]);
    harness.press("l l l C");
    assert_eq!(numbers(&harness), [0, 1, 4]);
    assert_eq!(harness.app.results().tiles()[1].folded, 2);
    assert_eq!(
        harness.app.results().view().unwrap().cursor,
        1,
        "the tile that contains the cluster of the cursor"
    );
    harness.press("C");
    assert_eq!(here(&harness), 3);
}

#[test]
fn moving_past_an_end_turns_the_page() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("G j");
    assert_eq!(harness.open_searches()[0].page, 1);
    harness.answer_page(page(100, 40));
    assert_eq!(here(&harness), 100);
    harness.press("k");
    assert_eq!((harness.app.results().page_number(), here(&harness)), (0, 99));
    harness.press("j G j");
    assert_eq!(
        (harness.app.results().page_number(), here(&harness)),
        (1, 139),
        "the last page is the end"
    );
}

#[test]
fn the_page_on_screen_stays_until_the_next_one_is_loaded() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("l l n");
    assert_eq!(
        (numbers(&harness).len(), here(&harness), harness.app.results().page_number()),
        (100, 2, 0)
    );
    assert_eq!(harness.app.results().pending_search().unwrap().page, 1);
    harness.press("n");
    assert_eq!(harness.notice(), "page 2 is not loaded yet; Esc stays here");
    harness.answer_page(page(100, 40));
    assert_eq!(
        (
            here(&harness),
            harness.app.results().page_number(),
            harness.app.results().pending_search()
        ),
        (100, 1, None)
    );
}

#[test]
fn esc_and_ctrl_c_stay_on_the_page_while_another_one_loads() {
    for key in ["esc", "ctrl-c"] {
        let mut harness = AppHarness::with_clusters(100);
        harness.press("l l n");
        harness.press(key);
        assert!(matches!(harness.cancelled[..], [Lane::Page(_)]), "{key}");
        assert_eq!((here(&harness), harness.app.results().pending_search()), (2, None), "{key}");
        harness.wait(60);
        assert!(harness.open_searches().is_empty(), "{key}");
    }
}

#[test]
fn a_page_that_fails_keeps_the_former_one_and_is_requested_again() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("n");
    let (ticket, request) = harness.take(|lane| matches!(lane, Lane::Page(_)));
    harness.respond(ticket, Err(Failure::new(FailureKind::Server, "it broke")));
    assert_eq!((numbers(&harness).len(), harness.app.results().page_number()), (100, 0));
    assert!(harness.open_searches().is_empty(), "only a lost connection is retried automatically");
    harness.press("r");
    let Request::Explore(search) = request else { panic!("a page is requested") };
    assert!(harness.open_searches().contains(&search));
    harness.answer(Lane::Page(search), Payload::Page(page(100, 40)));
    assert_eq!(harness.app.results().page_number(), 1);
}

#[test]
fn a_page_is_opened_by_its_number() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("g n");
    harness.type_text("9");
    harness.press("enter");
    assert_eq!(harness.open_searches()[0].page, 8);
    harness.answer_page(page(800, 30));
    assert_eq!((here(&harness), harness.app.results().page_number()), (800, 8));
    let range = harness.app.results().page_range().unwrap();
    assert_eq!((range.first, range.last, range.total), (801, 830, Some(830)));
    for (typed, reason) in [("0", "not a page: type a number from 1"), ("12", "the last page is 9")]
    {
        harness.press("g n");
        harness.type_text(typed);
        harness.press("enter");
        assert_eq!(harness.notice(), reason);
        assert!(harness.app.dialog::<TextPrompt>().is_some());
        harness.press("esc esc");
    }
    assert_eq!(harness.app.results().page_number(), 8);
}

#[test]
fn the_page_before_an_empty_or_repeated_one_is_the_last() {
    for end in [page(0, 0), page(30, 60)] {
        let mut harness = AppHarness::with_clusters(0);
        let unknown = |page| Page { fills_pages: false, ..page };
        harness.press("r");
        harness.answer_page(unknown(page(0, 60)));
        harness.press("n");
        harness.answer_page(unknown(page(60, 30)));
        let range = harness.app.results().page_range().unwrap();
        assert_eq!((range.first, range.last, range.total), (61, 90, None));
        harness.press("n");
        harness.answer_page(unknown(end));
        assert_eq!(harness.app.results().last_page_number(), Some(1));
        assert_eq!(harness.app.results().page_range(), None, "the page is behind the last one");
        assert!(!harness.app.results().may_have_next_page());
        harness.press("p");
        let range = harness.app.results().page_range().unwrap();
        assert_eq!((range.first, range.last, range.total), (61, 90, Some(90)));
        assert!(!harness.app.results().may_have_next_page());
    }
}

#[test]
fn an_empty_page_far_behind_the_end_does_not_tell_which_page_is_the_last() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("g n");
    harness.type_text("999999");
    harness.press("enter");
    harness.answer_page(page(0, 0));
    assert_eq!(harness.app.results().last_page_number(), None);
    harness.press("p");
    harness.answer_page(page(0, 0));
    assert_eq!(harness.app.results().last_page_number(), None);
}

#[test]
fn a_cluster_that_was_on_an_earlier_page_is_dropped_and_counted() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("n");
    harness.answer_page(page(95, 100));
    let shown = harness.app.results().page().unwrap();
    assert_eq!((shown.clusters.len(), shown.repeated, shown.may_have_next()), (95, 5, true));
    assert_eq!(numbers(&harness)[0], 100);
}

#[test]
fn clusters_of_an_earlier_clustering_are_not_repeated() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("n");
    harness.answer_page(page(100, 100));
    for status in [Status::Indexing, Status::Ready] {
        harness.wait(20);
        harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, status)], 0));
        harness.answer_page(page(50, 100));
    }
    let shown = harness.app.results().page().unwrap();
    assert_eq!(
        (harness.app.results().page_number(), shown.clusters.len(), shown.repeated),
        (1, 100, 0)
    );
}

#[test]
fn unclustered_media_are_warned_about_once() {
    let mut harness = AppHarness::new();
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::PartialIndex)], 0));
    harness.answer_page(page(0, 3));
    assert!(harness.notice().starts_with("set-1: new media are not clustered yet"));
    harness.wait(9);
    harness.press("r");
    harness.answer_page(page(0, 3));
    assert_eq!(harness.notice(), "");
}

#[test]
fn ctrl_c_cancels_requests_and_then_quits() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("f");
    harness.wait(3);
    assert_eq!(harness.app.results().wait_time(harness.app.outbox()).unwrap().as_secs(), 3);
    harness.press("ctrl-c");
    assert!(matches!(harness.cancelled[..], [Lane::Page(_)]));
    assert!(!harness.other.contains(&Effect::Quit));
    harness.wait(60);
    assert!(harness.open_searches().is_empty(), "a cancelled request is not repeated");
    harness.press("ctrl-c");
    assert!(harness.other.contains(&Effect::Quit));
}

#[test]
fn the_caption_search_opens_if_the_service_requires_a_query() {
    let mut harness = AppHarness::new();
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    harness.fail(Lane::Page(Search::browse(dataset(1, Status::Ready).id)), FailureKind::Invalid);
    assert!(harness.app.results().needs_query(harness.app.service_data()));
    assert!(harness.app.dialog::<CaptionSearchForm>().is_some());
    harness.type_text("a red van");
    harness.press("enter");
    harness.answer_page(page(0, 3));
    assert_eq!(numbers(&harness), [0, 1, 2]);
}

#[test]
fn the_caption_search_opens_only_for_a_dataset_that_was_never_shown_without_a_query() {
    let browsed = Search::browse(dataset(1, Status::Ready).id);
    let mut harness = AppHarness::with_clusters(9);
    harness.press("r");
    harness.fail(Lane::Page(browsed.clone()), FailureKind::NotFound);
    assert!(harness.app.dialog::<CaptionSearchForm>().is_none());
    assert_eq!(numbers(&harness).len(), 9);

    let mut harness = AppHarness::new();
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    harness.fail(Lane::Page(browsed.clone()), FailureKind::Invalid);
    harness.press("esc r");
    harness.fail(Lane::Page(browsed), FailureKind::Invalid);
    assert!(harness.app.results().needs_query(harness.app.service_data()));
    assert!(harness.app.dialog::<CaptionSearchForm>().is_none(), "it was closed");
}

#[test]
fn changes_are_unavailable_during_an_outage() {
    let mut harness = AppHarness::with_clusters(9);
    harness.wait(15);
    harness.fail(Lane::Datasets, FailureKind::Unreachable);
    let known = outage(&harness.app).unwrap();
    assert_eq!((known.down_for.unwrap().as_secs(), known.retry_in.unwrap().as_secs()), (15, 2));
    harness.press("e");
    assert_eq!(harness.notice(), "the service is not responding; retrying automatically");
    assert_eq!(numbers(&harness).len(), 9, "what was seen stays");
    harness.wait(2);
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    assert_eq!(outage(&harness.app), None);
}

#[test]
fn datasets_are_filtered_and_sorted_too() {
    let mut harness = AppHarness::new();
    let mut list = vec![dataset(1, Status::Error), dataset(2, Status::Ready)];
    list.push(dataset(13, Status::Indexing));
    harness.answer(Lane::Datasets, Payload::Datasets(list, 0));
    let names = |harness: &AppHarness| -> Vec<String> {
        harness.app.visible_datasets().iter().map(|dataset| dataset.name.to_string()).collect()
    };
    harness.press("1 ,");
    assert_eq!(harness.app.dialog::<CommandList>().unwrap().title.as_str(), "Sort the datasets");
    harness.press("4");
    assert_eq!(names(&harness), ["set-2", "set-13", "set-1"]);
    harness.press("/");
    harness.type_text("set-1");
    harness.press("enter");
    assert_eq!(names(&harness), ["set-13", "set-1"]);
    harness.press("esc");
    assert_eq!(names(&harness).len(), 3);
}

/// Returns the labels of the list of past searches.
fn past(harness: &AppHarness) -> Vec<String> {
    let Some(history) = harness.app.dialog::<CommandList>() else { panic!("no history") };
    history.list.items.iter().map(|item| item.label.to_string()).collect()
}

#[test]
fn searches_are_saved_and_run_again() {
    let mut harness = AppHarness::with_clusters(9);
    // Searches of an earlier run are older than those of this run.
    let earlier = HistoryEntry {
        file: Some("/old.jpg".into()),
        ..HistoryEntry::new(Search::browse(dataset(1, Status::Ready).id))
    };
    harness.kept.insert(StateKey::History, StateValue::History(vec![earlier]));
    harness.press("l f");
    harness.answer_page(page(50, 4));
    let Some(StateValue::History(kept)) = harness.kept.get(&StateKey::History) else {
        panic!("it is kept")
    };
    assert_eq!(kept.len(), 2);
    harness.press("esc H");
    assert_eq!(past(&harness), ["≈ 10.jpg", "all"]);
    harness.press("enter");
    assert_eq!((harness.steps(), harness.app.panes().focus), (2, Pane::Results));
    harness.press("H 2");
    let again = |request: &&Request| matches!(request, Request::RegisterAnchor { .. });
    assert!(harness.requests().iter().any(again), "its anchor may be gone by now");
}

#[test]
fn the_history_shows_filters_times_and_numbers_of_results() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("3 a 2");
    harness.type_text("van");
    harness.press("esc f5");
    harness.answer_page(page(50, 100));
    harness.wait(180);
    harness.press("n");
    harness.answer_page(page(200, 57));
    harness.press("H");
    let Some(history) = harness.app.dialog::<CommandList>() else { panic!("no history") };
    let item = &history.list.items[0];
    assert_eq!((item.label.as_str(), item.prefix.as_str()), ("label van", "3 min ago"));
    assert_eq!(item.note.as_str(), "157 clusters · set-1 · IMAGES · granularity 2");
}

#[test]
fn a_past_search_of_an_unlisted_dataset_is_not_run() {
    let mut harness = AppHarness::with_clusters(9);
    let elsewhere = HistoryEntry::new(Search::browse(dataset(2, Status::Ready).id));
    harness.kept.insert(StateKey::History, StateValue::History(vec![elsewhere]));
    harness.press("H enter");
    let expected = "this search is of a dataset that is not in the list; I opens it by its id";
    assert_eq!(harness.notice(), expected);
    assert!(harness.requests().is_empty());
}

#[test]
fn an_empty_history_says_so() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("H");
    assert_eq!(harness.notice(), "no searches yet");
    assert!(harness.app.overlay().is_none());
}

#[test]
fn set_operations_use_loaded_pages() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("f");
    harness.answer_page(page(4, 3));
    harness.press("=");
    assert!(harness.notice().starts_with("there is nothing to combine with"));
    harness.press("ctrl-t = 1");
    assert_eq!(
        harness.app.results().view().unwrap().title().as_str(),
        "all − ≈ 0.jpg, of loaded pages"
    );
    assert_eq!(numbers(&harness), [0, 1, 2, 3, 7, 8]);
    assert!(harness.notice().contains("takes all its members"), "{}", harness.notice());
    assert_eq!(
        (harness.app.results().tab_count(), harness.open_searches().len()),
        (3, 0),
        "no request is sent"
    );
    harness.press("< n");
    assert_eq!(harness.notice(), "this is the last page");
    harness.press("alt-2 = 2");
    assert_eq!(numbers(&harness), [4, 5, 6], "what is in both");
    harness.press("alt-1 = 3");
    assert_eq!(numbers(&harness), [4, 5, 6, 0, 1, 2, 3, 7, 8], "what is in any of the two");
}

#[test]
fn members_of_clusters_that_differ_are_compared_one_by_one() {
    let (a, mut b) = (cluster(1), cluster(2));
    b.previews = a.previews[..2].to_vec();
    let all = Members::found_by(&Search::browse(dataset(1, Status::Ready).id));
    let [here, there] = [&a, &b].map(|it| [FoundCluster::new(it.clone(), all.clone())]);
    let left = combine(&here, &there, SetOperator::Difference);
    assert_eq!(left[0].cluster.previews, a.previews[2..]);
    let both = combine(&here, &there, SetOperator::Intersection);
    assert_eq!(both[0].cluster.previews.len(), 2);
}

#[test]
fn a_name_that_is_not_on_the_page_is_searched_in_the_whole_dataset_by_enter() {
    let mut harness = local_desk(120, 40);
    harness.press("/");
    harness.type_text("holidays");
    harness.press("enter");
    let search = harness.open_searches().remove(0);
    let path = Property::File(FileProperty::Path);
    let name = ColumnValue::Text("holidays".to_owned());
    let filter = Filter::property(path, Operator::Contains, &[name]).unwrap();
    assert_eq!((search.page, search.filters), (0, vec![filter]));
    harness.answer_page(Page::default());
    harness.press("esc");
    assert_eq!(harness.app.results().visible_clusters().len(), 3, "the page is whole again");
}

#[test]
fn a_local_folder_sorts_the_whole_result_and_other_services_the_loaded_page() {
    let mut harness = local_desk(120, 40);
    harness.press(",");
    harness.type_text("newest");
    harness.press("enter");
    let order = FileOrder { by: FileSortKey::Date, reversed: true };
    let search = harness.app.results().view().unwrap().search.clone();
    assert_eq!(search.order, Some(order));
    assert!(harness.requests().contains(&&Request::Explore(search.clone())));
    harness.answer_page(page(5, 100));
    let view = harness.app.results().view().unwrap();
    let text = ui::arrangement_text(harness.app.results(), view);
    assert_eq!(text.as_deref(), Some("whole result sorted by date, newest first"));
    let order = Some(FileOrder { by: FileSortKey::Name, reversed: false });
    let by_name = View::new(Search { order, ..search.clone() });
    assert!(by_name.shows_names() && !view.shows_names());
    harness.press("n");
    let next = Search { page: 1, ..search.clone() };
    assert!(harness.requests().contains(&&Request::Explore(next)));
    harness.answer_page(page(200, 1));
    harness.press(",");
    harness.type_text("order of the");
    harness.press("enter");
    assert_eq!(harness.app.results().view().unwrap().search, Search { order: None, ..search });
    let mut elsewhere = AppHarness::with_clusters(3);
    elsewhere.press(",");
    let items = |harness: &AppHarness| {
        let list = harness.app.dialog::<CommandList>().unwrap();
        let labels = list.list.items.iter().map(|item| item.label.to_string());
        (list.title.to_string(), labels.collect::<Vec<_>>().join("; "))
    };
    let (title, labels) = items(&elsewhere);
    assert_eq!(title, "Sort the loaded page");
    assert!(labels.contains("name, from A to Z") && !labels.contains("date"), "{labels}");
}

#[test]
fn an_order_of_the_whole_result_is_chosen_again_after_one_of_the_page() {
    let mut harness = local_desk(120, 40);
    let choose = |harness: &mut AppHarness, order: &str| {
        harness.press(",");
        harness.type_text(order);
        harness.press("enter");
    };
    let text = |harness: &AppHarness| {
        ui::arrangement_text(harness.app.results(), harness.app.results().view().unwrap()).unwrap()
    };
    choose(&mut harness, "newest");
    harness.answer_page(page(5, 9));
    choose(&mut harness, "most first");
    let both = "whole result sorted by date, newest first · \
                loaded page sorted by number of media, most first";
    assert_eq!(text(&harness), both);
    harness.press(",");
    let list = &harness.app.dialog::<CommandList>().unwrap().list;
    let current = list.items.iter().filter(|item| item.current);
    let current: Vec<&str> = current.map(|item| item.label.as_str()).collect();
    assert_eq!(current, ["number of media, most first"]);
    harness.press("esc");
    choose(&mut harness, "newest");
    assert_eq!(text(&harness), "whole result sorted by date, newest first");
}

#[test]
fn enter_keeps_a_filter_that_matches_and_tab_searches_all_names() {
    let mut harness = local_desk(120, 40);
    harness.press("/ 1 enter");
    assert!(!harness.app.results().visible_clusters().is_empty());
    assert_eq!(harness.app.results().view().unwrap().search.filters, []);
    harness.press("/ tab");
    assert_eq!(harness.app.results().view().unwrap().search.filters.len(), 1);
    let mut elsewhere = AppHarness::with_clusters(3);
    elsewhere.press("/");
    elsewhere.type_text("holidays");
    elsewhere.press("tab enter");
    assert_eq!(elsewhere.app.results().view().unwrap().search.filters, []);
}
