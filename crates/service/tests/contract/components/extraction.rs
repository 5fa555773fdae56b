//! Ranges of files: every file is extracted once, and a former worker changes nothing. Only a store on a server has
//! ranges, so these tests run where `TESSERA_TEST_STORE` names a server.

use std::path::{Path, PathBuf};

use tessera_media::ingest::{FileStat, FileToExtract, ScannedFile};
use tessera_model::DatasetId;
use tessera_store::{
    QueryError, Store, StoreError, Transaction,
    dataset::{self, DatasetRecord},
    extraction::{
        self, ExtractionProgress, ExtractionRange, ExtractionState, add_range, begin, end_range,
        fail_range, finish_files, next_unleased, remove,
    },
    indexing_task::{self, IndexingTaskKind},
    lease::{self, Lease, LeasedTask},
    source,
};
use uuid::Uuid;

use crate::test_store::TestStore;

const DATASET: DatasetId = DatasetId(Uuid::from_u128(7));
const WORKER: Uuid = Uuid::from_u128(1);

/// A store with an indexing task and its source.
struct Extraction {
    store: Store,
    indexing_task: i64,
    source: i64,
    _server: TestStore,
    _data: tempfile::TempDir,
}

impl Extraction {
    fn new() -> Option<Self> {
        let (server, data) = (TestStore::new(), tempfile::tempdir().unwrap());
        let record = DatasetRecord::new(DATASET, "demo", "/folder".as_ref(), 0);
        let store = Store::open_on_server(data.path(), &server.address()?).unwrap();
        let (indexing_task, source) = store
            .write(|tx| {
                dataset::upsert(tx, &record)?;
                let begun =
                    indexing_task::begin(tx, DATASET, IndexingTaskKind::Creation, None, false)?;
                Ok((begun, source::upsert(tx, DATASET, "/folder".as_ref())?))
            })
            .unwrap();
        Some(Self { store, indexing_task, source, _server: server, _data: data })
    }

    /// Ten files, of which three are known, and two ranges.
    fn begun() -> Option<Self> {
        let extraction = Self::new()?;
        extraction.write(|tx| {
            begin(tx, extraction.indexing_task, 10, 3)?;
            add_range(tx, extraction.indexing_task, extraction.source, &files(0..4))?;
            add_range(tx, extraction.indexing_task, extraction.source, &files(4..7))
        });
        Some(extraction)
    }

    fn write<T>(&self, change: impl FnOnce(&Transaction) -> Result<T, QueryError>) -> T {
        self.store.write(change).unwrap()
    }

    fn take(&self) -> Option<(ExtractionRange, Lease)> {
        self.write(|tx| {
            let Some(range) = next_unleased(tx, None)? else { return Ok(None) };
            let lease = lease::take(tx, LeasedTask::Range(range.row), WORKER, 0, i64::MAX)?;
            Ok(lease.map(|lease| (range, lease)))
        })
    }

    fn finish(&self, range: &ExtractionRange, names: &[&str]) -> ExtractionProgress {
        self.write(|tx| finish_files(tx, range, names.iter().map(Path::new)))
    }

    fn state(&self) -> ExtractionState {
        self.store.read(|c| extraction::state(c, self.indexing_task)).unwrap()
    }

    fn paths(&self, range: &ExtractionRange) -> Vec<PathBuf> {
        let files = self.store.read(|c| extraction::files(c, range.row)).unwrap();
        files.into_iter().map(|(found, _)| found.path).collect()
    }
}

fn files(numbers: std::ops::Range<u8>) -> Vec<FileToExtract> {
    let file = |number: u8| {
        let stat = FileStat { size: number.into(), modified: 5 };
        let path = PathBuf::from(format!("p{number}.png"));
        (ScannedFile { path, stat }, (number == 1).then_some([number; 32]))
    };
    numbers.map(file).collect()
}

#[test]
fn each_range_has_one_worker_and_ends_once() {
    let Some(extraction) = Extraction::begun() else { return };
    let (first, lease) = extraction.take().unwrap();
    let found = extraction.store.read(|c| extraction::files(c, first.row)).unwrap();
    assert_eq!(found, files(0..4), "with what is known of them");
    let (second, _) = extraction.take().unwrap();
    assert_eq!((second.indexing_task, second.source), (first.indexing_task, first.source));
    assert_eq!(extraction.take(), None);
    extraction.write(|tx| {
        lease::end(tx, &lease)?;
        end_range(tx, &first)
    });
    assert_eq!(extraction.state(), ExtractionState::Running);
    extraction.write(|tx| end_range(tx, &second));
    assert_eq!(extraction.state(), ExtractionState::Ended);
}

#[test]
fn a_range_that_is_taken_again_contains_what_is_left() {
    let Some(extraction) = Extraction::begun() else { return };
    let (range, lease) = extraction.take().unwrap();
    let progress = extraction.finish(&range, &["p2.png", "p0.png"]);
    assert_eq!(progress, ExtractionProgress { files: 10, done: 5 });
    extraction.write(|tx| lease::release(tx, &lease));
    let (again, lease) = extraction.take().unwrap();
    assert_eq!((again, lease.fence), (range, 2));
    assert_eq!(extraction.paths(&again), [Path::new("p1.png"), Path::new("p3.png")]);
    let (other, _) = extraction.take().unwrap();
    assert_eq!(extraction.finish(&other, &["p4.png"]).done, 6, "the sum of all ranges");
}

#[test]
fn a_worker_of_a_former_extraction_changes_nothing() {
    let Some(extraction) = Extraction::begun() else { return };
    let (range, lease) = extraction.take().unwrap();
    extraction.write(|tx| begin(tx, extraction.indexing_task, 10, 3));
    let outcome = extraction.store.write(|tx| lease::require(tx, &lease));
    assert!(matches!(outcome, Err(StoreError::Query(QueryError::LeaseLost))));
    let stale = || [Path::new("p0.png")].into_iter();
    let outcome = extraction.store.write(|tx| finish_files(tx, &range, stale()));
    assert!(matches!(outcome, Err(StoreError::Query(QueryError::LeaseLost))));
    assert_eq!(extraction.take(), None);
    extraction.write(|tx| remove(tx, extraction.indexing_task));
    let outcome = extraction.store.write(|tx| finish_files(tx, &range, stale()));
    assert!(matches!(outcome, Err(StoreError::Query(QueryError::LeaseLost))));
}

#[test]
fn nothing_more_is_extracted_after_a_failure() {
    let Some(extraction) = Extraction::begun() else { return };
    let (range, _) = extraction.take().unwrap();
    extraction.write(|tx| fail_range(tx, &range, "the bucket is gone"));
    assert_eq!(extraction.take(), None);
    assert_eq!(extraction.state(), ExtractionState::Failed("the bucket is gone".to_owned()));
}

#[test]
fn an_operation_that_ends_leaves_no_ranges() {
    let Some(extraction) = Extraction::begun() else { return };
    let (_, lease) = extraction.take().unwrap();
    extraction.write(|tx| {
        let running = indexing_task::find(tx, extraction.indexing_task)?.unwrap();
        indexing_task::fail(tx, &running, "it was stopped")
    });
    assert!(!extraction.store.read(|c| lease::is_held(c, &lease)).unwrap());
    assert_eq!(extraction.take(), None);
    assert_eq!(extraction.state(), ExtractionState::Ended);
}
