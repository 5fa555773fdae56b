//! `metadata.csv`: the columns of `metadata.jsonl` as text. Labels and tags are JSON lists, or
//! names separated by `|` or `;`; objects are JSON.

use std::path::Path;

use super::{
    description::{MediaDescription, push_name},
    diagnostics::SidecarDiagnostics,
    json, objects,
    sidecar_reader::{MAX_SHARED_SIDECAR_BYTES, SidecarReader},
};

pub const FILE_NAME: &str = "metadata.csv";

/// Reads every `metadata.csv` of the folder.
pub fn read(reader: &mut SidecarReader<'_>) {
    for sidecar in reader.files.with_name(FILE_NAME) {
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
    let (mut faults, mut lines) =
        (SidecarDiagnostics::new("line", "lines"), LineCounter { bytes, offset: 0, line: 1 });
    let mut record = csv::ByteRecord::new();
    // The only possible error here is a record of different length, and those are allowed.
    while table.read_byte_record(&mut record).unwrap_or(false) {
        faults.set_position(lines.line_of(&record));
        // Cells without a column are ignored.
        let cells = record.iter().take(names.len()).map(str::from_utf8);
        let Ok(row) = cells.collect::<Result<Vec<_>, _>>() else {
            faults.report("it is not UTF-8");
            continue;
        };
        let Some(name) = row.get(file_name).filter(|name| !name.trim().is_empty()) else {
            faults.report("it has no file_name");
            continue;
        };
        match reader.files.resolve(name, sidecar) {
            Ok(media) => {
                let columns = names.iter().map(String::as_str).zip(row.iter().copied());
                reader.add_description(media, describe(columns, &mut faults));
            }
            Err(why) => faults.report(why),
        }
    }
    faults.summary()
}

/// Computes line numbers of records: the CSV reader does not count every `\r\n`, and attributes
/// blank lines to the next record.
struct LineCounter<'a> {
    bytes: &'a [u8],
    offset: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// Returns the line, from 1, where a record starts. Records must be passed in order.
    fn line_of(&mut self, record: &csv::ByteRecord) -> usize {
        let begin = record.position().and_then(|place| usize::try_from(place.byte()).ok());
        let rest = begin.and_then(|begin| self.bytes.get(begin.max(self.offset)..));
        let rest = rest.unwrap_or_default();
        let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let begin = self.bytes.len() - rest.len() + blank;
        self.line += self.bytes[self.offset..begin].split(|byte| *byte == b'\n').count() - 1;
        self.offset = begin;
        self.line
    }
}

/// Converts a row: pairs of column name and cell.
fn describe<'a>(
    columns: impl Iterator<Item = (&'a str, &'a str)>,
    faults: &mut SidecarDiagnostics,
) -> MediaDescription {
    let mut told = MediaDescription::default();
    let mut text = None;
    for (column, cell) in columns.filter(|(_, cell)| !cell.trim().is_empty()) {
        match column {
            "caption" => told.push_caption(cell),
            "text" => text = Some(cell),
            "label" => push_name(&mut told.labels, cell),
            "labels" if parse_names(cell, &mut told.labels).is_none() => {
                faults.report("its labels are no list of texts");
            }
            "tags" | "user_tags" if parse_names(cell, &mut told.tags).is_none() => {
                faults.report("its tags are no list of texts");
            }
            "objects" => objects::read_objects(cell, &mut told, faults),
            _ => {}
        }
    }
    if let Some(text) = text.filter(|_| told.caption.is_none()) {
        told.push_caption(text);
    }
    told
}

/// Adds the names of a cell to `names`. `None` if it starts like a JSON list but is not a valid
/// one.
fn parse_names(cell: &str, names: &mut Vec<String>) -> Option<()> {
    if cell.trim_start().starts_with('[') {
        return json::collect_names(cell, names);
    }
    cell.split(['|', ';']).for_each(|name| push_name(names, name));
    Some(())
}

#[cfg(test)]
mod tests {
    use crate::ingest::sidecar::test_support::{TestFolder, describe};

    #[test]
    fn rows_are_judged_alone_and_what_is_wrong_is_named() {
        let place = TestFolder::with_media(&["1.jpg", "2.jpg", "deep/3.jpg", "4.jpg", "5.jpg"]);
        let table = concat!(
            "\u{feff}File_Name ,caption,text,labels,label,tags,user_tags,objects,more\r\n",
            "1.jpg,\"A \"\"red\"\"\r\nboat, far.\",ignored,boat | sea;boat,,x,y,,7\r\n",
            "\r\n",
            "2.jpg,,A car.,\"[\"\"car\"\", \"\"a|b\"\"]\",vehicle\r\n",
            "3.jpg,,,,,,,\"{\"\"bbox\"\": [[1, 2, 3, 4]], \"\"categories\"\": [\"\"cat\"\"]}\"\r\n",
            "4.jpg,good,,\"[\"\"kept\"\", 1]\",,[tag],,[\r\n",
            ",nobody's\r\n",
            "9.jpg,nothing\r\n",
            "/5.jpg,outside\r\n",
        );
        place.write("metadata.csv", table);
        let expected = [
            describe("1.jpg", "A \"red\"\r\nboat, far.", "boat sea", "x y", ""),
            describe("2.jpg", "A car.", "car a|b vehicle", "", ""),
            describe("4.jpg", "good", "kept", "", ""),
            describe("deep/3.jpg", "", "deep", "", "cat"),
        ];
        assert_eq!(place.descriptions(), expected);
        let why = "line 7: its labels are no list of texts; 3 more lines";
        assert_eq!(place.problem_of("metadata.csv"), why);
    }

    #[test]
    fn a_table_without_file_names_is_named() {
        let place = TestFolder::with_media(&["1.jpg"]);
        for (table, why) in [
            (&b""[..], "it has no column file_name"),
            (b"name,caption\n1.jpg,x\n", "it has no column file_name"),
            (b"file_name,\xff\n1.jpg,x\n", "line 1: it is not UTF-8"),
            (b"file_name,text\n1.jpg,\xff\n\n1.jpg,\xff\n", "line 2: it is not UTF-8; 1 more line"),
        ] {
            place.write("metadata.csv", table);
            assert_eq!(place.problem_of("metadata.csv"), why);
        }
    }
}
