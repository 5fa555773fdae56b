//! Tests exports from the request to the download, with every failure in between.

use std::path::PathBuf;

use tessera_config::{DeploymentKind, input::Action};
use tessera_interface::{
    app::{
        Event, JobState,
        availability::unavailable_reason,
        jobs::rows::job_summary,
        overlay::export::{ExportField, ExportForm, TargetCheck},
    },
    message::{JobId, Lane, Payload, Request, RequestProgress, WorkerEvent},
};
use tessera_model::{
    Archive, ArchiveName, Dataset, ExportFormat, ExportPart, ExportPreview, ExportSpec, ExportTask,
    ExportTaskId, FailureKind, Omission, SafeText, Status,
};
use uuid::Uuid;

use crate::support::app_harness::{AppHarness, dataset, page, task};

const JOB: JobId = JobId(0);
const START: Lane = Lane::StartJob(JOB);

fn started() -> AppHarness {
    AppHarness::with_clusters(3).pressing("e enter")
}

fn state(harness: &AppHarness) -> &JobState {
    harness.app.jobs().get(JOB).unwrap().state()
}

#[test]
fn the_form_sends_exactly_what_it_shows_once() {
    let harness = started();
    let spec = ExportSpec {
        file_name: ArchiveName::new("set-1.zip"),
        format: ExportFormat::Parquet,
        include_images: true,
    };
    assert_eq!(harness.requests(), [&Request::StartExport(dataset(1, Status::Ready).id, spec)]);
}

#[test]
fn an_archive_that_lacks_pictures_says_how_many() {
    let mut harness = started();
    let message = Some(SafeText::detail("2 pictures could not be read and were omitted: a, b"));
    harness.answer(START, Payload::Export(ExportTask { message, ..task("COMPLETED") }));
    assert!(
        harness.notice().contains("set-1.zip: 2 pictures could not be read"),
        "{}",
        harness.notice()
    );
    let path = PathBuf::from("/downloads/set-1.zip");
    let archive = Archive { path, bytes: 10, entries: 4, images: 1 };
    harness.answer(Lane::Download(JOB), Payload::Downloaded(archive));
    let summary = job_summary(harness.app.jobs().get(JOB).unwrap());
    assert!(summary.contains("verified · 2 pictures could not be read"), "{summary}");
}

#[test]
fn the_form_stays_open_if_the_archive_cannot_be_saved() {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("e tab ctrl-u");
    harness.type_text("/nowhere");
    harness.press("enter");
    let target = PathBuf::from("/nowhere/set-1.zip");
    assert_eq!(harness.requests(), [&Request::CheckTarget(target)], "nothing is exported yet");
    harness.fail(Lane::CheckTarget, FailureKind::Local);
    let Some(form) = harness.app.dialog::<ExportForm>() else { panic!("the form is open") };
    let TargetCheck::Failed(reason) = &form.check else { panic!("{form:?}") };
    assert!(reason.as_str().contains("it broke"), "{reason}");
    assert!(harness.requests().is_empty());
    // Another key withdraws a check.
    harness.press("enter x");
    harness.answer(Lane::CheckTarget, Payload::Done);
    assert!(harness.app.dialog::<ExportForm>().is_some() && harness.requests().is_empty());
    harness.press("enter");
    harness.answer(Lane::CheckTarget, Payload::Done);
    assert!(matches!(harness.requests()[..], [Request::StartExport(..)]));
    assert!(harness.app.overlay().is_none());
}

#[test]
fn the_form_gives_a_safe_name() {
    let mut harness = AppHarness::new();
    let named = Dataset { name: SafeText::name("../my photos"), ..dataset(1, Status::Ready) };
    harness.answer(Lane::Datasets, Payload::Datasets(vec![named], 0));
    harness.answer_page(page(0, 1));
    harness.press("e tab tab space up");
    let Some(form) = harness.app.dialog::<ExportForm>() else { panic!("the form is open") };
    assert_eq!(form.field, ExportField::Folder);
    harness.press("enter");
    let spec = ExportSpec {
        file_name: ArchiveName::new("my photos.zip"),
        format: ExportFormat::Json,
        include_images: true,
    };
    assert_eq!(harness.requests(), [&Request::StartExport(dataset(1, Status::Ready).id, spec)]);
}

#[test]
fn the_form_of_a_local_folder_shows_what_a_format_leaves_out() {
    let mut harness = AppHarness::new().opening_folder(vec![dataset(1, Status::Ready)]);
    harness.press("e tab tab space");
    let id = dataset(1, Status::Ready).id;
    let asked = Request::ExportPreview {
        dataset: id,
        format: ExportFormat::Coco,
        images: true,
        selection: None,
    };
    assert_eq!(harness.requests(), [&asked]);
    let omissions =
        |harness: &AppHarness| harness.app.dialog::<ExportForm>().unwrap().omissions().join("\n");
    assert_eq!(omissions(&harness), "checking what this format omits …");
    let text = SafeText::detail("masks omitted beside polygons: 2");
    let preview = ExportPreview { media_count: 3, omissions: vec![Omission { count: 2, text }] };
    harness.answer(
        Lane::ExportPreview(ExportFormat::Coco, true, ExportPart::Selection),
        Payload::ExportPreview(preview),
    );
    assert_eq!(omissions(&harness), "masks omitted beside polygons: 2");
    assert!(harness.requests().is_empty(), "a preview is requested once");
    harness.press("space");
    harness.fail(
        Lane::ExportPreview(ExportFormat::Yolo, true, ExportPart::Selection),
        FailureKind::NoResponse,
    );
    assert!(harness.requests().is_empty(), "a failed preview is not requested again");
    harness.press("left left tab space");
    let Some(form) = harness.app.dialog::<ExportForm>() else { panic!("the form is open") };
    assert_eq!((form.format, form.include_images), (ExportFormat::Parquet, false));
    harness.press("enter");
    let mut requests = harness.requests().into_iter();
    assert!(requests.any(|request| matches!(request, Request::StartExport(..))));
}

#[test]
fn other_services_are_not_asked_for_formats_that_they_do_not_have() {
    let mut harness = AppHarness::new();
    harness.app.setup_mut().settings.export.format = ExportFormat::Voc;
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    harness.answer_page(page(0, 3));
    harness.press("e enter");
    assert_eq!(harness.notice(), "only local services write voc; choose json or parquet");
    assert!(harness.requests().is_empty());
    harness.press("tab tab space enter");
    assert!(matches!(harness.requests()[..], [Request::StartExport(..)]));
}

#[test]
fn an_export_is_polled_and_downloaded() {
    let mut harness = started();
    harness.answer(START, Payload::Export(task("INIT")));
    assert_eq!(harness.app.jobs().get(JOB).unwrap().label(), "INIT");
    harness.wait(1);
    harness.answer(Lane::Export(JOB), Payload::Export(task("IN_PROGRESS")));
    harness.wait(1);
    harness.answer(Lane::Export(JOB), Payload::Export(task("COMPLETED")));
    let (ticket, request) = harness.take(|lane| *lane == Lane::Download(JOB));
    let target = PathBuf::from("/downloads/set-1.zip");
    let id = dataset(1, Status::Ready).id;
    assert_eq!(
        request,
        Request::Download { dataset: id, task: task("").id, target: target.clone() }
    );
    harness.happen(Event::Worker(WorkerEvent::Progress(RequestProgress {
        ticket: ticket.clone(),
        done: 5,
        total: Some(10),
    })));
    assert_eq!(harness.app.jobs().get(JOB).unwrap().fraction_done(), Some(0.5));
    let archive = Archive { path: target, bytes: 10, entries: 4, images: 3 };
    harness.respond(ticket, Ok(Payload::Downloaded(archive.clone())));
    assert_eq!(state(&harness), &JobState::Downloaded(archive, task("").id));
    assert_eq!(harness.notice(), "/downloads/set-1.zip: 4 entries verified, including 3 images");
    let reason = unavailable_reason(&harness.app, Action::Download).unwrap();
    let expected =
        "all finished exports were downloaded, the last one to /downloads/set-1.zip; e starts one";
    assert_eq!(reason, expected);
}

#[test]
fn completed_without_a_link_is_still_running() {
    let mut harness = started();
    harness.answer(START, Payload::Export(ExportTask { download: None, ..task("COMPLETED") }));
    assert!(matches!(state(&harness), JobState::ExportRunning(..)));
    harness.wait(1);
    assert!(matches!(harness.requests().as_slice(), [Request::ExportStatus(..)]));
}

#[test]
fn a_start_without_a_response_is_not_sent_again() {
    let mut harness = started();
    harness.fail(START, FailureKind::NoResponse);
    assert!(matches!(state(&harness), JobState::Uncertain(_)));
    for _ in 0..20 {
        harness.wait(10);
    }
    assert!(!harness.requests().iter().any(|request| matches!(request, Request::StartExport(..))));
}

#[test]
fn a_conflict_is_shown_and_reloads_the_datasets() {
    let mut harness = started();
    harness.fail(START, FailureKind::Conflict);
    assert!(matches!(state(&harness), JobState::Failed(..)));
    assert!(harness.requests().contains(&&Request::Datasets));
}

#[test]
fn failed_and_rejected_exports_are_no_longer_polled() {
    for word in ["FAILED", "REJECTED", "CANCELLED"] {
        let mut harness = started();
        harness.answer(START, Payload::Export(task(word)));
        assert!(matches!(state(&harness), JobState::Failed(..)), "{word}");
        let job = harness.app.jobs().get(JOB).unwrap();
        assert_eq!((job.label(), job.state().export_task()), (word, Some(task("").id)));
        harness.wait(14);
        assert!(harness.requests().is_empty(), "{word}");
    }
}

#[test]
fn a_status_that_cannot_be_read_does_not_end_the_job() {
    for kind in [FailureKind::Unexpected, FailureKind::Rejected, FailureKind::NotFound] {
        let mut harness = started();
        harness.answer(START, Payload::Export(task("IN_PROGRESS")));
        harness.wait(1);
        harness.fail(Lane::Export(JOB), kind);
        assert_eq!(harness.app.jobs().get(JOB).unwrap().label(), "IN_PROGRESS", "{kind:?}");
        harness.wait(30);
        harness.answer(Lane::Export(JOB), Payload::Export(task("COMPLETED")));
        assert!(matches!(state(&harness), JobState::Downloading(..)), "{kind:?}");
    }
}

#[test]
fn an_export_that_the_service_does_not_know_any_more_ends_after_several_polls() {
    let mut harness = started();
    harness.answer(START, Payload::Export(task("IN_PROGRESS")));
    // Only failures of this kind count, and only those in a row.
    let other = [FailureKind::Server; 6].into_iter().chain([FailureKind::NotFound; 5]);
    let unknown = [FailureKind::NotFound; 6];
    for kind in other.chain([FailureKind::Unreachable]).chain(unknown) {
        assert!(matches!(state(&harness), JobState::ExportRunning(..)), "{kind:?}");
        harness.wait(60);
        harness.fail(Lane::Export(JOB), kind);
    }
    assert!(matches!(state(&harness), JobState::Failed(..)));
    assert_eq!(state(&harness).export_task(), Some(task("").id));
    harness.wait(60);
    assert!(harness.open.iter().all(|(ticket, _)| ticket.lane != Lane::Export(JOB)));
}

#[test]
fn an_outage_does_not_end_the_job() {
    let mut harness = started();
    harness.answer(START, Payload::Export(task("INIT")));
    for seconds in [1, 2, 4, 8] {
        harness.wait(seconds);
        if harness.open.iter().any(|(ticket, _)| ticket.lane == Lane::Export(JOB)) {
            harness.fail(Lane::Export(JOB), FailureKind::Unreachable);
        }
        harness.open.clear();
        assert!(
            matches!(state(&harness), JobState::ExportRunning(_, seen) if seen.value().is_some())
        );
    }
}

#[test]
fn a_failed_download_can_be_retried() {
    let mut harness = started();
    harness.answer(START, Payload::Export(task("COMPLETED")));
    harness.fail(Lane::Download(JOB), FailureKind::Local);
    assert!(matches!(state(&harness), JobState::ExportReady(_)));
    harness.press("esc d");
    assert!(matches!(state(&harness), JobState::Downloading(..)));
}

#[test]
fn export_is_unavailable_with_a_reason_outside_ready() {
    let mut harness = AppHarness::new();
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Indexing)], 0));
    harness.answer_page(page(0, 1));
    harness.press("e");
    assert!(harness.app.overlay().is_none());
    assert_eq!(harness.notice(), "Export: not available while INDEXING. Wait until it is indexed.");
}

#[test]
fn stop_watching_does_not_cancel_at_the_service() {
    let mut harness = started();
    harness.answer(START, Payload::Export(task("INIT")));
    harness.press("4 x");
    assert_eq!(state(&harness), &JobState::Unwatched(Some(task("").id)));
    harness.wait(10);
    assert!(!harness.requests().iter().any(|request| matches!(request, Request::ExportStatus(..))));
}

#[test]
fn a_local_service_cancels_an_export() {
    let mut harness = started();
    let reason = |harness: &AppHarness| unavailable_reason(&harness.app, Action::CancelExport);
    harness.answer(START, Payload::Export(task("IN_PROGRESS")));
    harness.press("4");
    assert!(reason(&harness).unwrap().contains("x stops watching it"));
    harness.app.setup_mut().deployment = DeploymentKind::Local;
    harness.press("X");
    let known = dataset(1, Status::Ready).id;
    assert!(harness.requests().contains(&&Request::CancelExport(known, task("").id)));
    let message = Some(SafeText::detail("the export was cancelled"));
    let cancelled = || Payload::Export(ExportTask { message: message.clone(), ..task("FAILED") });
    let cancel = Lane::CancelExport(JOB);
    harness.answer(cancel.clone(), cancelled());
    assert!(matches!(state(&harness), JobState::Failed(..)));
    assert!(harness.notice().contains("the export was cancelled"), "{}", harness.notice());
    assert_eq!(reason(&harness).unwrap(), "no running export is selected");
}

#[test]
fn a_cancellation_that_fails_or_comes_late_leaves_the_export_as_it_is() {
    let running = || {
        let mut harness = started();
        harness.answer(START, Payload::Export(task("IN_PROGRESS")));
        harness.app.setup_mut().deployment = DeploymentKind::Local;
        harness.press("4 X");
        harness
    };
    let mut harness = running();
    harness.fail(Lane::CancelExport(JOB), FailureKind::Conflict);
    assert!(harness.notice().contains("it broke"), "{}", harness.notice());
    assert!(matches!(state(&harness), JobState::ExportRunning(..)));
    // A poll that is answered after the cancellation finds no export to follow.
    let mut harness = running();
    harness.wait(2);
    harness.answer(Lane::CancelExport(JOB), Payload::Export(task("FAILED")));
    assert!(harness.cancelled.contains(&Lane::Export(JOB)));
    let mut harness = running();
    harness.wait(2);
    harness.answer(Lane::Export(JOB), Payload::Export(task("FAILED")));
    harness.answer(Lane::CancelExport(JOB), Payload::Export(task("FAILED")));
    assert!(matches!(state(&harness), JobState::Failed(..)));
    assert!(!harness.notice().contains("internal error"), "{}", harness.notice());
}

#[test]
fn two_exports_do_not_mix() {
    let mut harness = started();
    harness.press("e enter");
    let other = ExportTask { id: ExportTaskId(Uuid::from_u128(10)), ..task("INIT") };
    harness.answer(Lane::StartJob(JobId(1)), Payload::Export(other));
    harness.answer(START, Payload::Export(task("FAILED")));
    assert!(matches!(state(&harness), JobState::Failed(..)));
    assert!(matches!(
        harness.app.jobs().get(JobId(1)).unwrap().state(),
        JobState::ExportRunning(..)
    ));
}
