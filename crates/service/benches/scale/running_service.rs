//! A served deployment, and a client of the deployment in the same process.

use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::{Client, Method, multipart};
use serde_json::Value;
use tessera_service::{AccessMode, Deployment};
use tokio::{net::TcpListener, runtime::Runtime};

use super::{
    bench_store::BenchStore,
    figures::report,
    generated_store::DATASET,
    usage::{cpu_seconds, memory, percentile, reset_highest_memory},
};

const SHORTEST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// The percentages of progress at which the phases of a reindex begin.
const PHASES: [(u64, &str); 3] =
    [(0, "neighbor graph"), (58, "near-duplicates"), (84, "clusters and texts")];

const CLIENTS: usize = 8;
const THROUGHPUT_TIME: Duration = Duration::from_secs(20);

pub struct RunningService {
    runtime: Runtime,
    deployment: Deployment,
    client: Client,
    base: String,
}

impl RunningService {
    pub fn start(store: &BenchStore) -> Self {
        let runtime = Runtime::new().unwrap();
        let deployment = Deployment::open(&store.data, store.settings()).unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let base = format!("http://{}/api/v1", listener.local_addr().unwrap());
        let serving = deployment.clone();
        runtime.spawn(async move {
            serving.serve(listener, AccessMode::Open, std::future::pending()).await
        });
        let client = tessera_testing::clients::raw_client().build().unwrap();
        Self { runtime, deployment, client, base }
    }

    /// Returns the body of a successful response.
    pub fn get(&self, path: &str) -> Bytes {
        let url = format!("{}{path}", self.base);
        self.runtime.block_on(async {
            let response = self.client.get(url).send().await.unwrap();
            assert_eq!(response.status(), 200, "{path}");
            response.bytes().await.unwrap()
        })
    }

    pub fn explore(&self, query: &str) -> Bytes {
        self.get(&explore_path(query))
    }

    pub fn record(&self) -> Value {
        serde_json::from_slice(&self.get(&format!("/dataset/{DATASET}"))).unwrap()
    }

    fn post(&self, path: &str, form: Option<multipart::Form>) {
        let url = format!("{}/dataset/{DATASET}{path}", self.base);
        let request = self.client.request(Method::POST, url);
        let request = match form {
            Some(form) => request.multipart(form),
            None => request,
        };
        let response = self.runtime.block_on(async { request.send().await.unwrap() });
        assert_eq!(response.status(), 202, "{path}");
    }

    /// Runs an indexing task including its upload. Reports its duration, its memory, and the latency of reads during
    /// it.
    pub fn run_indexing(&self, what: &str, path: &str, form: Option<multipart::Form>) {
        reset_highest_memory();
        let (started, used) = (Instant::now(), cpu_seconds());
        self.post(path, form);
        let mut reads = Vec::new();
        let mut phases = [0.0_f64; PHASES.len()];
        loop {
            let read = Instant::now();
            let record = self.record();
            self.explore("");
            reads.push(read.elapsed().as_secs_f64() * 1e3 / 2.0);
            let status = record["status_new"].as_str().unwrap();
            assert_ne!(status, "ERROR", "{record}");
            if ["READY", "PARTIAL INDEX"].contains(&status) {
                break;
            }
            let percent = record["progress"].as_u64().unwrap_or_default();
            let phase = PHASES.iter().rposition(|(from, _)| percent >= *from).unwrap();
            phases[phase] = phases[phase].max(memory("VmRSS"));
            // The pauses grow, so that reads are a small part of the work, however long it takes.
            let pause = (started.elapsed() / 100).max(SHORTEST_PAUSE).min(LONGEST_PAUSE);
            std::thread::sleep(pause);
        }
        report(what, "s", started.elapsed().as_secs_f64());
        report(what, "CPU s", cpu_seconds() - used);
        report(&format!("light reads during {what}, p99"), "ms", percentile(&mut reads, 0.99));
        for ((_, phase), highest) in PHASES.iter().zip(phases) {
            report(&format!("memory during {what}, {phase}"), "MiB", highest);
        }
        report(&format!("memory during {what}, at its highest"), "MiB", memory("VmHWM"));
    }

    /// Measures how many searches per second several clients make together. The clients use this service and `others`
    /// in turn.
    pub fn measure_throughput(&self, others: &[String], anchors: &[String]) {
        let bases: Vec<&String> = std::iter::once(&self.base).chain(others).collect();
        let started = Instant::now();
        let client = async |number: usize| {
            let mut times = Vec::new();
            // Each client has separate media items, because the latest rankings are kept.
            for anchor in anchors.iter().skip(number).step_by(CLIENTS).cycle() {
                if started.elapsed() > THROUGHPUT_TIME {
                    break;
                }
                let begun = Instant::now();
                let base = bases[number % bases.len()];
                let url = format!("{base}{}", explore_path(&anchored(anchor)));
                let response = self.client.get(url).send().await.unwrap();
                assert_eq!(response.status(), 200);
                response.bytes().await.unwrap();
                times.push(begun.elapsed().as_secs_f64() * 1e3);
            }
            times
        };
        let clients = futures_util::future::join_all((0..CLIENTS).map(client));
        let mut times = self.runtime.block_on(clients).concat();
        let name = format!("search by media item of {CLIENTS} clients");
        report(&name, "per s", times.len() as f64 / started.elapsed().as_secs_f64());
        report(&format!("{name}, p50"), "ms", percentile(&mut times, 0.5));
        report(&format!("{name}, p99"), "ms", percentile(&mut times, 0.99));
    }

    pub fn stop(self) {
        self.runtime.block_on(self.deployment.wait_until_idle());
    }
}

fn explore_path(query: &str) -> String {
    format!("/explore/{DATASET}?entity_type=IMAGES&threshold=2&{query}")
}

pub fn anchored(anchor: &str) -> String {
    format!("anchor_media_id={anchor}&anchor_type=MEDIA")
}
