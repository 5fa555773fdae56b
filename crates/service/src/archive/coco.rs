//! Writes annotations in the format of COCO: objects in `annotations/instances.json`, and captions in
//! `annotations/captions.json`. The documents are written entry by entry, because they have an entry for each object.

use std::{collections::HashMap, io::Write};

use super::{
    MissingPictures, Zip,
    metadata::{
        ArchiveContent, Categories, MetadataRow, bounding_box, dataset_url, for_each_row,
        object_label,
    },
};
use crate::task_error::TaskError;
use serde_json::{Value, json};
use tessera_model::{Mask, annotation::round_pixels};
use tessera_store::{export::ExportEntry, now_micros};
use tessera_wire::{export::column, fields::format_iso8601};
use zip::write::SimpleFileOptions;

/// The columns of a keypoint.
const KEYPOINT: usize = 3;

/// What is known after the first pass over the rows.
#[derive(Default)]
struct Overview {
    has_captions: bool,
    /// The numbers in the keypoints of the objects, by label. All objects of a category have equally many.
    keypoints: HashMap<String, usize>,
}

pub(super) fn write_coco(
    content: &ArchiveContent,
    zip: &mut Zip,
    missing: &MissingPictures,
) -> Result<(), TaskError> {
    let options = SimpleFileOptions::default().large_file(true);
    let categories = Categories::of(content)?;
    zip.start_file("annotations/instances.json", options)?;
    let overview = write_images(content, zip, missing)?;
    begin_list(zip, "annotations")?;
    let (mut image, mut annotations) = (0_u64, List::default());
    for_each_image(content, missing, |row| {
        image += 1;
        for object in &row.objects {
            let label = object_label(&object.media);
            let number = categories.number(label) + 1;
            let keypoints = overview.keypoints.get(label).copied().unwrap_or_default();
            let annotation = annotation(object, keypoints);
            annotations.push_numbered(
                zip,
                annotation,
                &[("image_id", image), ("category_id", number)],
            )?;
        }
        Ok(())
    })?;
    begin_list(zip, "categories")?;
    let mut list = List::default();
    for label in categories.labels() {
        let mut category = json!({"name": label, "supercategory": ""});
        if let Some(numbers) = overview.keypoints.get(label) {
            let names: Vec<String> = (1..=numbers / KEYPOINT).map(|it| it.to_string()).collect();
            category["keypoints"] = names.into();
            category["skeleton"] = json!([]);
        }
        list.push_numbered(zip, category, &[])?;
    }
    zip.write_all(b"\n]}\n").map_err(TaskError::archive)?;
    if overview.has_captions {
        zip.start_file("annotations/captions.json", options)?;
        write_captions(content, zip, missing)?;
    }
    Ok(())
}

fn write_captions(
    content: &ArchiveContent,
    zip: &mut Zip,
    missing: &MissingPictures,
) -> Result<(), TaskError> {
    write_images(content, zip, missing)?;
    begin_list(zip, "annotations")?;
    let (mut image, mut list) = (0_u64, List::default());
    for_each_image(content, missing, |row| {
        image += 1;
        let Some(caption) = &row.entry.media.caption else { return Ok(()) };
        list.push_numbered(zip, json!({ "caption": caption }), &[("image_id", image)])
    })?;
    zip.write_all(b"\n]}\n").map_err(TaskError::archive)
}

/// Calls `each` with every row, except those whose picture the archive lacks.
fn for_each_image(
    content: &ArchiveContent,
    missing: &MissingPictures,
    mut each: impl FnMut(MetadataRow) -> Result<(), TaskError>,
) -> Result<(), TaskError> {
    for_each_row(content, missing, |row| if row.file_name.is_some() { each(row) } else { Ok(()) })
}

/// Begins a document, and writes its images.
fn write_images(
    content: &ArchiveContent,
    zip: &mut Zip,
    missing: &MissingPictures,
) -> Result<Overview, TaskError> {
    let info = json!({
        "description": format!("Exported from {}", content.dataset.name),
        "url": dataset_url(content),
        "version": "1.0",
        "contributor": "tessera",
        "date_created": format_iso8601(now_micros()),
    });
    write!(zip, "{{\"info\":{info},\"licenses\":[],\"images\":[").map_err(TaskError::archive)?;
    let (mut overview, mut list) = (Overview::default(), List::default());
    for_each_image(content, missing, |row| {
        overview.has_captions |= row.entry.media.caption.is_some();
        for object in row.objects.iter().filter(|it| !it.annotation.keypoints.is_empty()) {
            let label = object_label(&object.media).to_owned();
            let most = overview.keypoints.entry(label).or_default();
            *most = object.annotation.keypoints.len().max(*most);
        }
        list.push_numbered(zip, image(&row), &[])
    })?;
    Ok(overview)
}

/// Describes an image. Its name is the name below `images/`, or the path in the dataset in an archive without images.
fn image(row: &MetadataRow) -> Value {
    let media = &row.entry.media;
    json!({
        "file_name": row.image.as_ref().or(row.file_name.as_ref()),
        "width": media.width,
        "height": media.height,
        column::MEDIA_ID: media.id.to_string(),
    })
}

fn annotation(object: &ExportEntry, keypoint_values: usize) -> Value {
    let details = &object.annotation;
    let sides = bounding_box(&object.media).unwrap_or_default().map(round_pixels);
    let area = match &details.mask {
        #[expect(clippy::cast_precision_loss, reason = "a number of pixels")]
        Some(mask) => mask.area() as f64,
        None if details.polygons.is_empty() => sides[2] * sides[3],
        None => details.polygons.iter().map(|polygon| polygon_area(polygon)).sum(),
    };
    let mut annotation = json!({
        "bbox": sides,
        "area": round_pixels(area),
        "iscrowd": u8::from(details.is_crowd),
    });
    // Readers fail at an empty segmentation, but not at a missing one.
    match &details.mask {
        Some(mask) if details.polygons.is_empty() => annotation["segmentation"] = run_lengths(mask),
        _ if details.polygons.is_empty() => {}
        _ => annotation["segmentation"] = json!(details.polygons),
    }
    if keypoint_values > 0 {
        let mut keypoints = details.keypoints.clone();
        keypoints.resize(keypoint_values, 0.0);
        let labeled = keypoints.iter().skip(2).step_by(KEYPOINT).filter(|&&it| it > 0.0).count();
        annotation["keypoints"] = keypoints.into();
        annotation["num_keypoints"] = labeled.into();
    }
    if let Some(score) = details.score {
        annotation["score"] = score.into();
    }
    annotation
}

/// Describes a mask by a list of run lengths, like the ground truth of COCO, because not all readers know the compressed
/// form.
fn run_lengths(mask: &Mask) -> Value {
    mask.runs().map_or_else(|| json!(mask), |runs| json!({"size": mask.size, "counts": runs}))
}

fn polygon_area(polygon: &[f64]) -> f64 {
    let (points, _) = polygon.as_chunks::<2>();
    let next = points.iter().cycle().skip(1);
    let double: f64 = points.iter().zip(next).map(|([x, y], [u, v])| x * v - u * y).sum();
    (double / 2.0).abs()
}

fn begin_list(zip: &mut Zip, name: &str) -> Result<(), TaskError> {
    write!(zip, "\n],\n\"{name}\":[").map_err(TaskError::archive)
}

/// Writes the entries of a list, numbered from 1.
#[derive(Default)]
struct List {
    written: u64,
}

impl List {
    fn push_numbered(
        &mut self,
        out: &mut impl Write,
        mut entry: Value,
        references: &[(&str, u64)],
    ) -> Result<(), TaskError> {
        let separator = if self.written == 0 { "\n" } else { ",\n" };
        self.written += 1;
        for (key, number) in [("id", self.written)].iter().chain(references) {
            entry[*key] = (*number).into();
        }
        write!(out, "{separator}{entry}").map_err(TaskError::archive)
    }
}
