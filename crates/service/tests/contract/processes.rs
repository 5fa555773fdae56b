//! Several processes on one store, here several deployments, and what they have to have in common. A store in a file has
//! one process, so these tests run where `TESSERA_TEST_STORE` names a server.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use reqwest::StatusCode;
use secrecy::ExposeSecret as _;
use serde_json::Value;
use tessera_media::{ingest::disk_quota::DiskQuota, object_storage::ObjectUri};
use tessera_model::DatasetId;
use tessera_service::{Deployment, DeploymentSettings, LocalError};
use tessera_store::{lease, postgres};
use tessera_testing::tiny_model::ModelFolder;
use tokio::{sync::Semaphore, time::sleep};
use uuid::Uuid;

use crate::{
    change::uploads,
    components::object_storage::fake_s3::{FakeFailure, FakeS3},
    credentials::opens,
    support::{Place, Service, answer, pictures},
    user_model::with_model,
};

/// Ends a test that would hang.
const GUARD: Duration = Duration::from_mins(1);

/// The notification of a waiting task; a test does not wait until the workers look by themselves.
pub const WAKE: &str = "SELECT pg_notify('tessera_' || md5(current_schema()), '')";

/// The number of transactions of this test that wait for a lock.
const WAITING: &str = "pg_stat_activity WHERE wait_event_type = 'Lock'
                       AND application_name = current_setting('application_name')";

/// A folder of twelve pictures, if the store is on a server.
pub fn place() -> Option<Place> {
    let place = Place::new(&pictures(12));
    place.store.address().is_some().then_some(place)
}

/// Settings of a process that leaves tasks to others.
pub fn without_jobs() -> DeploymentSettings {
    DeploymentSettings { jobs: 0, ..DeploymentSettings::default() }
}

/// Waits until a table with a condition has this number of rows.
pub async fn until(place: &Place, table: &str, count: i64) {
    let begun = Instant::now();
    while place.count(table) != count {
        assert!(begun.elapsed() < GUARD, "{table} never has {count} rows");
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_task_that_is_cancelled_while_a_worker_takes_it_is_taken_away() {
    let Some(place) = place() else { return };
    let serving = place.open_with(without_jobs());
    let dataset = place.add(&serving);
    let row = place.number("row", "indexing_task");
    let taking = place.database();
    let (worker, end) = (Uuid::from_u128(8), i64::MAX);
    let take = format!(
        "BEGIN;
         INSERT INTO lease (task, holder, fence, expires_at)
         VALUES ('indexing/{row}', '{worker}', 1, {end});
         SELECT 1 FROM indexing_task FOR KEY SHARE"
    );
    taking.execute_batch(&take).unwrap();
    let service = Service::serve(place, serving, dataset, true).await;
    let request = service.post(&format!("/local/dataset/{dataset}/cancel"));
    let cancelled = tokio::spawn(request.send());
    until(&service.place, WAITING, 1).await;
    taking.execute_batch("COMMIT").unwrap();
    assert_eq!(cancelled.await.unwrap().unwrap().status(), 200);
    assert_eq!(service.place.count("lease WHERE task LIKE 'indexing/%'"), 0);
}

#[tokio::test]
async fn a_folder_that_is_opened_while_its_addition_ends_is_not_indexed_again() {
    let Some(place) = place() else { return };
    let serving = place.open_with(without_jobs());
    let worker = place.open();
    let dataset = place.add(&serving);
    until(&place, "dataset WHERE status = 'READY'", 1).await;
    drop(worker);
    let service = Service::with_kept_login(place, serving, dataset).await;
    assert_eq!(service.add(uploads(12..15)).await.0, 202);
    let ending = service.place.database();
    let end = "BEGIN;
               UPDATE indexing_task SET stage = 'COMPLETED';
               UPDATE dataset SET status = 'PARTIAL INDEX'";
    ending.execute_batch(end).unwrap();
    let other = service.place.open_with(without_jobs());
    let folder = service.place.pictures.path().to_owned();
    let opened = tokio::task::spawn_blocking(move || other.add_folder(&folder, None).unwrap());
    until(&service.place, WAITING, 1).await;
    ending.execute_batch("COMMIT").unwrap();
    assert_eq!(opened.await.unwrap(), dataset);
    assert_eq!(service.record().await["status_new"], "PARTIAL INDEX");
    assert_eq!(service.place.count("indexing_task WHERE stage = 'RUNNING'"), 0);
}

#[tokio::test]
async fn a_worker_runs_what_another_process_accepts() {
    let Some(place) = place() else { return };
    let serving = place.open_with(without_jobs());
    let worker = place.open();
    let dataset = place.add(&serving);
    until(&place, "dataset WHERE status = 'READY'", 1).await;
    let service = Service::with_kept_login(place, serving, dataset).await;
    assert_eq!(service.add(uploads(12..15)).await.0, 202);
    until(&service.place, "dataset WHERE status = 'PARTIAL INDEX'", 1).await;
    let record = service.record().await;
    assert_eq!(record["n_images"], 15);
    assert_eq!(service.reindex().await.0, 202);
    until(&service.place, "dataset WHERE status = 'READY'", 1).await;
    let export = "/export_context_async?file_name=a&export_format=json";
    service.good(&service.of_dataset(export)).await;
    until(&service.place, "export WHERE status = 'COMPLETED'", 1).await;
    until(&service.place, "lease WHERE task NOT LIKE 'worker/%'", 0).await;
    drop(worker);
    assert_eq!(service.place.count("lease"), 0, "a worker that ends is not counted");
}

#[tokio::test]
async fn an_export_waits_for_a_worker_with_space() {
    let Some(place) = place() else { return };
    let serving = place.open_with(without_jobs());
    let indexing = place.open();
    let dataset = place.add(&serving);
    until(&place, "dataset WHERE status = 'READY'", 1).await;
    drop(indexing);
    let disk = DiskQuota::with_reserve(u64::MAX);
    let full = place.open_with(DeploymentSettings { disk, ..DeploymentSettings::default() });
    let service = Service::with_kept_login(place, serving, dataset).await;
    let export = "/export_context_async?file_name=a&export_format=json&include_images=true";
    service.good(&service.of_dataset(export)).await;
    until(&service.place, "export WHERE message LIKE 'waiting, because the archive%'", 1).await;
    let other = service.place.open();
    until(&service.place, "export WHERE status = 'COMPLETED'", 1).await;
    drop((full, other));
}

#[tokio::test]
async fn many_workers_run_each_task_once() {
    let Some(place) = place() else { return };
    let serving = place.open_with(without_jobs());
    let workers: Vec<_> = (0..4).map(|_| place.open()).collect();
    let dataset = place.add(&serving);
    let service = Service::with_kept_login(place, serving, dataset).await;
    until(&service.place, "dataset WHERE status = 'READY'", 1).await;
    let export = service.of_dataset("/export_context_async?file_name=a&export_format=json");
    join_all((0..12).map(|_| service.good(&export))).await;
    until(&service.place, "export WHERE status = 'COMPLETED'", 12).await;
    assert_eq!(service.record().await["n_images"], 12);
    for worker in &workers {
        worker.wait_until_idle().await;
    }
    assert_eq!(service.place.count("lease WHERE task NOT LIKE 'worker/%'"), 0);
    // Each shows that it is alive.
    until(&service.place, "lease", 4).await;
}

#[tokio::test]
async fn a_task_is_taken_over_when_its_lease_ends() {
    let Some(place) = place() else { return };
    let serving = place.open_with(without_jobs());
    place.add(&serving);
    // The lease of a worker that was killed.
    let lease = format!(
        "INSERT INTO lease (task, holder, fence, expires_at)
         SELECT 'indexing/' || row, '{}', 7, {} FROM indexing_task",
        Uuid::from_u128(1),
        i64::MAX
    );
    place.change(&lease);
    let worker = place.open();
    worker.wait_until_idle().await;
    assert_eq!(place.count("lease WHERE fence = 7"), 1, "it is respected");
    place.change(&format!("UPDATE lease SET expires_at = 1 WHERE fence = 7; {WAKE}"));
    until(&place, "dataset WHERE status = 'READY'", 1).await;
    assert_eq!(place.count("media"), 12);
}

#[tokio::test]
async fn a_worker_that_was_taken_over_stops_and_changes_nothing() {
    let Some(place) = place() else { return };
    let simulated_delay = Duration::from_secs(4);
    let slow = DeploymentSettings { simulated_delay, ..DeploymentSettings::default() };
    let stale = place.open_with(slow);
    place.add(&stale);
    until(&place, "lease WHERE task LIKE 'indexing/%'", 1).await;
    place.change(&format!(
        "UPDATE lease SET holder = '{}', fence = fence + 1 WHERE task LIKE 'indexing/%'",
        Uuid::from_u128(1)
    ));
    stale.wait_until_idle().await;
    assert_eq!(place.count("media"), 0);
    assert_eq!(place.count("dataset WHERE status = 'INDEXING' AND progress < 5"), 1);
    assert_eq!(place.count("lease WHERE fence = 2 AND expires_at > 0"), 1, "it is another's");
    drop(stale);
    let _worker = place.open();
    // As when the lease of the other one ends.
    place.change(&format!("UPDATE lease SET expires_at = 0 WHERE task LIKE 'indexing/%'; {WAKE}"));
    until(&place, "dataset WHERE status = 'READY'", 1).await;
    assert_eq!(place.count("media"), 12);
}

#[tokio::test]
async fn a_worker_that_stops_gives_its_task_back() {
    let Some(place) = place() else { return };
    let simulated_delay = Duration::from_secs(20);
    let slow = DeploymentSettings { simulated_delay, ..DeploymentSettings::default() };
    let stopping = place.open_with(slow);
    let serving = place.open_with(without_jobs());
    place.add(&serving);
    until(&place, "lease WHERE task LIKE 'indexing/%'", 1).await;
    // It takes a step of its delay to notice.
    tokio::task::spawn_blocking(move || drop(stopping)).await.unwrap();
    assert_eq!(place.count("lease WHERE task LIKE 'indexing/%' AND expires_at = 0"), 1);
    let _worker = place.open();
    until(&place, "dataset WHERE status = 'READY'", 1).await;
}

#[tokio::test]
async fn the_tasks_of_a_process_that_was_killed_alone_continue_at_the_next_start() {
    let Some(place) = place() else { return };
    let worker = Uuid::from_u128(9);
    let serving = place.open_with(without_jobs());
    place.add(&serving);
    drop(serving);
    // What it leaves: a lease that has not ended, and its name in the data folder.
    place.change(&format!(
        "INSERT INTO lease (task, holder, fence, expires_at)
         SELECT 'indexing/' || row, '{worker}', 1, {} FROM indexing_task",
        i64::MAX
    ));
    fs::write(place.data.path().join("workers"), format!("{worker}\n")).unwrap();
    let next = place.open();
    next.wait_until_idle().await;
    assert_eq!(place.count("dataset WHERE status = 'READY'"), 1);
}

#[tokio::test]
async fn processes_share_a_folder_only_with_a_store_on_a_server() {
    let Some(place) = place() else { return };
    let first = place.open_with(without_jobs());
    let uploads = place.data.path().join("uploads");
    let staged = uploads.join(Uuid::from_u128(5).to_string());
    fs::create_dir(&staged).unwrap();
    let second = place.open_with(without_jobs());
    assert!(staged.exists(), "the other process may be receiving it");
    drop((first, second));
    drop(place.open_with(without_jobs()));
    assert!(!staged.exists());
    let file = Deployment::open(place.data.path(), DeploymentSettings::default()).unwrap();
    assert_eq!(file.datasets().unwrap().len(), 0);
}

#[tokio::test]
async fn a_service_writes_the_index_files_of_what_a_worker_changed() {
    let Some(place) = place() else { return };
    let serving = place.open_with(without_jobs());
    place.add(&serving);
    let worker = tempfile::tempdir().unwrap();
    let settings = DeploymentSettings {
        store: place.store.address(),
        prepare_indexes: false,
        ..DeploymentSettings::default()
    };
    let _worker = Deployment::open(worker.path(), settings).unwrap();
    let begun = Instant::now();
    let is_written = |data: &Path| {
        let folders = fs::read_dir(data.join("indexes")).into_iter().flatten();
        folders.flatten().any(|folder| folder.path().join("members").exists())
    };
    while !is_written(place.data.path()) {
        assert!(begun.elapsed() < GUARD, "there are no files");
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(place.count("dataset WHERE status = 'READY'"), 1);
    assert_eq!(place.count("lease WHERE task LIKE 'worker/%'"), 1, "a service is not a worker");
    assert!(!worker.path().join("indexes").exists());
}

#[tokio::test]
async fn operations_on_different_datasets_do_not_wait_for_each_other() {
    let Some(place) = place() else { return };
    let other = tempfile::tempdir().unwrap();
    for (name, bytes) in pictures(4) {
        fs::write(other.path().join(name), bytes).unwrap();
    }
    let serving = place.open_with(without_jobs());
    let first = place.add(&serving);
    let second = serving.add_folder(other.path(), Some("other")).unwrap();
    let worker = place.open();
    until(&place, "dataset WHERE status = 'READY'", 2).await;
    worker.wait_until_idle().await;
    drop(worker);
    let mut service = Service::with_kept_login(place, serving, first).await;
    assert_eq!(service.add(uploads(12..15)).await.0, 202);
    // What changes the first dataset waits from now on.
    let blocking = service.place.database();
    let lock = format!("BEGIN; SELECT 1 FROM dataset WHERE id = '{first}' FOR UPDATE");
    blocking.execute_batch(&lock).unwrap();
    // One runs its indexing task, and one may help with its range.
    let workers: Vec<_> = (0..3).map(|_| service.place.open()).collect();
    service.dataset = second;
    assert_eq!(service.add(uploads(15..18)).await.0, 202);
    until(&service.place, "dataset WHERE status = 'PARTIAL INDEX'", 1).await;
    assert_eq!(service.record().await["n_images"], 7);
    blocking.execute_batch("ROLLBACK").unwrap();
    until(&service.place, "dataset WHERE status = 'PARTIAL INDEX'", 2).await;
    drop(workers);
}

/// Two services of one store.
async fn two_services() -> Option<(Service, Service)> {
    let place = place()?;
    let deployment = place.open();
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    let other = place.open();
    let folders = Place {
        pictures: tempfile::tempdir().unwrap(),
        data: tempfile::tempdir().unwrap(),
        store: crate::test_store::TestStore::file(),
    };
    Some((
        Service::with_kept_login(place, deployment, dataset).await,
        Service::with_kept_login(folders, other, dataset).await,
    ))
}

#[tokio::test]
async fn services_of_one_store_accept_the_same_logins() {
    let Some((first, second)) = two_services().await else { return };
    assert_eq!(first.credentials.api_key, second.credentials.api_key);
    let cookie = format!("SESSION={}", first.credentials.session.expose_secret());
    let ask = async |service: &Service| -> (StatusCode, Value) {
        let path = service.url("/api/v1/api_credentials");
        answer(service.client.get(path).header("cookie", &cookie)).await
    };
    let (status, issued) = ask(&first).await;
    assert_eq!(status, 200);
    let (key, secret) =
        (issued["api_key"].as_str().unwrap(), issued["api_secret"].as_str().unwrap());
    assert_eq!(opens(&second, key, &secret[1..]).await, 401);
    assert_eq!(opens(&second, key, secret).await, 200);
    assert_eq!(opens(&second, "key-other", secret).await, 401);
    let (status, again) = ask(&second).await;
    assert_eq!(
        (status, &again["api_key"], &again["api_secret"]),
        (200.try_into().unwrap(), &issued["api_key"], &Value::Null)
    );
}

#[tokio::test]
async fn of_several_services_one_shows_the_issued_secret() {
    let Some((first, second)) = two_services().await else { return };
    let cookie = format!("SESSION={}", first.credentials.session.expose_secret());
    let services = [&first, &second];
    let asked = (0..16).map(|number| {
        let service = services[number % 2];
        let path = service.url("/api/v1/api_credentials");
        answer(service.client.get(path).header("cookie", &cookie))
    });
    let answers = join_all(asked).await;
    assert!(
        answers
            .iter()
            .all(|(status, body)| *status == 200 && body["api_key"] == answers[0].1["api_key"])
    );
    assert_eq!(answers.iter().filter(|(_, body)| body["api_secret"].is_string()).count(), 1);
}

#[tokio::test]
async fn services_of_one_store_respond_with_the_same_generation() {
    let Some((first, second)) = two_services().await else { return };
    let media = first.media("p000.png").await;
    let similar = format!("anchor_type=MEDIA&anchor_media_id={media}");
    let clusters = async |service: &Service| {
        let found = service.good(&service.explore(&similar)).await;
        let ids = found["clusters"].as_array().unwrap().iter().map(|it| it["cluster_id"].clone());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(clusters(&first).await, clusters(&second).await);
    first.added(uploads(12..15)).await;
    until(&first.place, "dataset WHERE status = 'PARTIAL INDEX'", 1).await;
    assert_eq!(second.reindex().await.0, 202);
    until(&first.place, "dataset WHERE status = 'READY'", 1).await;
    assert_eq!(clusters(&first).await, clusters(&second).await);
    assert_eq!(second.record().await["n_images"], 15);
}

#[test]
fn two_extensions_of_a_lease_may_fail() {
    assert!(3 * lease::EXTENSION_INTERVAL <= lease::LIFETIME);
}

fn with_bucket(storage: &FakeS3, uri: &str) -> DeploymentSettings {
    DeploymentSettings {
        storage: storage.settings(),
        bucket: Some(ObjectUri::parse(uri).unwrap()),
        ..DeploymentSettings::default()
    }
}

/// A service with a bucket and an indexing task, and a worker that takes this task only at [`take_task`].
async fn waiting_worker() -> Option<(FakeS3, Place, Deployment, DatasetId, Deployment)> {
    let place = place()?;
    let storage = FakeS3::with_objects(&[("team/readme.md", b"-")]).await;
    let settings = with_bucket(&storage, "s3://team/tessera");
    let serving = place.open_with(DeploymentSettings { jobs: 0, ..settings.clone() });
    let dataset = place.add(&serving);
    place.change(&format!(
        "INSERT INTO lease (task, holder, fence, expires_at)
         SELECT 'indexing/' || row, '{}', 1, {} FROM indexing_task",
        Uuid::from_u128(1),
        i64::MAX
    ));
    let worker = place.open_with(settings);
    Some((storage, place, serving, dataset, worker))
}

fn take_task(place: &Place) {
    place.change(&format!("UPDATE lease SET expires_at = 0 WHERE task LIKE 'indexing/%'; {WAKE}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_process_says_why_a_task_waits() {
    let Some((storage, place, serving, dataset, worker)) = waiting_worker().await else { return };
    storage.fail_next(vec![FakeFailure::S3Error(503, "SlowDown"); 1_000]);
    take_task(&place);
    until(&place, "lease WHERE waiting IS NOT NULL", 1).await;
    let service = Service::with_kept_login(place, serving, dataset).await;
    let reason = "The object storage cannot be reached; the work continues when it can";
    assert_eq!(service.record().await["fatal_error_msg"], reason);
    let health = postgres::health(&service.place.store.address().unwrap()).unwrap();
    assert_eq!(health.waiting_reasons, [reason]);
    storage.recover();
    until(&service.place, "dataset WHERE status = 'READY'", 1).await;
    assert_eq!(service.record().await["fatal_error_msg"], Value::Null);
    drop(worker);
    assert_eq!(service.place.count("lease"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_stops_while_the_bucket_does_not_respond_gives_its_task_back() {
    let Some((storage, place, _serving, _, worker)) = waiting_worker().await else { return };
    let gate = Arc::new(Semaphore::new(0));
    storage.fail_next(vec![FakeFailure::Held(gate.clone()); 4]);
    take_task(&place);
    until(&place, "lease WHERE task LIKE 'range/%' AND expires_at > 0", 1).await;
    let stopping = tokio::task::spawn_blocking(move || drop(worker));
    until(&place, "lease WHERE expires_at > 0", 0).await;
    gate.add_permits(4);
    stopping.await.unwrap();
}

#[tokio::test]
async fn an_upload_on_another_machine_is_named_with_its_remedy() {
    let Some(place) = place() else { return };
    let serving = place.open_with(without_jobs());
    let dataset = place.add(&serving);
    let other_machine = tempfile::tempdir().unwrap();
    let settings =
        DeploymentSettings { store: place.store.address(), ..DeploymentSettings::default() };
    let _worker = Deployment::open(other_machine.path(), settings).unwrap();
    until(&place, "dataset WHERE status = 'READY'", 1).await;
    let service = Service::with_kept_login(place, serving, dataset).await;
    assert_eq!(service.add(uploads(12..13)).await.0, 202);
    until(&service.place, "dataset WHERE status = 'PARTIAL INDEX'", 1).await;
    let record = service.record().await;
    let problem = record["fatal_error_msg"].as_str().unwrap();
    assert!(problem.contains("give all processes a bucket with --bucket"), "{problem}");
}

/// Opens the store of a place as another process does.
fn open(place: &Place, settings: DeploymentSettings) -> Result<Deployment, LocalError> {
    let settings = DeploymentSettings { store: place.store.address(), ..settings };
    Deployment::open(place.data.path(), settings)
}

#[tokio::test]
async fn a_process_with_another_bucket_or_model_is_refused() {
    let place = Place::new(&pictures(1));
    let Some(address) = place.store.address() else { return };
    let storage = FakeS3::with_objects(&[("team/readme.md", b"-")]).await;
    let with_bucket = |uri: &str| with_bucket(&storage, uri);
    let unusable = open(&place, with_bucket("s3://missing/tessera")).unwrap();
    unusable.check_settings().await.unwrap_err();
    let first = open(&place, with_bucket("s3://team/tessera/")).unwrap();
    let second = open(&place, DeploymentSettings::default()).unwrap();
    first.check_settings().await.unwrap();
    let used = format!("the store {address} is used with");
    let (bucket, same) =
        ("the bucket s3://team/tessera", "give all processes the same --bucket, or stop them");
    let refusal = second.check_settings().await.unwrap_err();
    let expected = format!("{used} {bucket}, and this process was given no bucket; {same}");
    assert!(refusal.to_string().starts_with(&expected), "{refusal}");
    assert!(refusal.is_usage_error());
    drop(open(&place, with_bucket("s3://team/tessera")).unwrap());
    let other = with_model(&ModelFolder::clip());
    let other = DeploymentSettings { model: other.model, ..with_bucket("s3://team/tessera") };
    for (settings, given) in [
        (
            with_bucket("s3://team/other"),
            format!("{bucket}, and this process was given the bucket s3://team/other; "),
        ),
        (
            DeploymentSettings::default(),
            format!("{bucket}, and this process was given no bucket; "),
        ),
        (other, "no model, and this process was given the model ".to_owned()),
    ] {
        let refusal = open(&place, settings).map(drop).unwrap_err().to_string();
        assert!(refusal.starts_with(&format!("{used} {given}")), "{refusal}");
        assert!(refusal.ends_with("`tessera store init --reset-settings`"), "{refusal}");
    }
    place.add(&first);
    first.wait_until_idle().await;
    place.change(
        "INSERT INTO export SELECT id, id, 'a', 'json', false, '', 'COMPLETED', 1, 1, NULL, 1, false, NULL FROM dataset",
    );
    for (bucket, state) in [("s3://team/tessera", "COMPLETED"), ("s3://team/other", "FAILED")] {
        postgres::reset_settings(&address).unwrap();
        open(&place, with_bucket(bucket)).unwrap().check_settings().await.unwrap();
        assert_eq!(place.count(&format!("export WHERE status = '{state}'")), 1, "{bucket}");
    }
}
