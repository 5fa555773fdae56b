//! A core that shows the map of a local dataset.

use tessera_interface::{
    app::Event,
    message::{Lane, Payload, Request},
};
use tessera_model::{MapIssue, MapPoint, MediaId, MediaMap, SafeText, Status};
use tessera_picture::Protocol;
use uuid::Uuid;

use crate::support::app_harness::{AppHarness, dataset, page};

/// The groups of the map: the name of the label, and the center.
const GROUPS: [(&str, [f32; 2]); 3] = [
    ("beach", [0.2, 0.3]),
    ("night sky", [0.75, 0.2]),
    ("a very long name of a label", [0.6, 0.8]),
];

/// Returns a map of points around three centers. Every seventh point has no label, and every fifth a tag.
#[expect(clippy::cast_precision_loss, reason = "a few points")]
pub fn map(points: u32) -> MediaMap {
    let point = |number: u32| {
        let label = number % 3;
        let group = label as usize;
        let (angle, radius) = (number as f32 * 2.4, 0.2 * (number as f32 / points as f32).sqrt());
        let (_, [x, y]) = GROUPS[group];
        MapPoint {
            media: MediaId(Uuid::from_u128(100_000 + 10 * u128::from(number))),
            path: format!("summer/{number}.jpg"),
            position: [x + radius * angle.cos(), y + radius * angle.sin()],
            labels: (!number.is_multiple_of(7)).then_some(label).into_iter().collect(),
            tags: number.is_multiple_of(5).then_some(0).into_iter().collect(),
        }
    };
    MediaMap {
        media: u64::from(points),
        points: (0..points).map(point).collect(),
        labels: GROUPS.map(|(name, _)| SafeText::name(name)).into(),
        tags: vec![SafeText::name("keep")],
        issues: vec![MapIssue {
            name: SafeText::name("blur"),
            percents: (0..points).map(|number| u8::try_from(number % 101).unwrap()).collect(),
        }],
    }
}

/// Opens the map of a dataset, without its points.
pub fn opening(columns: u16, rows: u16, protocol: Protocol) -> AppHarness {
    let mut harness = AppHarness::with_pictures(protocol);
    harness.happen(Event::Resize(columns, rows));
    let mut harness = harness.opening_folder(vec![dataset(1, Status::Ready)]);
    harness.press("g e");
    harness
}

/// Answers the request for the map.
pub fn answer(harness: &mut AppHarness, map: MediaMap) {
    let (ticket, request) = harness.take(|lane| matches!(lane, Lane::Map(_)));
    let Lane::Map(search) = &ticket.lane else { unreachable!() };
    assert_eq!(request, Request::Map(search.clone()));
    harness.respond(ticket, Ok(Payload::Map(map)));
}

/// Shows a map of 600 points after some keys, with the picture at the cursor.
pub fn mapped(columns: u16, rows: u16, keys: &str) -> AppHarness {
    let mut harness = opening(columns, rows, Protocol::HalfBlock);
    answer(&mut harness, map(600));
    if !keys.is_empty() {
        harness.press(keys);
    }
    while harness.open.iter().any(|(ticket, _)| matches!(ticket.lane, Lane::Page(_))) {
        harness.answer_page(page(0, 600));
    }
    crate::support::scene::paint(&mut harness);
    harness
}
