//! The interface over HTTP: thin handlers over the store, behind a guard against browsers of
//! other sites and a login.

mod accept;
mod add_media_form;
mod auth;
mod cluster_body;
mod compat;
mod connection_monitor;
mod credentials;
mod dataset;
mod dataset_operations;
mod enrichment;
mod explore;
mod export;
mod file_response;
mod limits;
mod media;
mod multipart_form;
mod openapi;
mod origin_check;
mod problem;
mod query_image;
mod query_params;
mod router;
mod search_params;
mod selection;
mod signed_links;

use std::sync::Arc;

use secrecy::SecretString;
use tokio::{net::TcpListener, sync::Semaphore, time::timeout};
use uuid::Uuid;

use crate::{
    Deployment, LocalError,
    store::{
        dataset::{self as datasets, DatasetRecord},
        operation::{self as operations, RunningOperation},
    },
};
use auth::Authenticator;
pub use limits::ServerLimits;
pub use openapi::OPENAPI_PATH as OPENAPI;
use problem::Problem;
use tessera_model::{DatasetId, Operation};

/// Who may use a served deployment.
#[derive(Clone, Debug)]
pub enum AccessMode {
    /// Who holds the credentials (hosted behaviour): a JWT with every request of the interface.
    Token(ServiceCredentials),
    /// Everybody on this machine (on-premises behaviour): loopback only.
    Open,
}

/// How a deployment is served.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Who may use it.
    pub access: AccessMode,
    /// Whether it accepts and answers what public clients are seen to send beyond the interface
    /// document.
    pub compat: bool,
    /// How patient it is.
    pub limits: ServerLimits,
}

impl From<AccessMode> for ServerOptions {
    fn from(access: AccessMode) -> Self {
        Self { access, compat: false, limits: ServerLimits::default() }
    }
}

/// The key pair that tokens are minted and checked with.
#[derive(Clone, Debug)]
pub struct ServiceCredentials {
    /// Names the key: `kid` and `sub` of every token.
    pub api_key: String,
    /// Signs the tokens.
    pub api_secret: SecretString,
    /// Value of the cookie `SESSION` that stands for a signed-in browser.
    pub session: SecretString,
}

impl ServiceCredentials {
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
struct AppState {
    deployment: Deployment,
    authenticator: Arc<Authenticator>,
    /// Whether it accepts what public clients are seen to send beyond the interface document.
    compat: bool,
    limits: Arc<ServerLimits>,
    /// Places for expensive requests.
    expensive_slots: Arc<Semaphore>,
}

/// How much work a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestCost {
    /// A few indexed reads.
    Cheap,
    /// It ranks or decodes: few at a time.
    Expensive,
}

impl AppState {
    /// Runs `work`, which may read the store or compute, where it holds up no other request.
    async fn spawn_blocking<T: Send + 'static>(
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
    async fn run_blocking<T: Send + 'static>(
        &self,
        weight: RequestCost,
        work: impl FnOnce(&Deployment) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = match weight {
            RequestCost::Cheap => None,
            RequestCost::Expensive => {
                let turn = timeout(
                    self.limits.queue_timeout,
                    self.expensive_slots.clone().acquire_owned(),
                )
                .await;
                Some(turn.map_err(|_| Problem::busy())?)
            }
        };
        self.spawn_blocking(move |deployment| {
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
    options: ServerOptions,
    shutdown: impl Future<Output = ()>,
) -> Result<(), LocalError> {
    let ServerOptions { access, compat, limits } = options;
    let address = listener.local_addr().map_err(LocalError::Socket)?;
    if matches!(access, AccessMode::Open) && !address.ip().is_loopback() {
        return Err(LocalError::OpenOnNetwork(address));
    }
    let gate = Arc::new(Authenticator::new(access));
    let limits = Arc::new(limits);
    let heavy = Arc::new(Semaphore::new(limits.max_expensive));
    let site = AppState {
        deployment,
        authenticator: gate,
        compat,
        limits: limits.clone(),
        expensive_slots: heavy,
    };
    accept::serve_connections(listener, router::build_router(site), limits, shutdown).await;
    Ok(())
}

/// A dataset, or 404.
fn require_dataset(deployment: &Deployment, id: DatasetId) -> Result<DatasetRecord, Problem> {
    let record = deployment.store.read(|c| datasets::find(c, id))?;
    record.ok_or_else(|| Problem::not_found("Dataset not found"))
}

/// A dataset whose status allows an operation, or 404, or 409 with the reason.
fn require_ready(
    deployment: &Deployment,
    id: DatasetId,
    wanted: Operation,
) -> Result<DatasetRecord, Problem> {
    let record = require_dataset(deployment, id)?;
    let running = deployment.store.read(|c| operations::find_running(c, id))?;
    check_status(&record, wanted, running.as_ref())?;
    Ok(record)
}

/// 409 if the status of a dataset forbids an operation: with what runs, or by the gate table.
fn check_status(
    record: &DatasetRecord,
    wanted: Operation,
    running: Option<&RunningOperation>,
) -> Result<(), Problem> {
    let Some(reason) = record.status.allows(wanted).denial_reason() else {
        return Ok(());
    };
    let (wanted, word) = (wanted.code(), record.status.word());
    Err(Problem::conflict(match running {
        Some(running) => {
            format!(
                "Operation '{wanted}' is blocked while {} task is running",
                running.kind.as_str()
            )
        }
        None => format!("Operation '{wanted}' is blocked while the dataset is {word}: {reason}"),
    }))
}
