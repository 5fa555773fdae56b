//! `tessera doctor`: checks the terminal, the settings, the locations of secrets, the profiles and their logins, the
//! folders, the programs that local deployments use, and a service's store. It reports each result without secrets.

use std::{
    env,
    io::{self, IsTerminal as _},
};

use serde_json::Map;
use tessera_config::{ConfigError, Layers, Settings, is_storage_uri};
use tessera_files::{Guarantee, check_writable, missing_guarantees};

use crate::cli::prelude::*;
use crate::{
    cli::{
        FolderOpening, GlobalOptions, Output, ServiceTarget, TerminalInfo,
        connection::clock_skew_warning,
        deployment,
        doctor_result::{DoctorResult, redact_home},
        keyboard::watch_interrupts,
        local, login,
        messages::Messages,
        output::unless_closed,
        service_options::SharedStorage,
    },
    credentials::{self, SECRET_FILE_VARIABLE, SECRET_VARIABLE, SecretLocation},
    usecase::require_source,
};

#[derive(Debug, Args)]
pub struct DoctorOptions {
    /// Print everything as a document to attach to a bug report: without secrets, and with the home
    /// directory as ~.
    #[arg(long)]
    pub report: bool,
    /// Do not contact any deployment, store or bucket.
    #[arg(long)]
    pub offline: bool,
    #[command(flatten)]
    pub shared: SharedStorage,
}

const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);
/// Environment variables that affect the display. None of them is secret.
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

/// Runs all checks, prints the results, and returns the exit code of the first failure. Invalid
/// settings are a result rather than an error.
pub async fn run_doctor(
    global: GlobalOptions,
    options: DoctorOptions,
    detect_terminal: fn() -> TerminalInfo,
) -> CliResult {
    // The detection of the terminal replaces the default action of an interrupt.
    let interrupted = watch_interrupts(global.is_machine())?;
    tokio::select! {
        biased;
        _ = interrupted => Err(CliError::interrupted()),
        exit = Box::pin(run_checks(global, options, detect_terminal)) => exit,
    }
}

async fn run_checks(
    global: GlobalOptions,
    options: DoctorOptions,
    detect_terminal: fn() -> TerminalInfo,
) -> CliResult {
    let out = Output::new(&global);
    let settings = Settings::load(&global.sources());
    let mut findings = check_terminal(detect_terminal);
    findings.extend(check_settings(&global));
    findings.extend(check_secrets());
    findings.extend(check_disk("state", tessera_config::state_root_dir().as_deref()));
    if cfg!(feature = "local") {
        let model = settings.as_ref().ok().and_then(|settings| settings.model.as_deref());
        let data = tessera_config::local_data_dir();
        findings.extend(check_disk("local deployments", data.as_deref()));
        findings.extend(local::check_requirements(data.as_deref(), model));
    }
    if !options.offline {
        findings.extend(local::check_store(&options.shared).await);
    }
    if let Ok(settings) = settings
        && !options.offline
    {
        findings.extend(check_deployments(&global, &settings).await);
    }
    let variable = |name: &str| env::var(name).ok().map(|value| redact_home(&value));
    let variables: Map<String, Value> =
        REPORTED_VARIABLES.iter().map(|name| ((*name).to_owned(), variable(name).into())).collect();
    let answer = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "platform": format!("{}-{}", env::consts::ARCH, env::consts::OS),
        "environment": variables,
        "findings": findings.iter().map(DoctorResult::row).collect::<Vec<_>>(),
    });
    let document = Document::new("tessera.findings/1", answer);
    if options.report {
        out.print_whole(&document)?;
    } else if out.is_table() {
        // The results are printed as lines, because a table would truncate the sentences to the
        // width of the terminal.
        unless_closed(
            out.print_text(&findings.iter().map(DoctorResult::line).collect::<String>()),
        )?;
    } else {
        out.print(&document)?;
    }
    Ok(findings.iter().find_map(|finding| finding.exit).unwrap_or(Exit::Done))
}

fn check_terminal(detect_terminal: fn() -> TerminalInfo) -> Vec<DoctorResult> {
    let streams =
        [io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal()];
    if streams != [true; 3] {
        let names = ["input", "output", "errors"];
        let missing: Vec<&str> = names
            .into_iter()
            .zip(streams)
            .filter_map(|(name, terminal)| (!terminal).then_some(name))
            .collect();
        let missing = missing.join(", ");
        let message = format!("no terminal for {missing}: commands work, the interface does not");
        return vec![DoctorResult::warning("terminal", message)];
    }
    let terminal = detect_terminal();
    let TerminalInfo { name, size: (columns, rows), cell: (width, height), .. } = &terminal;
    let protocols: Vec<String> =
        terminal.protocols.iter().map(|protocol| format!("{protocol:?}").to_lowercase()).collect();
    let message = format!(
        "{name}, {columns}x{rows} cells of {width}x{height} pixels, {}, draws {}{}",
        if terminal.truecolor { "true color" } else { "limited colors" },
        protocols.join(", "),
        if terminal.answered { "" } else { "; it did not respond to capability queries" },
    );
    std::iter::once(DoctorResult::passed("terminal", message)).chain(terminal.facts).collect()
}

fn check_settings(global: &GlobalOptions) -> Vec<DoctorResult> {
    let sources = global.sources();
    let (layers, errors) = Layers::read(&sources);
    let commands = layers.custom_commands();
    let mut findings = Vec::new();
    if sources.user.is_none() {
        findings.push(DoctorResult::warning("settings", tessera_config::UNKNOWN_CONFIG_FILE));
    }
    let is_of = |error: &ConfigError, file: &Path| error.location == file.display().to_string();
    for (subject, file) in [("settings", &sources.user), ("project", &layers.project)] {
        let Some(file) = file else { continue };
        if errors.iter().any(|error| is_of(error, file)) {
            continue;
        }
        let there = if file.exists() { "" } else { ": not present, so the defaults apply" };
        findings.push(DoctorResult::passed(subject, format!("{}{there}", file.display())));
    }
    let ignored = layers.warnings.into_iter();
    findings.extend(ignored.map(|message| DoctorResult::warning("project", message)));
    let failed = |subject, message| DoctorResult::failed(subject, message, Exit::Usage);
    for error in &errors {
        let is_of_project = sources.project.as_ref().is_some_and(|file| is_of(error, file));
        let subject = if is_of_project { "project" } else { "settings" };
        findings.push(failed(subject, error.to_string()));
    }
    if errors.is_empty() {
        findings.extend(Settings::load(&sources).err().map(|message| failed("settings", message)));
    }
    match tessera_config::load_keymap(tessera_config::keymap_file().as_deref(), &commands) {
        Ok((_, warnings)) => {
            let warning = |message| DoctorResult::warning("keys", message);
            findings.extend(warnings.into_iter().map(warning));
        }
        Err(error) => {
            findings.push(DoctorResult::failed("keys", error.to_string(), Exit::Usage));
        }
    }
    findings
}

/// Reports where secrets are stored, but never the secrets themselves.
fn check_secrets() -> Vec<DoctorResult> {
    let passed = |message: String| DoctorResult::passed("secrets", message);
    let mut findings: Vec<DoctorResult> = credentials::login_variables()
        .map(|name| {
            format!("{name} is set, for the service of TESSERA_BASE_URL or TESSERA_PROFILE only")
        })
        .map(passed)
        .collect();
    let secrets = match login::open_secrets() {
        Ok(secrets) => secrets,
        Err(error) => {
            findings.push(DoctorResult::warning("secrets", error.message));
            return findings;
        }
    };
    let keyring = secrets.check_keyring();
    findings.push(passed(match &keyring {
        Ok(()) => format!("{} answers", secrets.describe(SecretLocation::Keyring)),
        // A missing keyring is not a failure, because the file is the fallback.
        Err(reason) => format!("no keyring: {reason}"),
    }));
    findings.push(match secrets.check_file() {
        Ok(()) => passed(format!("otherwise {}", secrets.describe(SecretLocation::File))),
        Err(reason) if keyring.is_ok() => {
            passed(format!("stored only in the keyring, because {reason}"))
        }
        Err(reason) => {
            let message = format!(
                "cannot be stored in {reason}; make its folder writable, or set {SECRET_VARIABLE} or \
                 {SECRET_FILE_VARIABLE}"
            );
            DoctorResult::warning("secrets", message)
        }
    });
    findings
}

fn check_disk(subject: &str, folder: Option<&Path>) -> Vec<DoctorResult> {
    let Some(folder) = folder else {
        return vec![DoctorResult::warning(subject, tessera_config::UNKNOWN_HOME)];
    };
    if let Err(error) = check_writable(folder) {
        let message = format!("{}: cannot create files: {error}", folder.display());
        return vec![DoctorResult::failed(subject, message, Exit::Failed)];
    }
    let missing = missing_guarantees(folder, Guarantee::ALL);
    if missing.is_empty() {
        return vec![DoctorResult::passed(subject, folder.display().to_string())];
    }
    missing.into_iter().map(|sentence| DoctorResult::warning(subject, sentence)).collect()
}

/// Checks the profile that `--profile` names, or every profile together with the address or the folder of the command
/// line.
async fn check_deployments(global: &GlobalOptions, settings: &Settings) -> Vec<DoctorResult> {
    let mut targets: Vec<ServiceTarget> =
        settings.profiles.iter().cloned().map(ServiceTarget::saved).collect();
    match deployment::select_target(global, settings) {
        Ok(Some(target)) if !target.is_saved => targets.push(target),
        Ok(Some(target)) if global.profile.is_some() => targets = vec![target],
        Ok(_) => {}
        Err(error) => return vec![DoctorResult::of_error("profiles", error)],
    }
    if targets.is_empty() {
        let message = "none: `tessera profile add` names a deployment";
        return vec![DoctorResult::warning("profiles", message)];
    }
    let mut findings = Vec::new();
    for target in targets {
        let subject = format!("deployment {}", target.profile.name);
        let checked = match target.local_folder() {
            Some((folder, _)) => check_picture_folder(&subject, folder).await,
            None => check_reachable(&subject, &target).await,
        };
        findings.push(checked.unwrap_or_else(|error| DoctorResult::of_error(subject, error)));
    }
    findings
}

async fn check_picture_folder(subject: &str, folder: &Path) -> CliResult<DoctorResult> {
    if is_storage_uri(folder) {
        local::check_storage_folder(folder).await?;
    } else {
        require_source(folder).map_err(CliError::usage)?;
    }
    Ok(DoctorResult::passed(subject, folder.display().to_string()))
}

/// Checks whether a deployment responds and accepts the login, and how far its clock deviates.
async fn check_reachable(subject: &str, target: &ServiceTarget) -> CliResult<DoctorResult> {
    let (client, _) =
        deployment::client_for(target, FolderOpening::Update, Messages::quiet(), None).await?;
    let client = client.with_retries(0);
    let address = client.service().base_url().to_string();
    let login =
        if client.service().is_on_premises() { "no login needed" } else { "the login works" };
    let late = |_| {
        let message = format!("no response within {} s", RESPONSE_TIMEOUT.as_secs());
        CliError::new(Exit::Network, message).with_context(&address)
    };
    let listed = tokio::time::timeout(RESPONSE_TIMEOUT, client.list_datasets()).await;
    let refused = |failure| CliError::from(failure).with_context(&address);
    let datasets = listed.map_err(late)?.map_err(refused)?.datasets;
    let datasets = count_with_noun(datasets.len(), "dataset", "datasets");
    let message = format!("{address}: {login}, {datasets}");
    Ok(match clock_skew_warning(&client) {
        Some(skew) => DoctorResult::warning(subject, format!("{message}; {skew}")),
        None => DoctorResult::passed(subject, message),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_home_is_reported() {
        let line = check_disk("state", None)[0].line();
        assert_eq!(line, "warning  state: the home folder is unknown; set HOME\n");
    }
}
