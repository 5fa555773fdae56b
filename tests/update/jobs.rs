//! Jobs of every kind: followed, told once, written down, and taken off the list.

use std::path::PathBuf;

use tessera::{
    app::{Activity, Effect, Event, JobAlert, JobState, Overlay, overlay::AddMediaField},
    message::{JobId, Lane, Payload, Request, Response},
};
use tessera_model::{
    Archive, Dataset, FailureKind, MediaAddition, MediaSource, Preflight, SafeText, SavedJobState,
    StateKey, StateValue, Status,
};

use crate::support::desk::{Desk, dataset, page, task};

const JOB: JobId = JobId(0);

fn exporting() -> Desk {
    let mut desk = Desk::with_clusters(3);
    desk.press("e enter");
    desk.answer(Lane::StartJob(JOB), Payload::Export(task("INIT")));
    desk
}

#[test]
fn a_row_opens_into_the_states_it_went_through() {
    let mut desk = exporting();
    desk.wait(2);
    desk.answer(Lane::Export(JOB), Payload::Export(task("IN_PROGRESS")));
    desk.wait(3);
    desk.press("4 enter");
    assert!(matches!(&desk.app.overlay, Some(Overlay::JobDetail(view)) if view.job == JOB));
    let job = &desk.app.jobs.get(JOB).unwrap();
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
    let asked =
        |request: &&Request| matches!(request, Request::ExportStatus(_, id) if *id == task("").id);
    assert!(desk.requests().iter().any(asked));
}

#[test]
fn a_download_is_stopped_and_goes_on() {
    let mut desk = Desk::with_clusters(3);
    desk.press("e enter");
    desk.answer(Lane::StartJob(JOB), Payload::Export(task("COMPLETED")));
    desk.press("4 x");
    assert!(desk.cancelled.contains(&Lane::Download(JOB)));
    assert!(desk.notice().contains("the .part file is kept"), "{}", desk.notice());
    desk.press("d");
    assert!(matches!(desk.app.jobs.get(JOB).unwrap().state(), JobState::Downloading(..)));
}

#[test]
fn only_what_is_over_is_taken_off_the_list() {
    let mut desk = exporting();
    desk.press("4 D");
    assert_eq!(desk.notice(), "this job is still running; x stops it");
    desk.press("x D");
    assert!(desk.app.jobs.is_empty());
    desk.press("D");
    assert_eq!(desk.notice(), "no job is selected");
}

fn images(count: u64, status: &str) -> Payload {
    let list = vec![Dataset { n_images: Some(count), ..dataset(1, Status::parse(status)) }];
    Payload::Datasets(list, 0)
}

/// The next look at the datasets finds this.
fn seen(desk: &mut Desk, count: u64, status: &str) {
    desk.wait(2);
    if !desk.requests().contains(&&Request::Datasets) {
        desk.wait(20);
    }
    desk.answer(Lane::Datasets, images(count, status));
}

/// A form for files, looked at and sent.
fn adding(desk: &mut Desk) {
    desk.press("a");
    desk.type_text("'/data/my new' ~/x.jpg");
    desk.press("enter");
    let found = Preflight { images: 3, bytes: 4_000, ..Preflight::default() };
    desk.answer(Lane::Preflight, Payload::Preflight(found));
    desk.press("enter");
}

fn files() -> MediaAddition {
    let paths = vec!["/data/my new".into(), "/home/me/x.jpg".into()];
    MediaAddition::new(MediaSource::Files(paths))
}

#[test]
fn an_addition_is_looked_at_first_and_then_sent_as_it_was_shown() {
    let mut desk = Desk::with_clusters(3);
    desk.press("a");
    desk.type_text("'/data/my new' ~/x.jpg");
    desk.press("enter");
    assert_eq!(desk.requests(), [&Request::Preflight(files().source)]);
    desk.press("enter");
    assert_eq!(desk.requests().len(), 1, "a look is not asked for twice");
    let found = Preflight { images: 3, ..Preflight::default() };
    desk.answer(Lane::Preflight, Payload::Preflight(found));
    desk.press("enter");
    assert_eq!(desk.requests(), [&Request::AddMedia(dataset(1, Status::Ready).id, files())]);
    assert!(desk.app.overlay.is_none());
}

#[test]
fn a_source_without_media_is_not_sent() {
    let mut desk = Desk::with_clusters(3);
    desk.press("a");
    desk.type_text("/empty");
    desk.press("enter");
    desk.answer(Lane::Preflight, Payload::Preflight(Preflight::default()));
    desk.press("enter");
    assert!(desk.requests().is_empty() && desk.app.overlay.is_some());
}

#[test]
fn the_other_sources_are_kept_and_not_sent() {
    let mut desk = Desk::with_clusters(3);
    desk.press("a");
    desk.type_text("/files");
    desk.press("up left tab");
    desk.type_text("s3://bucket/new/");
    desk.press("tab space tab");
    desk.type_text("arn:aws:iam::123456789012:role/reader");
    desk.press("tab tab");
    desk.type_text("x");
    desk.press("enter");
    assert!(desk.requests().is_empty(), "a count that is no number is refused at its field");
    let Some(Overlay::AddMedia(form)) = &desk.app.overlay else { unreachable!("the form went") };
    assert_eq!(form.error.as_ref().map(|trouble| trouble.0), Some(AddMediaField::Images));
    desk.press("backspace 9 enter");
    let addition = MediaAddition {
        auto_reindex: true,
        assume_role: Some("arn:aws:iam::123456789012:role/reader".into()),
        batch_images: Some(9),
        ..MediaAddition::new(MediaSource::Storage("s3://bucket/new/".into()))
    };
    assert_eq!(desk.requests(), [&Request::AddMedia(dataset(1, Status::Ready).id, addition)]);
}

#[test]
fn an_addition_is_followed_to_partial_index_with_its_counts() {
    let mut desk = Desk::with_clusters(3);
    adding(&mut desk);
    desk.answer(Lane::Upload(JOB), Payload::Accepted);
    desk.answer(Lane::Datasets, images(240, "READY"));
    assert!(
        desk.app.jobs.get(JOB).unwrap().is_active(),
        "READY right after the start is not the end"
    );
    seen(&mut desk, 241, "READ ONLY");
    assert_eq!(desk.app.jobs.get(JOB).unwrap().label(), "READ ONLY");
    seen(&mut desk, 243, "PARTIAL INDEX");
    assert_eq!(desk.app.jobs.get(JOB).unwrap().label(), "PARTIAL INDEX");
    assert!(!desk.app.jobs.get(JOB).unwrap().is_active());
    assert_eq!(
        desk.notice(),
        "set-1: added 3 media items; the dataset is PARTIAL INDEX: R reindexes it"
    );
}

#[test]
fn a_reindex_asks_tells_and_is_followed() {
    let mut desk = Desk::with_clusters(3);
    desk.press("R");
    assert!(desk.notice().contains("nothing to re-cluster"), "{}", desk.notice());
    desk.wait(20);
    desk.answer(Lane::Datasets, images(240, "PARTIAL INDEX"));
    desk.press("R esc");
    assert!(!desk.requests().iter().any(|request| matches!(request, Request::Reindex(_))));
    desk.press("R enter");
    desk.answer(Lane::StartJob(JOB), Payload::Accepted);
    desk.answer(Lane::Datasets, images(240, "PARTIAL INDEX"));
    for status in ["READ ONLY", "INDEXING"] {
        seen(&mut desk, 240, status);
        assert!(desk.app.jobs.get(JOB).unwrap().is_active(), "{status}");
    }
    seen(&mut desk, 240, "READY");
    assert!(matches!(desk.app.jobs.get(JOB).unwrap().state(), JobState::DatasetDone(_)));
    let words: Vec<&str> = desk
        .app
        .jobs
        .get(JOB)
        .unwrap()
        .history()
        .transitions()
        .iter()
        .map(|step| step.state.as_str())
        .collect();
    assert_eq!(words, ["starting", "accepted", "READ ONLY", "INDEXING", "READY"]);
}

#[test]
fn a_lost_answer_is_settled_by_the_dataset() {
    let mut desk = Desk::with_clusters(3);
    adding(&mut desk);
    desk.fail(Lane::Upload(JOB), FailureKind::NoResponse);
    assert!(matches!(desk.app.jobs.get(JOB).unwrap().state(), JobState::Uncertain(_)));
    desk.answer(Lane::Datasets, images(240, "READ ONLY"));
    assert_eq!(desk.app.jobs.get(JOB).unwrap().state(), &JobState::DatasetRunning);
    assert!(!desk.requests().iter().any(|request| matches!(request, Request::AddMedia(..))));
}

#[test]
fn a_busy_dataset_lets_the_addition_wait_here() {
    let mut desk = Desk::new();
    desk.answer(Lane::Datasets, images(240, "INDEXING"));
    desk.answer_page(page(0, 3));
    adding(&mut desk);
    assert_eq!(desk.app.jobs.get(JOB).unwrap().label(), "queued here");
    seen(&mut desk, 240, "READ ONLY");
    assert!(!desk.requests().iter().any(|request| matches!(request, Request::AddMedia(..))));
    seen(&mut desk, 240, "READY");
    desk.take(|lane| *lane == Lane::Upload(JOB));
}

#[test]
fn what_the_service_refuses_comes_back_to_the_form() {
    let mut desk = Desk::with_clusters(3);
    adding(&mut desk);
    desk.fail(Lane::Upload(JOB), FailureKind::Invalid);
    let Some(Overlay::AddMedia(form)) = &desk.app.overlay else { unreachable!("the form went") };
    assert_eq!(form.location().value(), "'/data/my new' ~/x.jpg");
    assert!(form.error.as_ref().is_some_and(|(_, reason)| reason.as_str() == "it broke"));
}

#[test]
fn on_premises_has_only_a_path_at_the_service() {
    let mut desk = Desk::with_clusters(3);
    desk.app.setup.on_premises = true;
    desk.press("a");
    desk.type_text("/mnt/new");
    desk.press("enter");
    let addition = MediaAddition::new(MediaSource::ServerPath("/mnt/new".into()));
    assert_eq!(desk.requests(), [&Request::AddMedia(dataset(1, Status::Ready).id, addition)]);
}

/// The same person, back after the program ended in whatever way.
fn again(desk: Desk) -> Desk {
    let kept = desk.kept;
    let mut desk = Desk::keeping(kept);
    desk.answer(Lane::Datasets, images(240, "READY"));
    desk.answer_page(page(0, 3));
    desk
}

#[test]
fn an_export_is_written_down_before_anything_else_and_followed_on() {
    let desk = exporting();
    let mut desk = again(desk);
    assert_eq!(desk.notice(), "1 job from the last run: 1 still running");
    let asked = desk.take(|lane| matches!(lane, Lane::Export(_))).1;
    assert_eq!(asked, Request::ExportStatus(dataset(1, Status::Ready).id, task("").id));
}

#[test]
fn an_export_whose_answer_nobody_saw_may_have_started() {
    let mut desk = Desk::with_clusters(3);
    desk.press("e enter");
    let desk = again(desk);
    let job = desk.app.jobs.iter().next().unwrap();
    assert!(matches!(job.state(), JobState::Uncertain(_)));
    assert_eq!(desk.notice(), "1 job from the last run: 1 may have started");
}

#[test]
fn the_journal_is_written_in_the_step_that_brings_the_id_and_first() {
    let mut desk = Desk::with_clusters(3);
    desk.press("e enter");
    let (ticket, _) = desk.take(|lane| *lane == Lane::StartJob(JOB));
    let answer =
        Event::Response(Response { ticket, result: Ok(Payload::Export(task("COMPLETED"))) });
    let effects = desk.app.update(desk.now, answer);
    let Some(Effect::Send(_, Request::SaveState(StateValue::Jobs { own: ours, .. }))) =
        effects.first()
    else {
        unreachable!("the first effect is the journal: {effects:?}");
    };
    assert_eq!(ours[0].state, SavedJobState::Completed(task("").id));
    assert!(matches!(&effects[1], Effect::Send(_, Request::Download { .. })));
}

#[test]
fn what_another_copy_follows_is_shown_and_not_polled() {
    let desk = exporting();
    let Some(StateValue::Jobs { own: ours, .. }) = desk.kept.get(&StateKey::Jobs).cloned() else {
        unreachable!("jobs are kept");
    };
    let other = StateValue::Jobs { own: vec![], other_instances: ours };
    let mut desk = Desk::keeping([(StateKey::Jobs, other)].into());
    assert_eq!(desk.app.jobs.iter().next().unwrap().label(), "elsewhere");
    desk.wait(60);
    assert!(!desk.requests().iter().any(|request| matches!(request, Request::ExportStatus(..))));
}

#[test]
fn a_forgotten_row_does_not_come_back() {
    let mut desk = exporting();
    desk.press("4 x D");
    assert!(again(desk).app.jobs.is_empty());
}

fn told<'a>(desk: &'a Desk) -> Vec<&'a JobAlert> {
    let tell = |effect: &'a Effect| match effect {
        Effect::Alert(tell) => Some(tell),
        _ => None,
    };
    desk.other.iter().filter_map(tell).collect()
}

#[test]
fn the_end_of_a_job_is_told_once() {
    let mut desk = exporting();
    desk.other.clear();
    desk.wait(2);
    let (ticket, _) = desk.take(|lane| *lane == Lane::Export(JOB));
    desk.respond(ticket, Ok(Payload::Export(task("FAILED"))));
    desk.wait(60);
    let words = SafeText::detail("export of set-1 failed");
    let rest = Activity { active_jobs: 0, percent: None };
    assert_eq!(
        told(&desk),
        [&JobAlert::Bell, &JobAlert::Desktop(words), &JobAlert::Activity(rest)]
    );
}

#[test]
fn who_looks_at_the_jobs_is_not_told_of_them() {
    for (attended, count) in [(true, 0), (false, 2)] {
        let mut desk = exporting();
        desk.press("4");
        desk.happen(Event::WindowFocus(attended));
        desk.wait(5);
        let (ticket, _) = desk.take(|lane| *lane == Lane::Export(JOB));
        desk.other.clear();
        desk.respond(ticket, Ok(Payload::Export(task("FAILED"))));
        let signals = told(&desk);
        let signals = signals.iter().filter(|tell| !matches!(tell, JobAlert::Activity(_)));
        assert_eq!(signals.count(), count, "attended: {attended}");
    }
}

#[test]
fn what_is_switched_off_is_not_told() {
    let mut desk = exporting();
    desk.app.setup.notify.clear();
    desk.other.clear();
    desk.wait(2);
    desk.answer(Lane::Export(JOB), Payload::Export(task("FAILED")));
    assert!(told(&desk).is_empty());
    assert!(desk.notice().contains("the export ended FAILED"), "a failure is never hidden");
}

#[test]
fn a_downloaded_archive_is_looked_into() {
    let mut desk = Desk::with_clusters(3);
    desk.press("e enter");
    desk.press("4 i");
    assert!(desk.notice().starts_with("there is no downloaded archive here"), "{}", desk.notice());
    desk.answer(Lane::StartJob(JOB), Payload::Export(task("COMPLETED")));
    let path = PathBuf::from("/downloads/set-1.zip");
    let archive = Archive { path: path.clone(), bytes: 10, entries: 4, images: 3 };
    desk.answer(Lane::Download(JOB), Payload::Downloaded(archive));
    desk.press("i");
    assert_eq!(desk.requests(), [&Request::Inspect(path)]);
    desk.fail(Lane::Inspect, FailureKind::Local);
    let Some(Overlay::ArchiveInspector(layer)) = &desk.app.overlay else {
        unreachable!("the layer went")
    };
    assert!(layer.inspection.failure().is_some(), "the reason stands where the facts would be");
}
