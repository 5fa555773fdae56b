//! `tessera dataset remove`, `rename`, `rescan`, `cancel` and `embeddings`: manage the datasets of a local service, and
//! exchange their vectors with other programs. Files of the user are only read.

use std::collections::BTreeSet;

use tessera_model::{
    Coverage, EmbeddingExport, EmbeddingImport, FileChanges, LocalDataset, PatternLists,
    RescanResult, SkippedFile, text::grouped_with_noun,
};

use super::{record::dataset_document, watch::wait_until_idle};
use crate::cli::LocalService;
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
    if connection.waits(wait) {
        now = wait_until_idle(connection, now).await?;
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

#[derive(Debug, Subcommand)]
pub enum EmbeddingsCommand {
    /// Write the vectors of the images and frames to a new file, for other programs.
    ///
    /// The vectors are those of the model of the dataset, or imported ones, or the descriptors of
    /// tessera. A Parquet file has the columns `file_name` and `embedding`. Beside a .npy file, a
    /// .txt file lists the names.
    Export {
        /// The new file, whose name ends in .parquet or .npy.
        file: PathBuf,
    },
    /// Use embeddings from a file for similar pictures, clusters and diverse media.
    ///
    /// A Parquet file has the columns `file_name` and `embedding`. A .npy file has a row of numbers
    /// for each name. Names are matched like those in annotation files. The embeddings take the
    /// place of a model of the dataset, and of embeddings that were imported before.
    Import {
        /// The file, whose name ends in .parquet or .npy.
        file: PathBuf,
        /// The names of the rows of a .npy file: a .txt file with one name per line, or a .csv file
        /// with the column `file_name` [default: the .txt or .csv file beside it].
        #[arg(long, value_name = "LIST")]
        names: Option<PathBuf>,
    },
    /// Stop using imported embeddings.
    Remove,
}

impl EmbeddingsCommand {
    pub async fn run(self, context: &Context) -> CliResult {
        if !matches!(self, Self::Export { .. }) {
            context.require_writable()?;
        }
        let work = async |connection: &Connection<'_>| {
            let local = connection.local_service("exchanging embeddings")?;
            let dataset = connection.dataset(None).await?;
            match self {
                Self::Export { file } => export(connection, local, &dataset, file).await,
                Self::Import { file, names } => {
                    import(connection, local, &dataset, (file, names)).await
                }
                Self::Remove => remove_embeddings(connection, local, &dataset).await,
            }
        };
        context.with_connection(&[], work).await
    }
}

async fn export(
    connection: &Connection<'_>,
    local: &LocalService,
    dataset: &Dataset,
    file: PathBuf,
) -> CliResult {
    let (context, id) = (connection.context, dataset.id);
    context.only_plans("the vectors of the dataset", Some(&file))?;
    let target = file.clone();
    let exported = local.blocking(move |it| it.export_embeddings(id, &target)).await?;
    let EmbeddingExport { model, dimension, coverage, names } = exported;
    let fields = json!({
        "dataset_id": id,
        "file": file.display().to_string(),
        "names": names.map(|names| names.display().to_string()),
        "vectors_of": model.as_deref().unwrap_or("the descriptor of tessera"),
        "dimension": dimension,
        "covered_media": coverage.covered,
        "all_media": coverage.all,
        "missing_media": coverage.missing(),
    });
    context.print(&Document::new("tessera.embedding_export/1", fields))?;
    Ok(report_missing(context, coverage))
}

async fn import(
    connection: &Connection<'_>,
    local: &LocalService,
    dataset: &Dataset,
    (file, names): (PathBuf, Option<PathBuf>),
) -> CliResult {
    let (context, id) = (connection.context, dataset.id);
    let is_dry_run = context.is_dry_run();
    let imported = local
        .blocking(move |it| it.import_embeddings(id, &file, names.as_deref(), is_dry_run))
        .await?;
    let EmbeddingImport { name, dimension, coverage, refused, examples } = imported;
    if is_dry_run {
        context.messages.info("nothing was changed");
    } else {
        wait_until_clustered(connection, id).await?;
    }
    let fields = json!({
        "dataset_id": id,
        "name": name,
        "dimension": dimension,
        "covered_media": coverage.covered,
        "all_media": coverage.all,
        "refused": refused,
        "examples": examples,
        "missing_media": coverage.missing(),
    });
    context.print(&Document::new("tessera.embedding_import/1", fields))?;
    let complete = report_missing(context, coverage);
    if refused == 0 {
        return Ok(complete);
    }
    let rows = grouped_with_noun(refused, "row was", "rows were");
    context.messages.warn(format!("{rows} omitted: {}", examples.join("; ")));
    Ok(Exit::Incomplete)
}

async fn remove_embeddings(
    connection: &Connection<'_>,
    local: &LocalService,
    dataset: &Dataset,
) -> CliResult {
    let (context, id) = (connection.context, dataset.id);
    context.only_plans("remove the imported embeddings", None)?;
    let name = local.blocking(move |it| it.remove_embeddings(id)).await?;
    let now = wait_until_clustered(connection, id).await?;
    let fields = json!({ "dataset_id": id, "name": name, "status_new": now.status.as_str() });
    context.print(&Document::new("tessera.embedding_removal/1", fields))
}

/// Waits until the dataset is clustered by its new vectors, because the tasks of this process end with the command.
async fn wait_until_clustered(
    connection: &Connection<'_>,
    dataset: DatasetId,
) -> CliResult<Dataset> {
    let now = connection.client.dataset(dataset).await?;
    wait_until_idle(connection, now).await
}

/// Says how many pictures have no vector.
fn report_missing(context: &Context, coverage: Coverage) -> Exit {
    if coverage.missing() == 0 {
        return Exit::Done;
    }
    context.messages.warn(coverage.missing_text());
    Exit::Incomplete
}
