//! Defines the columns of `metadata.parquet`: their types, and how each value is computed from a row. A column that
//! other programs read as the file of the picture is called `file_name`, as in image folders of the library `datasets`
//! of Hugging Face. `docs/exports.md` describes the columns. Other tables have the same columns.

use std::{collections::BTreeMap, io::Write};

use super::{
    MissingPictures,
    metadata::{
        ArchiveContent, MetadataRow, bounding_box, for_each_row, issue_list, media_type,
        object_label, uniqueness, video_info,
    },
    parquet_table::{
        Cell, Field, FieldKind,
        FieldKind::{Bool, Double, Int32, Int64, List, Struct, Text, Timestamp},
        TableWriter,
    },
};
use crate::task_error::TaskError;
use tessera_model::{
    Annotation,
    vql::{ColumnValue, ItemValue},
};
use tessera_store::{
    export::ExportEntry,
    extra_columns::{self, ColumnType},
};
use tessera_wire::export::column;

/// A column with the function that computes its value.
type Column = (Field<'static>, fn(&MetadataRow) -> Cell);

/// A quality issue. The group is the cluster of near-duplicates, and absent for other issues.
const ISSUE: &[Field<'static>] = &[
    Field::required("type", Text),
    Field::required("confidence", Double),
    Field::optional("group", Text),
];

/// A mask: height and width, and the run lengths in the compressed form of the COCO API.
const MASK: &[Field<'static>] =
    &[Field::required("size", List(&Int64)), Field::required("counts", Text)];

/// An object. Its box is in pixels: left, top, width, height. The fields of annotations are named like those of
/// [`Annotation`].
const OBJECT: &[Field<'static>] = &[
    Field::required("label", Text),
    Field::required("bbox", List(&Double)),
    Field::optional("score", Double),
    Field::required("polygons", List(&List(&Double))),
    Field::optional("mask", Struct(MASK)),
    Field::required("keypoints", List(&Double)),
    Field::required("is_crowd", Bool),
    Field::optional(column::UNIQUENESS_SCORE, Double),
    Field::required(column::ISSUES, List(&Struct(ISSUE))),
    Field::required(column::USER_TAGS, List(&Text)),
    Field::optional(column::USER_RATING, Int32),
];

/// The columns in the order of the file.
const COLUMNS: [Column; 23] = [
    (Field::required(column::MEDIA_ID, Text), |row| Cell::text(row.entry.media.id.to_string())),
    (Field::required(column::MEDIA_TYPE, Text), |row| Cell::text(media_type(row.entry.media.kind))),
    (Field::optional(column::FILE_NAME, Text), |row| Cell::optional_text(row.file_name.clone())),
    (Field::optional(column::IMAGE_FILENAME, Text), |row| Cell::optional_text(row.image.clone())),
    (Field::required(column::FILE_PATH, Text), |row| Cell::text(row.entry.media.file_path())),
    (Field::required(column::FILE_SIZE, Int64), |row| Cell::Int(row.entry.size.cast_signed())),
    (Field::optional(column::MODIFIED_AT, Timestamp), |row| modified_at(&row.entry)),
    (Field::optional(column::VIDEO_NAME, Text), |row| {
        Cell::optional_text(video_info(&row.entry.media).map(|(name, _)| name))
    }),
    (Field::optional(column::FRAME_TIMESTAMP, Double), |row| {
        Cell::double(video_info(&row.entry.media).map(|(_, seconds)| seconds))
    }),
    (Field::optional(column::UNIQUENESS_SCORE, Double), |row| Cell::double(uniqueness(&row.entry))),
    (Field::optional(column::SEARCH_CONFIDENCE, Double), |row| Cell::double(row.entry.confidence)),
    (Field::required(column::WIDTH, Int32), |row| Cell::Int(row.entry.media.width.into())),
    (Field::required(column::HEIGHT, Int32), |row| Cell::Int(row.entry.media.height.into())),
    (Field::optional(column::SHARPNESS, Double), |row| {
        Cell::double(Some(row.entry.media.sharpness.into()))
    }),
    (Field::optional(column::BRIGHTNESS, Double), |row| {
        Cell::double(Some(row.entry.media.brightness.into()))
    }),
    (Field::required(column::ISSUES, List(&Struct(ISSUE))), |row| issues(&row.entry)),
    (Field::optional(column::CAPTION, Text), |row| {
        Cell::optional_text(row.entry.media.caption.clone())
    }),
    (Field::required(column::LABELS, List(&Text)), |row| texts(row.entry.media.all_labels())),
    (Field::required(column::USER_TAGS, List(&Text)), |row| texts(row.entry.media.all_tags())),
    (Field::optional(column::USER_RATING, Int32), |row| rating(&row.entry)),
    (Field::required(column::OBJECTS, List(&Struct(OBJECT))), |row| {
        Cell::List(row.objects.iter().map(object).collect())
    }),
    (Field::optional(column::CLUSTER_ID, Text), |row| {
        Cell::optional_text(row.entry.cluster.map(|id| id.to_string()))
    }),
    (Field::optional(column::URL, Text), |row| Cell::optional_text(row.url.clone())),
];

/// Returns the time of the last change of the file, unless its source does not know it.
fn modified_at(entry: &ExportEntry) -> Cell {
    entry.media.modified().map_or(Cell::Absent, |nanos| Cell::Int(nanos.div_euclid(1_000)))
}

fn texts<'a>(texts: impl IntoIterator<Item = &'a String>) -> Cell {
    Cell::List(texts.into_iter().map(Cell::text).collect())
}

fn rating(entry: &ExportEntry) -> Cell {
    entry.media.rating().map_or(Cell::Absent, |rating| Cell::Int(rating.into()))
}

fn issues(entry: &ExportEntry) -> Cell {
    let issues = issue_list(entry).into_iter().map(|issue| {
        Cell::Struct(vec![
            Cell::text(issue.kind),
            Cell::Double(issue.confidence),
            Cell::optional_text(issue.group),
        ])
    });
    Cell::List(issues.collect())
}

fn object(entry: &ExportEntry) -> Cell {
    let sides = bounding_box(&entry.media).into_iter().flatten();
    let Annotation { score, polygons, mask, keypoints, is_crowd } = &entry.annotation;
    let mask = mask.as_ref().map_or(Cell::Absent, |mask| {
        let size = mask.size.map(|side| Cell::Int(side.into())).into();
        Cell::Struct(vec![Cell::List(size), Cell::text(&mask.counts)])
    });
    Cell::Struct(vec![
        Cell::text(object_label(&entry.media)),
        doubles(sides),
        Cell::double(*score),
        Cell::List(polygons.iter().map(|polygon| doubles(polygon.iter().copied())).collect()),
        mask,
        doubles(keypoints.iter().copied()),
        Cell::Bool(*is_crowd),
        Cell::double(uniqueness(entry)),
        issues(entry),
        texts(entry.media.all_tags()),
        rating(entry),
    ])
}

fn doubles(numbers: impl IntoIterator<Item = f64>) -> Cell {
    Cell::List(numbers.into_iter().map(Cell::Double).collect())
}

/// The columns of a table: the columns of exports, and after them the user's own columns. None of the user's own columns
/// has the name of a column of exports, because such a name is refused when sidecars are read.
pub(super) struct TableColumns {
    /// The columns of exports that the table lacks.
    without: &'static [&'static str],
    extra: BTreeMap<String, ColumnType>,
}

impl TableColumns {
    pub(super) fn of(content: &ArchiveContent) -> Result<Self, TaskError> {
        let extra = extra_columns::types(content.connection, content.dataset.id)?;
        Ok(Self { without: &[], extra })
    }

    /// Returns the columns of a table in a text format, in which a date stays as it was written.
    pub(super) fn of_text(content: &ArchiveContent) -> Result<Self, TaskError> {
        let mut columns = Self::of(content)?;
        for kind in columns.extra.values_mut().filter(|kind| **kind == ColumnType::Date) {
            *kind = ColumnType::Text;
        }
        Ok(columns)
    }

    pub(super) fn without(self, without: &'static [&'static str]) -> Self {
        Self { without, ..self }
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = Field<'_>> {
        let extra = self.extra.iter().map(|(name, kind)| Field::optional(name, extra_kind(*kind)));
        self.exported().map(|(field, _)| *field).chain(extra)
    }

    /// Returns the values of a row, in the order of the fields.
    pub(super) fn cells(&self, row: &MetadataRow) -> impl Iterator<Item = Cell> {
        let values = &row.entry.media.extra_columns;
        let extra = self.extra.iter().map(|(name, kind)| extra_cell(*kind, values.get(name)));
        self.exported().map(|(_, value)| value(row)).chain(extra)
    }

    fn exported(&self) -> impl Iterator<Item = &'static Column> {
        COLUMNS.iter().filter(|(field, _)| !self.without.contains(&field.name))
    }
}

fn extra_kind(column: ColumnType) -> FieldKind {
    match column {
        ColumnType::Flag => Bool,
        ColumnType::Integer => Int64,
        ColumnType::Number => Double,
        ColumnType::Date => Timestamp,
        ColumnType::Text => Text,
    }
}

/// Returns a value as the type of its column. Values of several types are texts.
fn extra_cell(column: ColumnType, value: Option<&ColumnValue>) -> Cell {
    let Some(value) = value else { return Cell::Absent };
    match (column, value.item()) {
        (ColumnType::Flag, ItemValue::Flag(flag)) => Cell::Bool(flag),
        #[expect(clippy::cast_possible_truncation, reason = "the type is only for whole numbers")]
        (ColumnType::Integer, ItemValue::Number(number)) => Cell::Int(number as i64),
        (ColumnType::Number, ItemValue::Number(number)) => Cell::double(Some(number)),
        (ColumnType::Date, ItemValue::Date(_)) => {
            value.microseconds().map_or(Cell::Absent, Cell::Int)
        }
        _ => Cell::text(value.to_string()),
    }
}

pub(super) fn write_parquet(
    content: &ArchiveContent,
    out: &mut (impl Write + Send),
    missing: &MissingPictures,
) -> Result<(), TaskError> {
    let columns = TableColumns::of(content)?;
    let mut table = TableWriter::new(out, columns.fields().collect(), None)?;
    for_each_row(content, missing, |row| Ok(table.push(columns.cells(&row))?))?;
    table.finish()?;
    Ok(())
}
