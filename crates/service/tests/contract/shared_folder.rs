//! Several deployments share an index folder, as several processes do. One of them runs the tasks.

use serde_json::json;

use crate::{
    change::uploads,
    support::{Place, Service, pictures},
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_process_sees_and_changes_the_same_datasets() {
    let place = Place::new(&pictures(12));
    let deployment = place.open();
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    let first = Service::with_kept_login(place, deployment, dataset).await;
    let again = first.place.open();
    let second = Service::with_kept_login(Place::new(&[]), again, dataset).await;
    assert_eq!(second.record().await, first.record().await);
    assert_eq!(second.credentials.api_key, first.credentials.api_key);
    assert_eq!(second.add(uploads(12..14)).await.0, 202);
    second.deployment.wait_until_indexed(dataset).await.unwrap();
    let seen = first.record().await;
    assert_eq!((&seen["status_new"], &seen["n_images"]), (&json!("PARTIAL INDEX"), &json!(14)));
    // The first one ran the addition. After its end, the second one runs the reindex.
    let place = first.stop().await;
    assert_eq!(second.reindex().await.0, 202);
    second.deployment.wait_until_indexed(dataset).await.unwrap();
    assert_eq!(second.record().await["status_new"], "READY");
    drop(place);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_waits_until_another_one_has_run_its_task() {
    let place = Place::new(&pictures(60));
    let runner = place.open();
    let other = place.open();
    let dataset = place.add(&other);
    other.wait_until_indexed(dataset).await.unwrap();
    let records = other.datasets().unwrap();
    assert_eq!(
        (records[0].id, records[0].n_images, records[0].status.as_str()),
        (dataset, 60, "READY")
    );
    drop(runner);
    drop(other);
    assert_eq!(place.open().recovery_notice(), None);
}
