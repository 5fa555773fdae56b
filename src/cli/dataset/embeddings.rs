//! `tessera dataset embeddings`: exports the vectors of a local dataset, and imports embeddings that were computed
//! elsewhere.

use tessera_model::{Coverage, EmbeddingExport, EmbeddingImport, text::grouped_with_noun};

use super::watch::{WaitGoal, poll_until};
use crate::cli::prelude::*;
use crate::cli::{LocalService, polling::Poller};

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
                Self::Remove => remove(connection, local, &dataset).await,
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
        wait_until_clustered(connection, dataset).await?;
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
    context.messages.warn(format!("{rows} left out: {}", examples.join("; ")));
    Ok(Exit::Incomplete)
}

async fn remove(connection: &Connection<'_>, local: &LocalService, dataset: &Dataset) -> CliResult {
    let (context, id) = (connection.context, dataset.id);
    context.only_plans("remove the imported embeddings", None)?;
    let name = local.blocking(move |it| it.remove_embeddings(id)).await?;
    let now = wait_until_clustered(connection, dataset).await?;
    let fields = json!({ "dataset_id": id, "name": name, "status_new": now.status.as_str() });
    context.print(&Document::new("tessera.embedding_removal/1", fields))
}

/// Waits until the dataset is clustered by its new vectors, because the tasks of this process end with the command.
async fn wait_until_clustered(
    connection: &Connection<'_>,
    dataset: &Dataset,
) -> CliResult<Dataset> {
    let now = connection.client.dataset(dataset.id).await?;
    let mut poller = Poller::new(connection.context, None);
    poll_until(&mut poller, connection, now, &WaitGoal::Rest, Duration::ZERO, None).await
}

/// Says how many pictures have no vector.
fn report_missing(context: &Context, coverage: Coverage) -> Exit {
    if coverage.missing() == 0 {
        return Exit::Done;
    }
    context.messages.warn(coverage.missing_text());
    Exit::Incomplete
}
