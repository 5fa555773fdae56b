//! Indexing tasks over many files, and neighbor graphs and near-duplicates of large datasets: several workers compute
//! them in ranges. What needs several processes runs where `TESSERA_TEST_STORE` names a server.

use std::fs;

use tessera_media::ingest::{FolderPatterns, FolderScan, SandboxedDir, diff, scan_folder};
use tessera_model::EntityType;
use tessera_search::similarity::{NeighborGraph, several_processes::RangeResult as _};
use tessera_service::{Deployment, DeploymentSettings};
use tessera_store::{
    Store, extraction,
    similarity_range::{self, ClusteredMembers},
};
use uuid::Uuid;

use crate::{
    change::{archived, new, zip},
    damage::responses,
    processes::{WAKE, place, until, without_jobs},
    support::{Place, Service, picture, pictures},
    test_store::TestStore,
};

/// Leases that a worker which was killed has on every other range of a table. `task` is the name of its leases, and
/// `number` the column that counts the ranges.
fn leases_of_a_dead_worker(task: &str, table: &str, number: &str) -> String {
    format!(
        "CREATE FUNCTION take_range() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
           INSERT INTO lease (task, holder, fence, expires_at)
           VALUES ('{task}/' || new.row, '00000000-0000-0000-0000-000000000009', 1, 9223372036854775807);
           RETURN new;
         END $$;
         CREATE TRIGGER taken BEFORE INSERT ON {table}
           FOR EACH ROW WHEN (new.{number} % 2 = 0) EXECUTE FUNCTION take_range();"
    )
}

fn in_ranges_of(range_files: usize) -> DeploymentSettings {
    DeploymentSettings { range_files, ..DeploymentSettings::default() }
}

fn scan_of(place: &Place) -> FolderScan {
    let folder = SandboxedDir::open(place.pictures.path()).unwrap();
    scan_folder(&folder, &FolderPatterns::default()).unwrap()
}

#[tokio::test]
async fn workers_extract_what_another_one_runs() {
    let Some(place) = place() else { return };
    let serving = place.open_with(without_jobs());
    place.add(&serving);
    place.change(&format!(
        "INSERT INTO lease (task, holder, fence, expires_at)
         SELECT 'indexing/' || row, '{}', 1, {} FROM indexing_task",
        Uuid::from_u128(9),
        i64::MAX
    ));
    let _helping = place.open();
    // What the worker of the indexing task does before it helps itself.
    let data = tempfile::tempdir().unwrap();
    let store = Store::open_on_server(data.path(), &place.store.address().unwrap()).unwrap();
    let scan = scan_of(&place);
    let files = diff(&scan, [].into()).added_or_modified;
    let (indexing_task, source) =
        (place.number("row", "indexing_task"), place.number("row", "source"));
    store
        .write(|tx| {
            extraction::begin(tx, indexing_task, 12, 0)?;
            let mut ranges = files.chunks(5);
            ranges.try_for_each(|files| extraction::add_range(tx, indexing_task, source, files))
        })
        .unwrap();
    until(&place, "extraction_range", 0).await;
    assert_eq!(place.count("media"), 12);
    assert_eq!(place.count("dataset WHERE status = 'INDEXING' AND progress = 90"), 1);
    place.change(&format!("UPDATE lease SET expires_at = 1 WHERE task LIKE 'indexing/%'; {WAKE}"));
    until(&place, "dataset WHERE status = 'READY'", 1).await;
    assert_eq!(place.count("extraction") + place.count("extraction_file"), 0);
    until(&place, "lease WHERE task NOT LIKE 'worker/%'", 0).await;
}

#[tokio::test]
async fn a_worker_that_is_killed_loses_its_range_only() {
    let Some(place) = place() else { return };
    let serving = place.open_with(without_jobs());
    place.add(&serving);
    place.change(&leases_of_a_dead_worker("range", "extraction_range", "row"));
    let _worker = place.open_with(in_ranges_of(3));
    until(&place, "media", 6).await;
    until(&place, "lease WHERE task LIKE 'range/%'", 2).await;
    assert_eq!(place.count("dataset WHERE status = 'INDEXING' AND progress = 45"), 1);
    place.change("UPDATE lease SET expires_at = 1 WHERE task LIKE 'range/%'");
    until(&place, "dataset WHERE status = 'READY'", 1).await;
    assert_eq!(place.count("media"), 12);
    until(&place, "lease WHERE task NOT LIKE 'worker/%'", 0).await;
}

/// Transactions that removed leases wait until this lock is free.
const HALT_AFTER_LEASES: &str = "
CREATE FUNCTION halt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared('lease'::regclass::oid::bigint);
  -- If it and a worker wait for each other, the server ends it rather than the worker, which would try again.
  PERFORM set_config('deadlock_timeout', '10ms', true);
  RETURN NULL;
END $$;
CREATE TRIGGER halted AFTER DELETE ON lease FOR EACH STATEMENT EXECUTE FUNCTION halt();
INSERT INTO lease (task, holder, fence, expires_at)
SELECT 'range/' || row, '00000000-0000-0000-0000-000000000009', 1, 1 FROM extraction_range;
";
/// Workers that wait for the lease of a range.
const WAITING: &str =
    "pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT INTO lease%'
                       AND pid IN (SELECT pid FROM pg_locks WHERE relation = 'lease'::regclass)";

#[tokio::test]
async fn ranges_are_removed_while_a_worker_takes_one() {
    let Some(place) = place() else { return };
    let serving = place.open_with(without_jobs());
    place.add(&serving);
    let data = tempfile::tempdir().unwrap();
    let store = Store::open_on_server(data.path(), &place.store.address().unwrap()).unwrap();
    let files = diff(&scan_of(&place), [].into()).added_or_modified;
    let (indexing_task, source) =
        (place.number("row", "indexing_task"), place.number("row", "source"));
    store
        .write(|tx| {
            extraction::begin(tx, indexing_task, 12, 0)?;
            extraction::add_range(tx, indexing_task, source, &files)
        })
        .unwrap();
    place.change(HALT_AFTER_LEASES);
    place.change(&format!(
        "UPDATE indexing_task SET stage = 'COMPLETED' WHERE row = {indexing_task}"
    ));
    let lock = place.database();
    lock.execute_batch("SELECT pg_advisory_lock('lease'::regclass::oid::bigint)").unwrap();
    let removal = tokio::task::spawn_blocking(move || {
        store.write_rows(|tx| extraction::remove(tx, indexing_task))
    });
    let halted = "pg_locks WHERE locktype = 'advisory' AND NOT granted
                  AND objid = 'lease'::regclass::oid";
    until(&place, halted, 1).await;
    let worker = place.open();
    until(&place, WAITING, 1).await;
    drop(lock);
    removal.await.unwrap().unwrap();
    until(&place, "lease WHERE task LIKE 'range/%'", 0).await;
    assert_eq!([place.count("extraction_range"), place.count("media")], [0, 0]);
    drop(worker);
}

#[tokio::test]
async fn a_range_that_cannot_be_extracted_ends_the_operation() {
    let Some(place) = place() else { return };
    let serving = place.open_with(without_jobs());
    place.add(&serving);
    place.change(&leases_of_a_dead_worker("range", "extraction_range", "row"));
    let _worker = place.open_with(in_ranges_of(3));
    until(&place, "media", 6).await;
    place.change("UPDATE extraction SET failure = 'its folder is elsewhere'");
    let failed = "dataset WHERE status = 'ERROR' AND fatal_error = 'its folder is elsewhere'";
    until(&place, failed, 1).await;
    assert_eq!(place.count("extraction_range"), 0);
    assert_eq!(place.count("lease WHERE task NOT LIKE 'worker/%'"), 0);
}

#[tokio::test]
async fn several_workers_have_the_result_of_one() {
    let one = Service::at(Place::new(&pictures(40)).with_store_file(), true).await;
    let expected = responses(&one).await;
    let pictures = one.stop().await.pictures;
    let place = Place { pictures, data: tempfile::tempdir().unwrap(), store: TestStore::new() };
    let is_on_server = place.store.address().is_some();
    let workers = if is_on_server { 3 } else { 0 };
    let workers: Vec<Deployment> = (0..workers).map(|_| place.open_with(in_ranges_of(2))).collect();
    let serving = if is_on_server { without_jobs() } else { in_ranges_of(2) };
    let serving = place.open_with(serving);
    let dataset = place.add(&serving);
    until(&place, "dataset WHERE status = 'READY'", 1).await;
    drop(workers);
    let several = Service::with_kept_login(place, serving, dataset).await;
    let found = responses(&several).await;
    assert!(found.len() > 10, "{:?}", found.keys());
    assert_eq!(found, expected);
}

#[tokio::test]
async fn what_a_former_worker_unpacked_in_part_is_replaced() {
    let service = Service::at_with(Place::new(&pictures(4)), DeploymentSettings::default()).await;
    let service = service.again(without_jobs()).await;
    let archive = archived("set.zip", zip(&new(4..9)));
    assert_eq!(service.add(archive).await.0, 202);
    let place = service.stop().await;
    let uploads = fs::read_dir(place.data.path().join("uploads")).unwrap();
    let staging = uploads.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    for folder in ["unpacked", "unpacked.0"] {
        fs::create_dir(staging.join(folder)).unwrap();
        fs::write(staging.join(folder).join("part.png"), picture(50)).unwrap();
    }
    let worker = place.open();
    worker.wait_until_idle().await;
    assert_eq!(place.count("media"), 9);
    assert_eq!(place.count("skipped"), 0);
    let left = fs::read_dir(&staging).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["unpacked"]);
}

/// As when these leases end.
const END_LEASES: &str = "UPDATE lease SET expires_at = 1 WHERE task LIKE 'similarity/%'";
const STEPS: [&str; 6] = ["trees", "links/0", "links/1", "links/2", "candidates", "verification"];

fn shared() -> DeploymentSettings {
    DeploymentSettings { unshared_members: 1, ..DeploymentSettings::default() }
}

/// Where the media are in the clusters, and how similar to others.
fn assignments(place: &Place) -> String {
    let sql = "SELECT string_agg(concat_ws(' ', encode(path, 'escape'), uniqueness, twin, rank_0, rank_2), '; '
                                 ORDER BY path)
               FROM place JOIN media ON media.row = place.media";
    place.row(sql, |row| row.get(0))
}

#[tokio::test]
async fn clusters_do_not_depend_on_the_number_of_workers() {
    let (Some(alone), Some(place)) = (place(), place()) else { return };
    let worker = alone.open_with(shared());
    alone.add(&worker);
    until(&alone, "dataset WHERE status = 'READY'", 1).await;

    let serving = place.open_with(without_jobs());
    place.add(&serving);
    place.change(&leases_of_a_dead_worker("similarity", "similarity_range", "number"));
    // As on two machines.
    let other = tempfile::tempdir().unwrap();
    let settings = DeploymentSettings { store: place.store.address(), ..shared() };
    let workers = [place.open_with(shared()), Deployment::open(other.path(), settings).unwrap()];
    for step in STEPS {
        until(&place, &format!("similarity_range WHERE number = 0 AND step = '{step}'"), 1).await;
        place.change(&format!("{END_LEASES}; {WAKE}"));
    }
    until(&place, "dataset WHERE status = 'READY'", 1).await;
    assert_eq!(assignments(&place), assignments(&alone));
    until(&place, "lease WHERE task NOT LIKE 'worker/%'", 0).await;
    let left = ["similarity_range", "similarity_result", "similarity_input"];
    assert_eq!(left.map(|table| place.count(table)), [0; 3]);
    drop(workers);
}

/// A place with an indexing task of a worker that does nothing, and the members of that indexing task.
async fn begun() -> Option<(Place, ClusteredMembers, Store)> {
    let place = place()?;
    let worker = place.open();
    place.add(&worker);
    worker.wait_until_idle().await;
    drop(worker);
    place.change(&format!(
        "INSERT INTO lease (task, holder, fence, expires_at)
         SELECT 'indexing/' || row, '{}', 1, {} FROM indexing_task;
         UPDATE indexing_task SET stage = 'RUNNING'",
        Uuid::from_u128(9),
        i64::MAX
    ));
    let indexing_task = place.number("row", "indexing_task");
    let run =
        ClusteredMembers { indexing_task, fence: 1, entity: EntityType::Images, source: None };
    let data = tempfile::tempdir().unwrap();
    let store = Store::open_on_server(data.path(), &place.store.address().unwrap()).unwrap();
    Some((place, run, store))
}

#[tokio::test]
async fn a_worker_computes_ranges_of_another_one() {
    let Some((place, run, store)) = begun().await else { return };
    let _helping = place.open();
    store.write(|tx| similarity_range::begin_step(tx, run, "trees", 8)).unwrap();
    until(&place, "similarity_range WHERE is_done", 8).await;
    let mut graph = NeighborGraph::default();
    for state in similarity_range::states(&place.database(), run.indexing_task).unwrap() {
        assert!(!state.is_leased);
        graph = NeighborGraph::default();
        let add = |part: &[u8]| graph.add_part(part).unwrap();
        store.read(|c| similarity_range::for_each_part(c, state.row, add)).unwrap();
        assert_eq!((graph.len(), graph[0].len()), (12, 11));
    }
    let publish = |name: &str, graph: &NeighborGraph| {
        store
            .write(|tx| {
                similarity_range::publish(tx, run.indexing_task, (name, None), graph.parts())
            })
            .unwrap();
    };
    publish("graph/0", &graph);
    store.write(|tx| similarity_range::begin_step(tx, run, "links/0", 1)).unwrap();
    until(&place, "similarity_range WHERE is_done AND step = 'links/0'", 1).await;
    publish("graph/3", &graph);
    store.write(|tx| similarity_range::begin_step(tx, run, "candidates", 1)).unwrap();
    until(&place, "similarity_range WHERE is_done AND step = 'candidates'", 1).await;
    assert_eq!(place.count("dataset WHERE status = 'READY'"), 1, "it changes nothing else");
}

#[tokio::test]
async fn one_process_of_a_machine_computes_ranges() {
    let Some((place, run, store)) = begun().await else { return };
    let file = fs::File::create(place.data.path().join("computation-lock")).unwrap();
    file.lock().unwrap();
    let helping = place.open();
    store.write(|tx| similarity_range::begin_step(tx, run, "trees", 8)).unwrap();
    place.change(WAKE);
    helping.wait_until_idle().await;
    assert_eq!(place.count("similarity_range WHERE NOT is_done"), 8);
    file.unlock().unwrap();
    place.change(WAKE);
    until(&place, "similarity_range WHERE is_done", 8).await;
}

#[tokio::test]
async fn ranges_that_cannot_be_computed_are_left_to_the_worker_of_the_operation() {
    let Some((place, run, store)) = begun().await else { return };
    let _helping = place.open();
    // Without the graph, without candidates, and steps of another version.
    for step in ["links/1", "verification", "links/9", "unknown"] {
        store.write(|tx| similarity_range::begin_step(tx, run, step, 3)).unwrap();
        until(&place, "similarity_range", 0).await;
    }
    let graph = NeighborGraph::new(7, 24);
    let names = ("graph/3", None);
    store
        .write(|tx| similarity_range::publish(tx, run.indexing_task, names, graph.parts()))
        .unwrap();
    store.write(|tx| similarity_range::begin_step(tx, run, "candidates", 1)).unwrap();
    until(&place, "similarity_range", 0).await;
    until(&place, "lease WHERE task LIKE 'similarity/%'", 0).await;
}

#[tokio::test]
async fn a_range_that_is_removed_while_a_worker_takes_it_leaves_no_lease() {
    let Some((place, run, store)) = begun().await else { return };
    store.write(|tx| similarity_range::begin_step(tx, run, "trees", 1)).unwrap();
    let row = place.number("row", "similarity_range");
    let taking = place.database();
    taking
        .execute_batch(&format!(
            "BEGIN;
             INSERT INTO lease (task, holder, fence, expires_at)
             VALUES ('similarity/{row}', '{}', 1, {});
             SELECT 1 FROM similarity_range FOR KEY SHARE",
            Uuid::from_u128(8),
            i64::MAX
        ))
        .unwrap();
    let removal = tokio::task::spawn_blocking(move || {
        store.write_rows(|tx| similarity_range::remove(tx, row))
    });
    let waiting = "pg_stat_activity WHERE wait_event_type = 'Lock'
                   AND query LIKE 'DELETE FROM similarity_range%'
                   AND pid IN (SELECT pid FROM pg_locks WHERE relation = 'similarity_range'::regclass)";
    until(&place, waiting, 1).await;
    taking.execute_batch("COMMIT").unwrap();
    removal.await.unwrap().unwrap();
    assert_eq!(place.count("similarity_range"), 0);
    assert_eq!(place.count("lease WHERE task LIKE 'similarity/%'"), 0);
}

#[tokio::test]
async fn ranges_end_with_their_operation() {
    let Some((place, run, store)) = begun().await else { return };
    store.write(|tx| similarity_range::begin_step(tx, run, "trees", 8)).unwrap();
    store
        .write(|tx| {
            let parts = [vec![1]].into_iter();
            similarity_range::publish(tx, run.indexing_task, ("graph/0", None), parts)
        })
        .unwrap();
    // The next worker of the indexing task, which has few members, does not share it.
    let _worker = place.open();
    place.change(&format!("UPDATE lease SET expires_at = 1 WHERE task LIKE 'indexing/%'; {WAKE}"));
    until(&place, "indexing_task WHERE stage = 'RUNNING'", 0).await;
    assert_eq!(place.count("similarity_range") + place.count("similarity_input"), 0);
    until(&place, "lease WHERE task LIKE 'similarity/%'", 0).await;
}
