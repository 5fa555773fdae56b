use tessera_model::{
    SafeText, VideoFrame,
    picture_source::{format_timestamp, frames_and_videos},
};

#[test]
fn times_are_shown_to_a_tenth_of_a_second() {
    let shown = [0.0, 7.04, 7.06, 59.99, 3_667.5, f64::NAN, -1.0].map(format_timestamp);
    assert_eq!(shown, ["00:00", "00:07", "00:07.1", "01:00", "1:01:07.5", "00:00", "00:00"]);
}

#[test]
fn a_frame_is_titled_by_its_video_and_time() {
    let title = |video: &str, seconds| {
        let video = SafeText::file_name(video);
        VideoFrame { video, seconds, link: None }.title().to_string()
    };
    assert_eq!(title("a/b/clip.mp4", Some(7.0)), "00:07 clip.mp4");
    assert_eq!(title("C:\\clips\\clip.mp4", None), "clip.mp4");
    assert_eq!(title("", Some(1.0)), "00:01 ");
}

#[test]
fn frames_are_counted_with_their_videos() {
    assert_eq!(frames_and_videos(1, Some(1)), "1 frame, 1 video");
    assert_eq!(frames_and_videos(1_200, Some(3)), "1 200 frames, 3 videos");
    assert_eq!(frames_and_videos(2, None), "2 frames");
}

#[test]
fn tenths_of_a_second_are_rounded_before_they_become_seconds() {
    for (seconds, shown) in [
        (0.04, "00:00"),
        (0.05, "00:00.1"),
        (0.94, "00:00.9"),
        (0.96, "00:01"),
        (59.94, "00:59.9"),
        (60.5, "01:00.5"),
        (3_599.96, "1:00:00"),
        (f64::INFINITY, "00:00"),
    ] {
        assert_eq!(format_timestamp(seconds), shown, "{seconds}");
    }
}

#[test]
fn the_name_of_a_video_is_the_last_part_of_its_path() {
    for (video, name) in [
        ("clip.mp4", "clip.mp4"),
        ("/a/clip.mp4", "clip.mp4"),
        ("a/clip.mp4/", "clip.mp4"),
        ("a\\clip.mp4", "clip.mp4"),
        ("//", ""),
    ] {
        let frame = VideoFrame { video: SafeText::file_name(video), seconds: None, link: None };
        assert_eq!(frame.video_name(), name, "{video}");
    }
}
