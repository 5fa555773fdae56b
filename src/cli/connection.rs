//! The connection of a command to a deployment.

use std::{
    io::{self, Write as _},
    sync::{Mutex, PoisonError},
};

use crate::{
    cli::{CliError, Context, Exit, LocalService, ServiceTarget, deployment},
    config,
    state::StateStore,
};
use tessera_client::trace::Trace;
use tessera_client::{ApiOperation, DryRun, DryRunRequest, RequestRecorder};
use tessera_model::{Failure, JobRecord, RequestOutcome, StateKey, StateValue, job};

/// Clock differences up to this many seconds are not reported.
const MAX_CLOCK_SKEW_SECS: u64 = 30;

/// A connection to a deployment.
pub struct Connection {
    pub client: tessera_client::Client,
    /// The name under which baskets, jobs and views are saved.
    pub deployment_name: String,
    pub journal: StateStore,
    dry_run: Option<DryRun>,
    /// The local deployment in this process, for the duration of the command.
    local: Option<LocalService>,
    /// The jobs of this command and the number of writes. Never locked across an await.
    jobs: Mutex<(u64, Vec<JobRecord>)>,
}

impl Context {
    /// Connects to the selected deployment. `about` lists the requests that the command exists for:
    /// `--print` and `--dry-run` print the first of them instead of sending it.
    pub async fn connect(&self, about: &'static [ApiOperation]) -> Result<Connection, CliError> {
        let target = self.target()?;
        self.connect_to(&target, about).await
    }

    pub async fn connect_to(
        &self,
        target: &ServiceTarget,
        about: &'static [ApiOperation],
    ) -> Result<Connection, CliError> {
        let (client, local) = deployment::client_for(target).await?;
        let place = target.name();
        let journal = target_journal(target);
        let client = match self.global.retries {
            Some(retries) => client.with_retries(retries),
            None => client,
        };
        let rehearsal = self.is_dry_run().then(|| DryRun::new(about));
        let client = match &rehearsal {
            Some(rehearsal) => client.with_dry_run(rehearsal.clone()),
            None => client,
        };
        Ok(Connection {
            client: self.with_recorder(client),
            deployment_name: place,
            journal,
            dry_run: rehearsal,
            local,
            jobs: Mutex::default(),
        })
    }

    /// A client that reports its requests if the options ask for it.
    pub(super) fn with_recorder(&self, client: tessera_client::Client) -> tessera_client::Client {
        if self.global.verbose || self.trace.is_enabled() {
            return client.with_recorder(request_recorder(self.global.verbose, self.trace.clone()));
        }
        client
    }

    /// Runs the work of a command against the selected deployment, and closes the connection
    /// afterwards.
    pub async fn with_connection(
        &self,
        about: &'static [ApiOperation],
        work: impl AsyncFnOnce(&Connection) -> Result<Exit, CliError>,
    ) -> Result<Exit, CliError> {
        let connection = self.connect(about).await?;
        let outcome = work(&connection).await;
        connection.close(self, outcome).await
    }

    /// The saved state of the selected deployment. Needs no connection.
    pub fn journal(&self) -> Result<StateStore, CliError> {
        self.target().map(|target| target_journal(&target))
    }
}

impl Connection {
    /// Closes the connection: stops a local deployment, and prints the request of a dry run.
    pub async fn close(
        self,
        context: &Context,
        outcome: Result<Exit, CliError>,
    ) -> Result<Exit, CliError> {
        if let Err(failure) = self.merge_jobs() {
            context.messages.warn(failure.to_string());
        }
        if let Some(local) = self.local {
            local.stop().await?;
        }
        report_login_changes(context, &self.client);
        if let Err(error) = context.trace.finish() {
            context.messages.warn(format!("the trace is incomplete: {error}"));
        }
        match self.dry_run.and_then(|rehearsal| rehearsal.request()) {
            Some(written) => context.print_dry_run(Some(written)),
            None => outcome,
        }
    }

    /// The request that was not sent. The caller prints it.
    pub fn take_dry_run_request(&self) -> Option<DryRunRequest> {
        self.dry_run.as_ref()?.take_request()
    }

    /// Merges the jobs of this command and of earlier commands into one file; the number of files
    /// is limited.
    fn merge_jobs(&self) -> Result<(), Failure> {
        let mut ours = self.with_jobs(|jobs| jobs.clone());
        if ours.is_empty() {
            return Ok(());
        }
        if let Some(StateValue::Jobs { own: left_behind, .. }) =
            self.journal.load(&StateKey::Jobs)?
        {
            ours.extend(left_behind);
        }
        ours.sort_by_key(|job| job.started_at);
        job::drop_oldest_finished(&mut ours);
        self.journal.save(
            self.next_sequence(),
            &StateValue::Jobs { own: ours, other_instances: Vec::new() },
        )
    }

    /// Sequence number of the next write; later writes replace earlier ones.
    pub(super) fn next_sequence(&self) -> u64 {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.0 += 1;
        jobs.0
    }

    pub(super) fn with_jobs<T>(&self, look: impl FnOnce(&mut Vec<JobRecord>) -> T) -> T {
        look(&mut self.jobs.lock().unwrap_or_else(PoisonError::into_inner).1)
    }
}

fn target_journal(target: &ServiceTarget) -> StateStore {
    config::state_dir(&target.name()).map(StateStore::in_dir).unwrap_or_default()
}

/// A warning if the clocks of this machine and the service differ noticeably.
pub fn clock_skew_warning(client: &tessera_client::Client) -> Option<String> {
    let skew = client.clock_skew();
    let (seconds, side) = (skew.unsigned_abs(), if skew > 0 { "behind" } else { "ahead of" });
    (seconds > MAX_CLOCK_SKEW_SECS)
        .then(|| format!("this machine's clock is {seconds} s {side} the service's"))
}

/// Reports what a command has learned about its login.
fn report_login_changes(context: &Context, client: &tessera_client::Client) {
    if let Some(words) = clock_skew_warning(client) {
        context.messages.info(format!("{words}; tokens use the service's time"));
    }
    if client.has_replaced_secret() {
        context.messages.info("the stored secret was replaced meanwhile; the new one was used");
    }
}

/// Reports every request on standard error and in a trace.
fn request_recorder(verbose: bool, trace: Trace) -> RequestRecorder {
    RequestRecorder::new(move |exchange| {
        trace.write(|| RequestRecorder::exchange_json(&exchange));
        if !verbose {
            return;
        }
        let outcome = match &exchange.outcome {
            RequestOutcome::Succeeded { status, bytes } => format!("{status}, {bytes} bytes"),
            RequestOutcome::Rejected { status, message: Some(words) } => {
                format!("{status}: {words}")
            }
            RequestOutcome::Rejected { status, message: None } => status.to_string(),
            RequestOutcome::Failed(cause) => format!("no answer: {cause}"),
        };
        let took = exchange.duration.as_millis();
        // Standard error may be closed.
        let _ = writeln!(
            io::stderr(),
            "tessera: {} {} -> {outcome} ({took} ms)",
            exchange.method,
            exchange.target
        );
    })
}
