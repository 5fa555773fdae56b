//! The connection of a command to a deployment: opened for the requests it is there for, and closed
//! with what is left to tell and to keep.

use std::{
    io::{self, Write as _},
    sync::{Mutex, PoisonError},
};

use crate::{
    cli::{Context, Ended, Exit, Local, Target, compose},
    config,
    journal::Journal,
};
use tessera_client::trace::Trace;
use tessera_client::{Operation as Request, Rehearsal, Rehearsed, Witness};
use tessera_model::{Book, Entry, Failure, JobRecord, Outcome, job};

/// Seconds by which clocks may differ without a word.
const SKEW: u64 = 30;

/// A deployment that is being asked.
pub struct Connection {
    /// The client.
    pub client: tessera_client::Client,
    /// Its name, by which baskets, jobs and views are kept.
    pub place: String,
    /// What outlives the program.
    pub journal: Journal,
    rehearsal: Option<Rehearsal>,
    /// The local deployment in this process, for as long as the command runs.
    local: Option<Local>,
    /// The jobs of this command, and how often they were written. Never locked over a wait.
    jobs: Mutex<(u64, Vec<JobRecord>)>,
}

impl Context {
    /// Connects to the deployment that the options name. `about` are the requests that the command is
    /// there for: `--print` and `--dry-run` print the first of them instead of sending it.
    ///
    /// # Errors
    /// No deployment is named, it has no secret, or a local one cannot start.
    pub async fn connect(&self, about: &'static [Request]) -> Result<Connection, Ended> {
        let target = self.target()?;
        self.connect_to(&target, about).await
    }

    /// The same to a deployment that was found otherwise.
    ///
    /// # Errors
    /// As [`Context::connect`].
    pub async fn connect_to(
        &self,
        target: &Target,
        about: &'static [Request],
    ) -> Result<Connection, Ended> {
        let (client, local) = compose::client_for(target).await?;
        let place = target.place();
        let journal = journal_of(target);
        let client = match self.global.retries {
            Some(retries) => client.with_retries(retries),
            None => client,
        };
        let rehearsal = self.is_rehearsal().then(|| Rehearsal::new(about));
        let client = match &rehearsal {
            Some(rehearsal) => client.rehearsing(rehearsal.clone()),
            None => client,
        };
        Ok(Connection {
            client: self.witnessed(client),
            place,
            journal,
            rehearsal,
            local,
            jobs: Mutex::default(),
        })
    }

    /// A client whose exchanges are told where the options say so.
    pub(super) fn witnessed(&self, client: tessera_client::Client) -> tessera_client::Client {
        if self.global.verbose || self.trace.is_on() {
            return client.with_witness(teller(self.global.verbose, self.trace.clone()));
        }
        client
    }

    /// Does the work of a command at the deployment that the options name, and ends the connection
    /// after it, whatever came of it.
    ///
    /// # Errors
    /// As [`Context::connect`], and those of the work.
    pub async fn at(
        &self,
        about: &'static [Request],
        work: impl AsyncFnOnce(&Connection) -> Result<Exit, Ended>,
    ) -> Result<Exit, Ended> {
        let connection = self.connect(about).await?;
        let outcome = work(&connection).await;
        connection.close(self, outcome).await
    }

    /// What outlives the program at the deployment that the options name. Asks nobody.
    ///
    /// # Errors
    /// No deployment is named.
    pub fn journal(&self) -> Result<Journal, Ended> {
        self.target().map(|target| journal_of(&target))
    }
}

impl Connection {
    /// Ends the connection after a command: a local deployment stops, and a rehearsal prints what was
    /// not sent.
    ///
    /// # Errors
    /// Those of the command, or standard output is closed.
    pub async fn close(
        self,
        context: &Context,
        outcome: Result<Exit, Ended>,
    ) -> Result<Exit, Ended> {
        if let Err(failure) = self.gather_jobs() {
            context.note.warn(failure.to_string());
        }
        if let Some(local) = self.local {
            local.stop().await?;
        }
        tell_of_login(context, &self.client);
        if let Err(error) = context.trace.finish() {
            context.note.warn(format!("the trace is not complete: {error}"));
        }
        match self.rehearsal.and_then(|rehearsal| rehearsal.written()) {
            Some(written) => context.rehearsed(Some(written)),
            None => outcome,
        }
    }

    /// The request that was not sent. Whoever takes it prints it.
    #[must_use]
    pub fn take_rehearsed(&self) -> Option<Rehearsed> {
        self.rehearsal.as_ref()?.take()
    }

    /// Puts the jobs of this command and those that others left behind into one file: else every command
    /// would leave one, and there is room for a few only.
    fn gather_jobs(&self) -> Result<(), Failure> {
        let mut ours = self.with_jobs(|jobs| jobs.clone());
        if ours.is_empty() {
            return Ok(());
        }
        if let Some(Entry::Jobs { ours: left_behind, .. }) = self.journal.recall(&Book::Jobs)? {
            ours.extend(left_behind);
        }
        ours.sort_by_key(|job| job.started);
        job::make_room(&mut ours);
        self.journal.keep(self.next_entry(), &Entry::Jobs { ours, elsewhere: Vec::new() })
    }

    /// Number of the next entry of the journal: later ones replace earlier ones.
    pub(super) fn next_entry(&self) -> u64 {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.0 += 1;
        jobs.0
    }

    /// Looks at the jobs of this command, or changes them.
    pub(super) fn with_jobs<T>(&self, look: impl FnOnce(&mut Vec<JobRecord>) -> T) -> T {
        look(&mut self.jobs.lock().unwrap_or_else(PoisonError::into_inner).1)
    }
}

fn journal_of(target: &Target) -> Journal {
    config::state_folder(&target.place()).map(Journal::in_folder).unwrap_or_default()
}

/// How far the clock of this machine is from the service's, when that is worth a word (M03).
pub fn told_skew(client: &tessera_client::Client) -> Option<String> {
    let skew = client.clock_skew();
    let (seconds, side) = (skew.unsigned_abs(), if skew > 0 { "behind" } else { "ahead of" });
    (seconds > SKEW)
        .then(|| format!("the clock of this machine is {seconds} s {side} the service's"))
}

/// Tells what a command has learned about its login (M03, S13).
fn tell_of_login(context: &Context, client: &tessera_client::Client) {
    if let Some(words) = told_skew(client) {
        context.note.say(format!("{words}; tokens are dated by the latter"));
    }
    if client.has_replaced_secret() {
        context.note.say("the secret was replaced meanwhile; the new one was read and used");
    }
}

/// Tells every exchange, on standard error and in a trace.
fn teller(verbose: bool, trace: Trace) -> Witness {
    Witness::new(move |exchange| {
        trace.line(|| Witness::record(&exchange));
        if !verbose {
            return;
        }
        let outcome = match &exchange.outcome {
            Outcome::Answered { status, bytes } => format!("{status}, {bytes} bytes"),
            Outcome::Refused { status, words: Some(words) } => format!("{status}: {words}"),
            Outcome::Refused { status, words: None } => status.to_string(),
            Outcome::Lost(cause) => format!("no answer: {cause}"),
        };
        let took = exchange.took.as_millis();
        // Nobody is left to be told when standard error is closed.
        let _ = writeln!(
            io::stderr(),
            "tessera: {} {} -> {outcome} ({took} ms)",
            exchange.method,
            exchange.target
        );
    })
}
