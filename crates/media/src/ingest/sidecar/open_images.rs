//! Reads the CSV tables of Open Images, which contain boxes in fractions, and labels. A row identifies an image by its
//! file name without extension, and a class by an identifier that another table translates.

use std::{
    collections::{BTreeMap, HashMap},
    io::{BufRead, Read as _},
};

use super::prelude::*;
use super::{
    sidecar_names::{OpenImagesTable, open_images_table},
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, NOT_UTF_8, unreadable},
};

/// Maximum size of a table of boxes or labels, which is read in parts. The table of all training images has 2.1 GiB.
const MAX_TABLE_BYTES: u64 = 8 << 30;
/// Maximum length of a line.
const MAX_LINE_BYTES: u64 = 4_096;
const COLUMNS: [&str; 8] =
    ["ImageID", "LabelName", "Confidence", "XMin", "XMax", "YMin", "YMax", "IsGroupOf"];

type ImageFiles<'a> = HashMap<&'a str, Option<&'a Path>>;

pub fn read(reader: &mut SidecarReader<'_>) {
    let tables = reader.files.all().filter_map(|path| Some((path, open_images_table(path)?)));
    let (names, tables): (Vec<_>, Vec<_>) =
        tables.partition(|(_, table)| *table == OpenImagesTable::ClassNames);
    if tables.is_empty() {
        return;
    }
    let mut class_names = HashMap::new();
    for (sidecar, _) in names {
        read_class_names(reader, sidecar, &mut class_names);
    }
    let mut images = ImageFiles::new();
    for path in reader.files.media() {
        if let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) {
            images.entry(stem).and_modify(|only| *only = None).or_insert(Some(path));
        }
    }
    for (sidecar, table) in tables {
        read_table(reader, sidecar, table, &images, &class_names);
    }
}

/// Reads rows that consist of an identifier and a name.
fn read_class_names(
    reader: &mut SidecarReader<'_>,
    sidecar: &Path,
    names: &mut HashMap<String, String>,
) {
    reader.mark_used(sidecar);
    let Some(text) = reader.read_text(sidecar, MAX_SHARED_SIDECAR_BYTES) else { return };
    let mut table =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    for row in table.records().flatten() {
        if let (Some(class), Some(name)) = (row.get(0), row.get(1).and_then(normalized_name)) {
            names.entry(class.trim().to_owned()).or_insert(name);
        }
    }
}

fn read_table(
    reader: &mut SidecarReader<'_>,
    sidecar: &Path,
    table: OpenImagesTable,
    images: &ImageFiles<'_>,
    class_names: &HashMap<String, String>,
) {
    reader.mark_used(sidecar);
    let Some(file) = reader.open(sidecar, MAX_TABLE_BYTES) else { return };
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    let mut descriptions = BTreeMap::<&Path, MediaDescription>::new();
    let mut columns = None;
    for_each_line(file, &mut diagnostics, |line| {
        let Some(columns) = &columns else {
            columns = Some(ColumnOrder::parse(line));
            return Ok(());
        };
        if line.trim().is_empty() {
            return Ok(());
        }
        let row = OpenImagesRow { cells: columns.cells(line), class_names };
        add_row(&row, table, images, &mut descriptions)
    });
    let unused =
        descriptions.is_empty().then(|| "no row describes an image of the folder".to_owned());
    for (media, description) in descriptions {
        reader.add_description(media, sidecar, description);
    }
    if let Some(problem) = diagnostics.summary().or(unused) {
        reader.report_problem(sidecar, problem);
    }
}

/// Passes each line to `read`, whose error explains what is wrong with the line.
fn for_each_line(
    mut file: impl BufRead,
    diagnostics: &mut SidecarDiagnostics,
    mut read: impl FnMut(&str) -> Result<(), &'static str>,
) {
    let mut line = Vec::new();
    loop {
        line.clear();
        diagnostics.next_position();
        match file.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) => {
                let text = str::from_utf8(&line).map_err(|_| NOT_UTF_8);
                diagnostics.check(text.and_then(&mut read));
            }
            Err(cause) => {
                diagnostics.report(&unreadable(&cause));
                return;
            }
        }
    }
}

/// The position of each of [`COLUMNS`] in a line.
struct ColumnOrder([Option<usize>; COLUMNS.len()]);

impl ColumnOrder {
    fn parse(header: &str) -> Self {
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        Self(COLUMNS.map(|column| names.iter().position(|name| *name == column)))
    }

    fn cells<'a>(&self, line: &'a str) -> [Option<&'a str>; COLUMNS.len()] {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        self.0.map(|column| cells.get(column?).copied())
    }
}

struct OpenImagesRow<'a> {
    cells: [Option<&'a str>; COLUMNS.len()],
    class_names: &'a HashMap<String, String>,
}

/// Adds the object or label of a row. Rows about images outside the folder are ignored, because the tables describe all
/// of Open Images.
fn add_row<'f>(
    row: &OpenImagesRow<'_>,
    table: OpenImagesTable,
    images: &ImageFiles<'f>,
    descriptions: &mut BTreeMap<&'f Path, MediaDescription>,
) -> Result<(), &'static str> {
    let image = row.cells[0].filter(|image| !image.is_empty()).ok_or("it has no ImageID")?;
    let Some(media) = images.get(image) else { return Ok(()) };
    let media = media.ok_or("its ImageID matches several files in the folder")?;
    let label = row.label()?;
    if table == OpenImagesTable::Boxes {
        let extent = row.extent()?;
        let description = descriptions.entry(media).or_default();
        let is_crowd = row.cells[7] == Some("1");
        let annotation = Annotation { is_crowd, ..Annotation::default() };
        description.push_annotated(label, extent, annotation)?;
    } else if row.number(2)? > 0.0 {
        push_name(&mut descriptions.entry(media).or_default().labels, &label);
    } else {
        // A confidence of 0 means that people found that the class is not in the image.
        descriptions.entry(media).or_default();
    }
    Ok(())
}

impl OpenImagesRow<'_> {
    fn label(&self) -> Result<String, &'static str> {
        let class = self.cells[1].filter(|class| !class.is_empty()).ok_or("it has no LabelName")?;
        let name = self.class_names.get(class).cloned();
        name.ok_or("its LabelName is not in a class-descriptions CSV of the folder")
    }

    fn extent(&self) -> Result<BoundingBox, &'static str> {
        let [left, right, top, bottom] =
            [self.number(3)?, self.number(4)?, self.number(5)?, self.number(6)?];
        let (width, height) = ((right - left).abs(), (bottom - top).abs());
        let extent = BoundingBox::normalized([left.min(right), top.min(bottom), width, height]);
        extent.ok_or("its box is empty or outside the picture")
    }

    fn number(&self, column: usize) -> Result<f64, &'static str> {
        let number = self.cells[column].and_then(|cell| cell.parse().ok());
        number.ok_or("one of its numbers is missing or not a number")
    }
}
