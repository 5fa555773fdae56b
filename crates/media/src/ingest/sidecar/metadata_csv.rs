//! `metadata.csv`: the columns of `metadata.jsonl` as text. Labels and tags are JSON lists, or
//! names separated by `|` or `;`; objects are JSON.

use std::path::Path;

use super::{
    candidates::METADATA_CSV,
    description::{MediaDescription, push_name},
    diagnostics::SidecarDiagnostics,
    json, objects,
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, SidecarReader},
};

pub fn read(reader: &mut SidecarReader<'_>) {
    for sidecar in reader.files.with_name(METADATA_CSV) {
        reader.mark_used(sidecar);
        if let Some(bytes) = reader.read_bytes(sidecar, MAX_SHARED_SIDECAR_BYTES)
            && let Some(why) = read_table(reader, sidecar, &bytes)
        {
            reader.report_problem(sidecar, why);
        }
    }
}

/// Reads a table and returns what is wrong with it.
fn read_table(reader: &mut SidecarReader<'_>, sidecar: &Path, bytes: &[u8]) -> Option<String> {
    let mut table = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let names: Vec<String> = match table.headers() {
        Ok(names) => names.iter().map(|name| name.trim().to_lowercase()).collect(),
        Err(_) => return Some("line 1: it is not UTF-8".to_owned()),
    };
    let Some(file_name) = names.iter().position(|name| name == "file_name") else {
        return Some("it has no column file_name".to_owned());
    };
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    let mut lines = LineCounter { bytes, offset: 0, line: 1 };
    let mut record = csv::ByteRecord::new();
    // The only possible error here is a record of different length, and those are allowed.
    while table.read_byte_record(&mut record).unwrap_or(false) {
        diagnostics.set_position(lines.line_of(&record));
        // Cells without a column are ignored.
        let cells = record.iter().take(names.len()).map(str::from_utf8);
        let Ok(row) = cells.collect::<Result<Vec<_>, _>>() else {
            diagnostics.report("it is not UTF-8");
            continue;
        };
        let Some(name) = row.get(file_name).filter(|name| !name.trim().is_empty()) else {
            diagnostics.report("it has no file_name");
            continue;
        };
        match reader.files.resolve(name, sidecar) {
            Ok(media) => {
                let columns = names.iter().map(String::as_str).zip(row.iter().copied());
                reader.add_description(media, describe(columns, &mut diagnostics));
            }
            Err(why) => diagnostics.report(why),
        }
    }
    diagnostics.summary()
}

/// The CSV reader does not count every `\r\n`, and attributes blank lines to the next record.
struct LineCounter<'a> {
    bytes: &'a [u8],
    offset: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// Returns the line, from 1, where a record starts. Records must be passed in order.
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

fn describe<'a>(
    columns: impl Iterator<Item = (&'a str, &'a str)>,
    diagnostics: &mut SidecarDiagnostics,
) -> MediaDescription {
    let mut description = MediaDescription::default();
    let mut text = None;
    for (column, cell) in columns.filter(|(_, cell)| !cell.trim().is_empty()) {
        match column {
            "caption" => description.push_caption(cell),
            "text" => text = Some(cell),
            "label" => push_name(&mut description.labels, cell),
            "labels" if json::parse_names(cell, &mut description.labels).is_none() => {
                diagnostics.report("its labels are not a list of strings");
            }
            "tags" | "user_tags" if json::parse_names(cell, &mut description.tags).is_none() => {
                diagnostics.report("its tags are not a list of strings");
            }
            "objects" => objects::read_objects(cell, &mut description, diagnostics),
            _ => {}
        }
    }
    if let Some(text) = text.filter(|_| description.caption.is_none()) {
        description.push_caption(text);
    }
    description
}
