//! Collects the columns of tables and sidecars that this program does not know itself: texts, numbers, flags and dates
//! of the user's own. Names, values and their number are bounded. Whatever is not kept is named.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::value::RawValue;

use tessera_model::{
    text::composed,
    vql::{ColumnName, ColumnValue, ExtraColumns},
};

/// Maximum number of different columns in all sidecars of a folder.
pub(crate) const MAX_EXTRA_COLUMNS: usize = 64;
/// The number of columns that a message names.
const MAX_NAMED: usize = 8;

/// Columns that this program knows and reads itself. They never count as the user's own columns.
const KNOWN: [&str; 13] = [
    "file_name",
    "caption",
    "text",
    "label",
    "labels",
    "tags",
    "user_tags",
    "objects",
    "media_id",
    "width",
    "height",
    "image",
    "metadata_items",
];
/// Further columns of exports. If a column of the user has such a name, the column of exports is kept instead.
const EXPORTED: [&str; 14] = [
    "media_type",
    "image_filename",
    "file_path",
    "file_size",
    "modified_at",
    "video_name",
    "frame_timestamp",
    "uniqueness_score",
    "search_confidence",
    "sharpness",
    "brightness",
    "issues",
    USER_RATING,
    "cluster_id",
];

/// The column of exports with the rating that a user has given.
pub(crate) const USER_RATING: &str = "user_rating";

/// Why a column is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Refusal {
    Exported,
    LongName,
    LongText,
    NotScalar,
    Pictures,
    TooMany,
}

impl Refusal {
    fn reason(self) -> &'static str {
        match self {
            Self::Exported => "the name belongs to a column of exports",
            Self::LongName => "the name is empty or longer than 64 characters",
            Self::LongText => "a text is longer than 1,000 characters",
            Self::NotScalar => "a value is a list, an object or binary data",
            Self::Pictures => "pictures in this column are not read",
            Self::TooMany => "a folder has at most 64 columns",
        }
    }
}

/// The columns of one sidecar that are not kept, by the reason.
#[derive(Debug, Default)]
pub(crate) struct RefusedColumns(BTreeMap<Refusal, BTreeSet<String>>);

impl RefusedColumns {
    pub fn add(&mut self, name: &str, why: Refusal) {
        let names = self.0.entry(why).or_default();
        // More names are only counted as more.
        if names.len() <= MAX_NAMED {
            names.insert(name.chars().take(ColumnName::MAX_CHARS).collect());
        }
    }

    pub fn merge(&mut self, other: Self) {
        for (why, names) in other.0 {
            for name in names {
                self.add(&name, why);
            }
        }
    }

    /// Returns a sentence for each reason.
    pub fn summary(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(why, names)| {
            let more = if names.len() > MAX_NAMED { " and more" } else { "" };
            let names: Vec<&str> = names.iter().take(MAX_NAMED).map(String::as_str).collect();
            format!("columns not kept: {}{more} ({})", names.join(", "), why.reason())
        })
    }
}

/// Whether this program reads a column itself, so that it is not a column of the user's own.
pub(crate) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}

/// Adds a value of a row, unless its column is known or the value is null. A row of an export has the columns of
/// exports, which are not the user's own.
pub(crate) fn push_json(
    extra_columns: &mut ExtraColumns,
    name: &str,
    value: &RawValue,
    is_export: bool,
    refused: &mut RefusedColumns,
) {
    if is_known(name) || (is_export && is_exported(name)) || value.get() == "null" {
        return;
    }
    let value = if ColumnValue::is_exact(value.get()) {
        serde_json::from_str(value.get()).ok().map(|value| match value {
            ColumnValue::Text(text) => ColumnValue::Text(without_midnight(&text).to_owned()),
            value => value,
        })
    } else {
        Some(ColumnValue::Text(value.get().to_owned()))
    };
    match value {
        Some(value) => push(extra_columns, name, value, refused),
        None => refused.add(name, Refusal::NotScalar),
    }
}

/// Returns the day of a timestamp of a table at midnight in UTC, which is how a column of days is exported.
fn without_midnight(text: &str) -> &str {
    let midnight = [" 00:00:00.000000 +00:00", " 00:00:00.000 +00:00"];
    midnight.iter().find_map(|midnight| text.strip_suffix(midnight)).unwrap_or(text)
}

/// Returns a number with a point in the place of a decimal comma.
pub(crate) fn with_decimal_points(cell: &str, has_decimal_commas: bool) -> Cow<'_, str> {
    if has_decimal_commas { cell.replace(',', ".").into() } else { cell.into() }
}

/// Adds the value of a cell of a table of texts.
pub(crate) fn push_cell(
    extra_columns: &mut ExtraColumns,
    name: &str,
    value: ColumnValue,
    is_export: bool,
    refused: &mut RefusedColumns,
) {
    let has_meaning = is_known(&name.to_lowercase()) || (is_export && is_exported(name));
    if !has_meaning {
        push(extra_columns, name, value, refused);
    }
}

/// Whether a column of exports has this name.
pub(crate) fn is_exported(name: &str) -> bool {
    name == "url" || EXPORTED.contains(&name)
}

fn push(
    extra_columns: &mut ExtraColumns,
    name: &str,
    value: ColumnValue,
    refused: &mut RefusedColumns,
) {
    // The first column of tables of the library `pandas` numbers the rows, and has no name.
    if name.is_empty() {
        return;
    }
    let Ok(column) = ColumnName::new(name) else { return refused.add(name, Refusal::LongName) };
    if is_exported(column.as_str()) {
        return refused.add(name, Refusal::Exported);
    }
    let value = match value {
        ColumnValue::Text(text) => match text.trim() {
            "" => return,
            text if text.chars().nth(ColumnValue::MAX_CHARS).is_some() => {
                return refused.add(name, Refusal::LongText);
            }
            text => ColumnValue::Text(composed(text).into_owned()),
        },
        ColumnValue::Number(number) if !number.is_finite() => return,
        // Adding 0.0 turns -0.0, which is written in another way, into 0.0.
        ColumnValue::Number(number) => ColumnValue::Number(number + 0.0),
        value @ ColumnValue::Flag(_) => value,
    };
    extra_columns.insert(column.as_str().to_owned(), value);
}

// Recognizes the columns of tables whose names other programs write in another way: `File Name` or `path` for
// `file_name`.

pub(crate) const FILE_NAME: &str = "file_name";

/// Other names of the column `file_name`, in the order in which they are tried.
const FILE_ALIASES: [&str; 15] = [
    "filename",
    "image_path",
    "img_path",
    "image_file",
    "image_filename",
    "image_name",
    "img_name",
    "image_file_path",
    "file_path",
    "filepath",
    "path",
    "image",
    "img",
    "file",
    "picture",
];

/// Other names of a column of captions, in the order in which they are tried. Such a column is a column of the user's
/// own, too.
pub(crate) const CAPTION_ALIASES: [&str; 7] =
    ["captions", "description", "prompt", "alt_text", "sentence", "sentences", "comment"];

/// Other names of the column `label` in tables of other programs, in the order in which they are tried.
const LABEL_ALIASES: [&str; 5] = ["class", "class_name", "category", "label_name", "choice"];

/// Returns the name in the spelling of this program: lower case, and an underscore instead of a space.
fn normalized(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '-'], "_")
}

/// Returns the name of a column, which for a known column is the one of this program.
pub(crate) fn known_name(name: &str) -> String {
    let normalized = normalized(name);
    if is_known(&normalized) { normalized } else { name.trim().to_owned() }
}

/// Returns the column with the best name for a file among those that are not called `file_name`.
pub(crate) fn file_alias<'a>(names: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    let rank = |name: &String| {
        let name = normalized(name);
        FILE_ALIASES.iter().position(|alias| *alias == name)
    };
    let ranked = names.filter_map(|name| Some((rank(name)?, name)));
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, name)| name)
}

/// Returns the name of the column of files: `file_name`, or the column with the best name for a file.
pub(crate) fn file_column(names: &[String]) -> Option<String> {
    if names.iter().any(|name| name == FILE_NAME) {
        return Some(FILE_NAME.to_owned());
    }
    file_alias(names.iter()).cloned()
}

/// Renames the column with the best name for a file to `file_name`. Returns the position of this column, or `None` if
/// there is none.
pub(crate) fn name_file_column(names: &mut [String]) -> Option<usize> {
    let file = file_column(names)?;
    let at = names.iter().position(|name| *name == file)?;
    FILE_NAME.clone_into(&mut names[at]);
    Some(at)
}

/// Returns the column with the best name for a label.
pub(crate) fn label_column<'a>(names: &[&'a str]) -> Option<&'a str> {
    let find = |alias| names.iter().find(|name| normalized(name) == alias).copied();
    ["label", "labels"].into_iter().chain(LABEL_ALIASES).find_map(find)
}

/// Renames the column with the best name for a label to `label`, if there are no labels.
pub(crate) fn name_label_column(names: &mut [String]) {
    if names.iter().any(|name| name == "label" || name == "labels") {
        return;
    }
    let position = |alias: &&str| names.iter().position(|name| normalized(name) == **alias);
    if let Some(at) = LABEL_ALIASES.iter().find_map(position) {
        "label".clone_into(&mut names[at]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(columns: &[&str]) -> (Vec<String>, Option<usize>) {
        let mut names: Vec<String> = columns.iter().map(|name| known_name(name)).collect();
        let file = name_file_column(&mut names);
        (names, file)
    }

    #[test]
    fn a_whole_number_that_would_lose_digits_stays_a_text() {
        for (number, is_kept) in [
            ("9007199254740992", true),
            ("9007199254740993", false),
            ("-9007199254740993", false),
            ("9223372036854775808", false),
            ("18446744073709551557", false),
            ("123456789012345678901234567890", false),
        ] {
            let [mut json, mut cell] = [ExtraColumns::new(), ExtraColumns::new()];
            let mut refused = RefusedColumns::default();
            let value = RawValue::from_string(number.to_owned()).unwrap();
            push_json(&mut json, "hash", &value, false, &mut refused);
            push_cell(&mut cell, "hash", ColumnValue::from_cell(number), false, &mut refused);
            assert_eq!(json, cell);
            let expected = ColumnValue::Text(number.to_owned());
            assert_eq!(json["hash"] != expected, is_kept, "{number}");
        }
    }

    #[test]
    fn zero_has_one_spelling() {
        let mut columns = ExtraColumns::new();
        for (name, zero) in [("a", "0"), ("b", "-0.0")] {
            let zero = ColumnValue::from_cell(zero);
            push_cell(&mut columns, name, zero, false, &mut RefusedColumns::default());
        }
        assert_eq!(columns["a"].to_string(), columns["b"].to_string());
    }

    #[test]
    fn known_columns_have_one_spelling() {
        let (names, file) = names(&["Caption ", " File Name", "User-Tags", "Weather"]);
        assert_eq!(names, ["caption", "file_name", "user_tags", "Weather"]);
        assert_eq!(file, Some(1));
    }

    #[test]
    fn the_best_name_of_a_file_wins() {
        let strings = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let best = (strings(&["path", "file_name", "image"]), Some(1));
        assert_eq!(names(&["path", "Image Path", "image"]), best);
        assert_eq!(names(&["path", "FILE_NAME"]), (strings(&["path", "file_name"]), Some(1)));
        assert_eq!(names(&["name", "text"]), (strings(&["name", "text"]), None));
    }
}
