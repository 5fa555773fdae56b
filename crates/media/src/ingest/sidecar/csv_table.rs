//! Reads `metadata.csv` and `metadata.tsv`, as programs and spreadsheets write them. A spreadsheet separates columns
//! with `;` where the comma is the decimal mark. A table of another name is read if it has a column of pictures and one
//! that describes them.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    io::{Cursor, Read},
    mem,
};

use super::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;
use tessera_model::{table_delimiters, text::without_apostrophe, vql::ColumnValue};

use super::{
    annotation_files::{begins, unread},
    box_columns::{BoxColumns, parse_box_text},
    extra_columns::{
        CAPTION_ALIASES, FILE_NAME, USER_RATING, known_name, label_column, name_file_column,
        name_label_column, push_cell, with_decimal_points,
    },
    metadata_row::{BoxUnit, collect_names, read_objects},
    sidecar_names::{METADATA_TABLES, is_named, open_images_table},
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, NOT_UTF_8},
};

pub(crate) fn read_csv(reader: &mut SidecarReader<'_>) {
    let tables = METADATA_TABLES.map(|name| reader.files.with_name(name));
    for sidecar in tables.concat() {
        reader.mark_used(sidecar);
        if let Some(bytes) = reader.read_bytes(sidecar, MAX_SHARED_SIDECAR_BYTES) {
            match open_table(&bytes) {
                Ok(table) => read_table(reader, sidecar, table),
                Err(why) => reader.report_problem(sidecar, why),
            }
        }
    }
    let others = ["csv", "tsv"].map(|extension| unread(reader, extension));
    read_other_tables(reader, &others.concat());
}

/// The usual name of a table of captions with the extension of a text.
const CAPTIONS_TEXT: &str = "captions.txt";

/// Reads the texts that begin like a table. A dataset can have a text for each picture, so they are not read whole.
pub(crate) fn read_text_tables(reader: &mut SidecarReader<'_>) {
    let begins_like_table = |head: &str| open_table(head.as_bytes()).is_ok();
    let mut texts = unread(reader, "txt");
    texts
        .retain(|text| is_named(text, &[CAPTIONS_TEXT]) || begins(reader, text, begins_like_table));
    read_other_tables(reader, &texts);
}

fn read_other_tables(reader: &mut SidecarReader<'_>, sidecars: &[&Path]) {
    let large: HashSet<&Path> = reader.files.larger_than(MAX_SHARED_SIDECAR_BYTES).collect();
    for sidecar in sidecars.iter().filter(|it| open_images_table(it).is_none()) {
        let describes = |head: &str| open_other_table(sidecar, head.as_bytes()).is_some();
        if !large.contains(sidecar) {
            read_other_table(reader, sidecar);
        } else if begins(reader, sidecar, describes) {
            reader.report_size(sidecar, MAX_SHARED_SIDECAR_BYTES);
        }
    }
}

/// The table of a dataset of several classes per picture, with a column of 0 and 1 for each class.
const CLASS_TABLE: &str = "_classes.csv";

/// Opens a table of another name, if it describes pictures.
fn open_other_table<'a>(sidecar: &Path, bytes: &'a [u8]) -> Option<CsvTable<'a>> {
    let mut table = open_table(bytes).ok()?;
    name_label_column(&mut table.names);
    table.has_classes = is_named(sidecar, &[CLASS_TABLE]);
    let is_description = |name: &String| {
        let name = name.as_str();
        DESCRIPTIONS.contains(&name) || CAPTION_ALIASES.contains(&name)
    };
    let describes = table.has_classes || table.names.iter().any(is_description);
    describes.then_some(table)
}

fn read_other_table(reader: &mut SidecarReader<'_>, sidecar: &Path) {
    let Some(bytes) = reader.read_bytes(sidecar, MAX_SHARED_SIDECAR_BYTES) else { return };
    if let Some(table) = open_other_table(sidecar, &bytes) {
        reader.mark_used(sidecar);
        read_table(reader, sidecar, table);
    }
}

/// The columns that describe pictures.
const DESCRIPTIONS: [&str; 7] =
    ["caption", "text", "label", "labels", "tags", "user_tags", "objects"];

/// A table whose header names a column of files.
struct CsvTable<'a> {
    bytes: Cow<'a, [u8]>,
    names: Vec<String>,
    /// The position of the column of files.
    file_name: usize,
    /// The line of the header.
    line: usize,
    delimiter: u8,
    /// Whether all other columns are classes.
    has_classes: bool,
}

/// Opens a table with the first delimiter that gives a column of files. A spreadsheet may state the delimiter in a line
/// before the header: `sep=;`.
fn open_table(bytes: &[u8]) -> Result<CsvTable<'_>, String> {
    open_table_with(bytes, name_file_column)
}

/// Opens a table with the first delimiter with which `find_column` finds a column in the header.
fn open_table_with(
    bytes: &[u8],
    find_column: impl Fn(&mut [String]) -> Option<usize>,
) -> Result<CsvTable<'_>, String> {
    let first_line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let delimiters = table_delimiters(&String::from_utf8_lossy(first_line));
    let (bytes, line) = match bytes.strip_prefix(b"sep=").and_then(<[u8]>::split_first) {
        Some((_, rest)) => (rest.trim_ascii_start(), 2),
        None => (bytes, 1),
    };
    for delimiter in delimiters {
        let bytes = without_blanks_before_quotes(bytes, delimiter);
        let mut records = csv_reader(&*bytes, delimiter);
        let header = records.headers().map_err(|_| format!("line {line}: {NOT_UTF_8}"))?;
        let header = without_apostrophes(header, header.iter().collect());
        let mut names: Vec<String> = header.into_iter().map(known_name).collect();
        if let Some(file_name) = find_column(&mut names) {
            let has_classes = false;
            return Ok(CsvTable { bytes, names, file_name, line, delimiter, has_classes });
        }
    }
    Err("it has no column file_name".to_owned())
}

fn csv_reader<R: Read>(bytes: R, delimiter: u8) -> csv::Reader<R> {
    csv::ReaderBuilder::new().flexible(true).delimiter(delimiter).from_reader(bytes)
}

/// Where in a cell a byte is.
enum CellPart {
    Start,
    Plain,
    Quoted,
    AfterQuotes,
}

/// Removes the blanks before texts in quotes, as in `"a", "b"`, because the CSV reader only recognizes quotes at the
/// start of a cell.
fn without_blanks_before_quotes(bytes: &[u8], delimiter: u8) -> Cow<'_, [u8]> {
    if !bytes.windows(2).any(|pair| pair == b" \"") {
        return bytes.into();
    }
    let mut clean = Vec::with_capacity(bytes.len());
    let mut part = CellPart::Start;
    for &byte in bytes {
        part = match (part, byte) {
            (CellPart::Start, b'"') => {
                while clean.last() == Some(&b' ') {
                    clean.pop();
                }
                CellPart::Quoted
            }
            (CellPart::Quoted, b'"') => CellPart::AfterQuotes,
            (CellPart::Quoted, _) | (CellPart::AfterQuotes, b'"') => CellPart::Quoted,
            (_, b'\n' | b'\r') | (CellPart::Start, b' ') => CellPart::Start,
            (_, byte) if byte == delimiter => CellPart::Start,
            _ => CellPart::Plain,
        };
        clean.push(byte);
    }
    clean.into()
}

/// Returns the names in the column that `find_column` finds in the header, in the order of the lines.
pub(crate) fn csv_names(
    bytes: &[u8],
    find_column: impl Fn(&mut [String]) -> Option<usize>,
) -> Result<impl Iterator<Item = String>, String> {
    let CsvTable { bytes, file_name, delimiter, .. } = open_table_with(bytes, find_column)?;
    Ok(names_in_column(bytes, delimiter, file_name))
}

/// Returns the names in a column, in the order of the lines.
fn names_in_column(
    bytes: impl AsRef<[u8]>,
    delimiter: u8,
    column: usize,
) -> impl Iterator<Item = String> {
    // The only possible error here is a record of different length, which is allowed.
    let records =
        csv_reader(Cursor::new(bytes), delimiter).into_byte_records().map_while(Result::ok);
    records.map(move |record| {
        String::from_utf8_lossy(record.get(column).unwrap_or_default()).into_owned()
    })
}

/// Reads a table, and reports what is wrong with it.
fn read_table(reader: &mut SidecarReader<'_>, sidecar: &Path, table: CsvTable<'_>) {
    let CsvTable { bytes, names, file_name, line, delimiter, has_classes } = table;
    for name in names_in_column(&bytes, delimiter, file_name) {
        reader.files.note_name(&name, None, sidecar);
    }
    for name in names_in_column(&bytes, delimiter, file_name) {
        reader.files.note_name(&name, None, sidecar);
    }
    let types = ColumnTypes::of(&bytes, delimiter, &names);
    let mut lines = LineCounter { bytes: &bytes, offset: 0, line };
    let mut records = csv_reader(&*bytes, delimiter);
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    let mut record = csv::ByteRecord::new();
    // The only possible error here is a record of different length, which is allowed.
    while records.read_byte_record(&mut record).unwrap_or(false) {
        diagnostics.set_position(lines.line_of(&record));
        if lines.ends_in_quotes(records.position(), delimiter) {
            diagnostics
                .report("a text in quotes goes on to the end of the file; add the closing quotes");
            continue;
        }
        if record.iter().skip(names.len()).any(|cell| !cell.trim_ascii().is_empty()) {
            diagnostics
                .report("it has more cells than the header; put a text with commas in quotes");
            continue;
        }
        let cells = record.iter().take(names.len()).map(str::from_utf8);
        let Ok(row) = cells.collect::<Result<Vec<_>, _>>() else {
            diagnostics.report(NOT_UTF_8);
            continue;
        };
        let row = without_apostrophes(names.iter().map(String::as_str), row);
        let Some(name) = row.get(file_name).filter(|name| !name.trim().is_empty()) else {
            diagnostics.report("it has no file_name");
            continue;
        };
        match reader.files.resolve(name, sidecar) {
            Ok(media) => {
                let columns = names.iter().map(String::as_str).zip(row.iter().copied());
                let (description, is_export) = if has_classes {
                    (describe_classes(columns, &mut diagnostics), false)
                } else {
                    describe_cells(columns, &types, &mut diagnostics)
                };
                reader.add_row(media, sidecar, description, is_export);
            }
            Err(why) => diagnostics.report(&why),
        }
    }
    reader.report_problems(sidecar, diagnostics);
}

/// Counts lines, because the CSV reader does not count every `\r\n` and attributes blank lines to the next record.
struct LineCounter<'a> {
    bytes: &'a [u8],
    offset: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// Returns the line (counted from 1) in which a record starts. Records must be passed in order.
    fn line_of(&mut self, record: &csv::ByteRecord) -> usize {
        let begin = record.position().and_then(|at| usize::try_from(at.byte()).ok());
        let rest = begin.and_then(|begin| self.bytes.get(begin.max(self.offset)..));
        let rest = rest.unwrap_or_default();
        let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let begin = self.bytes.len() - rest.len() + blank;
        self.line += self.bytes[self.offset..begin].split(|byte| *byte == b'\n').count() - 1;
        self.offset = begin;
        self.line
    }

    /// Whether the previous record is the last one and ends inside a quoted text. `next` is the position of the reader
    /// after that record.
    fn ends_in_quotes(&self, next: &csv::Position, delimiter: u8) -> bool {
        if next.byte() < self.bytes.len() as u64 {
            return false;
        }
        // A further record becomes part of the text.
        let continued = [&self.bytes[self.offset..], b"\nrecord"].concat();
        let mut builder = csv::ReaderBuilder::new();
        builder.has_headers(false).flexible(true).delimiter(delimiter);
        builder.from_reader(&continued[..]).byte_records().count() == 1
    }
}

/// Returns the classes whose cell is 1, or says yes in another way.
fn describe_classes<'a>(
    columns: impl Iterator<Item = (&'a str, &'a str)>,
    diagnostics: &mut SidecarDiagnostics,
) -> MediaDescription {
    let mut description = MediaDescription::default();
    for (class, cell) in columns.filter(|(name, _)| !name.is_empty() && *name != FILE_NAME) {
        match cell.trim().to_lowercase().as_str() {
            "1" | "1.0" | "true" | "yes" | "y" | "x" => push_name(&mut description.labels, class),
            "0" | "0.0" | "false" | "no" | "n" | "" => {}
            _ if !has_value(cell, false) => {}
            _ => diagnostics.report("a cell of a class is neither 0 nor 1"),
        }
    }
    description
}

/// What the header and all cells say about the columns.
struct ColumnTypes<'a> {
    delimiter: u8,
    /// The columns whose cells are all numbers, or all flags.
    typed: HashSet<&'a str>,
    label: Option<&'a str>,
    box_columns: Option<BoxColumns<'a>>,
}

impl<'a> ColumnTypes<'a> {
    fn of(bytes: &[u8], delimiter: u8, names: &'a [String]) -> Self {
        let columns: Vec<&str> = names.iter().map(String::as_str).collect();
        let label = label_column(&columns);
        let box_columns = BoxColumns::of_row(&columns, label.is_some());
        let mut types = Self { delimiter, typed: HashSet::new(), label, box_columns };
        let mut kinds = HashMap::new();
        for record in csv_reader(bytes, delimiter).byte_records().flatten() {
            let cells = record.iter().map(|cell| str::from_utf8(cell).unwrap_or_default());
            let names = names.iter().map(String::as_str);
            let row = without_apostrophes(names.clone(), cells.collect());
            let is_export = is_export(names.clone().zip(row.iter().copied()));
            for (name, cell) in names.zip(row).filter(|(_, cell)| has_value(cell, is_export)) {
                let value = types.parse(cell.trim());
                // An export writes each number in one way, so another spelling is a text.
                let is_value = !is_export || is_spelling_of_export(&value, cell.trim());
                let kind = Some(mem::discriminant(&value)).filter(|_| is_value);
                let known = kinds.entry(name).or_insert(kind);
                *known = known.filter(|known| Some(*known) == kind);
            }
        }
        kinds.retain(|_, kind| kind.is_some());
        types.typed = kinds.into_keys().collect();
        types
    }

    /// Reads a cell. In a column of texts, a number or flag whose spelling would be lost is a text.
    fn value(&self, column: &str, cell: &str) -> ColumnValue {
        let value = self.parse(cell);
        let is_kept = self.typed.contains(column) || value.to_string() == cell;
        if is_kept { value } else { ColumnValue::Text(cell.to_owned()) }
    }

    fn parse(&self, cell: &str) -> ColumnValue {
        // A cell such as `1,10` is a list elsewhere, and only a number has a decimal comma.
        match ColumnValue::from_cell(&with_decimal_points(cell, self.delimiter == b';')) {
            ColumnValue::Text(_) => ColumnValue::Text(cell.to_owned()),
            value => value,
        }
    }
}

fn is_spelling_of_export(value: &ColumnValue, cell: &str) -> bool {
    let double = match value {
        ColumnValue::Number(number) => serde_json::Value::from(*number).to_string(),
        _ => String::new(),
    };
    [value.to_string(), double].iter().any(|spelling| spelling == cell)
}

fn is_export<'a>(mut columns: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
    columns.any(|(name, cell)| name == EXPORT_MARK && !cell.trim().is_empty())
}

fn has_value(cell: &str, is_export: bool) -> bool {
    let cell = cell.trim();
    !cell.is_empty() && (is_export || !EMPTY_VALUES.contains(&cell))
}

/// Converts a row. Returns whether it is a row of an export, too.
fn describe_cells<'a>(
    columns: impl Iterator<Item = (&'a str, &'a str)>,
    types: &ColumnTypes<'_>,
    diagnostics: &mut SidecarDiagnostics,
) -> (MediaDescription, bool) {
    // Numbers may have a decimal comma where it does not separate columns.
    let has_decimal_commas = types.delimiter != b',';
    let mut description = MediaDescription::default();
    let mut columns: Vec<_> = columns.collect();
    let is_export = is_export(columns.iter().copied());
    columns.retain(|(_, cell)| has_value(cell, is_export));
    let find =
        |name: &str| columns.iter().find(|(column, _)| *column == name).map(|(_, cell)| *cell);
    let number =
        |name: &str| with_decimal_points(find(name)?.trim(), has_decimal_commas).parse().ok();
    let unit = BoxUnit::of_row(is_export, number("width"), number("height"));
    let rating = number(USER_RATING).filter(|_| is_export);
    let caption = ["caption", "text"].into_iter().chain(CAPTION_ALIASES).find_map(find);
    // A row without any number is of a picture without a box.
    let box_columns = types.box_columns.as_ref().filter(|_| !is_export);
    let box_columns = box_columns.filter(|it| it.names.iter().any(|name| find(name).is_some()));
    if let Some(box_columns) = box_columns {
        let label = types.label.and_then(find);
        let list = |name: &str| parse_box_text(find(name)?);
        diagnostics.check(box_columns.push_box(&mut description, label, number, list));
        columns.retain(|(column, _)| {
            types.label != Some(*column) && !box_columns.names.contains(column)
        });
    }
    for &(column, cell) in &columns {
        push_cell(
            &mut description.extra_columns,
            column,
            types.value(column, cell.trim()),
            is_export,
            &mut diagnostics.refused,
        );
        match column {
            "label" if is_export => push_name(&mut description.labels, cell),
            "label" => diagnostics.check(push_labels(&mut description.labels, cell)),
            "labels" if collect_cell_names(cell, &mut description.labels).is_none() => {
                diagnostics.report("its labels are not a list of strings");
            }
            "tags" | "user_tags" if collect_cell_names(cell, &mut description.tags).is_none() => {
                diagnostics.report("its tags are not a list of strings");
            }
            "objects" => {
                read_objects(cell, unit, &mut description, diagnostics);
            }
            _ => {}
        }
    }
    if let Some(caption) = caption {
        description.push_caption(caption);
    }
    description.push_rating(rating);
    (description, is_export)
}

/// Cells without a value, as the library `pandas` reads them.
const EMPTY_VALUES: [&str; 18] = [
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
    "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
];

/// The cell of a choice of several labels in tables of Label Studio.
#[derive(Deserialize)]
struct Choices<'a> {
    #[serde(borrow)]
    choices: &'a RawValue,
}

/// Adds a label, or the labels in a JSON list. The error says that the cell is JSON, but not a list of labels.
fn push_labels(labels: &mut Vec<String>, cell: &str) -> Result<(), &'static str> {
    let cell = cell.trim();
    let mut names = Vec::new();
    let choices = documents::parse_object::<Choices<'_>>(cell);
    let list = choices.map_or(cell, |choices| choices.choices.get());
    if list.starts_with('[') && collect_cell_names(list, &mut names).is_some() {
        for name in &names {
            push_name(labels, name);
        }
    } else if cell.starts_with(['[', '{']) && serde_json::from_str::<&RawValue>(cell).is_ok() {
        return Err("its label is not a text");
    } else {
        push_name(labels, documents::whole_number(cell).unwrap_or(cell));
    }
    Ok(())
}

/// The column that marks the rows of an export of this program.
const EXPORT_MARK: &str = "media_id";

/// Returns the cells of a row or header as they were before an export put apostrophes in front of some, so that no
/// spreadsheet calculates them. The cells of other programs and of users stay as they are.
fn without_apostrophes<'a>(
    names: impl IntoIterator<Item = &'a str>,
    mut row: Vec<&'a str>,
) -> Vec<&'a str> {
    if is_export(names.into_iter().zip(row.iter().copied())) {
        for cell in &mut row {
            *cell = without_apostrophe(cell);
        }
    }
    row
}

/// Adds the names in a cell to `names`. A cell is a JSON list, or names separated by `|` or `;`. Returns `None` if the
/// cell starts like a JSON list but is not valid.
pub(crate) fn collect_cell_names(cell: &str, names: &mut Vec<String>) -> Option<()> {
    if cell.trim_start().starts_with('[') {
        // Python quotes texts with apostrophes: `['dog', 'cat']`.
        let is_python = !cell.contains('"');
        let list = if is_python { cell.replace('\'', "\"") } else { cell.to_owned() };
        return collect_names(&list, names);
    }
    cell.split(['|', ';']).for_each(|name| push_name(names, name));
    Some(())
}
