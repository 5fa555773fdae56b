//! Reads the text file of a single image. A file in a folder parallel to the images contains boxes of YOLO or KITTI. A
//! file next to the image contains boxes if its lines are boxes, and a caption otherwise. A `.cls` file contains a
//! class.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use super::prelude::*;
use super::{
    annotation_files::unread, class_names::ClassNames, description::normalized_caption,
    sidecar_names::is_in_label_folder, sidecar_reader::MAX_PER_IMAGE_SIDECAR_BYTES, yolo,
};
use tessera_model::FileKind;

/// The folders, parallel to the image folder, in which YOLO and KITTI keep boxes.
pub(crate) const LABEL_FOLDERS: [&str; 2] = ["labels", "label_2"];

/// The extensions of texts beside a picture. Programs that train models of pictures write `.caption`.
const CAPTION_EXTENSIONS: [&str; 2] = ["txt", "caption"];

pub fn read<'a>(reader: &mut SidecarReader<'a>, names: &mut ClassNames<'a>) {
    let (mut box_files, mut parallel) = (Vec::new(), HashSet::new());
    for media in reader.files.media() {
        let files = &reader.files;
        let in_folder = |folder: &&str| files.sidecar_in_parallel_folder(media, folder, "txt");
        if let Some(sidecar) = LABEL_FOLDERS.iter().find_map(in_folder)
            && let Some(text) = read_text(reader, sidecar)
        {
            box_files.push((media, sidecar, text));
            parallel.insert(sidecar);
        }
        for extension in CAPTION_EXTENSIONS {
            let Some(sidecar) = reader.files.sidecar_beside(media, extension) else { continue };
            match read_text(reader, sidecar) {
                Some(text) if has_boxes(&text) => box_files.push((media, sidecar, text)),
                Some(text) => add_caption(reader, media, sidecar, &text),
                None => {}
            }
        }
    }
    // A mask among the labels is called like the picture to which the boxes belong.
    box_files.retain(|(media, sidecar, _)| {
        !parallel.contains(sidecar) || media.parent() != sidecar.parent()
    });
    let other_files = read_other_places(reader, &box_files);
    box_files.extend(other_files);
    add_boxes(reader, box_files, names);
}

/// A media file, a file of its boxes, and the text of this file.
type BoxFile<'a> = (&'a Path, &'a Path, String);

const NOT_BOXES: &str = "its lines are not boxes of YOLO or KITTI";

/// Whether every line consists of at least four numbers and at most two words, as no caption does.
fn is_table(text: &str) -> bool {
    let is_row = |line: &str| {
        let cells = line.split([' ', '\t', ',', ';', '\r']).filter(|cell| !cell.is_empty());
        let (numbers, words): (Vec<_>, Vec<_>) =
            cells.partition(|cell| cell.parse::<f64>().is_ok());
        numbers.len() >= 4 && words.len() <= 2
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some() && lines.all(is_row)
}

/// Whether the lines are objects of YOLO or KITTI.
fn has_boxes(text: &str) -> bool {
    yolo::is_yolo(text) || is_kitti(text)
}

fn add_caption(reader: &mut SidecarReader<'_>, media: &Path, sidecar: &Path, text: &str) {
    if is_table(text) {
        return reader.report_problem(sidecar, NOT_BOXES.to_owned());
    }
    if is_list_of_pictures(reader, sidecar, text) {
        return reader.report_problem(sidecar, "a list of pictures, which is not read".to_owned());
    }
    let caption = normalized_caption(&text.replace("\r\n", "\n"));
    let description = MediaDescription { caption, ..MediaDescription::default() };
    reader.add_description(media, sidecar, description);
}

/// Whether every line names a picture or video, and one of them is in the folder, as in the `train.txt` of YOLO.
fn is_list_of_pictures(reader: &SidecarReader<'_>, sidecar: &Path, text: &str) -> bool {
    let names = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    names().all(|name| FileKind::from_name(name).is_media())
        && names().any(|name| reader.files.resolve(name, sidecar).is_ok())
}

/// Reads the files that have the name of a picture in another spelling, and the files of boxes in folders of labels
/// that are not parallel to a folder of images in a usual way.
fn read_other_places<'a>(
    reader: &mut SidecarReader<'a>,
    known: &[BoxFile<'a>],
) -> Vec<BoxFile<'a>> {
    let mut box_files = Vec::new();
    let unread = CAPTION_EXTENSIONS.iter().flat_map(|it| unread(reader, it));
    let unread = unread.map(|sidecar| (sidecar, reader.files.pictures_beside(sidecar)));
    let unread: Vec<_> = unread
        .filter(|(sidecar, beside)| !beside.is_empty() || is_in_label_folder(sidecar))
        .collect();
    let known: HashSet<&Path> = known.iter().map(|(media, ..)| *media).collect();
    let sidecars = unread.iter().map(|(sidecar, _)| (*sidecar, None));
    let described = reader.files.described_by_each(sidecars, |media| known.contains(media));
    for ((sidecar, beside), media) in unread.into_iter().zip(described) {
        let is_found = media.is_ok();
        let Some(text) = reader.read_text(sidecar, MAX_PER_IMAGE_SIDECAR_BYTES) else { continue };
        let has_boxes = has_boxes(&text);
        match media {
            Ok(media) if has_boxes => {
                reader.mark_used(sidecar);
                box_files.extend(media.into_iter().map(|media| (media, sidecar, text.clone())));
            }
            Err(why) if has_boxes => reader.report_problem(sidecar, why.into_owned()),
            _ if !beside.is_empty() => {
                reader.mark_used(sidecar);
                for media in beside {
                    add_caption(reader, media, sidecar, &text);
                }
            }
            _ if is_found && !text.trim().is_empty() => {
                reader.report_problem(sidecar, NOT_BOXES.to_owned());
            }
            _ => {}
        }
    }
    box_files
}

fn read_text(reader: &mut SidecarReader<'_>, sidecar: &Path) -> Option<String> {
    reader.mark_used(sidecar);
    reader.read_text(sidecar, MAX_PER_IMAGE_SIDECAR_BYTES)
}

/// Adds the boxes in files. What the columns of YOLO contain is decided for all files of a dataset.
fn add_boxes<'a>(
    reader: &mut SidecarReader<'a>,
    files: Vec<BoxFile<'a>>,
    names: &mut ClassNames<'a>,
) {
    let (kitti, yolo): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|(_, _, text)| is_kitti(text));
    let mut forms = HashMap::<_, yolo::FormCheck>::new();
    let yolo: Vec<_> = yolo
        .into_iter()
        .map(|(media, sidecar, text)| {
            let classes = names.for_sidecar(reader, sidecar);
            let dataset = classes.folder.clone().unwrap_or_else(|| dataset_of(sidecar));
            forms.entry(dataset.clone()).or_default().add(&text);
            (media, sidecar, text, classes, dataset)
        })
        .collect();
    let yolo = yolo.into_iter().map(|(media, sidecar, text, classes, dataset)| {
        let keypoints = classes.keypoint_shape.or_else(|| forms[&dataset].keypoint_shape());
        let has_tracks = forms[&dataset].has_tracks();
        (media, sidecar, yolo::parse(&text, &classes.names, keypoints, has_tracks))
    });
    let kitti =
        kitti.into_iter().map(|(media, sidecar, text)| (media, sidecar, parse_kitti(&text)));
    for (media, sidecar, (description, diagnostics)) in yolo.chain(kitti) {
        reader.add_description(media, sidecar, description);
        reader.report_problems(sidecar, diagnostics);
    }
}

/// Returns the folder of a dataset without class names: the folder that contains the folder of labels.
fn dataset_of(sidecar: &Path) -> Rc<Path> {
    let folders = || sidecar.ancestors().skip(1);
    let labels = folders().take_while(|folder| is_in_label_folder(&folder.join("a"))).last();
    labels.and_then(Path::parent).or_else(|| folders().next()).unwrap_or(Path::new("")).into()
}

/// The type of a part of the picture in which objects were not labeled.
const UNLABELED: &str = "DontCare";

/// Whether a line is an object. No other text has a line of a word and 14 numbers or more.
fn is_kitti(text: &str) -> bool {
    text.lines().any(|line| parse_kitti_line(line).is_some())
}

fn parse_kitti(text: &str) -> (MediaDescription, SidecarDiagnostics) {
    yolo::read_lines(text, |line, description| {
        let object = parse_kitti_line(line).ok_or("it is not a type and 14 or 15 numbers")?;
        let (kind, [left, top, right, bottom], score) = object;
        if kind == UNLABELED {
            return Ok(());
        }
        let extent = BoundingBox::around(&[[left, top], [right, bottom]]);
        let found = normalized_name(kind).zip(extent);
        let (label, extent) = found.ok_or("its box is empty or outside the picture")?;
        description.push_annotated(label, extent, Annotation { score, ..Annotation::default() })
    })
}

/// Parses the type, the box and the score in a line.
fn parse_kitti_line(line: &str) -> Option<(&str, [f64; 4], Option<f64>)> {
    let is_word = |kind: &str| kind.parse::<f64>().is_err();
    let (kind, rest) = line.trim().split_once(' ').filter(|(kind, _)| is_word(kind))?;
    let numbers: Vec<f64> =
        rest.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let [_, _, _, left, top, right, bottom, ..] = numbers[..] else { return None };
    let score = numbers.get(14).copied().filter(|score| score.is_finite());
    let sides = [left, top, right, bottom];
    matches!(numbers.len(), 14 | 15).then_some((kind, sides, score))
}

pub(crate) fn read_class_files<'a>(reader: &mut SidecarReader<'a>, names: &mut ClassNames<'a>) {
    for sidecar in unread(reader, "cls") {
        let pictures = reader.files.pictures_beside(sidecar);
        if pictures.is_empty() {
            continue;
        }
        reader.mark_used(sidecar);
        let Some(text) = reader.read_text(sidecar, MAX_PER_IMAGE_SIDECAR_BYTES) else { continue };
        let label = match text.trim().parse::<u64>() {
            Ok(class) => {
                let name = names.for_sidecar(reader, sidecar).names.get(&class).cloned();
                // A number without a name is a label like any other.
                name.unwrap_or_else(|| class.to_string())
            }
            Err(_) if text.trim().is_empty() || text.trim().contains('\n') => {
                reader.report_problem(sidecar, "it is neither a number nor a name".to_owned());
                continue;
            }
            Err(_) => text,
        };
        let mut description = MediaDescription::default();
        push_name(&mut description.labels, &label);
        for media in pictures {
            reader.add_description(media, sidecar, description.clone());
        }
    }
}
