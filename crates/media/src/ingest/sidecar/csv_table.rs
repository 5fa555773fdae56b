//! Reads `metadata.csv` and `metadata.tsv`, as programs and spreadsheets write them. A spreadsheet separates columns with
//! `;` where the comma is the decimal mark.

use std::path::Path;

use tessera_model::text::needs_apostrophe;

use super::{
    column_names::{CAPTION_ALIASES, known_name, name_file_column},
    description::{MediaDescription, push_name},
    diagnostics::SidecarDiagnostics,
    metadata_row::{BoxUnit, collect_names, read_objects},
    own_columns::push_cell,
    sidecar_names::METADATA_TABLES,
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, NOT_UTF_8, SidecarReader},
};

pub(crate) fn read_csv(reader: &mut SidecarReader<'_>) {
    let tables = METADATA_TABLES.map(|name| reader.files.with_name(name));
    for sidecar in tables.concat() {
        reader.mark_used(sidecar);
        if let Some(bytes) = reader.read_bytes(sidecar, MAX_SHARED_SIDECAR_BYTES)
            && let Some(why) = read_table(reader, sidecar, &bytes)
        {
            reader.report_problem(sidecar, why);
        }
    }
}

/// The characters that separate columns, in the order in which they are tried.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// A table whose header names a column of files.
struct CsvTable<'a> {
    reader: csv::Reader<&'a [u8]>,
    names: Vec<String>,
    /// The position of the column of files.
    file_name: usize,
    lines: LineCounter<'a>,
}

/// Opens a table with the first delimiter that gives a column of files. A spreadsheet may state the delimiter in a line
/// before the header: `sep=;`.
fn open_table(bytes: &[u8]) -> Result<CsvTable<'_>, String> {
    let stated = bytes.strip_prefix(b"sep=").and_then(|rest| rest.split_first());
    let (bytes, delimiters, line) = match stated {
        Some((delimiter, rest)) => (rest.trim_ascii_start(), std::slice::from_ref(delimiter), 2),
        None => (bytes, &DELIMITERS[..], 1),
    };
    for delimiter in delimiters {
        let mut reader =
            csv::ReaderBuilder::new().flexible(true).delimiter(*delimiter).from_reader(bytes);
        let header = reader.headers().map_err(|_| format!("line {line}: {NOT_UTF_8}"))?;
        let mut names: Vec<String> = header.iter().map(known_name).collect();
        if let Some(file_name) = name_file_column(&mut names) {
            let lines = LineCounter { bytes, offset: 0, line };
            return Ok(CsvTable { reader, names, file_name, lines });
        }
    }
    Err("it has no column file_name".to_owned())
}

/// Returns the names in the column of files, in the order of the lines.
pub(crate) fn csv_file_names(bytes: &[u8]) -> Result<Vec<String>, String> {
    let CsvTable { mut reader, file_name, .. } = open_table(bytes)?;
    let mut names = Vec::new();
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|cause| cause.to_string())? {
        let name = record.get(file_name).unwrap_or_default();
        names.push(String::from_utf8_lossy(name).into_owned());
    }
    Ok(names)
}

/// Reads a table and returns what is wrong with it.
fn read_table(reader: &mut SidecarReader<'_>, sidecar: &Path, bytes: &[u8]) -> Option<String> {
    let CsvTable { reader: mut table, names, file_name, mut lines } = match open_table(bytes) {
        Ok(table) => table,
        Err(why) => return Some(why),
    };
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    let mut record = csv::ByteRecord::new();
    // The only possible error here is a record of different length, which is allowed.
    while table.read_byte_record(&mut record).unwrap_or(false) {
        diagnostics.set_position(lines.line_of(&record));
        // Cells without a column are ignored.
        let cells = record.iter().take(names.len()).map(str::from_utf8);
        let Ok(row) = cells.collect::<Result<Vec<_>, _>>() else {
            diagnostics.report(NOT_UTF_8);
            continue;
        };
        let row = without_apostrophes(&names, row);
        let Some(name) = row.get(file_name).filter(|name| !name.trim().is_empty()) else {
            diagnostics.report("it has no file_name");
            continue;
        };
        match reader.files.resolve(name, sidecar) {
            Ok(media) => {
                let columns = names.iter().map(String::as_str).zip(row.iter().copied());
                let description = describe_cells(columns, &mut diagnostics);
                reader.add_description(media, sidecar, description);
            }
            Err(why) => diagnostics.report(&why),
        }
    }
    reader.summary(diagnostics)
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
}

fn describe_cells<'a>(
    columns: impl Iterator<Item = (&'a str, &'a str)>,
    diagnostics: &mut SidecarDiagnostics,
) -> MediaDescription {
    let mut description = MediaDescription::default();
    let columns: Vec<_> = columns.filter(|(_, cell)| !cell.trim().is_empty()).collect();
    let find =
        |name: &str| columns.iter().find(|(column, _)| *column == name).map(|(_, cell)| *cell);
    let side = |name| find(name)?.trim().parse().ok();
    let is_export = find(EXPORT_MARK).is_some();
    let unit = BoxUnit::of_row(is_export, side("width"), side("height"));
    let caption = ["caption", "text"].into_iter().chain(CAPTION_ALIASES).find_map(find);
    for (column, cell) in columns {
        push_cell(&mut description.own, column, cell, is_export, &mut diagnostics.refused);
        match column {
            "label" => push_name(&mut description.labels, cell),
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
    description
}

/// The column that marks the rows of an export of this program.
const EXPORT_MARK: &str = "media_id";

/// Returns the cells of a row as they were before an export put apostrophes in front of some, so that no spreadsheet
/// calculates them. The cells of other programs and of users stay as they are.
fn without_apostrophes<'a>(names: &[String], mut row: Vec<&'a str>) -> Vec<&'a str> {
    let mut cells = names.iter().zip(&row);
    if cells.any(|(name, cell)| name == EXPORT_MARK && !cell.trim().is_empty()) {
        for cell in &mut row {
            *cell = cell.strip_prefix('\'').filter(|text| needs_apostrophe(text)).unwrap_or(cell);
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
