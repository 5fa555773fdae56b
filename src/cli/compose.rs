//! Deployments ready to be asked: a local one that runs in this process, or one elsewhere.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use secrecy::SecretString;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::{
    cli::{
        Ended, Exit, Global, Kind,
        login::{self, Login},
    },
    config::{self, Manner, Place, Profile, Settings},
    credentials::{Holder, Secrets},
};
use tessera_client::{Authorities, BaseUrl, Endpoint, TextSearchPath};
use tessera_model::{DatasetId, Failure};
use tessera_service::LocalError;

/// A local deployment that runs in this process and is reached by HTTP like any other.
pub struct Local {
    /// The deployment itself, for what only its owner may know.
    pub deployment: tessera_service::Deployment,
    /// The datasets of the folders it was started with, in their order.
    pub datasets: Vec<DatasetId>,
    /// Where it listens.
    pub address: SocketAddr,
    /// Who may come in.
    access: tessera_service::Access,
    stop: oneshot::Sender<()>,
    served: JoinHandle<Result<(), LocalError>>,
}

impl Local {
    /// Opens the data folder (or the default one, `name` inside it), adds the folders, and serves them.
    ///
    /// # Errors
    /// A folder or the data folder cannot be used, or the address is taken.
    pub async fn start(
        data: Option<PathBuf>,
        folders: &[PathBuf],
        listen: SocketAddr,
        settings: tessera_service::Settings,
        options: tessera_service::Options,
    ) -> Result<Self, Ended> {
        let data = data_folder(data)?;
        // The address first: a taken one must not cost an index.
        let listener = TcpListener::bind(listen).await.map_err(|error| {
            let remedy = "choose another with --listen, or port 0 for any free one";
            Ended::new(Exit::Failed, format!("cannot listen at {listen}: {error}; {remedy}"))
        })?;
        let address = listener.local_addr()?;
        let access = options.access.clone();
        if matches!(access, tessera_service::Access::Open) && !address.ip().is_loopback() {
            return Err(LocalError::OpenToOthers(address).into());
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
        Ok(Self { deployment, datasets, address, access, stop, served })
    }

    /// The address for clients.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A client that may come in.
    ///
    /// # Errors
    /// The client cannot be set up.
    pub fn client(&self) -> Result<tessera_client::Client, Ended> {
        let access = match &self.access {
            tessera_service::Access::Token(credentials) => {
                tessera_client::Access::Hosted(tessera_client::Credentials {
                    api_key: credentials.api_key.clone(),
                    api_secret: credentials.api_secret.clone(),
                })
            }
            tessera_service::Access::Open => tessera_client::Access::OnPremises,
        };
        let endpoint = Endpoint::new(BaseUrl::parse(&self.base_url())?, access)?;
        Ok(tessera_client::Client::new(endpoint)?)
    }

    /// Comes back only when serving has ended by itself, which is a failure.
    pub async fn ended(&mut self) -> Ended {
        match (&mut self.served).await {
            Ok(Err(error)) => error.into(),
            Ok(Ok(())) => Ended::new(Exit::Failed, "the service has stopped by itself"),
            Err(error) => Ended::new(Exit::Failed, error.to_string()),
        }
    }

    /// Stops serving, and waits until open answers are finished.
    ///
    /// # Errors
    /// Serving had failed.
    pub async fn stop(self) -> Result<(), Ended> {
        // The receiver is gone only when serving has ended by itself.
        let _ = self.stop.send(());
        match self.served.await {
            Ok(served) => Ok(served?),
            Err(error) => Err(Ended::new(Exit::Failed, error.to_string())),
        }
    }
}

/// The folder of the index: the given one, or the one of this user.
pub(super) fn data_folder(given: Option<PathBuf>) -> Result<PathBuf, Ended> {
    given.or_else(config::local_folder).ok_or_else(|| {
        Ended::new(
            Exit::Usage,
            "there is no home folder to keep the index in; give one with --data DIR",
        )
    })
}

/// The deployment that the command line, the environment and the settings lead to.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A profile of the settings.
    Profile(Profile),
    /// An address of the command line.
    Address(Address),
}

/// An address that the command line or the environment gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// Where the service is.
    pub base_url: String,
    /// How one gets in.
    pub kind: Kind,
    /// Where its pipeline is.
    pub pipeline_url: Option<String>,
    /// How it is treated.
    pub manner: Manner,
}

impl Target {
    /// How it is treated.
    #[must_use]
    pub fn manner(&self) -> &Manner {
        match self {
            Self::Profile(profile) => &profile.manner,
            Self::Address(address) => &address.manner,
        }
    }

    /// Its name on screen, by which baskets, jobs and views are kept.
    #[must_use]
    pub fn place(&self) -> String {
        match self {
            Self::Profile(profile) => profile.name.clone(),
            Self::Address(address) => address.place(),
        }
    }
}

impl Address {
    /// Its name on screen: the address without its scheme.
    #[must_use]
    pub fn place(&self) -> String {
        let url = &self.base_url;
        url.trim_start_matches("https://").trim_start_matches("http://").to_owned()
    }
}

/// Decides the deployment: an address, else the named profile, else the default one, else the only
/// one; `None` when there is none of them.
///
/// # Errors
/// There is no profile of that name.
pub fn chosen(global: &Global, settings: &Settings) -> Result<Option<Target>, Ended> {
    // A flag is nearer than the environment: a profile that is named wins over an address that is set.
    if let (Some(base_url), Some(kind), None) = (&global.base_url, global.kind, &global.profile) {
        let (base_url, pipeline_url) = (base_url.clone(), global.pipeline_url.clone());
        let manner = Manner {
            text_search_path: settings.search.text_search_path.clone(),
            ..with_options(Manner::default(), global)
        };
        return Ok(Some(Target::Address(Address { base_url, kind, pipeline_url, manner })));
    }
    let only = || match settings.profiles.as_slice() {
        [only] => Some(only.name.clone()),
        _ => None,
    };
    let name = global.profile.clone().or_else(|| settings.default_profile.clone()).or_else(only);
    let Some(name) = name else { return Ok(None) };
    let profile = named(settings, &name)?;
    let manner = with_options(profile.manner, global);
    Ok(Some(Target::Profile(Profile { manner, ..profile })))
}

/// How a deployment is treated when the options have their say, too.
fn with_options(manner: Manner, global: &Global) -> Manner {
    Manner {
        read_only: manner.read_only || global.read_only,
        allow_http: manner.allow_http || global.allow_http,
        ca_file: global.ca_file.clone().or(manner.ca_file),
        ..manner
    }
}

/// The profile of this name.
///
/// # Errors
/// There is none; the sentence names those there are.
pub fn named(settings: &Settings, name: &str) -> Result<Profile, Ended> {
    let known = settings.profiles.iter().find(|profile| profile.name == name);
    known.cloned().ok_or_else(|| {
        let names: Vec<&str> = settings.profiles.iter().map(|each| each.name.as_str()).collect();
        let names = if names.is_empty() { "none yet".to_owned() } else { names.join(", ") };
        Ended::new(Exit::Usage, format!("there is no profile `{name}`; there are: {names}"))
    })
}

/// A client of a target. A local one is started in this process, and waited for until its folder is
/// indexed; it serves as long as it is held.
///
/// # Errors
/// The address cannot be used, a secret is missing, or the local deployment cannot start.
pub async fn client_for(target: &Target) -> Result<(tessera_client::Client, Option<Local>), Ended> {
    match target {
        Target::Address(address) => Ok((remote(address)?, None)),
        Target::Profile(Profile { place: Place::Local { folder }, .. }) => {
            let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let access = tessera_service::Access::Token(tessera_service::Credentials::generate());
            let folders = [folder.clone()];
            let local = Local::start(
                None,
                &folders,
                listen,
                tessera_service::Settings::default(),
                access.into(),
            )
            .await?;
            local.deployment.settled().await;
            Ok((local.client()?, Some(local)))
        }
        Target::Profile(profile) => {
            let secrets = login::secrets().ok();
            Ok((client_of(profile, None, secrets.as_ref())?, None))
        }
    }
}

/// A client of a profile elsewhere. `typed` is a secret that was just entered; else the environment
/// gives it, else what is stored.
///
/// # Errors
/// The address cannot be used, or a hosted profile has no secret.
pub fn client_of(
    profile: &Profile,
    typed: Option<SecretString>,
    secrets: Option<&Secrets>,
) -> Result<tessera_client::Client, Ended> {
    let endpoint = match &profile.place {
        Place::Local { .. } => {
            return Err(Ended::new(Exit::Usage, "a local profile has no address"));
        }
        Place::OnPrem { base_url, pipeline_url } => on_premises(base_url, pipeline_url.as_deref())?,
        Place::Hosted { base_url, api_key } => {
            let base_url = BaseUrl::parse(base_url)?;
            let origin = base_url.to_string();
            let holder = Holder { profile: &profile.name, origin: &origin, api_key };
            hosted(base_url, Login::of_profile(holder, typed, secrets)?, &profile.manner)?
        }
    };
    client_treated(endpoint, &profile.manner)
}

/// A client that treats the service as is wanted.
fn client_treated(
    mut endpoint: Endpoint,
    manner: &Manner,
) -> Result<tessera_client::Client, Ended> {
    let usage = |failure: Failure| Ended::new(Exit::Usage, failure.to_string());
    if let Some(life) = manner.token_ttl {
        endpoint = endpoint.with_token_life(life);
    }
    if let Some(path) = &manner.text_search_path {
        endpoint = endpoint.with_text_search(TextSearchPath::parse(path).map_err(usage)?);
    }
    if let Some(file) = &manner.ca_file {
        endpoint = endpoint.with_authorities(Authorities::read(file).map_err(usage)?);
    }
    Ok(tessera_client::Client::new(endpoint)?)
}

/// A service with login. Over a line that is not encrypted only where a person has said so (N30).
fn hosted(base_url: BaseUrl, login: Login, manner: &Manner) -> Result<Endpoint, Ended> {
    let endpoint = if manner.allow_http {
        Endpoint::in_clear(base_url, login.access)
    } else {
        Endpoint::new(base_url, login.access)?
    };
    Ok(match login.reload {
        Some(reload) => endpoint.with_reload(reload),
        None => endpoint,
    })
}

fn on_premises(base_url: &str, pipeline_url: Option<&str>) -> Result<Endpoint, Ended> {
    let endpoint = Endpoint::new(BaseUrl::parse(base_url)?, tessera_client::Access::OnPremises)?;
    Ok(match pipeline_url {
        Some(url) => endpoint.with_pipeline(BaseUrl::parse(url)?),
        None => endpoint,
    })
}

/// A client for a deployment elsewhere. The secret comes from the environment, never from the
/// command line, where other users of the machine could read it.
///
/// # Errors
/// The address or the credentials cannot be used.
pub fn remote(address: &Address) -> Result<tessera_client::Client, Ended> {
    let Address { base_url, kind, pipeline_url, manner } = address;
    let endpoint = match kind {
        Kind::Onprem => on_premises(base_url, pipeline_url.as_deref())?,
        Kind::Hosted => hosted(BaseUrl::parse(base_url)?, Login::of_environment()?, manner)?,
        Kind::Local => {
            let sentence =
                "a folder has no address: `tessera open DIR`, or a profile of the kind local";
            return Err(Ended::new(Exit::Usage, sentence));
        }
    };
    client_treated(endpoint, manner)
}
