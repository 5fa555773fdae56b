//! The interface over HTTP: thin handlers over the store, behind a guard against browsers of
//! other sites and a login.

mod accept;
mod auth;
mod body;
mod cluster;
mod compat;
mod credentials;
mod dataset;
mod describe;
mod enrichment;
mod explore;
mod export;
mod file;
mod form;
mod guard;
mod limits;
mod links;
mod media;
mod operation;
mod params;
mod problem;
mod pulse;
mod question;
mod router;
mod selection;
mod similarity;

use std::sync::Arc;

use secrecy::SecretString;
use tokio::{net::TcpListener, sync::Semaphore, time::timeout};
use uuid::Uuid;

use crate::{
    Deployment, LocalError,
    store::{
        dataset::{self as datasets, Record},
        operation::{self as operations, Running},
    },
};
use auth::Gate;
pub use describe::PATH as OPENAPI;
pub use limits::Limits;
use problem::Problem;
use tessera_model::{DatasetId, Operation};

/// Who may use a served deployment.
#[derive(Clone, Debug)]
pub enum Access {
    /// Who holds the credentials (hosted behaviour): a JWT with every request of the interface.
    Token(Credentials),
    /// Everybody on this machine (on-premises behaviour): loopback only.
    Open,
}

/// How a deployment is served.
#[derive(Clone, Debug)]
pub struct Options {
    /// Who may use it.
    pub access: Access,
    /// Whether it accepts and answers what public clients are seen to send beyond the interface
    /// document.
    pub compat: bool,
    /// How patient it is.
    pub limits: Limits,
}

impl From<Access> for Options {
    fn from(access: Access) -> Self {
        Self { access, compat: false, limits: Limits::default() }
    }
}

/// The key pair that tokens are minted and checked with.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// Names the key: `kid` and `sub` of every token.
    pub api_key: String,
    /// Signs the tokens.
    pub api_secret: SecretString,
    /// Value of the cookie `SESSION` that stands for a signed-in browser.
    pub session: SecretString,
}

impl Credentials {
    /// A new random pair.
    #[must_use]
    pub fn generate() -> Self {
        let random = || Uuid::new_v4().simple().to_string();
        Self {
            api_key: format!("key-{}", random()),
            api_secret: SecretString::from(random() + &random()),
            session: SecretString::from(random() + &random()),
        }
    }
}

/// What every handler stands on.
#[derive(Clone)]
struct Site {
    deployment: Deployment,
    gate: Arc<Gate>,
    /// Whether it accepts what public clients are seen to send beyond the interface document.
    compat: bool,
    limits: Arc<Limits>,
    /// Places for expensive requests.
    heavy: Arc<Semaphore>,
}

/// How much work a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    /// A few indexed reads.
    Light,
    /// It ranks or decodes: few at a time.
    Heavy,
}

impl Site {
    /// Runs `work`, which may read the store or compute, where it holds up no other request.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Deployment) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let deployment = self.deployment.clone();
        tokio::task::spawn_blocking(move || work(&deployment))
            .await
            .unwrap_or_else(|_| Err(Problem::internal()))
    }

    /// As [`Site::blocking`]; heavy work waits for its turn. A client that goes away while it waits
    /// takes its request with it, because nobody polls this any more.
    async fn weighed<T: Send + 'static>(
        &self,
        weight: Weight,
        work: impl FnOnce(&Deployment) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = match weight {
            Weight::Light => None,
            Weight::Heavy => {
                let turn = timeout(self.limits.turn, self.heavy.clone().acquire_owned()).await;
                Some(turn.map_err(|_| Problem::busy())?)
            }
        };
        self.blocking(move |deployment| {
            // Work that has begun goes on to its end, so it also keeps its turn.
            let _turn = turn;
            work(deployment)
        })
        .await
    }
}

/// Serves a deployment until `shutdown` completes.
///
/// # Errors
/// [`Access::Open`] at an address that is not loopback, or the socket fails.
pub async fn serve(
    deployment: Deployment,
    listener: TcpListener,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> Result<(), LocalError> {
    let Options { access, compat, limits } = options;
    let address = listener.local_addr().map_err(LocalError::Socket)?;
    if matches!(access, Access::Open) && !address.ip().is_loopback() {
        return Err(LocalError::OpenToOthers(address));
    }
    let gate = Arc::new(Gate::new(access));
    let limits = Arc::new(limits);
    let heavy = Arc::new(Semaphore::new(limits.heavy));
    let site = Site { deployment, gate, compat, limits: limits.clone(), heavy };
    accept::accept(listener, router::router(site), limits, shutdown).await;
    Ok(())
}

/// A dataset, or 404.
fn found(deployment: &Deployment, id: DatasetId) -> Result<Record, Problem> {
    let record = deployment.store.read(|c| datasets::find(c, id))?;
    record.ok_or_else(|| Problem::not_found("Dataset not found"))
}

/// A dataset whose status allows an operation, or 404, or 409 with the reason.
fn ready_for(deployment: &Deployment, id: DatasetId, wanted: Operation) -> Result<Record, Problem> {
    let record = found(deployment, id)?;
    let running = deployment.store.read(|c| operations::of(c, id))?;
    blocked(&record, wanted, running.as_ref())?;
    Ok(record)
}

/// 409 if the status of a dataset forbids an operation: with what runs, or by the gate table.
fn blocked(record: &Record, wanted: Operation, running: Option<&Running>) -> Result<(), Problem> {
    let Some(reason) = record.status.allows(wanted).refusal() else {
        return Ok(());
    };
    let (wanted, word) = (wanted.term(), record.status.word());
    Err(Problem::conflict(match running {
        Some(running) => {
            format!("Operation '{wanted}' is blocked while {} task is running", running.kind.word())
        }
        None => format!("Operation '{wanted}' is blocked while the dataset is {word}: {reason}"),
    }))
}
