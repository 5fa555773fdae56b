//! How jobs are spelled: one object each, in the words of the interface where it has them.

use std::path::PathBuf;

use serde_json::{Value, json};

use tessera_model::{
    Addition, Archive, ArchiveName, Export, ExportFormat, ExportSpec, JobRecord, SafeText, Stamp,
    Standing, Work,
};

const SCHEMA: &str = "tessera.jobs/1";

/// All jobs of this copy as a document.
pub(super) fn write(records: &[JobRecord]) -> Value {
    json!({ "schema": SCHEMA, "jobs": records.iter().map(facts).collect::<Vec<_>>() })
}

/// A job as an object: `started` and `ended` in seconds since 1970, `job` the word of what it does,
/// `standing` the word of how far it is, and beside them what belongs to these.
#[must_use]
pub fn facts(record: &JobRecord) -> Value {
    let mut job = json!({
        "started": record.started.as_secs_f64(),
        "ended": record.ended.map(|ended| ended.as_secs_f64()),
        "dataset_id": record.dataset,
        "dataset_name": record.dataset_name.as_str(),
        "job": record.work.word(),
    });
    match &record.work {
        Work::Export(export) => {
            job["file_name"] = export.spec.file_name.as_str().into();
            job["export_format"] = export.spec.format.word().into();
            job["include_images"] = export.spec.include_images.into();
            job["selection"] = export.selection.as_ref().map(SafeText::as_str).into();
            job["folder"] = export.folder.to_string_lossy().into();
            job["fetch"] = export.fetch.into();
        }
        Work::AddMedia(addition) => {
            job["source"] = addition.source.as_str().into();
            job["option"] = addition.option.as_str().into();
            job["auto_reindex"] = addition.auto_reindex.into();
        }
        Work::Reindex => {}
    }
    job["standing"] = write_standing(&mut job, &record.standing).into();
    job
}

/// The word of a standing; what belongs to it is put beside it.
fn write_standing(job: &mut Value, standing: &Standing) -> &'static str {
    match standing {
        Standing::Queued => "queued",
        Standing::Sent => "sent",
        Standing::Accepted => "accepted",
        Standing::Running(task) => {
            job["export_task_id"] = json!(task);
            "running"
        }
        Standing::Completed(task) => {
            job["export_task_id"] = json!(task);
            "completed"
        }
        Standing::Unwatched(task) => {
            job["export_task_id"] = json!(task);
            "unwatched"
        }
        Standing::Downloaded(archive) => {
            job["archive"] = json!({
                "path": archive.path.to_string_lossy(),
                "bytes": archive.bytes,
                "entries": archive.entries,
                "images": archive.images,
            });
            "downloaded"
        }
        Standing::Done(words) => told(job, words, "done"),
        Standing::Failed(words) => told(job, words, "failed"),
        Standing::Uncertain(words) => told(job, words, "uncertain"),
    }
}

fn told(job: &mut Value, words: &SafeText, standing: &'static str) -> &'static str {
    job["words"] = words.as_str().into();
    standing
}

/// Reads a document back.
pub(super) fn read(document: &Value) -> Result<Vec<JobRecord>, String> {
    if document["schema"] != SCHEMA {
        return Err(format!("its schema is not {SCHEMA}"));
    }
    let jobs = document["jobs"].as_array().ok_or("it has no jobs")?;
    let read = |(place, job)| {
        read_job(job).ok_or_else(|| format!("job {place} lacks a field or has a wrong one"))
    };
    jobs.iter().enumerate().map(read).collect()
}

fn read_job(job: &Value) -> Option<JobRecord> {
    Some(JobRecord {
        started: stamp(&job["started"])?,
        ended: stamp(&job["ended"]),
        dataset: job["dataset_id"].as_str()?.parse().ok()?,
        dataset_name: text(&job["dataset_name"])?,
        work: read_work(job)?,
        standing: read_standing(job)?,
    })
}

fn read_work(job: &Value) -> Option<Work> {
    Some(match job["job"].as_str()? {
        "export" => Work::Export(Export {
            spec: ExportSpec {
                file_name: ArchiveName::new(job["file_name"].as_str()?),
                format: ExportFormat::parse(job["export_format"].as_str()?)?,
                include_images: job["include_images"].as_bool()?,
            },
            selection: text(&job["selection"]),
            folder: PathBuf::from(job["folder"].as_str()?),
            fetch: job["fetch"].as_bool()?,
        }),
        "add media" => Work::AddMedia(Addition {
            source: text(&job["source"])?,
            option: text(&job["option"])?,
            auto_reindex: job["auto_reindex"].as_bool()?,
        }),
        "reindex" => Work::Reindex,
        _ => return None,
    })
}

fn read_standing(job: &Value) -> Option<Standing> {
    let task = job["export_task_id"].as_str().and_then(|id| id.parse().ok());
    let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
    Some(match job["standing"].as_str()? {
        "queued" => Standing::Queued,
        "sent" => Standing::Sent,
        "accepted" => Standing::Accepted,
        "running" => Standing::Running(task?),
        "completed" => Standing::Completed(task?),
        "unwatched" => Standing::Unwatched(task),
        "downloaded" => {
            let archive = &job["archive"];
            Standing::Downloaded(Archive {
                path: archive["path"].as_str()?.into(),
                bytes: archive["bytes"].as_u64()?,
                entries: number(&archive["entries"])?,
                images: number(&archive["images"])?,
            })
        }
        "done" => Standing::Done(text(&job["words"])?),
        "failed" => Standing::Failed(text(&job["words"])?),
        "uncertain" => Standing::Uncertain(text(&job["words"])?),
        _ => return None,
    })
}

fn stamp(value: &Value) -> Option<Stamp> {
    Stamp::try_from_secs_f64(value.as_f64()?).ok()
}

fn text(value: &Value) -> Option<SafeText> {
    value.as_str().map(SafeText::detail)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use tessera_model::{DatasetId, ExportTaskId};

    /// A record of every work and every standing.
    fn records() -> Vec<JobRecord> {
        let text = SafeText::detail("it broke");
        let task = ExportTaskId(Uuid::from_u128(9));
        let archive = Archive { path: "/d/a.zip".into(), bytes: 9, entries: 4, images: 3 };
        let spec = ExportSpec {
            file_name: ArchiveName::new("a.zip"),
            format: ExportFormat::Parquet,
            include_images: true,
        };
        let export =
            Export { spec, selection: Some(text.clone()), folder: "/d".into(), fetch: true };
        let addition = Addition { source: text.clone(), option: text.clone(), auto_reindex: true };
        let standings = [
            Standing::Queued,
            Standing::Sent,
            Standing::Running(task),
            Standing::Accepted,
            Standing::Completed(task),
            Standing::Downloaded(archive),
            Standing::Done(text.clone()),
            Standing::Failed(text.clone()),
            Standing::Uncertain(text.clone()),
            Standing::Unwatched(Some(task)),
            Standing::Unwatched(None),
        ];
        let works = [
            Work::Export(Export { selection: None, ..export.clone() }),
            Work::Export(export),
            Work::AddMedia(addition),
            Work::Reindex,
        ];
        let record = |(second, (work, standing)): (u64, (&Work, &Standing))| JobRecord {
            started: Stamp::from_secs(second),
            ended: (second > 4).then(|| Stamp::from_secs(second + 1)),
            dataset: DatasetId(Uuid::from_u128(1)),
            dataset_name: text.clone(),
            work: work.clone(),
            standing: standing.clone(),
        };
        (0..).zip(works.iter().cycle().zip(&standings)).map(record).collect()
    }

    #[test]
    fn m20_every_job_comes_back_as_it_was() {
        assert_eq!(read(&write(&records())), Ok(records()));
    }

    #[test]
    fn a_job_that_cannot_be_understood_is_named() {
        let mut document = write(&records());
        document["jobs"][2]["export_task_id"] = "../x".into();
        assert!(read(&document).unwrap_err().contains("job 2"));
    }
}
