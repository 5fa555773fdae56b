//! `tessera demo`: creates and serves the sample dataset. Without a terminal, it prints a text
//! tour.

use std::{
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::cli::prelude::*;
use crate::{
    cli::{
        FolderOpening,
        local::{
            LocalSettings,
            service::{LocalService, index_dir},
        },
        messages::write_stderr,
        output::write_stdout,
    },
    usecase::{media_rows::follow_export, run_blocking},
};
use tessera_client::{Client, ExistingFile};
use tessera_model::{
    Anchor, AnchorKind, ArchiveName, Cluster, ExportFormat, ExportSpec, Preview, Query, ScoreScale,
    polling::{PollTarget, PollingIntervals},
};

/// The seed is fixed, so that everyone gets the same pictures.
const SAMPLE_SEED: u64 = 2026;

/// Generates the sample dataset unless it exists, and starts a deployment that serves it.
pub async fn start_demo(images: u32, data: Option<PathBuf>) -> CliResult<LocalService> {
    // The demo is separate from the index of the user's own folders.
    let data = match data {
        Some(folder) => folder,
        None => index_dir(None)?.with_file_name("demo"),
    };
    let folder = data.join(format!("sample-{images}"));
    let target = folder.clone();
    let count = images as usize;
    let paint = move || {
        let reported = AtomicUsize::new(0);
        let report = |done, all| report_painting(&reported, done, all);
        tessera_sample::write(&target, count, SAMPLE_SEED, report)
            .map_err(|error| CliError::io(format_args!("write to {}", target.display()), &error))
    };
    run_blocking(paint).await?;
    let (opening, index) = (FolderOpening::Update, data.join("index"));
    LocalService::open_folders(&[folder], opening, Some(index), LocalSettings::detect()).await
}

fn report_painting(reported: &AtomicUsize, done: usize, all: usize) {
    let tenth = done * 10 / all.max(1);
    // Everything is reported at once, because the files existed already.
    if done == all && reported.load(Ordering::Relaxed) == 0 {
        return;
    }
    if reported.fetch_max(tenth, Ordering::Relaxed) < tenth {
        let message = format!("generating the sample dataset: {done} of {all}");
        write_stderr(&PrintableText::line(message));
    }
}

/// Prints the text tour: datasets, clusters, a similarity search, and a verified export.
pub async fn run_text_tour(local: &LocalService) -> CliResult<()> {
    let client = local.client()?;
    let dataset = wait_until_ready(&client, local).await?;
    print(format_args!("DATASETS  at {}", local.base_url()))?;
    for each in client.list_datasets().await?.datasets {
        let count = each.n_images.unwrap_or_default();
        print(format_args!(
            "  {}  {}  {}  {count} images",
            each.id,
            each.name,
            each.status.as_str()
        ))?;
    }
    let browse = Search::browse(dataset.id);
    let page = client.explore(&browse).await?;
    print(format_args!("\nCLUSTERS  granularity {}, first 10", browse.granularity.level()))?;
    for cluster in page.clusters.iter().take(10) {
        print(format_args!(
            "  {:>4}  {}",
            cluster.size().unwrap_or_default(),
            cluster_label(cluster)
        ))?;
    }
    let first = page.clusters.iter().find_map(|cluster| cluster.previews.first());
    let first = first.ok_or_else(|| CliError::failed("the sample dataset has no clusters"))?;
    show_similar(&client, browse, first).await?;
    show_export(&client, &dataset).await
}

async fn wait_until_ready(client: &Client, local: &LocalService) -> CliResult<Dataset> {
    let id = *local.datasets.first().ok_or_else(|| CliError::failed("no dataset"))?;
    let mut reported = None;
    loop {
        let dataset = client.dataset(id).await?;
        if !dataset.status.is_busy() {
            return match dataset.error {
                Some(error) => Err(CliError::new(Exit::Remote, error.as_str())),
                None => Ok(dataset),
            };
        }
        if dataset.progress != reported {
            reported = dataset.progress;
            let percent = reported.unwrap_or_default();
            let progress = format!("{} {percent}%", dataset.status.as_str());
            write_stderr(&PrintableText::line(progress));
        }
        pause().await;
    }
}

fn print(line: fmt::Arguments<'_>) -> CliResult<()> {
    write_stdout(&PrintableText::line(line))
}

async fn pause() {
    tokio::time::sleep(PollingIntervals::default().interval(PollTarget::BusyDatasets, 0)).await;
}

async fn show_similar(client: &Client, browse: Search, preview: &Preview) -> CliResult<()> {
    let anchor = Anchor { media: preview.media, kind: AnchorKind::Media };
    let page = client.explore(&Search { query: Query::Similar(anchor), ..browse }).await?;
    print(format_args!("\nSIMILAR   to {}; cosine distance, lower is closer", preview.file_name))?;
    let ranked = page.clusters.iter().filter_map(|each| Some((each, each.relevance.as_ref()?)));
    for (cluster, relevance) in ranked.take(5) {
        let band = relevance.band(ScoreScale::Visual).map_or("", |band| band.label());
        print(format_args!("  {:.3} {band:<8} {}", relevance.score, cluster_label(cluster)))?;
    }
    Ok(())
}

async fn show_export(client: &Client, dataset: &Dataset) -> CliResult<()> {
    let spec = ExportSpec {
        file_name: ArchiveName::new(dataset.name.as_str()),
        format: ExportFormat::Parquet,
        include_images: true,
    };
    let folder = tempfile::tempdir();
    let folder = folder.map_err(|error| CliError::io("create a temporary folder", &error))?;
    let target = folder.path().join(spec.file_name.as_str());
    let task = client.start_export(dataset.id, &spec).await?;
    let task = follow_export(client, dataset.id, task).await?;
    if let Some(failure) = task.failure() {
        return Err(failure.into());
    }
    let archive =
        client.download(dataset.id, task.id, &target, ExistingFile::Keep, &mut |_, _| {}).await?;
    let expected = dataset.n_images.unwrap_or_default();
    if archive.images as u64 != expected {
        let message = format!("the archive has {} images instead of {expected}", archive.images);
        return Err(CliError::new(Exit::Remote, message));
    }
    print(format_args!(
        "\nEXPORT    {}: {} bytes, {} verified, {} of them images",
        archive.path.file_name().unwrap_or_default().display(),
        archive.bytes,
        count_with_noun(archive.entries, "entry", "entries"),
        archive.images
    ))?;
    Ok(())
}

/// Returns a caption, or the name of the first file.
fn cluster_label(cluster: &Cluster) -> String {
    let file = || cluster.previews.first().map(|first| &first.file_name);
    cluster.caption().or_else(file).map(ToString::to_string).unwrap_or_default()
}
