//! Concurrent requests.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use reqwest::{RequestBuilder, multipart::Form};
use serde_json::{Value, json};
use tessera_model::DatasetId;

use crate::{
    bucket::Bucket,
    change::{plain, uploads},
    support::{Place, Service, picture},
};

/// Requests per round.
const MANY: usize = 100;

/// Several datasets of one image each, with one worker that waits for object storage: accepted
/// indexing tasks keep running until the storage responds.
struct Crowd {
    service: Service,
    datasets: Vec<DatasetId>,
    held: tokio::sync::OwnedMutexGuard<()>,
}

impl Crowd {
    async fn of(datasets: usize) -> Self {
        let bucket = Bucket::of([("photos/n.png".to_owned(), picture(9))]).await;
        let names: Vec<String> = (0..=datasets).map(|n| format!("{n}/a.png")).collect();
        let files: Vec<(&str, Vec<u8>)> =
            names.iter().map(|name| (name.as_str(), picture(1))).collect();
        let place = Place::new(&files);
        let deployment = place.open_with(bucket.settings());
        let add = |n| deployment.add_folder(&place.picture(&format!("{n}")), None).unwrap();
        let mut datasets: Vec<DatasetId> = (0..=datasets).map(add).collect();
        deployment.wait_until_idle().await;
        let waiting = datasets.pop().unwrap();
        let service = Service::serve(place, deployment, waiting, true).await;
        let held = bucket.keep_back().await;
        let form = Form::new().text("s3_uri", "s3://photos/");
        assert_eq!(service.add(form).await.0, 202);
        Self { service, datasets, held }
    }

    fn post(&self, dataset: DatasetId, what: &str) -> RequestBuilder {
        let request = self.service.post(&format!("/api/v1/dataset/{dataset}/{what}"));
        if what == "add_media" { request.multipart(uploads(2..3)) } else { request }
    }

    /// Sends all requests at once and counts the responses.
    async fn round(&self, requests: Vec<RequestBuilder>) -> BTreeMap<(u16, String), usize> {
        let tasks = requests.into_iter().map(|request| tokio::spawn(plain(request)));
        let mut answers = BTreeMap::new();
        for answer in join_all(tasks).await {
            *answers.entry(answer.unwrap()).or_default() += 1;
        }
        answers
    }

    fn partial_index(&self) {
        let place = &self.service.place;
        place.store.allow_any_transition(&place.database());
        place.change("UPDATE dataset SET status = 'PARTIAL INDEX' WHERE status = 'READY'");
    }

    fn running(&self) -> i64 {
        self.service.place.count("indexing_task WHERE stage = 'RUNNING'")
    }

    /// Lets the indexing tasks finish; returns every dataset record.
    async fn settled(self) -> Vec<Value> {
        drop(self.held);
        self.service.deployment.wait_until_idle().await;
        let list = self.service.good("/api/v1/datasets").await;
        list.as_array().unwrap().clone()
    }
}

fn blocked(operation: &str, running: &str) -> (u16, String) {
    let words = format!("Operation '{operation}' is blocked while {running} task is running");
    (409, json!({"detail": words}).to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn only_one_of_a_hundred_concurrent_additions_is_accepted() {
    let crowd = Crowd::of(3).await;
    for (round, &dataset) in (1..).zip(&crowd.datasets) {
        let requests = (0..MANY).map(|_| crowd.post(dataset, "add_media")).collect();
        let answers = crowd.round(requests).await;
        let expected = BTreeMap::from([
            ((202, String::new()), 1),
            (blocked("add_media", "MEDIA_ADDITION"), MANY - 1),
        ]);
        assert_eq!(answers, expected);
        assert_eq!(crowd.running(), round + 1);
    }
    for record in crowd.settled().await {
        let stands = (&record["status_new"], &record["n_images"]);
        assert_eq!(stands, (&json!("PARTIAL INDEX"), &json!(2)), "{record}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn only_one_of_a_hundred_concurrent_reindexes_is_accepted() {
    let crowd = Crowd::of(4).await;
    crowd.partial_index();
    for (round, &dataset) in (1..).zip(&crowd.datasets) {
        let requests = (0..MANY).map(|_| crowd.post(dataset, "reindex")).collect();
        let answers = crowd.round(requests).await;
        let expected =
            BTreeMap::from([((202, String::new()), 1), (blocked("reindex", "REINDEX"), MANY - 1)]);
        assert_eq!(answers, expected);
        assert_eq!(crowd.running(), round + 1);
    }
    let stands: Vec<Value> =
        crowd.settled().await.iter().map(|record| record["status_new"].clone()).collect();
    assert_eq!(stands, ["READY", "READY", "READY", "READY", "PARTIAL INDEX"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn only_one_of_concurrent_additions_and_reindexes_is_accepted() {
    let crowd = Crowd::of(3).await;
    crowd.partial_index();
    for &dataset in &crowd.datasets {
        let what = |n| if n % 2 == 0 { "add_media" } else { "reindex" };
        let requests = (0..MANY).map(|n| crowd.post(dataset, what(n))).collect();
        let mut answers = crowd.round(requests).await;
        assert_eq!(answers.remove(&(202, String::new())), Some(1), "{answers:?}");
        let added = answers.contains_key(&blocked("add_media", "MEDIA_ADDITION"));
        let running = if added { "MEDIA_ADDITION" } else { "REINDEX" };
        let refused = [blocked("add_media", running), blocked("reindex", running)];
        assert!(answers.keys().all(|answer| refused.contains(answer)), "{answers:?}");
        assert_eq!(answers.values().sum::<usize>(), MANY - 1);
    }
    for record in crowd.settled().await {
        assert!(["READY", "PARTIAL INDEX"].contains(&record["status_new"].as_str().unwrap()));
    }
}
