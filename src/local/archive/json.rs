//! `metadata.json`: `info` and `media_items`, in the shape that services are seen to write.

use std::{collections::HashSet, io::Write};

use serde::Serialize;
use serde_json::{Value, json};

use super::{Item, Source, items};
use crate::{
    local::{store::now, task::End},
    wire::moment::iso,
};

#[derive(Serialize)]
struct Head<'a> {
    schema_version: &'static str,
    dataset: &'a str,
    description: String,
    dataset_url: String,
    export_time: String,
    dataset_creation_time: String,
    exported_by: &'static str,
    total_media_items: u64,
}

#[derive(Serialize)]
struct MediaItem<'a> {
    media_id: String,
    media_type: &'static str,
    image_filename: Option<&'a str>,
    file_name: String,
    file_path: String,
    file_size: String,
    uniqueness_score: Option<f64>,
    height: u32,
    width: u32,
    url: &'a str,
    cluster_id: Option<String>,
    metadata_items: Vec<Value>,
}

/// Writes the document.
pub fn write(source: &Source, out: &mut impl Write, missing: &HashSet<i64>) -> Result<(), End> {
    let dataset = source.dataset;
    let head = Head {
        schema_version: "1.1",
        dataset: &dataset.name,
        description: format!("Exported from {}", dataset.name),
        dataset_url: format!("{}/api/v1/dataset/{}", source.export.origin, dataset.id),
        export_time: iso(now()),
        dataset_creation_time: iso(dataset.created_at),
        exported_by: "tessera",
        total_media_items: source.export.entities,
    };
    out.write_all(b"{\"info\":")?;
    print(out, &head)?;
    out.write_all(b",\"media_items\":[")?;
    let mut separator: &[u8] = b"\n";
    items(source, missing, |item| {
        out.write_all(separator)?;
        separator = b",\n";
        print(out, &media_item(&item))
    })?;
    out.write_all(b"\n]}\n")?;
    Ok(())
}

fn print(out: &mut impl Write, value: &impl Serialize) -> Result<(), End> {
    serde_json::to_writer(out, value).map_err(|cause| std::io::Error::from(cause).into())
}

fn media_item(item: &Item) -> MediaItem<'_> {
    let media = &item.entry.media;
    MediaItem {
        media_id: media.id.to_string(),
        media_type: "image",
        image_filename: item.image.as_deref(),
        file_name: media.file_name(),
        file_path: media.path.to_string_lossy().into_owned(),
        file_size: size_in_words(media.size),
        uniqueness_score: item.entry.uniqueness,
        height: media.height,
        width: media.width,
        url: &item.url,
        cluster_id: item.entry.cluster.map(|id| id.to_string()),
        metadata_items: metadata_items(item),
    }
}

fn metadata_items(item: &Item) -> Vec<Value> {
    let media = &item.entry.media;
    let issues = item.issues().into_iter().map(issue);
    let labels = media.labels.iter().map(|label| image_label(label));
    let caption = media
        .caption
        .iter()
        .map(|caption| json!({"type": "caption", "properties": {"caption": caption}}));
    issues.chain(labels).chain(caption).collect()
}

/// Whoever wrote the sidecar is the source: no model of the service did.
fn image_label(name: &str) -> Value {
    json!({"type": "image_label", "properties": {"category_name": name, "source": "User"}})
}

/// The rule that finds it says yes or no, so the confidence is whole.
fn issue(kind: &str) -> Value {
    json!({"type": "issue", "properties": {"issue_type": kind, "confidence": 1.0}})
}

/// A size as services write it: `48.27KB`.
#[expect(clippy::cast_precision_loss, reason = "shown with two decimals")]
fn size_in_words(bytes: u64) -> String {
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
    fn m25_sizes_are_written_as_services_do() {
        let words = [0, 1023, 49_428, 5 << 20, 3 << 40].map(size_in_words);
        assert_eq!(words, ["0B", "1023B", "48.27KB", "5.00MB", "3072.00GB"]);
    }
}
