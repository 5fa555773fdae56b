//! Selects the deployment of a command, and creates a client for it. A local deployment runs in
//! this process.

use std::{convert::Infallible, time::Instant};

use secrecy::SecretString;
use tessera_client::{
    ApiPrefix, AuthMethod, BaseUrl, CertificateAuthorities, Client, Credentials, ServiceConfig,
    TextSearchPath,
};
use tessera_config::{DeploymentConfig, DeploymentKind, Profile, ProfileOptions, Settings};
use tessera_model::is_same_name;
use tokio::time::timeout;

use crate::cli::prelude::*;
use crate::{
    cli::{
        FolderOpening, GlobalOptions, LocalService, local_settings,
        login::{self, ServiceLogin},
        messages::Messages,
    },
    credentials::{SecretLocations, SecretOwner},
    process_signals::blocking_read,
};

/// The deployment of a command.
#[derive(Clone, Debug)]
pub struct ServiceTarget {
    pub profile: Profile,
    /// Whether the profile is in the settings. Another profile stands for an address or a folder of the command line.
    pub is_saved: bool,
}

/// How long a folder is indexed before its progress is shown, in a terminal and in a log.
const BAR_DELAY: Duration = Duration::from_secs(1);
const LINE_DELAY: Duration = Duration::from_secs(10);
/// The interval between two requests for the progress of indexing.
const INDEXING_INTERVAL: Duration = Duration::from_millis(500);

/// The name of local deployments without a profile.
pub const LOCAL_NAME: &str = "local";

impl ServiceTarget {
    pub fn saved(profile: Profile) -> Self {
        Self { profile, is_saved: true }
    }

    fn unsaved(
        name: &str,
        deployment: DeploymentConfig,
        global: &GlobalOptions,
        settings: &Settings,
    ) -> Self {
        let options = ProfileOptions {
            text_search_path: settings.search.text_search_path.clone(),
            ..with_global_options(ProfileOptions::default(), global)
        };
        let profile = Profile { options, ..Profile::new(name, deployment) };
        Self { profile, is_saved: false }
    }

    /// Returns the local deployment of a folder without a profile.
    pub(super) fn of_folder(
        folder: PathBuf,
        model: Option<PathBuf>,
        global: &GlobalOptions,
        settings: &Settings,
    ) -> Self {
        let deployment = DeploymentConfig::Local { folder, model };
        Self::unsaved(LOCAL_NAME, deployment, global, settings)
    }

    /// Returns the profile if it is saved.
    pub fn into_saved(self) -> Option<Profile> {
        self.is_saved.then_some(self.profile)
    }

    /// Returns the folder and the model of a local deployment.
    pub(super) fn local_folder(&self) -> Option<(&Path, Option<&Path>)> {
        match &self.profile.deployment {
            DeploymentConfig::Local { folder, model } => Some((folder, model.as_deref())),
            DeploymentConfig::Hosted { .. } | DeploymentConfig::OnPrem { .. } => None,
        }
    }

    /// Returns the folder in which selections, jobs and views are saved.
    pub(super) fn state_dir(&self) -> Option<PathBuf> {
        match self.local_folder() {
            Some(_) => tessera_config::local_state_dir(),
            None => tessera_config::state_dir(&self.profile.name),
        }
    }

    /// Creates a client for an address. The secret of an address that is not in a profile comes only from the
    /// environment, because other users of the machine can read a command line.
    pub fn client(&self) -> CliResult<Client> {
        if self.is_saved {
            return profile_client(&self.profile, None, login::open_secrets().ok().as_ref());
        }
        remote_client(&self.profile, |base_url, _| ServiceLogin::for_address(base_url))
    }
}

/// Selects the deployment: a folder, an address, or the named, the default or the only profile. Returns
/// `None` if there is none.
pub fn select_target(
    global: &GlobalOptions,
    settings: &Settings,
) -> CliResult<Option<ServiceTarget>> {
    if let Some(folder) = &global.folder {
        return Ok(Some(ServiceTarget::of_folder(
            folder.clone(),
            settings.model.clone(),
            global,
            settings,
        )));
    }
    // A named profile takes precedence over an address from the environment.
    if let (Some(address), Some(kind), None) = (&global.base_url, global.kind, &global.profile) {
        let (base_url, pipeline_url) = (address.clone(), global.pipeline_url.clone());
        let deployment = match kind {
            DeploymentKind::Hosted => DeploymentConfig::Hosted { base_url, api_key: String::new() },
            DeploymentKind::Onprem => DeploymentConfig::OnPrem { base_url, pipeline_url },
            DeploymentKind::Local => return Err(no_address()),
        };
        let name = address.trim_start_matches("https://").trim_start_matches("http://");
        return Ok(Some(ServiceTarget::unsaved(name, deployment, global, settings)));
    }
    let named = global.profile.as_ref().or(settings.default_profile.as_ref());
    let profile = match (named, settings.profiles.as_slice()) {
        (Some(name), _) => profile_by_name(settings, name)?,
        (None, [only]) => only.clone(),
        (None, _) => return Ok(None),
    };
    let options = with_global_options(profile.options, global);
    Ok(Some(ServiceTarget::saved(Profile { options, ..profile })))
}

fn with_global_options(options: ProfileOptions, global: &GlobalOptions) -> ProfileOptions {
    ProfileOptions {
        read_only: options.read_only || global.read_only,
        allow_http: options.allow_http || global.allow_http,
        ca_file: global.ca_file.clone().or(options.ca_file),
        api_prefix: global.api_prefix.clone().or(options.api_prefix),
        ..options
    }
}

pub fn profile_by_name(settings: &Settings, name: &str) -> CliResult<Profile> {
    let known = settings.profiles.iter().find(|profile| is_same_name(&profile.name, name));
    known.cloned().ok_or_else(|| {
        let names: Vec<&str> = settings.profiles.iter().map(|each| each.name.as_str()).collect();
        let names = if names.is_empty() { "none yet".to_owned() } else { names.join(", ") };
        CliError::usage(format!("unknown profile `{name}`; available: {names}"))
    })
}

/// Creates a client for a target. A local deployment is started in this process, indexed first, and runs until it is
/// dropped. `messages` show how far a long indexing is, and why it waits. `limit` is the longest time for it.
pub async fn client_for(
    target: &ServiceTarget,
    opening: FolderOpening,
    messages: Messages,
    limit: Option<Duration>,
) -> CliResult<(Client, Option<LocalService>)> {
    if let Some((folder, model)) = target.local_folder() {
        let settings = local_settings(model, None)?;
        let local =
            LocalService::open_folders(&[folder.to_owned()], opening, None, settings).await?;
        let client = local.client()?;
        wait_until_indexed(&local, &client, messages, limit).await?;
        return Ok((client, Some(local)));
    }
    Ok((target.client()?, None))
}

/// Waits until the folders of a local deployment are indexed, and shows a long indexing.
pub(super) async fn wait_until_indexed(
    local: &LocalService,
    client: &Client,
    messages: Messages,
    limit: Option<Duration>,
) -> CliResult<()> {
    let indexed = async {
        tokio::select! {
            indexed = local.wait_until_indexed() => indexed,
            never = show_indexing(local, client, messages) => match never {},
        }
    };
    match limit {
        Some(limit) => timeout(limit, indexed).await.map_err(|_| {
            let limit = humantime::format_duration(limit);
            let message = format!("timed out after {limit}; the next command continues to index");
            CliError::new(Exit::TimedOut, message)
        })?,
        None => indexed.await,
    }
}

/// Shows how far a folder is indexed, and why its work waits, until this future is dropped. Most folders are indexed
/// before anything is shown.
async fn show_indexing(local: &LocalService, client: &Client, messages: Messages) -> Infallible {
    let begun = Instant::now();
    let delay = if messages.is_terminal() { BAR_DELAY } else { LINE_DELAY };
    let (mut bar, mut waiting) = (None, None);
    loop {
        tokio::time::sleep(INDEXING_INTERVAL).await;
        if let Some(id) = local.first_dataset()
            && let Ok(dataset) = client.dataset(id).await
            && dataset.status.is_busy()
        {
            if let Some(reason) = dataset.error.as_ref().filter(|_| dataset.error != waiting) {
                messages.warn(format!("{}: {reason}", dataset.name));
            }
            if begun.elapsed() >= delay {
                let bar = bar.get_or_insert_with(|| messages.progress_bar(dataset.name.as_str()));
                bar.set_status(&dataset.status, dataset.progress.unwrap_or_default());
            }
            waiting = dataset.error;
        }
    }
}

fn no_address() -> CliError {
    CliError::usage(
        "a local folder has no address; give it with --folder DIR, or `tessera open DIR`",
    )
}

/// Creates a client for a remote profile. `typed` is a secret that was just entered. If it is
/// `None`, the secret comes from the environment or from a store.
pub fn profile_client(
    profile: &Profile,
    typed: Option<SecretString>,
    secrets: Option<&SecretLocations>,
) -> CliResult<Client> {
    remote_client(profile, |base_url, api_key| {
        let origin = base_url.to_string();
        let owner = SecretOwner { profile: &profile.name, origin: &origin, api_key };
        ServiceLogin::for_profile(owner, typed, secrets)
    })
}

/// Creates a client for an address. `login` finds the login of a hosted deployment by its address and API key.
fn remote_client(
    profile: &Profile,
    login: impl FnOnce(&BaseUrl, &str) -> CliResult<ServiceLogin>,
) -> CliResult<Client> {
    let service = match &profile.deployment {
        DeploymentConfig::Local { .. } => return Err(no_address()),
        DeploymentConfig::OnPrem { base_url, pipeline_url } => {
            let service = ServiceConfig::new(parse_base_url(base_url)?, AuthMethod::OnPremises)?;
            match pipeline_url {
                Some(url) => service.with_pipeline(BaseUrl::parse_pipeline(url).map_err(usage)?),
                None => service,
            }
        }
        DeploymentConfig::Hosted { base_url, api_key } => {
            let base_url = parse_base_url(base_url)?;
            let ServiceLogin { access, reload, .. } = login(&base_url, api_key)?;
            let service = if profile.options.allow_http {
                ServiceConfig::new_allowing_http(base_url, access)
            } else {
                ServiceConfig::new(base_url, access)?
            };
            reload.into_iter().fold(service, ServiceConfig::with_secret_reloader)
        }
    };
    configured_client(service, &profile.options)
}

/// Creates a client for an endpoint with the options of its profile.
fn configured_client(mut service: ServiceConfig, options: &ProfileOptions) -> CliResult<Client> {
    if let Some(prefix) = &options.api_prefix {
        service = service.with_api_prefix(&ApiPrefix::parse(prefix).map_err(usage)?);
    }
    if let Some(life) = options.token_ttl {
        service = service.with_token_lifetime(life);
    }
    if let Some(path) = &options.text_search_path {
        service = service.with_text_search(TextSearchPath::parse(path).map_err(usage)?);
    }
    if let Some(file) = &options.ca_file {
        let read = blocking_read(|| CertificateAuthorities::read(file));
        service = service.with_authorities(read.map_err(usage)?);
    }
    Client::new(service).map_err(usage)
}

/// Creates a client for a hosted profile whose secret is missing. The client sends no request
/// before it logs in.
pub fn profile_client_without_secret(profile: &Profile) -> CliResult<Client> {
    remote_client(profile, |_, api_key| {
        let api_key = api_key.to_owned();
        let pair = Credentials { api_key, api_secret: SecretString::from("") };
        Ok(ServiceLogin::typed(AuthMethod::Hosted(pair)))
    })
}

/// Creates a client for a hosted profile with a browser session in place of its own login.
pub(super) fn session_client(profile: &Profile, session: SecretString) -> CliResult<Client> {
    remote_client(profile, |_, _| Ok(ServiceLogin::typed(AuthMethod::Session(session))))
}

/// Parses the address of a service. A wrong address is a usage error, because it comes from the user.
pub(super) fn parse_base_url(raw: &str) -> CliResult<BaseUrl> {
    BaseUrl::parse(raw).map_err(usage)
}

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
fn usage(failure: Failure) -> CliError {
    CliError::usage(failure.to_string())
}
