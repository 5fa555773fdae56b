//! What a command works in: its settings and options, the two streams, and the person who may be
//! asked.

use std::{
    fs,
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tokio::sync::Notify;

use crate::{
    cli::{
        Ended, Exit, Global, Screen, Target, compose,
        note::Note,
        out::{Document, Out},
    },
    config::{Settings, Sources},
};
use tessera_client::Rehearsed;
use tessera_client::trace::Trace;

/// Time for a last look at the service after a person interrupted the command.
pub const LAST_LOOK: Duration = Duration::from_millis(200);

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
    /// Where every exchange is written down, if anywhere.
    pub(super) trace: Trace,
    /// Whether the command ends by itself when it is interrupted, and how it learns that it is: one
    /// listener for the signal, because two do not always hear it together.
    last_words: AtomicBool,
    interrupted: Notify,
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
            trace: Trace::off(),
            last_words: AtomicBool::default(),
            interrupted: Notify::default(),
        }
    }

    /// The same for a command that writes its own trace; the interface writes more into one.
    ///
    /// # Errors
    /// The file of `--trace` is there already or cannot be made.
    pub fn traced(self) -> Result<Self, Ended> {
        let Some(path) = &self.global.trace else { return Ok(self) };
        let trace = Trace::to(path).map_err(|error| {
            Ended::new(Exit::Usage, format!("--trace {}: {error}", path.display()))
        })?;
        Ok(Self { trace, ..self })
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
