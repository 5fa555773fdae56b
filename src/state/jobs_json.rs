//! Jobs as JSON: one object each, with the field names of the API where it has them.

use std::path::PathBuf;

use serde_json::{Value, json};

use tessera_model::{
    AdditionJob, Archive, ArchiveName, ExportJob, ExportSpec, ExportTaskId, FailedExport, JobKind,
    JobRecord, SafeText, SavedJobState, Timestamp,
};

const SCHEMA: &str = "tessera.saved_jobs/1";

pub(super) fn write(records: &[JobRecord]) -> Value {
    json!({ "schema": SCHEMA, "jobs": records.iter().map(job_to_json).collect::<Vec<_>>() })
}

/// A job as an object: `started` and `ended` in Unix seconds, `job` for its kind, `standing` for its
/// state, and the fields that belong to them.
pub fn job_to_json(record: &JobRecord) -> Value {
    let mut job = json!({
        "started": record.started_at.as_secs_f64(),
        "ended": record.ended_at.map(|ended| ended.as_secs_f64()),
        "dataset_id": record.dataset,
        "dataset_name": record.dataset_name.as_str(),
        "job": record.kind.label(),
    });
    match &record.kind {
        JobKind::Export(export) => {
            job["file_name"] = export.spec.file_name.as_str().into();
            job["export_format"] = export.spec.format.as_str().into();
            job["include_images"] = export.spec.include_images.into();
            job["selection"] = export.selection.as_ref().map(SafeText::as_str).into();
            job["folder"] = export.folder.to_string_lossy().into();
            job["fetch"] = export.auto_download.into();
        }
        JobKind::AddMedia(addition) => {
            job["source"] = addition.source.as_str().into();
            job["option"] = addition.cli_options.as_str().into();
            job["auto_reindex"] = addition.auto_reindex.into();
        }
        JobKind::Reindex => {}
    }
    let (word, fields) = state_fields(&record.state);
    for (name, value) in fields {
        job[name] = value;
    }
    job["standing"] = word.into();
    job
}

fn state_fields(state: &SavedJobState) -> (&'static str, Vec<(&'static str, Value)>) {
    let task = |task: Option<ExportTaskId>| vec![("export_task_id", json!(task))];
    let message = |text: &SafeText| ("words", text.as_str().into());
    match state {
        SavedJobState::Queued => ("queued", vec![]),
        SavedJobState::Sent => ("sent", vec![]),
        SavedJobState::Accepted => ("accepted", vec![]),
        SavedJobState::Running(id) => ("running", task(Some(*id))),
        SavedJobState::Completed(id) => ("completed", task(Some(*id))),
        SavedJobState::Unwatched(id) => ("unwatched", task(*id)),
        SavedJobState::Downloaded(archive, export) => {
            let archive = json!({
                "path": archive.path.to_string_lossy(),
                "bytes": archive.bytes,
                "entries": archive.entries,
                "images": archive.images,
            });
            let export = export.map(|id| ("export_task_id", json!(id)));
            ("downloaded", [("archive", archive)].into_iter().chain(export).collect())
        }
        SavedJobState::Done(text) => ("done", vec![message(text)]),
        SavedJobState::Failed(text, None) => ("failed", vec![message(text)]),
        SavedJobState::Failed(text, Some(export)) => {
            let status = ("export_status", export.status.as_str().into());
            ("failed", vec![message(text), ("export_task_id", json!(export.id)), status])
        }
        SavedJobState::Uncertain(text) => ("uncertain", vec![message(text)]),
    }
}

pub(super) fn read(document: &Value) -> Result<Vec<JobRecord>, String> {
    if document["schema"] != SCHEMA {
        return Err(format!("its schema is not {SCHEMA}"));
    }
    let jobs = document["jobs"].as_array().ok_or("it has no jobs")?;
    let read = |(index, job)| {
        read_job(job).ok_or_else(|| format!("job {index} has a missing or invalid field"))
    };
    jobs.iter().enumerate().map(read).collect()
}

fn read_job(job: &Value) -> Option<JobRecord> {
    Some(JobRecord {
        started_at: read_timestamp(&job["started"])?,
        ended_at: read_timestamp(&job["ended"]),
        dataset: job["dataset_id"].as_str()?.parse().ok()?,
        dataset_name: text(&job["dataset_name"])?,
        kind: read_kind(job)?,
        state: read_state(job)?,
    })
}

fn read_kind(job: &Value) -> Option<JobKind> {
    Some(match job["job"].as_str()? {
        "export" => JobKind::Export(ExportJob {
            spec: ExportSpec {
                file_name: ArchiveName::new(job["file_name"].as_str()?),
                format: job["export_format"].as_str()?.parse().ok()?,
                include_images: job["include_images"].as_bool()?,
            },
            selection: text(&job["selection"]),
            folder: PathBuf::from(job["folder"].as_str()?),
            auto_download: job["fetch"].as_bool()?,
        }),
        "add media" => JobKind::AddMedia(AdditionJob {
            source: text(&job["source"])?,
            cli_options: text(&job["option"])?,
            auto_reindex: job["auto_reindex"].as_bool()?,
        }),
        "reindex" => JobKind::Reindex,
        _ => return None,
    })
}

fn read_state(job: &Value) -> Option<SavedJobState> {
    let task = job["export_task_id"].as_str().and_then(|id| id.parse().ok());
    let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
    Some(match job["standing"].as_str()? {
        "queued" => SavedJobState::Queued,
        "sent" => SavedJobState::Sent,
        "accepted" => SavedJobState::Accepted,
        "running" => SavedJobState::Running(task?),
        "completed" => SavedJobState::Completed(task?),
        "unwatched" => SavedJobState::Unwatched(task),
        "downloaded" => {
            let archive = &job["archive"];
            let archive = Archive {
                path: archive["path"].as_str()?.into(),
                bytes: archive["bytes"].as_u64()?,
                entries: number(&archive["entries"])?,
                images: number(&archive["images"])?,
            };
            SavedJobState::Downloaded(archive, task)
        }
        "done" => SavedJobState::Done(text(&job["words"])?),
        "failed" => SavedJobState::Failed(text(&job["words"])?, read_failed_export(job, task)),
        "uncertain" => SavedJobState::Uncertain(text(&job["words"])?),
        _ => return None,
    })
}

fn read_failed_export(job: &Value, task: Option<ExportTaskId>) -> Option<FailedExport> {
    let status = job["export_status"].as_str().map(SafeText::name);
    task.map(|id| match status {
        Some(status) => FailedExport { id, status },
        None => FailedExport::without_status(id),
    })
}

fn read_timestamp(value: &Value) -> Option<Timestamp> {
    Timestamp::try_from_secs_f64(value.as_f64()?).ok()
}

fn text(value: &Value) -> Option<SafeText> {
    value.as_str().map(SafeText::detail)
}
