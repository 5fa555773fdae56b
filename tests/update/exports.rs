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

use crate::support::desk::{Desk, dataset, page, task};

const JOB: JobId = JobId(0);
const START: Lane = Lane::StartJob(JOB);

fn started() -> Desk {
    Desk::with_clusters(3).pressing("e enter")
}

fn state(desk: &Desk) -> &JobState {
    desk.app.jobs().get(JOB).unwrap().state()
}

#[test]
fn the_form_sends_exactly_what_it_shows_once() {
    let desk = started();
    let spec = ExportSpec {
        file_name: ArchiveName::new("set-1.zip"),
        format: ExportFormat::Parquet,
        include_images: true,
    };
    assert_eq!(desk.requests(), [&Request::StartExport(dataset(1, Status::Ready).id, spec)]);
}

#[test]
fn an_archive_that_lacks_pictures_says_how_many() {
    let mut desk = started();
    let message = Some(SafeText::detail("2 pictures could not be read and were omitted: a, b"));
    desk.answer(START, Payload::Export(ExportTask { message, ..task("COMPLETED") }));
    assert!(desk.notice().contains("set-1.zip: 2 pictures could not be read"), "{}", desk.notice());
    let path = PathBuf::from("/downloads/set-1.zip");
    let archive = Archive { path, bytes: 10, entries: 4, images: 1 };
    desk.answer(Lane::Download(JOB), Payload::Downloaded(archive));
    let summary = job_summary(desk.app.jobs().get(JOB).unwrap());
    assert!(summary.contains("verified · 2 pictures could not be read"), "{summary}");
}

#[test]
fn the_form_stays_open_if_the_archive_cannot_be_saved() {
    let mut desk = Desk::with_clusters(3);
    desk.press("e tab ctrl-u");
    desk.type_text("/nowhere");
    desk.press("enter");
    let target = PathBuf::from("/nowhere/set-1.zip");
    assert_eq!(desk.requests(), [&Request::CheckTarget(target)], "nothing is exported yet");
    desk.fail(Lane::CheckTarget, FailureKind::Local);
    let Some(form) = desk.app.dialog::<ExportForm>() else { panic!("the form is open") };
    let TargetCheck::Failed(reason) = &form.check else { panic!("{form:?}") };
    assert!(reason.as_str().contains("it broke"), "{reason}");
    assert!(desk.requests().is_empty());
    // Another key withdraws a check.
    desk.press("enter x");
    desk.answer(Lane::CheckTarget, Payload::Done);
    assert!(desk.app.dialog::<ExportForm>().is_some() && desk.requests().is_empty());
    desk.press("enter");
    desk.answer(Lane::CheckTarget, Payload::Done);
    assert!(matches!(desk.requests()[..], [Request::StartExport(..)]));
    assert!(desk.app.overlay().is_none());
}

#[test]
fn the_form_gives_a_safe_name() {
    let mut desk = Desk::new();
    let named = Dataset { name: SafeText::name("../my photos"), ..dataset(1, Status::Ready) };
    desk.answer(Lane::Datasets, Payload::Datasets(vec![named], 0));
    desk.answer_page(page(0, 1));
    desk.press("e tab tab space up");
    let Some(form) = desk.app.dialog::<ExportForm>() else { panic!("the form is open") };
    assert_eq!(form.field, ExportField::Folder);
    desk.press("enter");
    let spec = ExportSpec {
        file_name: ArchiveName::new("my photos.zip"),
        format: ExportFormat::Json,
        include_images: true,
    };
    assert_eq!(desk.requests(), [&Request::StartExport(dataset(1, Status::Ready).id, spec)]);
}

#[test]
fn the_form_of_a_local_folder_shows_what_a_format_leaves_out() {
    let mut desk = Desk::new().opening_folder(vec![dataset(1, Status::Ready)]);
    desk.press("e tab tab space");
    let id = dataset(1, Status::Ready).id;
    let asked = Request::ExportPreview {
        dataset: id,
        format: ExportFormat::Coco,
        images: true,
        selection: None,
    };
    assert_eq!(desk.requests(), [&asked]);
    let omissions = |desk: &Desk| desk.app.dialog::<ExportForm>().unwrap().omissions().join("\n");
    assert_eq!(omissions(&desk), "checking what this format omits …");
    let text = SafeText::detail("masks omitted beside polygons: 2");
    let preview = ExportPreview { media_count: 3, omissions: vec![Omission { count: 2, text }] };
    desk.answer(
        Lane::ExportPreview(ExportFormat::Coco, true, ExportPart::Selection),
        Payload::ExportPreview(preview),
    );
    assert_eq!(omissions(&desk), "masks omitted beside polygons: 2");
    assert!(desk.requests().is_empty(), "a preview is requested once");
    desk.press("space");
    desk.fail(
        Lane::ExportPreview(ExportFormat::Yolo, true, ExportPart::Selection),
        FailureKind::NoResponse,
    );
    assert!(desk.requests().is_empty(), "a failed preview is not requested again");
    desk.press("left left tab space");
    let Some(form) = desk.app.dialog::<ExportForm>() else { panic!("the form is open") };
    assert_eq!((form.format, form.include_images), (ExportFormat::Parquet, false));
    desk.press("enter");
    let mut requests = desk.requests().into_iter();
    assert!(requests.any(|request| matches!(request, Request::StartExport(..))));
}

#[test]
fn other_services_are_not_asked_for_formats_that_they_do_not_have() {
    let mut desk = Desk::new();
    desk.app.setup_mut().settings.export.format = ExportFormat::Voc;
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    desk.answer_page(page(0, 3));
    desk.press("e enter");
    assert_eq!(desk.notice(), "only local services write voc; choose json or parquet");
    assert!(desk.requests().is_empty());
    desk.press("tab tab space enter");
    assert!(matches!(desk.requests()[..], [Request::StartExport(..)]));
}

#[test]
fn an_export_is_polled_and_downloaded() {
    let mut desk = started();
    desk.answer(START, Payload::Export(task("INIT")));
    assert_eq!(desk.app.jobs().get(JOB).unwrap().label(), "INIT");
    desk.wait(1);
    desk.answer(Lane::Export(JOB), Payload::Export(task("IN_PROGRESS")));
    desk.wait(1);
    desk.answer(Lane::Export(JOB), Payload::Export(task("COMPLETED")));
    let (ticket, request) = desk.take(|lane| *lane == Lane::Download(JOB));
    let target = PathBuf::from("/downloads/set-1.zip");
    let id = dataset(1, Status::Ready).id;
    assert_eq!(
        request,
        Request::Download { dataset: id, task: task("").id, target: target.clone() }
    );
    desk.happen(Event::Worker(WorkerEvent::Progress(RequestProgress {
        ticket: ticket.clone(),
        done: 5,
        total: Some(10),
    })));
    assert_eq!(desk.app.jobs().get(JOB).unwrap().fraction_done(), Some(0.5));
    let archive = Archive { path: target, bytes: 10, entries: 4, images: 3 };
    desk.respond(ticket, Ok(Payload::Downloaded(archive.clone())));
    assert_eq!(state(&desk), &JobState::Downloaded(archive, task("").id));
    assert_eq!(desk.notice(), "/downloads/set-1.zip: 4 entries verified, including 3 images");
    let reason = unavailable_reason(&desk.app, Action::Download).unwrap();
    let expected =
        "all finished exports were downloaded, the last one to /downloads/set-1.zip; e starts one";
    assert_eq!(reason, expected);
}

#[test]
fn completed_without_a_link_is_still_running() {
    let mut desk = started();
    desk.answer(START, Payload::Export(ExportTask { download: None, ..task("COMPLETED") }));
    assert!(matches!(state(&desk), JobState::ExportRunning(..)));
    desk.wait(1);
    assert!(matches!(desk.requests().as_slice(), [Request::ExportStatus(..)]));
}

#[test]
fn a_start_without_a_response_is_not_sent_again() {
    let mut desk = started();
    desk.fail(START, FailureKind::NoResponse);
    assert!(matches!(state(&desk), JobState::Uncertain(_)));
    for _ in 0..20 {
        desk.wait(10);
    }
    assert!(!desk.requests().iter().any(|request| matches!(request, Request::StartExport(..))));
}

#[test]
fn a_conflict_is_shown_and_reloads_the_datasets() {
    let mut desk = started();
    desk.fail(START, FailureKind::Conflict);
    assert!(matches!(state(&desk), JobState::Failed(..)));
    assert!(desk.requests().contains(&&Request::Datasets));
}

#[test]
fn failed_and_rejected_exports_are_no_longer_polled() {
    for word in ["FAILED", "REJECTED", "CANCELLED"] {
        let mut desk = started();
        desk.answer(START, Payload::Export(task(word)));
        assert!(matches!(state(&desk), JobState::Failed(..)), "{word}");
        let job = desk.app.jobs().get(JOB).unwrap();
        assert_eq!((job.label(), job.state().export_task()), (word, Some(task("").id)));
        desk.wait(14);
        assert!(desk.requests().is_empty(), "{word}");
    }
}

#[test]
fn a_status_that_cannot_be_read_does_not_end_the_job() {
    for kind in [FailureKind::Unexpected, FailureKind::Rejected, FailureKind::NotFound] {
        let mut desk = started();
        desk.answer(START, Payload::Export(task("IN_PROGRESS")));
        desk.wait(1);
        desk.fail(Lane::Export(JOB), kind);
        assert_eq!(desk.app.jobs().get(JOB).unwrap().label(), "IN_PROGRESS", "{kind:?}");
        desk.wait(30);
        desk.answer(Lane::Export(JOB), Payload::Export(task("COMPLETED")));
        assert!(matches!(state(&desk), JobState::Downloading(..)), "{kind:?}");
    }
}

#[test]
fn an_export_that_the_service_does_not_know_any_more_ends_after_several_polls() {
    let mut desk = started();
    desk.answer(START, Payload::Export(task("IN_PROGRESS")));
    // Only failures of this kind count, and only those in a row.
    let other = [FailureKind::Server; 6].into_iter().chain([FailureKind::NotFound; 5]);
    let unknown = [FailureKind::NotFound; 6];
    for kind in other.chain([FailureKind::Unreachable]).chain(unknown) {
        assert!(matches!(state(&desk), JobState::ExportRunning(..)), "{kind:?}");
        desk.wait(60);
        desk.fail(Lane::Export(JOB), kind);
    }
    assert!(matches!(state(&desk), JobState::Failed(..)));
    assert_eq!(state(&desk).export_task(), Some(task("").id));
    desk.wait(60);
    assert!(desk.open.iter().all(|(ticket, _)| ticket.lane != Lane::Export(JOB)));
}

#[test]
fn an_outage_does_not_end_the_job() {
    let mut desk = started();
    desk.answer(START, Payload::Export(task("INIT")));
    for seconds in [1, 2, 4, 8] {
        desk.wait(seconds);
        if desk.open.iter().any(|(ticket, _)| ticket.lane == Lane::Export(JOB)) {
            desk.fail(Lane::Export(JOB), FailureKind::Unreachable);
        }
        desk.open.clear();
        assert!(matches!(state(&desk), JobState::ExportRunning(_, seen) if seen.value().is_some()));
    }
}

#[test]
fn a_failed_download_can_be_retried() {
    let mut desk = started();
    desk.answer(START, Payload::Export(task("COMPLETED")));
    desk.fail(Lane::Download(JOB), FailureKind::Local);
    assert!(matches!(state(&desk), JobState::ExportReady(_)));
    desk.press("esc d");
    assert!(matches!(state(&desk), JobState::Downloading(..)));
}

#[test]
fn export_is_unavailable_with_a_reason_outside_ready() {
    let mut desk = Desk::new();
    desk.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Indexing)], 0));
    desk.answer_page(page(0, 1));
    desk.press("e");
    assert!(desk.app.overlay().is_none());
    assert_eq!(desk.notice(), "Export: not available while INDEXING. Wait until it is indexed.");
}

#[test]
fn stop_watching_does_not_cancel_at_the_service() {
    let mut desk = started();
    desk.answer(START, Payload::Export(task("INIT")));
    desk.press("4 x");
    assert_eq!(state(&desk), &JobState::Unwatched(Some(task("").id)));
    desk.wait(10);
    assert!(!desk.requests().iter().any(|request| matches!(request, Request::ExportStatus(..))));
}

#[test]
fn a_local_service_cancels_an_export() {
    let mut desk = started();
    let reason = |desk: &Desk| unavailable_reason(&desk.app, Action::CancelExport);
    desk.answer(START, Payload::Export(task("IN_PROGRESS")));
    desk.press("4");
    assert!(reason(&desk).unwrap().contains("x stops watching it"));
    desk.app.setup_mut().deployment = DeploymentKind::Local;
    desk.press("X");
    let known = dataset(1, Status::Ready).id;
    assert!(desk.requests().contains(&&Request::CancelExport(known, task("").id)));
    let message = Some(SafeText::detail("the export was cancelled"));
    let cancelled = || Payload::Export(ExportTask { message: message.clone(), ..task("FAILED") });
    let cancel = Lane::CancelExport(JOB);
    desk.answer(cancel.clone(), cancelled());
    assert!(matches!(state(&desk), JobState::Failed(..)));
    assert!(desk.notice().contains("the export was cancelled"), "{}", desk.notice());
    assert_eq!(reason(&desk).unwrap(), "no running export is selected");
}

#[test]
fn a_cancellation_that_fails_or_comes_late_leaves_the_export_as_it_is() {
    let running = || {
        let mut desk = started();
        desk.answer(START, Payload::Export(task("IN_PROGRESS")));
        desk.app.setup_mut().deployment = DeploymentKind::Local;
        desk.press("4 X");
        desk
    };
    let mut desk = running();
    desk.fail(Lane::CancelExport(JOB), FailureKind::Conflict);
    assert!(desk.notice().contains("it broke"), "{}", desk.notice());
    assert!(matches!(state(&desk), JobState::ExportRunning(..)));
    // A poll that is answered after the cancellation finds no export to follow.
    let mut desk = running();
    desk.wait(2);
    desk.answer(Lane::CancelExport(JOB), Payload::Export(task("FAILED")));
    assert!(desk.cancelled.contains(&Lane::Export(JOB)));
    let mut desk = running();
    desk.wait(2);
    desk.answer(Lane::Export(JOB), Payload::Export(task("FAILED")));
    desk.answer(Lane::CancelExport(JOB), Payload::Export(task("FAILED")));
    assert!(matches!(state(&desk), JobState::Failed(..)));
    assert!(!desk.notice().contains("internal error"), "{}", desk.notice());
}

#[test]
fn two_exports_do_not_mix() {
    let mut desk = started();
    desk.press("e enter");
    let other = ExportTask { id: ExportTaskId(Uuid::from_u128(10)), ..task("INIT") };
    desk.answer(Lane::StartJob(JobId(1)), Payload::Export(other));
    desk.answer(START, Payload::Export(task("FAILED")));
    assert!(matches!(state(&desk), JobState::Failed(..)));
    assert!(matches!(desk.app.jobs().get(JobId(1)).unwrap().state(), JobState::ExportRunning(..)));
}
