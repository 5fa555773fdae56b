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

use crate::support::desk::{Desk, dataset, page, task};

#[test]
fn the_start_requests_only_the_datasets() {
    let desk = Desk::new();
    assert_eq!(desk.requests(), [&Request::Datasets]);
    assert_eq!(desk.app.tickets().outstanding(), 1);
}

#[test]
fn the_first_dataset_opens_with_its_first_page() {
    let mut desk = Desk::new();
    let first = dataset(1, Status::Ready);
    let expected = Request::Explore(Search::browse(first.id));
    desk.answer(Lane::Datasets, Payload::Datasets(vec![first, dataset(2, Status::Ready)], 0));
    assert_eq!(desk.requests(), [&expected]);
    desk.answer_page(page(0, 5));
    assert!(desk.requests().is_empty());
    assert_eq!(desk.app.results().page().unwrap().clusters.len(), 5);
}

#[test]
fn a_page_off_screen_is_cancelled_and_its_response_dropped() {
    let mut desk = Desk::with_clusters(100);
    desk.press("n");
    let (late, _) = desk.take(|lane| matches!(lane, Lane::Page(search) if search.page == 1));
    desk.press("p");
    assert!(desk.cancelled.contains(&late.lane));
    let before = desk.app.results().page().cloned();
    desk.respond(late, Ok(Payload::Page(page(100, 100))));
    assert_eq!(desk.app.results().view().unwrap().search.page, 0);
    assert_eq!(
        desk.app.results().page().cloned(),
        before,
        "the late page must not replace the one on screen"
    );
}

#[test]
fn a_response_is_handled_once() {
    let mut desk = Desk::new();
    let (ticket, _) = desk.take(|lane| *lane == Lane::Datasets);
    desk.respond(ticket.clone(), Ok(Payload::Datasets(vec![dataset(1, Status::Ready)], 0)));
    desk.respond(ticket, Ok(Payload::Datasets(vec![], 0)));
    assert_eq!(desk.app.service_data().dataset_list().len(), 1);
}

#[test]
fn idle_datasets_are_polled_slowly_and_busy_ones_fast() {
    let mut desk = Desk::with_clusters(3);
    desk.wait(14);
    assert!(desk.requests().is_empty());
    desk.wait(1);
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Indexing)], 0));
    desk.open.clear();
    desk.wait(1);
    assert!(desk.requests().contains(&&Request::Datasets));
}

#[test]
fn a_lane_has_at_most_one_request() {
    let mut desk = Desk::with_clusters(3);
    for _ in 0..50 {
        desk.wait(20);
    }
    assert_eq!(desk.requests(), [&Request::Datasets]);
}

#[test]
fn an_outage_keeps_loaded_data_and_recovers_automatically() {
    let mut desk = Desk::with_clusters(3);
    for _ in 0..6 {
        desk.wait(31);
        desk.fail(Lane::Datasets, FailureKind::Unreachable);
        assert_eq!(desk.app.service_data().dataset_list().len(), 1, "the list stays");
        assert_eq!(desk.app.results().page().unwrap().clusters.len(), 3, "the page stays");
    }
    assert!(desk.app.service_data().datasets.failure().is_some());
    desk.wait(31);
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    assert!(desk.app.service_data().datasets.failure().is_none());
    assert_eq!(desk.notice(), "the service responds again");
}

#[test]
fn a_page_that_cannot_be_loaded_shows_an_outage_at_once() {
    let mut desk = Desk::with_clusters(3);
    desk.press("f");
    let (ticket, _) = desk.take(|lane| matches!(lane, Lane::Page(_)));
    desk.respond(ticket, Err(Failure::new(FailureKind::Unreachable, "connection refused")));
    desk.fail(Lane::Datasets, FailureKind::Unreachable);
    assert!(outage(&desk.app).is_some());
}

#[test]
fn nothing_is_requested_again_before_the_pause_that_the_service_requests() {
    let mut desk = Desk::with_clusters(3);
    desk.press("f");
    desk.wait(15);
    let busy = Failure::new(FailureKind::RateLimited, "the service is limiting requests");
    let busy = Failure { retry_after: Some(Duration::from_mins(10)), ..busy };
    while let Some((ticket, _)) = desk.open.pop_front() {
        desk.respond(ticket, Err(busy.clone()));
    }
    desk.wait(599);
    assert!(desk.requests().is_empty());
    desk.wait(1);
    assert!(matches!(desk.requests()[..], [Request::Datasets, Request::Explore(_)]));
}

#[test]
fn a_rejected_page_is_not_retried_automatically() {
    let mut desk = Desk::new();
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    let lane = Lane::Page(Search::browse(dataset(1, Status::Ready).id));
    desk.fail(lane.clone(), FailureKind::Forbidden);
    desk.wait(5);
    assert!(desk.requests().is_empty(), "asking again would be refused again");
    desk.press("r");
    assert!(desk.open.iter().any(|(ticket, _)| ticket.lane == lane));
}

#[test]
fn a_finished_reindex_brings_new_pages() {
    let mut desk = Desk::new();
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Indexing)], 0));
    desk.answer_page(page(0, 2));
    desk.wait(1);
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    desk.answer_page(page(50, 4));
    assert_eq!(desk.app.results().page().unwrap().clusters.len(), 4);
}

#[test]
fn the_cursor_follows_its_cluster_through_a_reload() {
    let mut desk = Desk::with_clusters(9);
    desk.press("l l l");
    let here = desk.app.results().cluster().unwrap().id;
    desk.press("r");
    let mut turned = page(0, 9);
    turned.clusters.reverse();
    desk.answer_page(turned);
    assert_eq!(desk.app.results().cluster().unwrap().id, here);
    assert_eq!(desk.app.results().view().unwrap().cursor, 5);
}

#[test]
fn an_unmoved_cursor_stays_at_the_first_tile_after_a_reload() {
    let mut desk = Desk::new();
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Indexing)], 0));
    desk.answer_page(page(0, 9));
    desk.press("r");
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    let mut turned = page(0, 9);
    turned.clusters.reverse();
    desk.answer_page(turned);
    assert_eq!(desk.app.results().view().unwrap().cursor, 0);
}

#[test]
fn only_visible_pictures_are_requested_and_scrolling_cancels_the_rest() {
    let mut desk = Desk::with_pictures(Protocol::HalfBlock).opening_clusters(100);
    let grid = desk.app.grid().unwrap();
    let visible = grid.visible().len();
    let pictures = |desk: &Desk| {
        desk.open.iter().filter(|(ticket, _)| matches!(ticket.lane, Lane::Picture(..))).count()
    };
    assert_eq!(pictures(&desk), visible + 1 + 3, "the grid, the detail and its strip");
    for _ in 0..9 {
        desk.press("ctrl-d");
    }
    assert!(pictures(&desk) <= visible + 1 + 3);
    assert!(desk.cancelled.len() >= 5 * visible, "nothing off screen stays open");
}

#[test]
fn pictures_are_requested_again_for_a_better_protocol() {
    let mut desk = Desk::with_pictures(Protocol::HalfBlock).opening_clusters(4);
    desk.happen(Event::Terminal(Protocol::Kitty, (9, 18)));
    let canvases: Vec<_> = desk
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
    let mut desk = Desk::with_pictures(Protocol::HalfBlock).opening_clusters(1);
    while let Some(place) =
        desk.open.iter().position(|(ticket, _)| matches!(ticket.lane, Lane::Picture(..)))
    {
        let (ticket, _) = desk.open.remove(place).unwrap();
        let failure = tessera_model::Failure::new(FailureKind::Local, "truncated JPEG");
        desk.respond(ticket, Err(failure));
    }
    desk.wait(1);
    assert!(desk.requests().is_empty());
}

#[test]
fn unreadable_rows_are_reported() {
    let mut desk = Desk::new();
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 2));
    assert_eq!(desk.notice(), "2 rows of the list of datasets could not be parsed");
}

#[test]
fn a_mismatched_response_is_reported() {
    let mut desk = Desk::new();
    desk.answer(Lane::Datasets, Payload::Page(page(0, 1)));
    assert!(desk.notice().contains("wrong kind"));
}

#[test]
fn read_only_makes_changes_unavailable() {
    let mut desk = Desk::with_clusters(3);
    desk.app.setup_mut().read_only = true;
    desk.press("1 A");
    assert!(desk.app.overlay().is_none() && desk.notice().contains("--read-only"));
    desk.press("e");
    assert!(desk.app.overlay().is_some(), "an export changes no dataset");
}

#[test]
fn the_named_dataset_opens_first() {
    let list = || Payload::Datasets(vec![dataset(1, Status::Ready), dataset(2, Status::Ready)], 0);
    let opened = |named: &str| {
        let mut desk = Desk::new();
        desk.app.setup_mut().start.dataset = Some(named.to_owned());
        desk.answer(Lane::Datasets, list());
        (desk.app.results().view().unwrap().search.dataset, desk.notice().to_owned())
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
    let mut desk = Desk::with_clusters(3);
    desk.press("e enter");
    desk.answer(Lane::StartJob(JobId(0)), Payload::Export(task("IN_PROGRESS")));
    desk.other.clear();
    desk.wait(TEN_HOURS);
    let sent = |desk: &Desk, wanted: fn(&Request) -> bool| {
        desk.requests().into_iter().filter(|request| wanted(request)).count()
    };
    assert_eq!(sent(&desk, |it| matches!(it, Request::Datasets)), 1);
    assert_eq!(sent(&desk, |it| matches!(it, Request::ExportStatus(..))), 1);
    assert_eq!(desk.requests().len(), 2);
    // The first response after the sleep may be a failure, because the connections are gone.
    desk.fail(Lane::Datasets, FailureKind::Unreachable);
    desk.fail(Lane::Export(JobId(0)), FailureKind::Unreachable);
    assert_eq!(desk.app.results().page().unwrap().clusters.len(), 3, "the page stays");
    assert!(matches!(desk.app.jobs().get(JobId(0)).unwrap().state(), JobState::ExportRunning(..)));
    desk.wait(60);
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    desk.answer(Lane::Export(JobId(0)), Payload::Export(task("IN_PROGRESS")));
    assert!(desk.app.service_data().datasets.failure().is_none());
}

#[test]
fn ten_thousand_keys_during_a_hanging_service_leave_few_requests_open() {
    let mut desk = Desk::with_pictures(Protocol::HalfBlock).opening_clusters(100);
    let keys = ["n", "j", "ctrl-d", "p", "l", "3", "2", "r", "i", "esc", "1", "r", "2", "n", "G"];
    for key in keys.iter().cycle().take(10_000) {
        desk.press(key);
    }
    assert!(desk.open.len() < 100, "{} requests are open", desk.open.len());
    assert_eq!(desk.app.tickets().outstanding(), desk.open.len());
}

#[test]
fn quitting_during_five_downloads_keeps_them_for_the_next_start() {
    let mut desk = Desk::with_clusters(3);
    for number in 0..5 {
        desk.press("e enter");
        let id = ExportTaskId(Uuid::from_u128(u128::from(number) + 1));
        let done = ExportTask { id, ..task("COMPLETED") };
        desk.answer(Lane::StartJob(JobId(number)), Payload::Export(done));
    }
    let downloads = |desk: &Desk| {
        desk.open.iter().filter(|(_, request)| matches!(request, Request::Download { .. })).count()
    };
    assert_eq!(downloads(&desk), 5);
    desk.press("q");
    assert_eq!(desk.other.last(), Some(&Effect::Quit), "at once, without a question");
    let mut desk = Desk::keeping(desk.kept).opening_clusters(3);
    assert_eq!(desk.notice(), "5 jobs from the last run: 5 finished: d requests a new link");
    let ready =
        desk.app.jobs().iter().filter(|job| matches!(job.state(), JobState::ExportReady(_)));
    assert_eq!(ready.count(), 5);
    desk.press("4 d");
    assert_eq!(downloads(&desk), 1, "{:?}", desk.requests());
}
