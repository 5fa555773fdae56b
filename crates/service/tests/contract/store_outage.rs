//! A server of the store that accepts bytes but sends none, like one whose processes are stopped. A proxy stands before
//! the server of `TESSERA_TEST_STORE`, or before none.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use serde_json::json;
use tessera_model::{DatasetId, Status};
use tessera_service::{Deployment, DeploymentSettings};
use tessera_store::{
    Store,
    postgres::{self, StoreAddress},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    runtime::Runtime,
    sync::watch,
    time::timeout,
};

use crate::support::{Place, Service, pictures};

/// Ends a test that would hang.
const GUARD: Duration = Duration::from_mins(1);
/// The time within which a request must be answered while the server does not respond.
const DEADLINE: Duration = Duration::from_secs(25);

/// A proxy that forwards only the bytes of connections that were accepted after the time in the channel. Returns its
/// port.
async fn proxy(server: String, lost_before: watch::Receiver<Instant>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let accepted = Instant::now();
            let Ok(server) = TcpStream::connect(&server).await else { return };
            let ((from_client, to_client), (from_server, to_server)) =
                (client.into_split(), server.into_split());
            tokio::spawn(forward(from_client, to_server, accepted, lost_before.clone()));
            tokio::spawn(forward(from_server, to_client, accepted, lost_before.clone()));
        }
    });
    port
}

async fn forward(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    accepted: Instant,
    mut lost_before: watch::Receiver<Instant>,
) {
    let mut bytes = vec![0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        if lost_before.wait_for(|lost_before| *lost_before <= accepted).await.is_err() {
            return;
        }
        if to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}

/// A service whose store is reached through a proxy. Returns `None` if the store of the tests is a file.
async fn behind_proxy() -> Option<(Service, watch::Sender<Instant>)> {
    let place = Place::new(&pictures(4));
    let address = place.store.address_text()?;
    let (before, server, after) = split(&address).unwrap();
    let (sender, lost_before) = watch::channel(Instant::now());
    let port = proxy(server.to_owned(), lost_before).await;
    let address = format!("{before}127.0.0.1:{port}{after}");
    let store = Some(address.parse().unwrap());
    let settings = DeploymentSettings { store, ..DeploymentSettings::default() };
    let data = place.data.path().to_owned();
    let opened = tokio::task::spawn_blocking(move || Deployment::open(&data, settings).unwrap());
    let deployment = opened.await.unwrap();
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    Some((Service::serve(place, deployment, dataset, true).await, sender))
}

/// Splits an address of a store into what precedes its host, the host with the port, and the rest.
fn split(address: &str) -> Option<(&str, &str, &str)> {
    let start = address.find('@').map_or("postgres://".len(), |at| at + 1);
    let end = start + address[start..].find('/')?;
    Some((&address[..start], &address[start..end], &address[end..]))
}

#[tokio::test]
async fn a_server_that_accepts_connections_and_sends_nothing_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("postgres://ann@{}/media", listener.local_addr().unwrap());
    let address: StoreAddress = address.parse().unwrap();
    let asked = tokio::task::spawn_blocking(move || postgres::status(&address));
    let error = timeout(GUARD, asked).await.unwrap().unwrap().unwrap_err();
    assert!(error.to_string().contains("the server does not respond"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_are_503_while_the_server_does_not_respond_and_work_afterwards() {
    let Some((service, lost_before)) = behind_proxy().await else { return };
    service.good("/api/v1/datasets").await;

    let before = lost_before.send_replace(Instant::now() + Duration::from_hours(1));
    for path in ["/readyz"; 40] {
        let begun = Instant::now();
        let status = service.client.get(service.url(path)).send().await.unwrap().status();
        assert!([200, 503].contains(&status.as_u16()), "{status}");
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    }
    let requests = (0..30).map(|_| service.get("/api/v1/datasets").send());
    for response in timeout(DEADLINE, join_all(requests)).await.unwrap() {
        assert_eq!(response.unwrap().status(), 503);
    }
    assert_eq!(service.client.get(service.url("/healthz")).send().await.unwrap().status(), 200);

    lost_before.send_replace(before);
    let recovered =
        async { while service.get("/api/v1/datasets").send().await.unwrap().status() != 200 {} };
    timeout(GUARD, recovered).await.unwrap();
}

/// A firewall forgets connections, or another server takes over, and nobody ends the connections from before.
#[tokio::test(flavor = "multi_thread")]
async fn connections_that_the_server_has_lost_are_replaced() {
    let Some((service, lost_before)) = behind_proxy().await else { return };
    let media =
        json!([{"type": "media", "payload": {"media_ids": [service.media("p000.png").await]}}]);
    let rated = json!({"rating": 5, "media_selection": media});
    let path = format!("/local/dataset/{}/tags/change", service.dataset);
    service.good("/api/v1/datasets").await;
    lost_before.send_replace(Instant::now());
    let sessions = "FROM pg_stat_activity WHERE pid <> pg_backend_pid()
                    AND application_name = current_setting('application_name')";
    service.place.change(&format!("SELECT pg_terminate_backend(pid) {sessions}"));
    let succeed = async {
        while service.get("/api/v1/datasets").send().await.unwrap().status() != 200 {}
        while service.post(&path).json(&rated).send().await.unwrap().status() != 200 {}
    };
    timeout(GUARD, succeed).await.unwrap();
}

/// A standby accepts no changes, and neither does a managed server whose disk is almost full.
#[test]
fn a_server_that_accepts_no_changes_is_not_writable() {
    let place = Place::new(&pictures(1));
    let Some(address) = place.store.address_text() else { return };
    place.reopened().check_writable().unwrap();
    let address = format!("{address}%20-c%20default_transaction_read_only%3Don").parse().unwrap();
    let store = Store::open_on_server(place.data.path(), &address).unwrap();
    let refusal = store.check_writable().unwrap_err();
    assert_eq!(refusal.public_message(), "the server of the store accepts no changes");
    assert!(refusal.is_temporary());
    assert!(postgres::health(&address).unwrap().is_read_only);
}

/// tokio lets a task use its resources 128 times before the task must yield. A task that waits for the store does not
/// yield in between.
#[test]
fn a_task_uses_the_store_any_number_of_times_without_yielding() {
    let place = Place::new(&pictures(1));
    if place.store.address().is_none() {
        return;
    }
    let (sender, finished) = mpsc::channel();
    // A task that waits forever blocks its thread, so the thread is not joined.
    thread::spawn(move || {
        let uses = async { (0..200).map(|_| place.count("dataset")).sum::<i64>() };
        sender.send(Runtime::new().unwrap().block_on(uses)).unwrap();
    });
    assert_eq!(finished.recv_timeout(GUARD), Ok(0));
}

/// An administrator or a restart of the server ends connections in the middle of a transaction.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_whose_connection_the_server_ends_runs_again() {
    let place = Place::new(&pictures(12));
    if place.store.address().is_none() {
        return;
    }
    let simulated_delay = Duration::from_secs(1);
    let deployment =
        place.open_with(DeploymentSettings { simulated_delay, ..DeploymentSettings::default() });
    let dataset = place.add(&deployment);
    let others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND state <> 'idle'
                    AND application_name = current_setting('application_name')";
    let (begun, mut ended) = (Instant::now(), 0);
    while !is_ready(&deployment, dataset) {
        if ended < 2 && place.count(&format!("(SELECT pid {others}) AS busy")) > 0 {
            place.change(&format!("SELECT pg_terminate_backend(pid) {others}"));
            ended += 1;
        }
        assert!(begun.elapsed() < GUARD);
    }
    assert_eq!(ended, 2);
}

fn is_ready(deployment: &Deployment, dataset: DatasetId) -> bool {
    // The list itself can lose its connection.
    let datasets = deployment.datasets().unwrap_or_default();
    let Some(record) = datasets.iter().find(|record| record.id == dataset) else { return false };
    assert_ne!(record.status, Status::Error, "the task has run again");
    record.status == Status::Ready
}
