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
use crate::support::app_harness::{AppHarness, dataset, page, task};

pub(super) const JOB: JobId = JobId(0);

fn exporting() -> AppHarness {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("e enter");
    harness.answer(Lane::StartJob(JOB), Payload::Export(task("INIT")));
    harness
}

#[test]
fn opening_a_job_shows_its_history() {
    let mut harness = exporting();
    harness.wait(2);
    harness.answer(Lane::Export(JOB), Payload::Export(task("IN_PROGRESS")));
    harness.wait(3);
    harness.press("4 enter");
    assert!(harness.app.dialog::<JobDetail>().is_some_and(|view| view.job == JOB));
    let job = &harness.app.jobs().get(JOB).unwrap();
    let words: Vec<&str> =
        job.history().transitions().iter().map(|step| step.state.as_str()).collect();
    assert_eq!(words, ["starting", "INIT", "IN_PROGRESS"]);
    assert_eq!(job.history().duration_of(1, harness.app.clock()).as_secs(), 2);
    assert_eq!(job.history().duration_of(2, harness.app.clock()).as_secs(), 3);
}

#[test]
fn an_unwatched_job_is_watched_again() {
    let mut harness = exporting();
    harness.press("4 x");
    harness.wait(5);
    harness.press("r");
    let polled =
        |request: &&Request| matches!(request, Request::ExportStatus(_, id) if *id == task("").id);
    assert!(harness.requests().iter().any(polled));
}

#[test]
fn work_on_a_dataset_that_is_watched_again_after_a_restart_ends() {
    let unwatched = reindex(SavedJobState::Unwatched { export_task_id: None });
    let kept = StateValue::Jobs { this_instance: vec![unwatched], other_instances: vec![] };
    let mut harness = AppHarness::keeping([(StateKey::Jobs, kept)].into()).opening_clusters(3);
    harness.press("4 r");
    let state = |harness: &AppHarness| harness.app.jobs().get(JOB).unwrap().state().clone();
    assert_eq!(state(&harness), JobState::DatasetRunning);
    harness.answer(Lane::Datasets, images(240, "READY"));
    assert_eq!(state(&harness), JobState::DatasetDone(SafeText::name("READY")));
}

#[test]
fn a_stopped_download_is_resumed() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("e enter");
    harness.answer(Lane::StartJob(JOB), Payload::Export(task("COMPLETED")));
    harness.press("4 x");
    assert!(harness.cancelled.contains(&Lane::Download(JOB)));
    assert!(harness.notice().contains("the .part file is kept"), "{}", harness.notice());
    harness.press("d");
    assert!(matches!(harness.app.jobs().get(JOB).unwrap().state(), JobState::Downloading(..)));
}

#[test]
fn an_export_ends_before_its_archive_is_downloaded() {
    let mut harness = exporting();
    harness.wait(2);
    harness.answer(Lane::Export(JOB), Payload::Export(task("COMPLETED")));
    harness.wait(600);
    let ended = |harness: &AppHarness| harness.app.jobs().get(JOB).unwrap().ended_at().is_some();
    assert!(!ended(&harness), "the archive is being downloaded");
    let path = PathBuf::from("/downloads/set-1.zip");
    let archive = Archive { path, bytes: 10, entries: 4, images: 3 };
    harness.answer(Lane::Download(JOB), Payload::Downloaded(archive));
    assert!(ended(&harness) && harness.notice().contains("set-1.zip"), "{}", harness.notice());
    let took = |harness: &AppHarness| {
        let job = harness.app.jobs().iter().next().unwrap();
        let last = job.history().transitions().last().unwrap().entered_at;
        let last = last.saturating_sub(job.started_at);
        (job.elapsed(harness.app.clock()).as_secs(), last.as_secs())
    };
    assert_eq!(took(&harness), (2, 602));
    assert_eq!(took(&restarted(harness)), (2, 2), "the states agree with the end that is saved");
}

#[test]
fn only_ended_jobs_can_be_removed() {
    let mut harness = exporting();
    harness.press("4 D");
    assert_eq!(harness.notice(), "this job is still running; x stops it");
    harness.press("x D");
    assert!(harness.app.jobs().is_empty());
    harness.press("D");
    assert_eq!(harness.notice(), "no job is selected");
}

/// Restarts the program.
fn restarted(harness: AppHarness) -> AppHarness {
    let kept = harness.kept;
    let mut harness = AppHarness::keeping(kept);
    harness.answer(Lane::Datasets, images(240, "READY"));
    harness.answer_page(page(0, 3));
    harness
}

#[test]
fn a_running_export_is_saved_first_and_resumed() {
    let harness = exporting();
    let mut harness = restarted(harness);
    assert_eq!(harness.notice(), "1 job from the last run: 1 still running");
    let polled = harness.take(|lane| matches!(lane, Lane::Export(_))).1;
    assert_eq!(polled, Request::ExportStatus(dataset(1, Status::Ready).id, task("").id));
}

#[test]
fn an_export_without_a_response_may_have_started() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("e enter");
    let harness = restarted(harness);
    let job = harness.app.jobs().iter().next().unwrap();
    assert!(matches!(job.state(), JobState::Uncertain(_)));
    assert_eq!(harness.notice(), "1 job from the last run: 1 may have started");
}

#[test]
fn the_id_of_an_export_is_saved_before_any_other_effect() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("e enter");
    let (ticket, _) = harness.take(|lane| *lane == Lane::StartJob(JOB));
    let answer = Event::Worker(WorkerEvent::Response(Response {
        ticket,
        result: Ok(Payload::Export(task("COMPLETED"))),
    }));
    let effects = harness.app.update(harness.now, answer);
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
    let harness = exporting();
    let Some(StateValue::Jobs { this_instance: ours, .. }) =
        harness.kept.get(&StateKey::Jobs).cloned()
    else {
        unreachable!("jobs are kept");
    };
    let other = StateValue::Jobs { this_instance: vec![], other_instances: ours };
    let mut harness = AppHarness::keeping([(StateKey::Jobs, other)].into());
    assert_eq!(harness.app.jobs().iter().next().unwrap().label(), "elsewhere");
    harness.wait(60);
    assert!(!harness.requests().iter().any(|request| matches!(request, Request::ExportStatus(..))));
}

#[test]
fn a_finished_job_of_another_instance_shows_how_it_ended() {
    let done = reindex(SavedJobState::Done { status_new: SafeText::name("READY") });
    let other = StateValue::Jobs { this_instance: vec![], other_instances: vec![done] };
    let harness = AppHarness::keeping([(StateKey::Jobs, other)].into());
    let job = harness.app.jobs().iter().next().unwrap();
    assert_eq!((job.label(), job.fraction_done()), ("READY", Some(1.0)));
}

#[test]
fn a_job_that_a_command_starts_is_shown_after_two_seconds_and_at_once_by_r() {
    let other = |jobs| StateValue::Jobs { this_instance: vec![], other_instances: jobs };
    for keys in ["", "r"] {
        let mut harness = AppHarness::keeping([(StateKey::Jobs, other(vec![]))].into());
        assert_eq!(harness.app.jobs().len(), 0);
        harness.kept.insert(StateKey::Jobs, other(vec![reindex(SavedJobState::Sent)]));
        if keys.is_empty() {
            harness.wait(2);
        } else {
            harness.press(keys);
        }
        assert_eq!(harness.app.jobs().len(), 1, "{keys:?}");
    }
}

#[test]
fn a_removed_job_is_not_restored() {
    let mut harness = exporting();
    harness.press("4 x D");
    assert!(restarted(harness).app.jobs().is_empty());
}

fn alerts<'a>(harness: &'a AppHarness) -> Vec<&'a JobAlert> {
    let alert = |effect: &'a Effect| match effect {
        Effect::Alert(alert) => Some(alert),
        _ => None,
    };
    harness.other.iter().filter_map(alert).collect()
}

#[test]
fn the_end_of_a_job_is_announced_once() {
    let mut harness = exporting();
    harness.other.clear();
    harness.wait(2);
    let (ticket, _) = harness.take(|lane| *lane == Lane::Export(JOB));
    harness.respond(ticket, Ok(Payload::Export(task("FAILED"))));
    harness.wait(60);
    let words = SafeText::detail("export of set-1 failed");
    let rest = Activity { active_jobs: 0, percent: None };
    assert_eq!(
        alerts(&harness),
        [&JobAlert::Bell, &JobAlert::Desktop(words), &JobAlert::Activity(rest)]
    );
}

#[test]
fn no_alerts_while_the_jobs_pane_is_focused() {
    for (attended, count) in [(true, 0), (false, 2)] {
        let mut harness = exporting();
        harness.press("4");
        harness.happen(Event::WindowFocus(attended));
        harness.wait(5);
        let (ticket, _) = harness.take(|lane| *lane == Lane::Export(JOB));
        harness.other.clear();
        harness.respond(ticket, Ok(Payload::Export(task("FAILED"))));
        let signals = alerts(&harness);
        let signals = signals.iter().filter(|alert| !matches!(alert, JobAlert::Activity(_)));
        assert_eq!(signals.count(), count, "attended: {attended}");
    }
}

#[test]
fn disabled_alerts_are_not_sent() {
    let mut harness = exporting();
    harness.app.setup_mut().settings.ui.notify.clear();
    harness.other.clear();
    harness.wait(2);
    harness.answer(Lane::Export(JOB), Payload::Export(task("FAILED")));
    assert!(alerts(&harness).is_empty());
    assert!(harness.notice().contains("the export ended with FAILED"), "a failure is never hidden");
}

#[test]
fn a_downloaded_archive_is_inspected() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("e enter");
    harness.press("4 i");
    assert!(
        harness.notice().starts_with("this job has no downloaded archive"),
        "{}",
        harness.notice()
    );
    harness.answer(Lane::StartJob(JOB), Payload::Export(task("COMPLETED")));
    let path = PathBuf::from("/downloads/set-1.zip");
    let archive = Archive { path: path.clone(), bytes: 10, entries: 4, images: 3 };
    harness.answer(Lane::Download(JOB), Payload::Downloaded(archive));
    harness.press("i");
    assert_eq!(harness.requests(), [&Request::Inspect(path)]);
    harness.fail(Lane::Inspect, FailureKind::Local);
    let Some(layer) = harness.app.dialog::<ArchiveInspector>() else {
        unreachable!("the layer went")
    };
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
    let mut harness = exporting();
    let running = StateValue::Jobs {
        this_instance: vec![],
        other_instances: vec![reindex(SavedJobState::Sent)],
    };
    harness.kept.insert(StateKey::Jobs, running);
    harness.press("4");
    harness.wait(16);
    let labels = |harness: &AppHarness| -> Vec<String> {
        harness.app.jobs().iter().map(|job| job.label().to_owned()).collect()
    };
    assert_eq!(labels(&harness), ["INIT", "elsewhere"]);
    assert_eq!(harness.app.jobs().selected().map(|job| job.id), Some(JOB), "the cursor stays");
    let id = harness.app.jobs().iter().next_back().unwrap().id;
    let ended = StateValue::Jobs {
        this_instance: vec![reindex(SavedJobState::Accepted)],
        other_instances: vec![],
    };
    harness.kept.insert(StateKey::Jobs, ended);
    harness.wait(16);
    assert_eq!(harness.app.jobs().get(id).unwrap().state(), &JobState::DatasetRunning);
    assert_eq!(harness.notice(), "1 job of a command: 1 still running");
    harness.wait(16);
    assert_eq!(harness.app.jobs().len(), 2, "it is added once");
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
