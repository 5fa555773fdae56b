//! A served folder with its data folder, for tests that end the service in the middle of its work.

use std::{
    collections::BTreeSet,
    io::Cursor,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use reqwest::{
    Client, Method, RequestBuilder,
    multipart::{Form, Part},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use zip::ZipArchive;

use super::{Serving, started, tessera};
use crate::test_store;
use tessera_testing::server_schema::ServerSchema;

/// The limit for every wait. It is long enough for a busy machine, so that only a bug reaches it.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);
/// The number of pictures in the folder, and in each batch.
pub(super) const PICTURES: u32 = 20;
pub(super) const BATCH: u32 = 12;

/// A folder of pictures and a data folder, served by the binary. The service can be killed and started again.
pub(super) struct ServedFolder {
    pub home: TempDir,
    pub serving: Serving,
    client: Client,
    /// The schema of the store, if the tests run on a server.
    store: Option<ServerSchema>,
}

impl ServedFolder {
    pub async fn new() -> Self {
        let served = Self::begun();
        served.until(|record| record["status_new"] == "READY").await;
        served
    }

    /// Starts a served folder whose first indexing has only begun.
    pub fn begun() -> Self {
        Self::with_store(start, test_store::store())
    }

    /// Starts a served folder whose service is started by `start`, with a store of its own.
    pub async fn started_by(start: impl FnOnce(&Path) -> Serving) -> Self {
        let served = Self::with_store(|home, _| start(home), None);
        served.until(|record| record["status_new"] == "READY").await;
        served
    }

    fn with_store(
        start: impl FnOnce(&Path, Option<&ServerSchema>) -> Serving,
        store: Option<ServerSchema>,
    ) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("pictures")).unwrap();
        for n in 0..PICTURES {
            let path = home.path().join(format!("pictures/p{n:03}.png"));
            std::fs::write(path, picture(n)).unwrap();
        }
        Self { serving: start(home.path(), store.as_ref()), home, client: new_client(), store }
    }

    /// Kills the service with SIGKILL and starts it again.
    pub fn kill(&mut self) {
        let store = self.store.take();
        self.kill_and_start(|home| start(home, store.as_ref()));
        self.store = store;
    }

    /// Kills the service with SIGKILL and lets `start` start the next one.
    pub fn kill_and_start(&mut self, start: impl FnOnce(&Path) -> Serving) {
        self.serving.0.kill().unwrap();
        self.serving.0.wait().unwrap();
        self.serving = start(self.home.path());
        // The next service listens on the same port, so that the connections to the killed one are of no use.
        self.client = new_client();
    }

    /// Sends the following requests to another service, by connections of their own.
    pub fn swap_service(&mut self, other: &mut Serving) {
        std::mem::swap(&mut self.serving, other);
        self.client = new_client();
    }

    pub fn reported(&self, key: &str) -> &str {
        self.serving.1[key].as_str().unwrap()
    }

    pub fn dataset(&self) -> &str {
        self.serving.1["datasets"][0]["id"].as_str().unwrap()
    }

    pub fn token(&self) -> String {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        let key = self.reported("api_key");
        let claims = json!({"sub": key, "iat": now, "exp": now + 600, "iss": "sdk"});
        let header = Header { kid: Some(key.to_owned()), ..Header::new(Algorithm::HS256) };
        let secret = EncodingKey::from_secret(self.reported("api_secret").as_bytes());
        encode(&header, &claims, &secret).unwrap()
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}/api/v1{path}", self.reported("base_url"));
        self.client.request(method, url).bearer_auth(self.token())
    }

    pub async fn get(&self, path: &str) -> Value {
        let answer = self.request(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    pub async fn post(&self, what: &str, form: Option<Form>) {
        let path = format!("/dataset/{}/{what}", self.dataset());
        let request = self.request(Method::POST, &path);
        let request = match form {
            Some(form) => request.multipart(form),
            None => request,
        };
        assert_eq!(request.send().await.unwrap().status(), 202, "{what}");
    }

    pub async fn record(&self) -> Value {
        self.get(&format!("/dataset/{}", self.dataset())).await
    }

    /// Returns the record as soon as it meets a condition.
    pub async fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let record = self.record().await;
            if wanted(&record) {
                return record;
            }
            assert!(begun.elapsed() < PATIENCE, "stuck: {record}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Returns the names of all media, and asserts that each one is in exactly one cluster.
    pub async fn names(&self) -> BTreeSet<String> {
        let path = format!("/dataset/{}/export_context_async", self.dataset());
        let task = self.get(&format!("{path}?file_name=a&export_format=json")).await;
        names(&self.archive(&task).await)
    }

    /// Returns the number of images on all pages whose thumbnail is served.
    pub async fn thumbnails(&self) -> usize {
        let mut count = 0;
        for page in 0.. {
            let path = format!("/explore/{}?entity_type=IMAGES&threshold=0", self.dataset());
            let clusters =
                self.get(&format!("{path}&page_number={page}")).await["clusters"].clone();
            let clusters = clusters.as_array().unwrap();
            if clusters.is_empty() {
                break;
            }
            let previews = clusters.iter().flat_map(|it| it["previews"].as_array().unwrap());
            for preview in previews {
                let link = preview["media_thumb_uri"].as_str().unwrap();
                assert_eq!(self.client.get(link).send().await.unwrap().status(), 200, "{preview}");
                count += 1;
            }
        }
        count
    }

    /// Returns the archive of an export once the export is complete.
    pub async fn archive(&self, task: &Value) -> Vec<u8> {
        let id = task["id"].as_str().unwrap();
        let path = format!("/dataset/{}/export_status?export_task_id={id}", self.dataset());
        let begun = Instant::now();
        loop {
            let task = self.get(&path).await;
            if let Some(link) = task["download_uri"].as_str() {
                let answer = self.client.get(link).send().await.unwrap();
                return answer.bytes().await.unwrap().to_vec();
            }
            assert_ne!(task["status"], "FAILED", "{task}");
            assert!(begun.elapsed() < PATIENCE, "stuck: {task}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub fn uploads(&self) -> PathBuf {
        self.home.path().join("data/uploads")
    }
}

fn new_client() -> Client {
    tessera_testing::clients::raw_client().build().unwrap()
}

fn start(home: &Path, store: Option<&ServerSchema>) -> Serving {
    let path = |name: &str| home.join(name).to_str().unwrap().to_owned();
    let mut command = tessera(home, &["serve", &path("pictures"), "--data", &path("data")]);
    if let Some(store) = store {
        command.env("TESSERA_STORE", store.address());
    }
    started(command)
}

/// Creates a picture that is not similar to any other.
pub(super) fn picture(seed: u32) -> Vec<u8> {
    let image = image::RgbImage::from_fn(120, 90, |x, y| {
        let bits =
            (seed + 1).wrapping_mul(2_654_435_761) ^ (x / 15 * 6 + y / 15).wrapping_mul(40_503);
        let bits = (bits ^ (bits >> 13)).wrapping_mul(1_274_126_177);
        let [red, green, blue, _] = (bits ^ (bits >> 16)).to_be_bytes();
        image::Rgb([red, green, blue])
    });
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// Creates a batch of new pictures, named after its round.
pub(super) fn batch(round: u32) -> Form {
    (0..BATCH).fold(Form::new(), |form, n| {
        let file = picture(1_000 * (round + 1) + n);
        form.part("files", Part::bytes(file).file_name(format!("r{round}_{n:03}.png")))
    })
}

/// Returns the file names in the metadata of an archive.
pub(super) fn names(archive: &[u8]) -> BTreeSet<String> {
    let mut zip = ZipArchive::new(Cursor::new(archive)).unwrap();
    let metadata: Value = serde_json::from_reader(zip.by_name("metadata.json").unwrap()).unwrap();
    let items = metadata["media_items"].as_array().unwrap();
    let names: BTreeSet<String> =
        items.iter().map(|item| item["file_name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names.len(), items.len(), "none is doubled");
    assert!(items.iter().all(|item| item["cluster_id"].is_string()), "each has a cluster");
    names
}
