//! Tests jobs of every kind: they are followed, announced once, saved and removed.

use std::{path::PathBuf, time::Duration};

use tessera_interface::{
    app::{
        Activity, Effect, Event, JobAlert, JobHistory, JobState,
        overlay::{archive_inspector::ArchiveInspector, job_detail::JobDetail},
    },
    message::{JobId, Lane, Payload, Request, Response, WorkerEvent},
};
use tessera_model::{
    Archive, FailureKind, JobKind, JobRecord, SafeText, SavedJobState, StateKey, StateValue, Status,
};

use super::additions::images;
use crate::support::desk::{Desk, dataset, page, task};

pub(super) const JOB: JobId = JobId(0);

fn exporting() -> Desk {
    let mut desk = Desk::with_clusters(3);
    desk.press("e enter");
    desk.answer(Lane::StartJob(JOB), Payload::Export(task("INIT")));
    desk
}

#[test]
fn opening_a_job_shows_its_history() {
    let mut desk = exporting();
    desk.wait(2);
    desk.answer(Lane::Export(JOB), Payload::Export(task("IN_PROGRESS")));
    desk.wait(3);
    desk.press("4 enter");
    assert!(desk.app.dialog::<JobDetail>().is_some_and(|view| view.job == JOB));
    let job = &desk.app.jobs().get(JOB).unwrap();
    let words: Vec<&str> =
        job.history().transitions().iter().map(|step| step.state.as_str()).collect();
    assert_eq!(words, ["starting", "INIT", "IN_PROGRESS"]);
    assert_eq!(job.history().duration_of(1, desk.app.clock()).as_secs(), 2);
    assert_eq!(job.history().duration_of(2, desk.app.clock()).as_secs(), 3);
}

#[test]
fn an_unwatched_job_is_watched_again() {
    let mut desk = exporting();
    desk.press("4 x");
    desk.wait(5);
    desk.press("r");
    let polled =
        |request: &&Request| matches!(request, Request::ExportStatus(_, id) if *id == task("").id);
    assert!(desk.requests().iter().any(polled));
}

#[test]
fn work_on_a_dataset_that_is_watched_again_after_a_restart_ends() {
    let unwatched = reindex(SavedJobState::Unwatched { export_task_id: None });
    let kept = StateValue::Jobs { this_instance: vec![unwatched], other_instances: vec![] };
    let mut desk = Desk::keeping([(StateKey::Jobs, kept)].into()).opening_clusters(3);
    desk.press("4 r");
    let state = |desk: &Desk| desk.app.jobs().get(JOB).unwrap().state().clone();
    assert_eq!(state(&desk), JobState::DatasetRunning);
    desk.answer(Lane::Datasets, images(240, "READY"));
    assert_eq!(state(&desk), JobState::DatasetDone(SafeText::name("READY")));
}

#[test]
fn a_stopped_download_is_resumed() {
    let mut desk = Desk::with_clusters(3);
    desk.press("e enter");
    desk.answer(Lane::StartJob(JOB), Payload::Export(task("COMPLETED")));
    desk.press("4 x");
    assert!(desk.cancelled.contains(&Lane::Download(JOB)));
    assert!(desk.notice().contains("the .part file is kept"), "{}", desk.notice());
    desk.press("d");
    assert!(matches!(desk.app.jobs().get(JOB).unwrap().state(), JobState::Downloading(..)));
}

#[test]
fn an_export_ends_before_its_archive_is_downloaded() {
    let mut desk = exporting();
    desk.wait(2);
    desk.answer(Lane::Export(JOB), Payload::Export(task("COMPLETED")));
    desk.wait(600);
    let ended = |desk: &Desk| desk.app.jobs().get(JOB).unwrap().ended_at().is_some();
    assert!(!ended(&desk), "the archive is being downloaded");
    let path = PathBuf::from("/downloads/set-1.zip");
    let archive = Archive { path, bytes: 10, entries: 4, images: 3 };
    desk.answer(Lane::Download(JOB), Payload::Downloaded(archive));
    assert!(ended(&desk) && desk.notice().contains("set-1.zip"), "{}", desk.notice());
    let took = |desk: &Desk| {
        let job = desk.app.jobs().iter().next().unwrap();
        let last = job.history().transitions().last().unwrap().entered_at;
        let last = last.saturating_sub(job.started_at);
        (job.elapsed(desk.app.clock()).as_secs(), last.as_secs())
    };
    assert_eq!(took(&desk), (2, 602));
    assert_eq!(took(&restarted(desk)), (2, 2), "the states agree with the end that is saved");
}

#[test]
fn only_ended_jobs_can_be_removed() {
    let mut desk = exporting();
    desk.press("4 D");
    assert_eq!(desk.notice(), "this job is still running; x stops it");
    desk.press("x D");
    assert!(desk.app.jobs().is_empty());
    desk.press("D");
    assert_eq!(desk.notice(), "no job is selected");
}

/// Restarts the program.
fn restarted(desk: Desk) -> Desk {
    let kept = desk.kept;
    let mut desk = Desk::keeping(kept);
    desk.answer(Lane::Datasets, images(240, "READY"));
    desk.answer_page(page(0, 3));
    desk
}

#[test]
fn a_running_export_is_saved_first_and_resumed() {
    let desk = exporting();
    let mut desk = restarted(desk);
    assert_eq!(desk.notice(), "1 job from the last run: 1 still running");
    let polled = desk.take(|lane| matches!(lane, Lane::Export(_))).1;
    assert_eq!(polled, Request::ExportStatus(dataset(1, Status::Ready).id, task("").id));
}

#[test]
fn an_export_without_a_response_may_have_started() {
    let mut desk = Desk::with_clusters(3);
    desk.press("e enter");
    let desk = restarted(desk);
    let job = desk.app.jobs().iter().next().unwrap();
    assert!(matches!(job.state(), JobState::Uncertain(_)));
    assert_eq!(desk.notice(), "1 job from the last run: 1 may have started");
}

#[test]
fn the_id_of_an_export_is_saved_before_any_other_effect() {
    let mut desk = Desk::with_clusters(3);
    desk.press("e enter");
    let (ticket, _) = desk.take(|lane| *lane == Lane::StartJob(JOB));
    let answer = Event::Worker(WorkerEvent::Response(Response {
        ticket,
        result: Ok(Payload::Export(task("COMPLETED"))),
    }));
    let effects = desk.app.update(desk.now, answer);
    let Some(Effect::Send(_, Request::SaveState(StateValue::Jobs { this_instance: ours, .. }))) =
        effects.first()
    else {
        unreachable!("the first effect is the journal: {effects:?}");
    };
    assert_eq!(ours[0].state, SavedJobState::Completed { export_task_id: task("").id });
    assert!(matches!(&effects[1], Effect::Send(_, Request::Download { .. })));
}

#[test]
fn a_job_of_another_instance_is_shown_and_not_polled() {
    let desk = exporting();
    let Some(StateValue::Jobs { this_instance: ours, .. }) =
        desk.kept.get(&StateKey::Jobs).cloned()
    else {
        unreachable!("jobs are kept");
    };
    let other = StateValue::Jobs { this_instance: vec![], other_instances: ours };
    let mut desk = Desk::keeping([(StateKey::Jobs, other)].into());
    assert_eq!(desk.app.jobs().iter().next().unwrap().label(), "elsewhere");
    desk.wait(60);
    assert!(!desk.requests().iter().any(|request| matches!(request, Request::ExportStatus(..))));
}

#[test]
fn a_finished_job_of_another_instance_shows_how_it_ended() {
    let done = reindex(SavedJobState::Done { status_new: SafeText::name("READY") });
    let other = StateValue::Jobs { this_instance: vec![], other_instances: vec![done] };
    let desk = Desk::keeping([(StateKey::Jobs, other)].into());
    let job = desk.app.jobs().iter().next().unwrap();
    assert_eq!((job.label(), job.fraction_done()), ("READY", Some(1.0)));
}

#[test]
fn a_job_that_a_command_starts_is_shown_after_two_seconds_and_at_once_by_r() {
    let other = |jobs| StateValue::Jobs { this_instance: vec![], other_instances: jobs };
    for keys in ["", "r"] {
        let mut desk = Desk::keeping([(StateKey::Jobs, other(vec![]))].into());
        assert_eq!(desk.app.jobs().len(), 0);
        desk.kept.insert(StateKey::Jobs, other(vec![reindex(SavedJobState::Sent)]));
        if keys.is_empty() {
            desk.wait(2);
        } else {
            desk.press(keys);
        }
        assert_eq!(desk.app.jobs().len(), 1, "{keys:?}");
    }
}

#[test]
fn a_removed_job_is_not_restored() {
    let mut desk = exporting();
    desk.press("4 x D");
    assert!(restarted(desk).app.jobs().is_empty());
}

fn alerts<'a>(desk: &'a Desk) -> Vec<&'a JobAlert> {
    let alert = |effect: &'a Effect| match effect {
        Effect::Alert(alert) => Some(alert),
        _ => None,
    };
    desk.other.iter().filter_map(alert).collect()
}

#[test]
fn the_end_of_a_job_is_announced_once() {
    let mut desk = exporting();
    desk.other.clear();
    desk.wait(2);
    let (ticket, _) = desk.take(|lane| *lane == Lane::Export(JOB));
    desk.respond(ticket, Ok(Payload::Export(task("FAILED"))));
    desk.wait(60);
    let words = SafeText::detail("export of set-1 failed");
    let rest = Activity { active_jobs: 0, percent: None };
    assert_eq!(
        alerts(&desk),
        [&JobAlert::Bell, &JobAlert::Desktop(words), &JobAlert::Activity(rest)]
    );
}

#[test]
fn no_alerts_while_the_jobs_pane_is_focused() {
    for (attended, count) in [(true, 0), (false, 2)] {
        let mut desk = exporting();
        desk.press("4");
        desk.happen(Event::WindowFocus(attended));
        desk.wait(5);
        let (ticket, _) = desk.take(|lane| *lane == Lane::Export(JOB));
        desk.other.clear();
        desk.respond(ticket, Ok(Payload::Export(task("FAILED"))));
        let signals = alerts(&desk);
        let signals = signals.iter().filter(|alert| !matches!(alert, JobAlert::Activity(_)));
        assert_eq!(signals.count(), count, "attended: {attended}");
    }
}

#[test]
fn disabled_alerts_are_not_sent() {
    let mut desk = exporting();
    desk.app.setup_mut().settings.ui.notify.clear();
    desk.other.clear();
    desk.wait(2);
    desk.answer(Lane::Export(JOB), Payload::Export(task("FAILED")));
    assert!(alerts(&desk).is_empty());
    assert!(desk.notice().contains("the export ended with FAILED"), "a failure is never hidden");
}

#[test]
fn a_downloaded_archive_is_inspected() {
    let mut desk = Desk::with_clusters(3);
    desk.press("e enter");
    desk.press("4 i");
    assert!(desk.notice().starts_with("this job has no downloaded archive"), "{}", desk.notice());
    desk.answer(Lane::StartJob(JOB), Payload::Export(task("COMPLETED")));
    let path = PathBuf::from("/downloads/set-1.zip");
    let archive = Archive { path: path.clone(), bytes: 10, entries: 4, images: 3 };
    desk.answer(Lane::Download(JOB), Payload::Downloaded(archive));
    desk.press("i");
    assert_eq!(desk.requests(), [&Request::Inspect(path)]);
    desk.fail(Lane::Inspect, FailureKind::Local);
    let Some(layer) = desk.app.dialog::<ArchiveInspector>() else { unreachable!("the layer went") };
    assert!(layer.inspection.failure().is_some(), "the reason stands where the facts would be");
}

/// Returns a record of a reindex that another instance has started.
fn reindex(state: SavedJobState) -> JobRecord {
    JobRecord {
        started_at: Duration::from_secs(1_794_999_001),
        ended_at: None,
        dataset: dataset(1, Status::Ready).id,
        dataset_name: SafeText::name("set-1"),
        kind: JobKind::Reindex,
        state,
    }
}

#[test]
fn a_job_of_a_command_appears_and_is_followed_when_the_command_ends() {
    let mut desk = exporting();
    let running = StateValue::Jobs {
        this_instance: vec![],
        other_instances: vec![reindex(SavedJobState::Sent)],
    };
    desk.kept.insert(StateKey::Jobs, running);
    desk.press("4");
    desk.wait(16);
    let labels = |desk: &Desk| -> Vec<String> {
        desk.app.jobs().iter().map(|job| job.label().to_owned()).collect()
    };
    assert_eq!(labels(&desk), ["INIT", "elsewhere"]);
    assert_eq!(desk.app.jobs().selected().map(|job| job.id), Some(JOB), "the cursor stays");
    let id = desk.app.jobs().iter().next_back().unwrap().id;
    let ended = StateValue::Jobs {
        this_instance: vec![reindex(SavedJobState::Accepted)],
        other_instances: vec![],
    };
    desk.kept.insert(StateKey::Jobs, ended);
    desk.wait(16);
    assert_eq!(desk.app.jobs().get(id).unwrap().state(), &JobState::DatasetRunning);
    assert_eq!(desk.notice(), "1 job of a command: 1 still running");
    desk.wait(16);
    assert_eq!(desk.app.jobs().len(), 2, "it is added once");
}

#[test]
fn progress_over_time_has_a_point_for_each_column() {
    let mut history = JobHistory::default();
    let at = Duration::from_secs;
    for (seconds, done) in [(0, 0), (2, 10), (4, 60), (8, 100)] {
        history.record(at(seconds), "IN_PROGRESS", Some((done, 100)));
    }
    assert_eq!(history.progress_over_time(at(8), 4), [10, 60, 60, 100]);
    history.record(at(9), "COMPLETED", None);
    assert_eq!(history.progress_over_time(at(8), 2), [60, 100], "it stays after the end");
    history.record(at(10), "downloading", Some((5, 10)));
    assert!(history.progress_over_time(at(11), 4).is_empty(), "one sample has no course");
}
