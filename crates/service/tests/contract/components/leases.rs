//! Leases: two workers never change the same task, and a stale one changes nothing.

use std::{path::Path, sync::Arc};

use tessera_model::{DatasetId, ExportTaskId, Status};
use tessera_store::{
    QueryError, Store, StoreError,
    dataset::{self, DatasetRecord},
    indexing_task::{self, IndexingTaskKind},
    lease::{self, Lease, LeaseCounts, LeasedTask},
    params, query, store_now,
};
use uuid::Uuid;

use crate::support::{Place, pictures};

const DATASET: DatasetId = DatasetId(Uuid::from_u128(7));
const FIRST: Uuid = Uuid::from_u128(1);
const SECOND: Uuid = Uuid::from_u128(2);

fn open(data: &Path) -> Store {
    Store::open(data).unwrap()
}

/// A store with an indexing task that is running.
fn with_operation(data: &Path) -> (Store, i64) {
    let record = DatasetRecord::new(DATASET, "demo", "/folder".as_ref(), 0);
    let store = open(data);
    let row = store.write(|tx| {
        dataset::upsert(tx, &record)?;
        indexing_task::begin(tx, DATASET, IndexingTaskKind::Creation, None, false)
    });
    (store, row.unwrap())
}

fn take(store: &Store, row: i64, holder: Uuid, now: i64, expires_at: i64) -> Option<Lease> {
    let task = LeasedTask::Indexing(row);
    store.write(|tx| lease::take(tx, task, holder, now, expires_at)).unwrap()
}

fn is_lost<T>(outcome: &Result<T, StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Query(QueryError::LeaseLost)))
}

#[test]
fn an_expired_lease_counts_until_another_worker_takes_the_task() {
    let data = tempfile::tempdir().unwrap();
    let (store, row) = with_operation(data.path());
    let first = take(&store, row, FIRST, 0, 1).unwrap();
    store.write(|tx| lease::require(tx, &first)).unwrap();
    take(&store, row, SECOND, 2, 100).unwrap();
    assert!(is_lost(&store.write(|tx| lease::require(tx, &first))));
}

#[test]
fn a_task_has_one_holder_until_its_lease_expires() {
    let data = tempfile::tempdir().unwrap();
    let (store, row) = with_operation(data.path());
    let first = take(&store, row, FIRST, 0, 100).unwrap();
    assert_eq!(first.fence, 1);
    assert_eq!(take(&store, row, SECOND, 99, 200), None);
    store.write(|tx| lease::extend(tx, &first, 150)).unwrap();
    assert_eq!(take(&store, row, SECOND, 149, 200), None);
    let second = take(&store, row, SECOND, 150, 200).unwrap();
    assert_eq!((second.holder, second.fence), (SECOND, 2));
    assert_eq!(take(&store, row, FIRST, 151, 300), None);
    assert_eq!(take(&store, row, SECOND, 151, 300), None, "another thread of the same worker");
    store.write(|tx| lease::release(tx, &second)).unwrap();
    let again = take(&store, row, SECOND, 151, 300).unwrap();
    assert_eq!(again.fence, 3, "a holder that starts over is another one");
}

#[test]
fn tasks_have_leases_of_their_own() {
    let data = tempfile::tempdir().unwrap();
    let store = open(data.path());
    let tasks = [
        LeasedTask::Indexing(1),
        LeasedTask::Indexing(2),
        LeasedTask::Export(ExportTaskId(Uuid::from_u128(1))),
        LeasedTask::Export(ExportTaskId(Uuid::from_u128(2))),
    ];
    for (number, task) in tasks.into_iter().enumerate() {
        let holder = Uuid::from_u128(number as u128 + 1);
        let taken = store.write(|tx| lease::take(tx, task, holder, 0, 100)).unwrap();
        assert_eq!(taken, Some(Lease { task, holder, fence: 1 }));
    }
}

#[test]
fn a_stale_holder_changes_nothing() {
    let data = tempfile::tempdir().unwrap();
    let (store, row) = with_operation(data.path());
    let running = store.write(|tx| indexing_task::find(tx, row)).unwrap().unwrap();
    let first = take(&store, row, FIRST, 0, 100).unwrap();
    let second = take(&store, row, SECOND, 100, 200).unwrap();
    let finish = |lease: &Lease| {
        store.write(|tx| {
            indexing_task::finish(tx, &running, None)?;
            lease::require(tx, lease)?;
            lease::end(tx, lease)
        })
    };
    assert!(is_lost(&finish(&first)));
    assert!(is_lost(&store.write(|tx| lease::extend(tx, &first, 900))));
    store.write(|tx| lease::release(tx, &first)).unwrap();
    store.write(|tx| lease::end(tx, &first)).unwrap();
    let status = |store: &Store| store.read(|c| dataset::find(c, DATASET)).unwrap().unwrap().status;
    assert_eq!(status(&store), Status::Indexing);
    assert_eq!(take(&store, row, FIRST, 199, 900), None, "the second one still has it");
    finish(&second).unwrap();
    assert_eq!(status(&store), Status::Ready);
    assert!(is_lost(&finish(&second)), "it has ended");
}

#[test]
fn a_lease_that_expired_and_was_not_taken_still_counts() {
    let data = tempfile::tempdir().unwrap();
    let (store, row) = with_operation(data.path());
    let first = take(&store, row, FIRST, 0, 100).unwrap();
    store.write(|tx| lease::require(tx, &first)).unwrap();
    store.write(|tx| lease::release(tx, &first)).unwrap();
    assert_eq!(take(&store, row, SECOND, 1, 200).unwrap().fence, 2);
}

#[test]
fn leases_of_the_process_that_runs_the_tasks_end_with_it() {
    let data = tempfile::tempdir().unwrap();
    let (store, row) = with_operation(data.path());
    assert!(store.may_run_tasks().unwrap());
    take(&store, row, FIRST, 0, i64::MAX).unwrap();
    drop(store);
    let store = open(data.path());
    assert!(store.may_run_tasks().unwrap());
    assert_eq!(take(&store, row, SECOND, 1, i64::MAX).unwrap().fence, 2);
}

fn counts(store: &Store) -> LeaseCounts {
    store.read(lease::counts).unwrap()
}

fn is_held(store: &Store, lease: &Lease) -> bool {
    store.read(|c| lease::is_held(c, lease)).unwrap()
}

#[test]
fn a_lease_is_held_until_it_ends_or_another_worker_takes_the_task() {
    let data = tempfile::tempdir().unwrap();
    let (store, row) = with_operation(data.path());
    let first = take(&store, row, FIRST, 0, 100).unwrap();
    assert!(is_held(&store, &first));
    let second = take(&store, row, SECOND, 100, 200).unwrap();
    assert_eq!([&first, &second].map(|lease| is_held(&store, lease)), [false, true]);
    store.write(|tx| lease::end(tx, &second)).unwrap();
    assert!(!is_held(&store, &second));
}

#[test]
fn a_lease_lasts_30_seconds_on_a_server_and_as_long_as_the_process_in_a_file() {
    let place = Place::new(&[]);
    let store = place.reopened();
    let (now, end) = store.read(|c| Ok((store_now(c)?, lease::end_of_new(c)?))).unwrap();
    if store.is_on_server() {
        let lifetime = end - now;
        assert!((30_000_000..31_000_000).contains(&lifetime), "{lifetime}");
    } else {
        assert_eq!(end, i64::MAX);
    }
}

#[test]
fn a_worker_extends_its_leases_and_is_forgotten_a_day_after_it_disappeared() {
    const HOUR: i64 = 3_600_000_000;
    let place = Place::new(&[]);
    let store = place.reopened();
    let now = store.read(store_now).unwrap();
    let [first, other, expired] = [(1, FIRST, 1), (2, SECOND, now + HOUR), (3, SECOND, 1)]
        .map(|(row, holder, end)| take(&store, row, holder, 0, end).unwrap());
    let held = |held, expired, workers| LeaseCounts { held, expired, workers };
    assert_eq!(counts(&store), held(1, 2, 0));
    let extend = |holder, end| store.write(|tx| lease::extend_all(tx, holder, end)).unwrap();
    extend(FIRST, now + HOUR);
    assert_eq!(counts(&store), held(2, 1, 1), "{first:?} is held again, {expired:?} is not");
    store.write(|tx| lease::release(tx, &first)).unwrap();
    extend(FIRST, now + HOUR);
    assert_eq!(counts(&store), held(1, 1, 1), "a released lease is not taken back");
    assert!(is_held(&store, &other));

    let workers = || {
        let sql = "SELECT count(*) FROM lease WHERE task LIKE 'worker/%'";
        store.read(|c| query::one(c, sql, params![], |row| row.get::<i64>(0))).unwrap()
    };
    let [recent, old, ended] = [3, 4, 5].map(Uuid::from_u128);
    extend(recent, now - 23 * HOUR);
    extend(old, now - 25 * HOUR);
    extend(ended, now + HOUR);
    assert_eq!((workers(), counts(&store).workers), (4, 2));
    store.write(|tx| lease::remove_worker(tx, ended)).unwrap();
    assert_eq!((workers(), counts(&store).workers), (2, 1), "the others are kept for a day");
    assert_eq!(counts(&store).held, 1, "only workers are removed");
}

/// Another worker takes each task at the moment when this one has begun it.
const TAKE_OVER: &str = "CREATE TRIGGER take_over AFTER INSERT ON lease BEGIN
                           UPDATE lease SET fence = fence + 1 WHERE task = new.task;
                         END";

#[tokio::test]
async fn an_operation_that_was_taken_over_stores_nothing_and_stays_unfinished() {
    let place = Place::new(&pictures(4)).with_store_file();
    let deployment = place.open();
    place.database().execute_batch(TAKE_OVER).unwrap();
    place.add(&deployment);
    deployment.wait_until_idle().await;
    assert_eq!([place.count("media"), place.count("lease")], [0, 1]);
    assert_eq!(deployment.datasets().unwrap()[0].status, Status::Indexing);
    drop(deployment);
    place.database().execute_batch("DROP TRIGGER take_over").unwrap();
    let deployment = place.open();
    deployment.wait_until_idle().await;
    assert_eq!(deployment.datasets().unwrap()[0].status, Status::Ready);
    assert_eq!([place.count("media"), place.count("lease")], [4, 0]);
}

#[test]
fn of_many_holders_at_a_time_one_takes_a_task() {
    let data = tempfile::tempdir().unwrap();
    let (store, row) = with_operation(data.path());
    let store = Arc::new(store);
    let holders: Vec<_> = (1..=8)
        .map(|number| {
            let store = store.clone();
            std::thread::spawn(move || take(&store, row, Uuid::from_u128(number), 0, 100))
        })
        .collect();
    let taken = holders.into_iter().filter_map(|holder| holder.join().unwrap()).count();
    assert_eq!(taken, 1);
}
