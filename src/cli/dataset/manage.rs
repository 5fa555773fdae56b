//! `tessera dataset remove`, `rename`, `rescan` and `cancel`: manage the datasets of a local service. Files of the user
//! are only read.

use std::collections::BTreeSet;

use tessera_model::{
    FileChanges, LocalDataset, PatternLists, RescanResult, SkippedFile, text::grouped_with_noun,
};

use super::{
    record::dataset_document,
    watch::{WaitGoal, poll_until},
};
use crate::cli::polling::Poller;
use crate::cli::prelude::*;

pub(super) async fn remove(context: &Context, dataset: Option<&str>) -> CliResult {
    context.require_writable()?;
    context.with_dataset(dataset, &[Endpoint::RemoveDataset], remove_dataset).await
}

async fn remove_dataset(connection: &Connection<'_>, dataset: Dataset) -> CliResult {
    let (context, client) = (connection.context, &connection.client);
    let LocalDataset { uploads, .. } = client.local_dataset(dataset.id).await?;
    let kept = (uploads > 0).then(|| kept_uploads(connection, uploads));
    let kept = kept.unwrap_or_default();
    let question = format!(
        "{}: its index is removed. The files in its folder stay. {kept}Remove it?",
        dataset.name
    );
    if !context.is_dry_run() && !context.confirm(&question, "--yes")? {
        return Err(CliError::failed("not removed"));
    }
    let uploads = client.remove_dataset(dataset.id).await?;
    if !kept.is_empty() {
        context.messages.info(kept.trim_end());
    }
    if let Some(profile) = local_profile(context) {
        let command = ShellCommand::new("tessera profile remove").word(profile);
        context.messages.info(format!(
            "opening the folder indexes it again; if it is the folder of the profile, remove the profile: {command}"
        ));
    }
    let fields = json!({
        "dataset_id": dataset.id, "display_name": dataset.name.received(), "uploads": uploads,
    });
    context.print(&Document::new("tessera.dataset_removal/1", fields))
}

/// Says where the uploads of a removed dataset are.
fn kept_uploads(connection: &Connection<'_>, uploads: u64) -> String {
    let files = grouped_with_noun(uploads, "uploaded file", "uploaded files");
    let local = tessera_config::local_data_dir().filter(|_| connection.is_local());
    let place = local.map_or_else(
        || "the index folder of the service".to_owned(),
        |index| index.join("uploads").display().to_string(),
    );
    format!(
        "It has {files}, of which there is no other copy. Uploads stay in {place}, and belong to the dataset again when \
         its folder is opened again. "
    )
}

/// Returns the name of the local profile that this command uses.
fn local_profile(context: &Context) -> Option<String> {
    let target = context.target().ok().filter(|it| it.is_saved && it.local_folder().is_some());
    target.map(|target| target.profile.name)
}

pub(super) async fn rename(context: &Context, dataset: Option<&str>, name: &str) -> CliResult {
    context.require_writable()?;
    let work = async |connection: &Connection<'_>, dataset: Dataset| {
        let renamed = connection.client.rename_dataset(dataset.id, name).await?;
        let fields = dataset_document(&renamed);
        context.print(&Document::new("tessera.dataset/1", fields).with_table("renamed dataset"))
    };
    context.with_dataset(dataset, &[Endpoint::RenameDataset], work).await
}

pub(super) async fn cancel(context: &Context, dataset: Option<&str>) -> CliResult {
    context.require_writable()?;
    let work = async |connection: &Connection<'_>, dataset: Dataset| {
        let cancelled = connection.client.cancel_indexing(dataset.id).await?;
        let fields = dataset_document(&cancelled);
        context.print(&Document::new("tessera.dataset/1", fields).with_table("cancelled indexing"))
    };
    context.with_dataset(dataset, &[Endpoint::CancelIndexing], work).await
}

pub(super) async fn rescan(
    context: &Context,
    dataset: Option<&str>,
    patterns: Option<PatternLists>,
    wait: bool,
) -> CliResult {
    context.require_writable()?;
    let patterns = patterns.as_ref();
    let work =
        async |connection: &_, dataset| rescan_folder(connection, dataset, patterns, wait).await;
    context.with_dataset(dataset, &[Endpoint::Rescan], work).await
}

/// Returns the files of a dataset that this process could not read, with the reasons, or `None` if another process
/// reads them.
fn unread_paths(
    connection: &Connection<'_>,
    dataset: DatasetId,
) -> CliResult<Option<BTreeSet<(String, String)>>> {
    let Some(local) = &connection.local else { return Ok(None) };
    let skipped = local.skipped_files(dataset)?.into_iter().filter(SkippedFile::is_unexpected);
    Ok(Some(skipped.map(|it| (it.file.to_string(), it.reason.to_string())).collect()))
}

async fn rescan_folder(
    connection: &Connection<'_>,
    dataset: Dataset,
    patterns: Option<&PatternLists>,
    wait: bool,
) -> CliResult {
    let context = connection.context;
    let id = dataset.id;
    let unread_before = unread_paths(connection, id)?;
    let RescanResult { changes, is_indexing } = connection.client.rescan(id, patterns).await?;
    let mut now = connection.client.dataset(id).await?;
    // The tasks of a service in this process end with the command.
    if wait || connection.is_local() {
        let mut poller = Poller::new(context, None);
        let goal = WaitGoal::Rest;
        now = poll_until(&mut poller, connection, now, &goal, Duration::ZERO, None).await?;
        connection.warn_about_missing_embeddings(id).await;
    } else if is_indexing || changes.is_none() {
        let command = connection.suggestion("tessera dataset wait", id);
        context
            .messages
            .info(format!("the changes are read in the background; wait for it with: {command}"));
    }
    connection.unread_files(&dataset)?;
    let number = |read: fn(FileChanges) -> u64| changes.map(read);
    let fields = json!({
        "dataset_id": dataset.id,
        "display_name": dataset.name.received(),
        "added": number(|changes| changes.added),
        "changed": number(|changes| changes.changed),
        "removed": number(|changes| changes.removed),
        "unread": unread_paths(connection, id)?.map(|unread| {
            let before = unread_before.unwrap_or_default();
            unread.difference(&before).count()
        }),
        "indexing": is_indexing,
        "status_new": now.status.as_str(),
    });
    context.print(&Document::new("tessera.rescan/1", fields))
}
