//! A served deployment, and a client of it in the same process.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use bytes::Bytes;
use reqwest::{Client, Method, multipart};
use serde_json::Value;
use tessera_service::{AccessMode, Deployment, DeploymentSettings};
use tokio::{net::TcpListener, runtime::Runtime};

use super::{
    figures::report,
    generated_store::DATASET,
    usage::{cpu_seconds, memory, percentile, reset_highest_memory},
};

const SHORTEST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// The percentages of progress from which a reindex is in a phase.
const PHASES: [(u64, &str); 3] =
    [(0, "neighbor graph"), (38, "near-duplicates"), (64, "clusters and texts")];

pub struct RunningService {
    runtime: Runtime,
    deployment: Deployment,
    client: Client,
    base: String,
}

impl RunningService {
    pub fn start(data: &Path) -> Self {
        let runtime = Runtime::new().unwrap();
        let deployment = Deployment::open(data, DeploymentSettings::default()).unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let base = format!("http://{}/api/v1", listener.local_addr().unwrap());
        let serving = deployment.clone();
        runtime.spawn(async move {
            serving.serve(listener, AccessMode::Open, std::future::pending()).await
        });
        let client = Client::builder().no_proxy().build().unwrap();
        Self { runtime, deployment, client, base }
    }

    /// The body of a successful response.
    pub fn get(&self, path: &str) -> Bytes {
        let url = format!("{}{path}", self.base);
        self.runtime.block_on(async {
            let response = self.client.get(url).send().await.unwrap();
            assert_eq!(response.status(), 200, "{path}");
            response.bytes().await.unwrap()
        })
    }

    pub fn explore(&self, query: &str) -> Bytes {
        self.get(&format!("/explore/{DATASET}?entity_type=IMAGES&threshold=2&{query}"))
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

    /// Runs an operation, its upload included, and reports its duration, its memory and the latency of reads during it.
    pub fn run_operation(&self, what: &str, path: &str, form: Option<multipart::Form>) {
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
            // Reads are a small part of the work, however long it takes.
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

    pub fn stop(self) {
        self.runtime.block_on(self.deployment.wait_until_idle());
    }
}
