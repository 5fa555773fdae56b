//! Writes `metadata.json` in the format of hosted services, with one media item per line.

use std::io::Write;

use serde_json::{Value, json};

use super::{
    MissingPictures,
    metadata::{
        ArchiveContent, MetadataRow, bounding_box, dataset_url, for_each_row, issue_list,
        media_type, uniqueness, video_info,
    },
};
use crate::task_error::TaskError;
use tessera_store::{export::ExportEntry, media::MediaRecord, now_micros};
use tessera_wire::{export::column, fields::format_iso8601, preview::write_columns};

pub(super) fn write_json(
    content: &ArchiveContent,
    out: &mut impl Write,
    missing: &MissingPictures,
) -> Result<(), TaskError> {
    let dataset = content.dataset;
    let info = json!({
        "schema_version": "1.1",
        "dataset": dataset.name,
        "description": format!("Exported from {}", dataset.name),
        "dataset_url": dataset_url(content),
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
        column::MEDIA_ID: media.id.to_string(),
        column::MEDIA_TYPE: media_type(media.kind),
        column::IMAGE_FILENAME: item.image,
        column::FILE_NAME: media.file_name(),
        column::FILE_PATH: media.file_path(),
        column::FILE_SIZE: format_size(item.entry.size),
        column::UNIQUENESS_SCORE: uniqueness(&item.entry),
        column::HEIGHT: media.height,
        column::WIDTH: media.width,
        column::USER_RATING: media.rating(),
        column::URL: item.url,
        column::CLUSTER_ID: item.entry.cluster.map(|id| id.to_string()),
        column::METADATA_ITEMS: metadata_items(item),
    });
    if !media.extra_columns.is_empty() {
        let columns = media.extra_columns.iter().map(|(name, value)| (name.as_str(), value));
        value["columns"] = write_columns(columns).into();
    }
    if let Some(confidence) = item.entry.confidence {
        value[column::SEARCH_CONFIDENCE] = json!(confidence);
    }
    value
}

fn metadata_items(item: &MetadataRow) -> Vec<Value> {
    let media = &item.entry.media;
    let mut items: Vec<Value> = issue_items(&item.entry).collect();
    // Labels that no model gave come from the dataset's sidecars.
    let label = |name: &String| {
        let source = if media.labels.contains(name) { "User" } else { "Model" };
        json!({"original_id": -1, "category_name": name, "source": source})
    };
    items.extend(media.all_labels().map(|name| typed("image_label", &label(name))));
    items.extend(item.objects.iter().map(|object| object_label(object, item.url.as_deref())));
    items.extend(media.caption.iter().map(|text| typed("caption", &json!({"caption": text}))));
    items.extend(tag_items(media));
    if let Some((name, seconds)) = video_info(media) {
        let properties = json!({ column::VIDEO_NAME: name, column::FRAME_TIMESTAMP: seconds });
        items.push(typed("video_info", &properties));
    }
    items
}

fn typed(kind: &str, properties: &Value) -> Value {
    json!({"type": kind, "properties": properties})
}

/// Writes an object. Its bounding box is in pixels: left, top, width, height.
fn object_label(object: &ExportEntry, url: Option<&str>) -> Value {
    let media = &object.media;
    // The URI of a file has no query.
    let url = url.map(|url| {
        let separator = if url.contains('?') { '&' } else { '#' };
        format!("{url}{separator}object_id={}", media.id)
    });
    let items: Vec<Value> = issue_items(object).chain(tag_items(media)).collect();
    let mut properties = json!({
        "original_id": -1,
        "category_name": media.labels.first(),
        "source": "User",
        "bbox": bounding_box(media),
        "uniqueness_score": uniqueness(object),
        "url": url,
        column::METADATA_ITEMS: items,
    });
    if let Some(rating) = media.rating() {
        properties[column::USER_RATING] = rating.into();
    }
    // What the annotation says becomes further properties.
    for (name, value) in json!(object.annotation).as_object().into_iter().flatten() {
        properties[name] = value.clone();
    }
    typed("object_label", &properties)
}

fn tag_items(media: &MediaRecord) -> impl Iterator<Item = Value> {
    media.all_tags().map(|tag| typed("user_tag", &json!({"tag_name": tag})))
}

fn issue_items(entry: &ExportEntry) -> impl Iterator<Item = Value> {
    issue_list(entry).into_iter().map(|issue| {
        let mut properties = json!({"issue_type": issue.kind, "confidence": issue.confidence});
        if issue.kind == "duplicates" {
            properties["duplicate_group_id"] = json!(issue.group);
        }
        typed("issue", &properties)
    })
}

/// Formats a size as hosted services do: `48.27KB`.
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
