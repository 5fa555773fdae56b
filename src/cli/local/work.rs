//! `tessera work`: runs operations and exports of a store on a server.

use super::{
    local_settings, serve::parse_bucket, service::index_dir, stop_signals::StopSignals,
    store::require_store, work_options::WorkOptions,
};
use crate::cli::{CliResult, GlobalOptions, messages::write_message};
use tessera_model::Failure;
use tessera_service::{Deployment, DeploymentSettings};

/// Runs tasks until a signal ends it, or none waits; returns the exit code.
pub async fn work(global: &GlobalOptions, options: WorkOptions) -> CliResult<i32> {
    let address = require_store(&options.shared.store)?;
    let model = options.model.or_of_settings(global)?;
    let settings = DeploymentSettings {
        store: Some(address.clone()),
        bucket: options.shared.bucket.as_deref().map(parse_bucket).transpose()?,
        jobs: options.jobs.into(),
        // Services write those that they search.
        prepare_indexes: false,
        ..local_settings(model.as_deref())?
    };
    let deployment = Deployment::open(&index_dir(options.data)?, settings)?;
    deployment.check_settings().await?;
    let mut signals = StopSignals::listen()?;
    write_message(&format!("runs tasks of {address}; Ctrl-C gives back what is not finished"));
    let finished = async {
        if options.once { deployment.wait_until_idle().await } else { std::future::pending().await }
    };
    let ended = tokio::select! {
        biased;
        () = finished => 0,
        code = signals.next() => code,
    };
    tokio::select! {
        // Tasks stop at the next file.
        stopped = tokio::task::spawn_blocking(move || drop(deployment)) => {
            stopped.map_err(|_| Failure::internal_error())?;
        }
        // A second signal ends the wait; the leases end by themselves.
        _ = signals.next() => {}
    }
    Ok(ended)
}
