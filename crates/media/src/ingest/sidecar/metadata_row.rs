//! Converts one row of a metadata table, as in image folder datasets, to a description. A row may have the columns
//! `file_name`, `caption` or `text`, `label` or `labels`, `tags` or `user_tags`, and `objects`. A row of an export also
//! has a `media_id` and a `user_rating`, and its boxes are in pixels of a picture of its `width` and `height`.

use std::{collections::BTreeMap, ptr};

use serde::{Deserialize, de::value::MapDeserializer};
use serde_json::value::{RawValue, to_raw_value};

use super::prelude::*;
use super::{
    box_columns::{BoxColumns, parse_box},
    description::{LabeledBox, MAX_OBJECTS, UNNAMED},
    extra_columns::{
        CAPTION_ALIASES, FILE_NAME, USER_RATING, file_alias, known_name, label_column, push_json,
    },
};

/// A row of JSON values, by the names of their columns.
pub(crate) struct SidecarRow<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> SidecarRow<'a> {
    /// Parses a JSON object. Returns `None` if `text` is anything else.
    pub fn parse(text: &'a str) -> Option<Self> {
        let columns: BTreeMap<String, &RawValue> = documents::parse_object(text)?;
        Some(Self(columns.into_iter().map(|(name, value)| (known_name(&name), value)).collect()))
    }

    /// Takes the name of the file out of a row.
    pub(crate) fn file_name(&mut self) -> Result<String, Reason> {
        let name = self.take_file_name().ok_or("it has no file_name")?;
        documents::parse_name(name).ok_or("its file_name is not a string".into())
    }

    /// Takes the name of the file out of a row. It may be in a column with another usual name.
    fn take_file_name(&mut self) -> Option<&'a RawValue> {
        let is_text = |value: &RawValue| value.get().starts_with('"');
        let texts = self.0.iter().filter(|(_, value)| is_text(value)).map(|(name, _)| name);
        let alias = file_alias(texts).filter(|_| self.get(FILE_NAME).is_none()).cloned();
        self.0.remove(alias.as_deref().unwrap_or(FILE_NAME)).filter(|name| name.get() != "null")
    }

    /// Returns a column. A null value counts as absent.
    fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.get(name).copied().filter(|value| value.get() != "null")
    }
}

impl SidecarRow<'_> {
    /// Whether the row has a caption, labels, tags, objects or a box.
    pub fn describes(&self) -> bool {
        let columns = ["label", "labels", "tags", "user_tags", "objects"];
        self.caption().is_some()
            || columns.iter().any(|name| self.get(name).is_some())
            || self.box_columns().is_some()
    }

    /// Returns the text or texts that describe the media, in the column with the best name.
    fn caption(&self) -> Option<&RawValue> {
        let mut names = ["caption", "text"].into_iter().chain(CAPTION_ALIASES);
        names.find_map(|name| self.get(name))
    }

    /// Returns the columns that have a value, in the order of the row.
    fn names(&self) -> Vec<&str> {
        let present = self.0.iter().filter(|(_, value)| value.get() != "null");
        let mut columns: Vec<_> = present.collect();
        columns.sort_by_key(|(_, value)| value.get().as_ptr());
        columns.into_iter().map(|(name, _)| name.as_str()).collect()
    }

    fn box_columns(&self) -> Option<BoxColumns<'_>> {
        let names = self.names();
        BoxColumns::of_row(&names, label_column(&names).is_some())
    }

    /// Whether the row is of an export.
    pub fn is_export(&self) -> bool {
        self.get("media_id").is_some()
    }

    /// Returns the unit of the boxes in a list of objects.
    fn box_unit(&self) -> BoxUnit {
        let [width, height] = self.size();
        BoxUnit::of_row(self.is_export(), width, height)
    }

    /// Returns the width and height of the picture.
    fn size(&self) -> [Option<f64>; 2] {
        ["width", "height"].map(|name| self.get(name).and_then(documents::parse_number))
    }
}

/// Adds the description of the file that a row names. The error explains why this is impossible.
pub(crate) fn read_row(
    reader: &mut SidecarReader<'_>,
    sidecar: &Path,
    mut row: SidecarRow<'_>,
    diagnostics: &mut SidecarDiagnostics,
) -> Result<(), Reason> {
    let name = row.file_name()?;
    let media = reader.files.resolve(&name, sidecar)?;
    let description = describe_row(&row, diagnostics);
    reader.add_row(media, sidecar, description, row.is_export());
    Ok(())
}

/// Converts a row. A column of the wrong type does not affect the other columns.
pub(crate) fn describe_row(
    row: &SidecarRow<'_>,
    diagnostics: &mut SidecarDiagnostics,
) -> MediaDescription {
    let mut description = MediaDescription::default();
    if let Some(caption) = row.caption()
        && documents::for_each_name(caption.get(), |text| description.push_caption(text)).is_none()
    {
        diagnostics.report("its caption is not a string");
    }
    let box_columns = read_boxes(row, &mut description, diagnostics);
    let get = |name: &str| row.get(name).filter(|_| !box_columns.contains(&name));
    let mut add_names = |names: &mut Vec<String>, list: Option<&RawValue>, why| {
        if list.is_some_and(|list| collect_names(list.get(), names).is_none()) {
            diagnostics.report(why);
        }
    };
    add_names(&mut description.labels, get("label"), "its label is not a text");
    add_names(&mut description.labels, get("labels"), "its labels are not a list of strings");
    add_names(&mut description.tags, row.get("tags"), "its tags are not a list of strings");
    add_names(&mut description.tags, row.get("user_tags"), "its tags are not a list of strings");
    if let Some(value) = row.get("objects") {
        read_objects(value.get(), row.box_unit(), &mut description, diagnostics);
        if description.objects.iter().any(LabeledBox::is_in_pixels) {
            let [width, height] = row.size();
            description.stated_size = StatedSize::new(width, height);
        }
    }
    let is_export = row.is_export();
    let rating = row.get(USER_RATING).filter(|_| is_export);
    description.push_rating(rating.and_then(documents::parse_number));
    let captions = row.caption().filter(|value| value.get().starts_with('['));
    for (name, value) in &row.0 {
        // A list of captions is not a value of a column of the user's own.
        if captions.is_some_and(|captions| ptr::eq(captions, *value))
            || box_columns.contains(&name.as_str())
        {
            continue;
        }
        push_json(&mut description.extra_columns, name, value, is_export, &mut diagnostics.refused);
    }
    description
}

/// Reads the columns of a box, or of lists of boxes and names, in a row without objects. Returns the columns that are
/// read.
fn read_boxes<'r>(
    row: &'r SidecarRow<'_>,
    description: &mut MediaDescription,
    diagnostics: &mut SidecarDiagnostics,
) -> Vec<&'r str> {
    let label = label_column(&row.names());
    let boxes = row.box_columns();
    // The boxes of an export are its objects.
    let has_objects = row.is_export() || row.get("objects").is_some();
    let Some(boxes) = boxes.filter(|_| !has_objects) else { return Vec::new() };
    let list = boxes.list().and_then(|name| elements(row.get(name)?));
    let mut columns = boxes.names.clone();
    let is_list = |value: &RawValue| value.get().starts_with(['[', '{']);
    if let Some((list, count)) = list
        && list.iter().all(|value| is_list(value))
    {
        if count > 0 {
            let read = read_columns(&row.0, BoxUnit::Pixels, description, diagnostics);
            diagnostics.check(read.ok_or(WRONG_OBJECTS));
            let [width, height] = row.size();
            description.stated_size = StatedSize::new(width, height);
        }
        let mut names = OBJECT_NAME_COLUMNS.into_iter();
        columns.extend(names.find(|name| row.get(name).is_some_and(is_list)));
        return columns;
    }
    let mut labels = Vec::new();
    let is_label = label.and_then(|label| collect_names(row.get(label)?.get(), &mut labels));
    let name = labels.first().filter(|_| is_label.is_some() && labels.len() == 1);
    let number = |name: &str| documents::parse_number(row.get(name)?);
    let list = |name: &str| parse_box(row.get(name)?);
    diagnostics.check(boxes.push_box(description, name.map(String::as_str), number, list));
    columns.extend(label);
    columns
}

/// What the numbers of a box count.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BoxUnit {
    Fractions,
    /// Pixels of the picture.
    Pixels,
    /// Pixels of a picture of this size, which may differ from the size of the picture in the folder.
    PixelsOf {
        width: f64,
        height: f64,
    },
}

impl BoxUnit {
    /// Returns the unit of the boxes in a row of a table.
    pub(crate) fn of_row(is_exported: bool, width: Option<f64>, height: Option<f64>) -> Self {
        match (is_exported, width, height) {
            (false, ..) => Self::Fractions,
            (true, Some(width), Some(height)) => Self::PixelsOf { width, height },
            (true, ..) => Self::Pixels,
        }
    }

    pub(crate) fn bounding_box(self, sides: [f64; 4]) -> Option<BoundingBox> {
        let [x, y, across, down] = sides;
        match self {
            Self::Fractions => BoundingBox::normalized(sides),
            Self::Pixels => BoundingBox::pixels(sides),
            Self::PixelsOf { width, height } => {
                BoundingBox::normalized([x / width, y / height, across / width, down / height])
            }
        }
    }
}

/// The columns of an object, or of an object of lists.
type ObjectColumns<'a> = BTreeMap<String, &'a RawValue>;

/// The names of the name or list of names, in the order in which they are tried.
pub(super) const OBJECT_NAME_COLUMNS: [&str; 11] = [
    "categories",
    "category",
    "labels",
    "label",
    "names",
    "name",
    "classes",
    "class",
    "category_name",
    "category_id",
    "class_id",
];

/// Reads a list of objects, or an object of lists. `unit` is the unit in a list. An object of lists is never in
/// fractions, because the library `datasets` writes pixels.
pub(crate) fn read_objects(
    value: &str,
    unit: BoxUnit,
    description: &mut MediaDescription,
    diagnostics: &mut SidecarDiagnostics,
) {
    let parsed = if let Some(columns) = documents::parse_object::<ObjectColumns<'_>>(value) {
        let unit = match unit {
            BoxUnit::Fractions => BoxUnit::Pixels,
            BoxUnit::Pixels | BoxUnit::PixelsOf { .. } => unit,
        };
        read_columns(&columns, unit, description, diagnostics)
    } else {
        let mut count = 0;
        let parsed = documents::for_each_element(value, |value| {
            count += 1;
            if count <= MAX_OBJECTS {
                diagnostics.check(read_object(value, unit, description));
            }
        });
        report_too_many(count, diagnostics);
        parsed
    };
    diagnostics.check(parsed.ok_or(WRONG_OBJECTS));
}

const WRONG_OBJECTS: &str = "its objects are neither a list nor lists of boxes and names";

fn report_too_many(count: usize, diagnostics: &mut SidecarDiagnostics) {
    if count > MAX_OBJECTS {
        diagnostics
            .report(&format!("only the first {MAX_OBJECTS} of its {count} objects are kept"));
    }
}

pub(crate) fn read_object(
    value: &RawValue,
    unit: BoxUnit,
    description: &mut MediaDescription,
) -> Result<(), &'static str> {
    let columns = documents::parse_object::<ObjectColumns<'_>>(value.get())
        .ok_or("one of its objects is not a JSON object")?;
    let bbox = column(&columns, &BOX_COLUMNS).ok_or("one of its objects has no bbox")?;
    let annotation = documents::parse_object::<Annotation>(value.get());
    add_object(column(&columns, &OBJECT_NAME_COLUMNS), bbox, annotation, unit, description)
}

const BOX_COLUMNS: [&str; 3] = ["bbox", "bboxes", "boxes"];

/// Returns the first of these columns that has a value.
fn column<'a>(columns: &ObjectColumns<'a>, names: &[&str]) -> Option<&'a RawValue> {
    names.iter().filter_map(|name| columns.get(*name).copied()).find(|value| value.get() != "null")
}

/// Reads an object of lists. The lists of names and annotations may be missing.
fn read_columns(
    columns: &ObjectColumns<'_>,
    unit: BoxUnit,
    description: &mut MediaDescription,
    diagnostics: &mut SidecarDiagnostics,
) -> Option<()> {
    let names = column(columns, &OBJECT_NAME_COLUMNS);
    let boxes = column(columns, &BOX_COLUMNS);
    let (boxes, box_count) = elements(boxes?)?;
    let unnamed = to_raw_value(UNNAMED).ok()?;
    let (names, name_count) = match names {
        Some(names) => elements(names)?,
        None => (vec![&*unnamed; boxes.len()], box_count),
    };
    let lists = Annotation::FIELDS.into_iter();
    let lists = lists.filter_map(|name| Some((name, elements(columns.get(name)?)?.0)));
    let lists: Vec<(&str, Vec<&RawValue>)> = lists.collect();
    report_too_many(box_count, diagnostics);
    if box_count != name_count || lists.iter().any(|(_, values)| values.len() != boxes.len()) {
        diagnostics.report("its objects have different numbers of boxes, names or annotations");
    }
    for (index, (name, bbox)) in names.into_iter().zip(boxes).enumerate() {
        let fields = lists.iter().filter_map(|(name, values)| Some((*name, *values.get(index)?)));
        let fields = MapDeserializer::<_, serde_json::Error>::new(fields);
        let annotation = Annotation::deserialize(fields).ok();
        diagnostics.check(add_object(Some(name), bbox, annotation, unit, description));
    }
    Some(())
}

/// Returns the first elements of a list, and the number of all.
fn elements(list: &RawValue) -> Option<(Vec<&RawValue>, usize)> {
    let (mut first, mut count) = (Vec::new(), 0);
    documents::for_each_element(list.get(), |value| {
        count += 1;
        if count <= MAX_OBJECTS {
            first.push(value);
        }
    })?;
    Some((first, count))
}

/// Adds an object. Without an annotation that can be read, the error says so, and the object is added without it.
fn add_object(
    label: Option<&RawValue>,
    bbox: &RawValue,
    annotation: Option<Annotation>,
    unit: BoxUnit,
    description: &mut MediaDescription,
) -> Result<(), &'static str> {
    let label = label.and_then(documents::parse_name);
    let label = label.and_then(|label| normalized_name(&label));
    let label = label.ok_or("one of its objects has no name")?;
    let sides = parse_box(bbox);
    let sides = sides.ok_or("the bbox of an object is not a list of four numbers")?;
    let outside = match unit {
        BoxUnit::Fractions if sides.iter().any(|side| *side > 1.0) => {
            "the bbox of an object is not in fractions of the picture; divide pixels by its width and height"
        }
        _ => "the bbox of an object is empty or outside the picture",
    };
    let extent = unit.bounding_box(sides).ok_or(outside)?;
    let malformed = "the score, polygons, mask or keypoints of an object are malformed";
    let end = annotation.as_ref().map(drop).ok_or(malformed);
    let annotation = annotation.unwrap_or_default();
    let annotation = match unit {
        BoxUnit::PixelsOf { width, height } => annotation.scaled(1.0 / width, 1.0 / height),
        BoxUnit::Fractions | BoxUnit::Pixels => annotation,
    };
    description.push_annotated(label, extent, annotation).and(end)
}

/// Adds a text or number, or those in a list, to `names`. Returns `None` if there are other values.
pub(crate) fn collect_names(list: &str, names: &mut Vec<String>) -> Option<()> {
    documents::for_each_name(list, |name| push_name(names, name))
}
