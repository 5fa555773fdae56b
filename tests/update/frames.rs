//! Tests stepping through the frames of a video.

use tessera_interface::app::Event;
use tessera_picture::Protocol;

use crate::support::{
    app_harness::{AppHarness, cluster},
    frames::frames_of_two_videos,
};

fn harness() -> AppHarness {
    let mut harness = AppHarness::with_clusters(3);
    harness.press("r");
    harness.answer_page(frames_of_two_videos());
    harness
}

fn title(harness: &AppHarness) -> String {
    harness.app.results().preview().unwrap().title().to_string()
}

#[test]
fn frames_are_stepped_through_in_the_order_of_time_across_clusters() {
    let mut harness = harness();
    assert_eq!(
        (title(&harness), harness.app.results().frame_position()),
        ("00:04 a.mp4".into(), Some((1, 4)))
    );
    let mut steps = Vec::new();
    for key in ["}", "}", "{", "{", "{"] {
        harness.press(key);
        steps.push(title(&harness));
    }
    let expected = ["00:06.5 a.mp4", "00:08 a.mp4", "00:06.5 a.mp4", "00:04 a.mp4", "00:00 a.mp4"];
    assert_eq!(steps, expected);
    assert_eq!(harness.app.results().cluster().unwrap().id, cluster(0).id);
    harness.press("{");
    assert_eq!(title(&harness), "00:00 a.mp4");
    assert_eq!(harness.notice(), "this is the first frame of its video on this page");
}

#[test]
fn stepping_says_why_it_is_unavailable() {
    let mut harness = harness();
    harness.press("} }");
    harness.press("}");
    assert_eq!(harness.notice(), "this is the last frame of its video on this page");
    let mut pictures = AppHarness::with_clusters(3);
    pictures.press("}");
    assert_eq!(pictures.notice(), "this is not a frame of a video");
    assert_eq!(AppHarness::new().app.results().frame_position(), None);
}

#[test]
fn hidden_clusters_are_not_stepped_into() {
    let mut harness = harness();
    harness.press("/");
    harness.type_text("b.mp4");
    harness.press("enter");
    assert_eq!(harness.app.results().frame_position(), Some((1, 3)));
}

#[test]
fn the_full_size_view_of_a_frame_has_a_strip_of_its_video() {
    let mut harness = harness();
    harness.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    let area = |harness: &AppHarness| harness.app.viewer_panels()[0].area;
    harness.press("s");
    let strip = |harness: &AppHarness| -> Vec<(String, bool)> {
        let frames = harness.app.strip_frames();
        frames.iter().map(|frame| (frame.preview.title().to_string(), frame.current)).collect()
    };
    let titles = ["00:00 a.mp4", "00:04 a.mp4", "00:06.5 a.mp4", "00:08 a.mp4"].map(str::to_owned);
    let expected = |current: usize| -> Vec<(String, bool)> {
        titles.iter().cloned().enumerate().map(|(place, title)| (title, place == current)).collect()
    };
    assert_eq!(strip(&harness), expected(1));
    assert!(harness.app.strip_frames().iter().all(|frame| frame.area.y >= area(&harness).bottom()));
    harness.press("} }");
    assert_eq!(strip(&harness), expected(3));
    assert_eq!(harness.app.viewed_preview().unwrap().title().as_str(), "00:08 a.mp4");
    // The strip is not shown for pictures, or if there is no room for it.
    harness.happen(Event::Resize(80, 18));
    assert!(strip(&harness).is_empty());
}
