//! `tessera serve`: the local deployment alone, for other programs.

use std::io::{self, Write};

use secrecy::ExposeSecret;
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    cli::{Ended, Local, Serve},
    local::{Access, Credentials},
};

/// Serves until it is told to stop; returns the exit code.
///
/// # Errors
/// A folder, the data folder or the address cannot be used.
pub async fn serve(options: Serve) -> Result<i32, Ended> {
    let credentials = Credentials::generate();
    let access = if options.no_auth { Access::Open } else { Access::Token(credentials.clone()) };
    let mut local = Local::start(options.data, &options.folders, options.listen, access).await?;
    let login = (!options.no_auth).then_some(credentials);
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
        "api_key": login.map(|login| login.api_key.clone()),
        "api_secret": login.map(|login| login.api_secret.expose_secret().to_owned()),
        "datasets": datasets,
    });
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

/// Names the files that are no media of a dataset, on standard error.
pub fn tell_skipped(deployment: &crate::local::Deployment, dataset: crate::model::DatasetId) {
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
