//! The names of YOLO's classes: from the `names` of a `data.yaml`, or from a text with one name a
//! line, in the folder of the boxes or the nearest above it.
//!
//! Of YAML only that one key is read, in the ways in which tools write it.

use std::{
    collections::{BTreeMap, HashMap},
    mem,
    path::{Path, PathBuf},
    rc::Rc,
};

use super::{
    description::name,
    reader::{Reader, SMALL},
};

/// Where names are looked for, in this order.
const FILES: [&str; 5] =
    ["data.yaml", "dataset.yaml", "classes.txt", "obj.names", "_darknet.labels"];

/// Names by class.
pub type Names = BTreeMap<u64, String>;

/// Whether a file of this name may tell the names of classes.
#[must_use]
pub fn is_candidate(path: &Path) -> bool {
    path.file_name().is_some_and(|name| FILES.iter().any(|file| name == *file))
}

/// The names for every folder that was asked for.
#[derive(Default)]
pub struct ClassNames(HashMap<PathBuf, Rc<Names>>);

impl ClassNames {
    /// The names for the boxes in a sidecar; empty if nobody tells any.
    pub fn of(&mut self, reader: &mut Reader<'_>, sidecar: &Path) -> Rc<Names> {
        let folder = sidecar.parent().unwrap_or(Path::new(""));
        if let Some(names) = self.0.get(folder) {
            return Rc::clone(names);
        }
        let found = folder.ancestors().find_map(|folder| look(reader, folder));
        let names = Rc::new(found.unwrap_or_default());
        self.0.insert(folder.to_owned(), Rc::clone(&names));
        names
    }
}

/// The names that a folder tells.
fn look(reader: &mut Reader<'_>, folder: &Path) -> Option<Names> {
    FILES.iter().find_map(|file| {
        let path = reader.files.at(&folder.join(file))?;
        let text = reader.text(path, SMALL)?;
        let names = if path.extension().is_some_and(|it| it == "yaml") {
            yaml(&text)
        } else {
            lines(&text)
        };
        (!names.is_empty()).then(|| {
            reader.used(path);
            names
        })
    })
}

fn lines(text: &str) -> Names {
    (0..)
        .zip(text.trim_end().lines())
        .filter_map(|(class, line)| Some((class, name(line)?)))
        .collect()
}

/// The value of the key `names`: a list or a map, on one line or on many.
fn yaml(text: &str) -> Names {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("names:"));
    let Some(first) = lines.next().and_then(|line| line.strip_prefix("names:")) else {
        return Names::new();
    };
    let first = uncommented(first).trim();
    let entries = if first.is_empty() {
        block(lines)
    } else {
        let rest = lines.map(uncommented);
        inline(&[first].into_iter().chain(rest).collect::<Vec<_>>().join(" "))
    };
    let mut names = Names::new();
    for (place, entry) in (0..).zip(entries) {
        let keyed = entry.split_once(':').and_then(|(key, value)| {
            let key = key.trim().trim_matches(['"', '\'']).parse().ok()?;
            Some((key, value))
        });
        let (class, value) = keyed.unwrap_or((place, &entry));
        names.extend(name(&unquoted(value.trim())).map(|name| (class, name)));
    }
    names
}

/// The entries of a list or map of one line each.
fn block<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    lines
        .map(uncommented)
        .filter(|line| !line.trim().is_empty())
        .take_while(|line| line.starts_with(['-', ' ', '\t']))
        .map(|line| line.trim().trim_start_matches("- ").to_owned())
        .collect()
}

/// The entries between the brackets or braces with which `text` begins, split at commas outside of
/// quotes.
fn inline(text: &str) -> Vec<String> {
    let Some(text) = text.strip_prefix(['[', '{']) else { return Vec::new() };
    let (mut entries, mut entry) = (Vec::new(), String::new());
    // A quote opens only where a value begins: within a word it is an apostrophe.
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

/// A line without its comment.
fn uncommented(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    line.split_once(" #").map_or(line, |(line, _)| line)
}

/// A scalar without its quotes.
fn unquoted(text: &str) -> String {
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
    fn m51_names_are_read_in_all_the_ways_tools_write_them() {
        for text in [
            "train: ../train\nnc: 3\nnames: ['traffic light', \"it's\", dog]\n",
            "names: [ traffic light,  # the first\n  it's , 'dog'\n]\nroboflow:\n  a: [b]",
            "names:\n  0: traffic light # comment\n  1: \"it's\"\n\n  # two\n  2: dog\nnc: 3\n",
            "names:\r\n- traffic light\r\n- 'it''s'\r\n- dog\r\nval: x\r\n",
            "names:\n    - traffic light\n    - it's\n    - dog",
            "names: {0: traffic light, '1': \"it's\", 2: dog}",
        ] {
            let names = yaml(text);
            let expected = [(0, "traffic light"), (1, "it's"), (2, "dog")];
            assert_eq!(
                names,
                expected.map(|(class, name)| (class, name.to_owned())).into(),
                "{text}"
            );
        }
        assert_eq!(
            yaml("names: {80: 'a:', 7: 'b, c'}"),
            Names::from([(7, "b, c".into()), (80, "a:".into())])
        );
        for none in ["", "nc: 3", "names:", "names: 3", "names: []", " names: [a]", "names: {}"] {
            assert!(yaml(none).is_empty(), "{none}");
        }
        let expected = [(0, "a".to_owned()), (2, "b".to_owned())].into();
        assert_eq!(lines("a\r\n\r\n b\n\n"), expected);
    }
}
