//! Jobs of every kind: followed, announced once, saved and removed.

use std::path::PathBuf;

use tessera::{
    app::{
        Activity, Effect, Event, JobAlert, JobState, Overlay,
        overlay::{AddMediaField, SourceCheck},
    },
    message::{JobId, Lane, Payload, Request, Response},
};
use tessera_model::{
    Archive, Dataset, FailureKind, MediaAddition, MediaSource, Preflight, SafeText, SavedJobState,
    StateKey, StateValue, Status,
};
use tessera_wire::acceptance::read_accepted;

use crate::support::desk::{Desk, dataset, page, task};

const JOB: JobId = JobId(0);

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
    let polled =
        |request: &&Request| matches!(request, Request::ExportStatus(_, id) if *id == task("").id);
    assert!(desk.requests().iter().any(polled));
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
    assert!(matches!(desk.app.jobs.get(JOB).unwrap().state(), JobState::Downloading(..)));
}

#[test]
fn only_ended_jobs_can_be_removed() {
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

/// The next poll of the datasets returns this.
fn poll_returns(desk: &mut Desk, count: u64, status: &str) {
    desk.wait(2);
    if !desk.requests().contains(&&Request::Datasets) {
        desk.wait(20);
    }
    desk.answer(Lane::Datasets, images(count, status));
}

/// Fills in the form for files, previews it and sends it.
fn add_media(desk: &mut Desk) {
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
fn an_addition_is_previewed_and_then_sent_unchanged() {
    let mut desk = Desk::with_clusters(3);
    desk.press("a");
    desk.type_text("'/data/my new' ~/x.jpg");
    desk.press("enter");
    assert_eq!(desk.requests(), [&Request::Preflight(files().source)]);
    desk.press("enter");
    assert_eq!(desk.requests().len(), 1, "a look is not polled for twice");
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
fn the_check_of_a_source_does_not_stay_with_another_one() {
    let mut desk = Desk::with_clusters(3);
    let check = |desk: &Desk| match &desk.app.overlay {
        Some(Overlay::AddMedia(form)) => form.check.clone(),
        _ => unreachable!("the form went"),
    };
    desk.press("a");
    desk.type_text("/files");
    desk.press("enter");
    let found = Preflight { images: 3, ..Preflight::default() };
    desk.answer(Lane::Preflight, Payload::Preflight(found.clone()));
    let files = MediaSource::Files(vec!["/files".into()]);
    assert_eq!(check(&desk), SourceCheck::Done(files, found));
    desk.press("up left tab");
    assert_eq!(check(&desk), SourceCheck::None);
    desk.type_text("s3://bucket/new/");
    desk.press("enter");
    let storage = MediaSource::Storage("s3://bucket/new/".into());
    assert_eq!(check(&desk), SourceCheck::NotPossible(storage));
    desk.type_text("2/");
    assert_eq!(check(&desk), SourceCheck::None);
    assert!(desk.requests().is_empty());
}

#[test]
fn only_the_selected_source_is_sent() {
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
    assert!(desk.requests().is_empty(), "the first Enter shows what will be added");
    desk.press("enter");
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
    add_media(&mut desk);
    desk.answer(Lane::Upload(JOB), Payload::Accepted(read_accepted(202).unwrap()));
    desk.answer(Lane::Datasets, images(240, "READY"));
    assert!(
        desk.app.jobs.get(JOB).unwrap().is_active(),
        "READY right after the start is not the end"
    );
    poll_returns(&mut desk, 241, "READ ONLY");
    assert_eq!(desk.app.jobs.get(JOB).unwrap().label(), "READ ONLY");
    poll_returns(&mut desk, 243, "PARTIAL INDEX");
    assert_eq!(desk.app.jobs.get(JOB).unwrap().label(), "PARTIAL INDEX");
    assert!(!desk.app.jobs.get(JOB).unwrap().is_active());
    assert_eq!(
        desk.notice(),
        "set-1: added 3 media items; the dataset is PARTIAL INDEX: R reindexes it"
    );
}

#[test]
fn a_reindex_is_confirmed_and_followed() {
    let mut desk = Desk::with_clusters(3);
    desk.press("R");
    assert!(desk.notice().contains("Add media first"), "{}", desk.notice());
    desk.wait(20);
    desk.answer(Lane::Datasets, images(240, "PARTIAL INDEX"));
    desk.press("R esc");
    assert!(!desk.requests().iter().any(|request| matches!(request, Request::Reindex(_))));
    desk.press("R enter");
    desk.answer(Lane::StartJob(JOB), Payload::Accepted(read_accepted(202).unwrap()));
    desk.answer(Lane::Datasets, images(240, "PARTIAL INDEX"));
    for status in ["READ ONLY", "INDEXING"] {
        poll_returns(&mut desk, 240, status);
        assert!(desk.app.jobs.get(JOB).unwrap().is_active(), "{status}");
    }
    poll_returns(&mut desk, 240, "READY");
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
fn the_dataset_status_shows_whether_a_lost_request_took_effect() {
    let mut desk = Desk::with_clusters(3);
    add_media(&mut desk);
    desk.fail(Lane::Upload(JOB), FailureKind::NoResponse);
    assert!(matches!(desk.app.jobs.get(JOB).unwrap().state(), JobState::Uncertain(_)));
    desk.answer(Lane::Datasets, images(240, "READ ONLY"));
    assert_eq!(desk.app.jobs.get(JOB).unwrap().state(), &JobState::DatasetRunning);
    assert!(!desk.requests().iter().any(|request| matches!(request, Request::AddMedia(..))));
}

#[test]
fn an_addition_to_a_busy_dataset_is_queued() {
    let mut desk = Desk::new();
    desk.answer(Lane::Datasets, images(240, "INDEXING"));
    desk.answer_page(page(0, 3));
    add_media(&mut desk);
    assert_eq!(desk.app.jobs.get(JOB).unwrap().label(), "queued here");
    poll_returns(&mut desk, 240, "READ ONLY");
    assert!(!desk.requests().iter().any(|request| matches!(request, Request::AddMedia(..))));
    poll_returns(&mut desk, 240, "READY");
    desk.take(|lane| *lane == Lane::Upload(JOB));
}

#[test]
fn a_rejected_addition_reopens_its_form() {
    for kind in [FailureKind::Invalid, FailureKind::Rejected] {
        let mut desk = Desk::with_clusters(3);
        add_media(&mut desk);
        desk.fail(Lane::Upload(JOB), kind);
        let Some(Overlay::AddMedia(form)) = &desk.app.overlay else { unreachable!("no form") };
        assert_eq!(form.location().value(), "'/data/my new' ~/x.jpg");
        assert!(form.error.as_ref().is_some_and(|(_, reason)| reason.as_str() == "it broke"));
    }
}

#[test]
fn quitting_before_media_are_sent_takes_a_second_key() {
    let mut desk = Desk::with_clusters(3);
    add_media(&mut desk);
    add_media(&mut desk);
    desk.press("q");
    assert!(!desk.other.contains(&Effect::Quit));
    assert!(
        desk.notice().contains("with the program before all media are sent"),
        "{}",
        desk.notice()
    );
    desk.press("q");
    assert!(desk.other.contains(&Effect::Quit));
}

#[test]
fn on_premises_deployments_accept_only_server_paths() {
    let mut desk = Desk::with_clusters(3);
    desk.app.setup.on_premises = true;
    desk.press("a");
    desk.type_text("/mnt/new");
    desk.press("enter enter");
    let addition = MediaAddition::new(MediaSource::ServerPath("/mnt/new".into()));
    assert_eq!(desk.requests(), [&Request::AddMedia(dataset(1, Status::Ready).id, addition)]);
}

/// The program after a restart.
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
    let job = desk.app.jobs.iter().next().unwrap();
    assert!(matches!(job.state(), JobState::Uncertain(_)));
    assert_eq!(desk.notice(), "1 job from the last run: 1 may have started");
}

#[test]
fn the_id_of_an_export_is_saved_before_any_other_effect() {
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
fn a_job_of_another_instance_is_shown_and_not_polled() {
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
fn a_removed_job_is_not_restored() {
    let mut desk = exporting();
    desk.press("4 x D");
    assert!(restarted(desk).app.jobs.is_empty());
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
    desk.app.setup.notify.clear();
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
    let Some(Overlay::ArchiveInspector(layer)) = &desk.app.overlay else {
        unreachable!("the layer went")
    };
    assert!(layer.inspection.failure().is_some(), "the reason stands where the facts would be");
}
