//! `tessera doctor`: what the program finds around itself, and whether one can work with it: the
//! terminal, the settings, the secrets' places, every profile with its login, and the folders.

use std::{
    env,
    io::{self, IsTerminal as _},
    path::Path,
    time::Duration,
};

use clap::Args;
use serde_json::{Map, Value, json};

use crate::{
    cli::{
        CliError, Column, Document, Exit, GlobalOptions, Output, ServiceTarget, TerminalInfo,
        connection::clock_skew_warning, deployment, login,
    },
    config::{self, DeploymentConfig, Layers, Profile, Settings},
    credentials::{self, SecretStore},
};
use tessera_model::{Failure, SafeText};
use tessera_service::store::lock_holder;

/// The options.
#[derive(Clone, Copy, Debug, Args)]
pub struct DoctorOptions {
    /// Print all of it as a document to attach to a report: no secrets, the home folder as ~.
    #[arg(long)]
    pub report: bool,
    /// Ask no deployment.
    #[arg(long)]
    pub offline: bool,
}

/// Longest time for the answer of one deployment.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);
/// Variables that change what is seen; none of them is a secret.
const REPORTED_VARIABLES: [&str; 12] = [
    "TERM",
    "COLORTERM",
    "TERM_PROGRAM",
    "TMUX",
    "STY",
    "ZELLIJ",
    "SSH_CONNECTION",
    "LANG",
    "LC_ALL",
    "NO_COLOR",
    "FORCE_COLOR",
    "COLUMNS",
];

const CHECK_COLUMNS: &[Column] =
    &[Column::new("", "state"), Column::new("SUBJECT", "subject"), Column::new("FOUND", "words")];

/// One thing that was looked at.
struct CheckResult {
    subject: String,
    message: String,
    /// Whether it is worth a look, or the code of what it would end a command with.
    status: CheckStatus,
}

enum CheckStatus {
    Passed,
    Warning,
    Failed(Exit),
}

impl CheckResult {
    fn passed(subject: impl Into<String>, words: impl Into<String>) -> Self {
        Self { subject: subject.into(), message: words.into(), status: CheckStatus::Passed }
    }

    fn warning(subject: impl Into<String>, words: impl Into<String>) -> Self {
        Self { status: CheckStatus::Warning, ..Self::passed(subject, words) }
    }

    fn failed(subject: impl Into<String>, words: impl Into<String>, exit: Exit) -> Self {
        Self { status: CheckStatus::Failed(exit), ..Self::passed(subject, words) }
    }

    /// The state in a word, and the exit code of a trouble.
    fn status_word(&self) -> (&'static str, Option<i32>) {
        match self.status {
            CheckStatus::Passed => ("ok", None),
            CheckStatus::Warning => ("warning", None),
            CheckStatus::Failed(exit) => ("trouble", Some(exit as i32)),
        }
    }

    fn line(&self) -> String {
        let subject = SafeText::name(&self.subject);
        let words = SafeText::detail(&redact_home(&self.message));
        format!("{:<9}{subject}: {words}\n", self.status_word().0)
    }

    fn row(&self) -> Value {
        let (state, exit) = self.status_word();
        json!({
            "state": state,
            "subject": redact_home(&self.subject),
            "words": redact_home(&self.message),
            "exit_code": exit,
        })
    }
}

/// Looks at everything, tells it, and ends with the code of the first trouble. Needs no settings that
/// can be read: that they cannot is a finding.
///
/// # Errors
/// Standard output is closed.
pub async fn run_doctor(
    global: GlobalOptions,
    options: DoctorOptions,
    screen: fn() -> TerminalInfo,
) -> Result<Exit, CliError> {
    let out = Output::new(&global);
    let mut findings = vec![check_terminal(screen)];
    findings.extend(check_settings(&global));
    findings.extend(check_secrets());
    findings.extend(check_folders());
    if let Ok(settings) = Settings::load(&global.sources())
        && !options.offline
    {
        findings.extend(check_deployments(&global, &settings).await);
    }
    let variables: Map<String, Value> = REPORTED_VARIABLES
        .iter()
        .map(|name| {
            ((*name).to_owned(), env::var(name).ok().map(|value| redact_home(&value)).into())
        })
        .collect();
    let answer = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "platform": format!("{}-{}", env::consts::ARCH, env::consts::OS),
        "environment": variables,
        "findings": findings.iter().map(CheckResult::row).collect::<Vec<_>>(),
    });
    let document = Document::list("tessera.doctor/1", answer, "findings", CHECK_COLUMNS);
    if options.report {
        out.print_whole(&document)?;
    } else if out.is_table() {
        // Whole sentences: a table would cut them to the width of the terminal.
        out.print_text(&findings.iter().map(CheckResult::line).collect::<String>())?;
    } else {
        out.print(&document)?;
    }
    Ok(findings
        .iter()
        .find_map(|finding| match finding.status {
            CheckStatus::Failed(exit) => Some(exit),
            CheckStatus::Passed | CheckStatus::Warning => None,
        })
        .unwrap_or(Exit::Done))
}

/// A text with the home folder as `~`: it names the person.
fn redact_home(text: &str) -> String {
    match env::home_dir().map(|home| home.display().to_string()) {
        Some(home) if home.len() > 1 => text.replace(&home, "~"),
        _ => text.to_owned(),
    }
}

fn check_terminal(screen: fn() -> TerminalInfo) -> CheckResult {
    let streams =
        [io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal()];
    if streams != [true; 3] {
        let names = ["input", "output", "errors"];
        let missing: Vec<&str> = names
            .into_iter()
            .zip(streams)
            .filter_map(|(name, terminal)| (!terminal).then_some(name))
            .collect();
        let words =
            format!("none for {}: commands work, the interface does not", missing.join(", "));
        return CheckResult::warning("terminal", words);
    }
    let found = screen();
    let draws: Vec<String> =
        found.protocols.iter().map(|protocol| format!("{protocol:?}").to_lowercase()).collect();
    let words = format!(
        "{}, {}x{} cells of {}x{} pixels, {}, draws {}{}",
        found.name,
        found.size.0,
        found.size.1,
        found.cell.0,
        found.cell.1,
        if found.truecolor { "all colours" } else { "few colours" },
        draws.join(", "),
        if found.answered { "" } else { "; it did not answer what it can draw" },
    );
    CheckResult::passed("terminal", words)
}

/// The files of settings, each with what is wrong in it.
fn check_settings(global: &GlobalOptions) -> Vec<CheckResult> {
    let sources = global.sources();
    let (_, mistakes) = Layers::read(&sources);
    let mut findings = Vec::new();
    for (subject, file) in [("settings", &sources.user), ("project", &sources.project)] {
        let Some(file) = file else { continue };
        let there = if file.exists() { "" } else { ": none, so everything is as shipped" };
        findings.push(CheckResult::passed(subject, format!("{}{there}", file.display())));
    }
    let wrong = mistakes.iter().map(ToString::to_string);
    findings.extend(wrong.map(|words| CheckResult::failed("settings", words, Exit::Usage)));
    if mistakes.is_empty()
        && let Err(words) = Settings::load(&sources)
    {
        findings.push(CheckResult::failed("settings", words, Exit::Usage));
    }
    match config::load_keymap(config::keymap_file().as_deref()) {
        Ok((_, warnings)) => {
            findings.extend(warnings.into_iter().map(|words| CheckResult::warning("keys", words)));
        }
        Err(words) => findings.push(CheckResult::failed("keys", words, Exit::Usage)),
    }
    findings
}

/// Where secrets come from; never what they are.
fn check_secrets() -> Vec<CheckResult> {
    let given = [credentials::SECRET_FILE_VARIABLE, credentials::SECRET_VARIABLE];
    let mut findings: Vec<CheckResult> = given
        .into_iter()
        .filter(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
        .map(|name| {
            CheckResult::passed("secrets", format!("{name} is set, and wins for every profile"))
        })
        .collect();
    if let Ok(kept) = login::open_secrets() {
        findings.push(match kept.check_keyring() {
            Ok(()) => CheckResult::passed(
                "secrets",
                format!("{} answers", kept.describe(SecretStore::Keyring)),
            ),
            // Not a trouble: there is the file.
            Err(words) => CheckResult::passed("secrets", format!("no keyring: {words}")),
        });
        findings.push(CheckResult::passed(
            "secrets",
            format!("else {}", kept.describe(SecretStore::File)),
        ));
    }
    findings
}

/// The folders of this user, and whether another process works in the one of local deployments.
fn check_folders() -> Vec<CheckResult> {
    let mut findings = Vec::new();
    if let Some(folder) = config::state_dir("x").as_deref().and_then(Path::parent) {
        findings.push(CheckResult::passed("state", folder.display().to_string()));
    }
    if let Some(folder) = config::local_data_dir() {
        findings.push(match lock_holder(&folder) {
            Ok(None) => CheckResult::passed("local deployments", folder.display().to_string()),
            Ok(Some(holder)) => {
                let words = format!("{}: in use by {holder}", folder.display());
                CheckResult::warning("local deployments", words)
            }
            Err(error) => {
                let words = format!("{}: {error}", folder.display());
                CheckResult::failed("local deployments", words, Exit::Failed)
            }
        });
    }
    findings
}

/// Every profile, and the address of the command line.
async fn check_deployments(global: &GlobalOptions, settings: &Settings) -> Vec<CheckResult> {
    let mut targets: Vec<ServiceTarget> =
        settings.profiles.iter().cloned().map(ServiceTarget::Profile).collect();
    match deployment::select_target(global, settings) {
        Ok(Some(address @ ServiceTarget::Address(_))) => targets.push(address),
        Ok(_) => {}
        Err(ended) => return vec![CheckResult::failed("profiles", ended.message, ended.exit)],
    }
    if targets.is_empty() {
        let words = "none: `tessera profile add` names a deployment";
        return vec![CheckResult::warning("profiles", words)];
    }
    let mut findings = Vec::new();
    for target in targets {
        let subject = format!("deployment {}", target.name());
        findings.push(match &target {
            ServiceTarget::Profile(Profile {
                deployment: DeploymentConfig::Local { folder },
                ..
            }) => check_picture_folder(subject, folder),
            _ => check_reachable(subject, &target).await,
        });
    }
    findings
}

fn check_picture_folder(subject: String, folder: &Path) -> CheckResult {
    if folder.is_dir() {
        return CheckResult::passed(subject, folder.display().to_string());
    }
    CheckResult::failed(subject, format!("{}: there is no folder", folder.display()), Exit::Usage)
}

/// Whether a deployment answers and lets us in, and how far its clock is from ours.
async fn check_reachable(subject: String, target: &ServiceTarget) -> CheckResult {
    let client = match deployment::client_for(target).await {
        Ok((client, _)) => client.with_retries(0),
        Err(ended) => return CheckResult::failed(subject, ended.message, ended.exit),
    };
    let address = client.endpoint().base_url().to_string();
    let login =
        if client.endpoint().is_on_premises() { "no login needed" } else { "the login works" };
    match tokio::time::timeout(RESPONSE_TIMEOUT, client.list_datasets()).await {
        Ok(Ok((datasets, _))) => {
            let words = format!("{address}: {login}, {} datasets", datasets.len());
            if let Some(skew) = clock_skew_warning(&client) {
                return CheckResult::warning(subject, format!("{words}; {skew}"));
            }
            CheckResult::passed(subject, words)
        }
        Ok(Err(failure)) => failed_request(subject, &address, failure),
        Err(_) => {
            let words = format!("{address}: no answer in {} s", RESPONSE_TIMEOUT.as_secs());
            CheckResult::failed(subject, words, Exit::Network)
        }
    }
}

fn failed_request(subject: String, address: &str, failure: Failure) -> CheckResult {
    let ended = CliError::from(failure);
    CheckResult::failed(subject, format!("{address}: {}", ended.message), ended.exit)
}
