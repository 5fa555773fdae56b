//! Class names for the numbers of YOLO and `WebDataset`: the `names` key of a `data.yaml`, or a text
//! file with one name per line, in the folder of the file or its nearest ancestor.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    rc::Rc,
};

use saphyr_parser::{Event, Parser};

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
        let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
        let names = if is_yaml { parse_yaml(&text) } else { parse_lines(&text) };
        if let Some(why) = yaml_error(&text).filter(|_| is_yaml) {
            reader.report_problem(path, why);
        }
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

/// Parses the key `names` of the top-level map from events, which keep scalars as text and expand no
/// aliases; an alias for all names is looked up.
fn parse_yaml(text: &str) -> ClassMap {
    let events = || Parser::new_from_str(text).map_while(Result::ok).map(|(event, _)| event);
    let mut value = skip_to_names(events());
    match value.next() {
        Some(Event::Alias(anchor)) => {
            let mut events = events().skip_while(|event| anchor_of(event) != Some(anchor));
            events.next().map(|start| entries(&start, events)).unwrap_or_default()
        }
        Some(start) => entries(&start, value),
        None => ClassMap::new(),
    }
}

/// Where a text is not YAML. What is before it is read.
fn yaml_error(text: &str) -> Option<String> {
    let cause = Parser::new_from_str(text).find_map(Result::err)?;
    Some(format!("line {}: invalid YAML", cause.marker().line()))
}

/// Skips to the value of the key `names` in the top-level map.
fn skip_to_names<'a>(
    mut events: impl Iterator<Item = Event<'a>>,
) -> impl Iterator<Item = Event<'a>> {
    let (mut depth, mut is_key) = (0_usize, true);
    for event in events.by_ref() {
        match event {
            Event::Scalar(key, ..) if depth == 1 && is_key && key == "names" => break,
            // Text in place of a map has no keys.
            Event::Scalar(..) | Event::Alias(_) => {}
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                depth += 1;
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 1 {
            is_key = !is_key;
        }
    }
    events
}

fn anchor_of(event: &Event<'_>) -> Option<usize> {
    match event {
        Event::SequenceStart(anchor, ..) | Event::MappingStart(anchor, ..) => Some(*anchor),
        _ => None,
    }
}

/// Reads the list or map that begins with `start`.
fn entries<'a>(start: &Event<'a>, rest: impl Iterator<Item = Event<'a>>) -> ClassMap {
    match start {
        Event::SequenceStart(..) => list_entries(rest),
        Event::MappingStart(..) => map_entries(rest),
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
