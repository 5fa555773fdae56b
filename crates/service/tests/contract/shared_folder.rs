//! Several deployments share an index folder, as several processes do. One of them runs the tasks.

use serde_json::json;
use tessera_model::MediaId;
use tessera_service::ServerOptions;

use crate::{
    change::uploads,
    export::archive,
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn media_and_archives_of_a_dataset_that_is_not_offered_are_not_found() {
    let place = Place::new(&pictures(4));
    let deployment = place.open();
    let dataset = place.add(&deployment);
    let offered = Place::new(&pictures(2));
    let own = deployment.add_folder(offered.pictures.path(), None).unwrap();
    deployment.wait_until_idle().await;
    let all = Service::with_kept_login(place, deployment.clone(), dataset).await;
    let body = all.good(&all.explore("threshold=0")).await;
    let preview = &body["clusters"][0]["previews"][0];
    let links = ["media_uri", "media_thumb_uri"].map(|link| preview[link].as_str().unwrap());
    let download = archive(&all, "file_name=a&export_format=json").await.0["download_uri"].clone();
    let links = links.into_iter().chain(download.as_str());
    let deployment = deployment.offering(&[own]);
    let options = |access| ServerOptions { compat: true, ..ServerOptions::from(access) };
    let part = Service::serve_as(offered, deployment, own, true, options).await;
    let status = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status();
    for link in links {
        assert_eq!(status(all.client.get(link)).await, 200, "{link}");
        let link = link.replace(&all.url(""), &part.url(""));
        assert_eq!(status(part.client.get(&link)).await, 404, "{link}");
    }
    let id = preview["media_id"].as_str().unwrap();
    for path in ["original", "video", "thumbnail"] {
        assert_eq!(status(part.get(&format!("/media/{id}/0/{path}"))).await, 404, "{path}");
    }
    assert_eq!(status(part.get(&format!("/api/v1/image/{id}"))).await, 404);
    let media: MediaId = id.parse().unwrap();
    assert!(all.deployment.original_path(media).is_some());
    assert_eq!(part.deployment.original_path(media), None);
    assert_eq!(part.deployment.original_file(media), None);
}
