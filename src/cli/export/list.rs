//! `tessera export list`, `status` and `watch`.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    lookup::{ExportLookup, export_of, journaled_exports},
    report::{export_document, kind},
};
use crate::{
    cli::{
        CliResult, Column, Connection, Document, Exit, polling::Poller,
        timestamps::format_timestamp,
    },
    state::StoredJob,
};
use tessera_model::{FailedExport, JobRecord, SafeText, SavedJobState};

const LIST_COLUMNS: &[Column] = &[
    Column::new("STARTED", "started_at"),
    Column::short_id("ID", "id"),
    Column::new("DATASET", "dataset_name"),
    Column::new("WHAT", "selection"),
    Column::new("STATUS", "status"),
    Column::new("FILE", "file"),
];

pub(super) fn list(connection: &Connection<'_>, dataset: Option<&str>) -> CliResult {
    let named = dataset.or(connection.context.global.dataset.as_deref());
    let matches = |job: &JobRecord| {
        named.is_none_or(|named| {
            job.dataset_name.as_str() == named || job.dataset.to_string() == named
        })
    };
    let rows: Vec<Value> = journaled_exports(connection)?
        .iter()
        .filter(|stored| matches(&stored.job))
        .map(row)
        .collect();
    let answer = json!({ "exports": rows });
    connection.context.print(&Document::list("tessera.exports/1", answer, "exports", LIST_COLUMNS))
}

fn row(StoredJob { job, is_followed: followed }: &StoredJob) -> Value {
    let export = export_of(job);
    let (status, message, archive) = match &job.state {
        // The process that sent the request is gone, and the response with it.
        SavedJobState::Sent if !followed => ("may have started", None, None),
        SavedJobState::Queued | SavedJobState::Sent | SavedJobState::Accepted => {
            ("starting", None, None)
        }
        SavedJobState::Running(_) => ("PENDING", None, None),
        SavedJobState::Completed(_) => ("COMPLETED", None, None),
        SavedJobState::Downloaded(archive, _) => ("downloaded", None, Some(archive)),
        SavedJobState::Done(status) => ("COMPLETED", Some(status), None),
        SavedJobState::Failed(reason, Some(export)) => (export.status.as_str(), Some(reason), None),
        SavedJobState::Failed(reason, None) => (FailedExport::STATUS, Some(reason), None),
        SavedJobState::Uncertain(reason) => ("may have started", Some(reason), None),
        SavedJobState::Unwatched(_) => ("not watched", None, None),
    };
    json!({
        "id": job.state.export(),
        "dataset_id": job.dataset,
        "dataset_name": job.dataset_name.as_str(),
        "kind": export.map(kind),
        "selection": export.and_then(|export| export.selection.as_ref()).map(SafeText::as_str),
        "format": export.map(|export| export.spec.format.as_str()),
        "include_images": export.map(|export| export.spec.include_images),
        "status": status,
        "message": message.map(SafeText::as_str),
        "started_at": format_timestamp(job.started_at),
        "finished_at": job.ended_at.map(format_timestamp),
        "file": archive.map(|archive| archive.path.to_string_lossy()),
        "bytes": archive.map(|archive| archive.bytes),
    })
}

pub(super) async fn status(connection: &Connection<'_>, lookup: &ExportLookup) -> CliResult {
    let export = lookup.find(connection).await?;
    let task = connection.client.export_status(export.dataset, export.task).await?;
    connection.context.print(&export_document(&export, &task, None))?;
    Ok(if task.failure().is_some() { Exit::Remote } else { Exit::Done })
}

pub(super) async fn watch(
    connection: &Connection<'_>,
    lookup: &ExportLookup,
    interval: Option<Duration>,
) -> CliResult {
    let context = connection.context;
    let export = lookup.find(connection).await?;
    let followed = connection.follow_export(&mut export.running_job(), interval).await;
    let outcome = followed.and_then(|task| task.failure().map_or(Ok(task), |it| Err(it.into())));
    if context.out.is_jsonl() {
        Poller::new(context, interval).emit_end(&outcome)?;
        return outcome.map(|_| Exit::Done);
    }
    context.print(&export_document(&export, &outcome?, None))
}
