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
        CliError, Exit, GlobalOptions, ServiceTarget, TerminalInfo, deployment,
        messages::Messages,
        output::{Document, Output},
    },
    config::{Settings, Sources},
};
use tessera_client::DryRunRequest;
use tessera_client::trace::Trace;

/// Time for a last look at the service after a person interrupted the command.
pub const INTERRUPT_CHECK_TIMEOUT: Duration = Duration::from_millis(200);

/// The surroundings of a command.
#[derive(Debug)]
pub struct Context {
    /// The options of every command.
    pub global: GlobalOptions,
    /// The settings, all layers.
    pub settings: Settings,
    /// Where the answer goes.
    pub out: Output,
    /// Where the rest goes.
    pub messages: Messages,
    /// Asks the terminal what it draws. That is known to the interface alone, which commands do not
    /// know.
    pub detect_terminal: fn() -> TerminalInfo,
    /// Where every exchange is written down, if anywhere.
    pub(super) trace: Trace,
    /// Whether the command ends by itself when it is interrupted, and how it learns that it is: one
    /// listener for the signal, because two do not always hear it together.
    handles_interrupt: AtomicBool,
    interrupt: Notify,
}

/// As long as it lives, the command ends by itself when it is interrupted.
pub struct InterruptGuard<'a>(&'a Context);

impl InterruptGuard<'_> {
    /// Waits until they are wanted: somebody has interrupted the command.
    pub async fn interrupted(&self) {
        self.0.interrupt.notified().await;
    }
}

impl Drop for InterruptGuard<'_> {
    fn drop(&mut self) {
        self.0.handles_interrupt.store(false, Ordering::Relaxed);
    }
}

impl Context {
    /// The surroundings that the options describe.
    ///
    /// # Errors
    /// Options that do not go together, or settings that cannot be read.
    pub fn new(global: GlobalOptions, screen: fn() -> TerminalInfo) -> Result<Self, CliError> {
        global.validate()?;
        let settings = Settings::load(&global.sources()).map_err(|error| {
            CliError::new(Exit::Usage, error).with_remedy("tessera config validate")
        })?;
        let context = Self::from_settings(global, settings, screen);
        if let Some(project) = &context.settings.project {
            context.messages.info(format!("settings of the project: {}", project.display()));
        }
        Ok(context)
    }

    /// The surroundings of a command that must work whatever is wrong with the settings: those that
    /// come with the program.
    ///
    /// # Errors
    /// Options that do not go together.
    pub fn with_default_settings(
        global: GlobalOptions,
        screen: fn() -> TerminalInfo,
    ) -> Result<Self, CliError> {
        global.validate()?;
        let settings = Settings::load(&Sources::default())
            .map_err(|error| CliError::new(Exit::Failed, error))?;
        Ok(Self::from_settings(global, settings, screen))
    }

    fn from_settings(
        global: GlobalOptions,
        settings: Settings,
        detect_terminal: fn() -> TerminalInfo,
    ) -> Self {
        let (out, messages) = (Output::new(&global), Messages::new(&global));
        Self {
            out,
            messages,
            settings,
            global,
            detect_terminal,
            trace: Trace::disabled(),
            handles_interrupt: AtomicBool::default(),
            interrupt: Notify::default(),
        }
    }

    /// The same for a command that writes its own trace; the interface writes more into one.
    ///
    /// # Errors
    /// The file of `--trace` is there already or cannot be made.
    pub fn with_trace(self) -> Result<Self, CliError> {
        let Some(path) = &self.global.trace else { return Ok(self) };
        let trace = Trace::create(path).map_err(|error| {
            CliError::new(Exit::Usage, format!("--trace {}: {error}", path.display()))
        })?;
        Ok(Self { trace, ..self })
    }

    /// Whether the request that the command is about is printed instead of sent.
    #[must_use]
    pub fn is_dry_run(&self) -> bool {
        self.global.print.is_some() || self.global.dry_run
    }

    /// Lets the command end by itself when it is interrupted, for as long as the answer lives. It has
    /// a second for that.
    #[must_use]
    pub fn handle_interrupt(&self) -> InterruptGuard<'_> {
        self.handles_interrupt.store(true, Ordering::Relaxed);
        InterruptGuard(self)
    }

    /// Tells the command that it is interrupted, if it ends by itself then.
    pub(super) fn notify_interrupt(&self) -> bool {
        let has = self.handles_interrupt.load(Ordering::Relaxed);
        if has {
            self.interrupt.notify_one();
        }
        has
    }

    /// The deployment that the options name.
    ///
    /// # Errors
    /// None is named.
    pub(super) fn target(&self) -> Result<ServiceTarget, CliError> {
        deployment::select_target(&self.global, &self.settings)?.ok_or_else(|| {
            let sentence =
                "no deployment is named: give --profile NAME or --base-url URL --kind KIND, or add a profile";
            CliError::new(Exit::Usage, sentence)
                .with_remedy("tessera profile add NAME --kind hosted --base-url URL")
        })
    }

    /// Asks the person. `flag` is what answers it in a script.
    ///
    /// # Errors
    /// There is nobody to ask.
    pub fn confirm(&self, question: &str, flag: &str) -> Result<bool, CliError> {
        if self.global.yes {
            return Ok(true);
        }
        if self.global.no_input || !io::stdin().is_terminal() {
            let sentence = format!("{question} There is nobody to ask: give {flag}");
            return Err(CliError::new(Exit::Usage, sentence));
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
    pub fn print_dry_run(&self, written: Option<DryRunRequest>) -> Result<Exit, CliError> {
        let missing = || CliError::new(Exit::Failed, "the command has no request to print");
        let written = written.ok_or_else(missing)?;
        if self.global.print.is_some() {
            self.out.print_text(&format!("{}\n", written.curl))?;
        } else {
            self.out.print_text(&format!("{} {}\n", written.method, written.url))?;
            self.messages.info("nothing was sent");
        }
        Ok(Exit::Done)
    }

    /// Prints an answer.
    ///
    /// # Errors
    /// As [`Out::print`].
    pub fn print(&self, document: &Document) -> Result<(), CliError> {
        self.out.print(document)
    }
}

/// Reads what a person or a program gives on standard input, whole.
///
/// # Errors
/// It cannot be read.
pub fn read_stdin() -> io::Result<String> {
    io::read_to_string(io::stdin().lock())
}

/// A path of the command line where `-` means standard input.
///
/// # Errors
/// The file cannot be read.
pub fn read_file_or_stdin(path: &PathBuf) -> Result<String, CliError> {
    let read = if path.as_os_str() == "-" { read_stdin() } else { fs::read_to_string(path) };
    read.map_err(|error| CliError::new(Exit::Usage, format!("{}: {error}", path.display())))
}
