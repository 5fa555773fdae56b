//! Attacks the local service over loopback: clients that are slow, silent, huge, or read nothing, beside light reads
//! and probes. The attacks are bounded in count and time. Mixtures of clients follow from a seed, which a failure
//! names.
//!
//! The limits are far above what an optimized service on an idle machine needs. Without the defense,
//! an attack exceeds them many times.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod clients;
mod reads;
mod service;

use std::time::Duration;

use tokio::sync::Mutex;

use clients::{Attack, AttackClient};
use reads::LightReads;
use service::Service;

/// The time for which an attack runs beside the reads.
const ATTACK_TIME: Duration = Duration::from_secs(5);

/// Locked during an attack, so that each one has the machine for itself.
static ATTACK: Mutex<()> = Mutex::const_new(());

/// Runs an attack, and asserts that light reads and probes are answered in time beside it.
async fn assert_others_are_served(name: &str, clients: Vec<AttackClient>) {
    let _lock = ATTACK.lock().await;
    let service = Service::start();
    let attack = Attack::start(&service, clients);
    let reads = LightReads::measure(&service, ATTACK_TIME);
    let connections = attack.stop();
    let figures = format!("{name}: {connections} connections beside {reads}");
    assert!(connections > 0, "{figures}");
    reads.assert_served(&figures);
}

fn crowd(count: usize, client: AttackClient) -> Vec<AttackClient> {
    vec![client; count]
}

#[tokio::test]
async fn clients_that_pipeline_and_read_nothing() {
    assert_others_are_served("pipelining", crowd(700, AttackClient::Pipelining)).await;
}

#[tokio::test]
async fn silent_clients_and_unfinished_heads() {
    let mut clients = crowd(800, AttackClient::Silent);
    clients.extend(crowd(800, AttackClient::HalfHead));
    assert_others_are_served("silent", clients).await;
}

#[tokio::test]
async fn slow_uploads() {
    assert_others_are_served("slow uploads", crowd(300, AttackClient::SlowUpload)).await;
}

#[tokio::test]
async fn slow_query_images() {
    assert_others_are_served("slow query images", crowd(300, AttackClient::SlowQueryImage)).await;
}

#[tokio::test]
async fn huge_heads_and_bodies() {
    let mut clients = crowd(100, AttackClient::HugeHead);
    clients.extend(crowd(20, AttackClient::HugeBody));
    assert_others_are_served("huge", clients).await;
}

#[tokio::test]
async fn random_mixtures() {
    for seed in 1..=3 {
        let clients = AttackClient::random_mixture(seed, 500);
        assert_others_are_served(&format!("mixture with seed {seed}"), clients).await;
    }
}
