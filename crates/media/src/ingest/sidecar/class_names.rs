//! Finds the names of the classes that boxes of YOLO give as numbers. The names are in a file of the dataset: YAML, a
//! list of lines, or the `notes.json` of Label Studio.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::PathBuf,
    rc::Rc,
};

use saphyr_parser::{Event, Parser};
use serde::Deserialize;

use super::prelude::*;
use super::{
    file_index::FileIndex,
    sidecar_names::{CLASS_NAME_FILES, NOTES_JSON, is_named},
    sidecar_reader::MAX_PER_IMAGE_SIDECAR_BYTES,
};
use crate::ingest::file_names::printable_path;

pub(super) type ClassMap = BTreeMap<u64, String>;

/// What a file of class names says about the labels of its folder.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Classes {
    pub names: ClassMap,
    /// The number of keypoints of an object, and the numbers of a keypoint: 2, or 3 with its visibility.
    pub keypoint_shape: Option<[usize; 2]>,
    /// The folder of the file, which is the folder of a dataset.
    pub folder: Option<Rc<Path>>,
}

/// The class names by the folder of their file.
pub(crate) struct ClassNames<'a> {
    /// The files of each folder that may name classes, ordered by name.
    files: HashMap<&'a Path, Vec<&'a Path>>,
    known: HashMap<PathBuf, Option<Rc<Classes>>>,
    /// The class names in subfolders without media, such as `config`, by the folder that contains them.
    beside: HashMap<PathBuf, Option<Rc<Classes>>>,
    /// The files in folders without media by the folder that contains their folder.
    files_beside: HashMap<&'a Path, Vec<&'a Path>>,
}

impl<'a> ClassNames<'a> {
    pub fn new(files: &FileIndex<'a>) -> Self {
        let mut all = HashMap::<_, Vec<_>>::new();
        for path in files.all().filter(|path| may_name_classes(path)) {
            all.entry(path.parent().unwrap_or(Path::new(""))).or_default().push(path);
        }
        let with_media: HashSet<&Path> = files.media().flat_map(Path::ancestors).collect();
        let mut files_beside = HashMap::<_, Vec<_>>::new();
        for (folder, files) in all.iter().filter(|(folder, _)| !with_media.contains(*folder)) {
            if let Some(above) = folder.parent() {
                files_beside.entry(above).or_default().extend(files);
            }
        }
        for files in files_beside.values_mut() {
            files.sort_unstable();
        }
        Self { files: all, known: HashMap::new(), beside: HashMap::new(), files_beside }
    }

    /// Returns the class names in the nearest folder above a sidecar, or else beside such a folder.
    pub(super) fn for_sidecar(
        &mut self,
        reader: &mut SidecarReader<'a>,
        sidecar: &Path,
    ) -> Rc<Classes> {
        let folders = || sidecar.ancestors().skip(1);
        for folder in folders() {
            if !self.known.contains_key(folder) {
                let found = self.read_folder(reader, folder).map(Rc::new);
                self.known.insert(folder.to_owned(), found);
            }
            if let Some(found) = &self.known[folder] {
                return Rc::clone(found);
            }
        }
        let beside = folders().find_map(|folder| {
            let files = self.files_beside.get(folder)?;
            let known = self.beside.entry(folder.to_owned());
            let read = || Self::read_only_file(reader, files).map(|(_, classes)| Rc::new(classes));
            known.or_insert_with(read).clone()
        });
        beside.unwrap_or_default()
    }

    /// Reads the class names of a folder: from a file of a usual name, or from the only other file that names classes.
    fn read_folder(&mut self, reader: &mut SidecarReader<'a>, folder: &Path) -> Option<Classes> {
        let files = self.files.get(folder)?;
        let usual = CLASS_NAME_FILES.iter().filter_map(|name| {
            let path = files.iter().find(|path| is_named(path, &[*name]))?;
            read_file(reader, path).map(|classes| (*path, classes))
        });
        let usual: Vec<_> = usual.collect();
        let first = usual.first().cloned();
        let (path, mut classes) = first.or_else(|| Self::read_only_file(reader, files))?;
        reader.mark_used(path);
        for (other, further) in usual.iter().skip(1) {
            if further.names == classes.names {
                reader.mark_used(other);
                continue;
            }
            let used = printable_path(path);
            let why = format!(
                "its class names differ from those in {used}, which are used; remove the file that is wrong"
            );
            reader.report_problem(other, why);
        }
        classes.folder = Some(folder.into());
        // A list of names may be beside the labels, and the YAML above them.
        if classes.keypoint_shape.is_none() && folder.parent().is_some() {
            classes.keypoint_shape = self.for_sidecar(reader, folder).keypoint_shape;
        }
        Some(classes)
    }

    /// Reads the only file that names classes under another name. Files that contradict each other are reported.
    fn read_only_file(
        reader: &mut SidecarReader<'a>,
        files: &[&'a Path],
    ) -> Option<(&'a Path, Classes)> {
        let found: Vec<_> =
            files.iter().filter_map(|path| Some((*path, read_file(reader, path)?))).collect();
        for (path, _) in &found {
            reader.mark_used(path);
        }
        let (first, classes) = found.first()?.clone();
        if let Some((other, _)) = found.iter().find(|(_, other)| other.names != classes.names) {
            let name = printable_path(other);
            let why = format!(
                "its class names differ from those in {}, so neither are used",
                name.as_str()
            );
            reader.report_problem(first, why);
            return None;
        }
        found.into_iter().max_by_key(|(_, classes)| classes.keypoint_shape.is_some())
    }
}

/// Further names of lists of lines.
const OTHER_CLASS_LISTS: [&str; 7] = [
    "_classes.txt",
    "class_list.txt",
    "class_names.txt",
    "classnames.txt",
    "labelmap.txt",
    "names.txt",
    "predefined_classes.txt",
];

/// Whether a file may contain class names: YAML, or a list of lines with a usual name.
pub fn may_name_classes(path: &Path) -> bool {
    is_yaml(path)
        || has_extension(path, "names")
        || is_named(path, &OTHER_CLASS_LISTS)
        || is_named(path, &CLASS_NAME_FILES)
}

fn is_yaml(path: &Path) -> bool {
    has_extension(path, "yaml") || has_extension(path, "yml")
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case(extension))
}

/// Returns the classes that a file names, of which there is at least one.
fn read_file(reader: &mut SidecarReader<'_>, path: &Path) -> Option<Classes> {
    let text = reader.read_text(path, MAX_PER_IMAGE_SIDECAR_BYTES)?;
    let names = if is_yaml(path) {
        parse_yaml(&text, "names")
    } else if is_named(path, &[NOTES_JSON]) {
        parse_notes(&text)
    } else {
        parse_name_lines(&text)
    };
    let is_usual = is_named(path, &CLASS_NAME_FILES);
    if let Some(why) =
        yaml_error(&text).filter(|_| is_yaml(path) && (is_usual || !names.is_empty()))
    {
        reader.report_problem(path, why);
    }
    let keypoint_shape = is_yaml(path).then(|| keypoint_shape(&text)).flatten();
    (!names.is_empty()).then_some(Classes { names, keypoint_shape, folder: None })
}

/// Reads the classes in the `notes.json` of Label Studio.
fn parse_notes(text: &str) -> ClassMap {
    #[derive(Deserialize)]
    struct Notes {
        categories: Vec<Category>,
    }
    #[derive(Deserialize)]
    struct Category {
        id: u64,
        name: String,
    }
    let notes = documents::parse_object::<Notes>(text);
    let categories = notes.into_iter().flat_map(|notes| notes.categories);
    categories.filter_map(|class| Some((class.id, normalized_name(&class.name)?))).collect()
}

/// Returns the key `kpt_shape` of a file of YOLO, which datasets of keypoints have.
fn keypoint_shape(text: &str) -> Option<[usize; 2]> {
    let numbers = parse_yaml(text, "kpt_shape").into_values().map(|number| number.parse().ok());
    let shape: [usize; 2] = numbers.collect::<Option<Vec<_>>>()?.try_into().ok()?;
    matches!(shape, [1..=1_000, 2 | 3]).then_some(shape)
}

fn parse_name_lines(text: &str) -> ClassMap {
    (0..)
        .zip(text.trim_end().lines())
        .filter_map(|(class, line)| Some((class, normalized_name(line)?)))
        .collect()
}

/// The longest scalar that an alias repeats, in bytes. The limit is needed because a few bytes can repeat a long text.
const MAX_REPEATED_BYTES: usize = 256;

/// Returns the events of the YAML parser, which keep scalars as text. An alias of a scalar is replaced by the scalar.
fn yaml_events(text: &str) -> impl Iterator<Item = Event<'_>> {
    let mut scalars = HashMap::new();
    let events = Parser::new_from_str(text).map_while(Result::ok);
    events.map(move |(event, _)| match &event {
        Event::Scalar(text, _, anchor, _) if *anchor > 0 && text.len() <= MAX_REPEATED_BYTES => {
            scalars.insert(*anchor, event.clone());
            event
        }
        Event::Alias(anchor) => scalars.get(anchor).cloned().unwrap_or(event),
        _ => event,
    })
}

/// Parses a key of the top-level map, whose value is a list or a map. If the whole value is an alias, it is looked up.
fn parse_yaml(text: &str, key: &str) -> ClassMap {
    let events = || yaml_events(text);
    let mut value = events().skip(value_position(events(), key));
    match value.next() {
        Some(Event::Alias(anchor)) => {
            let mut events = events().skip_while(|event| anchor_of(event) != Some(anchor));
            events.next().map(|start| yaml_entries(&start, events)).unwrap_or_default()
        }
        Some(start) => yaml_entries(&start, value),
        None => ClassMap::new(),
    }
}

/// Returns the line at which a text stops being YAML. The part before the line is read.
fn yaml_error(text: &str) -> Option<String> {
    let cause = Parser::new_from_str(text).find_map(Result::err)?;
    Some(format!("line {}: invalid YAML", cause.marker().line()))
}

/// Returns the position of the value of a key in the top-level map. The last value of a repeated key is taken, as in
/// Python. Without the key, this is the end of the events.
fn value_position<'a>(events: impl Iterator<Item = Event<'a>>, wanted: &str) -> usize {
    let (mut depth, mut is_key, mut found, mut count) = (0_usize, true, None, 0);
    for event in events {
        count += 1;
        match event {
            Event::Scalar(key, ..) if depth == 1 && is_key && key == wanted => found = Some(count),
            // A text instead of a map has no keys.
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
    found.unwrap_or(count)
}

fn anchor_of(event: &Event<'_>) -> Option<usize> {
    match event {
        Event::SequenceStart(anchor, ..) | Event::MappingStart(anchor, ..) => Some(*anchor),
        _ => None,
    }
}

/// Reads the list or map that begins with `start`.
fn yaml_entries<'a>(start: &Event<'a>, rest: impl Iterator<Item = Event<'a>>) -> ClassMap {
    match start {
        Event::SequenceStart(..) => yaml_list_entries(rest),
        Event::MappingStart(..) => yaml_map_entries(rest),
        _ => ClassMap::new(),
    }
}

/// Reads a list up to its end. An entry is a name, or a map of a number and a name: `{id: 3, name: dog}` or `3: dog`.
/// Another entry counts as a class without a name.
fn yaml_list_entries<'a>(events: impl Iterator<Item = Event<'a>>) -> ClassMap {
    let (mut names, mut class, mut depth) = (ClassMap::new(), 0, 0_usize);
    // The keys and values of an entry that is a map. A value that is not a scalar is empty.
    let mut pairs: Vec<String> = Vec::new();
    for event in events {
        match event {
            Event::Scalar(text, ..) if depth == 0 => {
                names.extend(normalized_name(&text).map(|name| (class, name)));
                class += 1;
            }
            Event::Scalar(text, ..) if depth == 1 => pairs.push(text.into_owned()),
            Event::Alias(_) if depth == 0 => class += 1,
            Event::Alias(_) if depth == 1 => pairs.push(String::new()),
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                if depth == 1 {
                    pairs.push(String::new());
                }
                depth += 1;
            }
            Event::SequenceEnd | Event::MappingEnd if depth == 0 => break,
            Event::SequenceEnd | Event::MappingEnd => {
                depth -= 1;
                if depth == 0 {
                    names.extend(named_class(&pairs, class));
                    pairs.clear();
                    class += 1;
                }
            }
            _ => {}
        }
    }
    names
}

/// Returns the class that a map describes. A map without a number describes the class `next`.
fn named_class(pairs: &[String], next: u64) -> Option<(u64, String)> {
    let (pairs, _) = pairs.as_chunks::<2>();
    let value = |wanted| pairs.iter().rfind(|[key, _]| key == wanted).map(|[_, value]| value);
    let (class, name) = match value("name") {
        Some(name) => (value("id").map_or(Some(next), |id| id.trim().parse().ok())?, name),
        None => pairs.iter().find_map(|[key, name]| Some((key.trim().parse().ok()?, name)))?,
    };
    Some((class, normalized_name(name)?))
}

/// Reads the pairs of a map, up to the first pair that does not consist of two scalars.
fn yaml_map_entries<'a>(mut events: impl Iterator<Item = Event<'a>>) -> ClassMap {
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
