//! Class names for YOLO boxes: the `names` key of a `data.yaml`, or a text file with one name per
//! line, in the folder of the boxes or its nearest ancestor.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    rc::Rc,
};

use saphyr_parser::{Event, Parser, Span};

use super::{
    candidates::CLASS_NAME_FILES,
    description::normalized_name,
    sidecar_reader::{MAX_PER_IMAGE_SIDECAR_BYTES, SidecarReader},
};

pub type ClassMap = BTreeMap<u64, String>;

#[derive(Default)]
pub struct ClassNames(HashMap<PathBuf, Rc<ClassMap>>);

impl ClassNames {
    pub fn for_sidecar(&mut self, reader: &mut SidecarReader<'_>, sidecar: &Path) -> Rc<ClassMap> {
        let folder = sidecar.parent().unwrap_or(Path::new(""));
        if let Some(names) = self.0.get(folder) {
            return Rc::clone(names);
        }
        let nearest = folder.ancestors().find_map(|folder| read_folder(reader, folder));
        let names = Rc::new(nearest.unwrap_or_default());
        self.0.insert(folder.to_owned(), Rc::clone(&names));
        names
    }
}

fn read_folder(reader: &mut SidecarReader<'_>, folder: &Path) -> Option<ClassMap> {
    CLASS_NAME_FILES.iter().find_map(|file| {
        let path = reader.files.get(&folder.join(file))?;
        let text = reader.read_text(path, MAX_PER_IMAGE_SIDECAR_BYTES)?;
        let yaml = path.extension().is_some_and(|extension| extension == "yaml");
        let names = if yaml { parse_yaml(&text) } else { parse_lines(&text) };
        if names.is_empty() {
            return None;
        }
        reader.mark_used(path);
        Some(names)
    })
}

fn parse_lines(text: &str) -> ClassMap {
    (0..)
        .zip(text.trim_end().lines())
        .filter_map(|(class, line)| Some((class, normalized_name(line)?)))
        .collect()
}

/// Parses the top-level key `names` from events, which keep scalars as text and expand no aliases.
fn parse_yaml(text: &str) -> ClassMap {
    let mut parsed = Parser::new_from_str(text).map_while(Result::ok);
    let is_key = |(event, span): &(Event<'_>, Span)| {
        span.start.col() == 0 && matches!(event, Event::Scalar(key, ..) if key == "names")
    };
    if !parsed.any(|event| is_key(&event)) {
        return ClassMap::new();
    }
    let mut events = parsed.map(|(event, _)| event);
    match events.next() {
        Some(Event::SequenceStart(..)) => list_entries(events),
        Some(Event::MappingStart(..)) => map_entries(events),
        _ => ClassMap::new(),
    }
}

/// Reads a list up to its end. An entry that is not a scalar has a number but no name.
fn list_entries<'a>(events: impl Iterator<Item = Event<'a>>) -> ClassMap {
    let (mut names, mut class, mut depth) = (ClassMap::new(), 0, 0_usize);
    for event in events {
        match event {
            Event::Scalar(text, ..) if depth == 0 => {
                names.extend(normalized_name(&text).map(|name| (class, name)));
                class += 1;
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
            Event::SequenceEnd | Event::MappingEnd if depth == 0 => break,
            Event::SequenceEnd | Event::MappingEnd => {
                depth -= 1;
                class += u64::from(depth == 0);
            }
            _ => {}
        }
    }
    names
}

/// Reads the pairs of a map up to the first one that is not a pair of scalars.
fn map_entries<'a>(mut events: impl Iterator<Item = Event<'a>>) -> ClassMap {
    let mut names = ClassMap::new();
    while let (Some(Event::Scalar(class, ..)), Some(Event::Scalar(name, ..))) =
        (events.next(), events.next())
    {
        if let (Ok(class), Some(name)) = (class.trim().parse(), normalized_name(&name)) {
            names.insert(class, name);
        }
    }
    names
}
