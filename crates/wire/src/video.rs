//! Frames of videos: in previews, and in the rows of an archive's metadata.

use serde_json::Value;

use crate::{
    fields::Fields,
    lenient::{first_text, text},
};
use tessera_model::{Link, SafeText, VideoFrame};

/// Reads where a preview is in a video. `None` if it is not a frame of one.
pub fn read_frame<'a>(preview: impl Into<Fields<'a>>) -> Option<VideoFrame> {
    let preview = preview.into();
    let seconds = seconds(preview, "frame_timestamp");
    let link = first_text(preview, &["video_uri"]).map(Link::new);
    if seconds.is_none() && link.is_none() && !is_frame_type(preview, "type") {
        return None;
    }
    let video = read_original_uri(preview)
        .and_then(|path| video_path(path.as_str(), first_text(preview, &["file_name"]).as_deref()))
        .or_else(|| link.as_ref().map(ToString::to_string))
        .or_else(|| first_text(preview, &["file_name"]))
        .unwrap_or_default();
    Some(VideoFrame { video: SafeText::file_name(&video), seconds, link })
}

/// Reads the path or URI of the original; of a URI, without the query, which may contain a signature.
pub fn read_original_uri<'a>(preview: impl Into<Fields<'a>>) -> Option<SafeText> {
    let raw = first_text(preview, &["original_uri"])?;
    let is_url = raw.contains("://");
    Some(SafeText::file_name(&if is_url { Link::new(raw).to_string() } else { raw }))
}

/// Reads the video and time of a row of metadata that is a frame: from its columns, or from its
/// `video_info`.
pub fn read_row_frame(row: &Value) -> Option<VideoFrame> {
    let items = row.get("metadata_items").and_then(Value::as_array);
    let info = items.into_iter().flatten().find(|item| item["type"] == "video_info");
    // The fields are in `properties`, or in the item itself.
    let info = info.map_or(row, |item| item.get("properties").unwrap_or(item));
    let name = first_text(info, &["video_name", "video_id"]);
    let time = || seconds(info, "frame_timestamp").or_else(|| seconds(info, "timestamp"));
    if name.is_none() && !is_frame_type(row, "media_type") {
        return None;
    }
    let video = first_text(row, &["file_path"])
        .and_then(|path| video_path(&path, first_text(row, &["file_name"]).as_deref()))
        .or(name)
        .unwrap_or_default();
    Some(VideoFrame { video: SafeText::file_name(&video), seconds: time(), link: None })
}

/// The path of the video in the path of a frame, which may be as if in a folder of its name.
fn video_path(path: &str, frame_name: Option<&str>) -> Option<String> {
    let name = frame_name.unwrap_or_default();
    let video = path.strip_suffix(name).filter(|_| !name.is_empty()).unwrap_or(path);
    let video = video.trim_end_matches('/');
    (!video.is_empty()).then(|| video.to_owned())
}

fn is_frame_type<'a>(object: impl Into<Fields<'a>>, key: &str) -> bool {
    let kind = text(object, key).unwrap_or_default();
    ["VIDEO", "VIDEO_FRAME"].iter().any(|frame| kind.eq_ignore_ascii_case(frame))
}

fn seconds<'a>(object: impl Into<Fields<'a>>, key: &str) -> Option<f64> {
    object.into().read(key, as_seconds).filter(|seconds| *seconds >= 0.0)
}

/// A time in seconds: a number, or text such as `7.5` or `00:00:07.500`.
fn as_seconds(value: &Value) -> Option<f64> {
    let seconds = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => {
            let parts: Option<Vec<f64>> =
                text.split(':').map(|part| part.trim().parse().ok()).collect();
            parts?.into_iter().fold(0.0, |seconds, part| seconds * 60.0 + part)
        }
        _ => return None,
    };
    seconds.is_finite().then_some(seconds)
}
