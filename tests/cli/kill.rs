//! The real binary killed at any moment: what was accepted comes to its end after
//! the next start, nothing is lost or doubled, and no state sticks.

use std::{
    collections::BTreeSet,
    io::{Cursor, Write as _},
    net::TcpStream,
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

use super::{Serving, serve};

/// How long anything is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
/// Pictures of the folder, and of each batch.
const PICTURES: u32 = 20;
const BATCH: u32 = 12;

/// A folder of pictures and a data folder, served by the binary, until it is killed and started again.
struct World {
    home: TempDir,
    serving: Serving,
    client: Client,
}

impl World {
    async fn new() -> Self {
        let world = Self::begun();
        world.until(|record| record["status_new"] == "READY").await;
        world
    }

    /// One whose first indexing has only begun.
    fn begun() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("pictures")).unwrap();
        for n in 0..PICTURES {
            let path = home.path().join(format!("pictures/p{n:03}.png"));
            std::fs::write(path, picture(n)).unwrap();
        }
        let client = Client::builder().no_proxy().build().unwrap();
        Self { serving: start(home.path()), home, client }
    }

    /// SIGKILL, and a new start.
    fn kill(&mut self) {
        self.serving.0.kill().unwrap();
        self.serving.0.wait().unwrap();
        self.serving = start(self.home.path());
    }

    fn reported(&self, key: &str) -> &str {
        self.serving.1[key].as_str().unwrap()
    }

    fn dataset(&self) -> &str {
        self.serving.1["datasets"][0]["id"].as_str().unwrap()
    }

    fn token(&self) -> String {
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
        let key = self.reported("api_key");
        let claims = json!({"sub": key, "iat": now, "exp": now + 600, "iss": "sdk"});
        let header = Header { kid: Some(key.to_owned()), ..Header::new(Algorithm::HS256) };
        let secret = EncodingKey::from_secret(self.reported("api_secret").as_bytes());
        encode(&header, &claims, &secret).unwrap()
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}/api/v1{path}", self.reported("base_url"));
        self.client.request(method, url).bearer_auth(self.token())
    }

    async fn get(&self, path: &str) -> Value {
        let answer = self.request(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    async fn post(&self, what: &str, form: Option<Form>) {
        let path = format!("/dataset/{}/{what}", self.dataset());
        let request = self.request(Method::POST, &path);
        let request = match form {
            Some(form) => request.multipart(form),
            None => request,
        };
        assert_eq!(request.send().await.unwrap().status(), 202, "{what}");
    }

    async fn record(&self) -> Value {
        self.get(&format!("/dataset/{}", self.dataset())).await
    }

    /// The record as soon as it is as wanted.
    async fn until(&self, wanted: impl Fn(&Value) -> bool) -> Value {
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

    /// The names of all media, each of which must be in one cluster.
    async fn names(&self) -> BTreeSet<String> {
        let path = format!("/dataset/{}/export_context_async", self.dataset());
        let task = self.get(&format!("{path}?file_name=a&export_format=json")).await;
        names(&self.archive(&task).await)
    }

    /// The archive of an export, when it is complete.
    async fn archive(&self, task: &Value) -> Vec<u8> {
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

    fn uploads(&self) -> PathBuf {
        self.home.path().join("data/uploads")
    }
}

fn start(home: &Path) -> Serving {
    let path = |name: &str| home.join(name).to_str().unwrap().to_owned();
    serve(home, &[&path("pictures"), "--data", &path("data")])
}

/// A picture that is like no other.
fn picture(seed: u32) -> Vec<u8> {
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

/// A batch of new pictures, named after its round.
fn batch(round: u32) -> Form {
    (0..BATCH).fold(Form::new(), |form, n| {
        let file = picture(1_000 * (round + 1) + n);
        form.part("files", Part::bytes(file).file_name(format!("r{round}_{n:03}.png")))
    })
}

/// The file names in the metadata of an archive.
fn names(archive: &[u8]) -> BTreeSet<String> {
    let mut zip = ZipArchive::new(Cursor::new(archive)).unwrap();
    let metadata: Value = serde_json::from_reader(zip.by_name("metadata.json").unwrap()).unwrap();
    let items = metadata["media_items"].as_array().unwrap();
    let names: BTreeSet<String> =
        items.iter().map(|item| item["file_name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names.len(), items.len(), "none is doubled");
    assert!(items.iter().all(|item| item["cluster_id"].is_string()), "each has a cluster");
    names
}

#[tokio::test]
async fn what_was_accepted_survives_a_kill_at_any_moment() {
    let mut world = World::new().await;
    let mut expected: BTreeSet<String> = (0..PICTURES).map(|n| format!("p{n:03}.png")).collect();
    // Moments, counted by how often the record is read before the kill.
    for (round, moment) in (0..).zip([0, 4, 25]) {
        world.post("add_media", Some(batch(round))).await;
        for _ in 0..moment {
            world.record().await;
        }
        world.kill();
        let record = world.until(|record| record["status_new"] == "PARTIAL INDEX").await;
        expected.extend((0..BATCH).map(|n| format!("r{round}_{n:03}.png")));
        assert_eq!(record["n_images"], expected.len(), "{record}");

        world.post("reindex", None).await;
        for _ in 0..moment {
            world.record().await;
        }
        world.kill();
        world.until(|record| record["status_new"] == "READY").await;

        let path = format!("/dataset/{}/export_context_async", world.dataset());
        let query = "file_name=a&export_format=json&include_images=true";
        let task = world.get(&format!("{path}?{query}")).await;
        for _ in 0..moment / 4 {
            world.record().await;
        }
        world.kill();
        let archive = world.archive(&task).await;
        assert_eq!(names(&archive), expected);
        let zip = ZipArchive::new(Cursor::new(&archive[..])).unwrap();
        assert_eq!(zip.len(), expected.len() + 1, "all the images are in it");
    }
    assert_eq!(world.record().await["status_new"], "READY");
}

#[tokio::test]
async fn a_kill_between_the_two_halves_of_auto_reindex() {
    let mut world = World::new().await;
    for (round, moment) in (0..).zip([1, 60]) {
        world.post("add_media", Some(batch(round).text("auto_reindex", "true"))).await;
        for _ in 0..moment {
            world.record().await;
        }
        world.kill();
        let expected = PICTURES + BATCH * (round + 1);
        // PARTIAL INDEX is no resting state of this workflow, killed or not.
        let record = world
            .until(|record| {
                assert_ne!(record["status_new"], "PARTIAL INDEX", "{record}");
                record["status_new"] == "READY" && record["n_images"] == expected
            })
            .await;
        assert_eq!(record["progress"], 100);
    }
    assert_eq!(world.names().await.len(), (PICTURES + 2 * BATCH) as usize);
}

#[tokio::test]
async fn a_kill_during_the_first_indexing() {
    let mut world = World::begun();
    let mut images = 0;
    for moment in [0, 2, 10] {
        for _ in 0..moment {
            let record = world.record().await;
            assert!(record["n_images"].as_u64().unwrap() >= images, "nothing is lost: {record}");
            images = record["n_images"].as_u64().unwrap();
        }
        world.kill();
    }
    let record = world.until(|record| record["status_new"] == "READY").await;
    assert_eq!(record["n_images"], PICTURES, "{record}");
    assert_eq!(world.names().await.len(), PICTURES as usize);
}

#[tokio::test]
async fn an_upload_that_a_kill_cut_off_is_swept_at_the_next_start() {
    let mut world = World::new().await;
    let host = world.reported("base_url").strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(&host).unwrap();
    let head = format!(
        "POST /api/v1/dataset/{}/add_media HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: multipart/form-data; boundary=X\r\nContent-Length: 1000000\r\n\r\n\
         --X\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.png\"\r\n\r\nhalf",
        world.dataset(),
        world.token(),
    );
    stream.write_all(head.as_bytes()).unwrap();
    let staged = || std::fs::read_dir(world.uploads()).map_or(0, Iterator::count);
    let begun = Instant::now();
    while staged() == 0 {
        assert!(begun.elapsed() < PATIENCE, "nothing is staged");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    world.kill();
    assert_eq!(std::fs::read_dir(world.uploads()).unwrap().count(), 0);
    let record = world.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(PICTURES)));
}
