//! Reads and writes the columns of the user's own, which sidecars and tables give to images and frames. Objects have
//! the columns of their pictures.

use std::collections::{BTreeMap, HashMap};

use super::prelude::*;
use crate::{
    captions::{Counts, count_values},
    media::{day_taken, picture_labels},
    sidecar::TextMetadata,
};
use tessera_media::ingest::FileStat;
use tessera_model::{
    Distribution,
    text::format_day,
    vql::{ColumnValue, ExtraColumns, FileProperty, ItemValue},
};

/// The SQL expression for the columns of an item in a table called `media`, as JSON.
macro_rules! extra_columns {
    () => {
        "coalesce((SELECT extra.columns FROM extra_columns AS extra
           WHERE extra.media = coalesce(media.parent, media.row) AND require(extra.intact)), '{}')"
    };
}
pub(super) use extra_columns;

/// Maximum number of different values of a column that is counted by its values.
const MAX_COUNTED_VALUES: usize = 50;

const MILLISECONDS_OF_DAY: i64 = 86_400_000;
const NANOSECONDS_OF_DAY: i64 = MILLISECONDS_OF_DAY * 1_000_000;

/// Replaces the columns of media items, which are given by their rows.
pub(super) fn set(connection: &Connection, texts: &[(i64, TextMetadata)]) -> Result<()> {
    let delete = "DELETE FROM extra_columns WHERE media = ?1";
    query::execute_each(connection, delete, texts, |(media, _), run| run(params![media]))?;
    let texts = texts.iter().filter(|(_, text)| !text.extra_columns.is_empty());
    let insert = "INSERT INTO extra_columns VALUES (?1, ?2)";
    query::execute_each(connection, insert, texts, |(media, text), run| {
        run(params![media, to_json(&text.extra_columns)?])
    })
}

/// The type of all values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    Flag,
    Integer,
    Number,
    Date,
    Text,
}

impl ColumnType {
    #[expect(clippy::float_cmp, reason = "a whole number has no fraction at all")]
    fn of(value: &ColumnValue) -> Self {
        match value.item() {
            ItemValue::Flag(_) => Self::Flag,
            ItemValue::Number(number) if number == number.trunc() && number.abs() < 1e15 => {
                Self::Integer
            }
            ItemValue::Number(_) => Self::Number,
            ItemValue::Date(_) => Self::Date,
            ItemValue::Text(_) => Self::Text,
        }
    }

    /// Returns the type of values of both types.
    fn joined(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Integer | Self::Number, Self::Integer | Self::Number) => Self::Number,
            _ => Self::Text,
        }
    }
}

/// Returns the type of each column of a dataset.
pub fn types(connection: &Connection, dataset: DatasetId) -> Result<BTreeMap<String, ColumnType>> {
    let sql = "SELECT DISTINCT columns, require(extra_columns.intact) FROM extra_columns
               WHERE media IN (SELECT row FROM media WHERE dataset = ?1)";
    let mut types: BTreeMap<String, ColumnType> = BTreeMap::new();
    query::for_each(connection, sql, params![dataset.0], |row| {
        for (name, value) in from_json::<ExtraColumns>(row, 0)? {
            let found = ColumnType::of(&value);
            types.entry(name).and_modify(|known| *known = known.joined(found)).or_insert(found);
        }
        Ok::<_, QueryError>(())
    })?;
    Ok(types)
}

/// A column, and how often each of its values occurs. A column with many values has none here.
pub struct ColumnCounts {
    pub name: String,
    pub values: Vec<(ColumnValue, u64)>,
}

/// Counts the values of the columns of all images, or of the pictures of all objects.
pub fn value_counts(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
) -> Result<Vec<ColumnCounts>> {
    let mut counts: BTreeMap<String, HashMap<String, u64>> = BTreeMap::new();
    let pairs = count_values(connection, dataset, entity, &[extra_columns!()], |row| {
        let columns: ExtraColumns = from_json(row, 1)?;
        columns.iter().map(|pair| to_json(&pair)).collect()
    })?;
    for (pair, count) in pairs {
        let Ok((name, value)) = serde_json::from_str::<(String, serde_json::Value)>(&pair) else {
            continue;
        };
        counts.entry(name).or_default().insert(value.to_string(), count);
    }
    let column = |(name, values): (String, HashMap<String, u64>)| {
        let parse =
            |(value, count): (String, u64)| Some((serde_json::from_str(&value).ok()?, count));
        let is_counted = values.len() <= MAX_COUNTED_VALUES;
        let values = values.into_iter().filter(|_| is_counted);
        let mut values: Vec<(ColumnValue, u64)> = values.filter_map(parse).collect();
        values.sort_by(|(a, many), (b, few)| {
            few.cmp(many).then_with(|| a.to_string().cmp(&b.to_string()))
        });
        ColumnCounts { name, values }
    };
    Ok(counts.into_iter().map(column).collect())
}

/// Counts the images or objects in each folder, including the folders in it.
pub fn folder_counts(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
) -> Result<Counts> {
    count_values(connection, dataset, entity, &["path"], |row| {
        let path = path_from_bytes(row.get(1)?);
        let folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        Ok(folders.map(|folder| folder.to_string_lossy().into_owned()).collect())
    })
}

/// Counts the dates of all images or objects, and the sizes of their files. The widths of objects are not counted,
/// because they are not those of their files.
pub fn distributions(
    connection: &Connection,
    dataset: DatasetId,
    entity: EntityType,
) -> Result<Vec<Distribution>> {
    // A division rounds towards 1970.
    let modified_day = format!(
        "CASE WHEN modified IN (0, {}) THEN NULL
              WHEN modified < 0 THEN (modified + 1) / {NANOSECONDS_OF_DAY} - 1
              ELSE modified / {NANOSECONDS_OF_DAY} END",
        FileStat::READ_AGAIN
    );
    let dates =
        count_values(connection, dataset, entity, &[picture_labels!(), &modified_day], |row| {
            let modified_day: Option<i64> = row.get(2)?;
            let taken = day_taken(&from_json::<Vec<String>>(row, 1)?);
            let date = taken.or(modified_day.map(|day| day * MILLISECONDS_OF_DAY));
            Ok(date.and_then(format_day).into_iter().collect())
        })?;
    let numbers = |property: FileProperty, column: &str| -> Result<Distribution> {
        let counts = count_values(connection, dataset, entity, &[column], |row| {
            Ok(vec![row.get::<i64>(1)?.to_string()])
        })?;
        let numbers =
            counts.iter().filter_map(|(number, count)| Some((number.parse().ok()?, *count)));
        Ok(Distribution::of_numbers(property, numbers))
    };
    let mut all = vec![
        Distribution::of_days(dates.iter().map(|(day, count)| (day.as_str(), *count))),
        numbers(FileProperty::Size, "size")?,
    ];
    if entity == EntityType::Images {
        all.push(numbers(FileProperty::Width, "width")?);
    }
    all.retain(|distribution| !distribution.bars.is_empty());
    Ok(all)
}
