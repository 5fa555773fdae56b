//! Generates a dataset of any size in a new store. It has families of similar media items with captions, labels,
//! thumbnails and text vectors, which are clustered by family.

use std::{
    ops::Range,
    path::{Path, PathBuf},
    time::Instant,
};

use half::f16;
use tessera_media::ingest::FileStat;
use tessera_model::{
    DatasetId, EntityType, Granularity, Status,
    vql::{ColumnValue, ExtraColumns},
};
use tessera_search::{
    index::{DIMENSION, Features, Keypoints},
    text::{language::Language, lsa::TextSpace},
};
use tessera_service::EXTRACTOR_VERSION;
use tessera_store::{
    Store, StoreError,
    assignment::{self, ClusterAssignment, IssueScores},
    cluster::{self, ClusterRecord, MemberCounts},
    cluster::{MAX_PREVIEWS, StoredPreview},
    dataset::{self, DatasetRecord},
    indexed_files::{self, IndexedFile},
    media,
    picture_table::PackedPictures,
    sidecar::{self, TextMetadata},
    source, vectors,
};
use uuid::Uuid;

use super::{
    bench_store::BenchStore,
    figures::report,
    random::{Random, word},
};

pub const DATASET: DatasetId = DatasetId(Uuid::from_u128(1));
/// The number of similar items per family, which gives 40,000 families in a million items.
pub const FAMILY: usize = 25;
/// The number of families that share a label, in addition to the [`SHARED_LABELS`].
const FAMILY_LABELS: usize = 80;
/// Labels, each with the number of families of which one has it.
pub const SHARED_LABELS: [(&str, usize); 3] =
    [("of_a_tenth", 10), ("of_a_hundredth", 100), ("of_a_thousandth", 1000)];
/// The number of members of the clusters at each level.
const CLUSTER_SIZES: [usize; Granularity::LEVELS] = [5, FAMILY, FAMILY, 4 * FAMILY, 40 * FAMILY];
/// The number of media items that are written in one transaction.
const BATCH: usize = 10_000;
/// The number of captions on which the text space is trained.
const TRAINING_CAPTIONS: usize = 20_000;
const THUMBNAIL_BYTES: usize = 1_000;

/// Writes `size` media items, which are numbered like the rows of the store.
pub fn fill(store: &BenchStore, folder: &Path, size: usize) {
    let started = Instant::now();
    let store = store.open();
    let mut random = Random(2);
    let captions: Vec<String> =
        (0..TRAINING_CAPTIONS.min(size)).map(|_| random.caption()).collect();
    let space = TextSpace::train(Language::English, &captions).unwrap();
    store
        .write(|tx| {
            dataset::upsert(tx, &DatasetRecord::new(DATASET, "bench", folder, EXTRACTOR_VERSION))?;
            vectors::replace_text_space(tx, DATASET, Some(&space.to_bytes()))
        })
        .unwrap();
    let mut family = Family::new(1);
    for first in (0..size).step_by(BATCH) {
        let numbers = first..size.min(first + BATCH);
        write_media(&store, folder, &space, &mut family, numbers).unwrap();
    }
    write_clusters(&store, size).unwrap();
    store
        .write(|tx| {
            dataset::begin_generation(tx, DATASET)?;
            dataset::set_status(tx, DATASET, &Status::Ready, 100, None)
        })
        .unwrap();
    drop(store);
    report("store written", "s", started.elapsed().as_secs_f64());
}

fn write_media(
    store: &Store,
    folder: &Path,
    space: &TextSpace,
    family: &mut Family,
    numbers: Range<usize>,
) -> Result<(), StoreError> {
    store.write(|tx| {
        let source = source::upsert(tx, DATASET, folder)?;
        let source = source::find(tx, source)?.unwrap();
        let numbers: Vec<usize> = numbers.collect();
        for numbers in numbers.chunks(FAMILY) {
            if numbers[0] % FAMILY == 0 {
                family.begin();
            }
            let paths: Vec<_> = numbers.iter().map(|number| path(*number)).collect();
            let features: Vec<_> = numbers.iter().map(|_| family.features()).collect();
            let stat = FileStat { size: 100_000, modified: 0 };
            let file = |path| IndexedFile { path, stat, content_hash: &[7; 32] };
            let images: Vec<_> = paths.iter().map(|path| file(path)).zip(&features).collect();
            let packed = PackedPictures::default();
            let rows = indexed_files::upsert_images(tx, &source, &images, &packed)?;
            let captions: Vec<_> = numbers.iter().map(|_| family.random.caption()).collect();
            let vector = |(row, caption): (&i64, &String)| Some((*row, space.embed(caption)?));
            let vectors: Vec<_> = rows.iter().zip(&captions).filter_map(vector).collect();
            vectors::TEXT_VECTORS.upsert_all(tx, &vectors)?;
            let text = |(number, caption): (&usize, String)| TextMetadata {
                caption: Some(caption),
                labels: labels(*number),
                tags: Vec::new(),
                extra_columns: extra_columns(*number),
            };
            let texts = rows.into_iter().zip(numbers.iter().zip(captions).map(text));
            sidecar::set_texts(tx, DATASET, &texts.collect::<Vec<_>>())?;
        }
        Ok(())
    })
}

fn path(number: usize) -> PathBuf {
    PathBuf::from(format!("a rather usual folder/{:03}/IMG_{number:07}.jpg", number / 1_000))
}

/// A column with few values, and one with many.
fn extra_columns(number: usize) -> ExtraColumns {
    let weather = ColumnValue::Text(["sun", "rain", "fog"][number % 3].to_owned());
    let distance = ColumnValue::Number(number as f64 / 10.0);
    [("weather".to_owned(), weather), ("distance".to_owned(), distance)].into()
}

fn labels(number: usize) -> Vec<String> {
    let family = number / FAMILY;
    let shared = SHARED_LABELS.iter().filter(|(_, share)| family % share == share / 2);
    let shared = shared.map(|(label, _)| (*label).to_owned());
    shared.chain([word(family % FAMILY_LABELS)]).collect()
}

/// Writes clusters of equal size, in the order of their members.
fn write_clusters(store: &Store, size: usize) -> Result<(), StoreError> {
    for first in (0..size).step_by(BATCH) {
        let count = BATCH.min(size - first);
        let page =
            store.read(|c| media::page(c, DATASET, EntityType::Images, first as u64, count))?;
        let level = |granularity: Granularity| {
            let level = usize::from(granularity.level());
            let clusters = page.chunks(CLUSTER_SIZES[level]).map(|members| ClusterRecord {
                id: cluster::cluster_id(DATASET, granularity, members[0].id),
                counts: MemberCounts { images: members.len() as u64, ..MemberCounts::default() },
                previews: members.iter().take(MAX_PREVIEWS).map(StoredPreview::from).collect(),
                labels: members[0].labels.clone(),
                tags: Vec::new(),
            });
            clusters.collect::<Vec<_>>()
        };
        let assignment = |(at, row): (usize, i64)| ClusterAssignment {
            media: row,
            uniqueness: (at % 100) as f32 / 100.0,
            near_duplicate_similarity: if at % 5 == 0 { 0.95 } else { 0.0 },
            issue_scores: IssueScores::default(),
            cluster_ranks: CLUSTER_SIZES.map(|members| ((first + at) / members) as u32),
            duplicate_position: (at % 5 == 0).then_some(((first + at) / 5) as u32),
            duplicate_link: if at % 10 == 0 { 0.0 } else { 0.95 },
        };
        let rows = page.iter().map(|media| media.row).enumerate();
        let assignments: Vec<_> = rows.map(assignment).collect();
        store.write(|tx| {
            for granularity in (0..).map_while(Granularity::new) {
                let rank = (first / CLUSTER_SIZES[usize::from(granularity.level())]) as u32;
                let clusters = level(granularity);
                cluster::insert(tx, DATASET, EntityType::Images, granularity, rank, &clusters)?;
            }
            assignment::upsert_all(tx, &assignments)
        })?;
    }
    Ok(())
}

/// The visual features that the members of a family share.
pub struct Family {
    center: Vec<f32>,
    random: Random,
}

impl Family {
    pub fn new(seed: u64) -> Self {
        let mut family = Self { center: Vec::new(), random: Random(seed) };
        family.begin();
        family
    }

    fn begin(&mut self) {
        self.center = (0..DIMENSION).map(|_| self.random.number() - 0.5).collect();
    }

    pub fn features(&mut self) -> Features {
        Features {
            width: 4000,
            height: 3000,
            descriptor: self.descriptor(),
            // The corners are random, so that no pictures are near-duplicates except those of an added batch.
            keypoints: Keypoints::from_bytes(
                &(0..64 * Keypoints::ENCODED_SIZE).map(|_| self.random.byte()).collect::<Vec<u8>>(),
            ),
            hash: 0,
            sharpness: 500.0,
            brightness: 0.5,
            thumbnail: vec![0; THUMBNAIL_BYTES],
        }
    }

    /// Returns a unit vector near the center.
    fn descriptor(&mut self) -> Vec<f16> {
        let near = self.center.iter().map(|value| value + 0.4 * (self.random.number() - 0.5));
        let near: Vec<f32> = near.collect();
        let length = near.iter().map(|value| value * value).sum::<f32>().sqrt();
        near.iter().map(|value| f16::from_f32(value / length)).collect()
    }
}
