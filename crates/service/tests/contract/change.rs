//! Helpers for tests that change datasets: forms, requests, and waiting for a state.

use std::{
    io::{Cursor, Write as _},
    ops::Range,
    time::{Duration, Instant},
};

use reqwest::{
    RequestBuilder,
    multipart::{Form, Part},
};
use serde_json::Value;
use tessera_service::{DeploymentSettings, InjectedFailure};
use tokio::time::sleep;

use crate::support::{Place, Service, picture, pictures};

/// How long to wait for a state.
const PATIENCE: Duration = Duration::from_secs(30);

impl Service {
    /// Serves twelve images with these settings.
    pub async fn with(settings: DeploymentSettings) -> Self {
        Self::at_with(Place::new(&pictures(12)), settings).await
    }

    /// Serves an indexed folder with these settings and a login.
    pub async fn at_with(place: Place, settings: DeploymentSettings) -> Self {
        let deployment = place.open_with(settings);
        let dataset = place.add(&deployment);
        deployment.wait_until_idle().await;
        Self::serve(place, deployment, dataset, true).await
    }

    /// Serves twelve images with an injected failure.
    pub async fn failing(what: InjectedFailure) -> Self {
        Self::with(DeploymentSettings {
            injected_failures: [what].into(),
            ..DeploymentSettings::default()
        })
        .await
    }

    /// Closes the deployment and serves the same folder with other settings.
    pub async fn again(self, settings: DeploymentSettings) -> Self {
        let dataset = self.dataset;
        let place = self.stop().await;
        let deployment = place.open_with(settings);
        deployment.wait_until_idle().await;
        Self::serve(place, deployment, dataset, true).await
    }

    /// Posts a form to `add_media`; returns status code and body.
    pub async fn add(&self, form: Form) -> (u16, String) {
        plain(self.post(&self.of_dataset("/add_media")).multipart(form)).await
    }

    /// Adds media and waits until the indexing task has finished.
    pub async fn added(&self, form: Form) {
        assert_eq!(self.add(form).await, (202, String::new()));
        self.deployment.wait_until_idle().await;
    }

    /// Requests a reindex; returns status code and body.
    pub async fn reindex(&self) -> (u16, String) {
        plain(self.post(&self.of_dataset("/reindex"))).await
    }

    /// The record of the dataset.
    pub async fn record(&self) -> Value {
        self.good(&self.of_dataset("")).await
    }

    /// Collects statuses until the dataset has reached `last` and nothing is running.
    pub async fn path_to(&self, last: &str) -> Vec<String> {
        let mut path: Vec<String> = Vec::new();
        let begun = Instant::now();
        loop {
            let record = self.record().await;
            let status = record["status_new"].as_str().unwrap();
            if path.last().is_none_or(|seen| seen != status) {
                path.push(status.to_owned());
            }
            if status == last {
                return path;
            }
            assert!(begun.elapsed() < PATIENCE, "{path:?}");
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// The clusters of a page.
    pub async fn clusters(&self, query: &str) -> Vec<Value> {
        self.good(&self.explore(query)).await["clusters"].as_array().unwrap().clone()
    }

    /// The file names of all previews on a page at the finest level, in order.
    pub async fn names(&self, query: &str) -> Vec<String> {
        let clusters = self.clusters(&format!("threshold=0&{query}")).await;
        let previews = clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap());
        previews.map(|preview| preview["file_name"].as_str().unwrap().to_owned()).collect()
    }

    /// The identifier of the media item with this file name.
    pub async fn media(&self, name: &str) -> String {
        let clusters = self.clusters("threshold=0").await;
        let previews = clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap());
        let preview = previews.into_iter().find(|preview| preview["file_name"] == name);
        preview.unwrap()["media_id"].as_str().unwrap().to_owned()
    }
}

/// The status code and body of a response.
pub async fn plain(request: RequestBuilder) -> (u16, String) {
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

/// The message of an error response.
pub fn detail(body: &str) -> Value {
    let mut body: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{body:?}"));
    body["detail"].take()
}

/// New images, named `n012.png` and so on.
pub fn new(numbers: Range<u32>) -> Vec<(String, Vec<u8>)> {
    numbers.map(|n| (format!("n{n:03}.png"), picture(n))).collect()
}

/// A form that uploads them.
pub fn uploads(numbers: Range<u32>) -> Form {
    new(numbers).into_iter().fold(Form::new(), |form, (name, bytes)| {
        form.part("files", Part::bytes(bytes).file_name(name))
    })
}

/// A form that uploads them in an archive.
pub fn archived(name: &str, bytes: Vec<u8>) -> Form {
    Form::new().part("archive", Part::bytes(bytes).file_name(name.to_owned()))
}

/// A ZIP of files.
pub fn zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A TAR of files.
pub fn tar(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut head = tar::Header::new_gnu();
        head.set_size(bytes.len() as u64);
        head.set_mode(0o644);
        tar.append_data(&mut head, name, bytes.as_slice()).unwrap();
    }
    tar.into_inner().unwrap()
}

/// It packed by gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}
