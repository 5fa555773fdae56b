//! The exports that were started here, and where one stands.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    report::{document, kind},
    which::{Which, asked, exports},
};
use crate::{
    cli::{
        Column, Connection, Context, Document, Ended, Exit,
        follow::{Follow, moment},
    },
    journal::Noted,
};
use tessera_model::{ExportState, JobRecord, SafeText, Standing};

const LIST: &[Column] = &[
    Column::new("STARTED", "started_at"),
    Column::new("ID", "id"),
    Column::new("DATASET", "dataset_name"),
    Column::new("WHAT", "selection"),
    Column::new("STATUS", "status"),
    Column::new("FILE", "file"),
];

/// Lists the exports that were started here, oldest first.
///
/// # Errors
/// The journal cannot be read.
pub(super) fn list(
    context: &Context,
    connection: &Connection,
    dataset: Option<&str>,
) -> Result<Exit, Ended> {
    let named = dataset.or(context.global.dataset.as_deref());
    let wanted = |job: &JobRecord| {
        named.is_none_or(|named| {
            job.dataset_name.as_str() == named || job.dataset.to_string() == named
        })
    };
    let rows: Vec<Value> =
        exports(connection)?.iter().filter(|noted| wanted(&noted.job)).map(row).collect();
    let answer = json!({ "exports": rows });
    context.answer(&Document::list("tessera.exports/1", answer, "exports", LIST))?;
    Ok(Exit::Done)
}

fn row(Noted { job, followed }: &Noted) -> Value {
    let export = asked(job);
    let (status, message, archive) = match &job.standing {
        // The program that sent it is gone, and took the answer with it.
        Standing::Sent if !followed => ("may have started", None, None),
        Standing::Queued | Standing::Sent | Standing::Accepted => ("starting", None, None),
        Standing::Running(_) => ("PENDING", None, None),
        Standing::Completed(_) => ("COMPLETED", None, None),
        Standing::Downloaded(archive) => ("downloaded", None, Some(archive)),
        Standing::Done(words) => ("COMPLETED", Some(words), None),
        Standing::Failed(words) => ("FAILED", Some(words), None),
        Standing::Uncertain(words) => ("may have started", Some(words), None),
        Standing::Unwatched(_) => ("not watched", None, None),
    };
    json!({
        "id": job.standing.export(),
        "dataset_id": job.dataset,
        "dataset_name": job.dataset_name.as_str(),
        "kind": export.map(kind),
        "selection": export.and_then(|export| export.selection.as_ref()).map(SafeText::as_str),
        "format": export.map(|export| export.spec.format.word()),
        "include_images": export.map(|export| export.spec.include_images),
        "status": status,
        "message": message.map(SafeText::as_str),
        "started_at": moment(job.started),
        "finished_at": job.ended.map(moment),
        "file": archive.map(|archive| archive.path.to_string_lossy()),
        "bytes": archive.map(|archive| archive.bytes),
    })
}

/// Shows where an export stands.
///
/// # Errors
/// [`Exit::Remote`] is no error but the answer for one that failed; else what keeps it away.
pub(super) async fn status(
    context: &Context,
    connection: &Connection,
    which: &Which,
) -> Result<Exit, Ended> {
    let found = which.find(context, connection).await?;
    let task = connection.client.export_status(found.dataset, found.task).await?;
    context.answer(&document(&found, &task, None))?;
    Ok(match task.state {
        ExportState::Failed(_) => Exit::Remote,
        ExportState::Running(_) | ExportState::Completed => Exit::Done,
    })
}

/// Follows an export to its end.
///
/// # Errors
/// [`Exit::Remote`] when it failed, [`Exit::TimedOut`], or what keeps its state away.
pub(super) async fn watch(
    context: &Context,
    connection: &Connection,
    which: &Which,
    interval: Option<Duration>,
) -> Result<Exit, Ended> {
    let found = which.find(context, connection).await?;
    let followed = context.follow_export(connection, found.dataset, found.task, interval).await;
    if context.out.is_jsonl() {
        Follow::new(context, interval).end(&followed)?;
        return followed.map(|_| Exit::Done);
    }
    context.answer(&document(&found, &followed?, None))?;
    Ok(Exit::Done)
}
