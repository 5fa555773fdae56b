//! Tests long sleeps, hanging services, and quitting in the middle of work.

use tessera_interface::{
    app::{Effect, JobState},
    message::{JobId, Lane, Payload, Request},
};
use tessera_model::{ExportTask, ExportTaskId, FailureKind, Status};
use tessera_picture::Protocol;
use uuid::Uuid;

use crate::support::desk::{Desk, dataset, page, task};

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
    let mut desk = Desk::with_pictures(Protocol::HalfBlock);
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    desk.answer_page(page(0, 100));
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
    let mut desk = Desk::keeping(desk.kept);
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    desk.answer_page(page(0, 3));
    assert_eq!(desk.notice(), "5 jobs from the last run: 5 finished: d requests a new link");
    let ready =
        desk.app.jobs().iter().filter(|job| matches!(job.state(), JobState::ExportReady(_)));
    assert_eq!(ready.count(), 5);
    desk.press("4 d");
    assert_eq!(downloads(&desk), 1, "{:?}", desk.requests());
}
