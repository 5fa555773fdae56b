//! What a command works in: its settings and options, the two streams, and the deployment that it
//! asks.

use std::{
    fs,
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::Notify;

use crate::{
    api::{self, Operation as Request, Rehearsal, Rehearsed, Witness},
    cli::{
        Ended, Exit, Global, Local, Screen, Target, compose,
        note::Note,
        out::{Document, Out},
    },
    config::{self, Settings, Sources},
    journal::Journal,
    model::{Book, Entry, Failure, JobRecord, Outcome, job},
};

/// Time for a last look at the service after a person interrupted the command.
pub const LAST_LOOK: Duration = Duration::from_millis(200);

/// Seconds by which clocks may differ without a word.
const SKEW: u64 = 30;

/// The surroundings of a command.
#[derive(Debug)]
pub struct Context {
    /// The options of every command.
    pub global: Global,
    /// The settings, all layers.
    pub settings: Settings,
    /// Where the answer goes.
    pub out: Out,
    /// Where the rest goes.
    pub note: Note,
    /// Asks the terminal what it draws. That is known to the interface alone, which commands do not
    /// know.
    pub screen: fn() -> Screen,
    /// Whether the command ends by itself when it is interrupted, and how it learns that it is: one
    /// listener for the signal, because two do not always hear it together.
    last_words: AtomicBool,
    interrupted: Notify,
}

/// A deployment that is being asked.
pub struct Connection {
    /// The client.
    pub client: api::Client,
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

/// As long as it lives, the command ends by itself when it is interrupted.
pub struct LastWords<'a>(&'a Context);

impl LastWords<'_> {
    /// Waits until they are wanted: somebody has interrupted the command.
    pub async fn wanted(&self) {
        self.0.interrupted.notified().await;
    }
}

impl Drop for LastWords<'_> {
    fn drop(&mut self) {
        self.0.last_words.store(false, Ordering::Relaxed);
    }
}

impl Context {
    /// The surroundings that the options describe.
    ///
    /// # Errors
    /// Options that do not go together, or settings that cannot be read.
    pub fn new(global: Global, screen: fn() -> Screen) -> Result<Self, Ended> {
        global.check()?;
        let settings = Settings::load(&global.sources())
            .map_err(|error| Ended::new(Exit::Usage, error).remedy("tessera config validate"))?;
        let context = Self::with(global, settings, screen);
        if let Some(project) = &context.settings.project {
            context.note.say(format!("settings of the project: {}", project.display()));
        }
        Ok(context)
    }

    /// The surroundings of a command that must work whatever is wrong with the settings: those that
    /// come with the program.
    ///
    /// # Errors
    /// Options that do not go together.
    pub fn mending(global: Global, screen: fn() -> Screen) -> Result<Self, Ended> {
        global.check()?;
        let settings =
            Settings::load(&Sources::default()).map_err(|error| Ended::new(Exit::Failed, error))?;
        Ok(Self::with(global, settings, screen))
    }

    fn with(global: Global, settings: Settings, screen: fn() -> Screen) -> Self {
        let (out, note) = (Out::new(&global), Note::new(&global));
        Self {
            out,
            note,
            settings,
            global,
            screen,
            last_words: AtomicBool::default(),
            interrupted: Notify::default(),
        }
    }

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
        let client = if self.global.verbose { client.with_witness(teller()) } else { client };
        Ok(Connection { client, place, journal, rehearsal, local, jobs: Mutex::default() })
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

    /// Whether the request that the command is about is printed instead of sent.
    #[must_use]
    pub fn is_rehearsal(&self) -> bool {
        self.global.print.is_some() || self.global.dry_run
    }

    /// Lets the command end by itself when it is interrupted, for as long as the answer lives. It has
    /// a second for that.
    #[must_use]
    pub fn last_words(&self) -> LastWords<'_> {
        self.last_words.store(true, Ordering::Relaxed);
        LastWords(self)
    }

    /// Tells the command that it is interrupted, if it ends by itself then.
    pub(super) fn wants_last_words(&self) -> bool {
        let has = self.last_words.load(Ordering::Relaxed);
        if has {
            self.interrupted.notify_one();
        }
        has
    }

    /// What outlives the program at the deployment that the options name. Asks nobody.
    ///
    /// # Errors
    /// No deployment is named.
    pub fn journal(&self) -> Result<Journal, Ended> {
        self.target().map(|target| journal_of(&target))
    }

    /// The deployment that the options name.
    ///
    /// # Errors
    /// None is named.
    pub(super) fn target(&self) -> Result<Target, Ended> {
        compose::chosen(&self.global, &self.settings)?.ok_or_else(|| {
            let sentence =
                "no deployment is named: give --profile NAME or --base-url URL --kind KIND, or add a profile";
            Ended::new(Exit::Usage, sentence)
                .remedy("tessera profile add NAME --kind hosted --base-url URL")
        })
    }

    /// Asks the person. `flag` is what answers it in a script.
    ///
    /// # Errors
    /// There is nobody to ask.
    pub fn confirm(&self, question: &str, flag: &str) -> Result<bool, Ended> {
        if self.global.yes {
            return Ok(true);
        }
        if self.global.no_input || !io::stdin().is_terminal() {
            let sentence = format!("{question} There is nobody to ask: give {flag}");
            return Err(Ended::new(Exit::Usage, sentence));
        }
        let mut err = io::stderr().lock();
        write!(err, "tessera: {question} [y/N] ")?;
        err.flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Prints a request that was not sent.
    ///
    /// # Errors
    /// There is none, or standard output is closed.
    pub fn rehearsed(&self, written: Option<Rehearsed>) -> Result<Exit, Ended> {
        let missing = || Ended::new(Exit::Failed, "the command has no request to print");
        let written = written.ok_or_else(missing)?;
        if self.global.print.is_some() {
            self.out.text(&format!("{}\n", written.curl))?;
        } else {
            self.out.text(&format!("{} {}\n", written.method, written.url))?;
            self.note.say("nothing was sent");
        }
        Ok(Exit::Done)
    }

    /// Prints an answer.
    ///
    /// # Errors
    /// As [`Out::print`].
    pub fn answer(&self, document: &Document) -> Result<(), Ended> {
        self.out.print(document)
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

/// Tells what a command has learned about its login (M03, S13).
fn tell_of_login(context: &Context, client: &api::Client) {
    let skew = client.clock_skew();
    if skew.unsigned_abs() > SKEW {
        let (seconds, side) = (skew.unsigned_abs(), if skew > 0 { "behind" } else { "ahead of" });
        context.note.say(format!(
            "the clock of this machine is {seconds} s {side} the service's; tokens are dated by the latter"
        ));
    }
    if client.has_replaced_secret() {
        context.note.say("the secret was replaced meanwhile; the new one was read and used");
    }
}

/// Tells every exchange on standard error.
fn teller() -> Witness {
    Witness::new(|exchange| {
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

/// Reads what a person or a program gives on standard input, whole.
///
/// # Errors
/// It cannot be read.
pub fn standard_input() -> io::Result<String> {
    io::read_to_string(io::stdin().lock())
}

/// A path of the command line where `-` means standard input.
///
/// # Errors
/// The file cannot be read.
pub fn read_argument(path: &PathBuf) -> Result<String, Ended> {
    let read = if path.as_os_str() == "-" { standard_input() } else { fs::read_to_string(path) };
    read.map_err(|error| Ended::new(Exit::Usage, format!("{}: {error}", path.display())))
}
