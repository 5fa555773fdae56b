//! Processes of two versions on one store: a newer one has changed the tables. These tests run where
//! `TESSERA_TEST_STORE` names a server.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use secrecy::ExposeSecret as _;
use serde_json::Value;
use tessera_service::{Deployment, DeploymentSettings};
use tessera_store::{Store, params, postgres, query};
use tokio::time::timeout;

use crate::{
    change::{detail, uploads},
    support::{Place, Service, answer, pictures},
};

/// Ends a test that would hang.
const GUARD: Duration = Duration::from_mins(1);
/// What a migration of a newer version does.
const MIGRATION: &str = "BEGIN;
    LOCK TABLE schema_version IN ACCESS EXCLUSIVE MODE;
    ALTER TABLE dataset ADD COLUMN of_newer_version integer;
    INSERT INTO schema_version (version) SELECT max(version) + 1 FROM schema_version;
    COMMIT";
/// As when the newer version is the one of this process.
const SAME_VERSION: &str =
    "DELETE FROM schema_version WHERE version = (SELECT max(version) FROM schema_version)";
const REFUSAL: &str =
    "the store was updated to another version of tessera; update this service, too";

/// A folder of twelve pictures, if the store is on a server.
fn place() -> Option<Place> {
    let place = Place::new(&pictures(12));
    place.store.address().is_some().then_some(place)
}

fn changed(place: &Place) -> Vec<i64> {
    ["operation", "export", "anchor", "source", "media"].map(|table| place.count(table)).into()
}

#[tokio::test]
async fn an_older_service_reads_and_changes_nothing() {
    let Some(place) = place() else { return };
    let deployment = place.open();
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    let service = Service::serve(place, deployment, dataset, true).await;
    let before = changed(&service.place);
    service.place.change(MIGRATION);
    let export = service.of_dataset("/export_context_async?file_name=a&export_format=json");
    let (status, body) = service.add(uploads(12..15)).await;
    assert_eq!((status, detail(&body)), (503, REFUSAL.into()));
    for (status, body) in
        [service.json(&export).await, answer(service.client.get(service.url("/readyz"))).await]
    {
        assert_eq!((status.as_u16(), &body["detail"]), (503, &Value::from(REFUSAL)));
    }
    assert_eq!(changed(&service.place), before);
    let page = service.good(&service.explore("")).await;
    assert!(!page["clusters"].as_array().unwrap().is_empty());
    let error = timeout(GUARD, service.deployment.wait_until_outdated()).await.unwrap();
    let text = error.to_string();
    assert!(text.contains("a newer version") && text.ends_with("; update tessera"), "{text}");
    let settings = DeploymentSettings {
        store: service.place.store.address(),
        ..DeploymentSettings::default()
    };
    let opened = Deployment::open(service.place.data.path(), settings).map(drop);
    assert_eq!(opened.unwrap_err().to_string(), text);
}

#[tokio::test]
async fn an_older_service_issues_no_key_pair() {
    let Some(place) = place() else { return };
    let deployment = place.open();
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    let service = Service::with_kept_login(place, deployment, dataset).await;
    service.place.change(MIGRATION);
    let cookie = format!("SESSION={}", service.credentials.session.expose_secret());
    let request = service.client.get(service.url("/api/v1/api_credentials"));
    let (status, body) = answer(request.header("cookie", cookie)).await;
    assert_eq!((status.as_u16(), &body["detail"]), (503, &Value::from(REFUSAL)));
}

#[tokio::test]
async fn an_older_worker_leaves_its_task_to_a_newer_one() {
    let Some(place) = place() else { return };
    let simulated_delay = Duration::from_secs(4);
    let slow = DeploymentSettings { simulated_delay, ..DeploymentSettings::default() };
    let older = place.open_with(slow);
    place.add(&older);
    let begun = Instant::now();
    while place.count("lease WHERE task LIKE 'operation/%'") == 0 {
        assert!(begun.elapsed() < GUARD, "no worker takes the task");
    }
    place.change(MIGRATION);
    timeout(GUARD, older.wait_until_outdated()).await.unwrap();
    timeout(GUARD, older.wait_until_idle()).await.unwrap();
    tokio::task::spawn_blocking(move || drop(older)).await.unwrap();
    assert_eq!(place.count("media"), 0);
    assert_eq!(place.count("operation WHERE stage = 'RUNNING'"), 1);
    // The lease ends by itself: what would give it back is a change, too.
    assert_eq!(place.count("lease WHERE task LIKE 'operation/%' AND expires_at > 0"), 1);
    place.change(&format!("{SAME_VERSION}; UPDATE lease SET expires_at = 1"));
    let newer = place.open();
    timeout(GUARD, newer.wait_until_idle()).await.unwrap();
    assert_eq!(place.count("dataset WHERE status = 'READY'"), 1);
    assert_eq!(place.count("media"), 12);
}

#[test]
fn a_migration_waits_for_changes_that_have_begun() {
    let Some(place) = place() else { return };
    let address = place.store.address().unwrap();
    let store = &Store::open_on_server(place.data.path(), &address).unwrap();
    let insert = "INSERT INTO setting (name, value) VALUES ('late', ''::bytea)";
    let waiting = "pg_locks WHERE NOT granted AND relation = to_regclass('schema_version')";
    thread::scope(|scope| {
        let ((begin, has_begun), (end, is_over)) = (mpsc::channel(), mpsc::channel::<()>());
        let changing = scope.spawn(move || {
            store.write_rows(|tx| {
                begin.send(()).unwrap();
                is_over.recv().unwrap();
                query::execute(tx, insert, params![])
            })
        });
        has_begun.recv().unwrap();
        let migrating = scope.spawn(|| postgres::init(&address));
        while place.count(waiting) == 0 {
            assert!(!migrating.is_finished(), "it did not wait");
        }
        assert_eq!(place.count("setting WHERE name = 'late'"), 0);
        end.send(()).unwrap();
        changing.join().unwrap().unwrap();
        migrating.join().unwrap().unwrap();
    });
    assert_eq!(place.count("setting WHERE name = 'late'"), 1);
}
