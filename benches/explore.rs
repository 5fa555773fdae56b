//! Reading a dataset of 100,000 media over HTTP: a page of its clusters, and rankings.
//!
//! The rows are made up and written straight into a store, so that only the reading is measured.

#![expect(clippy::unwrap_used, reason = "a bench fails where its world is not as said")]

use std::{path::Path, time::Duration};

use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use half::f16;
use reqwest::Client;
use serde_json::Value;
use tessera::{
    local::{
        Access, Deployment,
        index::{DIMENSION, Features},
        store::{
            Store,
            cluster::{self, Cluster, Place, Portrait},
            dataset::{self, Record},
            intake::{self, Stamp},
            media, now,
        },
    },
    model::{DatasetId, Granularity, Status},
};
use tokio::{net::TcpListener, runtime::Runtime};
use uuid::Uuid;

const MEDIA: usize = 100_000;
/// Members of a cluster at each level.
const MEMBERS: [usize; Granularity::LEVELS] = [1, 3, 10, 40, 200];

fn fill(data: &Path) -> DatasetId {
    let id = DatasetId(Uuid::from_u128(1));
    let store = Store::open(data).unwrap();
    let record = Record {
        id,
        name: "bench".to_owned(),
        folder: data.to_owned(),
        status: Status::Ready,
        progress: 100,
        created_at: now(),
        fatal_error: None,
        n_images: 0,
        generation: 0,
        extractor: 1,
    };
    store
        .write(|tx| {
            dataset::put(tx, &record)?;
            for n in 0..MEDIA {
                let path = format!("a rather usual folder/IMG_{n:06}.jpg");
                let stamp = Stamp { size: 100_000, modified: 0 };
                intake::put(tx, id, Path::new(&path), stamp, &[7; 32], &features(n))?;
            }
            let mut members = Vec::new();
            media::looks(tx, id, |media, _, _| {
                members.push((media.row, Portrait::from(&media)));
            })?;
            let levels = MEMBERS.map(|size| clusters(&members, size));
            let rank = |n: usize, size: usize| u32::try_from(n / size).unwrap();
            let places: Vec<Place> = (members.iter().enumerate())
                .map(|(n, member)| Place {
                    media: member.0,
                    uniqueness: 0.5,
                    ranks: MEMBERS.map(|size| rank(n, size)),
                })
                .collect();
            cluster::replace(tx, id, &levels, &places)
        })
        .unwrap();
    id
}

fn clusters(members: &[(i64, Portrait)], size: usize) -> Vec<Cluster> {
    let groups = members.chunks(size);
    groups
        .map(|group| Cluster {
            id: tessera::model::ClusterId(Uuid::new_v4()),
            size: group.len() as u64,
            previews: group.iter().take(9).map(|member| member.1.clone()).collect(),
            labels: Vec::new(),
        })
        .collect()
}

fn features(n: usize) -> Features {
    let mut descriptor = vec![f16::ZERO; DIMENSION];
    descriptor[n % DIMENSION] = f16::from_f32(0.8);
    descriptor[n / DIMENSION % DIMENSION] += f16::from_f32(0.6);
    Features {
        width: 4000,
        height: 3000,
        descriptor,
        hash: 0,
        sharpness: 0.5,
        brightness: 0.5,
        thumbnail: vec![0; 1000],
    }
}

/// A served deployment over the store in `data`, and a client of it.
struct Served {
    runtime: Runtime,
    client: Client,
    base: String,
}

impl Served {
    fn start(data: &Path, id: DatasetId) -> Self {
        let runtime = Runtime::new().unwrap();
        let deployment = Deployment::open(data, Settings::default()).unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move {
            let forever = std::future::pending();
            deployment.serve(listener, Access::Open, forever).await
        });
        Self {
            runtime,
            client: Client::builder().no_proxy().build().unwrap(),
            base: format!("http://{address}/api/v1/explore/{id}?threshold=2"),
        }
    }

    fn page(&self, query: &str, page: usize) -> Bytes {
        let url = format!("{}{query}&page_number={page}", self.base);
        let answer = async { self.client.get(url).send().await.unwrap().bytes().await.unwrap() };
        self.runtime.block_on(answer)
    }

    fn ranked(&self, media: &str, page: usize) -> Bytes {
        let anchor = format!("&anchor_media_id={media}&anchor_type=MEDIA&entity_type=IMAGES");
        self.page(&anchor, page)
    }
}

fn explore(criterion: &mut Criterion) {
    let data = tempfile::tempdir().unwrap();
    let id = fill(data.path());
    let served = Served::start(data.path(), id);
    let first: Value = serde_json::from_slice(&served.page("", 0)).unwrap();
    let clusters = first["clusters"].as_array().unwrap().iter();
    let anchors: Vec<&str> =
        clusters.map(|cluster| cluster["previews"][0]["media_id"].as_str().unwrap()).collect();
    let mut turn = anchors.iter().cycle();
    let mut group = criterion.benchmark_group("explore 100,000 media");
    group.measurement_time(Duration::from_secs(3)).sample_size(20);
    group.bench_function("first page", |bench| bench.iter(|| served.page("", 0)));
    group.bench_function("page 50", |bench| bench.iter(|| served.page("", 50)));
    group.bench_function("ranking", |bench| {
        bench.iter(|| served.ranked(turn.next().unwrap(), 0));
    });
    group.bench_function("next page of a ranking", |bench| {
        bench.iter(|| served.ranked(anchors[0], 1));
    });
    group.finish();
}

criterion_group!(benches, explore);
criterion_main!(benches);
