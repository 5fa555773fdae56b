//! Deployments ready to be asked: a local one that runs in this process, or one elsewhere.

use std::{env, net::SocketAddr, path::PathBuf};

use secrecy::SecretString;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::{
    api::{self, BaseUrl, Endpoint, TextSearchPath},
    cli::{Ended, Exit, Kind},
    config::{self, Place, Profile},
    credentials::{self, Holder, Secrets},
    local::{self, LocalError},
    model::DatasetId,
};

/// A local deployment that runs in this process and is reached by HTTP like any other.
pub struct Local {
    /// The deployment itself, for what only its owner may know.
    pub deployment: local::Deployment,
    /// The datasets of the folders it was started with, in their order.
    pub datasets: Vec<DatasetId>,
    /// Where it listens.
    pub address: SocketAddr,
    /// Who may come in.
    access: local::Access,
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
        settings: local::Settings,
        options: local::Options,
    ) -> Result<Self, Ended> {
        let data = data_folder(data)?;
        // The address first: a taken one must not cost an index.
        let listener = TcpListener::bind(listen).await.map_err(|error| {
            let remedy = "choose another with --listen, or port 0 for any free one";
            Ended::new(Exit::Failed, format!("cannot listen at {listen}: {error}; {remedy}"))
        })?;
        let address = listener.local_addr()?;
        let access = options.access.clone();
        if matches!(access, local::Access::Open) && !address.ip().is_loopback() {
            return Err(LocalError::OpenToOthers(address).into());
        }
        let deployment = local::Deployment::open(&data, settings)?;
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
    pub fn client(&self) -> Result<api::Client, Ended> {
        let access = match &self.access {
            local::Access::Token(credentials) => api::Access::Hosted(api::Credentials {
                api_key: credentials.api_key.clone(),
                api_secret: credentials.api_secret.clone(),
            }),
            local::Access::Open => api::Access::OnPremises,
        };
        let endpoint = Endpoint::new(BaseUrl::parse(&self.base_url())?, access)?;
        Ok(api::Client::new(endpoint)?)
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

/// A client of a profile elsewhere. `typed` is a secret that was just entered; else the environment
/// gives it, else what is stored.
///
/// # Errors
/// The address cannot be used, or a hosted profile has no secret.
pub fn client_of(
    profile: &Profile,
    typed: Option<SecretString>,
    secrets: Option<&Secrets>,
) -> Result<api::Client, Ended> {
    let (endpoint, text_search_path) = match &profile.place {
        Place::Local { .. } => {
            return Err(Ended::new(Exit::Usage, "a local profile has no address"));
        }
        Place::OnPrem { base_url, pipeline_url, text_search_path } => {
            (on_premises(base_url, pipeline_url.as_deref())?, text_search_path)
        }
        Place::Hosted { base_url, api_key, text_search_path } => {
            let base_url = BaseUrl::parse(base_url)?;
            let origin = base_url.to_string();
            let holder = Holder { profile: &profile.name, origin: &origin, api_key };
            let api_secret = secret_of(holder, typed, secrets)?;
            let credentials = api::Credentials { api_key: api_key.clone(), api_secret };
            (Endpoint::new(base_url, api::Access::Hosted(credentials))?, text_search_path)
        }
    };
    let endpoint = match text_search_path {
        Some(path) => endpoint.with_text_search(TextSearchPath::parse(path)?),
        None => endpoint,
    };
    Ok(api::Client::new(endpoint)?)
}

fn secret_of(
    holder: Holder,
    typed: Option<SecretString>,
    secrets: Option<&Secrets>,
) -> Result<SecretString, Ended> {
    let usage = |error: String| Ended::new(Exit::Usage, error);
    if let Some(secret) = typed {
        return Ok(secret);
    }
    if let Some(secret) = credentials::from_environment().map_err(usage)? {
        return Ok(secret);
    }
    let stored = secrets.map_or(Ok(None), |secrets| secrets.find(holder)).map_err(usage)?;
    stored.ok_or_else(|| {
        let (name, variable) = (holder.profile, credentials::SECRET_FILE);
        usage(format!("the profile `{name}` has no secret: enter it again, or set {variable}"))
    })
}

fn on_premises(base_url: &str, pipeline_url: Option<&str>) -> Result<Endpoint, Ended> {
    let endpoint = Endpoint::new(BaseUrl::parse(base_url)?, api::Access::OnPremises)?;
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
pub fn remote(
    base_url: &str,
    kind: Kind,
    pipeline_url: Option<&str>,
) -> Result<api::Client, Ended> {
    let access = match kind {
        Kind::Onprem => return Ok(api::Client::new(on_premises(base_url, pipeline_url)?)?),
        Kind::Hosted => api::Access::Hosted(api::Credentials {
            api_key: variable("TESSERA_API_KEY")?,
            api_secret: SecretString::from(variable("TESSERA_API_SECRET")?),
        }),
    };
    Ok(api::Client::new(Endpoint::new(BaseUrl::parse(base_url)?, access)?)?)
}

fn variable(name: &str) -> Result<String, Ended> {
    env::var(name).ok().filter(|value| !value.trim().is_empty()).ok_or_else(|| {
        let sentence = format!("a hosted deployment needs {name} in the environment; for one without login give --kind onprem");
        Ended::new(Exit::Usage, sentence)
    })
}
