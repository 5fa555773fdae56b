//! Our client against our service through a proxy that damages connections: whatever it reports as
//! done is done, once; whatever it reads is right; and nothing hangs.
//!
//! `TESSERA_FAULT_SEEDS=1000` runs more seeds than the default.

use std::{env, ops::Range, path::Path, time::Duration};

use tessera_client::{
    AuthMethod, BaseUrl, Client, ClientPolicy, Credentials, ExistingFile, ServiceConfig,
};
use tessera_model::{
    Anchor, AnchorKind, ClusterId, ExportFormat, ExportState, ExportTaskId, FailureKind,
    MediaAddition, MediaSource, Page, Query, Search, SelectionItem, Status,
};
use tokio::time::timeout;

use crate::{change::new, fault_proxy::FaultProxy, support::Service};

/// No journey may take longer than this, whatever happens to its connections.
const DEADLINE: Duration = Duration::from_mins(2);
/// Attempts of a user until a step works. Three of four connections are damaged, and a step has several.
const ATTEMPTS: usize = 40;

fn seeds() -> Range<u64> {
    0..env::var("TESSERA_FAULT_SEEDS").map_or(50, |count| count.parse().unwrap())
}

fn client(service: &Service, url: &str) -> Client {
    let credentials = Credentials {
        api_key: service.credentials.api_key.clone(),
        api_secret: service.credentials.api_secret.clone(),
    };
    let service =
        ServiceConfig::new(BaseUrl::parse(url).unwrap(), AuthMethod::Hosted(credentials)).unwrap();
    let pause = Duration::from_millis(1);
    let silence = Duration::from_millis(400);
    let policy = ClientPolicy {
        initial_backoff: pause,
        link_poll_interval: pause,
        acceptance_check_delays: [pause; 3],
        header_timeout: silence,
        idle_timeout: silence,
        jitter_seed: Some(1),
        ..ClientPolicy::default()
    };
    Client::with_policy(service, policy).unwrap()
}

struct Journey<'a> {
    service: &'a Service,
    /// Through the proxy.
    client: Client,
    /// Without the proxy, for the truth.
    direct: Client,
    seed: u64,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn journeys_over_damaged_connections_end_in_the_right_state() {
    let service = Service::of_pictures().await;
    let mut connections = 0;
    for seed in seeds() {
        let proxy = FaultProxy::start(service.address, seed).await;
        let journey = Journey {
            service: &service,
            client: client(&service, &format!("http://{}", proxy.address)),
            direct: client(&service, &service.url("")),
            seed,
        };
        let all = async {
            journey.browse_and_search().await;
            journey.export_and_download().await;
            journey.add_media().await;
            journey.reindex().await;
        };
        timeout(DEADLINE, all).await.unwrap_or_else(|_| panic!("seed {seed} does not end"));
        connections += proxy.connections();
    }
    assert!(connections > 3 * seeds().end, "{connections} connections");
}

impl Journey<'_> {
    async fn browse_and_search(&self) {
        let browse = Search::browse(self.service.dataset);
        let first = &self.direct.explore(&browse).await.unwrap().clusters[0].previews[0];
        let anchor = Anchor { media: first.media, kind: AnchorKind::Media };
        let similar = Search { query: Query::Similar(anchor), ..browse.clone() };
        for search in [browse, similar] {
            let clusters = |page: Page| -> Vec<ClusterId> {
                page.clusters.iter().map(|cluster| cluster.id).collect()
            };
            let right = clusters(self.direct.explore(&search).await.unwrap());
            let mut attempts = 0..ATTEMPTS;
            let read = loop {
                assert!(attempts.next().is_some(), "seed {}: no page can be read", self.seed);
                if let Ok(page) = self.client.explore(&search).await {
                    break clusters(page);
                }
            };
            assert_eq!(read, right, "seed {}", self.seed);
        }
    }

    async fn export_and_download(&self) {
        let before = self.service.place.count("export");
        let page = self.direct.explore(&Search::browse(self.service.dataset)).await.unwrap();
        let items = vec![SelectionItem::Media(vec![page.clusters[0].previews[0].media])].into();
        let mut requested = 0;
        let mut started = None;
        while started.is_none() {
            requested += 1;
            assert!(requested <= ATTEMPTS, "seed {}", self.seed);
            let dataset = self.service.dataset;
            let result =
                self.client.start_selective_export(dataset, ExportFormat::Json, true, &items).await;
            started = result.ok();
        }
        self.service.deployment.wait_until_idle().await;
        let made = self.service.place.count("export") - before;
        assert!(made >= 1 && made <= i64::try_from(requested).unwrap(), "{made} of {requested}");
        self.download(started.unwrap().id).await;
    }

    async fn download(&self, task: ExportTaskId) {
        let dataset = self.service.dataset;
        let state = self.direct.export_status(dataset, task).await.unwrap().state;
        assert_eq!(state, ExportState::Completed, "seed {}", self.seed);
        let folder = tempfile::tempdir().unwrap();
        let right = fetch(&self.direct, self.service, task, &folder.path().join("right.zip")).await;
        let target = folder.path().join("export.zip");
        for attempt in 1.. {
            if let Some(bytes) = fetch(&self.client, self.service, task, &target).await {
                assert_eq!(Some(bytes), right, "seed {}", self.seed);
                return;
            }
            assert!(!target.exists(), "an incomplete archive has its final name");
            assert!(attempt < ATTEMPTS, "seed {}: the download does not succeed", self.seed);
        }
    }

    async fn add_media(&self) {
        let before = self.direct.dataset(self.service.dataset).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let number = 100 + u32::try_from(self.seed).unwrap();
        for (name, bytes) in new(number..number + 1) {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        let addition = MediaAddition::new(MediaSource::Files(vec![folder.path().to_owned()]));
        let result = self.client.add_media(self.service.dataset, &addition, &mut |_, _| {}).await;
        self.service.deployment.wait_until_idle().await;
        let after = self.direct.dataset(self.service.dataset).await.unwrap();
        let added = after.n_images.unwrap() - before.n_images.unwrap();
        assert!(added <= 1, "seed {}: added {added} times", self.seed);
        match result {
            Ok(_) => assert_eq!(added, 1, "seed {}: reported but not added", self.seed),
            // Only an unknown outcome may hide an addition.
            Err(failure) => assert!(
                added == 0 || failure.kind == FailureKind::NoResponse,
                "seed {}: {failure}",
                self.seed
            ),
        }
    }

    /// Until the dataset is READY again, for the next seed.
    async fn reindex(&self) {
        for _ in 0..ATTEMPTS {
            let dataset = self.direct.dataset(self.service.dataset).await.unwrap();
            if dataset.status == Status::Ready {
                return;
            }
            let result = self.client.reindex(dataset.id).await;
            self.service.deployment.wait_until_idle().await;
            if result.is_ok() {
                let after = self.direct.dataset(dataset.id).await.unwrap();
                assert_eq!(after.status, Status::Ready, "seed {}", self.seed);
            }
        }
        panic!("seed {}: the dataset does not become READY", self.seed);
    }
}

/// The bytes of the downloaded archive.
async fn fetch(
    client: &Client,
    service: &Service,
    task: ExportTaskId,
    target: &Path,
) -> Option<Vec<u8>> {
    let keep = ExistingFile::Keep;
    client.download(service.dataset, task, target, keep, &mut |_, _| {}).await.ok()?;
    Some(std::fs::read(target).unwrap())
}
