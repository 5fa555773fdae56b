//! Jobs of every kind: followed, told once, written down, and taken off the list.

use tessera::{
    app::{Overlay, Stage},
    message::{Answer, JobId, Lane, Request},
};

use crate::desk::{Desk, task};

const JOB: JobId = JobId(0);

fn exporting() -> Desk {
    let mut desk = Desk::with_clusters(3);
    desk.press("e enter");
    desk.answer(Lane::Start(JOB), Answer::Export(task("INIT")));
    desk
}

#[test]
fn m21_a_row_opens_into_the_states_it_went_through() {
    let mut desk = exporting();
    desk.wait(2);
    desk.answer(Lane::Export(JOB), Answer::Export(task("IN_PROGRESS")));
    desk.wait(3);
    desk.press("4 enter");
    assert!(matches!(&desk.app.overlay, Some(Overlay::Timeline(view)) if view.job == JOB));
    let job = &desk.app.store.jobs[&JOB];
    let words: Vec<&str> = job.timeline.steps().iter().map(|step| step.word.as_str()).collect();
    assert_eq!(words, ["starting", "INIT", "IN_PROGRESS"]);
    assert_eq!(job.timeline.lasted(1, desk.app.clock()).as_secs(), 2);
    assert_eq!(job.timeline.lasted(2, desk.app.clock()).as_secs(), 3);
}

#[test]
fn m22_an_unwatched_job_is_watched_again() {
    let mut desk = exporting();
    desk.press("4 x");
    desk.wait(5);
    desk.press("r");
    let asked =
        |request: &&Request| matches!(request, Request::ExportStatus(_, id) if *id == task("").id);
    assert!(desk.requests().iter().any(asked));
}

#[test]
fn p46_a_download_is_stopped_and_goes_on() {
    let mut desk = Desk::with_clusters(3);
    desk.press("e enter");
    desk.answer(Lane::Start(JOB), Answer::Export(task("COMPLETED")));
    desk.press("4 x");
    assert!(desk.cancelled.contains(&Lane::Download(JOB)));
    assert!(desk.notice().contains("stays in the .part file"), "{}", desk.notice());
    desk.press("d");
    assert!(matches!(desk.app.store.jobs[&JOB].stage, Stage::Downloading(..)));
}

#[test]
fn p41_only_what_is_over_is_taken_off_the_list() {
    let mut desk = exporting();
    desk.press("4 D");
    assert_eq!(desk.notice(), "this job is still going on; x stops it");
    desk.press("x D");
    assert!(desk.app.store.jobs.is_empty());
    desk.press("D");
    assert_eq!(desk.notice(), "there is no job here");
}
