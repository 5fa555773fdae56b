//! A preview: what a page of clusters shows of a media item, which is a picture, an object in a picture, or a frame of
//! a video. [`PreviewBody`] is what the service sends and what commands print; the readers in this file accept every
//! observed shape.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fmt::Write as _,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

use percent_encoding::percent_decode_str;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::{
    export::column,
    fields::{Fields, as_received, count, first_text, names, number, required, text},
    vql::write_scalar,
};
use tessera_model::{
    FileFacts, Link, MediaId, Preview, Region, Relevance, SafeText, ScoreKind, VideoFrame,
    tag::MAX_RATING, vql::ColumnValue,
};

/// A preview.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PreviewBody {
    /// `IMAGE`, `VIDEO` (a frame of a video) or `OBJECT`.
    #[schema(value_type = String)]
    pub r#type: Cow<'static, str>,
    /// Media identifier.
    #[schema(value_type = Uuid)]
    pub media_id: MediaId,
    /// The same identifier, which lenient services send.
    #[schema(value_type = Option<Uuid>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_id: Option<MediaId>,
    /// The same URL as `media_uri`, which lenient services send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_uri: Option<String>,
    /// URL of the original.
    #[schema(value_type = String)]
    pub media_uri: Option<String>,
    /// URL of the thumbnail.
    #[schema(value_type = String)]
    pub media_thumb_uri: Option<String>,
    /// Caption.
    pub caption: Option<String>,
    /// File name, raw.
    pub file_name: String,
    /// Path of the original file in the dataset, raw. For a frame, the path of its video.
    #[schema(value_type = String)]
    pub original_uri: Option<String>,
    /// Absolute path of the file that is or contains the original, which only a service in the process of its client
    /// sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_path: Option<String>,
    /// URL of the video from which a frame was taken; empty for a picture.
    #[schema(value_type = String)]
    pub video_uri: Option<String>,
    /// Position of a frame in its video, in seconds; null for a picture.
    pub frame_timestamp: Option<f64>,
    /// Part of the picture, in fractions of its size.
    pub bounding_box: Option<BoundingBoxBody>,
    /// Score, or null if the search does not rank.
    pub relevance_score: Option<f64>,
    /// What the score measures.
    #[schema(value_type = Option<String>)]
    pub relevance_score_type: Option<Cow<'static, str>>,
    /// `name` if the words of the folder and file name found the media item, and not its caption or picture. Only a
    /// local service sends this.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_by: Option<Cow<'static, str>>,
    /// Labels of the media item, which only a local service sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// Tags of the media item, which only a local service sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_tags: Option<Vec<String>>,
    /// Rating of the media item, 1 to 5, which only a local service sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<u8>,
    /// Width in pixels.
    #[schema(value_type = u32)]
    pub width: Option<u32>,
    /// Height in pixels.
    #[schema(value_type = u32)]
    pub height: Option<u32>,
    /// Size of the file in bytes, which only a local service sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Day on which the picture was taken, or else on which its file was changed, such as `2024-05-17`. Only a local
    /// service sends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Camera that took the picture, which only a local service sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<String>,
    /// Columns of the user's own, by name: texts, numbers and flags. Only a local service sends them.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub columns: Map<String, Value>,
}

/// The value of `matched_by` for a media item that its folder or file name found.
pub const BY_NAME: &str = "name";

/// Returns the value of `matched_by`.
pub(crate) fn matched_by(relevance: &Relevance) -> Option<Cow<'static, str>> {
    relevance.by_name.then_some(Cow::Borrowed(BY_NAME))
}

/// A bounding box in fractions of the image, with the field names of the API.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct BoundingBoxBody {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// The response of `GET image/{media_id}`: a preview with labels and tags, for public clients.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ImageBody {
    /// Media identifier.
    #[schema(value_type = Uuid)]
    pub image_id: MediaId,
    /// The same identifier.
    #[schema(value_type = Uuid)]
    pub media_id: MediaId,
    /// URL of the original.
    #[schema(value_type = String)]
    pub image_uri: Option<String>,
    /// URL of the thumbnail.
    #[schema(value_type = String)]
    pub media_thumb_uri: Option<String>,
    /// File name, raw.
    pub file_name: String,
    /// Caption.
    pub caption: Option<String>,
    /// Labels.
    pub labels: Vec<String>,
    /// User tags, by name.
    pub user_tags: Vec<String>,
    /// Width in pixels.
    #[schema(value_type = u32)]
    pub width: Option<u32>,
    /// Height in pixels.
    #[schema(value_type = u32)]
    pub height: Option<u32>,
}

/// The form of the links that a client writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkForm {
    /// Whole links, which programs can open.
    Signed,
    /// Links without their signatures.
    Unsigned,
    /// URIs of files of this machine, because the service of the links ends together with the client.
    Files,
}

impl LinkForm {
    /// Writes the link to `target`, which is in `file` if it is in a file of this machine.
    fn write(self, target: Option<&Link>, file: Option<&Path>) -> Option<String> {
        match self {
            Self::Signed => target.map(|link| link.expose().to_owned()),
            Self::Unsigned => target.map(ToString::to_string),
            Self::Files => file.map(file_uri),
        }
    }
}

/// Returns the `file` URI of an absolute path.
pub fn file_uri(path: &Path) -> String {
    let mut uri = "file://".to_owned();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

/// Splits a `file` URI into its host, which may be missing or empty, and its path (RFC 8089). Other text gives `None`.
pub fn split_file_uri(uri: &str) -> Option<(&str, String)> {
    let (scheme, address) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let rest = address.strip_prefix("//").or(address.starts_with('/').then_some(address))?;
    let (host, path) = rest.split_at(rest.find('/')?);
    Some((host, percent_decode_str(path).decode_utf8_lossy().into_owned()))
}

impl PreviewBody {
    /// Writes the preview as far as a client has read it. Only the form [`LinkForm::Files`] contains paths.
    pub fn new(preview: &Preview, links: LinkForm) -> Self {
        let frame = preview.frame.as_ref();
        let path = preview.original_path.as_deref().filter(|_| links == LinkForm::Files);
        let video = frame.and(path);
        let relevance = preview.relevance.as_ref();
        let (width, height) = preview.dimensions.unzip();
        Self {
            r#type: preview.kind.to_string().into(),
            media_id: preview.media,
            image_id: None,
            image_uri: None,
            media_uri: links.write(preview.original.as_ref(), preview.original_file()),
            media_thumb_uri: links.write(preview.thumbnail.as_ref(), None),
            caption: preview.caption.as_ref().map(as_received),
            file_name: as_received(&preview.file_name),
            original_uri: preview.original_uri.as_ref().map(as_received),
            original_path: path.and_then(Path::to_str).map(str::to_owned),
            video_uri: links.write(frame.and_then(|frame| frame.link.as_ref()), video),
            frame_timestamp: frame.and_then(|frame| frame.seconds),
            bounding_box: preview.region.map(BoundingBoxBody::new),
            relevance_score: relevance.map(|relevance| relevance.score),
            relevance_score_type: relevance.map(score_type),
            matched_by: relevance.and_then(matched_by),
            labels: (!preview.labels.is_empty())
                .then(|| preview.labels.iter().map(as_received).collect()),
            user_tags: (!preview.tags.is_empty())
                .then(|| preview.tags.iter().map(as_received).collect()),
            rating: (preview.rating > 0).then_some(preview.rating),
            width,
            height,
            bytes: preview.file.bytes,
            date: preview.file.date.as_ref().map(as_received),
            camera: preview.file.camera.as_ref().map(as_received),
            columns: write_columns(
                preview.extra_columns.iter().map(|(name, value)| (name.received(), value)),
            ),
        }
    }
}

/// Writes columns of the user's own.
pub fn write_columns<'a>(
    columns: impl IntoIterator<Item = (&'a str, &'a ColumnValue)>,
) -> Map<String, Value> {
    columns.into_iter().map(|(name, value)| (name.to_owned(), write_scalar(value))).collect()
}

/// Reads columns of the user's own, with sanitized names. Texts stay as they were received.
fn read_columns(columns: &Value) -> Option<BTreeMap<SafeText, ColumnValue>> {
    let column = |(name, value): (&String, &Value)| {
        Some((SafeText::name(name), serde_json::from_value(value.clone()).ok()?))
    };
    columns.as_object()?.iter().map(column).collect()
}

impl ImageBody {
    pub fn new(preview: PreviewBody, labels: Vec<String>, user_tags: Vec<String>) -> Self {
        Self {
            image_id: preview.media_id,
            media_id: preview.media_id,
            image_uri: preview.media_uri,
            media_thumb_uri: preview.media_thumb_uri,
            file_name: preview.file_name,
            caption: preview.caption,
            labels,
            user_tags,
            width: preview.width,
            height: preview.height,
        }
    }
}

impl BoundingBoxBody {
    /// Rounds a region to six decimals, in such a way that it stays inside the image.
    pub fn new(region: Region) -> Self {
        const STEPS: f64 = 1e6;
        let span = |start: f64, length: f64| {
            let from = (start * STEPS).round().min(STEPS - 1.0);
            let to = ((start + length) * STEPS).round().clamp(from + 1.0, STEPS);
            (from / STEPS, (to - from) / STEPS)
        };
        let (x, width) = span(region.x, region.width);
        let (y, height) = span(region.y, region.height);
        Self { x, y, width, height }
    }
}

/// Writes a bounding box as the JSON text of a query, without exponents.
pub fn write_region(region: Region) -> String {
    let BoundingBoxBody { x, y, width, height } = BoundingBoxBody::new(region);
    format!(r#"{{"x":{x},"y":{y},"width":{width},"height":{height}}}"#)
}

/// The JSON schema of a bounding box that a client sends.
pub fn region_schema() -> Value {
    let fraction = json!({"type": "number", "minimum": 0.0, "maximum": 1.0});
    let side = json!({"type": "number", "exclusiveMinimum": 0.0, "maximum": 1.0});
    json!({
        "type": "object",
        "description": "Part of an image, in fractions of it",
        "required": ["x", "y", "width", "height"],
        "properties": {"x": fraction, "y": fraction, "width": side, "height": side},
    })
}

/// Writes what a score measures.
pub(crate) fn score_type(relevance: &Relevance) -> Cow<'static, str> {
    match &relevance.kind {
        ScoreKind::CosineDistance => ScoreKind::COSINE_DISTANCE.into(),
        ScoreKind::Other(kind) => kind.to_string().into(),
    }
}

/// Reads a preview. Returns `None` if it has no usable identifier.
pub(crate) fn read_preview(value: Fields<'_>) -> Option<Preview> {
    let media = required(value, &["media_id", "image_id"])?;
    let link = |keys: &[&str]| first_text(value, keys).map(Link::new);
    let side = |key| count(value, key).and_then(|side| u32::try_from(side).ok());
    Some(Preview {
        media,
        kind: SafeText::name(&text(value, "type").unwrap_or_default()),
        original: link(&["media_uri", "image_uri"]),
        thumbnail: link(&["media_thumb_uri", "media_uri", "image_uri"]),
        caption: first_text(value, &["caption"]).map(|raw| SafeText::caption(&raw)),
        file_name: SafeText::file_name(&text(value, "file_name").unwrap_or_default()),
        original_uri: read_original_uri(value),
        original_path: first_text(value, &["original_path"])
            .map(PathBuf::from)
            .filter(|path| path.is_absolute()),
        frame: read_frame(value),
        region: value.read("bounding_box", read_region),
        relevance: read_relevance(value),
        labels: names(value, "labels", SafeText::MAX_NAME),
        tags: names(value, "user_tags", SafeText::MAX_NAME),
        rating: count(value, "rating")
            .and_then(|rating| u8::try_from(rating).ok())
            .filter(|rating| *rating <= MAX_RATING)
            .unwrap_or_default(),
        dimensions: side("width").zip(side("height")),
        file: FileFacts {
            bytes: count(value, "bytes"),
            date: first_text(value, &["date"]).map(|date| SafeText::name(&date)),
            camera: first_text(value, &["camera"]).map(|camera| SafeText::name(&camera)),
        },
        extra_columns: value.read("columns", read_columns).unwrap_or_default(),
    })
}

/// Reads a score and what it measures. Returns `None` if there is no score.
pub(crate) fn read_relevance(value: Fields<'_>) -> Option<Relevance> {
    let score = number(value, "relevance_score")?;
    let kind = match text(value, "relevance_score_type") {
        Some(kind) if kind.eq_ignore_ascii_case(ScoreKind::COSINE_DISTANCE) => {
            ScoreKind::CosineDistance
        }
        kind => ScoreKind::Other(SafeText::name(&kind.unwrap_or_default())),
    };
    let by_name = text(value, "matched_by").as_deref() == Some(BY_NAME);
    Some(Relevance { score, kind, by_name })
}

/// Reads a bounding box: an object, an array of four numbers, or either of these as JSON text.
pub fn read_region(value: &Value) -> Option<Region> {
    match value {
        Value::Object(_) => {
            let side = |key| number(value, key);
            Region::new(side("x")?, side("y")?, side("width")?, side("height")?)
        }
        Value::Array(sides) => {
            let sides: Option<Vec<f64>> = sides.iter().map(Value::as_f64).collect();
            let [x, y, width, height] = sides?.try_into().ok()?;
            Region::new(x, y, width, height)
        }
        // Only one level of text is unpacked: text inside text is not a bounding box.
        Value::String(raw) => serde_json::from_str(raw)
            .ok()
            .filter(|inner: &Value| !inner.is_string())
            .and_then(|inner| read_region(&inner)),
        _ => None,
    }
}

/// Reads the position of a preview in a video. Returns `None` if the preview is not a frame.
pub fn read_frame(preview: Fields<'_>) -> Option<VideoFrame> {
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

/// Reads the path or URI of the original. A URI loses its query, which may contain a signature.
pub(crate) fn read_original_uri(preview: Fields<'_>) -> Option<SafeText> {
    let raw = first_text(preview, &["original_uri"])?;
    let is_url = raw.contains("://");
    Some(SafeText::file_name(&if is_url { Link::new(raw).to_string() } else { raw }))
}

/// Reads the video and the time from a row of metadata that describes a frame. Both are in columns or in `video_info`.
pub fn read_row_frame(row: &Value) -> Option<VideoFrame> {
    let items = row.get(column::METADATA_ITEMS).and_then(Value::as_array);
    let info = items.into_iter().flatten().find(|item| item["type"] == "video_info");
    // The fields are in `properties`, or in the item itself.
    let info = info.map_or(row, |item| item.get("properties").unwrap_or(item));
    let name = first_text(info, &[column::VIDEO_NAME, "video_id"]);
    let time = || {
        seconds(info.into(), column::FRAME_TIMESTAMP).or_else(|| seconds(info.into(), "timestamp"))
    };
    if name.is_none() && !is_frame_type(row.into(), column::MEDIA_TYPE) {
        return None;
    }
    let path = first_text(row, &[column::FILE_PATH]);
    let is_video = |folder: &&str| name.as_ref().is_some_and(|name| folder.ends_with(name));
    let folder = path.as_deref().and_then(|path| Some(path.rsplit_once('/')?.0)).filter(is_video);
    let video = folder
        .map(ToOwned::to_owned)
        .or_else(|| video_path(&path?, first_text(row, &[column::FILE_NAME]).as_deref()))
        .or(name)
        .unwrap_or_default();
    Some(VideoFrame { video: SafeText::file_name(&video), seconds: time(), link: None })
}

/// Returns the path of the video from the path of a frame, which may look as if the frame were in a folder named like
/// the video.
fn video_path(path: &str, frame_name: Option<&str>) -> Option<String> {
    let name = frame_name.unwrap_or_default();
    let video = path.strip_suffix(name).filter(|_| !name.is_empty()).unwrap_or(path);
    let video = video.trim_end_matches('/');
    (!video.is_empty()).then(|| video.to_owned())
}

fn is_frame_type(object: Fields<'_>, key: &str) -> bool {
    let kind = text(object, key).unwrap_or_default();
    ["VIDEO", "VIDEO_FRAME"].iter().any(|frame| kind.eq_ignore_ascii_case(frame))
}

fn seconds(object: Fields<'_>, key: &str) -> Option<f64> {
    object.read(key, as_seconds).filter(|seconds| *seconds >= 0.0)
}

/// Reads a time in seconds: a number, or text such as `7.5` or `00:00:07.500`.
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
