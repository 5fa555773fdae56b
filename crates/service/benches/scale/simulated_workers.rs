//! Simulates up to 64 workers. A simulated worker takes as long for a picture as a real worker does, but waits instead
//! of computing, while the queue and the store do all of their work.

use std::{
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use tessera_media::ingest::{FileStat, FileToExtract, ScannedFile};
use tessera_model::DatasetId;
use tessera_search::index::Features;
use tessera_service::EXTRACTOR_VERSION;
use tessera_store::{
    Store,
    dataset::{self, DatasetRecord},
    extraction::{self, ExtractionRange, ExtractionState, RANGE_FILES},
    indexed_files::{self, IndexedFile},
    indexing_task::{self, IndexingTaskKind},
    lease::{self, LeasedTask},
    picture_table::PackedPictures,
    source::{self, SourceFolder},
    store_now,
};
use uuid::Uuid;

use super::{
    bench_store::BenchStore,
    figures::report,
    generated_store::Family,
    usage::{cpu_seconds, percentile},
};

/// The time that a core takes for a picture of several megapixels.
const EXTRACTION: Duration = Duration::from_millis(30);
/// The number of files that are written in one transaction.
const BATCH: usize = 64;
const RANGES_PER_WORKER: usize = 2;
const WORKERS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

pub fn simulate_all(store: &BenchStore) {
    for workers in WORKERS {
        simulate(store, workers);
    }
}

/// Reports the share of the time of `workers` that they did not spend waiting for the store.
fn simulate(store: &BenchStore, workers: usize) {
    let main = store.of_another_machine("main").open();
    let folder = PathBuf::from(format!("/simulated/{workers}"));
    let dataset = DatasetId(Uuid::from_u128(1000 + workers as u128));
    let indexing_task = begin(&main, dataset, &folder, workers * RANGES_PER_WORKER);
    let open = |number: usize| store.of_another_machine(&number.to_string()).open();
    let stores: Vec<Store> = (0..workers).map(open).collect();
    let (started, used) = (Instant::now(), cpu_seconds());
    let mut waits: Vec<f64> = thread::scope(|scope| {
        let threads: Vec<_> =
            stores.iter().map(|store| scope.spawn(|| work(store, indexing_task))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let elapsed = started.elapsed().as_secs_f64();
    let used = cpu_seconds() - used;
    let state = main.read(|c| extraction::state(c, indexing_task)).unwrap();
    assert_eq!(state, ExtractionState::Ended);
    let files = workers * RANGES_PER_WORKER * RANGE_FILES;
    let found = main.read(|c| dataset::find(c, dataset)).unwrap().unwrap();
    assert_eq!(found.n_images, files as u64, "nothing is lost, and nothing is there twice");
    let ideal = EXTRACTION.as_secs_f64() * (RANGES_PER_WORKER * RANGE_FILES) as f64;
    let name = format!("{workers} simulated workers");
    report(&format!("{name}, files"), "per s", files as f64 / elapsed);
    report(&format!("{name}, share of the time without the store"), "", ideal / elapsed);
    report(&format!("{name}, of the machine"), "CPU s", used);
    report(
        &format!("{name}, transaction of {BATCH} files, p50"),
        "ms",
        percentile(&mut waits, 0.5),
    );
    report(
        &format!("{name}, transaction of {BATCH} files, p99"),
        "ms",
        percentile(&mut waits, 0.99),
    );
}

/// Begins to index a folder with ranges of files.
fn begin(store: &Store, dataset: DatasetId, folder: &std::path::Path, ranges: usize) -> i64 {
    let begin = |tx: &tessera_store::Transaction| {
        dataset::upsert(tx, &DatasetRecord::new(dataset, "bench", folder, EXTRACTOR_VERSION))?;
        let source = source::upsert(tx, dataset, folder)?;
        let row = indexing_task::begin(tx, dataset, IndexingTaskKind::Creation, None, false)?;
        extraction::begin(tx, row, ranges * RANGE_FILES, 0)?;
        for range in 0..ranges {
            let file = |number: usize| {
                let path = PathBuf::from(format!("{range:04}/IMG_{number:04}.jpg"));
                (ScannedFile { path, stat: FileStat { size: 1, modified: 0 } }, None)
            };
            let files: Vec<FileToExtract> = (0..RANGE_FILES).map(file).collect();
            extraction::add_range(tx, row, source, &files)?;
        }
        Ok(row)
    };
    store.write(begin).unwrap()
}

/// Extracts ranges until none is left. Returns the times of its transactions in milliseconds.
fn work(store: &Store, indexing_task: i64) -> Vec<f64> {
    let holder = Uuid::new_v4();
    let mut family = Family::new(holder.as_u128() as u64);
    let features: Vec<Features> = (0..BATCH).map(|_| family.features()).collect();
    let mut waits = Vec::new();
    loop {
        let taken = store.write_rows(|tx| {
            let Some(range) = extraction::next_unleased(tx, Some(indexing_task))? else {
                return Ok(None);
            };
            let (now, end) = (store_now(tx)?, lease::end_of_new(tx)?);
            let lease = lease::take(tx, LeasedTask::Range(range.row), holder, now, end)?;
            let Some(lease) = lease else { return Ok(Some(None)) };
            Ok(Some(extraction::find(tx, range.row)?.map(|range| (lease, range))))
        });
        match taken.unwrap() {
            None => return waits,
            // Another worker took the range first.
            Some(None) => {}
            Some(Some((lease, range))) => {
                extract(store, &lease, &range, &features, &mut waits);
                store
                    .write_rows(|tx| {
                        lease::require(tx, &lease)?;
                        lease::end(tx, &lease)?;
                        extraction::end_range(tx, &range)
                    })
                    .unwrap();
            }
        }
    }
}

fn extract(
    store: &Store,
    lease: &lease::Lease,
    range: &ExtractionRange,
    features: &[Features],
    waits: &mut Vec<f64>,
) {
    let (source, files) = store
        .read(|c| Ok((source::find(c, range.source)?.unwrap(), extraction::files(c, range.row)?)))
        .unwrap();
    for files in files.chunks(BATCH) {
        thread::sleep(EXTRACTION * u32::try_from(files.len()).unwrap());
        let started = Instant::now();
        write(store, lease, range, &source, files, features);
        waits.push(started.elapsed().as_secs_f64() * 1e3);
    }
}

/// Writes what a worker writes about some files.
fn write(
    store: &Store,
    lease: &lease::Lease,
    range: &ExtractionRange,
    source: &SourceFolder,
    files: &[FileToExtract],
    features: &[Features],
) {
    let write = |tx: &tessera_store::Transaction| {
        lease::require(tx, lease)?;
        let progress = extraction::finish_files(tx, range, files.iter().map(|(f, _)| &*f.path))?;
        let indexed = |file: &'_ ScannedFile| (file.path.clone(), file.stat);
        let paths: Vec<_> = files.iter().map(|(file, _)| indexed(file)).collect();
        let images: Vec<_> = paths
            .iter()
            .map(|(path, stat)| IndexedFile { path, stat: *stat, content_hash: &[7; 32] })
            .zip(features)
            .collect();
        indexed_files::upsert_images(tx, source, &images, &PackedPictures::default())?;
        let percent = u8::try_from(90 * progress.done / progress.files.max(1)).unwrap_or(100);
        dataset::set_progress(tx, source.dataset, percent)?;
        lease::extend(tx, lease, lease::end_of_new(tx)?)
    };
    store.write_rows(write).unwrap();
}
