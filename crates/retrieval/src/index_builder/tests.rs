//! Tests that members that arrive in the order of rows give the same files as members that arrive in the order of
//! paths.

use std::{ffi::OsString, fs, os::unix::ffi::OsStringExt as _};

use half::f16;
use proptest::{collection::vec, option, prelude::*, sample::select};
use tessera_media::ingest::disk_quota::DiskQuota;
use tessera_model::{DatasetId, MediaId, Region, UserTags, vql::ColumnValue};
use tessera_search::similarity::VectorMemory;
use tessera_store::{
    assignment::{ClusterAssignment, IssueScores},
    media::{FramePosition, MediaKind, MediaRecord},
};

use super::{MemberPaths, *};

const PATHS: [&[u8]; 6] = [b"a", b"a/b", b"b", b"\xff\x00", b"\xc3\xa4.jpg", b"B"];
const NAMES: [&str; 4] = ["sea", "door", "boat", "red"];

fn random_media() -> impl Strategy<Value = MediaRecord> {
    let names = || vec(select(&NAMES[..]).prop_map(str::to_owned), 0..3);
    let kind = select(vec![MediaKind::Image, MediaKind::Frame, MediaKind::Object]);
    (select(&PATHS[..]), kind, names(), names()).prop_map(|(path, kind, labels, tags)| {
        let frame = FramePosition { number: 1, seconds: 0.5 };
        let is_object = kind == MediaKind::Object;
        MediaRecord {
            row: 0,
            id: MediaId(uuid::Uuid::nil()),
            dataset: DatasetId(uuid::Uuid::nil()),
            source: 1,
            kind,
            parent: is_object.then_some(7),
            region: is_object.then(|| Region::new(0.0, 0.0, 0.5, 0.5)).flatten(),
            path: OsString::from_vec(path.to_vec()).into(),
            frame: (kind == MediaKind::Frame).then_some(frame),
            size: 9,
            modified: 0,
            content_hash: [0; 32],
            width: 4,
            height: 3,
            sharpness: 0.5,
            brightness: 0.25,
            caption: None,
            extra_columns: labels
                .iter()
                .map(|label| (label.clone(), ColumnValue::Text(label.clone())))
                .collect(),
            camera: None,
            taken: None,
            labels,
            model_labels: Vec::new(),
            tags,
            given: UserTags::default(),
        }
    })
}

fn vector() -> impl Strategy<Value = Vec<f16>> {
    vec((0..9_u8).prop_map(|number| f16::from_f32(number.into())), 3)
}

fn features() -> impl Strategy<Value = MediaFeatures> {
    let vectors = (vector(), option::of(vector()), option::weighted(0.9, vector()));
    (random_media(), vectors, any::<bool>(), any::<u32>()).prop_map(
        |(media, (descriptor, text_vector, model_vector), is_clustered, rank)| MediaFeatures {
            media,
            descriptor,
            perceptual_hash: rank.into(),
            assignment: is_clustered.then_some(ClusterAssignment {
                media: 0,
                uniqueness: 0.5,
                near_duplicate_similarity: 0.0,
                issue_scores: IssueScores::default(),
                cluster_ranks: [rank; 5],
                duplicate_position: (rank % 3 > 0).then_some(rank / 2),
                duplicate_link: 0.25,
            }),
            text_vector,
            model_vector,
        },
    )
}

/// Returns the order of the clustered members, each of which has a row.
fn member_order(all: &[MediaFeatures]) -> PathOrder {
    let mut paths = MemberPaths::default();
    for found in all.iter().filter(|found| found.assignment.is_some()) {
        paths.push(found.media.row, found.media.path.as_os_str().as_encoded_bytes());
    }
    paths.into_order()
}

/// The names with their numbers, the bytes of the columns, and the bytes of each vector file.
type IndexBytes = (Vec<(String, u32)>, Vec<Vec<u8>>);

fn built(mut builder: IndexBuilder, order: PathOrder, all: Vec<MediaFeatures>) -> DatasetIndex {
    builder.order = order;
    for features in all {
        builder.push(features).unwrap();
    }
    builder.finish(1).unwrap()
}

fn bytes_on_disk(order: PathOrder, all: Vec<MediaFeatures>) -> IndexBytes {
    let folder = tempfile::tempdir().unwrap();
    let limits = IndexLimits { disk: DiskQuota::with_reserve(0), memory: VectorMemory::new(0) };
    let mut index = built(IndexBuilder::on_disk(folder.path(), &limits).unwrap(), order, all);
    let mut columns = Vec::new();
    index.members.write(&mut columns).unwrap();
    let files = VECTOR_FILES.map(|name| fs::read(folder.path().join(name)).unwrap());
    let partial = index.vectors.iter();
    let partial = partial.map(|it| it.members.iter().flat_map(|id| id.to_ne_bytes()).collect());
    let mut names: Vec<_> = index.names.iter().map(|(name, id)| (name.to_owned(), id)).collect();
    names.sort();
    (names, [columns].into_iter().chain(partial).chain(files).collect())
}

proptest! {
    #[test]
    fn files_do_not_depend_on_the_order_of_arrival(mut all in vec(features(), 0..40)) {
        all.iter_mut().zip(3..).for_each(|(found, row)| found.media.row = row);
        let mut sorted = all.clone();
        sorted.sort_by(|one, other| {
            let key = |found: &MediaFeatures| {
                (found.media.path.as_os_str().as_encoded_bytes().to_vec(), found.media.row)
            };
            key(one).cmp(&key(other))
        });
        let members = sorted.iter().filter(|found| found.assignment.is_some());
        let rows: Vec<i64> = members.map(|found| found.media.row).collect();
        let (order, query) = (|| member_order(&all), [f16::ONE; 3]);

        let index = built(IndexBuilder::in_memory(), order(), all.clone());
        let by_path = built(IndexBuilder::in_memory(), order(), sorted.clone());
        prop_assert_eq!(&index.members.rows, &rows);
        for (one, other) in index.vectors.iter().zip(&by_path.vectors) {
            prop_assert_eq!(&one.members, &other.members);
            let distances = one.vectors.distances(&query).unwrap();
            prop_assert_eq!(distances, other.vectors.distances(&query).unwrap());
        }
        prop_assert_eq!(bytes_on_disk(order(), all.clone()), bytes_on_disk(order(), sorted));
    }
}

#[test]
fn a_member_without_a_descriptor_is_an_error() {
    let mut paths = MemberPaths::default();
    paths.push(1, b"a");
    let builder = IndexBuilder { order: paths.into_order(), ..IndexBuilder::in_memory() };
    assert!(builder.finish(1).is_err());
}
