//! Indexing tasks over many files: several workers extract them in ranges. What needs several processes runs where
//! `TESSERA_TEST_STORE` names a server.

use std::fs;

use tessera_media::ingest::{FolderPatterns, FolderScan, SandboxedDir, diff, scan_folder};
use tessera_service::{Deployment, DeploymentSettings};
use tessera_store::{Store, extraction};
use uuid::Uuid;

use crate::{
    change::{archived, new, zip},
    damage::responses,
    processes::{WAKE, place, until, without_jobs},
    support::{Place, Service, picture, pictures},
    test_store::TestStore,
};

/// Leases that a worker which was killed has on every range with an even number.
const LEASES_OF_A_DEAD_WORKER: &str = "
CREATE FUNCTION take_range() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO lease (task, holder, fence, expires_at)
  VALUES ('range/' || new.row, '00000000-0000-0000-0000-000000000009', 1, 9223372036854775807);
  RETURN new;
END $$;
CREATE TRIGGER taken BEFORE INSERT ON extraction_range
  FOR EACH ROW WHEN (new.row % 2 = 0) EXECUTE FUNCTION take_range();
";

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
    place.change(LEASES_OF_A_DEAD_WORKER);
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
    place.change(LEASES_OF_A_DEAD_WORKER);
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
