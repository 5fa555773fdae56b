//! The connection of a command to a deployment.

use std::sync::Mutex;

use crate::{
    cli::{CliResult, Context, LocalService, ServiceTarget, deployment, messages::write_message},
    config,
    state::StateStore,
};
use tessera_client::{ApiOperation, Client, DryRun, DryRunRequest, RequestRecorder, trace::Trace};
use tessera_model::{JobRecord, RequestOutcome};

/// Clock differences up to this many seconds are not reported.
const MAX_CLOCK_SKEW_SECS: u64 = 30;

pub struct Connection<'a> {
    pub context: &'a Context,
    pub client: Client,
    /// The name under which baskets, jobs and views are saved.
    pub deployment_name: String,
    pub journal: StateStore,
    dry_run: Option<DryRun>,
    /// The local deployment in this process, for the duration of the command.
    local: Option<LocalService>,
    /// The jobs of this command. Never locked across an await.
    pub(super) jobs: Mutex<Vec<JobRecord>>,
}

impl Context {
    /// Connects to the selected deployment. `about` lists the requests that the command exists for:
    /// `--print` and `--dry-run` print the first of them instead of sending it.
    pub async fn connect(&self, about: &'static [ApiOperation]) -> CliResult<Connection<'_>> {
        self.connect_to(&self.target()?, about).await
    }

    pub async fn connect_to(
        &self,
        target: &ServiceTarget,
        about: &'static [ApiOperation],
    ) -> CliResult<Connection<'_>> {
        let (mut client, local) = deployment::client_for(target).await?;
        if let Some(retries) = self.global.retries {
            client = client.with_retries(retries);
        }
        let dry_run = self.is_dry_run().then(|| DryRun::new(about));
        if let Some(dry_run) = &dry_run {
            client = client.with_dry_run(dry_run.clone());
        }
        Ok(Connection {
            context: self,
            client: self.with_listeners(client),
            deployment_name: target.name(),
            journal: target_journal(target),
            dry_run,
            local,
            jobs: Mutex::default(),
        })
    }

    /// Warns about unreadable fields, and records the requests if that is requested.
    pub(super) fn with_listeners(&self, client: Client) -> Client {
        let messages = self.messages;
        let client = client.with_field_warnings(move |sentence| messages.warn(sentence.as_str()));
        if self.global.verbose || self.trace.is_enabled() {
            return client.with_recorder(request_recorder(self.global.verbose, self.trace.clone()));
        }
        client
    }

    /// Runs `work` against the selected deployment, and closes the connection afterwards.
    pub async fn with_connection<'a>(
        &'a self,
        about: &'static [ApiOperation],
        work: impl AsyncFnOnce(&Connection<'a>) -> CliResult,
    ) -> CliResult {
        let connection = self.connect(about).await?;
        let outcome = work(&connection).await;
        connection.close(outcome).await
    }

    /// The saved state of the selected deployment. Needs no connection.
    pub fn journal(&self) -> CliResult<StateStore> {
        self.target().map(|target| target_journal(&target))
    }
}

impl Connection<'_> {
    /// Closes the connection: stops a local deployment, and prints the request of a dry run.
    pub async fn close(self, outcome: CliResult) -> CliResult {
        let context = self.context;
        if let Err(failure) = self.merge_jobs() {
            context.messages.warn(failure.to_string());
        }
        if let Some(local) = self.local {
            local.stop().await?;
        }
        if let Some(skew) = clock_skew_warning(&self.client) {
            context.messages.info(format!("{skew}; tokens use the service's time"));
        }
        if self.client.has_replaced_secret() {
            context.messages.info("the stored secret was replaced meanwhile; the new one was used");
        }
        if let Err(error) = context.trace.finish() {
            context.messages.warn(format!("the trace is incomplete: {error}"));
        }
        match self.dry_run.and_then(|dry_run| dry_run.request()) {
            Some(request) => context.print_dry_run(Some(request)),
            None => outcome,
        }
    }

    /// The request that was not sent. The caller prints it.
    pub fn take_dry_run_request(&self) -> Option<DryRunRequest> {
        self.dry_run.as_ref()?.take_request()
    }
}

pub(super) fn target_journal(target: &ServiceTarget) -> StateStore {
    config::state_dir(&target.name()).map(StateStore::in_dir).unwrap_or_default()
}

pub fn clock_skew_warning(client: &Client) -> Option<String> {
    let skew = client.clock_skew();
    let (seconds, side) = (skew.unsigned_abs(), if skew > 0 { "behind" } else { "ahead of" });
    (seconds > MAX_CLOCK_SKEW_SECS)
        .then(|| format!("this machine's clock is {seconds} s {side} the service's"))
}

fn request_recorder(verbose: bool, trace: Trace) -> RequestRecorder {
    RequestRecorder::new(move |exchange| {
        trace.write(|| RequestRecorder::exchange_json(&exchange));
        if !verbose {
            return;
        }
        let outcome = match &exchange.outcome {
            RequestOutcome::Succeeded { status, bytes } => format!("{status}, {bytes} bytes"),
            RequestOutcome::Rejected { status, message: Some(message) } => {
                format!("{status}: {message}")
            }
            RequestOutcome::Rejected { status, message: None } => status.to_string(),
            RequestOutcome::Failed(cause) => format!("no answer: {cause}"),
        };
        let (method, target) = (exchange.method, &exchange.target);
        let milliseconds = exchange.duration.as_millis();
        write_message(&format!("{method} {target} -> {outcome} ({milliseconds} ms)"));
    })
}
