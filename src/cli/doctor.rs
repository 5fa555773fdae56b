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
        Column, Document, Ended, Exit, Global, Out, Screen, Target, compose, connection::told_skew,
        login,
    },
    config::{self, Layers, Place, Profile, Settings},
    credentials::{self, Store},
};
use tessera_model::{Failure, SafeText};
use tessera_service::store::lock_holder;

/// The options.
#[derive(Clone, Copy, Debug, Args)]
pub struct Doctor {
    /// Print all of it as a document to attach to a report: no secrets, the home folder as ~.
    #[arg(long)]
    pub report: bool,
    /// Ask no deployment.
    #[arg(long)]
    pub offline: bool,
}

/// Longest time for the answer of one deployment.
const PATIENCE: Duration = Duration::from_secs(10);
/// Variables that change what is seen; none of them is a secret.
const SEEN: [&str; 12] = [
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

const COLUMNS: &[Column] =
    &[Column::new("", "state"), Column::new("SUBJECT", "subject"), Column::new("FOUND", "words")];

/// One thing that was looked at.
struct Finding {
    subject: String,
    words: String,
    /// Whether it is worth a look, or the code of what it would end a command with.
    state: State,
}

enum State {
    Good,
    Warning,
    Trouble(Exit),
}

impl Finding {
    fn good(subject: impl Into<String>, words: impl Into<String>) -> Self {
        Self { subject: subject.into(), words: words.into(), state: State::Good }
    }

    fn warning(subject: impl Into<String>, words: impl Into<String>) -> Self {
        Self { state: State::Warning, ..Self::good(subject, words) }
    }

    fn trouble(subject: impl Into<String>, words: impl Into<String>, exit: Exit) -> Self {
        Self { state: State::Trouble(exit), ..Self::good(subject, words) }
    }

    /// The state in a word, and the exit code of a trouble.
    fn state(&self) -> (&'static str, Option<i32>) {
        match self.state {
            State::Good => ("ok", None),
            State::Warning => ("warning", None),
            State::Trouble(exit) => ("trouble", Some(exit as i32)),
        }
    }

    fn line(&self) -> String {
        let subject = SafeText::name(&self.subject);
        let words = SafeText::detail(&homeless(&self.words));
        format!("{:<9}{subject}: {words}\n", self.state().0)
    }

    fn row(&self) -> Value {
        let (state, exit) = self.state();
        json!({
            "state": state,
            "subject": homeless(&self.subject),
            "words": homeless(&self.words),
            "exit_code": exit,
        })
    }
}

/// Looks at everything, tells it, and ends with the code of the first trouble. Needs no settings that
/// can be read: that they cannot is a finding.
///
/// # Errors
/// Standard output is closed.
pub async fn doctor(
    global: Global,
    options: Doctor,
    screen: fn() -> Screen,
) -> Result<Exit, Ended> {
    let out = Out::new(&global);
    let mut findings = vec![terminal(screen)];
    findings.extend(settings(&global));
    findings.extend(secrets());
    findings.extend(folders());
    if let Ok(settings) = Settings::load(&global.sources())
        && !options.offline
    {
        findings.extend(deployments(&global, &settings).await);
    }
    let variables: Map<String, Value> = SEEN
        .iter()
        .map(|name| ((*name).to_owned(), env::var(name).ok().map(|value| homeless(&value)).into()))
        .collect();
    let answer = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "platform": format!("{}-{}", env::consts::ARCH, env::consts::OS),
        "environment": variables,
        "findings": findings.iter().map(Finding::row).collect::<Vec<_>>(),
    });
    let document = Document::list("tessera.doctor/1", answer, "findings", COLUMNS);
    if options.report {
        out.whole(&document)?;
    } else if out.is_table() {
        // Whole sentences: a table would cut them to the width of the terminal.
        out.text(&findings.iter().map(Finding::line).collect::<String>())?;
    } else {
        out.print(&document)?;
    }
    Ok(findings
        .iter()
        .find_map(|finding| match finding.state {
            State::Trouble(exit) => Some(exit),
            State::Good | State::Warning => None,
        })
        .unwrap_or(Exit::Done))
}

/// A text with the home folder as `~`: it names the person.
fn homeless(text: &str) -> String {
    match env::home_dir().map(|home| home.display().to_string()) {
        Some(home) if home.len() > 1 => text.replace(&home, "~"),
        _ => text.to_owned(),
    }
}

fn terminal(screen: fn() -> Screen) -> Finding {
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
        return Finding::warning("terminal", words);
    }
    let found = screen();
    let draws: Vec<String> =
        found.draws.iter().map(|protocol| format!("{protocol:?}").to_lowercase()).collect();
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
    Finding::good("terminal", words)
}

/// The files of settings, each with what is wrong in it.
fn settings(global: &Global) -> Vec<Finding> {
    let sources = global.sources();
    let (_, mistakes) = Layers::read(&sources);
    let mut findings = Vec::new();
    for (subject, file) in [("settings", &sources.user), ("project", &sources.project)] {
        let Some(file) = file else { continue };
        let there = if file.exists() { "" } else { ": none, so everything is as shipped" };
        findings.push(Finding::good(subject, format!("{}{there}", file.display())));
    }
    let wrong = mistakes.iter().map(ToString::to_string);
    findings.extend(wrong.map(|words| Finding::trouble("settings", words, Exit::Usage)));
    if mistakes.is_empty()
        && let Err(words) = Settings::load(&sources)
    {
        findings.push(Finding::trouble("settings", words, Exit::Usage));
    }
    match config::keymap(config::keys_file().as_deref()) {
        Ok((_, warnings)) => {
            findings.extend(warnings.into_iter().map(|words| Finding::warning("keys", words)));
        }
        Err(words) => findings.push(Finding::trouble("keys", words, Exit::Usage)),
    }
    findings
}

/// Where secrets come from; never what they are.
fn secrets() -> Vec<Finding> {
    let given = [credentials::SECRET_FILE, credentials::SECRET];
    let mut findings: Vec<Finding> = given
        .into_iter()
        .filter(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
        .map(|name| Finding::good("secrets", format!("{name} is set, and wins for every profile")))
        .collect();
    if let Ok(kept) = login::secrets() {
        findings.push(match kept.ask_keyring() {
            Ok(()) => Finding::good("secrets", format!("{} answers", kept.place(Store::Keyring))),
            // Not a trouble: there is the file.
            Err(words) => Finding::good("secrets", format!("no keyring: {words}")),
        });
        findings.push(Finding::good("secrets", format!("else {}", kept.place(Store::File))));
    }
    findings
}

/// The folders of this user, and whether another process works in the one of local deployments.
fn folders() -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(folder) = config::state_folder("x").as_deref().and_then(Path::parent) {
        findings.push(Finding::good("state", folder.display().to_string()));
    }
    if let Some(folder) = config::local_folder() {
        findings.push(match lock_holder(&folder) {
            Ok(None) => Finding::good("local deployments", folder.display().to_string()),
            Ok(Some(holder)) => {
                let words = format!("{}: in use by {holder}", folder.display());
                Finding::warning("local deployments", words)
            }
            Err(error) => {
                let words = format!("{}: {error}", folder.display());
                Finding::trouble("local deployments", words, Exit::Failed)
            }
        });
    }
    findings
}

/// Every profile, and the address of the command line.
async fn deployments(global: &Global, settings: &Settings) -> Vec<Finding> {
    let mut targets: Vec<Target> = settings.profiles.iter().cloned().map(Target::Profile).collect();
    match compose::chosen(global, settings) {
        Ok(Some(address @ Target::Address(_))) => targets.push(address),
        Ok(_) => {}
        Err(ended) => return vec![Finding::trouble("profiles", ended.sentence, ended.exit)],
    }
    if targets.is_empty() {
        let words = "none: `tessera profile add` names a deployment";
        return vec![Finding::warning("profiles", words)];
    }
    let mut findings = Vec::new();
    for target in targets {
        let subject = format!("deployment {}", target.place());
        findings.push(match &target {
            Target::Profile(Profile { place: Place::Local { folder }, .. }) => {
                picture_folder(subject, folder)
            }
            _ => reached(subject, &target).await,
        });
    }
    findings
}

fn picture_folder(subject: String, folder: &Path) -> Finding {
    if folder.is_dir() {
        return Finding::good(subject, folder.display().to_string());
    }
    Finding::trouble(subject, format!("{}: there is no folder", folder.display()), Exit::Usage)
}

/// Whether a deployment answers and lets us in, and how far its clock is from ours.
async fn reached(subject: String, target: &Target) -> Finding {
    let client = match compose::client_for(target).await {
        Ok((client, _)) => client.with_retries(0),
        Err(ended) => return Finding::trouble(subject, ended.sentence, ended.exit),
    };
    let address = client.endpoint().base_url().to_string();
    let login =
        if client.endpoint().is_on_premises() { "no login needed" } else { "the login works" };
    match tokio::time::timeout(PATIENCE, client.datasets()).await {
        Ok(Ok((datasets, _))) => {
            let words = format!("{address}: {login}, {} datasets", datasets.len());
            if let Some(skew) = told_skew(&client) {
                return Finding::warning(subject, format!("{words}; {skew}"));
            }
            Finding::good(subject, words)
        }
        Ok(Err(failure)) => trouble(subject, &address, failure),
        Err(_) => {
            let words = format!("{address}: no answer in {} s", PATIENCE.as_secs());
            Finding::trouble(subject, words, Exit::Network)
        }
    }
}

fn trouble(subject: String, address: &str, failure: Failure) -> Finding {
    let ended = Ended::from(failure);
    Finding::trouble(subject, format!("{address}: {}", ended.sentence), ended.exit)
}
