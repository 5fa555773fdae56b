//! `tessera serve`: the local deployment alone, for other programs.

use std::{
    env,
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use secrecy::ExposeSecret;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use tessera_service::EXPLANATION;

use crate::cli::{Ended, Exit, Local, Serve};
use tessera_service::{Access, Credentials, OPENAPI, Options, Settings, storage};

/// Serves until it is told to stop; returns the exit code.
///
/// # Errors
/// A folder, the data folder, the address or a setting cannot be used.
pub async fn serve(options: Serve) -> Result<i32, Ended> {
    if options.explain {
        let mut out = io::stdout().lock();
        out.write_all(EXPLANATION.as_bytes())?;
        return Ok(out.flush().map(|()| 0)?);
    }
    let settings = settings(&options)?;
    let login = (!options.no_auth).then(Credentials::generate);
    let access = login.clone().map_or(Access::Open, Access::Token);
    let served = Options { compat: options.compat, ..access.into() };
    let Serve { data, folders, listen, .. } = options;
    let mut local = Local::start(data, &folders, listen, settings, served).await?;
    announce(&local, login.as_ref())?;
    // Told from a task of its own: a stop must not wait for the index.
    let telling = tokio::spawn({
        let (deployment, datasets) = (local.deployment.clone(), local.datasets.clone());
        async move {
            deployment.settled().await;
            for dataset in datasets {
                tell_skipped(&deployment, dataset);
            }
        }
    });
    let code = tokio::select! {
        code = stopped() => code?,
        ended = local.ended() => return Err(ended),
    };
    telling.abort();
    local.stop().await?;
    Ok(code)
}

/// The settings of the deployment. The environment is read here and nowhere else.
fn settings(options: &Serve) -> Result<Settings, Ended> {
    let storage = storage::Settings::of(|name| env::var(name).ok())
        .map_err(|why| Ended::new(Exit::Usage, format!("object storage: {why}")))?;
    let root = |folder: &PathBuf| {
        folder.canonicalize().map_err(|cause| {
            let sentence = format!("--allow-path {}: {cause}", folder.display());
            Ended::new(Exit::Usage, sentence)
        })
    };
    Ok(Settings {
        add_media: !options.no_add_media,
        write_access: !options.read_only,
        roots: options.allow_path.iter().map(root).collect::<Result<_, _>>()?,
        storage,
        slow: Duration::from_secs(options.slow_progress),
        failing: options.fail.iter().copied().collect(),
        ..options.encoding.settings()?
    })
}

/// Prints the one line that scripts read, as soon as the service can be asked.
fn announce(local: &Local, login: Option<&Credentials>) -> Result<(), Ended> {
    let mut datasets = Vec::new();
    for record in local.deployment.datasets()? {
        datasets.push(json!({
            "id": record.id,
            "display_name": record.name.as_str(),
            "status_new": record.status.word(),
        }));
    }
    let line = json!({
        "schema": "tessera.serve/1",
        "base_url": local.base_url(),
        "openapi": format!("{}{OPENAPI}", local.base_url()),
        "api_key": login.map(|login| login.api_key.clone()),
        "api_secret": login.map(|login| login.api_secret.expose_secret().to_owned()),
        "session": login.map(|login| login.session.expose_secret().to_owned()),
        "datasets": datasets,
    });
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

/// Names the files that are no media of a dataset, on standard error.
pub fn tell_skipped(deployment: &tessera_service::Deployment, dataset: tessera_model::DatasetId) {
    const NAMED: usize = 20;
    let Ok(skipped) = deployment.skipped(dataset) else {
        return;
    };
    if skipped.is_empty() {
        return;
    }
    let mut err = io::stderr().lock();
    // Nobody listens when standard error is closed.
    let _ = writeln!(err, "tessera: skipped as no pictures, {} in all:", skipped.len());
    for file in skipped.iter().take(NAMED) {
        let _ = writeln!(err, "  {}: {}", file.file, file.reason);
    }
    if skipped.len() > NAMED {
        let _ = writeln!(err, "  and {} more", skipped.len() - NAMED);
    }
}

/// Waits for a signal to end; its exit code. Ctrl-C and a polite kill are the normal ways.
async fn stopped() -> io::Result<i32> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    Ok(tokio::select! {
        _ = interrupt.recv() => 130,
        _ = terminate.recv() => 0,
        _ = hang_up.recv() => 129,
    })
}
