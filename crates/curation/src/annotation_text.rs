//! Removes and renames the entries of files in the text of an annotation file. All other bytes stay as they are.

use std::{
    collections::{BTreeMap, HashSet},
    mem,
    ops::Range,
    path::Path,
};

use serde::Deserialize;
use serde_json::value::RawValue;
use tessera_model::table_delimiters;

/// What happens to the entry of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryChange {
    Remove,
    /// The file gets this name.
    Rename(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EditedText {
    pub text: String,
    /// The number of entries that were removed, without the objects of removed pictures.
    pub removed: usize,
    pub renamed: usize,
}

/// Returns what happens to the entry with a name, or `None` if nothing does.
pub(crate) type FindChange<'a> = &'a mut dyn FnMut(&str) -> Option<EntryChange>;

/// Changes the entries of a COCO file or another JSON list, of JSON lines, of a table, or of a list of file names. The
/// extension says which. Fails with a reason if the file cannot be changed.
pub(crate) fn edit(
    path: &Path,
    text: &str,
    change: FindChange<'_>,
) -> Result<EditedText, &'static str> {
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    let mut editor = Editor { text, edits: Vec::new(), removed: 0, renamed: 0, change };
    match extension.to_ascii_lowercase().as_str() {
        "json" => editor.edit_json()?,
        "jsonl" | "ndjson" => editor.edit_json_lines()?,
        "csv" | "tsv" => {
            let delimiters = table_delimiters(text.trim_start_matches('\u{feff}'));
            editor.edit_table(delimiters[0]);
        }
        "txt" | "lst" => editor.edit_list(),
        _ => return Err("only JSON, JSON lines, CSV, TSV and lists of names can be rewritten"),
    }
    Ok(editor.finish())
}

const NOT_JSON: &str = "it is not JSON";

struct Editor<'a, 'c> {
    text: &'a str,
    /// The ranges that are replaced, not sorted.
    edits: Vec<(Range<usize>, String)>,
    removed: usize,
    renamed: usize,
    change: FindChange<'c>,
}

/// An element of a JSON list.
struct Element<'a> {
    raw: &'a RawValue,
    is_removed: bool,
}

/// The number of an image or video of COCO, and the numbers by which an annotation belongs to one.
#[derive(Deserialize)]
struct Numbers<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    image_id: Option<&'a RawValue>,
    #[serde(borrow)]
    video_id: Option<&'a RawValue>,
}

impl<'a> Element<'a> {
    fn numbers(&self) -> Option<Numbers<'a>> {
        serde_json::from_str(self.raw.get()).ok()
    }
}

/// Returns the numbers of the images or videos that are removed.
fn removed_numbers<'a>(list: Option<&Vec<Element<'a>>>) -> HashSet<&'a str> {
    let removed = list.into_iter().flatten().filter(|element| element.is_removed);
    removed.filter_map(|element| element.numbers()?.id).map(RawValue::get).collect()
}

type Members<'a> = BTreeMap<String, &'a RawValue>;

impl<'a> Editor<'a, '_> {
    fn edit_json(&mut self) -> Result<(), &'static str> {
        let text = self.text.trim_start_matches('\u{feff}');
        let root: &RawValue = serde_json::from_str(text).map_err(|_| NOT_JSON)?;
        if root.get().starts_with('[') {
            let elements = self.edit_elements(root)?;
            self.remove_elements(&elements);
            return Ok(());
        }
        let members: Members = parse(root)?;
        let mut lists = BTreeMap::new();
        for (name, list) in members.into_iter().filter(|(_, raw)| raw.get().starts_with('[')) {
            lists.insert(name, self.edit_elements(list)?);
        }
        let [images, videos] = ["images", "videos"].map(|name| removed_numbers(lists.get(name)));
        for element in lists.get_mut("annotations").into_iter().flatten() {
            let is_of = |id: Option<&RawValue>, removed: &HashSet<&str>| {
                id.is_some_and(|id| removed.contains(id.get()))
            };
            element.is_removed |= element.numbers().is_some_and(|numbers| {
                is_of(numbers.image_id, &images) || is_of(numbers.video_id, &videos)
            });
        }
        for elements in lists.values() {
            self.remove_elements(elements);
        }
        Ok(())
    }

    /// Renames the entries of a JSON list, and finds those to remove.
    fn edit_elements(&mut self, list: &'a RawValue) -> Result<Vec<Element<'a>>, &'static str> {
        let raw: Vec<&RawValue> = parse(list)?;
        let mut elements = Vec::with_capacity(raw.len());
        for raw in raw {
            let is_removed = match raw.get().as_bytes().first() {
                Some(b'"') => self.change_value(raw)?,
                Some(b'{') => self.change_members(&parse(raw)?)?,
                _ => false,
            };
            self.removed += usize::from(is_removed);
            elements.push(Element { raw, is_removed });
        }
        Ok(elements)
    }

    /// Renames the members that name a file. Returns whether the entry is to be removed.
    fn change_members(&mut self, members: &Members<'a>) -> Result<bool, &'static str> {
        for value in members.values().filter(|value| value.get().starts_with('"')) {
            if self.change_value(value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Renames a JSON string that names a file. Returns whether the entry is to be removed.
    fn change_value(&mut self, value: &'a RawValue) -> Result<bool, &'static str> {
        match (self.change)(&parse::<String>(value)?) {
            None => Ok(false),
            Some(EntryChange::Remove) => Ok(true),
            Some(EntryChange::Rename(name)) => {
                let name = serde_json::to_string(&name).map_err(|_| NOT_JSON)?;
                self.rename(self.range(value.get()), name);
                Ok(false)
            }
        }
    }

    /// Removes elements of a JSON list, each together with the comma that follows or, at the end, precedes it.
    fn remove_elements(&mut self, elements: &[Element<'a>]) {
        let ranges: Vec<_> = elements.iter().map(|it| self.range(it.raw.get())).collect();
        let kept = elements.iter().rposition(|element| !element.is_removed);
        for (number, element) in elements.iter().enumerate().take(kept.unwrap_or(0)) {
            if element.is_removed {
                self.remove(ranges[number].start..ranges[number + 1].start);
            }
        }
        let start =
            kept.map_or_else(|| ranges.first().map(|it| it.start), |kept| Some(ranges[kept].end));
        if let (Some(start), Some(last)) = (start, ranges.last())
            && start < last.end
        {
            self.remove(start..last.end);
        }
    }

    fn edit_json_lines(&mut self) -> Result<(), &'static str> {
        for line in self.text.split_inclusive('\n') {
            let entry = line.trim_start_matches('\u{feff}').trim();
            if entry.is_empty() {
                continue;
            }
            let members: Members =
                serde_json::from_str(entry).map_err(|_| "one of its lines is not a JSON object")?;
            if self.change_members(&members)? {
                self.removed += 1;
                self.remove(self.range(line));
            }
        }
        Ok(())
    }

    fn edit_table(&mut self, delimiter: u8) {
        for (record, fields) in records(self.text, delimiter) {
            for field in fields {
                let raw = &self.text[field.clone()];
                let quoted = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
                let name = quoted.map_or(raw.into(), |raw| raw.replace("\"\"", "\""));
                match (self.change)(&name) {
                    None => {}
                    Some(EntryChange::Remove) => {
                        self.removed += 1;
                        self.remove(record);
                        break;
                    }
                    Some(EntryChange::Rename(new)) => {
                        let needs_quotes = new.contains(['"', '\r', '\n', char::from(delimiter)]);
                        let is_quoted = quoted.is_some() || needs_quotes;
                        let new = if is_quoted {
                            format!("\"{}\"", new.replace('"', "\"\""))
                        } else {
                            new
                        };
                        self.rename(field, new);
                    }
                }
            }
        }
    }

    /// Changes a list of names, each of which may be followed by a number or the like.
    fn edit_list(&mut self) {
        for line in self.text.split_inclusive('\n') {
            let entry = line.trim_start_matches('\u{feff}').trim();
            let first = entry.rsplit_once(char::is_whitespace).map(|(first, _)| first.trim_end());
            for name in [Some(entry), first].into_iter().flatten() {
                match (self.change)(name) {
                    None => continue,
                    Some(EntryChange::Remove) => {
                        self.removed += 1;
                        self.remove(self.range(line));
                    }
                    Some(EntryChange::Rename(new)) => self.rename(self.range(name), new),
                }
                break;
            }
        }
    }

    /// Returns the range of a part of the text.
    fn range(&self, part: &'a str) -> Range<usize> {
        let start = part.as_ptr().addr() - self.text.as_ptr().addr();
        start..start + part.len()
    }

    fn remove(&mut self, range: Range<usize>) {
        self.edits.push((range, String::new()));
    }

    fn rename(&mut self, range: Range<usize>, name: String) {
        self.renamed += 1;
        self.edits.push((range, name));
    }

    fn finish(mut self) -> EditedText {
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let (mut text, mut done) = (String::with_capacity(self.text.len()), 0);
        for (range, new) in &self.edits {
            // An entry that is removed may contain a name that was changed before.
            if range.start >= done {
                text.push_str(&self.text[done..range.start]);
                text.push_str(new);
                done = range.end;
            } else {
                done = done.max(range.end);
            }
        }
        text.push_str(&self.text[done..]);
        EditedText { text, removed: self.removed, renamed: self.renamed }
    }
}

/// Divides a table (RFC 4180) into its records with their line ends, and into the fields of each, with their quotes.
fn records(text: &str, delimiter: u8) -> Vec<(Range<usize>, Vec<Range<usize>>)> {
    let bytes = text.as_bytes();
    let mut record = text.len() - text.trim_start_matches('\u{feff}').len();
    let (mut field, mut is_quoted) = (record, false);
    let (mut records, mut fields) = (Vec::new(), Vec::new());
    for (at, byte) in text.bytes().enumerate().skip(record) {
        if byte == b'"' && bytes[field] == b'"' {
            // Two quotes inside a quoted field stand for one. They end the quotes and begin them again.
            is_quoted = !is_quoted;
        } else if !is_quoted && (byte == delimiter || byte == b'\n') {
            let end =
                if byte == b'\n' && at > field && bytes[at - 1] == b'\r' { at - 1 } else { at };
            fields.push(field..end);
            field = at + 1;
            if byte == b'\n' {
                records.push((record..field, mem::take(&mut fields)));
                record = field;
            }
        }
    }
    if record < text.len() {
        fields.push(field..text.len());
        records.push((record..text.len(), fields));
    }
    records
}

fn parse<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T, &'static str> {
    serde_json::from_str(raw.get()).map_err(|_| NOT_JSON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_name_gets_the_quotes_that_it_needs() {
        let mut change = |name: &str| {
            let new = match name {
                "c.jpg" => "x,\"y\".jpg",
                "d.jpg" => "z.jpg",
                _ => return None,
            };
            Some(EntryChange::Rename(new.to_owned()))
        };
        let edited = edit(Path::new("a.csv"), "f,g\nc.jpg,1\n\"d.jpg\",2\n", &mut change);
        let text = "f,g\n\"x,\"\"y\"\".jpg\",1\n\"z.jpg\",2\n".to_owned();
        assert_eq!(edited, Ok(EditedText { text, removed: 0, renamed: 2 }));
    }
}
