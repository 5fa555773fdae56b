//! Changed bytes in the database: every response is the undamaged one or an error.

use std::{collections::BTreeMap, env, fs, os::unix::fs::MetadataExt as _, path::PathBuf};

use serde_json::Value;
use tessera_service::{Deployment, DeploymentSettings};

use crate::{
    described,
    support::{Place, Service},
};

/// Damaged databases, unless `TESSERA_FUZZ_RUNS` gives another number.
const RUNS: u64 = 12;

/// The status and body of everything a client reads.
type Responses = BTreeMap<String, (u16, Vec<u8>)>;

/// A repeatable sequence of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % limit
    }

    /// Changes one to twenty bytes.
    fn damage(&mut self, bytes: &mut [u8]) {
        for _ in 0..=self.below(20) {
            let position = self.below(bytes.len());
            bytes[position] ^= u8::try_from(1 + self.below(255)).unwrap();
        }
    }
}

/// The mark of a clean shutdown beside the database.
enum Mark {
    None,
    /// That of the intact database.
    Old,
    New,
    /// As a process leaves it that is killed in this start of the system, or was in an earlier one.
    Killed {
        now: bool,
    },
}

/// A closed store of a described folder.
struct ClosedStore {
    place: Place,
    database: Vec<u8>,
    mark: Vec<u8>,
    expected: Responses,
}

impl ClosedStore {
    async fn new() -> Self {
        let service = Service::at(described::place().with_store_file(), true).await;
        let expected = responses(&service).await;
        for (request, (status, body)) in &expected {
            assert_eq!(*status, 200, "{request}: {}", String::from_utf8_lossy(body));
        }
        let place = service.stop().await;
        let read = |name| fs::read(place.data.path().join(name)).unwrap();
        let (database, mark) = (read("tessera.db"), read("clean-shutdown"));
        Self { place, database, mark, expected }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.data.path().join(name)
    }

    /// The responses over another database, or `None` if it was refused.
    async fn responses_over(
        mut self,
        database: &[u8],
        mark: Mark,
    ) -> (Self, Option<(Responses, bool)>) {
        fs::write(self.path("tessera.db"), database).unwrap();
        for name in ["tessera.db-wal", "tessera.db-shm", "clean-shutdown", "opened"] {
            // It may be missing.
            let _ = fs::remove_file(self.path(name));
        }
        match mark {
            Mark::None => {}
            Mark::Old => fs::write(self.path("clean-shutdown"), &self.mark).unwrap(),
            Mark::New => {
                let file = fs::metadata(self.path("tessera.db")).unwrap();
                let mark = format!("{} {}.{:09}", file.len(), file.mtime(), file.mtime_nsec());
                fs::write(self.path("clean-shutdown"), mark).unwrap();
            }
            Mark::Killed { now } => {
                let file = fs::metadata(self.path("tessera.db")).unwrap();
                let start = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
                let start = if now { start.trim() } else { "an earlier one" };
                let mark = format!("{start} {} {}", file.dev(), file.ino());
                fs::write(self.path("opened"), mark).unwrap();
            }
        }
        let opened = Deployment::open(self.place.data.path(), DeploymentSettings::default());
        let Ok(deployment) = opened else { return (self, None) };
        let is_rebuilt = deployment.recovery_notice().is_some();
        let Ok(dataset) = deployment.add_folder(self.place.pictures.path(), Some("demo")) else {
            return (self, None);
        };
        deployment.wait_until_idle().await;
        let service = Service::serve(self.place, deployment, dataset, true).await;
        let found = responses(&service).await;
        self.place = service.stop().await;
        (self, Some((found, is_rebuilt)))
    }

    /// Every response is the expected one or an error. Text scores after another indexing differ in
    /// their last digits.
    fn assert_right(&self, found: &Responses, is_rebuilt: bool, run: u64) {
        let is_exact = |request: &str| !(is_rebuilt && request.contains("image_caption"));
        for (request, (status, body)) in found.iter().filter(|(request, _)| is_exact(request)) {
            let (_, expected) = &self.expected[request];
            let text = String::from_utf8_lossy(body);
            assert!(*status >= 400 || body == expected, "run {run}: {request}: {text}");
        }
    }
}

/// Removes what changes from start to start: times, and the addresses and signatures of links.
fn normalize(value: &mut Value) {
    match value {
        Value::String(text) if text.starts_with("http://") => {
            let path = text.splitn(4, '/').last().unwrap_or_default();
            *text = path.split('?').next().unwrap_or_default().to_owned();
        }
        Value::Array(items) => items.iter_mut().for_each(normalize),
        Value::Object(fields) => {
            fields.retain(|name, _| !["created_at", "updated_at"].contains(&name.as_str()));
            fields.values_mut().for_each(normalize);
        }
        _ => {}
    }
}

pub async fn responses(service: &Service) -> Responses {
    let mut found = Responses::new();
    let mut links = Vec::new();
    for path in [
        "/api/v1/datasets".to_owned(),
        service.of_dataset(""),
        service.explore("threshold=0"),
        service.explore("threshold=2"),
        service.explore("threshold=0&entity_type=OBJECTS"),
        service.explore("threshold=0&image_caption=boat"),
        service.explore(&format!("threshold=0&labels={}", described::escaped("[\"sea\"]"))),
    ] {
        let (status, mut body) = service.json(&path).await;
        for cluster in body["clusters"].as_array().into_iter().flatten() {
            for preview in cluster["previews"].as_array().into_iter().flatten() {
                links.extend(preview["media_thumb_uri"].as_str().map(str::to_owned));
            }
        }
        normalize(&mut body);
        found.insert(path, (status.as_u16(), body.to_string().into_bytes()));
    }
    for link in links {
        let response = service.client.get(&link).send().await.unwrap();
        let status = response.status().as_u16();
        let mut name = Value::String(link);
        normalize(&mut name);
        found.insert(name.to_string(), (status, response.bytes().await.unwrap().to_vec()));
    }
    found
}

#[tokio::test]
async fn changed_bytes_never_change_a_response() {
    let mut store = ClosedStore::new().await;
    let runs = env::var("TESSERA_FUZZ_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let mut rebuilt = 0;
    for run in 1..=runs {
        let mut random = Random(run.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut database = store.database.clone();
        random.damage(&mut database);
        let mark = if run % 2 == 0 { Mark::Old } else { Mark::None };
        let outcome;
        (store, outcome) = store.responses_over(&database, mark).await;
        if let Some((found, is_rebuilt)) = outcome {
            store.assert_right(&found, is_rebuilt, run);
            rebuilt += u64::from(is_rebuilt);
        }
    }
    assert!(rebuilt > runs / 2, "only {rebuilt} of {runs} were found damaged");
}

#[tokio::test]
async fn a_store_that_was_not_closed_is_checked_and_kept() {
    let store = ClosedStore::new().await;
    let database = store.database.clone();
    let (store, outcome) = store.responses_over(&database, Mark::None).await;
    let (found, is_rebuilt) = outcome.unwrap();
    assert!(!is_rebuilt);
    assert_eq!(found.keys().collect::<Vec<_>>(), store.expected.keys().collect::<Vec<_>>());
    assert!(found == store.expected);
}

/// Changes a byte in a thumbnail.
fn with_damaged_thumbnail(mut database: Vec<u8>) -> Vec<u8> {
    let start = database.windows(3).rposition(|window| window == [0xFF, 0xD8, 0xFF]).unwrap();
    database[start + 40] ^= 1;
    database
}

#[tokio::test]
async fn a_damaged_store_is_rebuilt_with_its_datasets_without_their_folders_being_given() {
    let store = ClosedStore::new().await;
    fs::write(store.path("tessera.db"), with_damaged_thumbnail(store.database.clone())).unwrap();
    let deployment = store.place.open();
    let notice = deployment.recovery_notice().unwrap();
    assert!(notice.contains("its datasets are indexed again"), "{notice}");
    deployment.wait_until_idle().await;
    let dataset = deployment.datasets().unwrap()[0].id;
    let (expected, service) =
        (store.expected, Service::serve(store.place, deployment, dataset, true).await);
    let found = responses(&service).await;
    assert!(found.keys().eq(expected.keys()));
    let thumbnails = |all: &Responses| -> Vec<_> {
        all.iter()
            .filter(|(name, _)| name.contains("thumbnail"))
            .map(|(_, found)| found.clone())
            .collect()
    };
    assert!(thumbnails(&found) == thumbnails(&expected));
}

#[tokio::test]
async fn a_damaged_definition_is_recovered_at_the_first_start_whatever_the_marks_say() {
    let store = ClosedStore::new().await;
    let text = b"CREATE TABLE media";
    let start = store.database.windows(text.len()).position(|window| window == text).unwrap();
    // The text is no longer SQL, the text is SQL with another meaning, or the whole page is lost.
    let mut damaged: Vec<Vec<u8>> = Vec::new();
    for byte in [start, start + text.len() + 6] {
        damaged.push(store.database.clone());
        damaged.last_mut().unwrap()[byte] ^= 1;
    }
    damaged.push(store.database.clone());
    damaged.last_mut().unwrap()[100..2000].fill(0);
    let mut store = store;
    for database in damaged {
        for mark in [Mark::None, Mark::New, Mark::Killed { now: true }] {
            let (next, outcome) = store.responses_over(&database, mark).await;
            let (found, is_rebuilt) = outcome.expect("the first start recovers the store");
            assert!(is_rebuilt);
            next.assert_right(&found, is_rebuilt, 0);
            store = next;
        }
    }
}

#[tokio::test]
async fn a_row_damaged_while_the_store_is_open_is_an_error_and_rebuilt_at_the_next_start() {
    damaged_while_open(Mark::New).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_store_whose_process_was_killed_is_checked_after_a_start_of_the_system() {
    damaged_while_open(Mark::Killed { now: true }).await;
    let store = ClosedStore::new().await;
    let database = with_damaged_thumbnail(store.database.clone());
    let (_, outcome) = store.responses_over(&database, Mark::Killed { now: false }).await;
    let (_, is_rebuilt) = outcome.unwrap();
    assert!(is_rebuilt);
}

async fn damaged_while_open(mark: Mark) {
    let store = ClosedStore::new().await;
    let database = with_damaged_thumbnail(store.database.clone());
    // The opening believes the file.
    let (store, outcome) = store.responses_over(&database, mark).await;
    let (found, is_rebuilt) = outcome.unwrap();
    assert!(!is_rebuilt);
    store.assert_right(&found, is_rebuilt, 0);
    let failed: Vec<_> = found.iter().filter(|(_, (status, _))| *status != 200).collect();
    assert_eq!(failed.len(), 1, "only one thumbnail");
    assert_eq!(failed[0].1.0, 500);
    assert!(!store.path("clean-shutdown").exists() && !store.path("opened").exists());
    let deployment = store.place.open();
    assert!(deployment.recovery_notice().is_some());
}
