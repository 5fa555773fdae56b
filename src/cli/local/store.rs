//! `tessera store`: creates and inspects a store on a server, and checks it for `tessera doctor`.

use std::time::SystemTime;

use secrecy::ExposeSecret;

use crate::cli::prelude::*;
use crate::{
    cli::{
        doctor_result::DoctorResult,
        local::{LocalSettings, local_settings, service::index_dir},
        service_options::{SharedStorage, StoreCommand, StoreOptions},
    },
    usecase::run_blocking,
};
use tessera_media::object_storage::{self, BucketFolder, INTERRUPTED_AFTER};
use tessera_service::{LocalError, revoke_access};
use tessera_store::{
    StoreError,
    postgres::{self, StoreAddress, StoreHealth, StoreStatus},
    search_table::VectorSupport,
};

/// Runs a store command. The wait for the server is limited by the store's address.
pub fn run_store(context: &Context, command: &StoreCommand) -> CliResult {
    let failed = |cause: StoreError| CliError::failed(cause.to_string());
    let (address, status) = match command {
        StoreCommand::Init { store, reset_settings } => {
            context.require_writable()?;
            let address = require_store(store)?;
            context.only_plans(&format!("create the tables of {address}"), None)?;
            let status = postgres::init(&address).map_err(failed)?;
            if *reset_settings {
                postgres::reset_settings(&address).map_err(failed)?;
            }
            (address, status)
        }
        StoreCommand::Status(options) => {
            let address = require_store(options)?;
            let status = postgres::status(&address).map_err(failed)?;
            (address, status)
        }
        StoreCommand::Revoke { store, data } => return revoke(context, store, data.clone()),
    };
    context.print(&document(&address, &status))
}

fn revoke(context: &Context, store: &StoreOptions, data: Option<PathBuf>) -> CliResult {
    context.require_writable()?;
    let store = store_address(store)?;
    let data = index_dir(data)?;
    let folder = store.is_none().then_some(&*data);
    if folder.is_some_and(|folder| !folder.is_dir()) {
        let message = format!("there is no index in {}", data.display());
        return Err(
            CliError::usage(message).with_remedy("give the folder of the service with --data")
        );
    }
    context.only_plans("replace the login and revoke all links", folder)?;
    let login = revoke_access(&data, store.as_ref())?;
    let fields = json!({
        "api_key": login.api_key,
        "api_secret": login.api_secret.expose_secret(),
        "session": login.session.expose_secret(),
    });
    context.print(&Document::new("tessera.service_login/1", fields))
}

/// Returns the address of the store on a server, or an error if none is given.
pub(super) fn require_store(options: &StoreOptions) -> CliResult<StoreAddress> {
    store_address(options)?.ok_or_else(|| {
        CliError::usage("give the address of the store with --store or TESSERA_STORE")
    })
}

/// Returns the address of the store on a server, if one is given.
pub(super) fn store_address(options: &StoreOptions) -> CliResult<Option<StoreAddress>> {
    let Some(raw) = options.store.as_ref().map(ExposeSecret::expose_secret) else {
        return Ok(None);
    };
    // Messages must not repeat the address, because it may contain a password.
    let address: StoreAddress =
        raw.parse().map_err(|reason: String| CliError::usage(format!("--store: {reason}")))?;
    if address.has_password()
        && std::env::args_os().any(|argument| argument.to_string_lossy().contains(raw))
    {
        return Err(CliError::usage(
            "--store: other users of this machine can read a password on the command line; set \
             TESSERA_STORE instead",
        ));
    }
    Ok(Some(address))
}

fn document(address: &StoreAddress, status: &StoreStatus) -> Document {
    let fields = json!({
        "address": address.to_string(),
        "server_version": status.server_version,
        "schema_version": status.schema_version,
        "known_version": status.known_version,
        "vector_version": status.vectors.version(),
        "page_checksums": status.has_page_checksums,
        "datasets": status.datasets,
        "media": status.media,
        "bytes": status.size,
    });
    Document::new("tessera.store/1", fields)
}

/// The maximum difference between the clocks, in microseconds. With a larger one, the times of
/// media and archives would be visibly wrong.
const MAX_CLOCK_DIFFERENCE: u64 = 2_000_000;

/// Checks the store and the bucket that the options or the environment name.
pub async fn check_store(options: &SharedStorage) -> Vec<DoctorResult> {
    let mut results = check_server(&options.store)
        .await
        .unwrap_or_else(|error| vec![DoctorResult::of_error("store", error)]);
    if let Some(bucket) = &options.bucket {
        match check_bucket(bucket).await {
            Ok(found) => results.extend(found),
            Err(error) => results.push(DoctorResult::of_error("bucket", error)),
        }
    }
    results
}

async fn check_server(options: &StoreOptions) -> CliResult<Vec<DoctorResult>> {
    let Some(address) = store_address(options)? else { return Ok(Vec::new()) };
    let check = move || {
        let failed = |cause: StoreError| CliError::failed(cause.to_string());
        let status = postgres::status(&address).map_err(failed)?;
        let StoreStatus { server_version, schema_version, known_version, datasets, .. } = status;
        if schema_version != known_version {
            return Err(failed(StoreError::ServerVersion {
                address,
                found_version: schema_version,
            }));
        }
        let datasets = count_with_noun(datasets, "dataset", "datasets");
        let found = format!("{address}: PostgreSQL {server_version}, {datasets}");
        let mut results = vec![DoctorResult::passed("store", found)];
        match postgres::health(&address) {
            Ok(health) => results.extend(describe(&health)),
            Err(cause) => results.push(DoctorResult::of_error("store", failed(cause))),
        }
        Ok(results)
    };
    run_blocking(check).await
}

fn describe(health: &StoreHealth) -> Vec<DoctorResult> {
    let StoreHealth { clock_ahead, vectors, workers, waiting, longest_wait, .. } = health;
    let read_only = "the server accepts no changes; connect to the primary, or ask its operator";
    let read_only = health.is_read_only.then(|| DoctorResult::warning("store changes", read_only));
    let difference = clock_ahead.unsigned_abs();
    let (seconds, micros) = (difference / 1_000_000, difference % 1_000_000);
    let clock = format!("the clock of the server differs by {seconds}.{micros:06} s");
    let clock = if difference > MAX_CLOCK_DIFFERENCE {
        DoctorResult::warning("store clock", format!("{clock}; synchronize it with this machine"))
    } else {
        DoctorResult::passed("store clock", clock)
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
        DoctorResult::warning("workers", format!("{found}; start `tessera work`"))
    } else {
        DoctorResult::passed("workers", found)
    };
    let reasons = health.waiting_reasons.iter();
    let reasons = reasons.map(|reason| {
        DoctorResult::warning("tasks", format!("a worker gave its task back: {reason}"))
    });
    [clock, check_vectors(vectors), workers].into_iter().chain(reasons).chain(read_only).collect()
}

fn check_vectors(vectors: &VectorSupport) -> DoctorResult {
    let without = "without it, large datasets are searched in the memory of each process";
    let missing = match vectors {
        VectorSupport::Installed { version, .. } => {
            return DoctorResult::passed("store extension", format!("pgvector {version}"));
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
    DoctorResult::passed("store extension", missing)
}

async fn check_bucket(bucket: &str) -> CliResult<[DoctorResult; 2]> {
    let LocalSettings { storage, .. } = local_settings(None, None)?;
    let folder = BucketFolder::new(&storage, &parse_bucket(bucket)?).map_err(LocalError::Bucket)?;
    folder.check().await.map_err(LocalError::Bucket)?;
    let written = DoctorResult::passed("bucket", format!("{bucket} can be written"));
    Ok([written, check_interrupted_uploads(&folder).await])
}

async fn check_interrupted_uploads(folder: &BucketFolder) -> DoctorResult {
    let subject = "bucket uploads";
    let limit = SystemTime::now() - INTERRUPTED_AFTER;
    let (uploads, objects) =
        (folder.interrupted_uploads(limit).await, folder.incomplete_objects(limit).await);
    let (uploads, objects) = match (uploads, objects) {
        (Ok(uploads), Ok(objects)) => (uploads, objects),
        (Err(cause), _) | (_, Err(cause)) => {
            let message = format!("interrupted uploads cannot be listed: {cause}");
            return DoctorResult::warning(subject, message);
        }
    };
    let uploads = uploads.iter().map(|id| format!("uploads/{id}"));
    let names: Vec<String> =
        uploads.chain(objects.iter().map(|object| object.name().to_owned())).collect();
    if names.is_empty() {
        return DoctorResult::passed(subject, "no interrupted upload takes up space");
    }
    let found = count_with_noun(names.len() as u64, "interrupted upload", "interrupted uploads");
    let names = names.join(", ");
    let remedy = "the next start of `tessera serve` or `tessera work` removes them";
    DoctorResult::warning(subject, format!("{found} in the bucket: {names}; {remedy}"))
}

pub(super) fn parse_bucket(uri: &str) -> CliResult<object_storage::ObjectUri> {
    object_storage::ObjectUri::parse(uri)
        .map_err(|why| CliError::usage(format!("--bucket {uri}: {why}")))
}
