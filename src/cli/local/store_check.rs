//! The checks of a store on a server and of a bucket for `tessera doctor`.

use std::time::SystemTime;

use tokio::task::spawn_blocking;

use super::{LocalSettings, local_settings, serve::parse_bucket, store::store_address};
use crate::cli::{CliResult, Exit, check_result::CheckResult, store_options::SharedStorage};
use tessera_media::object_storage::{BucketFolder, INTERRUPTED_AFTER};
use tessera_model::{Failure, text::count_with_noun};
use tessera_service::LocalError;
use tessera_store::{
    StoreError,
    postgres::{self, StoreAddress, StoreHealth, StoreStatus},
    search_table::VectorSupport,
};

/// Clocks that differ by more give media and archives visibly wrong times, in microseconds.
const MAX_CLOCK_DIFFERENCE: u64 = 2_000_000;

/// Checks what the options or the environment name.
pub async fn check_store(options: &SharedStorage) -> Vec<CheckResult> {
    let mut results = Vec::new();
    match store_address(&options.store) {
        Ok(None) => {}
        Ok(Some(address)) => {
            let checked = spawn_blocking(move || check_server(&address)).await;
            results.extend(checked.unwrap_or_else(|_| {
                let failure = Failure::internal_error();
                vec![CheckResult::failed("store", failure.to_string(), Exit::Failed)]
            }));
        }
        Err(error) => results.push(CheckResult::failed("store", error.message, error.exit)),
    }
    if let Some(bucket) = &options.bucket {
        match check_bucket(bucket).await {
            Ok(found) => results.extend(found),
            Err(error) => {
                results.push(CheckResult::failed("bucket", error.message, error.exit));
            }
        }
    }
    results
}

fn check_server(address: &StoreAddress) -> Vec<CheckResult> {
    let failed = |cause: String| vec![CheckResult::failed("store", cause, Exit::Failed)];
    let StoreStatus { server_version, schema_version, known_version, datasets, .. } =
        match postgres::status(address) {
            Ok(status) => status,
            Err(cause) => return failed(cause.to_string()),
        };
    if schema_version != known_version {
        let address = address.clone();
        let cause = StoreError::ServerVersion { address, found_version: schema_version };
        return failed(cause.to_string());
    }
    let datasets = count_with_noun(datasets, "dataset", "datasets");
    let found = format!("{address}: PostgreSQL {server_version}, {datasets}");
    let mut results = vec![CheckResult::passed("store", found)];
    match postgres::health(address) {
        Ok(health) => results.extend(describe(&health)),
        Err(cause) => results.extend(failed(cause.to_string())),
    }
    results
}

fn describe(health: &StoreHealth) -> [CheckResult; 3] {
    let StoreHealth { clock_ahead, vectors, workers, waiting, longest_wait } = health;
    let difference = clock_ahead.unsigned_abs();
    let (seconds, micros) = (difference / 1_000_000, difference % 1_000_000);
    let clock = format!("the clock of the server differs by {seconds}.{micros:06} s");
    let clock = if difference > MAX_CLOCK_DIFFERENCE {
        CheckResult::warning("store clock", format!("{clock}; synchronize it with this machine"))
    } else {
        CheckResult::passed("store clock", clock)
    };
    let alive = count_with_noun(*workers, "worker is alive", "workers are alive");
    let tasks = count_with_noun(*waiting, "task waits", "tasks wait");
    let tasks = if *waiting == 0 {
        "no task waits".to_owned()
    } else {
        format!("{tasks}, the oldest for {longest_wait} s")
    };
    let found = format!("{alive}, {tasks}");
    let workers = if *workers == 0 && *waiting > 0 {
        CheckResult::warning("workers", format!("{found}; start `tessera work`"))
    } else {
        CheckResult::passed("workers", found)
    };
    [clock, check_vectors(vectors), workers]
}

fn check_vectors(vectors: &VectorSupport) -> CheckResult {
    let without = "without it, large datasets are searched in the memory of each process";
    let missing = match vectors {
        VectorSupport::Installed { version, .. } => {
            return CheckResult::passed("store extension", format!("pgvector {version}"));
        }
        VectorSupport::Outdated(version) => {
            format!("pgvector {version} is older than 0.8; update it: {without}")
        }
        VectorSupport::Available(version) => format!(
            "pgvector {version} is not in the database; run `tessera store init` as a user who may \
             create extensions: {without}"
        ),
        VectorSupport::Missing => format!("the server does not offer pgvector: {without}"),
    };
    CheckResult::passed("store extension", missing)
}

async fn check_bucket(bucket: &str) -> CliResult<[CheckResult; 2]> {
    let LocalSettings { storage, .. } = local_settings(None)?;
    let folder = BucketFolder::new(&storage, &parse_bucket(bucket)?).map_err(LocalError::Bucket)?;
    folder.check().await.map_err(LocalError::Bucket)?;
    let written = CheckResult::passed("bucket", format!("{bucket} can be written"));
    Ok([written, check_interrupted_uploads(&folder).await])
}

async fn check_interrupted_uploads(folder: &BucketFolder) -> CheckResult {
    let subject = "bucket uploads";
    let limit = SystemTime::now() - INTERRUPTED_AFTER;
    let (uploads, objects) =
        (folder.interrupted_uploads(limit).await, folder.incomplete_objects(limit).await);
    let (uploads, objects) = match (uploads, objects) {
        (Ok(uploads), Ok(objects)) => (uploads, objects),
        (Err(cause), _) | (_, Err(cause)) => {
            let message = format!("interrupted uploads cannot be listed: {cause}");
            return CheckResult::warning(subject, message);
        }
    };
    let uploads = uploads.iter().map(|id| format!("uploads/{id}"));
    let names: Vec<String> =
        uploads.chain(objects.iter().map(|object| object.name().to_owned())).collect();
    if names.is_empty() {
        return CheckResult::passed(subject, "no interrupted upload takes up space");
    }
    let found = count_with_noun(names.len() as u64, "interrupted upload", "interrupted uploads");
    let names = names.join(", ");
    let remedy = "the next start of `tessera serve` or `tessera work` removes them";
    CheckResult::warning(subject, format!("{found} in the bucket: {names}; {remedy}"))
}
