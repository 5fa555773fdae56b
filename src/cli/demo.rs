//! `tessera demo`: the sample dataset, and its tour as text where there is no terminal.

use std::{
    io::{self, Write},
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::cli::{Ended, Exit, Local, compose::data_folder};
use tessera_client::{Client, Existing};
use tessera_model::{
    Anchor, AnchorKind, ArchiveName, Cluster, Dataset, ExportFormat, ExportSpec, ExportState,
    Preview, Query, Scale, Search,
    cadence::{Cadence, Watch},
};
use tessera_service::{Access, Credentials, Settings};

/// The seed of the sample dataset: everybody sees the same pictures.
const SEED: u64 = 2026;

/// Paints the sample dataset, unless it is there already, and starts a deployment over it.
///
/// # Errors
/// The pictures cannot be written, or the deployment cannot start.
pub async fn paint(images: u32, data: Option<PathBuf>) -> Result<Local, Ended> {
    // Beside the index of the user's own folders, so that the two never mix.
    let data = match data {
        Some(given) => given,
        None => data_folder(None)?.with_file_name("demo"),
    };
    let folder = data.join(format!("sample-{images}"));
    let target = folder.clone();
    let count = images as usize;
    let painted = tokio::task::spawn_blocking(move || {
        let told = AtomicUsize::new(0);
        tessera_sample::write(&target, count, SEED, |done, all| {
            tell_painting(&told, done, all);
        })
    });
    let painted = painted.await.map_err(io::Error::other)?;
    painted.map_err(|error| {
        Ended::new(Exit::Failed, format!("cannot paint into {}: {error}", folder.display()))
    })?;
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let access = Access::Token(Credentials::generate());
    let index = Some(data.join("index"));
    Local::start(index, &[folder], listen, Settings::of_this_machine(), access.into()).await
}

/// Tells every tenth part of the painting, so that nobody wonders.
fn tell_painting(told: &AtomicUsize, done: usize, all: usize) {
    let tenth = done * 10 / all.max(1);
    // All at once: they are there already.
    if done == all && told.load(Ordering::Relaxed) == 0 {
        return;
    }
    if told.fetch_max(tenth, Ordering::Relaxed) < tenth {
        // Nobody listens when standard error is closed.
        let _ = writeln!(io::stderr(), "painting the sample dataset: {done} of {all}");
    }
}

/// The tour as text: datasets, first clusters, a look-alike search, an export that is verified.
///
/// # Errors
/// Any step of the tour fails.
pub async fn tell(local: &Local) -> Result<(), Ended> {
    let client = local.client()?;
    let dataset = ready(&client, local).await?;
    let mut out = io::stdout();
    writeln!(out, "DATASETS  at {}", local.base_url())?;
    for each in client.datasets().await?.0 {
        let count = each.n_images.unwrap_or_default();
        writeln!(out, "  {}  {}  {}  {count} images", each.id, each.name, each.status.word())?;
    }
    let browse = Search::browse(dataset.id);
    let page = client.explore(&browse).await?;
    writeln!(out, "\nCLUSTERS  granularity {}, first 10", browse.granularity.level())?;
    for cluster in page.clusters.iter().take(10) {
        writeln!(out, "  {:>4}  {}", cluster.size().unwrap_or_default(), words(cluster))?;
    }
    let first = page.clusters.iter().find_map(|cluster| cluster.previews.first());
    let first =
        first.ok_or_else(|| Ended::new(Exit::Failed, "the sample dataset has no clusters"))?;
    similar(&client, &mut out, browse, first).await?;
    export(&client, &mut out, &dataset).await
}

/// Waits until the dataset can be searched, telling how far its index is.
async fn ready(client: &Client, local: &Local) -> Result<Dataset, Ended> {
    let id = *local.datasets.first().ok_or_else(|| Ended::new(Exit::Failed, "no dataset"))?;
    let mut told = None;
    loop {
        let dataset = client.dataset(id).await?;
        if !dataset.status.is_moving() {
            return match dataset.error {
                Some(error) => Err(Ended::new(Exit::Remote, error.as_str())),
                None => Ok(dataset),
            };
        }
        if dataset.progress != told {
            told = dataset.progress;
            writeln!(io::stderr(), "{} {}%", dataset.status.word(), told.unwrap_or_default())?;
        }
        tokio::time::sleep(Cadence::default().interval(Watch::MovingDatasets, 0)).await;
    }
}

async fn similar(
    client: &Client,
    out: &mut io::Stdout,
    browse: Search,
    preview: &Preview,
) -> Result<(), Ended> {
    let anchor = Anchor { media: preview.media, kind: AnchorKind::Media };
    let page = client.explore(&Search { query: Query::Similar(anchor), ..browse }).await?;
    writeln!(out, "\nSIMILAR   to {}; cosine distance, lower is closer", preview.file_name)?;
    for (cluster, relevance) in page
        .clusters
        .iter()
        .filter_map(|each| each.relevance.as_ref().map(|score| (each, score)))
        .take(5)
    {
        let band = relevance.band(Scale::Visual).map_or("", |band| band.word());
        writeln!(out, "  {:.3} {band:<8} {}", relevance.score, words(cluster))?;
    }
    Ok(())
}

async fn export(client: &Client, out: &mut io::Stdout, dataset: &Dataset) -> Result<(), Ended> {
    let spec = ExportSpec {
        file_name: ArchiveName::new(dataset.name.as_str()),
        format: ExportFormat::Parquet,
        include_images: true,
    };
    let folder = tempfile::tempdir()?;
    let target = folder.path().join(spec.file_name.as_str());
    let mut task = client.start_export(dataset.id, &spec).await?;
    while let ExportState::Running(_) = task.state {
        tokio::time::sleep(Cadence::default().interval(Watch::MovingDatasets, 0)).await;
        task = client.export_status(dataset.id, task.id).await?;
    }
    if let ExportState::Failed(word) = &task.state {
        let message = task.message.map_or_else(String::new, |message| format!(": {message}"));
        return Err(Ended::new(Exit::Remote, format!("the export ended {word}{message}")));
    }
    let archive =
        client.download((dataset.id, task.id), (&target, Existing::Kept), &mut |_, _| {}).await?;
    let expected = dataset.n_images.unwrap_or_default();
    if archive.images as u64 != expected {
        let sentence = format!("the archive has {} images instead of {expected}", archive.images);
        return Err(Ended::new(Exit::Remote, sentence));
    }
    writeln!(
        out,
        "\nEXPORT    {}: {} bytes, {} entries verified, {} of them images",
        name(&archive.path),
        archive.bytes,
        archive.entries,
        archive.images
    )?;
    Ok(())
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What a cluster shows: a caption, or the name of its first file.
fn words(cluster: &Cluster) -> String {
    let first = cluster.previews.first();
    let caption =
        cluster.captions.first().or_else(|| first.and_then(|first| first.caption.as_ref()));
    let file = || first.map_or_else(String::new, |first| first.file_name.to_string());
    caption.map_or_else(file, ToString::to_string)
}
