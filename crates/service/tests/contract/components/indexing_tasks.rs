//! Tests the state machine of indexing tasks against a model, with crashes.

use proptest::prelude::*;
use tessera_model::{DatasetId, Status};
use tessera_store::{
    Connection,
    dataset::{self, DatasetRecord},
    indexing_task::{
        Batch, BatchOrigin, IndexingTaskKind, begin, begin_clustering, fail, find_running, finish,
    },
    source, sqlite,
};

#[derive(Clone, Copy, Debug)]
enum TaskEvent {
    Add,
    AddAndReindex,
    Reindex,
    /// The folder changed and is opened again.
    Reopen,
    /// The running indexing task advances: a reindex starts clustering, anything else completes.
    Progress,
    Fail,
    /// A crash during the next change, followed by a restart.
    Crash,
}

/// An independent model of the transitions of the API document.
#[derive(Clone, Debug, PartialEq)]
struct ModelState {
    status: &'static str,
    running: Option<&'static str>,
    reindex: bool,
    clustering: bool,
}

impl ModelState {
    fn apply(&mut self, event: TaskEvent) {
        match (event, self.running) {
            (TaskEvent::Add | TaskEvent::AddAndReindex, None)
                if ["READY", "PARTIAL INDEX"].contains(&self.status) =>
            {
                (self.status, self.running) = ("READ ONLY", Some("MEDIA_ADDITION"));
                self.reindex = matches!(event, TaskEvent::AddAndReindex);
            }
            (TaskEvent::Reindex, None) if self.status == "PARTIAL INDEX" => {
                (self.status, self.running) = ("READ ONLY", Some("REINDEX"));
            }
            (TaskEvent::Reopen, None) => {
                (self.status, self.running) = ("INDEXING", Some("DATASET_CREATION"));
            }
            (TaskEvent::Progress, Some("REINDEX")) if !self.clustering => {
                (self.status, self.clustering) = ("INDEXING", true);
            }
            (TaskEvent::Progress, Some("MEDIA_ADDITION")) if self.reindex => {
                (self.status, self.running) = ("INDEXING", Some("REINDEX"));
                (self.reindex, self.clustering) = (false, true);
            }
            (TaskEvent::Progress, Some(kind)) => {
                let added = kind == "MEDIA_ADDITION";
                self.status = if added { "PARTIAL INDEX" } else { "READY" };
                (self.running, self.clustering) = (None, false);
            }
            (TaskEvent::Fail, Some(_)) => {
                *self = Self { status: "ERROR", running: None, reindex: false, clustering: false };
            }
            _ => {}
        }
    }
}

/// One dataset in its own store.
struct TestDataset {
    connection: Connection,
    id: DatasetId,
    source: i64,
}

impl TestDataset {
    fn new() -> Self {
        let connection = sqlite::open_in_memory().unwrap();
        let id = DatasetId(uuid::Uuid::from_u128(7));
        let folder = std::path::PathBuf::from("/folder");
        let record = DatasetRecord::new(id, "demo", &folder, 0);
        dataset::upsert(&connection, &record).unwrap();
        let source = source::upsert(&connection, id, &folder).unwrap();
        Self { connection, id, source }
    }

    /// Applies an event as the service does; with `killed`, rolls back instead of committing.
    fn apply(&self, event: TaskEvent, killed: bool) {
        let (id, source) = (self.id, self.source);
        let tx = self.connection.begin().unwrap();
        let status = dataset::find(&tx, id).unwrap().unwrap().status;
        let running = find_running(&tx, id).unwrap();
        let batch = Batch { source, below: None, origin: BatchOrigin::InPlace };
        let free = running.is_none();
        match (event, running) {
            (TaskEvent::Add | TaskEvent::AddAndReindex, _)
                if free
                    && status
                        .allows(tessera_model::Operation::AddMedia)
                        .denial_reason()
                        .is_none() =>
            {
                let reindex = matches!(event, TaskEvent::AddAndReindex);
                begin(&tx, id, IndexingTaskKind::Addition, Some(&batch), reindex).unwrap();
            }
            (TaskEvent::Reindex, _)
                if free
                    && status
                        .allows(tessera_model::Operation::Reindex)
                        .denial_reason()
                        .is_none() =>
            {
                begin(&tx, id, IndexingTaskKind::Reindex, None, false).unwrap();
            }
            (TaskEvent::Reopen, None) => {
                begin(&tx, id, IndexingTaskKind::Creation, None, false).unwrap();
            }
            (TaskEvent::Progress, Some(running))
                if running.kind == IndexingTaskKind::Reindex && status == Status::ReadOnly =>
            {
                begin_clustering(&tx, &running).unwrap();
            }
            (TaskEvent::Progress, Some(running)) => {
                finish(&tx, &running, None).unwrap();
            }
            (TaskEvent::Fail, Some(running)) => fail(&tx, &running, "a reason").unwrap(),
            _ => {}
        }
        if killed { tx.rollback().unwrap() } else { tx.commit().unwrap() }
    }

    fn model_state(&self) -> ModelState {
        let record = dataset::find(&self.connection, self.id).unwrap().unwrap();
        let running = find_running(&self.connection, self.id).unwrap();
        assert_eq!(record.fatal_error.is_some(), record.status == Status::Error);
        let words = ["READY", "PARTIAL INDEX", "READ ONLY", "INDEXING", "ERROR"];
        ModelState {
            status: words.into_iter().find(|word| *word == record.status.as_str()).unwrap(),
            running: running.as_ref().map(|running| running.kind.as_str()),
            reindex: running.as_ref().is_some_and(|running| running.reindex),
            clustering: running.is_some_and(|running| running.kind == IndexingTaskKind::Reindex)
                && record.status == Status::Indexing,
        }
    }
}

fn event() -> impl Strategy<Value = TaskEvent> {
    prop_oneof![
        1 => Just(TaskEvent::Add),
        1 => Just(TaskEvent::AddAndReindex),
        1 => Just(TaskEvent::Reindex),
        1 => Just(TaskEvent::Reopen),
        4 => Just(TaskEvent::Progress),
        1 => Just(TaskEvent::Fail),
        2 => Just(TaskEvent::Crash),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    // A hundred histories for each of a hundred datasets.
    #[test]
    fn random_histories_with_crashes_follow_the_model(
        histories in proptest::collection::vec(
            proptest::collection::vec(event(), 1..16), 100),
    ) {
        let world = TestDataset::new();
        let mut model = world.model_state();
        for history in histories {
            let mut killed = false;
            for event in history {
                if let TaskEvent::Crash = event {
                    killed = true;
                    continue;
                }
                world.apply(event, killed);
                if !killed {
                    model.apply(event);
                }
                killed = false;
                prop_assert_eq!(world.model_state(), model.clone());
            }
            // Every running indexing task can finish.
            while model.running.is_some() {
                world.apply(TaskEvent::Progress, false);
                model.apply(TaskEvent::Progress);
            }
            prop_assert_eq!(world.model_state(), model.clone());
        }
    }
}

#[test]
fn the_database_rejects_invalid_transitions_and_a_second_operation() {
    let world = TestDataset::new();
    world.apply(TaskEvent::Reopen, false);
    let second = world.connection.execute_batch(
        "INSERT INTO indexing_task (dataset, kind, stage, reindex, created_at)
         SELECT id, 'REINDEX', 'RUNNING', 0, 0 FROM dataset",
    );
    assert!(second.is_err());
    world.apply(TaskEvent::Progress, false);
    for status in [Status::PartialIndex, Status::Error] {
        let leap = dataset::set_status(&world.connection, world.id, &status, 0, None);
        assert!(leap.is_err(), "READY > {}", status.as_str());
    }
}
