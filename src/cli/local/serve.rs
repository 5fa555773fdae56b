//! `tessera serve` and `tessera work`: run the service for other programs until a signal stops it. `serve --explain`
//! prints two pages of the documentation instead.

use std::{fmt::Write as _, mem, net::SocketAddr};

use secrecy::ExposeSecret;
use tessera_service::{
    AllowedHost, Deployment, DeploymentSettings, OPENAPI_PATH, ServerLimits, ServerOptions,
};
use tokio::signal::unix::SignalKind;

use crate::cli::prelude::*;
use crate::{
    cli::{
        FolderOpening, GlobalOptions, ServeOptions,
        local::{
            access_log::open_access_log,
            listening::bind,
            local_settings,
            service::{LocalService, RequiredLogin, index_dir, open_deployment, report_skipped},
            store::{parse_bucket, require_store, store_address},
        },
        messages::write_message,
        output::write_stdout,
        service_options::WorkOptions,
    },
    process_signals::SignalListener,
};

const OPEN_METRICS: &str = "other machines can read the metrics without login, and the connection is not encrypted. \
    Give --metrics an address that only the scraper can reach.";
const OPEN_PROXY: &str = "--no-auth with --allow-host: everyone who can reach the proxy can read and change all \
    datasets. Remove --no-auth, or let the proxy require a login.";
const WITHOUT_FFMPEG: &str = "this machine skips the videos of its tasks. Install ffmpeg and ffprobe on the machines of all \
    workers.";
const UNENCRYPTED: &str = "other machines can reach this service, and logins and pictures travel \
    unencrypted. Put a proxy with TLS in front of it and name it with --allow-host https://NAME, or use an \
    SSH tunnel.";

/// Serves until a signal stops the service, and returns the exit code.
pub async fn serve(global: &GlobalOptions, mut options: ServeOptions) -> CliResult<i32> {
    if options.explain {
        write_stdout(&PrintableText::lines(&explanation_text()))?;
        return Ok(0);
    }
    let model = mem::take(&mut options.model).or_load(global)?;
    let settings = serve_settings(&options, model.as_deref())?;
    let login = if options.no_auth { RequiredLogin::None } else { RequiredLogin::Kept };
    let allowed_hosts = options.allow_host.iter().map(|name| allowed_host(name));
    let allowed_hosts = allowed_hosts.collect::<CliResult<_>>()?;
    let access_log = options.access_log.as_deref().map(open_access_log).transpose()?;
    let (access_log, access_log_thread) = access_log.unzip();
    let metrics = match options.metrics {
        Some(address) => Some(bind(address, "--metrics").await?),
        None => None,
    };
    let opens_proxy = options.no_auth && !options.allow_host.is_empty();
    let metrics_address = metrics.as_ref().and_then(|listener| listener.local_addr().ok());
    let opening = FolderOpening::watching_if(options.watch);
    let ServeOptions { data, folders, listen, compat, drain, .. } = options;
    let limits = ServerLimits { drain: Duration::from_secs(drain), ..ServerLimits::default() };
    let lacks_ffmpeg = lacks_ffmpeg(&settings);
    let served =
        |access| ServerOptions { access, compat, allowed_hosts, access_log, metrics, limits };
    let folders = (&folders[..], opening);
    let local = LocalService::start(data, settings, folders, listen, login, served).await?;
    let is_public = |address: SocketAddr| !address.ip().is_loopback();
    for (applies, warning) in [
        (listen.is_some_and(is_public), UNENCRYPTED),
        (metrics_address.is_some_and(is_public), OPEN_METRICS),
        (opens_proxy, OPEN_PROXY),
        (lacks_ffmpeg, WITHOUT_FFMPEG),
    ] {
        if applies {
            write_message(&format!("warning: {warning}"));
        }
    }
    let signals = StopSignals::listen()?;
    print_announcement(&local, metrics_address)?;
    let code = run_until_signal(local, signals).await?;
    if let Some(thread) = access_log_thread {
        thread.finish();
    }
    Ok(code)
}

/// Waits for a signal, stops the service, and returns the exit code.
async fn run_until_signal(mut local: LocalService, mut signals: StopSignals) -> CliResult<i32> {
    // The report runs in a separate task, because stopping must not wait for indexing.
    let skipped_report = tokio::spawn({
        let (deployment, datasets) = (local.deployment.clone(), local.datasets.clone());
        async move {
            for dataset in datasets {
                // If the store cannot be read, nothing can be reported either.
                let _ = deployment.wait_until_indexed(dataset).await;
                report_skipped(&deployment, dataset);
            }
        }
    });
    let waiting_report = tokio::spawn(report_waiting(local.deployment.clone()));
    let code = tokio::select! {
        code = signals.next() => code,
        error = local.wait_for_failure() => return Err(error),
    };
    skipped_report.abort();
    waiting_report.abort();
    tokio::select! {
        stopped = local.stop_completely() => stopped?,
        // A second signal ends the wait for clients and tasks.
        _ = signals.next() => {}
    }
    Ok(code)
}

/// Reports once why the work waits, whenever it begins to wait.
async fn report_waiting(deployment: Deployment) {
    let mut reported = None;
    loop {
        let waiting = deployment.waiting_reason();
        if let Some(reason) = waiting.filter(|_| waiting != reported) {
            write_message(&format!("warning: {reason}"));
        }
        reported = waiting;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Whether this process skips videos that the workers on other machines may not skip.
fn lacks_ffmpeg(settings: &DeploymentSettings) -> bool {
    settings.store.is_some() && settings.jobs > 0 && settings.ffmpeg.is_none()
}

fn serve_settings(options: &ServeOptions, model: Option<&Path>) -> CliResult<DeploymentSettings> {
    let root = |folder: &PathBuf| {
        folder
            .canonicalize()
            .map_err(|cause| CliError::usage(format!("--allow-path {}: {cause}", folder.display())))
    };
    Ok(DeploymentSettings {
        add_media: !options.no_add_media,
        write_access: !options.read_only,
        readable_roots: options.allow_path.iter().map(root).collect::<Result<_, _>>()?,
        store: store_address(&options.shared.store)?,
        caption_language: options.caption_language,
        bucket: options.shared.bucket.as_deref().map(parse_bucket).transpose()?,
        jobs: usize::from(!options.no_work),
        simulated_delay: Duration::from_secs(options.slow_progress),
        injected_failures: options.fail.iter().copied().collect(),
        ..local_settings(model, options.patterns.chosen())?
    })
}

fn allowed_host(name: &str) -> CliResult<AllowedHost> {
    name.parse().map_err(|why| CliError::usage(format!("--allow-host {name}: {why}")))
}

/// Prints the line that scripts read, as soon as the service accepts requests.
fn print_announcement(local: &LocalService, metrics: Option<SocketAddr>) -> CliResult<()> {
    let login = local.credentials();
    let mut datasets = Vec::new();
    for record in local.deployment.datasets()? {
        datasets.push(json!({
            "id": record.id,
            "display_name": record.name.as_str(),
            "status_new": record.status.as_str(),
        }));
    }
    let line = json!({
        "schema": "tessera.service/1",
        "base_url": local.base_url(),
        "openapi": format!("{}{OPENAPI_PATH}", local.base_url()),
        "api_key": login.map(|login| login.api_key.clone()),
        "api_secret": login.map(|login| login.api_secret.expose_secret().to_owned()),
        "session": login.map(|login| login.session.expose_secret().to_owned()),
        "metrics": metrics.map(|address| format!("http://{address}/metrics")),
        "datasets": datasets,
    });
    write_stdout(&PrintableText::compact_json(&line))
}

/// Runs tasks until a signal arrives, or, with `--once`, until no task waits for a worker. Returns
/// the exit code.
pub async fn work(global: &GlobalOptions, options: WorkOptions) -> CliResult<i32> {
    let address = require_store(&options.shared.store)?;
    let model = options.model.or_load(global)?;
    let settings = DeploymentSettings {
        store: Some(address.clone()),
        bucket: options.shared.bucket.as_deref().map(parse_bucket).transpose()?,
        jobs: options.jobs.into(),
        // Workers do not prepare index files, because a service writes the ones that it searches.
        prepare_indexes: false,
        ..local_settings(model.as_deref(), None)?
    };
    let lacks_ffmpeg = lacks_ffmpeg(&settings);
    let deployment = open_deployment(&index_dir(options.data)?, settings)?;
    deployment.check_settings().await?;
    let mut signals = StopSignals::listen()?;
    write_message(&format!("runs tasks of {address}; Ctrl-C gives back what is not finished"));
    if lacks_ffmpeg {
        write_message(&format!("warning: {WITHOUT_FFMPEG}"));
    }
    let finished = async {
        if options.once { deployment.wait_until_idle().await } else { std::future::pending().await }
    };
    let ended = tokio::select! {
        biased;
        () = finished => 0,
        code = signals.next() => code,
        () = report_waiting(deployment.clone()) => 0,
    };
    tokio::select! {
        // Dropping the deployment stops tasks at their next file.
        stopped = tokio::task::spawn_blocking(move || drop(deployment)) => {
            stopped.map_err(|_| Failure::internal_error())?;
        }
        // A second signal ends the wait. The leases expire by themselves.
        _ = signals.next() => {}
    }
    Ok(ended)
}

/// Receives signals from its creation on. It must be created before the service is announced, because an earlier signal
/// would end the process at once.
#[derive(Debug)]
struct StopSignals {
    interrupt: SignalListener,
    terminate: SignalListener,
    hang_up: SignalListener,
}

impl StopSignals {
    fn listen() -> CliResult<Self> {
        let listen = |kind| {
            let listener = SignalListener::new(kind);
            listener.map_err(|error| CliError::io("listen for signals", &error))
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal and returns its exit code. Ctrl-C and SIGTERM are the normal ways to stop.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            () = self.interrupt.received() => 130,
            () = self.terminate.received() => 0,
            () = self.hang_up.received() => 129,
        }
    }
}

const PAGES: [&str; 2] =
    [include_str!("../../../docs/choices.md"), include_str!("../../../docs/compatibility.md")];

/// The maximum number of characters in a line of the text.
const LINE_WIDTH: usize = 100;
/// The indentation of a row's cells, which are below the row's subject.
const CELL_INDENT: &str = "      ";

/// Returns both pages as text.
pub(super) fn explanation_text() -> String {
    PAGES.map(page_text).join("\n")
}

/// Converts a page to text. Headings become capitals, and paragraphs become wrapped lines. A row of a table becomes a
/// line with its subject, followed by indented lines with the other cells.
fn page_text(markdown: &str) -> String {
    let mut text = String::new();
    for block in markdown.split("\n\n") {
        let lines: Vec<&str> = block.lines().collect();
        if !text.is_empty() {
            text.push('\n');
        }
        if let Some(title) = block.trim_start_matches('#').strip_prefix(' ') {
            push_wrapped(&mut text, "", &plain(title).to_uppercase());
        } else if let [header, _separator, rows @ ..] = lines.as_slice()
            && header.starts_with('|')
        {
            push_table(&mut text, header, rows);
        } else {
            push_wrapped(&mut text, "", &plain(&lines.join(" ")));
        }
    }
    text
}

fn push_table(text: &mut String, header: &str, rows: &[&str]) {
    for (number, row) in rows.iter().enumerate() {
        let separator = if number == 0 { "" } else { "\n" };
        let mut columns = cells(header).zip(cells(row));
        let subject = columns.next().map(|(_, cell)| plain(cell)).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{separator}  {subject}");
        for (column, cell) in columns {
            push_wrapped(text, CELL_INDENT, &format!("{column}: {}", plain(cell)));
        }
    }
}

/// Returns the cells of a row of a table.
fn cells(row: &str) -> impl Iterator<Item = &str> {
    row.trim_matches('|').split(" | ").map(str::trim)
}

/// Returns Markdown without the marks of code and without the targets of links.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once("](") {
        let (before, label) = before.rsplit_once('[').unwrap_or(("", before));
        text.push_str(before);
        text.push_str(label);
        rest = after.split_once(')').map_or("", |(_target, after)| after);
    }
    text.push_str(rest);
    text.replace('`', "")
}

fn push_wrapped(text: &mut String, indent: &str, paragraph: &str) {
    let mut line = indent.to_owned();
    for word in paragraph.split_whitespace() {
        let is_empty = line.len() == indent.len();
        if !is_empty && line.len() + 1 + word.len() > LINE_WIDTH {
            let _ = writeln!(text, "{line}");
            indent.clone_into(&mut line);
        } else if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(text, "{line}");
}
