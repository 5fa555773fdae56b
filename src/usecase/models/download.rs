//! Plans the download of a model, and carries it out. A download that was stopped resumes where it ended.

use std::path::{Path, PathBuf};

use tessera_encoder::{SEARCHED_PATHS, files_of_repository, named_external_files};
use tessera_hub::{Hub, HubError, HubErrorKind, HubFile, Listing, RepositoryName, cached_snapshot};
use tessera_model::{FailureKind, ModelPlan, STARTER, text::count_with_noun};
use tokio::task::spawn_blocking;

use super::{ByteProgress, ModelError, load_model, starter, stored::hub_settings, test_model};

impl From<HubError> for ModelError {
    fn from(cause: HubError) -> Self {
        let kind = match cause.kind() {
            HubErrorKind::Unreachable => FailureKind::Unreachable,
            HubErrorKind::Temporary => FailureKind::Server,
            HubErrorKind::NoAccess => FailureKind::Unauthorized,
            HubErrorKind::NotFound => FailureKind::NotFound,
            HubErrorKind::Other => FailureKind::Local,
        };
        Self { kind, ..Self::failed(cause.to_string()) }
    }
}

/// A model that can be downloaded or made, with what is still missing of it.
pub struct ModelDownload {
    name: String,
    source: ModelSource,
}

enum ModelSource {
    /// The model is in this folder already.
    Folder(PathBuf),
    /// The hub cannot be reached, and this is what was downloaded before.
    LastDownload(PathBuf),
    Starter,
    Hub(Box<HubDownload>),
}

const LAST_DOWNLOAD: &str =
    "The hub cannot be reached, so the files of the last download are used.";

struct HubDownload {
    hub: Hub,
    repository: RepositoryName,
    listing: Listing,
    /// The files that were chosen by their names.
    files: Vec<HubFile>,
}

impl ModelDownload {
    /// Asks the hub for the files of a model. `name` is `starter`, or the name of a repository.
    pub async fn plan(name: &str) -> Result<Self, ModelError> {
        let source = match name {
            STARTER => starter::existing()?.map_or(ModelSource::Starter, ModelSource::Folder),
            _ => plan_repository(name).await?,
        };
        Ok(Self { name: name.to_owned(), source })
    }

    /// Returns the files that are missing, with their sizes.
    pub fn missing(&self) -> Vec<(&str, u64)> {
        let ModelSource::Hub(download) = &self.source else { return Vec::new() };
        let missing = download.missing();
        missing.map(|file| (file.path.as_str(), file.bytes)).collect()
    }

    pub fn summary(&self) -> ModelPlan {
        let name = self.name.clone();
        if let ModelSource::Starter = self.source {
            return ModelPlan { name, files: 1, bytes: starter::BYTES, note: starter::NOTE };
        }
        if let ModelSource::LastDownload(_) = self.source {
            return ModelPlan { name, files: 0, bytes: 0, note: LAST_DOWNLOAD };
        }
        let missing = self.missing();
        let bytes = missing.iter().map(|(_, bytes)| *bytes).fold(0, u64::saturating_add);
        ModelPlan { name, files: missing.len(), bytes, note: "" }
    }

    /// Downloads what is missing, tests the model, and returns its folder. Dropping the future stops the download.
    pub async fn run(self, progress: ByteProgress<'_>) -> Result<PathBuf, ModelError> {
        match self.source {
            ModelSource::Folder(folder) | ModelSource::LastDownload(folder) => tested(folder).await,
            ModelSource::Starter => starter::make(progress).await,
            ModelSource::Hub(download) => {
                let folder = tested(download.run(progress).await?).await?;
                download.hub.publish(&download.repository, &download.listing)?;
                Ok(folder)
            }
        }
    }
}

async fn plan_repository(name: &str) -> Result<ModelSource, ModelError> {
    let repository: RepositoryName = name.parse().map_err(|cause: HubError| {
        ModelError::usage(cause.to_string()).with_remedy("tessera model list --available")
    })?;
    let settings = hub_settings()?;
    if settings.is_offline {
        let cached = cached_snapshot(&settings.cache, &repository);
        return cached.map(ModelSource::Folder).ok_or_else(|| {
            ModelError::usage(format!(
                "{repository} is not in {}, and HF_HUB_OFFLINE forbids a download; unset it",
                settings.cache.display()
            ))
        });
    }
    let cache = settings.cache.clone();
    let hub = Hub::new(settings)?;
    let listing = match hub.list(&repository).await {
        Err(cause) if cause.kind() == HubErrorKind::Unreachable => {
            let cached = cached_snapshot(&cache, &repository);
            return Ok(ModelSource::LastDownload(cached.ok_or(cause)?));
        }
        listing => listing?,
    };
    let files = wanted_files(&repository, &listing)?;
    Ok(ModelSource::Hub(Box::new(HubDownload { hub, repository, listing, files })))
}

fn wanted_files(
    repository: &RepositoryName,
    listing: &Listing,
) -> Result<Vec<HubFile>, ModelError> {
    let paths: Vec<&str> = listing.files.iter().map(|file| file.path.as_str()).collect();
    let wanted = files_of_repository(&paths).ok_or_else(|| {
        let onnx = paths.iter().filter(|path| is_onnx(path)).count();
        let found = count_with_noun(onnx as u64, "other ONNX file", "other ONNX files");
        ModelError::usage(format!(
            "{repository} has none of {SEARCHED_PATHS} ({found}); choose a repository with ONNX files"
        ))
        .with_remedy("tessera model list --available")
    })?;
    Ok(wanted.into_iter().filter_map(|path| listing.file(path)).cloned().collect())
}

impl HubDownload {
    fn missing(&self) -> impl Iterator<Item = &HubFile> {
        self.files.iter().filter(|file| !self.hub.is_cached(&self.repository, file))
    }

    /// Downloads the files, and then the weights that the ONNX files have in further files.
    async fn run(&self, progress: ByteProgress<'_>) -> Result<PathBuf, ModelError> {
        let Self { hub, repository, listing, files } = self;
        let files: Vec<&HubFile> = files.iter().collect();
        let bytes =
            |files: &[&HubFile]| files.iter().map(|file| file.bytes).fold(0, u64::saturating_add);
        let all = bytes(&files);
        let folder = hub.download(repository, listing, &files, &|done| progress(done, all)).await?;
        let weights = external_weights(listing, &files, &folder)?;
        let more = all.saturating_add(bytes(&weights));
        hub.download(repository, listing, &weights, &|done| {
            progress(all.saturating_add(done), more);
        })
        .await?;
        Ok(folder)
    }
}

/// Returns the files with external weights that are not among the files that were chosen by their names.
fn external_weights<'a>(
    listing: &'a Listing,
    files: &[&HubFile],
    folder: &Path,
) -> Result<Vec<&'a HubFile>, ModelError> {
    let mut weights = Vec::new();
    for file in files.iter().filter(|file| is_onnx(&file.path)) {
        let named = named_external_files(&folder.join(&file.path));
        let named = named.map_err(|cause| ModelError::failed(format!("{}: {cause}", file.path)))?;
        let inside = file.path.rfind('/').map_or("", |slash| &file.path[..=slash]);
        for name in named {
            let path = format!("{inside}{name}");
            if files.iter().any(|chosen| chosen.path == path) {
                continue;
            }
            let found = listing.file(&path).ok_or_else(|| {
                ModelError::failed(format!(
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

/// Loads and tests the model in a folder, which takes all cores for a moment.
async fn tested(folder: PathBuf) -> Result<PathBuf, ModelError> {
    let test = spawn_blocking(move || {
        test_model(&folder, &load_model(&folder)?)?;
        Ok(folder)
    });
    test.await.map_err(|cause| ModelError::failed(cause.to_string()))?
}
