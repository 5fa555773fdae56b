//! `metadata.json`: `info` and `media_items`, in the format of hosted services.

use std::{collections::HashSet, io::Write};

use serde_json::{Value, json};

use super::{
    ArchiveContent,
    metadata_row::{MetadataRow, for_each_row, issue_list, uniqueness},
};
use crate::task_error::TaskError;
use tessera_store::{
    export::ExportEntry,
    media::{MediaKind, MediaRecord},
    now_micros,
};
use tessera_wire::fields::format_iso8601;

pub fn write(
    content: &ArchiveContent,
    out: &mut impl Write,
    missing: &HashSet<i64>,
) -> Result<(), TaskError> {
    let dataset = content.dataset;
    let info = json!({
        "schema_version": "1.1",
        "dataset": dataset.name,
        "description": format!("Exported from {}", dataset.name),
        "dataset_url": format!("{}/api/v1/dataset/{}", content.export.origin, dataset.id),
        "export_time": format_iso8601(now_micros()),
        "dataset_creation_time": format_iso8601(dataset.created_at),
        "exported_by": "tessera",
        "total_media_items": content.export.media_count,
    });
    write!(out, "{{\"info\":{info},\"media_items\":[").map_err(TaskError::archive)?;
    let mut separator = "\n";
    for_each_row(content, missing, |item| {
        write!(out, "{separator}{}", media_item(&item)).map_err(TaskError::archive)?;
        separator = ",\n";
        Ok(())
    })?;
    out.write_all(b"\n]}\n").map_err(TaskError::archive)
}

fn media_item(item: &MetadataRow) -> Value {
    let media = &item.entry.media;
    let mut value = json!({
        "media_id": media.id.to_string(),
        "media_type": media_type(media.kind),
        "image_filename": item.image,
        "file_name": media.file_name(),
        "file_path": media.file_path(),
        "file_size": format_size(item.entry.size),
        "uniqueness_score": uniqueness(&item.entry),
        "height": media.height,
        "width": media.width,
        "url": item.url,
        "cluster_id": item.entry.cluster.map(|id| id.to_string()),
        "metadata_items": metadata_items(item),
    });
    if let Some(confidence) = item.entry.confidence {
        value["search_confidence"] = json!(confidence);
    }
    value
}

/// The media type as spelled by hosted services.
pub(super) fn media_type(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "image",
        MediaKind::Frame => "video_frame",
        MediaKind::Object => "object",
    }
}

/// The name of the video that a frame is from, and its time in seconds.
pub(super) fn video_info(media: &MediaRecord) -> Option<(String, f64)> {
    let name = media.path.file_name().unwrap_or_default();
    media.frame.map(|frame| (name.to_string_lossy().into_owned(), frame.seconds))
}

fn metadata_items(item: &MetadataRow) -> Vec<Value> {
    let media = &item.entry.media;
    let mut items: Vec<Value> = issue_items(&item.entry).collect();
    // Others are by the author of the sidecars.
    let label = |name: &String| {
        let source = if media.labels.contains(name) { "User" } else { "Model" };
        json!({"original_id": -1, "category_name": name, "source": source})
    };
    items.extend(media.all_labels().map(|name| typed("image_label", &label(name))));
    items.extend(item.objects.iter().map(|object| object_label(object, &item.url)));
    items.extend(media.caption.iter().map(|text| typed("caption", &json!({"caption": text}))));
    items.extend(media.tags.iter().map(|tag| typed("user_tag", &json!({"tag_name": tag}))));
    if let Some((name, seconds)) = video_info(media) {
        let properties = json!({"video_name": name, "frame_timestamp": seconds});
        items.push(typed("video_info", &properties));
    }
    items
}

fn typed(kind: &str, properties: &Value) -> Value {
    json!({"type": kind, "properties": properties})
}

/// The bounding box is in pixels: left, top, width, height.
pub(super) fn object_label(object: &ExportEntry, url: &str) -> Value {
    let media = &object.media;
    let (width, height) = (f64::from(media.width), f64::from(media.height));
    let bbox = media.region.map(|region| {
        [region.x * width, region.y * height, region.width * width, region.height * height]
            .map(f64::round)
    });
    let properties = json!({
        "original_id": -1,
        "category_name": media.labels.first(),
        "source": "User",
        "bbox": bbox,
        "uniqueness_score": uniqueness(object),
        "url": format!("{url}&object_id={}", media.id),
        "metadata_items": issue_items(object).collect::<Vec<_>>(),
    });
    typed("object_label", &properties)
}

fn issue_items(entry: &ExportEntry) -> impl Iterator<Item = Value> {
    issue_list(entry).into_iter().map(|(issue, confidence)| {
        let mut properties = json!({"issue_type": issue, "confidence": confidence});
        if issue == "duplicates" {
            properties["duplicate_group_id"] =
                json!(entry.near_duplicate_cluster.map(|id| id.to_string()));
        }
        typed("issue", &properties)
    })
}

/// A size as hosted services format it: `48.27KB`.
#[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
fn format_size(bytes: u64) -> String {
    let units = ["B", "KB", "MB", "GB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes}B") } else { format!("{size:.2}{}", units[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_formatted_as_the_hosted_service_does() {
        let sizes = [0, 1023, 49_428, 5 << 20, 3 << 40].map(format_size);
        assert_eq!(sizes, ["0B", "1023B", "48.27KB", "5.00MB", "3072.00GB"]);
    }
}
