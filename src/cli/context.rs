//! Defines the context that every command receives: settings, options, output, prompts, and what
//! the terminal can draw.

use std::{
    fmt::Display,
    io::{self, IsTerminal as _},
    sync::atomic::{AtomicBool, Ordering},
};

use tessera_client::{DryRunRequest, Trace};
use tessera_config::{Settings, Sources};
use tessera_model::FailureKind;
use tessera_picture::Protocol;
use tokio::sync::Notify;

use crate::cli::prelude::*;
use crate::cli::{
    DoctorResult, GlobalOptions, ServiceTarget, deployment, keyboard,
    messages::{Messages, write_stderr},
    output::{Document, Output},
    values::similar_folder,
};

/// The time limit for checking the service after the user has interrupted a command.
pub const INTERRUPT_CHECK_TIMEOUT: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct Context {
    pub global: GlobalOptions,
    pub settings: Settings,
    pub out: Output,
    pub messages: Messages,
    /// Detects what the terminal can draw. The interface provides this function, because commands
    /// do not import the interface.
    pub detect_terminal: fn() -> TerminalInfo,
    pub(super) trace: Trace,
    /// Whether the command handles an interrupt itself, and how it is notified. There is only one
    /// signal listener, because with two it is not certain that both receive the signal.
    handles_interrupt: AtomicBool,
    interrupt: Notify,
}

impl Context {
    pub fn new(global: GlobalOptions, screen: fn() -> TerminalInfo) -> CliResult<Self> {
        global.validate()?;
        let settings = global.load_settings()?;
        let context = Self::from_settings(global, settings, screen);
        for warning in &context.settings.warnings {
            context.messages.warn(warning);
        }
        if let Some(project) = &context.settings.project {
            context.messages.info(format!("using project settings: {}", project.display()));
        }
        Ok(context)
    }

    /// Creates a context with the built-in settings, for commands that must work when the settings
    /// are invalid.
    pub fn with_default_settings(
        global: GlobalOptions,
        screen: fn() -> TerminalInfo,
    ) -> CliResult<Self> {
        global.validate()?;
        let settings = Settings::load(&Sources::default()).map_err(CliError::failed)?;
        Ok(Self::from_settings(global, settings, screen))
    }

    fn from_settings(
        global: GlobalOptions,
        settings: Settings,
        detect_terminal: fn() -> TerminalInfo,
    ) -> Self {
        let messages = Messages::new(global.quiet);
        let out = Output::new(&global);
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

    /// Opens the trace file. The interface opens its own, because it records more.
    pub fn with_trace(self) -> CliResult<Self> {
        Ok(Self { trace: self.global.open_trace()?, ..self })
    }

    pub fn is_dry_run(&self) -> bool {
        self.global.print.is_some() || self.global.dry_run
    }

    /// Runs `work` until an interrupt, after which the command has one second to end properly.
    pub async fn until_interrupted<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.handles_interrupt.store(true, Ordering::Relaxed);
        let outcome = tokio::select! {
            outcome = work => Some(outcome),
            () = self.interrupt.notified() => None,
        };
        self.handles_interrupt.store(false, Ordering::Relaxed);
        outcome
    }

    /// Notifies the command of an interrupt. Returns whether the command handles it.
    pub(super) fn notify_interrupt(&self) -> bool {
        let handles_it = self.handles_interrupt.load(Ordering::Relaxed);
        if handles_it {
            self.interrupt.notify_one();
        }
        handles_it
    }

    pub(super) fn target(&self) -> CliResult<ServiceTarget> {
        let target = deployment::select_target(&self.global, &self.settings)?;
        target.ok_or_else(|| self.no_deployment())
    }

    /// Without a deployment, the name of a dataset is mostly a mistyped folder.
    fn no_deployment(&self) -> CliError {
        let GlobalOptions { dataset, dataset_argument, .. } = &self.global;
        let unknown = dataset_argument.as_ref().or(dataset.as_ref()).map(|name| {
            let similar = similar_folder(Path::new(name));
            let similar = similar.map(|it| format!(" (did you mean {}?)", it.display()));
            let similar = similar.unwrap_or_default();
            format!("there is no folder or dataset `{name}`{similar}; ")
        });
        CliError::usage(format!(
            "{}no deployment is selected; give --folder DIR, --profile NAME, or --base-url URL --kind KIND",
            unknown.unwrap_or_default()
        ))
        .with_remedy("tessera open FOLDER")
    }

    /// Returns the deployment that the options or the environment name, without the settings.
    pub(super) fn named_target(&self) -> CliResult<Option<ServiceTarget>> {
        let GlobalOptions { profile, base_url, folder, .. } = &self.global;
        if profile.is_none() && base_url.is_none() && folder.is_none() {
            return Ok(None);
        }
        deployment::select_target(&self.global, &self.settings)
    }

    /// Returns a command to suggest, with the options that select the deployment, so that the command works when it is
    /// copied.
    pub(super) fn suggestion(&self, command: impl Into<ShellCommand>) -> ShellCommand {
        let options = self.global.deployment_options();
        let command =
            options.into_iter().fold(command.into(), |it, (flag, value)| it.option(flag, value));
        command.text(if self.global.allow_http { "--allow-http" } else { "" })
    }

    /// Returns a command about a dataset to suggest.
    pub(super) fn dataset_suggestion(
        &self,
        command: &'static str,
        dataset: DatasetId,
    ) -> ShellCommand {
        self.suggestion(ShellCommand::new(command).word(dataset.to_string()))
    }

    /// Returns a failure as an error, which suggests a command that lists names if the name was unknown.
    pub(super) fn suggest_if_unknown(&self, failure: Failure, command: &'static str) -> CliError {
        let is_unknown = failure.kind == FailureKind::NotFound;
        let error = CliError::from(failure);
        if is_unknown { error.with_remedy(self.suggestion(command)) } else { error }
    }

    pub(super) fn unknown_tag(&self, name: &str) -> CliError {
        CliError::not_found(format!("the dataset has no tag `{name}`"))
            .with_remedy(self.suggestion("tessera tag list"))
    }

    /// Returns whether the user can answer a prompt.
    pub fn can_prompt(&self) -> bool {
        !self.global.no_input && io::stdin().is_terminal()
    }

    /// Returns the option that a suggested command needs if it asks a question and nobody can answer.
    pub(super) fn confirming_option(&self) -> &'static str {
        if self.can_prompt() { "" } else { "--yes" }
    }

    /// Asks the user to confirm. `flag` is the option that confirms in a script.
    pub fn confirm(&self, question: &str, flag: &str) -> CliResult<bool> {
        if self.global.yes {
            return Ok(true);
        }
        if !self.can_prompt() {
            let message = format!("{question} Cannot prompt here; confirm with {flag}");
            return Err(CliError::usage(message));
        }
        let question = SafeText::detail(question);
        write_stderr(&PrintableText::lines(&format!("tessera: {question} [y/N] ")));
        let answer = keyboard::read_line().inspect_err(|_| {
            // The message would follow the question on its line.
            write_stderr(&PrintableText::lines("\n"));
        })?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    pub fn print_dry_run(&self, request: Option<DryRunRequest>) -> CliResult {
        let missing = || CliError::failed("this command has no request to print");
        let DryRunRequest { method, url, curl } = request.ok_or_else(missing)?;
        if self.global.print.is_some() {
            return self.print_line(curl);
        }
        if self.out.is_text() {
            self.print_line(format!("{method} {url}"))?;
        } else {
            self.print(&dry_run_document(&json!({
                "method": method,
                "url": url,
                "curl": curl.to_string(),
            })))?;
        }
        self.messages.info("nothing was sent");
        Ok(Exit::Done)
    }

    /// Reports a change on this machine instead of making it, in a dry run, and ends the command. A command that sends no
    /// request calls this function before it changes anything on this machine. `file` is the file that would change.
    pub(super) fn only_plans(&self, change: &str, file: Option<&Path>) -> CliResult<()> {
        if !self.is_dry_run() {
            return Ok(());
        }
        self.print_planned_change(change, file)?;
        Err(CliError::early_end())
    }

    /// Reports a change on this machine that a dry run does not make.
    pub(super) fn print_planned_change(&self, change: &str, file: Option<&Path>) -> CliResult {
        let target = file.map_or_else(String::new, |file| format!("write to {}: ", file.display()));
        self.messages.info(format!("would {target}{change}; nothing was changed"));
        if !self.out.is_text() {
            let file = file.map(Path::to_string_lossy);
            self.print(&dry_run_document(&json!({ "change": change, "file": file })))?;
        }
        Ok(Exit::Done)
    }

    pub fn print(&self, document: &Document) -> CliResult {
        self.out.print(document).map(|()| Exit::Done)
    }

    /// Prints the document of a change if programs read the output. People read only what was changed, as a message.
    pub(super) fn print_for_programs(&self, document: &Document) -> CliResult {
        if self.out.is_text() { Ok(Exit::Done) } else { self.print(document) }
    }

    /// Prints one line of text, regardless of the output format.
    pub fn print_line(&self, line: impl Display) -> CliResult {
        self.out.print_text(&format!("{line}\n")).map(|()| Exit::Done)
    }
}

/// Creates the document of a dry run: of a request to the service, or of a change on this machine. Fields that do not
/// apply are null.
fn dry_run_document(known: &Value) -> Document {
    let mut fields =
        json!({ "method": null, "url": null, "curl": null, "change": null, "file": null });
    for (name, value) in known.as_object().into_iter().flatten() {
        fields[name] = value.clone();
    }
    Document::new("tessera.dry_run/1", fields)
}

#[derive(Clone, Debug, Default)]
pub struct TerminalInfo {
    pub name: String,
    /// The columns and rows of the terminal.
    pub size: (u16, u16),
    /// The size of a cell in pixels.
    pub cell: (u16, u16),
    /// Whether the terminal responded to queries.
    pub answered: bool,
    pub truecolor: bool,
    /// The protocols that draw at the cursor, best first. Half-blocks always work.
    pub protocols: Vec<Protocol>,
    /// What decides pictures, colors, widths and the encoding.
    pub facts: Vec<DoctorResult>,
}
