//! Tests `tessera work` with two services and three workers on one store. The tests that need a
//! server run only if `TESSERA_TEST_STORE` names one.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStderr, Command, Stdio},
    time::Instant,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tessera_store::{params, query};
use tessera_testing::server_schema::ServerSchema;
use uuid::Uuid;

use super::{
    Serving, outcome, run,
    served_folder::{BATCH, PATIENCE, PICTURES, ServedFolder, batch, names},
    started, tessera,
};
use crate::test_store;

/// The number of kills, unless `TESSERA_KILL_RUNS` gives another one.
const RUNS: u32 = 6;
const RUNS_OF_A_TEAM: u32 = 16;
const WORKERS: usize = 3;

/// A schema on the server for one test.
struct TeamStore(ServerSchema);

impl TeamStore {
    fn new(home: &Path) -> Option<Self> {
        let store = Self(test_store::schema()?);
        let (code, _, err) = outcome(&mut store.command(home, &["store", "init"]));
        assert_eq!(code, 0, "{err}");
        Some(store)
    }

    fn count(&self, table: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        query::one(&test_store::connect(&self.0), &sql, params![], |row| row.get(0)).unwrap()
    }

    /// Returns a command for this store, with a folder that all commands share.
    fn command(&self, home: &Path, arguments: &[&str]) -> Command {
        let mut command = tessera(home, arguments);
        command.env("TESSERA_STORE", self.0.address());
        command
    }

    fn serve(&self, home: &Path, folders: &[&str]) -> Serving {
        let data = home.join("data");
        let options = ["serve", "--no-work", "--data", data.to_str().unwrap()];
        started(self.command(home, &[&options[..], folders].concat()))
    }

    /// Ends the leases of a killed worker, as if their time had passed.
    fn end_leases(&self, worker: Uuid) {
        let sql = format!(
            "UPDATE lease SET expires_at = 1
             WHERE holder = '{worker}' AND task NOT LIKE 'worker/%' AND expires_at > 0;
             SELECT pg_notify('tessera_' || md5(current_schema()), '')"
        );
        test_store::connect(&self.0).execute_batch(&sql).unwrap();
    }
}

struct Worker {
    child: Child,
    /// The pipe stays open, because a worker that cannot write its messages would end.
    _messages: BufReader<ChildStderr>,
    /// The id of the worker in its leases.
    id: Uuid,
}

impl Worker {
    fn start(store: &TeamStore, home: &Path) -> Self {
        let known = worker_ids(home).len();
        let data = home.join("data");
        let mut command = store.command(home, &["work", "--data", data.to_str().unwrap()]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut messages = BufReader::new(child.stderr.take().unwrap());
        let mut first = String::new();
        messages.read_line(&mut first).unwrap();
        assert!(first.contains("runs tasks of"), "{first}");
        Self { child, _messages: messages, id: worker_ids(home)[known] }
    }

    /// Kills the worker with SIGKILL and starts a new one.
    fn kill(&mut self, store: &TeamStore, home: &Path) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        store.end_leases(self.id);
        *self = Self::start(store, home);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The worker may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the workers of a data folder in the order of their starts.
fn worker_ids(home: &Path) -> Vec<Uuid> {
    let lines = std::fs::read_to_string(home.join("data/workers")).unwrap_or_default();
    lines.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Two services and three workers, which end before the store is removed.
struct Team {
    served: ServedFolder,
    second: Serving,
    workers: Vec<Worker>,
    store: TeamStore,
}

impl Team {
    async fn new() -> Option<Self> {
        let home = tempfile::tempdir().unwrap();
        let store = TeamStore::new(home.path())?;
        let mut workers = Vec::new();
        let served = ServedFolder::started_by(|home| {
            let serving = store.serve(home, &[home.join("pictures").to_str().unwrap()]);
            workers.extend((0..WORKERS).map(|_| Worker::start(&store, home)));
            serving
        })
        .await;
        let second = store.serve(served.home.path(), &[]);
        tessera_testing::canaries::register_secret(served.reported("api_secret"), true);
        Some(Self { served, second, workers, store })
    }

    /// Sends the following requests to the other service.
    fn switch(&mut self) {
        self.served.swap_service(&mut self.second);
    }

    async fn until_status(&self, status: &str) {
        self.served.until(|record| record["status_new"] == status).await;
    }
}

#[tokio::test]
async fn services_and_workers_share_a_store() {
    let Some(mut team) = Team::new().await else { return };
    assert_eq!(team.served.reported("api_key"), team.second.1["api_key"].as_str().unwrap());
    assert_eq!(team.second.1["datasets"][0]["id"], team.served.dataset());
    team.served.post("add_media", Some(batch(0))).await;
    team.switch();
    team.until_status("PARTIAL INDEX").await;
    team.served.post("reindex", None).await;
    team.switch();
    team.until_status("READY").await;
    let expected = team.served.names().await;
    assert_eq!(expected.len(), (PICTURES + BATCH) as usize);
    team.switch();
    assert_eq!(team.served.names().await, expected);
    let path = format!("/explore/{}?entity_type=IMAGES", team.served.dataset());
    let page = team.served.get(&path).await;
    team.switch();
    let without_links = |page: &Value| {
        let clusters = page["clusters"].as_array().unwrap().iter();
        clusters.map(|cluster| cluster["cluster_id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(without_links(&team.served.get(&path).await), without_links(&page));
    let begun = Instant::now();
    while team.store.count("lease") != 3 {
        assert!(begun.elapsed() < PATIENCE, "each worker shows that it is alive, and has no task");
    }
}

#[tokio::test]
async fn a_worker_gives_back_its_task_when_it_is_stopped() {
    let Some(mut team) = Team::new().await else { return };
    for worker in &mut team.workers {
        kill_process(Pid::from_child(&worker.child), Signal::TERM).unwrap();
        assert!(worker.child.wait().unwrap().success());
    }
    assert_eq!(team.store.count("lease"), 0);
    team.served.post("add_media", Some(batch(0))).await;
    assert_eq!(team.served.record().await["status_new"], "READ ONLY", "nobody works");
    let given_back =
        "INSERT INTO lease SELECT 'indexing/' || row, dataset, 1, 0, 'the disk is full'
                      FROM indexing_task WHERE stage = 'RUNNING'";
    test_store::connect(&team.store.0).execute_batch(given_back).unwrap();
    let home = team.served.home.path();
    let (code, out, err) = outcome(&mut team.store.command(home, &["doctor", "--json"]));
    assert_eq!(code, 0, "{err}");
    let findings = serde_json::from_str::<Value>(&out).unwrap()["findings"].clone();
    let of = |subject: &str| {
        let all = findings.as_array().unwrap();
        all.iter().find(|finding| finding["subject"] == subject).unwrap().clone()
    };
    assert!(of("store")["message"].as_str().unwrap().ends_with(", 1 dataset"), "{findings}");
    assert_eq!(of("store clock")["state"], "ok", "{findings}");
    assert_eq!(of("workers")["state"], "warning", "{findings}");
    let words = of("workers")["message"].as_str().unwrap().to_owned();
    assert!(words.starts_with("0 workers are alive, 1 task waits"), "{words}");
    assert_eq!(of("tasks")["message"], "a worker gave its task back: the disk is full");
    let data = home.join("data");
    let once = ["work", "--once", "--data", data.to_str().unwrap()];
    let (code, out, err) = outcome(&mut team.store.command(home, &once));
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert_eq!(team.served.record().await["status_new"], "PARTIAL INDEX");
}

#[tokio::test]
async fn killed_workers_and_services_lose_nothing_and_do_nothing_twice() {
    let runs = std::env::var("TESSERA_KILL_RUNS").map_or(RUNS, |runs| runs.parse().unwrap());
    let Some(mut team) = Team::new().await else { return };
    let originals = || (0..PICTURES).map(|n| format!("p{n:03}.png"));
    let mut expected: BTreeSet<String> = originals().collect();
    for run in 0..runs {
        // A dataset that grows with every run would soon take minutes to index.
        if run > 0 && run % RUNS_OF_A_TEAM == 0 {
            team = Team::new().await.unwrap();
            expected = originals().collect();
        }
        let export = run % 3 == 2;
        let path = format!("/dataset/{}/export_context_async", team.served.dataset());
        let query = "file_name=a&export_format=json&include_images=true";
        let task = if export {
            Some(team.served.get(&format!("{path}?{query}")).await)
        } else {
            team.served.post("add_media", Some(batch(run).text("auto_reindex", "true"))).await;
            expected.extend((0..BATCH).map(|n| format!("r{run}_{n:03}.png")));
            None
        };
        // The number of reads chooses the moment of the kill.
        for _ in 0..run * 7 % 23 {
            team.served.record().await;
        }
        let home = team.served.home.path().to_owned();
        let store = &team.store;
        for worker in team.workers.iter_mut().skip((run % 2) as usize) {
            worker.kill(store, &home);
        }
        if run % 4 == 3 {
            team.second.0.kill().unwrap();
            team.second.0.wait().unwrap();
            team.second = team.store.serve(&home, &[]);
        }
        team.switch();
        if let Some(task) = task {
            assert_eq!(names(&team.served.archive(&task).await), expected, "run {run}");
        }
        team.until_status("READY").await;
        assert_eq!(team.served.names().await, expected, "run {run}");
    }
    assert_eq!(team.store.count("indexing_task WHERE stage = 'RUNNING'"), 0);
    assert_eq!(team.store.count("lease WHERE task NOT LIKE 'worker/%'"), 0, "none sticks");
}

#[test]
fn workers_need_a_store_on_a_server() {
    let home = tempfile::tempdir().unwrap();
    let (code, _, err) = run(home.path(), &["work"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--store or TESSERA_STORE"), "{err}");
    let (code, _, err) = run(home.path(), &["serve", ".", "--no-work"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--store"), "{err}");
}
