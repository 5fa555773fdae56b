//! Runs the local service in this process, and builds the settings that it is opened with.

use std::{
    collections::{BTreeMap, HashMap},
    env,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use crate::cli::prelude::*;
use crate::{
    cli::{
        FolderOpening,
        local::listening::{bind, bind_port_of, reachable_address},
        messages::{write_message, write_stderr},
        values::did_you_mean,
    },
    subprocess::is_called_by_assistant,
    usecase::{
        models::{NO_MODEL, load_model},
        run_blocking,
    },
};
use tessera_client::{AuthMethod, BaseUrl, Client, Credentials, ServiceConfig};
use tessera_files::Guarantee;
use tessera_media::object_storage::{ObjectStorage, StorageError, StorageSettings};
use tessera_model::{
    Cover, PatternLists, SkippedFile,
    text::{first_names, grouped_with_noun},
};
use tessera_picture::{Canvas, Crop, Protocol, fit_picture};
use tessera_service::{
    AccessMode, Deployment, DeploymentSettings, FolderWatch, LocalError, ModelChoice,
    OriginalPaths, ServerOptions, ServiceCredentials,
};
use tokio::{
    sync::oneshot,
    task::{JoinHandle, spawn_blocking},
    time::{sleep, timeout},
};

pub use tessera_service::DeploymentSettings as LocalSettings;

/// The time that loading a cover may take, because the user waits for the program to end.
const COVER_TIMEOUT: Duration = Duration::from_secs(1);
/// The time after which a command says why nothing happens.
const SLOW_OPENING: Duration = Duration::from_secs(3);
const MAX_COVER_BYTES: usize = 1 << 20;
/// The time that running tasks may take to stop, because the user waits for the program to end.
const TASKS_TIMEOUT: Duration = Duration::from_secs(2);

pub struct LocalService {
    /// Direct access to the deployment, for what is not part of the API.
    pub(super) deployment: Deployment,
    /// The datasets of the folders that were given at start, in the same order.
    pub(super) datasets: Vec<DatasetId>,
    /// The address at which clients reach the service.
    address: SocketAddr,
    access: AccessMode,
    folder_watch: Option<FolderWatch>,
    stop: oneshot::Sender<()>,
    server_task: JoinHandle<Result<(), LocalError>>,
}

/// The login that clients of a local service need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequiredLogin {
    None,
    /// A new login for each start.
    Generated,
    /// The login of the data folder, which stays the same.
    Kept,
}

impl LocalService {
    /// Opens the given or the default data folder, adds the folders, and serves them at the given address, or at the
    /// port of the data folder.
    pub(super) async fn start(
        data: Option<PathBuf>,
        settings: DeploymentSettings,
        (folders, opening): (&[PathBuf], FolderOpening),
        listen: Option<SocketAddr>,
        login: RequiredLogin,
        options: impl FnOnce(AccessMode) -> ServerOptions,
    ) -> CliResult<Self> {
        let data = index_dir(data)?;
        // The address is bound first, because an address that is in use must not cost an index.
        let listener = match listen {
            Some(address) => bind(address, "--listen").await?,
            None => bind_port_of(&data).await?,
        };
        let address = listener.local_addr().map_err(LocalError::Socket)?;
        if login == RequiredLogin::None && !address.ip().is_loopback() {
            return Err(LocalError::OpenOnNetwork(address).into());
        }
        // Other programs and assistants get only the folders that they were given, but this program can use everything
        // that it has indexed.
        let is_for_user = login == RequiredLogin::Generated && !is_called_by_assistant();
        let offers_all = is_for_user || settings.store.is_some();
        let deployment = open_deployment(&data, settings)?;
        deployment.check_settings().await?;
        let access = match login {
            RequiredLogin::None => AccessMode::Open,
            RequiredLogin::Generated => AccessMode::Token(ServiceCredentials::generate()),
            RequiredLogin::Kept => AccessMode::Token(deployment.kept_credentials()?),
        };
        let options = options(access.clone());
        write_notices(&deployment, &data);
        let mut datasets = Vec::new();
        for folder in folders {
            let (deployment, folder) = (deployment.clone(), folder.clone());
            let open = move || Ok::<_, CliError>(open_folder(&deployment, &folder, opening)?);
            datasets.push(run_blocking(open).await?);
        }
        let folder_watch =
            (opening == FolderOpening::Watch).then(|| deployment.watch_folders(&datasets));
        let folder_watch = folder_watch.transpose()?;
        let (stop, stopped) = oneshot::channel();
        let deployment = if offers_all { deployment } else { deployment.offering(&datasets) };
        let serving = deployment.clone();
        let served = tokio::spawn(async move {
            let stopped = async { stopped.await.unwrap_or(()) };
            serving.serve(listener, options, stopped).await
        });
        let address = reachable_address(address);
        Ok(Self { deployment, datasets, address, access, folder_watch, stop, server_task: served })
    }

    /// Serves folders on a free port of this machine, with a generated login.
    pub async fn open_folders(
        folders: &[PathBuf],
        opening: FolderOpening,
        data: Option<PathBuf>,
        settings: DeploymentSettings,
    ) -> CliResult<Self> {
        let listen = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let login = RequiredLogin::Generated;
        let settings = DeploymentSettings { original_paths: OriginalPaths::Shown, ..settings };
        // The members of clusters and the overview are not in the API document, so only a lenient service sends them.
        let options = |access| ServerOptions { compat: true, ..ServerOptions::from(access) };
        Self::start(data, settings, (folders, opening), listen, login, options).await
    }

    pub fn first_dataset(&self) -> Option<DatasetId> {
        self.datasets.first().copied()
    }

    /// Returns the number of images and videos of all folders, or `None` if it cannot be read, or is not known yet
    /// because a folder is being indexed.
    pub fn media_count(&self) -> Option<u64> {
        let counted = self.deployment.datasets().ok()?;
        let opened = counted.iter().filter(|record| self.datasets.contains(&record.id));
        opened.map(|it| (!it.status.is_busy()).then_some(it.n_images + it.n_videos)).sum()
    }

    /// Returns the folder of each dataset, or its address in a bucket. Only this machine gets to know them.
    pub fn dataset_folders(&self) -> CliResult<BTreeMap<DatasetId, PathBuf>> {
        let datasets = self.deployment.datasets()?.into_iter();
        Ok(datasets.map(|record| (record.id, record.folder)).collect())
    }

    pub fn skipped_files(&self, dataset: DatasetId) -> CliResult<Vec<SkippedFile>> {
        Ok(self.deployment.skipped_files(dataset)?)
    }

    /// Returns a small picture of the largest cluster of the first folder. There is none before the folder is indexed,
    /// or if the service does not respond quickly.
    pub async fn cover(&self) -> Cover {
        let cover = timeout(COVER_TIMEOUT, self.load_cover()).await;
        cover.ok().flatten().unwrap_or_default()
    }

    async fn load_cover(&self) -> Option<Cover> {
        let client = self.client().ok()?;
        let page = client.explore(&Search::browse(*self.datasets.first()?)).await.ok()?;
        let thumbnail = page.clusters.first()?.previews.first()?.thumbnail.clone()?;
        let bytes = client.fetch_picture(&thumbnail, MAX_COVER_BYTES).await.ok()?;
        let decode = move || {
            // A half-block has two pixels, one above the other.
            let (columns, rows) = (Cover::MAX_SIDE, Cover::MAX_SIDE / 2);
            let canvas = Canvas { columns, rows, cell: (1, 2), protocol: Protocol::HalfBlock };
            let picture = fit_picture(&bytes, &Crop::Full, canvas).ok()?.picture;
            let width = u16::try_from(picture.width()).ok()?;
            Some(Cover::new(picture.as_chunks::<3>().0, width))
        };
        spawn_blocking(decode).await.ok()?
    }

    pub fn report_skipped(&self) {
        for dataset in &self.datasets {
            report_skipped(&self.deployment, *dataset);
        }
    }

    /// Waits until the folders are indexed, and returns a warning about the pictures and videos
    /// that were skipped.
    pub fn skipped_warning(&self) -> impl Future<Output = Option<SafeText>> + Send + use<> {
        let (deployment, datasets) = (self.deployment.clone(), self.datasets.clone());
        async move {
            for dataset in &datasets {
                // An error is ignored here, because the list is also printed at the end.
                let _ = deployment.wait_until_indexed(*dataset).await;
            }
            let list = move || {
                let skipped = datasets.iter().map(|dataset| deployment.skipped_files(*dataset));
                // Errors are ignored here, because the list is also printed at the end.
                skipped.filter_map(Result::ok).flatten().collect::<Vec<_>>()
            };
            spawn_blocking(list).await.ok().and_then(|skipped| skipped_sentence(&skipped))
        }
    }

    /// Waits until the folders that were given at start are indexed.
    pub async fn wait_until_indexed(&self) -> CliResult<()> {
        for dataset in &self.datasets {
            self.deployment.wait_until_indexed(*dataset).await?;
        }
        Ok(())
    }

    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the login of the service, or `None` if it needs none.
    pub(super) fn credentials(&self) -> Option<&ServiceCredentials> {
        match &self.access {
            AccessMode::Token(credentials) => Some(credentials),
            AccessMode::Open => None,
        }
    }

    pub fn client(&self) -> CliResult<Client> {
        let access = self.credentials().map_or(AuthMethod::OnPremises, |credentials| {
            AuthMethod::Hosted(Credentials {
                api_key: credentials.api_key.clone(),
                api_secret: credentials.api_secret.clone(),
            })
        });
        let service = ServiceConfig::new(BaseUrl::parse(&self.base_url())?, access)?;
        let service = service.as_local_service();
        Ok(Client::new(service)?)
    }

    /// Waits until the server stops by itself, which is always a failure.
    pub async fn wait_for_failure(&mut self) -> CliError {
        match (&mut self.server_task).await {
            Ok(Err(error)) => error.into(),
            Ok(Ok(())) => CliError::failed("the service stopped unexpectedly"),
            Err(error) => CliError::failed(error.to_string()),
        }
    }

    /// Stops the server after it has finished open responses, and then the background work. A task that takes long to
    /// stop is left to its thread. If the process ends before the task stops, the next start resumes the task. Tags
    /// that are not written beside their folder by then are written when the folder is opened again.
    pub async fn stop(self) -> CliResult<()> {
        self.stop_within(TASKS_TIMEOUT).await
    }

    /// Stops as [`Self::stop`] does, but waits until all tasks have stopped.
    pub(super) async fn stop_completely(self) -> CliResult<()> {
        self.stop_within(Duration::MAX).await
    }

    async fn stop_within(self, limit: Duration) -> CliResult<()> {
        let Self { deployment, folder_watch, stop, server_task, .. } = self;
        // The receiver is gone only if the server has stopped by itself.
        let _ = stop.send(());
        let served = server_task.await;
        let stopping = spawn_blocking(move || {
            drop(folder_watch);
            deployment.write_tag_files();
            drop(deployment);
        });
        // A panic was already reported by the panic hook.
        let _ = timeout(limit, stopping).await;
        served.map_err(|error| CliError::failed(error.to_string()))?.map_err(CliError::from)
    }
}

/// Says what happened to the store, and what the file system of the index folder lacks.
fn write_notices(deployment: &Deployment, data: &Path) {
    let network = deployment.network_file_system().map(|name| {
        format!(
            "the index folder is on a network file system ({name}), where it is slow; give a local \
             one with --data"
        )
    });
    let missing = tessera_files::missing_guarantees(data, Guarantee::ALL);
    let notices = deployment.recovery_notice().into_iter().chain(network.as_deref());
    for notice in notices.chain(missing.iter().map(String::as_str)) {
        write_message(&format!("{notice}."));
    }
}

/// Opens a folder as a dataset. Warns if the folder, or one of its uploads, is missing.
fn open_folder(
    deployment: &Deployment,
    folder: &Path,
    opening: FolderOpening,
) -> Result<DatasetId, LocalError> {
    let known = match opening {
        FolderOpening::AsIndexed => deployment.find_folder(folder)?,
        FolderOpening::Update | FolderOpening::Watch => None,
    };
    let id = known.map_or_else(|| deployment.add_folder(folder, None), Ok)?;
    for folder in deployment.missing_folders(id)? {
        write_message(&format!(
            "the folder {} is missing or contains none of its files; its index can be searched until the folder is \
             back.",
            folder.display()
        ));
    }
    Ok(id)
}

/// Opens an index folder, and says so if this takes long. Another process may have the folder to itself.
pub(super) fn open_deployment(data: &Path, settings: LocalSettings) -> CliResult<Deployment> {
    let notice = tokio::spawn(async {
        sleep(SLOW_OPENING).await;
        write_message(
            "waiting for the index folder, which this process or another one is checking",
        );
    });
    let opened = Deployment::open(data, settings);
    notice.abort();
    Ok(opened?)
}

pub(super) fn index_dir(folder: Option<PathBuf>) -> CliResult<PathBuf> {
    folder
        .or_else(tessera_config::local_data_dir)
        .ok_or_else(|| CliError::usage(tessera_config::UNKNOWN_HOME))
}

pub(super) fn report_skipped(deployment: &Deployment, dataset: DatasetId) {
    const GROUPS: usize = 1_000;
    let Ok(skipped) = deployment.skipped_files(dataset) else {
        return;
    };
    let (excluded, skipped): (Vec<_>, Vec<_>) = skipped.into_iter().partition(|it| it.is_excluded);
    if !excluded.is_empty() {
        let entries = count_with_noun(excluded.len(), "file or folder", "files and folders");
        write_message(&format!("excluded {entries} by the patterns in .tessera.toml."));
    }
    if skipped.is_empty() {
        return;
    }
    let files = count_with_noun(skipped.len(), "file", "files");
    let were = if skipped.len() == 1 { "was" } else { "were" };
    write_message(&format!("{files} {were} not read, or not completely:"));
    let groups = grouped_by_reason(&skipped);
    write_stderr(&groups.iter().take(GROUPS).map(PrintableText::line).collect());
    if groups.len() > GROUPS {
        let more = groups.len() - GROUPS;
        write_stderr(&PrintableText::line(format_args!("  and {more} more reasons")));
    }
}

/// Returns a line for each reason, in the order of the first files, with a few of the files as examples.
fn grouped_by_reason(skipped: &[SkippedFile]) -> Vec<String> {
    const EXAMPLES: usize = 3;
    let mut groups: Vec<(&SafeText, Vec<&SkippedFile>)> = Vec::new();
    let mut positions = HashMap::new();
    for file in skipped {
        let at = *positions.entry(file.reason.as_str()).or_insert(groups.len());
        if at == groups.len() {
            groups.push((&file.reason, Vec::new()));
        }
        groups[at].1.push(file);
    }
    let line = |(reason, files): (&SafeText, Vec<&SkippedFile>)| {
        let examples =
            first_names(files.iter().map(|skipped| &skipped.file), files.len(), EXAMPLES);
        format!("  {examples}: {reason}")
    };
    groups.into_iter().map(line).collect()
}

/// Names the pictures and videos that were skipped, or returns `None` if there are none. Other skipped files are not
/// named, because folders are expected to contain them.
fn skipped_sentence(skipped: &[SkippedFile]) -> Option<SafeText> {
    const NAMED: usize = 3;
    let media: Vec<&SkippedFile> = skipped.iter().filter(|it| it.is_media()).collect();
    let short =
        |reason: &SafeText| reason.as_str().split(" (").next().unwrap_or_default().to_owned();
    let named = media.iter().take(NAMED).map(|it| format!("{} ({})", it.file, short(&it.reason)));
    let named = named.collect::<Vec<_>>().join(", ");
    let files = grouped_with_noun(media.len() as u64, "file", "files");
    let rest = if media.len() > NAMED { ", …; more are listed after you quit" } else { "" };
    let sentence = format!("cannot index {files}: {named}{rest}");
    (!media.is_empty()).then(|| SafeText::detail(&sentence))
}

impl From<LocalError> for CliError {
    fn from(error: LocalError) -> Self {
        let exit = match error {
            LocalError::NotFound(_) => Exit::NotFound,
            _ if error.is_usage_error() => Exit::Usage,
            _ => Exit::Failed,
        };
        let similar = match &error {
            LocalError::NoSuchFolder(missing) => did_you_mean(missing),
            _ => None,
        };
        Self::new(exit, format!("{error}{}", similar.unwrap_or_default()))
    }
}

/// Returns the settings of local deployments, with the model of a folder if one is given, or without a model if it is
/// `none`. The folders that are opened keep their patterns if none are given.
pub fn local_settings(
    model: Option<&Path>,
    patterns: Option<PatternLists>,
) -> CliResult<LocalSettings> {
    let model = model.map(choose_model).transpose()?.unwrap_or_default();
    Ok(LocalSettings { storage: storage_settings()?, model, patterns, ..LocalSettings::detect() })
}

fn choose_model(folder: &Path) -> CliResult<ModelChoice> {
    if folder == Path::new(NO_MODEL) {
        return Ok(ModelChoice::None);
    }
    let model = load_model(folder)?;
    for default in model.defaults() {
        write_message(&format!("model: {default}."));
    }
    Ok(ModelChoice::Own(Arc::new(model)))
}

/// Checks that a folder in object storage can be listed and has media.
pub async fn check_storage_folder(folder: &Path) -> CliResult<()> {
    let unusable = |error: StorageError| CliError::usage(error.to_string());
    let storage = ObjectStorage::new(storage_settings()?).map_err(unusable)?;
    storage.list(&folder.to_string_lossy(), None, 1).await.map(drop).map_err(unusable)
}

/// Returns the settings of object storage from the environment.
fn storage_settings() -> CliResult<StorageSettings> {
    let variables = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    StorageSettings::from_env(variables)
        .map_err(|why| CliError::usage(format!("object storage: {why}")))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use tessera_model::{FileKind, TagDefinitionChange};
    use tessera_testing::pictures::write_noise;

    use super::*;

    fn skipped(file: &str) -> SkippedFile {
        let reason = SafeText::detail("broken picture (truncated JPEG)");
        SkippedFile {
            file: SafeText::file_name(file),
            reason,
            kind: FileKind::from_name(file),
            is_excluded: false,
        }
    }

    #[test]
    fn only_skipped_pictures_and_videos_are_named() {
        let sentence = |files: &[SkippedFile]| skipped_sentence(files).map(|it| it.to_string());
        assert_eq!(sentence(&[skipped("notes.txt")]), None);
        assert_eq!(
            sentence(&[skipped("notes.txt"), skipped("a.jpg")]).as_deref(),
            Some("cannot index 1 file: a.jpg (broken picture)")
        );
        let many: Vec<SkippedFile> =
            (0..5).map(|number| skipped(&format!("{number}.jpg"))).collect();
        let sentence = sentence(&many).unwrap_or_default();
        assert!(sentence.starts_with("cannot index 5 files: 0.jpg (broken picture), "));
        assert!(sentence.ends_with("2.jpg (broken picture), …; more are listed after you quit"));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn stopping_does_not_wait_for_tags_that_cannot_be_written() {
        let [folder, data] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        write_noise(folder.path(), 1);
        let tags = folder.path().join(".tessera");
        fs::create_dir(&tags).unwrap();
        let (folders, data) = ([folder.path().to_owned()], Some(data.path().to_owned()));
        let opening = FolderOpening::AsIndexed;
        let local = LocalService::open_folders(&folders, opening, data, LocalSettings::default());
        let local = local.await.unwrap();
        local.wait_until_indexed().await.unwrap();
        let tags = File::open(tags).unwrap();
        tessera_files::lock(&tags).unwrap();
        let (client, dataset) = (local.client().unwrap(), local.first_dataset().unwrap());
        client.define_tag(dataset, "night", &TagDefinitionChange::Create(None)).await.unwrap();
        let stopping = local.stop_within(Duration::from_millis(100));
        assert!(timeout(Duration::from_secs(20), stopping).await.is_ok_and(|it| it.is_ok()));
    }
}
