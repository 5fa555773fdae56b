use tessera_model::{SafeText, picture_source::*};

#[test]
fn a_picture_is_named_without_signature_and_printable() {
    for (source, shown) in [
        (
            PictureSource::Link(Link::new("https://cdn.example/a.jpg?sig=1")),
            "https://cdn.example/a.jpg",
        ),
        (PictureSource::File("/photos/\u{7}a.jpg".into()), "/photos/␇a.jpg"),
        (PictureSource::Entry("/a.zip".into(), "images/\u{1b}b.jpg".into()), "images/␛b.jpg"),
    ] {
        assert_eq!(source.to_string(), shown);
    }
}

#[test]
fn neither_signature_nor_password_is_printed() {
    let link = Link::new("https://me:pass@cdn.example/a.zip?X-Amz-Signature=abc#frag");
    assert_eq!(
        format!("{link} {link:?}"),
        "https://cdn.example/a.zip Link(https://cdn.example/a.zip)"
    );
    assert!(link.expose().contains("Signature"));
}

#[test]
fn a_copied_link_is_percent_encoded_and_one_line() {
    let encoded = |url: &str| Link::new(url).encoded();
    let signed = "https://cdn.example/a.jpg?X-Amz-Signature=a%2Fb&x=1";
    assert_eq!(encoded(signed).as_deref(), Some(signed));
    assert_eq!(encoded("/api/v1/a b.jpg").as_deref(), Some("/api/v1/a%20b.jpg"));
    assert_eq!(
        encoded("http://a.example/\u{202e}é`x`").as_deref(),
        Some("http://a.example/%E2%80%AE%C3%A9%60x%60")
    );
    let invalid =
        ["https://a.example/x\nreboot\n", "https://a\r", "https://a\u{1b}[2J", "https://a\u{9b}2J"];
    for url in
        invalid.into_iter().chain(["", "https://", "file:///etc/passwd", "javascript:x", "reboot"])
    {
        assert_eq!(encoded(url), None, "{url:?}");
    }
}

#[test]
fn a_resource_is_the_same_whatever_its_signature_is() {
    for (url, resource) in [
        ("https://cdn.example/a.zip?X-Amz-Signature=abc#frag", "https://cdn.example/a.zip"),
        ("https://cdn.example/a.zip#part?x", "https://cdn.example/a.zip"),
        ("/api/v1/media/1", "/api/v1/media/1"),
        ("?x", ""),
    ] {
        assert_eq!((Link::new(url).resource(), Link::new(url).expose()), (resource, url));
    }
}

#[test]
fn a_printed_link_keeps_an_at_sign_that_is_not_of_a_login() {
    for (url, shown) in [
        ("/media/me@home.jpg?x=1", "/media/me@home.jpg"),
        ("s3://bucket/icon@2x.png", "s3://bucket/icon@2x.png"),
        ("https://me:pass@cdn.example/icon@2x.png", "https://cdn.example/icon@2x.png"),
        ("https://me:p@ss@cdn.example", "https://cdn.example"),
        ("https://a.example/\u{1b}[2J", "https://a.example/␛[2J"),
    ] {
        assert_eq!(Link::new(url).to_string(), shown);
    }
}

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
