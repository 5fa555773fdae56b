//! Writes annotations in the format of YOLO: a text file in `labels/` for each picture, and `data.yaml` with the class
//! names. All lines of an archive have the same form, because readers decide about the form for the whole dataset.

use std::io::{self, Write};

use super::{
    MissingPictures, Zip,
    metadata::{ArchiveContent, Categories, for_each_row, object_label},
};
use crate::task_error::TaskError;
use tessera_model::{Annotation, ExportFormat, Region};
use tessera_store::media::MediaRecord;
use zip::write::SimpleFileOptions;

pub(super) fn write_yolo(
    content: &ArchiveContent,
    zip: &mut Zip,
    missing: &MissingPictures,
) -> Result<(), TaskError> {
    let options = SimpleFileOptions::default();
    let categories = Categories::of(content)?;
    let format = content.export.spec.format;
    let mut keypoint_values = 0;
    if format == ExportFormat::YoloPose {
        for_each_row(content, missing, |row| {
            let values = row.objects.iter().map(|object| object.annotation.keypoints.len());
            keypoint_values = values.max().unwrap_or_default().max(keypoint_values);
            Ok(())
        })?;
    }
    for_each_row(content, missing, |row| {
        let Some(image) = &row.image else { return Ok(()) };
        let stem = image.rsplit_once('.').map_or(image.as_str(), |(stem, _)| stem);
        let mut text = String::new();
        for object in &row.objects {
            let class = categories.number(object_label(&object.media));
            let values = line_values(format, &object.media, &object.annotation, keypoint_values);
            push_line(&mut text, class, &values);
        }
        zip.start_file(format!("labels/{stem}.txt"), options)?;
        zip.write_all(text.as_bytes()).map_err(TaskError::archive)
    })?;
    // Without classes, there is nothing to train, and programs refuse a file that names none.
    if categories.labels().is_empty() {
        return Ok(());
    }
    zip.start_file("data.yaml", options)?;
    write_data_yaml(zip, categories.labels(), keypoint_values / 3).map_err(TaskError::archive)
}

/// Describes the dataset. The pictures are not divided into sets, so both sets are all pictures.
fn write_data_yaml(out: &mut impl Write, labels: &[String], keypoints: usize) -> io::Result<()> {
    out.write_all(b"train: images\nval: images\n")?;
    if keypoints > 0 {
        writeln!(out, "kpt_shape: [{keypoints}, 3]")?;
    }
    out.write_all(b"names:\n")?;
    for (class, label) in labels.iter().enumerate() {
        writeln!(out, "  {class}: {}", yaml_string(label))?;
    }
    Ok(())
}

/// Returns a string of JSON, which is also a string of YAML if it has no further line ends and control characters.
fn yaml_string(text: &str) -> String {
    let escaped = |c| match c {
        '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
            format!("\\u{:04x}", u32::from(c))
        }
        c => c.to_string(),
    };
    serde_json::Value::from(text).to_string().chars().map(escaped).collect()
}

/// Returns the values after the class, as fractions of the picture: a box, the outline of the object, or a box and
/// keypoints. An object without an outline has the corners of its box.
fn line_values(
    format: ExportFormat,
    media: &MediaRecord,
    annotation: &Annotation,
    keypoint_values: usize,
) -> Vec<f64> {
    let (width, height) = (f64::from(media.width.max(1)), f64::from(media.height.max(1)));
    let region = media.region.unwrap_or(Region::WHOLE);
    let Annotation { polygons, mut keypoints, .. } =
        annotation.clone().scaled(1.0 / width, 1.0 / height);
    match format {
        ExportFormat::YoloSegment => {
            let joined = polygons.into_iter().reduce(|one, other| join(one, &other));
            joined.unwrap_or_else(|| corners(region)).into_iter().map(clipped).collect()
        }
        ExportFormat::YoloPose => {
            keypoints.resize(keypoint_values, 0.0);
            for [x, y, _] in keypoints.as_chunks_mut().0 {
                (*x, *y) = (clipped(*x), clipped(*y));
            }
            [centered(region), keypoints].concat()
        }
        _ => centered(region),
    }
}

/// Returns a coordinate inside the picture. Programs ignore a picture with a coordinate outside.
fn clipped(coordinate: f64) -> f64 {
    coordinate.clamp(0.0, 1.0)
}

fn centered(Region { x, y, width, height }: Region) -> Vec<f64> {
    vec![x + width / 2.0, y + height / 2.0, width, height]
}

fn corners(region: Region) -> Vec<f64> {
    let ((left, top), (right, bottom)) = (region.top_left(), region.bottom_right());
    vec![left, top, right, top, right, bottom, left, bottom]
}

/// Joins two outlines by a bridge between their nearest points. A line has only one outline, and the bridge has no
/// area.
fn join(one: Vec<f64>, other: &[f64]) -> Vec<f64> {
    let (points, others) = (one.as_chunks::<2>().0, other.as_chunks::<2>().0);
    let Some((here, there)) = nearest_points(points, others) else { return one };
    let around = others[there..].iter().chain(&others[..=there]);
    let all = points[..=here].iter().chain(around).chain(&points[here..]);
    all.flatten().copied().collect()
}

/// Returns the positions of the nearest points of two outlines, of several equally near ones the first. The points are
/// sorted by x, because outlines have thousands of points, and most are too far to the left or right.
fn nearest_points(points: &[[f64; 2]], others: &[[f64; 2]]) -> Option<(usize, usize)> {
    let mut order: Vec<usize> = (0..others.len()).collect();
    order.sort_by(|a, b| others[*a][0].total_cmp(&others[*b][0]));
    let mut best: Option<(f64, usize, usize)> = None;
    for (here, [x, y]) in points.iter().enumerate() {
        let mut compare = |side: &mut dyn Iterator<Item = &usize>| {
            for &there in side {
                let [u, v] = others[there];
                let (across, down) = ((x - u).powi(2), (y - v).powi(2));
                let found = (across + down, here, there);
                match best {
                    Some((distance, ..)) if across > distance => break,
                    Some(best) if best <= found => {}
                    _ => best = Some(found),
                }
            }
        };
        let (left, right) = order.split_at(order.partition_point(|at| others[*at][0] < *x));
        compare(&mut left.iter().rev());
        compare(&mut right.iter());
    }
    best.map(|(_, here, there)| (here, there))
}

/// Appends a line. A coordinate is at most a ten-thousandth of a pixel off.
fn push_line(text: &mut String, class: u64, numbers: &[f64]) {
    text.push_str(&class.to_string());
    for number in numbers {
        let digits = format!("{number:.9}");
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        text.push(' ');
        text.push_str(digits);
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_are_joined_at_their_nearest_points() {
        let mut numbers = (0_u32..).map(|it| f64::from(it * it % 61));
        let mut outline = |length: usize| -> Vec<[f64; 2]> {
            (0..length).map(|_| [0, 1].map(|_| numbers.next().unwrap())).collect()
        };
        for (one, other) in (0..24).flat_map(|one| (0..24).map(move |other| (one, other))) {
            let (points, others) = (outline(one), outline(other));
            let pairs = (0..one).flat_map(|here| (0..other).map(move |there| (here, there)));
            let distance = |&(here, there): &(usize, usize)| {
                (0..2).map(|side| (points[here][side] - others[there][side]).powi(2)).sum::<f64>()
            };
            let nearest = pairs.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            assert_eq!(nearest_points(&points, &others), nearest, "{points:?} {others:?}");
        }
    }

    #[test]
    fn class_names_have_no_character_that_yaml_refuses() {
        let mut text = Vec::new();
        let labels = ["caf\u{c3}\u{89}\u{7f}\u{2028}".to_owned(), "a \"b\"".to_owned()];
        write_data_yaml(&mut text, &labels, 0).unwrap();
        let names = "names:\n  0: \"caf\u{c3}\\u0089\\u007f\\u2028\"\n  1: \"a \\\"b\\\"\"\n";
        assert!(text.ends_with(names.as_bytes()), "{}", String::from_utf8_lossy(&text));
    }
}
