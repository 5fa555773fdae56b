//! Writes annotations in the format of Pascal VOC: an XML file in `Annotations/` for each picture.

use std::io::{self, Write};

use zip::write::SimpleFileOptions;

use super::{
    IMAGES_PREFIX, MissingPictures, Zip,
    metadata::{ArchiveContent, MetadataRow, bounding_box, for_each_row, object_label},
};
use crate::task_error::TaskError;
use tessera_model::text::escape_xml;

pub(super) fn write_voc(
    content: &ArchiveContent,
    zip: &mut Zip,
    missing: &MissingPictures,
) -> Result<(), TaskError> {
    for_each_row(content, missing, |row| {
        let Some(image) = &row.image else { return Ok(()) };
        let stem = image.rsplit_once('.').map_or(image.as_str(), |(stem, _)| stem);
        zip.start_file(format!("Annotations/{stem}.xml"), SimpleFileOptions::default())?;
        write_document(zip, &row, image).map_err(TaskError::archive)
    })
}

fn write_document(out: &mut impl Write, row: &MetadataRow, image: &str) -> io::Result<()> {
    let media = &row.entry.media;
    write!(
        out,
        "<annotation>\n  <folder>{}</folder>\n  <filename>{}</filename>\n  \
         <size><width>{}</width><height>{}</height><depth>3</depth></size>\n  <segmented>0</segmented>\n",
        IMAGES_PREFIX.trim_end_matches('/'),
        escape_xml(image),
        media.width,
        media.height,
    )?;
    for object in &row.objects {
        let [left, top, width, height] = bounding_box(&object.media).unwrap_or_default();
        let [xmin, ymin, xmax, ymax] = [left, top, left + width, top + height].map(hundredths);
        write!(
            out,
            "  <object>\n    <name>{}</name>\n    <pose>Unspecified</pose>\n    <truncated>0</truncated>\n    \
             <difficult>0</difficult>\n    <bndbox><xmin>{xmin}</xmin><ymin>{ymin}</ymin>\
             <xmax>{xmax}</xmax><ymax>{ymax}</ymax></bndbox>\n  </object>\n",
            escape_xml(object_label(&object.media)),
        )?;
    }
    out.write_all(b"</annotation>\n")
}

/// Rounds to hundredths of a pixel. A whole number has no decimal point, because many readers expect whole numbers.
fn hundredths(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}
