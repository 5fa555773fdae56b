use std::path::Path;

use uuid::Uuid;

use tessera_model::{job::*, *};

const TASK: ExportTaskId = ExportTaskId(Uuid::from_u128(7));

fn export() -> JobKind {
    JobKind::Export(ExportJob {
        spec: ExportSpec {
            file_name: ArchiveName::new("vans"),
            format: ExportFormat::Json,
            include_images: false,
        },
        selection: None,
        part: ExportPart::default(),
        folder: "/home/me/exports".into(),
        auto_download: true,
        shortfall: None,
    })
}

fn archive() -> Archive {
    Archive { path: "/home/me/exports/vans.zip".into(), bytes: 9, entries: 2, images: 1 }
}

fn downloaded() -> SavedJobState {
    SavedJobState::Downloaded { archive: archive(), export_task_id: TASK }
}

fn failed(export: Option<FailedExport>) -> SavedJobState {
    SavedJobState::Failed { reason: SafeText::detail("disk full"), export }
}

#[test]
fn each_job_is_named_and_an_archive_goes_into_its_folder() {
    let text = SafeText::default();
    let addition = AdditionJob { source: text.clone(), cli_options: text, auto_reindex: false };
    assert_eq!(JobKind::AddMedia(addition).label(), "add media");
    assert_eq!(JobKind::Reindex.label(), "reindex");
    assert_eq!(export().label(), "export");
    let JobKind::Export(job) = export() else { return };
    assert_eq!(job.target(), Path::new("/home/me/exports/vans.zip"));
}

/// Each state with its export, whether it is over, and whether it runs without the user.
fn states() -> Vec<(SavedJobState, Option<ExportTaskId>, bool, bool)> {
    let text = || SafeText::detail("why");
    let known = Some(TASK);
    vec![
        (SavedJobState::Queued, None, false, true),
        (SavedJobState::Sent, None, false, true),
        (SavedJobState::Running { export_task_id: TASK }, known, false, true),
        (SavedJobState::Accepted, None, false, true),
        (SavedJobState::Completed { export_task_id: TASK }, known, false, false),
        (downloaded(), known, true, false),
        (SavedJobState::Done { status_new: text() }, None, true, false),
        (failed(None), None, true, false),
        (failed(Some(FailedExport { id: TASK, status: text() })), known, true, false),
        (SavedJobState::Uncertain { reason: text() }, None, true, false),
        (SavedJobState::Unwatched { export_task_id: known }, known, false, false),
        (SavedJobState::Unwatched { export_task_id: None }, None, false, false),
    ]
}

#[test]
fn a_job_is_running_over_or_waits_for_the_user() {
    for (state, export, over, running) in states() {
        assert_eq!(state.export(), export, "{state:?}");
        assert_eq!((state.is_over(), state.is_running()), (over, running), "{state:?}");
    }
}

fn job(second: u64, state: SavedJobState) -> JobRecord {
    JobRecord {
        started_at: Timestamp::from_secs(second),
        ended_at: None,
        dataset: DatasetId(Uuid::nil()),
        dataset_name: SafeText::name("demo"),
        kind: export(),
        state,
    }
}

fn done() -> SavedJobState {
    SavedJobState::Done { status_new: SafeText::name("READY") }
}

#[test]
fn the_oldest_successful_jobs_are_dropped_beyond_200() {
    let first = |mut records: Vec<JobRecord>| {
        drop_oldest_finished(&mut records);
        (records.len(), records[0].started_at.as_secs())
    };
    for (count, kept) in [(1, (1, 0)), (199, (199, 0)), (200, (200, 0)), (203, (200, 3))] {
        let records = (0..count).map(|second| job(second, done())).collect();
        assert_eq!(first(records), kept, "{count} jobs");
    }
    assert_eq!(first((0..201).map(|second| job(second, downloaded())).collect()), (200, 1));
}

#[test]
fn jobs_that_need_attention_are_kept_beyond_the_limit() {
    let mut records: Vec<JobRecord> = (0..203).map(|second| job(second, failed(None))).collect();
    records[5].state = done();
    records[9].state = done();
    drop_oldest_finished(&mut records);
    let seconds: Vec<u64> = records.iter().map(|job| job.started_at.as_secs()).collect();
    assert_eq!(seconds.len(), 201);
    assert!(!seconds.contains(&5) && !seconds.contains(&9));
}
