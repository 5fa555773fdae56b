//! `tessera serve`: runs the local deployment for other programs.

use std::{
    mem,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use secrecy::ExposeSecret;
use serde_json::json;

use super::{
    access_log::open_access_log,
    explanation::explanation_text,
    local_settings,
    service::{LocalService, RequiredLogin, bind, report_skipped},
    stop_signals::StopSignals,
    store::store_address,
};
use crate::{
    cli::{
        CliError, CliResult, GlobalOptions, ServeOptions, messages::write_message,
        output::write_stdout,
    },
    printable_text::PrintableText,
};
use tessera_media::object_storage;
use tessera_service::{AllowedHost, DeploymentSettings, OPENAPI_PATH, ServerLimits, ServerOptions};

const UNENCRYPTED: &str = "other machines can reach this service, and logins and pictures travel \
    unencrypted. Put a proxy with TLS in front of it and name it with --allow-host https://NAME, or use an \
    SSH tunnel.";

/// Serves until a signal ends it; returns the exit code.
pub async fn serve(global: &GlobalOptions, mut options: ServeOptions) -> CliResult<i32> {
    if options.explain {
        write_stdout(&PrintableText::lines(&explanation_text()))?;
        return Ok(0);
    }
    let model = mem::take(&mut options.model).or_of_settings(global)?;
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
    let metrics_address = metrics.as_ref().and_then(|listener| listener.local_addr().ok());
    let ServeOptions { data, folders, listen, compat, drain, .. } = options;
    let limits = ServerLimits { drain: Duration::from_secs(drain), ..ServerLimits::default() };
    let served =
        |access| ServerOptions { access, compat, allowed_hosts, access_log, metrics, limits };
    let local = LocalService::start((data, settings), &folders, listen, login, served).await?;
    if !listen.ip().is_loopback() {
        write_message(&format!("warning: {UNENCRYPTED}"));
    }
    let signals = StopSignals::listen()?;
    print_announcement(&local, metrics_address)?;
    let code = run_until_signal(local, signals).await?;
    if let Some(thread) = access_log_thread {
        thread.finish();
    }
    Ok(code)
}

/// Waits for a signal and stops the service; returns the exit code.
async fn run_until_signal(mut local: LocalService, mut signals: StopSignals) -> CliResult<i32> {
    // A separate task: stopping must not wait for indexing.
    let skipped_report = tokio::spawn({
        let (deployment, datasets) = (local.deployment.clone(), local.datasets.clone());
        async move {
            deployment.wait_until_idle().await;
            for dataset in datasets {
                report_skipped(&deployment, dataset);
            }
        }
    });
    let code = tokio::select! {
        code = signals.next() => code,
        error = local.wait_for_failure() => return Err(error),
    };
    skipped_report.abort();
    tokio::select! {
        stopped = local.stop() => stopped?,
        // A second signal ends the wait for clients.
        _ = signals.next() => {}
    }
    Ok(code)
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
        ..local_settings(model)?
    })
}

pub(super) fn parse_bucket(uri: &str) -> CliResult<object_storage::ObjectUri> {
    object_storage::ObjectUri::parse(uri)
        .map_err(|why| CliError::usage(format!("--bucket {uri}: {why}")))
}

fn allowed_host(name: &str) -> CliResult<AllowedHost> {
    name.parse().map_err(|why| CliError::usage(format!("--allow-host {name}: {why}")))
}

/// Prints the one line that scripts read, as soon as the service accepts requests.
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
        "schema": "tessera.serve/1",
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
