use serde_json::{Value, json};
use tessera_model::{Preview, SafeText};
use tessera_wire::{
    explore::{ClusterBody, read_page},
    fields::Fields,
    preview::{LinkForm, PreviewBody, read_row_frame},
};

/// A page with a cluster of two frames, in the shape of recorded pages.
fn recorded() -> Value {
    let preview = |number: u32, seconds: &Value| {
        json!({"type": "IMAGES", "media_id": format!("31ae21e5-0000-46f6-85a3-{number:012}"),
            "media_uri": format!("https://cdn.example/ds/{number}.jpg"), "caption": null,
            "file_name": format!("output_{number:06}.jpg"), "original_uri": "clips/clip.mp4",
            "video_uri": "https://cdn.example/ds/clip.mp4?signature=secret",
            "frame_timestamp": seconds})
    };
    json!({"clusters": [{"cluster_id": "9a205a5e-0000-46be-83a3-000000000001", "type": "IMAGES",
        "n_images": -1, "n_objects": -1, "n_videos": 3, "n_frames": 12,
        "previews": [preview(1, &json!(0.0)), preview(2, &json!("7.5"))]}]})
}

fn first_preview(fields: &Value) -> Preview {
    let mut page = recorded();
    let preview = page["clusters"][0]["previews"][0].as_object_mut().unwrap();
    preview.extend(fields.as_object().unwrap().clone());
    read_page(Fields::from(&page)).unwrap().clusters.remove(0).previews.remove(0)
}

#[test]
fn frames_are_read_with_their_video_and_time() {
    let cluster = read_page(Fields::from(&recorded())).unwrap().clusters.remove(0);
    assert_eq!((cluster.n_images, cluster.n_videos, cluster.n_frames), (None, Some(3), Some(12)));
    assert_eq!(cluster.size(), Some(12));
    let titles: Vec<String> = cluster.previews.iter().map(|it| it.title().to_string()).collect();
    assert_eq!(titles, ["00:00 clip.mp4", "00:07.5 clip.mp4"]);
    let frame = cluster.previews[1].frame.as_ref().unwrap();
    assert_eq!((frame.video.as_str(), frame.seconds), ("clips/clip.mp4", Some(7.5)));
}

#[test]
fn frames_are_written_as_they_were_read() {
    let cluster = read_page(Fields::from(&recorded())).unwrap().clusters.remove(0);
    let written = json!(ClusterBody::new(&cluster, LinkForm::Signed));
    assert_eq!((&written["n_videos"], &written["n_frames"]), (&json!(3), &json!(12)));
    let again =
        read_page(Fields::from(&json!({"clusters": [written]}))).unwrap().clusters.remove(0);
    assert_eq!(again, cluster);
    // What is printed and copied contains no signature.
    let shown = json!(PreviewBody::new(&cluster.previews[0], LinkForm::Unsigned));
    assert_eq!(shown["video_uri"], "https://cdn.example/ds/clip.mp4");
}

#[test]
fn the_name_of_the_video_is_found_wherever_it_is_sent() {
    for (fields, video) in [
        (json!({"original_uri": "a/clip.mp4/output_000001.jpg"}), "a/clip.mp4"),
        (json!({"original_uri": "s3://bucket/clip.mp4?key=secret"}), "s3://bucket/clip.mp4"),
        (json!({"original_uri": null}), "https://cdn.example/ds/clip.mp4"),
        (json!({"original_uri": "output_000001.jpg"}), "https://cdn.example/ds/clip.mp4"),
        (json!({"original_uri": 7, "video_uri": ""}), "7"),
        (json!({"original_uri": {}, "video_uri": []}), "output_000001.jpg"),
    ] {
        assert_eq!(first_preview(&fields).frame.unwrap().video.as_str(), video, "{fields}");
    }
}

#[test]
fn a_picture_is_not_a_frame() {
    let fields = json!({"original_uri": "a.jpg", "video_uri": "", "frame_timestamp": null});
    let picture = first_preview(&fields);
    assert_eq!((picture.frame.as_ref(), picture.title().as_str()), (None, "output_000001.jpg"));
    assert_eq!(picture.original_uri.unwrap().as_str(), "a.jpg");
    let video = first_preview(&json!({"type": "VIDEO", "video_uri": "", "frame_timestamp": -1}));
    assert_eq!(video.frame.unwrap().seconds, None);
}

#[test]
fn rows_of_metadata_are_frames_in_every_recorded_form() {
    let info = |properties: Value| json!([{"type": "video_info", "properties": properties}]);
    for (row, video, seconds) in [
        (
            json!({"media_type": "video_frame", "file_name": "output_000001.jpg",
                "file_path": "clip.mp4/output_000001.jpg", "metadata_items":
                info(json!({"video_name": "clip.mp4", "frame_timestamp": 2.5}))}),
            "clip.mp4",
            Some(2.5),
        ),
        (
            json!({"metadata_items": info(json!({"frame_number": 17, "video_id": "v1",
                "timestamp": "00:01:00.567"}))}),
            "v1",
            Some(60.567),
        ),
        (
            json!({"metadata_items": [{"type": "video_info", "video_name": "clip.mp4"}]}),
            "clip.mp4",
            None,
        ),
        (json!({"video_name": "clip.mp4", "frame_timestamp": 4}), "clip.mp4", Some(4.0)),
        (json!({"media_type": "video_frame", "file_path": "b.mp4/x.jpg"}), "b.mp4/x.jpg", None),
    ] {
        let frame = read_row_frame(&row).unwrap();
        assert_eq!((frame.video.as_str(), frame.seconds), (video, seconds), "{row}");
    }
    for row in [json!({"media_type": "image", "file_path": "a.jpg"}), json!({}), json!(null)] {
        assert_eq!(read_row_frame(&row), None, "{row}");
    }
}

#[test]
fn times_in_a_video_are_seconds_or_a_clock() {
    for (sent, seconds) in [
        (json!(0), Some(0.0)),
        (json!(7.5), Some(7.5)),
        (json!("7.5"), Some(7.5)),
        (json!("01:30"), Some(90.0)),
        (json!("1:01:01.5"), Some(3_661.5)),
        (json!(" 0 : 05 "), Some(5.0)),
        (json!(-1), None),
        (json!("-5"), None),
        (json!("1:xx"), None),
        (json!("inf"), None),
        (json!(""), None),
        (json!(true), None),
    ] {
        let frame = first_preview(&json!({ "frame_timestamp": sent })).frame.unwrap();
        assert_eq!(frame.seconds, seconds, "{sent}");
    }
}

#[test]
fn a_time_a_link_or_the_type_makes_a_preview_a_frame() {
    for (kind, time, link, is_frame) in [
        ("IMAGE", json!(null), "", false),
        ("IMAGE", json!(0), "", true),
        ("IMAGE", json!(null), "/clip.mp4", true),
        ("VIDEO", json!(null), "", true),
        ("video_frame", json!(null), "", true),
        ("VIDEOS", json!(null), "", false),
    ] {
        let fields = json!({"type": kind, "frame_timestamp": time, "video_uri": link});
        assert_eq!(first_preview(&fields).frame.is_some(), is_frame, "{fields}");
    }
}

#[test]
fn an_original_is_shown_by_its_path_or_its_address_without_a_query() {
    for (sent, shown) in [
        (json!("a/b.jpg"), Some("a/b.jpg")),
        (json!("what is it?.jpg"), Some("what is it?.jpg")),
        (json!("s3://bucket/icon@2x.png?X-Amz-Signature=abc"), Some("s3://bucket/icon@2x.png")),
        (json!(""), None),
        (json!(null), None),
    ] {
        let fields = json!({"original_uri": sent, "video_uri": "", "frame_timestamp": null});
        let original = first_preview(&fields).original_uri;
        assert_eq!(original.as_ref().map(SafeText::as_str), shown, "{sent}");
    }
}

#[test]
fn a_row_is_a_frame_by_its_type_or_the_name_of_its_video() {
    let other = json!([{"type": "caption", "properties": {"video_name": "x.mp4"}}]);
    for (row, video) in [
        (json!({"media_type": "VIDEO", "file_path": "a/clip.mp4"}), Some("a/clip.mp4")),
        (json!({"video_id": "v1", "file_path": "v1/f.jpg", "file_name": "f.jpg"}), Some("v1")),
        (
            json!({"video_name": "clip.mp4", "file_path": "f.jpg", "file_name": "f.jpg"}),
            Some("clip.mp4"),
        ),
        (json!({"media_type": "video_frame"}), Some("")),
        (json!({"media_type": "image", "video_name": ""}), None),
        (json!({"media_type": "image", "metadata_items": other}), None),
    ] {
        let frame = read_row_frame(&row);
        assert_eq!(frame.as_ref().map(|frame| frame.video.as_str()), video, "{row}");
    }
}
