//! Reads the text file of a single image. A file in a folder parallel to the images contains boxes of YOLO or KITTI. A
//! file next to the image contains boxes if every line is a box, and a caption otherwise. A `.cls` file contains a
//! class.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    rc::Rc,
};

use saphyr_parser::{Event, Parser};
use tessera_model::Annotation;

use super::{
    description::{BoundingBox, MediaDescription, normalized_caption, normalized_name, push_name},
    diagnostics::SidecarDiagnostics,
    sidecar_names::CLASS_NAME_FILES,
    sidecar_reader::{MAX_PER_IMAGE_SIDECAR_BYTES, SidecarReader},
    yolo,
};

/// The folders, parallel to the image folder, in which YOLO and KITTI keep boxes.
pub(crate) const LABEL_FOLDERS: [&str; 2] = ["labels", "label_2"];

pub fn read(reader: &mut SidecarReader<'_>, names: &mut ClassNames) {
    let mut box_files = Vec::new();
    for media in reader.files.media() {
        let files = &reader.files;
        let in_folder = |folder: &&str| files.sidecar_in_parallel_folder(media, folder, "txt");
        if let Some(sidecar) = LABEL_FOLDERS.iter().find_map(in_folder)
            && let Some(text) = read_text(reader, sidecar)
        {
            box_files.push((media, sidecar, text));
        }
        let Some(sidecar) = reader.files.sidecar_beside(media, "txt") else { continue };
        match read_text(reader, sidecar) {
            Some(text) if yolo::is_yolo(&text) || is_kitti(&text) => {
                box_files.push((media, sidecar, text));
            }
            Some(text) => {
                let caption = normalized_caption(&text.replace("\r\n", "\n"));
                let description = MediaDescription { caption, ..MediaDescription::default() };
                reader.add_description(media, description);
            }
            None => {}
        }
    }
    add_boxes(reader, box_files, names);
}

fn read_text(reader: &mut SidecarReader<'_>, sidecar: &Path) -> Option<String> {
    reader.mark_used(sidecar);
    reader.read_text(sidecar, MAX_PER_IMAGE_SIDECAR_BYTES)
}

/// Adds the boxes in files. What the columns of YOLO contain is decided for all files that share their class names.
fn add_boxes(
    reader: &mut SidecarReader<'_>,
    files: Vec<(&Path, &Path, String)>,
    names: &mut ClassNames,
) {
    let (kitti, yolo): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|(_, _, text)| is_kitti(text));
    let mut columns = HashMap::<*const Classes, yolo::ColumnCheck>::new();
    let yolo: Vec<_> = yolo
        .into_iter()
        .map(|(media, sidecar, text)| {
            let classes = names.for_sidecar(reader, sidecar);
            let check = columns.entry(Rc::as_ptr(&classes)).or_default();
            check.add(&text);
            (media, sidecar, text, classes)
        })
        .collect();
    for (media, sidecar, text, classes) in yolo {
        let check = &columns[&Rc::as_ptr(&classes)];
        let keypoints = classes.keypoint_shape.or_else(|| check.keypoint_shape());
        let (description, diagnostics) = yolo::parse(&text, &classes.names, keypoints);
        reader.add_description(media, description);
        reader.report_problems(sidecar, diagnostics);
    }
    for (media, sidecar, text) in kitti {
        let (description, diagnostics) = parse_kitti(&text);
        reader.add_description(media, description);
        reader.report_problems(sidecar, diagnostics);
    }
}

/// The type of a part of the picture in which objects were not labeled.
const UNLABELED: &str = "DontCare";

/// Whether the text is not blank and every line is an object.
fn is_kitti(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| parse_kitti_line(line).is_some())
}

fn parse_kitti(text: &str) -> (MediaDescription, SidecarDiagnostics) {
    let mut description = MediaDescription::default();
    let mut diagnostics = SidecarDiagnostics::new("line", "lines");
    for line in text.lines() {
        diagnostics.next_position();
        let Some((kind, [left, top, right, bottom], score)) = parse_kitti_line(line) else {
            continue;
        };
        if kind == UNLABELED {
            continue;
        }
        let extent = BoundingBox::pixels([left, top, right - left, bottom - top]);
        match (normalized_name(kind), extent) {
            (Some(label), Some(extent)) => {
                let annotation = Annotation { score, ..Annotation::default() };
                diagnostics.check(description.push_annotated(label, extent, annotation));
            }
            _ => diagnostics.report("its box is empty or outside the picture"),
        }
    }
    (description, diagnostics)
}

/// Parses the type, the box and the score in a line.
fn parse_kitti_line(line: &str) -> Option<(&str, [f64; 4], Option<f64>)> {
    let (kind, rest) = line.trim().split_once(' ')?;
    let numbers: Vec<f64> =
        rest.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let is_word = kind.parse::<f64>().is_err();
    let [_, _, _, left, top, right, bottom, ..] = numbers[..] else { return None };
    let score = numbers.get(14).copied().filter(|score| score.is_finite());
    let sides = [left, top, right, bottom];
    (is_word && matches!(numbers.len(), 14 | 15)).then_some((kind, sides, score))
}

pub(crate) fn read_class_files(reader: &mut SidecarReader<'_>, names: &mut ClassNames) {
    for media in reader.files.media() {
        let Some(sidecar) = reader.files.sidecar_beside(media, "cls") else { continue };
        reader.mark_used(sidecar);
        let Some(text) = reader.read_text(sidecar, MAX_PER_IMAGE_SIDECAR_BYTES) else { continue };
        let label = match text.trim().parse::<u64>() {
            Ok(class) => {
                let name = names.for_sidecar(reader, sidecar).names.get(&class).cloned();
                name.unwrap_or_else(|| format!("class {class}"))
            }
            Err(_) if text.trim().is_empty() || text.trim().contains('\n') => {
                reader.report_problem(sidecar, "it is neither a number nor a name".to_owned());
                continue;
            }
            Err(_) => text,
        };
        let mut description = MediaDescription::default();
        push_name(&mut description.labels, &label);
        reader.add_description(media, description);
    }
}

pub(super) type ClassMap = BTreeMap<u64, String>;

/// What a file of class names says about the labels of its folder.
#[derive(Default)]
struct Classes {
    names: ClassMap,
    /// The number of keypoints of an object, and the numbers of a keypoint: 2, or 3 with its visibility.
    keypoint_shape: Option<[usize; 2]>,
}

/// The class names by the folder of their file. The root has an entry even if no file names classes.
#[derive(Default)]
pub(crate) struct ClassNames(HashMap<PathBuf, Option<Rc<Classes>>>);

impl ClassNames {
    /// Returns the class names in the nearest folder above a sidecar.
    fn for_sidecar(&mut self, reader: &mut SidecarReader<'_>, sidecar: &Path) -> Rc<Classes> {
        let folder = sidecar.parent().unwrap_or(Path::new(""));
        let nearest = folder.ancestors().find_map(|folder| {
            if let Some(known) = self.0.get(folder) {
                return known.clone();
            }
            let is_root = folder == Path::new("");
            let found = read_class_names(reader, folder)
                .or_else(|| is_root.then(Classes::default))
                .map(Rc::new);
            self.0.insert(folder.to_owned(), found.clone());
            found
        });
        nearest.unwrap_or_default()
    }
}

fn read_class_names(reader: &mut SidecarReader<'_>, folder: &Path) -> Option<Classes> {
    CLASS_NAME_FILES.iter().find_map(|file| {
        let path = reader.files.get(&folder.join(file))?;
        let text = reader.read_text(path, MAX_PER_IMAGE_SIDECAR_BYTES)?;
        let is_yaml = path.extension().is_some_and(|end| end == "yaml" || end == "yml");
        let names = if is_yaml { parse_yaml(&text, "names") } else { parse_name_lines(&text) };
        if let Some(why) = yaml_error(&text).filter(|_| is_yaml) {
            reader.report_problem(path, why);
        }
        if names.is_empty() {
            return None;
        }
        reader.mark_used(path);
        Some(Classes { names, keypoint_shape: is_yaml.then(|| keypoint_shape(&text)).flatten() })
    })
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

/// Parses a key of the top-level map, whose value is a list or a map, from events of the YAML parser, which keep scalars as text and do not
/// expand aliases. If the whole value is an alias, it is looked up.
fn parse_yaml(text: &str, key: &str) -> ClassMap {
    let events = || Parser::new_from_str(text).map_while(Result::ok).map(|(event, _)| event);
    let mut value = skip_to_key(events(), key);
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

/// Skips to the value of a key in the top-level map.
fn skip_to_key<'a>(
    mut events: impl Iterator<Item = Event<'a>>,
    wanted: &str,
) -> impl Iterator<Item = Event<'a>> {
    let (mut depth, mut is_key) = (0_usize, true);
    for event in events.by_ref() {
        match event {
            Event::Scalar(key, ..) if depth == 1 && is_key && key == wanted => break,
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
    events
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

/// Reads a list up to its end. An entry that is not a scalar counts as a class without a name.
fn yaml_list_entries<'a>(events: impl Iterator<Item = Event<'a>>) -> ClassMap {
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
