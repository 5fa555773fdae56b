//! Tests stepping through the frames of a video.

use tessera_interface::app::Event;
use tessera_picture::Protocol;

use crate::support::{
    desk::{Desk, cluster},
    frames::frames_of_two_videos,
};

fn desk() -> Desk {
    let mut desk = Desk::with_clusters(3);
    desk.press("r");
    desk.answer_page(frames_of_two_videos());
    desk
}

fn title(desk: &Desk) -> String {
    desk.app.results().preview().unwrap().title().to_string()
}

#[test]
fn frames_are_stepped_through_in_the_order_of_time_across_clusters() {
    let mut desk = desk();
    assert_eq!(
        (title(&desk), desk.app.results().frame_position()),
        ("00:04 a.mp4".into(), Some((1, 4)))
    );
    let mut steps = Vec::new();
    for key in ["}", "}", "{", "{", "{"] {
        desk.press(key);
        steps.push(title(&desk));
    }
    let expected = ["00:06.5 a.mp4", "00:08 a.mp4", "00:06.5 a.mp4", "00:04 a.mp4", "00:00 a.mp4"];
    assert_eq!(steps, expected);
    assert_eq!(desk.app.results().cluster().unwrap().id, cluster(0).id);
    desk.press("{");
    assert_eq!(title(&desk), "00:00 a.mp4");
    assert_eq!(desk.notice(), "this is the first frame of its video on this page");
}

#[test]
fn stepping_says_why_it_is_unavailable() {
    let mut desk = desk();
    desk.press("} }");
    desk.press("}");
    assert_eq!(desk.notice(), "this is the last frame of its video on this page");
    let mut pictures = Desk::with_clusters(3);
    pictures.press("}");
    assert_eq!(pictures.notice(), "this is not a frame of a video");
    assert_eq!(Desk::new().app.results().frame_position(), None);
}

#[test]
fn hidden_clusters_are_not_stepped_into() {
    let mut desk = desk();
    desk.press("/");
    desk.type_text("b.mp4");
    desk.press("enter");
    assert_eq!(desk.app.results().frame_position(), Some((1, 3)));
}

#[test]
fn the_full_size_view_of_a_frame_has_a_strip_of_its_video() {
    let mut desk = desk();
    desk.happen(Event::Terminal(Protocol::HalfBlock, (10, 20)));
    let area = |desk: &Desk| desk.app.viewer_panels()[0].area;
    desk.press("s");
    let strip = |desk: &Desk| -> Vec<(String, bool)> {
        let frames = desk.app.strip_frames();
        frames.iter().map(|frame| (frame.preview.title().to_string(), frame.current)).collect()
    };
    let titles = ["00:00 a.mp4", "00:04 a.mp4", "00:06.5 a.mp4", "00:08 a.mp4"].map(str::to_owned);
    let expected = |current: usize| -> Vec<(String, bool)> {
        titles.iter().cloned().enumerate().map(|(place, title)| (title, place == current)).collect()
    };
    assert_eq!(strip(&desk), expected(1));
    assert!(desk.app.strip_frames().iter().all(|frame| frame.area.y >= area(&desk).bottom()));
    desk.press("} }");
    assert_eq!(strip(&desk), expected(3));
    assert_eq!(desk.app.viewed_preview().unwrap().title().as_str(), "00:08 a.mp4");
    // The strip is not shown for pictures, or if there is no room for it.
    desk.happen(Event::Resize(80, 18));
    assert!(strip(&desk).is_empty());
}
