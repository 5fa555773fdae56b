//! Class names for YOLO boxes: the `names` key of a `data.yaml`, or a text file with one name per
//! line, in the folder of the boxes or its nearest ancestor.
//!
//! Only that key of the YAML file is parsed, in the styles that tools write.

use std::{
    collections::{BTreeMap, HashMap},
    mem,
    path::{Path, PathBuf},
    rc::Rc,
};

use super::{
    description::normalized_name,
    sidecar_reader::{MAX_SINGLE_SIDECAR_BYTES, SidecarReader},
};

/// File names to look for, in this order.
const FILE_NAMES: [&str; 5] =
    ["data.yaml", "dataset.yaml", "classes.txt", "obj.names", "_darknet.labels"];

/// Names by class number.
pub type ClassMap = BTreeMap<u64, String>;

/// Whether a file of this name may contain class names.
#[must_use]
pub fn is_candidate(path: &Path) -> bool {
    path.file_name().is_some_and(|name| FILE_NAMES.iter().any(|file| name == *file))
}

/// Class names by folder, cached.
#[derive(Default)]
pub struct ClassNames(HashMap<PathBuf, Rc<ClassMap>>);

impl ClassNames {
    /// Returns the class names for a sidecar; empty if there are none.
    pub fn for_sidecar(&mut self, reader: &mut SidecarReader<'_>, sidecar: &Path) -> Rc<ClassMap> {
        let folder = sidecar.parent().unwrap_or(Path::new(""));
        if let Some(names) = self.0.get(folder) {
            return Rc::clone(names);
        }
        let found = folder.ancestors().find_map(|folder| read_folder(reader, folder));
        let names = Rc::new(found.unwrap_or_default());
        self.0.insert(folder.to_owned(), Rc::clone(&names));
        names
    }
}

/// Reads the class names in a folder.
fn read_folder(reader: &mut SidecarReader<'_>, folder: &Path) -> Option<ClassMap> {
    FILE_NAMES.iter().find_map(|file| {
        let path = reader.files.get(&folder.join(file))?;
        let text = reader.read_text(path, MAX_SINGLE_SIDECAR_BYTES)?;
        let names = if path.extension().is_some_and(|it| it == "yaml") {
            parse_yaml(&text)
        } else {
            parse_lines(&text)
        };
        (!names.is_empty()).then(|| {
            reader.mark_used(path);
            names
        })
    })
}

fn parse_lines(text: &str) -> ClassMap {
    (0..)
        .zip(text.trim_end().lines())
        .filter_map(|(class, line)| Some((class, normalized_name(line)?)))
        .collect()
}

/// Parses the `names` key: a list or a map, in flow or block style.
fn parse_yaml(text: &str) -> ClassMap {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("names:"));
    let Some(first) = lines.next().and_then(|line| line.strip_prefix("names:")) else {
        return ClassMap::new();
    };
    let first = strip_comment(first).trim();
    let entries = if first.is_empty() {
        block_entries(lines)
    } else {
        let rest = lines.map(strip_comment);
        flow_entries(&[first].into_iter().chain(rest).collect::<Vec<_>>().join(" "))
    };
    let mut names = ClassMap::new();
    for (place, entry) in (0..).zip(entries) {
        let keyed = entry.split_once(':').and_then(|(key, value)| {
            let key = key.trim().trim_matches(['"', '\'']).parse().ok()?;
            Some((key, value))
        });
        let (class, value) = keyed.unwrap_or((place, &entry));
        names.extend(normalized_name(&unquote(value.trim())).map(|name| (class, name)));
    }
    names
}

/// Entries of a block-style list or map.
fn block_entries<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    lines
        .map(strip_comment)
        .filter(|line| !line.trim().is_empty())
        .take_while(|line| line.starts_with(['-', ' ', '\t']))
        .map(|line| line.trim().trim_start_matches("- ").to_owned())
        .collect()
}

/// Entries of a flow-style list or map, split at commas outside quotes.
fn flow_entries(text: &str) -> Vec<String> {
    let Some(text) = text.strip_prefix(['[', '{']) else { return Vec::new() };
    let (mut entries, mut entry) = (Vec::new(), String::new());
    // A quote opens only at the start of a value: within a word it is an apostrophe.
    let (mut quote, mut begins) = (None, true);
    for character in text.chars() {
        match (quote, character) {
            (None, ']' | '}') => break,
            (None, ',') => {
                entries.push(mem::take(&mut entry));
                begins = true;
                continue;
            }
            (None, '"' | '\'') if begins => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
        begins = quote.is_none() && (character == ':' || (begins && character.is_whitespace()));
        entry.push(character);
    }
    entries.push(entry);
    entries
}

fn strip_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    line.split_once(" #").map_or(line, |(line, _)| line)
}

fn unquote(text: &str) -> String {
    let within = |quote| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    match (within('\''), within('"')) {
        (Some(text), _) => text.replace("''", "'"),
        (_, Some(text)) => text.replace("\\\"", "\"").replace("\\\\", "\\"),
        (None, None) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_all_the_ways_tools_write_them() {
        for text in [
            "train: ../train\nnc: 3\nnames: ['traffic light', \"it's\", dog]\n",
            "names: [ traffic light,  # the first\n  it's , 'dog'\n]\nroboflow:\n  a: [b]",
            "names:\n  0: traffic light # comment\n  1: \"it's\"\n\n  # two\n  2: dog\nnc: 3\n",
            "names:\r\n- traffic light\r\n- 'it''s'\r\n- dog\r\nval: x\r\n",
            "names:\n    - traffic light\n    - it's\n    - dog",
            "names: {0: traffic light, '1': \"it's\", 2: dog}",
        ] {
            let names = parse_yaml(text);
            let expected = [(0, "traffic light"), (1, "it's"), (2, "dog")];
            assert_eq!(
                names,
                expected.map(|(class, name)| (class, name.to_owned())).into(),
                "{text}"
            );
        }
        assert_eq!(
            parse_yaml("names: {80: 'a:', 7: 'b, c'}"),
            ClassMap::from([(7, "b, c".into()), (80, "a:".into())])
        );
        for none in ["", "nc: 3", "names:", "names: 3", "names: []", " names: [a]", "names: {}"] {
            assert!(parse_yaml(none).is_empty(), "{none}");
        }
        let expected = [(0, "a".to_owned()), (2, "b".to_owned())].into();
        assert_eq!(parse_lines("a\r\n\r\n b\n\n"), expected);
    }
}
