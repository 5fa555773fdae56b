//! Selects the deployment that a command works with, and creates clients for it: a local one in
//! this process, or a remote one.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use secrecy::SecretString;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::{
    cli::{
        CliError, DeploymentKind, GlobalOptions,
        login::{self, ServiceLogin},
    },
    config::{self, DeploymentConfig, Profile, ProfileOptions, Settings},
    credentials::{SecretOwner, SecretStores},
};
use tessera_client::{BaseUrl, CertificateAuthorities, Endpoint, TextSearchPath};
use tessera_model::{DatasetId, Failure};
use tessera_service::LocalError;

/// A local deployment that runs in this process and is reached over HTTP like any other.
pub struct LocalService {
    /// Direct access, for what is not part of the API.
    pub deployment: tessera_service::Deployment,
    /// The datasets of the folders given at start, in the same order.
    pub datasets: Vec<DatasetId>,
    pub address: SocketAddr,
    access: tessera_service::AccessMode,
    stop: oneshot::Sender<()>,
    server_task: JoinHandle<Result<(), LocalError>>,
}

impl LocalService {
    /// Opens the data folder (or the default one), adds the folders, and serves them.
    pub async fn start(
        data: Option<PathBuf>,
        folders: &[PathBuf],
        listen: SocketAddr,
        settings: tessera_service::DeploymentSettings,
        options: tessera_service::ServerOptions,
    ) -> Result<Self, CliError> {
        let data = data_folder(data)?;
        // Bind first: an address in use must not cost an index.
        let listener = TcpListener::bind(listen).await.map_err(|error| {
            let remedy = "choose another address with --listen, or port 0 for a free port";
            CliError::failed(format!("cannot listen on {listen}: {error}; {remedy}"))
        })?;
        let address = listener.local_addr()?;
        let access = options.access.clone();
        if matches!(access, tessera_service::AccessMode::Open) && !address.ip().is_loopback() {
            return Err(LocalError::OpenOnNetwork(address).into());
        }
        let deployment = tessera_service::Deployment::open(&data, settings)?;
        let mut datasets = Vec::new();
        for folder in folders {
            datasets.push(deployment.add_folder(folder, None)?);
        }
        let (stop, stopped) = oneshot::channel();
        let serving = deployment.clone();
        let served = tokio::spawn(async move {
            let stopped = async { stopped.await.unwrap_or(()) };
            serving.serve(listener, options, stopped).await
        });
        Ok(Self { deployment, datasets, address, access, stop, server_task: served })
    }

    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn client(&self) -> Result<tessera_client::Client, CliError> {
        let access = match &self.access {
            tessera_service::AccessMode::Token(credentials) => {
                tessera_client::AuthMethod::Hosted(tessera_client::Credentials {
                    api_key: credentials.api_key.clone(),
                    api_secret: credentials.api_secret.clone(),
                })
            }
            tessera_service::AccessMode::Open => tessera_client::AuthMethod::OnPremises,
        };
        let endpoint = Endpoint::new(BaseUrl::parse(&self.base_url())?, access)?;
        Ok(tessera_client::Client::new(endpoint)?)
    }

    /// Returns only when the server stopped by itself, which is a failure.
    pub async fn wait_for_failure(&mut self) -> CliError {
        match (&mut self.server_task).await {
            Ok(Err(error)) => error.into(),
            Ok(Ok(())) => CliError::failed("the service stopped unexpectedly"),
            Err(error) => CliError::failed(error.to_string()),
        }
    }

    /// Stops the server after it has finished open responses.
    pub async fn stop(self) -> Result<(), CliError> {
        // The receiver is gone only if the server stopped by itself.
        let _ = self.stop.send(());
        match self.server_task.await {
            Ok(served) => Ok(served?),
            Err(error) => Err(CliError::failed(error.to_string())),
        }
    }
}

/// The given index folder, or the user's default.
pub(super) fn data_folder(given: Option<PathBuf>) -> Result<PathBuf, CliError> {
    given.or_else(config::local_data_dir).ok_or_else(|| {
        CliError::usage("there is no home folder for the index; give a folder with --data DIR")
    })
}

/// The deployment selected by the command line, the environment and the settings.
#[derive(Clone, Debug, PartialEq)]
pub enum ServiceTarget {
    Profile(Profile),
    Address(ServiceAddress),
}

/// An address from the command line or the environment.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceAddress {
    pub base_url: String,
    pub kind: DeploymentKind,
    pub pipeline_url: Option<String>,
    pub options: ProfileOptions,
}

impl ServiceTarget {
    pub fn options(&self) -> &ProfileOptions {
        match self {
            Self::Profile(profile) => &profile.options,
            Self::Address(address) => &address.options,
        }
    }

    /// The display name, under which baskets, jobs and views are saved.
    pub fn name(&self) -> String {
        match self {
            Self::Profile(profile) => profile.name.clone(),
            Self::Address(address) => address.place(),
        }
    }
}

impl ServiceAddress {
    /// The address without its scheme.
    pub fn place(&self) -> String {
        let url = &self.base_url;
        url.trim_start_matches("https://").trim_start_matches("http://").to_owned()
    }
}

/// Selects the deployment: an address, the named profile, the default profile, or the only profile;
/// `None` if there is none.
pub fn select_target(
    global: &GlobalOptions,
    settings: &Settings,
) -> Result<Option<ServiceTarget>, CliError> {
    // A flag takes precedence over the environment: a named profile wins over an address from a
    // variable.
    if let (Some(base_url), Some(kind), None) = (&global.base_url, global.kind, &global.profile) {
        let (base_url, pipeline_url) = (base_url.clone(), global.pipeline_url.clone());
        let manner = ProfileOptions {
            text_search_path: settings.search.text_search_path.clone(),
            ..with_global_options(ProfileOptions::default(), global)
        };
        return Ok(Some(ServiceTarget::Address(ServiceAddress {
            base_url,
            kind,
            pipeline_url,
            options: manner,
        })));
    }
    let only = || match settings.profiles.as_slice() {
        [only] => Some(only.name.clone()),
        _ => None,
    };
    let name = global.profile.clone().or_else(|| settings.default_profile.clone()).or_else(only);
    let Some(name) = name else { return Ok(None) };
    let profile = profile_by_name(settings, &name)?;
    let manner = with_global_options(profile.options, global);
    Ok(Some(ServiceTarget::Profile(Profile { options: manner, ..profile })))
}

/// Adds the command line options to those of a profile.
fn with_global_options(manner: ProfileOptions, global: &GlobalOptions) -> ProfileOptions {
    ProfileOptions {
        read_only: manner.read_only || global.read_only,
        allow_http: manner.allow_http || global.allow_http,
        ca_file: global.ca_file.clone().or(manner.ca_file),
        ..manner
    }
}

pub fn profile_by_name(settings: &Settings, name: &str) -> Result<Profile, CliError> {
    let known = settings.profiles.iter().find(|profile| profile.name == name);
    known.cloned().ok_or_else(|| {
        let names: Vec<&str> = settings.profiles.iter().map(|each| each.name.as_str()).collect();
        let names = if names.is_empty() { "none yet".to_owned() } else { names.join(", ") };
        CliError::usage(format!("there is no profile `{name}`; available: {names}"))
    })
}

/// A client for a target. A local deployment is started in this process and indexed first; it runs
/// until it is dropped.
pub async fn client_for(
    target: &ServiceTarget,
) -> Result<(tessera_client::Client, Option<LocalService>), CliError> {
    match target {
        ServiceTarget::Address(address) => Ok((address_client(address)?, None)),
        ServiceTarget::Profile(Profile {
            deployment: DeploymentConfig::Local { folder }, ..
        }) => {
            let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let access =
                tessera_service::AccessMode::Token(tessera_service::ServiceCredentials::generate());
            let folders = [folder.clone()];
            let local = LocalService::start(
                None,
                &folders,
                listen,
                tessera_service::DeploymentSettings::default(),
                access.into(),
            )
            .await?;
            local.deployment.wait_until_idle().await;
            Ok((local.client()?, Some(local)))
        }
        ServiceTarget::Profile(profile) => {
            let secrets = login::open_secrets().ok();
            Ok((profile_client(profile, None, secrets.as_ref())?, None))
        }
    }
}

/// A client for a remote profile. `typed` is a secret that was just entered; otherwise the secret
/// comes from the environment or the store.
pub fn profile_client(
    profile: &Profile,
    typed: Option<SecretString>,
    secrets: Option<&SecretStores>,
) -> Result<tessera_client::Client, CliError> {
    let endpoint = match &profile.deployment {
        DeploymentConfig::Local { .. } => {
            return Err(CliError::usage("a local profile has no address"));
        }
        DeploymentConfig::OnPrem { base_url, pipeline_url } => {
            on_premises_endpoint(base_url, pipeline_url.as_deref())?
        }
        DeploymentConfig::Hosted { base_url, api_key } => {
            let base_url = BaseUrl::parse(base_url)?;
            let origin = base_url.to_string();
            let holder = SecretOwner { profile: &profile.name, origin: &origin, api_key };
            hosted_endpoint(
                base_url,
                ServiceLogin::for_profile(holder, typed, secrets)?,
                &profile.options,
            )?
        }
    };
    configured_client(endpoint, &profile.options)
}

fn configured_client(
    mut endpoint: Endpoint,
    manner: &ProfileOptions,
) -> Result<tessera_client::Client, CliError> {
    let usage = |failure: Failure| CliError::usage(failure.to_string());
    if let Some(life) = manner.token_ttl {
        endpoint = endpoint.with_token_lifetime(life);
    }
    if let Some(path) = &manner.text_search_path {
        endpoint = endpoint.with_text_search(TextSearchPath::parse(path).map_err(usage)?);
    }
    if let Some(file) = &manner.ca_file {
        endpoint = endpoint.with_authorities(CertificateAuthorities::read(file).map_err(usage)?);
    }
    Ok(tessera_client::Client::new(endpoint)?)
}

/// An endpoint with login. Unencrypted connections require `allow_http`.
fn hosted_endpoint(
    base_url: BaseUrl,
    login: ServiceLogin,
    manner: &ProfileOptions,
) -> Result<Endpoint, CliError> {
    let endpoint = if manner.allow_http {
        Endpoint::new_allowing_http(base_url, login.access)
    } else {
        Endpoint::new(base_url, login.access)?
    };
    Ok(match login.reload {
        Some(reload) => endpoint.with_secret_reloader(reload),
        None => endpoint,
    })
}

fn on_premises_endpoint(base_url: &str, pipeline_url: Option<&str>) -> Result<Endpoint, CliError> {
    let endpoint =
        Endpoint::new(BaseUrl::parse(base_url)?, tessera_client::AuthMethod::OnPremises)?;
    Ok(match pipeline_url {
        Some(url) => endpoint.with_pipeline(BaseUrl::parse(url)?),
        None => endpoint,
    })
}

/// A client for an address. The secret comes from the environment, never from the command line,
/// which other users of the machine can read.
pub fn address_client(address: &ServiceAddress) -> Result<tessera_client::Client, CliError> {
    let ServiceAddress { base_url, kind, pipeline_url, options: manner } = address;
    let endpoint = match kind {
        DeploymentKind::Onprem => on_premises_endpoint(base_url, pipeline_url.as_deref())?,
        DeploymentKind::Hosted => {
            hosted_endpoint(BaseUrl::parse(base_url)?, ServiceLogin::from_environment()?, manner)?
        }
        DeploymentKind::Local => {
            let message =
                "a local folder has no address; use `tessera open DIR`, or a profile of kind local";
            return Err(CliError::usage(message));
        }
    };
    configured_client(endpoint, manner)
}
