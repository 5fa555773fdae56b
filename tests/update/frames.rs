//! Stepping through the frames of a video.

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
    desk.app.preview().unwrap().title().to_string()
}

#[test]
fn frames_are_stepped_through_in_the_order_of_time_across_clusters() {
    let mut desk = desk();
    assert_eq!((title(&desk), desk.app.frame_position()), ("00:04 a.mp4".into(), Some((1, 4))));
    let mut steps = Vec::new();
    for key in ["}", "}", "{", "{", "{"] {
        desk.press(key);
        steps.push(title(&desk));
    }
    let expected = ["00:06.5 a.mp4", "00:08 a.mp4", "00:06.5 a.mp4", "00:04 a.mp4", "00:00 a.mp4"];
    assert_eq!(steps, expected);
    assert_eq!(desk.app.cluster().unwrap().id, cluster(0).id);
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
    assert_eq!(Desk::new().app.frame_position(), None);
}

#[test]
fn hidden_clusters_are_not_stepped_into() {
    let mut desk = desk();
    desk.press("/");
    desk.type_text("b.mp4");
    desk.press("enter");
    assert_eq!(desk.app.frame_position(), Some((1, 3)));
}
