//! The service with 100,000 media items over HTTP: 99th percentiles of pages, searches and
//! rankings, idle and while indexing; and the duration of additions and reindexes.
//!
//! The rows are generated and written directly into a store; everything after that is real.
//! Criterion is not used because the 99th percentile matters, and operations that take seconds.

#![expect(clippy::unwrap_used, reason = "a bench fails where its world is not as said")]
#![expect(clippy::print_stdout, reason = "it prints the measurements")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "shares of small counts"
)]

use std::{
    fs,
    io::Cursor,
    path::Path,
    time::{Duration, Instant},
};

use bytes::Bytes;
use half::f16;
use reqwest::{Client, Method, multipart};
use serde_json::Value;
use tessera_model::{DatasetId, Status};
use tessera_service::{
    AccessMode, Deployment, DeploymentSettings,
    file_stat::FileStat,
    index::{DIMENSION, Features, Keypoints},
    store::{
        Store, Transaction,
        dataset::{self, DatasetRecord},
        indexed_files::{self, IndexedFile},
        now_micros,
        operation::{self, OperationKind as Task},
        sidecar::{self, TextMetadata},
        source,
    },
};
use tokio::{net::TcpListener, runtime::Runtime};
use uuid::Uuid;

const MEDIA: usize = 100_000;
/// Number of similar items per family.
const FAMILY: usize = 40;
/// Number of images in the added batch.
const BATCH: u32 = 1_000;
/// Number of requests of each kind.
const REQUESTS: usize = 300;
/// Words of the captions; their frequency decreases quadratically.
const WORDS: usize = 3_000;

/// Deterministic pseudorandom numbers.
struct Dice(u64);

impl Dice {
    fn throw(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        f32::from(u16::try_from(self.0 >> 48).unwrap()) / 65_536.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (f64::from(self.throw()) * bound as f64) as usize
    }
}

fn word(number: usize) -> String {
    let syllables = ["ba", "co", "di", "fu", "ga", "he", "jo", "ki", "lu", "me", "no", "pa", "ri"];
    let n = syllables.len();
    [number % n, number / n % n, number / n / n % n].map(|part| syllables[part]).concat()
}

fn caption(dice: &mut Dice) -> String {
    let words: Vec<String> = (0..12)
        .map(|_| {
            let throw = dice.throw();
            word((f64::from(throw * throw) * WORDS as f64) as usize)
        })
        .collect();
    words.join(" ")
}

/// A unit vector near the center of its family.
fn descriptor(centre: &[f32], dice: &mut Dice) -> Vec<f16> {
    let row: Vec<f32> = centre.iter().map(|value| value + 0.4 * (dice.throw() - 0.5)).collect();
    let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
    row.iter().map(|value| f16::from_f32(value / length)).collect()
}

fn fill(data: &Path, folder: &Path) -> DatasetId {
    let id = DatasetId(Uuid::from_u128(1));
    let store = Store::open(data).unwrap();
    let record = DatasetRecord {
        id,
        name: "bench".to_owned(),
        folder: folder.to_owned(),
        status: Status::Indexing,
        progress: 0,
        created_at: now_micros(),
        fatal_error: None,
        n_images: 0,
        n_videos: 0,
        n_frames: 0,
        n_objects: 0,
        generation: 0,
        extractor: tessera_service::EXTRACTOR_VERSION,
    };
    let mut dice = Dice(1);
    let mut fill = |tx: &Transaction| {
        dataset::upsert(tx, &record)?;
        let row = source::upsert(tx, id, folder)?;
        let own = source::find(tx, row)?.unwrap();
        let mut centre = Vec::new();
        for n in 0..MEDIA {
            if n % FAMILY == 0 {
                centre = (0..DIMENSION).map(|_| dice.throw() - 0.5).collect();
            }
            let path = format!("a rather usual folder/IMG_{n:06}.jpg");
            let features = features(descriptor(&centre, &mut dice), keypoints(&mut dice));
            let stat = FileStat { size: 100_000, modified: 0 };
            let taken = IndexedFile { path: Path::new(&path), stat, content_hash: &[7; 32] };
            let media = indexed_files::upsert_image(tx, &own, &taken, &features)?;
            let words = TextMetadata {
                caption: Some(caption(&mut dice)),
                labels: vec![word(n / FAMILY % 80)],
                tags: Vec::new(),
            };
            sidecar::set_text(tx, media, &words)?;
        }
        // As after indexing, except for the clusters, which a reindex creates.
        dataset::set_status(tx, id, &Status::Ready, 100, None)?;
        operation::begin(tx, id, Task::Reindex, None, false).map(drop)
    };
    store.write(|tx| fill(tx)).unwrap();
    id
}

/// A typical number of keypoints, at random positions with random descriptors.
fn keypoints(dice: &mut Dice) -> Keypoints {
    let byte = |_| u8::try_from(dice.below(256)).unwrap();
    Keypoints::from_bytes(&(0..64 * 18).map(byte).collect::<Vec<u8>>())
}

fn features(descriptor: Vec<f16>, keypoints: Keypoints) -> Features {
    Features {
        width: 4000,
        height: 3000,
        descriptor,
        keypoints,
        hash: 0,
        sharpness: 500.0,
        brightness: 0.5,
        thumbnail: vec![0; 1000],
    }
}

/// A served deployment, and a client of it.
struct Served {
    runtime: Runtime,
    deployment: Deployment,
    client: Client,
    base: String,
    id: DatasetId,
}

impl Served {
    fn start(data: &Path, id: DatasetId) -> Self {
        let runtime = Runtime::new().unwrap();
        let deployment = Deployment::open(data, DeploymentSettings::default()).unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let base = format!("http://{}/api/v1", listener.local_addr().unwrap());
        let serving = deployment.clone();
        runtime.spawn(async move {
            serving.serve(listener, AccessMode::Open, std::future::pending()).await
        });
        let client = Client::builder().no_proxy().build().unwrap();
        Self { runtime, deployment, client, base, id }
    }

    /// The body of a successful response.
    fn get(&self, path: &str) -> Bytes {
        let url = format!("{}{path}", self.base);
        self.runtime.block_on(async {
            let response = self.client.get(url).send().await.unwrap();
            assert_eq!(response.status(), 200, "{path}");
            response.bytes().await.unwrap()
        })
    }

    fn explore(&self, query: &str) -> Bytes {
        self.get(&format!("/explore/{}?entity_type=IMAGES&{query}", self.id))
    }

    fn record(&self) -> Value {
        serde_json::from_slice(&self.get(&format!("/dataset/{}", self.id))).unwrap()
    }

    fn post(&self, path: &str, form: Option<multipart::Form>) {
        let url = format!("{}/dataset/{}{path}", self.base, self.id);
        let request = self.client.request(Method::POST, url);
        let request = match form {
            Some(form) => request.multipart(form),
            None => request,
        };
        let response = self.runtime.block_on(async { request.send().await.unwrap() });
        assert_eq!(response.status(), 202, "{path}");
    }

    /// Reads until the dataset is idle, and prints the duration and the latency of the reads.
    fn wait_until_idle(&self, what: &str) {
        let started = Instant::now();
        let (mut reads, mut steps) = (Vec::new(), Vec::new());
        loop {
            let read = Instant::now();
            let record = self.record();
            self.explore("threshold=2");
            reads.push(read.elapsed() / 2);
            if steps.last() != Some(&record["progress"]) {
                steps.push(record["progress"].clone());
            }
            if ["READY", "PARTIAL INDEX"].contains(&record["status_new"].as_str().unwrap()) {
                break;
            }
            assert_ne!(record["status_new"], "ERROR", "{record}");
            std::thread::sleep(Duration::from_millis(20));
        }
        let seconds = started.elapsed().as_secs_f64();
        println!("{what}: {seconds:.1} s, {} progress steps", steps.len());
        print_percentiles(&format!("  light reads during {what}"), reads);
    }
}

/// Prints the median and the 99th percentile.
fn print_percentiles(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    println!("{what:<46} p50 {:7.2} ms   p99 {:7.2} ms   of {}", at(0.5), at(0.99), times.len());
}

fn measure(what: &str, mut request: impl FnMut(usize)) {
    request(0);
    let time = |n| {
        let started = Instant::now();
        request(n);
        started.elapsed()
    };
    let times = (1..=REQUESTS).map(time).collect();
    print_percentiles(what, times);
}

/// Small images in a ZIP archive.
fn batch() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for n in 0..BATCH {
        let pixels = image::RgbImage::from_fn(500, 375, |x, y| {
            let value =
                |a: u32| u8::try_from((x * a / 7 + y * (n % 13) / 3 + n * 37) % 256).unwrap();
            image::Rgb([value(3), value(5), value(11)])
        });
        let mut file = Cursor::new(Vec::new());
        pixels.write_to(&mut file, image::ImageFormat::Jpeg).unwrap();
        zip.start_file(format!("{n}.jpg"), zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut zip, file.get_ref()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn memory(which: &str) -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(which)).unwrap();
    line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
}

/// Every kind of query, without other work.
fn questions(served: &Served) {
    let first: Value = serde_json::from_slice(&served.explore("threshold=2")).unwrap();
    let clusters = first["clusters"].as_array().unwrap().iter();
    let anchors: Vec<String> = clusters
        .map(|cluster| cluster["previews"][0]["media_id"].as_str().unwrap().to_owned())
        .collect();
    let mut dice = Dice(9);
    measure("explore page", |n| {
        drop(served.explore(&format!("threshold=2&page_number={}", n % 30)));
    });
    measure("image search (an anchor of the dataset)", |n| {
        let anchor = &anchors[n % anchors.len()];
        served.explore(&format!("threshold=2&anchor_media_id={anchor}&anchor_type=MEDIA"));
    });
    measure("next page of an image search", |_| {
        let anchor = &anchors[0];
        served.explore(&format!(
            "threshold=2&anchor_media_id={anchor}&anchor_type=MEDIA&page_number=1"
        ));
    });
    let vql = |filter: &str| format!("threshold=2&vql={}", filter.replace('"', "%22"));
    measure("full text, one word of any frequency", |_| {
        let word = word(dice.below(WORDS));
        served.explore(&vql(&format!(r#"[{{"text":{{"op":"fts","value":"{word}"}}}}]"#)));
    });
    measure("full text, two words", |_| {
        let (one, other) = (word(dice.below(200)), word(dice.below(200)));
        served.explore(&vql(&format!(r#"[{{"text":{{"op":"fts","value":"{one}%20{other}"}}}}]"#)));
    });
    measure("caption search", |_| {
        let (one, other) = (word(dice.below(WORDS)), word(dice.below(WORDS)));
        served.explore(&format!("threshold=2&caption={one}%20{other}"));
    });
    measure("labels and uniqueness", |n| {
        let label = word(n % 80);
        served.explore(&vql(&format!(
            r#"[{{"labels":{{"op":"one_of","value":["{label}"]}}}},{{"uniqueness":{{"op":"uniqueness","value":0.1}}}}]"#
        )));
    });
}

fn main() {
    // `cargo test --benches` only checks that it compiles.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let id = fill(data.path(), folder.path());
    let served = Served::start(data.path(), id);
    served.wait_until_idle("reindex of 100,000 media");
    println!("memory at its highest: {}", memory("VmHWM"));

    questions(&served);
    println!("memory after all questions: {}", memory("VmRSS"));

    let part = multipart::Part::bytes(batch()).file_name("batch.zip");
    served.post("/add_media", Some(multipart::Form::new().part("archive", part)));
    served.wait_until_idle("add_media of 1,000 images in a ZIP");
    assert_eq!(served.record()["n_images"], MEDIA as u64 + u64::from(BATCH));
    served.post("/reindex", None);
    served.wait_until_idle("reindex of 101,000 media");
    println!("memory at its highest: {}", memory("VmHWM"));
    served.runtime.block_on(served.deployment.wait_until_idle());
}
