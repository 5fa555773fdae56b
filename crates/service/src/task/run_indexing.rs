//! Runs an indexing task. Its results are written in the transaction that ends it, so that an interruption leaves
//! either the old or the new state of the dataset. The end of a task also says which files could not be added.

use std::{
    mem,
    path::{Path, PathBuf},
};

use super::{
    EXTRACTOR_VERSION, INCOMPLETE, TaskContext, WorkerContext,
    cluster_step::ClusterUpdate,
    context::ProgressRange,
    encode_media::encode_media,
    index_source::{fetch_batch, finish_unpacking, index_source},
    member_features::Scope,
    several_processes::{SearchTableUpdate, drop_former_tables},
    text_step::{LanguageUpdate, TextVectorUpdate},
};
use crate::{
    originals::{FOLDER_MISSING, storage_location},
    settings::InjectedFailure,
    task_error::{TaskError, UnfinishedRun},
};
use tessera_media::ingest::{EXCLUDED, file_names::printable_path, is_temporary};
use tessera_model::{
    DatasetId, FileKind,
    file_kind::HIDDEN,
    text::{count_with_noun, first_names},
};
use tessera_store::{
    Connection, StoreError, captions, dataset, indexed_files,
    indexing_task::{self, Batch, BatchOrigin, IndexingTask, IndexingTaskKind},
    lease::LeasedTask,
    moved_files::{self, KnownCopies},
    remove_ranges,
    source::{self, SourceFolder},
};

/// The progress when all files are extracted.
const EXTRACTION_SHARE: f64 = 0.9;
/// The share of the remaining progress for the user's own model. The rest is for clustering.
const ENCODING_SHARE: f64 = 0.2;

/// Runs the oldest indexing task that no worker is running. Returns whether there was one.
pub fn run_next_indexing(worker: &WorkerContext) -> bool {
    worker.run_next(
        |tx| {
            let found = indexing_task::next_unleased(tx)?;
            Ok(found.map(|running| (LeasedTask::Indexing(running.row), running)))
        },
        |tx, running| indexing_task::find(tx, running.row),
        run_indexing,
    )
}

/// Runs an indexing task. Fails if the task is postponed, if the store is damaged, or if it cannot even record the
/// failure.
fn run_indexing(context: &TaskContext, running: &IndexingTask) -> Result<(), UnfinishedRun> {
    let failure = match running.kind {
        IndexingTaskKind::Creation => None,
        IndexingTaskKind::Addition => Some(InjectedFailure::AddMedia),
        IndexingTaskKind::Reindex => Some(InjectedFailure::Reindex),
    };
    let outcome = context.run(|| {
        if context.fence() > 1 {
            // Workers may still be extracting files that a previous worker of this task found.
            context.write(|tx| remove_ranges(tx, running.row))?;
        }
        context.simulate(failure, |part| context.report_progress(running.dataset, part))?;
        match running.kind {
            IndexingTaskKind::Creation => run_creation(context, running),
            IndexingTaskKind::Addition => run_addition(context, running),
            IndexingTaskKind::Reindex => run_reindex(context, running),
        }
    });
    let written = match outcome.map(|result| write_result(context, running, &result)) {
        Ok(Err(cause)) if cause.is_damage() => return Err(cause.into()),
        Ok(written) => written.map_err(TaskError::from),
        Err(cause) => Err(cause),
    };
    written.or_else(|cause| context.end(cause, |tx, why| indexing_task::fail(tx, running, why)))
}

fn write_result(
    context: &TaskContext,
    running: &IndexingTask,
    result: &IndexingResult,
) -> Result<(), StoreError> {
    let (language, clusters, text_vectors, members, problem) = result;
    context.write_end(|tx| {
        language.write(tx)?;
        clusters.write(tx)?;
        text_vectors.write(tx)?;
        captions::merge_word_counts(tx)?;
        dataset::begin_generation(tx, running.dataset)?;
        members.publish(tx)?;
        if running.kind == IndexingTaskKind::Creation {
            dataset::set_extractor(tx, running.dataset, EXTRACTOR_VERSION)?;
        }
        let batch = running.batch.as_ref().filter(|_| problem.is_none());
        let unread = batch.map(|batch| unread_files(context, tx, batch)).transpose()?.flatten();
        indexing_task::finish(tx, running, problem.as_deref().or(unread.as_deref()))
    })?;
    // Indexes in memory are of the previous generation.
    context.indexes.release(running.dataset);
    // Whatever cannot be removed now is removed by the next indexing task.
    let _ = drop_former_tables(context, running.dataset);
    Ok(())
}

/// The last element says which sources could not be read, or why the dataset's own model encoded nothing.
type IndexingResult =
    (LanguageUpdate, ClusterUpdate, TextVectorUpdate, SearchTableUpdate, Option<String>);

/// Clusters and embeds a scope whose files are in the store. `from` is the progress so far.
fn cluster_and_embed(
    context: &TaskContext,
    running: &IndexingTask,
    scope: Scope,
    from: f64,
) -> Result<IndexingResult, TaskError> {
    let dataset = running.dataset;
    let progress = ProgressRange::new(context, dataset, from, 1.0);
    let (encoding, clustering) =
        (progress.subrange(0.0, ENCODING_SHARE), progress.subrange(ENCODING_SHARE, 1.0));
    // The media are encoded first, because clusters and texts include the labels of the model.
    let rejected = encode_media(context, dataset, scope, &encoding)?;
    let clusters = ClusterUpdate::compute(context, (running.row, dataset), scope, &clustering)?;
    let language = LanguageUpdate::compute(context, dataset, scope)?;
    let text_vectors = TextVectorUpdate::compute(context, dataset, scope, language.language)?;
    let members = SearchTableUpdate::prepare(context, dataset, scope, &clusters, &text_vectors)?;
    Ok((language, clusters, text_vectors, members, rejected))
}

fn run_creation(
    context: &TaskContext,
    running: &IndexingTask,
) -> Result<IndexingResult, TaskError> {
    let (store, id) = (&context.store, running.dataset);
    let record = store.read(|c| dataset::find(c, id))?.ok_or(TaskError::Stopped)?;
    let copies = store.read(|c| moved_files::known_copies(c, id))?;
    let outdated = record.extractor != EXTRACTOR_VERSION;
    let is_upload = |source: &SourceFolder| context.originals.uploads.contains(&source.folder);
    let mut sources = store.read(|c| source::of_dataset(c, id))?;
    // The files of a batch do not change, but its addition may have failed. Uploads exist nowhere else.
    sources.retain(|source| {
        let is_remote = storage_location(&source.folder).is_some();
        source.is_dataset_folder || outdated || is_upload(source) || is_remote
    });
    // Nothing is cleared before all folders are known to be there.
    let missing = remove_missing(context, running.kind, &mut sources)?;
    if let Some(missing) = missing.as_ref().filter(|_| outdated) {
        let why = "All files have to be read again, but a folder cannot be read";
        return Err(TaskError::Failed(format!("{why}. {missing}")));
    }
    if outdated && record.extractor != INCOMPLETE {
        context.write(|tx| dataset::clear_derived(tx, id, INCOMPLETE))?;
    }
    for source in &sources {
        let skipped =
            if is_upload(source) { finish_unpacking(context, source)? } else { Vec::new() };
        index_source(context, running.row, source, &skipped)?;
    }
    follow_moved(context, id, &copies)?;
    let mut result = cluster_and_embed(context, running, Scope::Everything, EXTRACTION_SHARE)?;
    result.4 = missing.or(result.4);
    Ok(result)
}

/// Removes the sources from `sources` that are missing or that object storage does not list, so that their media are
/// kept, and returns a sentence about them. Fails if the folder of the dataset is missing.
fn remove_missing(
    context: &TaskContext,
    kind: IndexingTaskKind,
    sources: &mut Vec<SourceFolder>,
) -> Result<Option<String>, TaskError> {
    let (mut names, mut problems) = (Vec::new(), Vec::new());
    let mut has_upload = false;
    for source in mem::take(sources) {
        // The media of an addition were listed when it was accepted.
        let is_known = kind == IndexingTaskKind::Creation && !source.is_dataset_folder;
        let added_location = storage_location(&source.folder).filter(|_| is_known);
        let listed = added_location.map_or(Ok(()), |uri| context.originals.list_first(&uri));
        if let Err(cause) = listed {
            if is_temporary(&cause) && context.is_rerun_for_storage() {
                return Err(TaskError::storage(&cause));
            }
            let remedy = "Restore the access to it, and rescan the dataset";
            problems.push(format!("{cause}, so its media are kept as they were. {remedy}"));
        } else if !context.originals.is_missing(&context.store, &source)? {
            sources.push(source);
        } else if source.is_dataset_folder {
            return Err(TaskError::Failed(FOLDER_MISSING.to_owned()));
        } else {
            has_upload |= context.originals.uploads.contains(&source.folder);
            names.push(source.public_name());
        }
    }
    let remedy = match (context.store.is_on_server(), has_upload) {
        (false, _) => "Connect its disk or restore it",
        (true, false) => {
            "Every worker needs it at the same path, or it has to be in object storage"
        }
        (true, true) => {
            "Restore it at the same path for every worker, or give all processes a bucket with --bucket and add uploaded files \
             again"
        }
    };
    if !names.is_empty() {
        problems.push(format!(
            "{}: missing, or without any of its files, so its media are kept as they were. {remedy}",
            names.join(", ")
        ));
    }
    let drop = "To drop its media, remove the dataset and open the dataset's folder again";
    Ok((!problems.is_empty()).then(|| format!("{}. {drop}", problems.join(". "))))
}

fn run_addition(
    context: &TaskContext,
    running: &IndexingTask,
) -> Result<IndexingResult, TaskError> {
    let batch = running.batch.as_ref().ok_or(TaskError::Stopped)?;
    let found = context.store.read(|c| source::find(c, batch.source))?;
    let source = found.ok_or_else(|| TaskError::Failed("the batch has no folder".to_owned()))?;
    let mut sources = vec![source];
    let missing = remove_missing(context, running.kind, &mut sources)?;
    let copies = context.store.read(|c| moved_files::known_copies(c, running.dataset))?;
    for source in &sources {
        let skipped = fetch_batch(context, source, &batch.origin)?;
        index_source(context, running.row, source, &skipped)?;
    }
    follow_moved(context, running.dataset, &copies)?;
    let scope = Scope::Batch(batch.source);
    let mut result = cluster_and_embed(context, running, scope, EXTRACTION_SHARE)?;
    result.4 = missing.or(result.4);
    Ok(result)
}

/// Keeps the tags of the files that were moved. Then the tags beside the dataset are read or written again, because the
/// folder may have had none of the known files before.
fn follow_moved(
    context: &TaskContext,
    dataset: DatasetId,
    copies: &KnownCopies,
) -> Result<(), TaskError> {
    context.write(|tx| moved_files::follow_moved(tx, dataset, copies))?;
    context.tag_writer.write_soon(dataset);
    Ok(())
}

fn run_reindex(context: &TaskContext, running: &IndexingTask) -> Result<IndexingResult, TaskError> {
    context.write(|tx| indexing_task::begin_clustering(tx, running))?;
    context.simulate(None, |_| Ok(()))?;
    // Clustering needs the memory more than searches, which load what they need again.
    context.indexes.release(running.dataset);
    cluster_and_embed(context, running, Scope::Everything, 0.0)
}

/// The number of files that are named.
const NAMED: usize = 3;

/// Returns a sentence about the added files that did not become media. Returns `None` if all files that should have
/// become media did.
fn unread_files(
    context: &TaskContext,
    connection: &Connection,
    batch: &Batch,
) -> tessera_store::Result<Option<String>> {
    let below = Path::new(batch.below.as_deref().unwrap_or_default());
    let is_empty = !indexed_files::has_media_below(connection, batch.source, below)?;
    let mut files = indexed_files::skipped_in_source(connection, batch.source)?;
    let is_excluded = |(path, reason): &(PathBuf, String)| {
        reason == EXCLUDED && below.starts_with(path) && is_empty
    };
    if files.iter().any(is_excluded) {
        let why =
            "a pattern of the dataset excludes the folder; rescan the dataset with other patterns";
        return nothing_added(context, connection, batch, why);
    }
    files.retain(|(path, _)| path.starts_with(below));
    files.retain(|(_, reason)| ![HIDDEN, EXCLUDED].contains(&reason.as_str()));
    if is_empty {
        let empty = || "it contains no pictures or videos".to_owned();
        let why = if files.is_empty() { empty() } else { named(&files) };
        return nothing_added(context, connection, batch, &why);
    }
    let manifest = match &batch.origin {
        BatchOrigin::ObjectStorage(uri) => Some(Path::new(uri))
            .filter(|uri| storage_location(uri).is_some_and(|uri| uri.manifest_format().is_some())),
        _ => None,
    };
    files.retain(|(path, _)| {
        let kind = FileKind::from_name(&path.to_string_lossy());
        // A wrong row of a manifest is named by its number, which is not the name of a picture.
        let is_row = |uri: &Path| kind == FileKind::Other || uri.ends_with(path);
        kind.is_media() || kind == FileKind::Archive || manifest.is_some_and(is_row)
    });
    let count = count_with_noun(files.len(), "file was", "files were");
    let has_row = manifest.is_some_and(|uri| files.iter().any(|(path, _)| !uri.ends_with(path)));
    let remedy = if has_row { "; check them, and add the manifest again" } else { "" };
    Ok((!files.is_empty()).then(|| format!("{count} not added: {}{remedy}", named(&files))))
}

/// Returns a sentence about an addition without media. Its upload is kept, because another version of this program, or
/// `ffmpeg`, may be able to read it.
fn nothing_added(
    context: &TaskContext,
    connection: &Connection,
    batch: &Batch,
    why: &str,
) -> tessera_store::Result<Option<String>> {
    let source = source::find(connection, batch.source)?;
    let upload = source.filter(|source| context.originals.uploads.contains(&source.folder));
    let kept = upload.map_or_else(String::new, |upload| {
        let is_remote = storage_location(&upload.folder).is_some();
        let place = if is_remote {
            "the bucket".to_owned()
        } else {
            format!("the index folder, in {}", upload.public_name())
        };
        format!("; the upload is kept in {place}")
    });
    Ok(Some(format!("nothing was added: {why}{kept}")))
}

/// Names the first files with their reasons.
fn named(files: &[(PathBuf, String)]) -> String {
    let with_reasons =
        files.iter().map(|(path, reason)| format!("{} ({reason})", printable_path(path)));
    first_names(with_reasons, files.len(), NAMED)
}
