//! Neighbor graphs and near-duplicates that several workers compute. What needs several processes runs where
//! `TESSERA_TEST_STORE` names a server.

use std::fs;

use tessera_model::EntityType;
use tessera_search::similarity::{NeighborGraph, several_processes::RangeResult as _};
use tessera_service::{Deployment, DeploymentSettings};
use tessera_store::{
    Store,
    similarity_range::{self, ClusteredMembers},
};
use uuid::Uuid;

use crate::{
    processes::{WAKE, place, until, without_jobs},
    support::Place,
};

/// Leases that a worker which was killed has on every range with an even number, of which each step has one.
const LEASES_OF_A_DEAD_WORKER: &str = "
CREATE FUNCTION take_range() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO lease (task, holder, fence, expires_at)
  VALUES ('similarity/' || new.row, '00000000-0000-0000-0000-000000000009', 1, 9223372036854775807);
  RETURN new;
END $$;
CREATE TRIGGER taken BEFORE INSERT ON similarity_range
  FOR EACH ROW WHEN (new.number % 2 = 0) EXECUTE FUNCTION take_range();
";
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
    place.change(LEASES_OF_A_DEAD_WORKER);
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
