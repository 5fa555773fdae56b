//! Tests scheduled reads: what is requested and when, and what happens to stale responses, after long sleeps, while
//! services hang, and at the end of the program.

use std::time::Duration;

use tessera_interface::{
    app::{Effect, Event, JobState, outage},
    message::{JobId, Lane, Payload, Request},
};
use tessera_model::{ExportTask, ExportTaskId, Failure, FailureKind, Search, Status};
use tessera_picture::Protocol;
use uuid::Uuid;

use crate::support::app_harness::{AppHarness, dataset, page, task};

#[test]
fn the_start_requests_only_the_datasets() {
    let harness = AppHarness::new();
    assert_eq!(harness.requests(), [&Request::Datasets]);
    assert_eq!(harness.app.tickets().outstanding(), 1);
}

#[test]
fn the_first_dataset_opens_with_its_first_page() {
    let mut harness = AppHarness::new();
    let first = dataset(1, Status::Ready);
    let expected = Request::Explore(Search::browse(first.id));
    harness.answer(Lane::Datasets, Payload::Datasets(vec![first, dataset(2, Status::Ready)], 0));
    assert_eq!(harness.requests(), [&expected]);
    harness.answer_page(page(0, 5));
    assert!(harness.requests().is_empty());
    assert_eq!(harness.app.results().page().unwrap().clusters.len(), 5);
}

#[test]
fn a_page_off_screen_is_cancelled_and_its_response_dropped() {
    let mut harness = AppHarness::with_clusters(100);
    harness.press("n");
    let (late, _) = harness.take(|lane| matches!(lane, Lane::Page(search) if search.page == 1));
    harness.press("p");
    assert!(harness.cancelled.contains(&late.lane));
    let before = harness.app.results().page().cloned();
    harness.respond(late, Ok(Payload::Page(page(100, 100))));
    assert_eq!(harness.app.results().view().unwrap().search.page, 0);
    assert_eq!(
        harness.app.results().page().cloned(),
        before,
        "the late page must not replace the one on screen"
    );
}

#[test]
fn a_response_is_handled_once() {
    let mut harness = AppHarness::new();
    let (ticket, _) = harness.take(|lane| *lane == Lane::Datasets);
    harness.respond(ticket.clone(), Ok(Payload::Datasets(vec![dataset(1, Status::Ready)], 0)));
    harness.respond(ticket, Ok(Payload::Datasets(vec![], 0)));
    assert_eq!(harness.app.service_data().dataset_list().len(), 1);
}

#[test]
fn idle_datasets_are_polled_slowly_and_busy_ones_fast() {
    let mut harness = AppHarness::with_clusters(3);
    harness.wait(14);
    assert!(harness.requests().is_empty());
    harness.wait(1);
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Indexing)], 0));
    harness.open.clear();
    harness.wait(1);
    assert!(harness.requests().contains(&&Request::Datasets));
}

#[test]
fn a_lane_has_at_most_one_request() {
    let mut harness = AppHarness::with_clusters(3);
    for _ in 0..50 {
        harness.wait(20);
    }
    assert_eq!(harness.requests(), [&Request::Datasets]);
}

#[test]
fn an_outage_keeps_loaded_data_and_recovers_automatically() {
    let mut harness = AppHarness::with_clusters(3);
    for _ in 0..6 {
        harness.wait(31);
        harness.fail(Lane::Datasets, FailureKind::Unreachable);
        assert_eq!(harness.app.service_data().dataset_list().len(), 1, "the list stays");
        assert_eq!(harness.app.results().page().unwrap().clusters.len(), 3, "the page stays");
    }
    assert!(harness.app.service_data().datasets.failure().is_some());
    harness.wait(31);
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    assert!(harness.app.service_data().datasets.failure().is_none());
    assert_eq!(harness.notice(), "the service responds again");
}

#[test]
fn a_page_that_cannot_be_loaded_shows_an_outage_at_once() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("f");
    let (ticket, _) = harness.take(|lane| matches!(lane, Lane::Page(_)));
    harness.respond(ticket, Err(Failure::new(FailureKind::Unreachable, "connection refused")));
    harness.fail(Lane::Datasets, FailureKind::Unreachable);
    assert!(outage(&harness.app).is_some());
}

#[test]
fn nothing_is_requested_again_before_the_pause_that_the_service_requests() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("f");
    harness.wait(15);
    let busy = Failure::new(FailureKind::RateLimited, "the service is limiting requests");
    let busy = Failure { retry_after: Some(Duration::from_mins(10)), ..busy };
    while let Some((ticket, _)) = harness.open.pop_front() {
        harness.respond(ticket, Err(busy.clone()));
    }
    harness.wait(599);
    assert!(harness.requests().is_empty());
    harness.wait(1);
    assert!(matches!(harness.requests()[..], [Request::Datasets, Request::Explore(_)]));
}

#[test]
fn a_rejected_page_is_not_retried_automatically() {
    let mut harness = AppHarness::new();
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    let lane = Lane::Page(Search::browse(dataset(1, Status::Ready).id));
    harness.fail(lane.clone(), FailureKind::Forbidden);
    harness.wait(5);
    assert!(harness.requests().is_empty(), "asking again would be refused again");
    harness.press("r");
    assert!(harness.open.iter().any(|(ticket, _)| ticket.lane == lane));
}

#[test]
fn a_finished_reindex_brings_new_pages() {
    let mut harness = AppHarness::new();
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Indexing)], 0));
    harness.answer_page(page(0, 2));
    harness.wait(1);
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    harness.answer_page(page(50, 4));
    assert_eq!(harness.app.results().page().unwrap().clusters.len(), 4);
}

#[test]
fn the_cursor_follows_its_cluster_through_a_reload() {
    let mut harness = AppHarness::with_clusters(9);
    harness.press("l l l");
    let here = harness.app.results().cluster().unwrap().id;
    harness.press("r");
    let mut turned = page(0, 9);
    turned.clusters.reverse();
    harness.answer_page(turned);
    assert_eq!(harness.app.results().cluster().unwrap().id, here);
    assert_eq!(harness.app.results().view().unwrap().cursor, 5);
}

#[test]
fn an_unmoved_cursor_stays_at_the_first_tile_after_a_reload() {
    let mut harness = AppHarness::new();
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Indexing)], 0));
    harness.answer_page(page(0, 9));
    harness.press("r");
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    let mut turned = page(0, 9);
    turned.clusters.reverse();
    harness.answer_page(turned);
    assert_eq!(harness.app.results().view().unwrap().cursor, 0);
}

#[test]
fn only_visible_pictures_are_requested_and_scrolling_cancels_the_rest() {
    let mut harness = AppHarness::with_pictures(Protocol::HalfBlock).opening_clusters(100);
    let grid = harness.app.grid().unwrap();
    let visible = grid.visible().len();
    let pictures = |harness: &AppHarness| {
        harness.open.iter().filter(|(ticket, _)| matches!(ticket.lane, Lane::Picture(..))).count()
    };
    assert_eq!(pictures(&harness), visible + 1 + 3, "the grid, the detail and its strip");
    for _ in 0..9 {
        harness.press("ctrl-d");
    }
    assert!(pictures(&harness) <= visible + 1 + 3);
    assert!(harness.cancelled.len() >= 5 * visible, "nothing off screen stays open");
}

#[test]
fn pictures_are_requested_again_for_a_better_protocol() {
    let mut harness = AppHarness::with_pictures(Protocol::HalfBlock).opening_clusters(4);
    harness.happen(Event::Terminal(Protocol::Kitty, (9, 18)));
    let canvases: Vec<_> = harness
        .open
        .iter()
        .filter_map(|(ticket, _)| match ticket.lane {
            Lane::Picture(_, canvas) => Some((canvas.protocol, canvas.cell)),
            _ => None,
        })
        .collect();
    assert!(canvases.len() >= 5, "the tiles and the detail");
    assert!(canvases.iter().all(|canvas| *canvas == (Protocol::Kitty, (9, 18))));
}

#[test]
fn a_broken_picture_is_requested_once() {
    let mut harness = AppHarness::with_pictures(Protocol::HalfBlock).opening_clusters(1);
    while let Some(place) =
        harness.open.iter().position(|(ticket, _)| matches!(ticket.lane, Lane::Picture(..)))
    {
        let (ticket, _) = harness.open.remove(place).unwrap();
        let failure = tessera_model::Failure::new(FailureKind::Local, "truncated JPEG");
        harness.respond(ticket, Err(failure));
    }
    harness.wait(1);
    assert!(harness.requests().is_empty());
}

#[test]
fn unreadable_rows_are_reported() {
    let mut harness = AppHarness::new();
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 2));
    assert_eq!(harness.notice(), "2 rows of the list of datasets could not be parsed");
}

#[test]
fn a_mismatched_response_is_reported() {
    let mut harness = AppHarness::new();
    harness.answer(Lane::Datasets, Payload::Page(page(0, 1)));
    assert!(harness.notice().contains("wrong kind"));
}

#[test]
fn read_only_makes_changes_unavailable() {
    let mut harness = AppHarness::with_clusters(3);
    harness.app.setup_mut().read_only = true;
    harness.press("1 A");
    assert!(harness.app.overlay().is_none() && harness.notice().contains("--read-only"));
    harness.press("e");
    assert!(harness.app.overlay().is_some(), "an export changes no dataset");
}

#[test]
fn the_named_dataset_opens_first() {
    let list = || Payload::Datasets(vec![dataset(1, Status::Ready), dataset(2, Status::Ready)], 0);
    let opened = |named: &str| {
        let mut harness = AppHarness::new();
        harness.app.setup_mut().start.dataset = Some(named.to_owned());
        harness.answer(Lane::Datasets, list());
        (harness.app.results().view().unwrap().search.dataset, harness.notice().to_owned())
    };
    let second = dataset(2, Status::Ready).id;
    assert_eq!(opened("set-2"), (second, String::new()));
    assert_eq!(opened(&second.to_string()), (second, String::new()));
    let (first, notice) = opened("nothing");
    assert_eq!(first, dataset(1, Status::Ready).id);
    assert!(notice.contains("nothing"), "{notice}");
}

const TEN_HOURS: u64 = 10 * 3_600;

#[test]
fn after_ten_hours_of_sleep_each_read_that_is_due_is_sent_once() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("e enter");
    harness.answer(Lane::StartJob(JobId(0)), Payload::Export(task("IN_PROGRESS")));
    harness.other.clear();
    harness.wait(TEN_HOURS);
    let sent = |harness: &AppHarness, wanted: fn(&Request) -> bool| {
        harness.requests().into_iter().filter(|request| wanted(request)).count()
    };
    assert_eq!(sent(&harness, |it| matches!(it, Request::Datasets)), 1);
    assert_eq!(sent(&harness, |it| matches!(it, Request::ExportStatus(..))), 1);
    assert_eq!(harness.requests().len(), 2);
    // The first response after the sleep may be a failure, because the connections are gone.
    harness.fail(Lane::Datasets, FailureKind::Unreachable);
    harness.fail(Lane::Export(JobId(0)), FailureKind::Unreachable);
    assert_eq!(harness.app.results().page().unwrap().clusters.len(), 3, "the page stays");
    assert!(matches!(
        harness.app.jobs().get(JobId(0)).unwrap().state(),
        JobState::ExportRunning(..)
    ));
    harness.wait(60);
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    harness.answer(Lane::Export(JobId(0)), Payload::Export(task("IN_PROGRESS")));
    assert!(harness.app.service_data().datasets.failure().is_none());
}

#[test]
fn ten_thousand_keys_during_a_hanging_service_leave_few_requests_open() {
    let mut harness = AppHarness::with_pictures(Protocol::HalfBlock).opening_clusters(100);
    let keys = ["n", "j", "ctrl-d", "p", "l", "3", "2", "r", "i", "esc", "1", "r", "2", "n", "G"];
    for key in keys.iter().cycle().take(10_000) {
        harness.press(key);
    }
    assert!(harness.open.len() < 100, "{} requests are open", harness.open.len());
    assert_eq!(harness.app.tickets().outstanding(), harness.open.len());
}

#[test]
fn quitting_during_five_downloads_keeps_them_for_the_next_start() {
    let mut harness = AppHarness::with_clusters(3);
    for number in 0..5 {
        harness.press("e enter");
        let id = ExportTaskId(Uuid::from_u128(u128::from(number) + 1));
        let done = ExportTask { id, ..task("COMPLETED") };
        harness.answer(Lane::StartJob(JobId(number)), Payload::Export(done));
    }
    let downloads = |harness: &AppHarness| {
        harness
            .open
            .iter()
            .filter(|(_, request)| matches!(request, Request::Download { .. }))
            .count()
    };
    assert_eq!(downloads(&harness), 5);
    harness.press("q");
    assert_eq!(harness.other.last(), Some(&Effect::Quit), "at once, without a question");
    let mut harness = AppHarness::keeping(harness.kept).opening_clusters(3);
    assert_eq!(harness.notice(), "5 jobs from the last run: 5 finished: d requests a new link");
    let ready =
        harness.app.jobs().iter().filter(|job| matches!(job.state(), JobState::ExportReady(_)));
    assert_eq!(ready.count(), 5);
    harness.press("4 d");
    assert_eq!(downloads(&harness), 1, "{:?}", harness.requests());
}
