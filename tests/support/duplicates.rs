//! A core that reviews planted groups of duplicates.

use tessera_curation::{
    FileContent, Original,
    duplicates::{DuplicateGroup, DuplicateImage, OtherImage},
};
use tessera_interface::{
    app::Event,
    message::{Lane, Payload},
};
use tessera_model::{MediaId, Status, UserTags, vql::ExtraColumns};
use tessera_picture::Protocol;
use uuid::Uuid;

use crate::support::app_harness::{AppHarness, dataset};

fn image(number: u128, kibibytes: u64) -> DuplicateImage {
    let content = FileContent {
        size: kibibytes << 10,
        modified: 1_700_000_000_000_000_000 + i64::try_from(number).unwrap() * 86_400_000_000_000,
        hash: None,
    };
    let side = u32::try_from(kibibytes).unwrap() * 10;
    DuplicateImage {
        media: MediaId(Uuid::from_u128(number)).to_string(),
        original: Original {
            path: format!("/photos/summer/{number}.jpg").into(),
            folder: "/photos".into(),
            content,
            sidecars: Vec::new(),
            shared_sidecars: Vec::new(),
            pair: Vec::new(),
        },
        size: (side, side),
        pixels: u64::from(side) * u64::from(side),
        blur_percent: 0,
        given: UserTags::default(),
        caption: None,
        labels: Vec::new(),
        objects: Vec::new(),
        extra_columns: ExtraColumns::new(),
    }
}

/// Returns a group of images of these sizes in KiB, numbered from `first`. The first one is kept.
pub fn group(first: u128, kibibytes: &[u64]) -> DuplicateGroup {
    let mut images = (first..).zip(kibibytes).map(|(number, size)| image(number, *size));
    let kept: Vec<DuplicateImage> = images.next().into_iter().collect();
    let path = kept[0].original.path.clone();
    let other =
        |image| OtherImage { image, kept: path.clone(), similarity: 0.982, is_identical: false };
    let others = images.map(other).collect();
    DuplicateGroup { kept, others }
}

/// Opens a dataset of a local folder, without pictures.
pub fn local_desk(columns: u16, rows: u16) -> AppHarness {
    let mut harness = AppHarness::with_pictures(Protocol::None);
    harness.happen(Event::Resize(columns, rows));
    harness.opening_folder(vec![dataset(1, Status::Ready)])
}

/// Reviews a group of three images and a group of two.
pub fn reviewing(columns: u16, rows: u16) -> AppHarness {
    let mut harness = local_desk(columns, rows);
    harness.press("g d");
    let mut pair = group(1, &[10, 10]);
    pair.others[0].is_identical = true;
    let groups = vec![pair, group(4, &[50, 40, 30])];
    harness.answer(Lane::FileAction(dataset(1, Status::Ready).id), Payload::Duplicates(groups));
    harness
}

/// Reviews a group with painted pictures.
pub fn reviewing_pictures(columns: u16, rows: u16, keys: &str) -> AppHarness {
    let mut harness = reviewing(columns, rows);
    harness.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    if !keys.is_empty() {
        harness.press(keys);
    }
    crate::support::scene::paint(&mut harness);
    harness
}
