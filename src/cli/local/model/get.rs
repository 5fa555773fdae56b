//! `tessera model get`: downloads a model from a model hub, or makes the starter model.

use std::{
    path::{Path, PathBuf},
    sync::Mutex,
};

use super::{
    added::{load_model, test_model},
    named::hub_settings,
    starter,
};
use crate::cli::{CliError, CliResult, Context, Exit};
use tessera_encoder::{SEARCHED_PATHS, files_of_repository, named_external_files};
use tessera_hub::{Hub, HubError, HubFile, HubSettings, Listing, RepositoryName, cached_snapshot};
use tessera_model::text::{count_with_noun, format_bytes};

impl From<HubError> for CliError {
    fn from(cause: HubError) -> Self {
        Self::failed(cause.to_string())
    }
}

pub(super) async fn get(context: &Context, name: &str) -> CliResult {
    if name == starter::NAME {
        return starter::make(context);
    }
    let repository: RepositoryName = name.parse().map_err(|cause: HubError| {
        CliError::usage(cause.to_string()).with_remedy("tessera model list --available")
    })?;
    let settings = hub_settings()?;
    if settings.is_offline {
        return use_cached(context, &settings, &repository);
    }
    let hub = Hub::new(settings)?;
    let listing = hub.list(&repository).await?;
    let files = wanted_files(&repository, &listing)?;
    let missing: Vec<&HubFile> =
        files.iter().filter(|file| !hub.is_cached(&repository, file)).copied().collect();
    if !missing.is_empty() && !is_confirmed(context, &repository, &missing)? {
        return Err(CliError::usage("nothing was downloaded"));
    }
    let folder = download(context, &hub, &repository, &listing, &files).await?;
    finish(context, &repository, &folder)?;
    hub.publish(&repository, &listing)?;
    Ok(Exit::Done)
}

fn use_cached(context: &Context, settings: &HubSettings, repository: &RepositoryName) -> CliResult {
    let Some(folder) = cached_snapshot(&settings.cache, repository) else {
        let message = format!(
            "{repository} is not in {}, and HF_HUB_OFFLINE forbids a download; unset it",
            settings.cache.display()
        );
        return Err(CliError::usage(message));
    };
    finish(context, repository, &folder)?;
    Ok(Exit::Done)
}

fn wanted_files<'a>(
    repository: &RepositoryName,
    listing: &'a Listing,
) -> CliResult<Vec<&'a HubFile>> {
    let paths: Vec<&str> = listing.files.iter().map(|file| file.path.as_str()).collect();
    let wanted = files_of_repository(&paths).ok_or_else(|| {
        let onnx = paths.iter().filter(|path| is_onnx(path)).count();
        let found = count_with_noun(onnx as u64, "other ONNX file", "other ONNX files");
        CliError::usage(format!(
            "{repository} has none of {SEARCHED_PATHS} ({found}); choose a repository with ONNX files"
        ))
        .with_remedy("tessera model list --available")
    })?;
    Ok(wanted.into_iter().filter_map(|path| listing.file(path)).collect())
}

/// Shows the sizes of files, and asks whether to download them.
fn is_confirmed(
    context: &Context,
    repository: &RepositoryName,
    missing: &[&HubFile],
) -> CliResult<bool> {
    for file in missing {
        context.messages.info(format!("{:>10}  {}", format_bytes(file.bytes), file.path));
    }
    let bytes = format_bytes(missing.iter().map(|file| file.bytes).sum());
    let files = count_with_noun(missing.len() as u64, "file", "files");
    context.confirm(&format!("Download {files} of {repository}, {bytes} in all?"), "--yes")
}

/// Downloads the files, and then the weights that the ONNX files have in further files.
async fn download(
    context: &Context,
    hub: &Hub,
    repository: &RepositoryName,
    listing: &Listing,
    files: &[&HubFile],
) -> CliResult<PathBuf> {
    let all = files.iter().map(|file| file.bytes).sum();
    let bar = Mutex::new(context.messages.progress_bar("download"));
    let progress = |bytes| {
        if let Ok(mut bar) = bar.lock() {
            bar.set_bytes(bytes, Some(all));
        }
    };
    let folder = hub.download(repository, listing, files, &progress).await?;
    let weights = external_weights(listing, files, &folder)?;
    hub.download(repository, listing, &weights, &|_| {}).await?;
    Ok(folder)
}

/// Returns the files with external weights that are not among the files that were chosen by their names.
fn external_weights<'a>(
    listing: &'a Listing,
    files: &[&HubFile],
    folder: &Path,
) -> CliResult<Vec<&'a HubFile>> {
    let mut weights = Vec::new();
    for file in files.iter().filter(|file| is_onnx(&file.path)) {
        let named = named_external_files(&folder.join(&file.path));
        let named = named.map_err(|cause| CliError::failed(format!("{}: {cause}", file.path)))?;
        let inside = file.path.rfind('/').map_or("", |slash| &file.path[..=slash]);
        for name in named {
            let path = format!("{inside}{name}");
            if files.iter().any(|chosen| chosen.path == path) {
                continue;
            }
            let found = listing.file(&path).ok_or_else(|| {
                CliError::failed(format!(
                    "{} has weights in {path}, which is not in the repository",
                    file.path
                ))
            })?;
            weights.push(found);
        }
    }
    Ok(weights)
}

fn is_onnx(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "onnx")
}

fn finish(context: &Context, repository: &RepositoryName, folder: &Path) -> CliResult<()> {
    let model = load_model(folder)?;
    test_model(folder, &model)?;
    context.messages.info(format!("{repository} is ready; use it with --model {repository}"));
    Ok(())
}
