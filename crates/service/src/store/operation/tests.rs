//! The state machine of operations against a model, with kills.

use proptest::prelude::*;
use rusqlite::TransactionBehavior;

use super::*;
use crate::store::{dataset::Record, schema, source};

/// What happens to a dataset.
#[derive(Clone, Copy, Debug)]
enum Event {
    Add,
    AddAndReindex,
    Reindex,
    /// Its folder changed and is opened again.
    Reopen,
    /// The running operation gets on: a reindex begins to cluster, anything else ends.
    Work,
    Fail,
    /// A kill in the middle of the next change, and a new start.
    Kill,
}

/// The transitions of the interface document, written down a second time.
#[derive(Clone, Debug, PartialEq)]
struct Model {
    status: &'static str,
    running: Option<&'static str>,
    reindex: bool,
    clustering: bool,
}

impl Model {
    fn happen(&mut self, event: Event) {
        match (event, self.running) {
            (Event::Add | Event::AddAndReindex, None)
                if ["READY", "PARTIAL INDEX"].contains(&self.status) =>
            {
                (self.status, self.running) = ("READ ONLY", Some("MEDIA_ADDITION"));
                self.reindex = matches!(event, Event::AddAndReindex);
            }
            (Event::Reindex, None) if self.status == "PARTIAL INDEX" => {
                (self.status, self.running) = ("READ ONLY", Some("REINDEX"));
            }
            (Event::Reopen, None) => {
                (self.status, self.running) = ("INDEXING", Some("DATASET_CREATION"));
            }
            (Event::Work, Some("REINDEX")) if !self.clustering => {
                (self.status, self.clustering) = ("INDEXING", true);
            }
            (Event::Work, Some("MEDIA_ADDITION")) if self.reindex => {
                (self.status, self.running) = ("INDEXING", Some("REINDEX"));
                (self.reindex, self.clustering) = (false, true);
            }
            (Event::Work, Some(kind)) => {
                let added = kind == "MEDIA_ADDITION";
                self.status = if added { "PARTIAL INDEX" } else { "READY" };
                (self.running, self.clustering) = (None, false);
            }
            (Event::Fail, Some(_)) => {
                *self = Self { status: "ERROR", running: None, reindex: false, clustering: false };
            }
            _ => {}
        }
    }
}

/// One dataset in a store of its own.
struct World {
    connection: Connection,
    id: DatasetId,
    source: i64,
}

impl World {
    fn new() -> Self {
        let mut connection = Connection::open_in_memory().unwrap();
        assert_eq!(schema::migrate(&mut connection).unwrap(), None);
        let id = DatasetId(uuid::Uuid::from_u128(7));
        let folder = std::path::PathBuf::from("/folder");
        let record = Record {
            id,
            name: "demo".to_owned(),
            folder: folder.clone(),
            status: Status::Indexing,
            progress: 0,
            created_at: 0,
            fatal_error: None,
            n_images: 0,
            n_videos: 0,
            n_objects: 0,
            generation: 0,
            extractor: 0,
        };
        dataset::put(&connection, &record).unwrap();
        let source = source::put(&connection, id, &folder).unwrap();
        Self { connection, id, source }
    }

    /// Changes the world as the service does, and ends by a kill before the commit if asked to.
    fn happen(&mut self, event: Event, killed: bool) {
        let (id, source) = (self.id, self.source);
        let behaviour = TransactionBehavior::Immediate;
        let tx = self.connection.transaction_with_behavior(behaviour).unwrap();
        let status = dataset::find(&tx, id).unwrap().unwrap().status;
        let running = of(&tx, id).unwrap();
        let batch = Batch { source, arrival: Arrival::There };
        let free = running.is_none();
        match (event, running) {
            (Event::Add | Event::AddAndReindex, _)
                if free
                    && status.allows(tessera_model::Operation::AddMedia).refusal().is_none() =>
            {
                let reindex = matches!(event, Event::AddAndReindex);
                begin(&tx, id, Kind::Addition, Some(&batch), reindex).unwrap();
            }
            (Event::Reindex, _)
                if free && status.allows(tessera_model::Operation::Reindex).refusal().is_none() =>
            {
                begin(&tx, id, Kind::Reindex, None, false).unwrap();
            }
            (Event::Reopen, None) => {
                begin(&tx, id, Kind::Creation, None, false).unwrap();
            }
            (Event::Work, Some(running))
                if running.kind == Kind::Reindex && status == Status::ReadOnly =>
            {
                cluster(&tx, &running).unwrap();
            }
            (Event::Work, Some(running)) => {
                finish(&tx, &running).unwrap();
            }
            (Event::Fail, Some(running)) => fail(&tx, &running, "a reason").unwrap(),
            _ => {}
        }
        if killed { tx.rollback().unwrap() } else { tx.commit().unwrap() }
    }

    fn model(&self) -> Model {
        let record = dataset::find(&self.connection, self.id).unwrap().unwrap();
        let all = all(&self.connection).unwrap();
        assert!(all.len() <= 1, "{all:?}");
        let running = all.first();
        assert_eq!(record.fatal_error.is_some(), record.status == Status::Error);
        let words = ["READY", "PARTIAL INDEX", "READ ONLY", "INDEXING", "ERROR"];
        Model {
            status: words.into_iter().find(|word| *word == record.status.word()).unwrap(),
            running: running.map(|running| running.kind.word()),
            reindex: running.is_some_and(|running| running.reindex),
            clustering: running.is_some_and(|running| running.kind == Kind::Reindex)
                && record.status == Status::Indexing,
        }
    }
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        1 => Just(Event::Add),
        1 => Just(Event::AddAndReindex),
        1 => Just(Event::Reindex),
        1 => Just(Event::Reopen),
        4 => Just(Event::Work),
        1 => Just(Event::Fail),
        2 => Just(Event::Kill),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    // A hundred histories in each of a hundred worlds that live on.
    #[test]
    fn e16_every_history_of_operations_and_kills_is_the_model_s(
        histories in proptest::collection::vec(
            proptest::collection::vec(event(), 1..16), 100),
    ) {
        let mut world = World::new();
        let mut model = world.model();
        for history in histories {
            let mut killed = false;
            for event in history {
                if let Event::Kill = event {
                    killed = true;
                    continue;
                }
                world.happen(event, killed);
                if !killed {
                    model.happen(event);
                }
                killed = false;
                prop_assert_eq!(world.model(), model.clone());
            }
            // Never stuck: whatever runs comes to an end.
            while model.running.is_some() {
                world.happen(Event::Work, false);
                model.happen(Event::Work);
            }
            prop_assert_eq!(world.model(), model.clone());
        }
    }
}

#[test]
fn e16_the_database_itself_refuses_other_transitions_and_a_second_operation() {
    let mut world = World::new();
    world.happen(Event::Reopen, false);
    let second = world.connection.execute(
        "INSERT INTO operation (dataset, kind, stage, reindex, created_at)
         SELECT id, 'REINDEX', 'RUNNING', 0, 0 FROM dataset",
        [],
    );
    assert!(second.is_err());
    world.happen(Event::Work, false);
    for status in [Status::PartialIndex, Status::Error] {
        let leap = dataset::set_status(&world.connection, world.id, &status, 0, None);
        assert!(leap.is_err(), "READY > {}", status.word());
    }
}
