//! Reads annotation files, which are JSON or XML. They are found by their content anywhere below the folder, because
//! each tool has other names and folders for them. Formats that are not read are recognized, so that the user knows
//! what to do with them.

use std::collections::{BTreeMap, HashSet};

use super::prelude::*;
use super::{
    coco, cvat,
    file_index::{FileIndex, StatedName},
    labelme,
    metadata_row::{SidecarRow, describe_row},
    sidecar_reader::MAX_SHARED_SIDECAR_BYTES,
    streamed_json::MAX_STREAMED_BYTES,
    voc,
};
use crate::ingest::{
    FolderScan, OriginalFiles,
    documents::{XmlLimits, parse_xml},
    text_encoding,
};
use serde_json::value::RawValue;
use tessera_files::read_at_most;

/// Maximum size of an XML document. Parsing takes several times as much memory.
const MAX_XML_BYTES: u64 = 32 << 20;
/// The number of bytes by which a document without an extension is recognized.
const HEAD_BYTES: u64 = 512;
/// Annotations have no namespaces.
const XML_LIMITS: XmlLimits = XmlLimits { attributes: 256, namespaces: 16 };

/// The description of one picture, in a document that names the picture or is named like it.
pub(super) struct PictureAnnotations {
    /// The name of the picture in the document.
    pub file_name: Option<String>,
    /// The folder of the picture in the document.
    pub folder: Option<String>,
    pub description: MediaDescription,
    pub diagnostics: SidecarDiagnostics,
}

/// Reads the documents of all formats in JSON: first files that describe many pictures, then files of one picture.
pub(crate) fn read_json(reader: &mut SidecarReader<'_>) {
    let mut pictures = Vec::new();
    let huge: HashSet<&Path> = reader.files.larger_than(MAX_STREAMED_BYTES).collect();
    let large: HashSet<&Path> = reader.files.larger_than(MAX_SHARED_SIDECAR_BYTES).collect();
    for sidecar in unread(reader, "json") {
        if huge.contains(sidecar) {
            reader.report_size(sidecar, MAX_STREAMED_BYTES);
            continue;
        }
        if large.contains(sidecar) {
            if !coco::read_large(reader, sidecar) {
                reader.report_size(sidecar, MAX_SHARED_SIDECAR_BYTES);
            }
            continue;
        }
        let Some(text) = reader.read_json(sidecar, MAX_SHARED_SIDECAR_BYTES) else { continue };
        if let Err(cause) = serde_json::from_str::<&RawValue>(&text) {
            reader.report_problem(sidecar, format!("line {}: invalid JSON", cause.line()));
        } else if let Some(document) = coco::parse(&text) {
            coco::read(reader, sidecar, &document);
        } else if let Some(annotations) =
            labelme::parse(&text).or_else(|| read_columns(reader, sidecar, &text))
        {
            pictures.push((sidecar, annotations));
        } else if let Some(why) = unread_format(&text) {
            reader.report_problem(sidecar, why);
        }
    }
    let others = reader.files.all().filter(|path| may_be_json(reader, path));
    for sidecar in others.collect::<Vec<_>>() {
        coco::read_large(reader, sidecar);
    }
    add_pictures(reader, pictures);
}

/// Whether a file with another extension, or without one, begins like a JSON object.
fn may_be_json(reader: &SidecarReader<'_>, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let ends = |extension: &&str| name.ends_with(*extension);
    let has_name = !name.contains('.') || [".coco", ".json.txt"].iter().any(ends);
    has_name && begins(reader, path, |head| head.trim_start().starts_with('{'))
}

/// Whether a file without an extension begins like XML with annotations.
fn may_be_xml(reader: &SidecarReader<'_>, path: &Path) -> bool {
    let is_xml = |head: &str| head.trim_start().starts_with('<') && head.contains("<annotation");
    path.extension().is_none() && begins(reader, path, is_xml)
}

/// Whether the start of a file that is not media fits. Files in object storage are not opened for this.
pub(super) fn begins(reader: &SidecarReader<'_>, path: &Path, fits: impl Fn(&str) -> bool) -> bool {
    let head = || reader.folder().open_file(path).and_then(|file| read_at_most(file, HEAD_BYTES));
    let fits = |head| fits(&String::from_utf8_lossy(&text_encoding::to_utf8(head)));
    let may_be_opened = !reader.folder().is_remote() && !reader.files.is_media(path);
    may_be_opened && head().is_ok_and(fits)
}

/// Reads the documents of all formats in XML: first files that describe many pictures, then files of one picture.
pub(crate) fn read_xml(reader: &mut SidecarReader<'_>) {
    let mut pictures = Vec::new();
    let mut sidecars = unread(reader, "xml");
    sidecars.extend(reader.files.all().filter(|path| may_be_xml(reader, path)));
    for sidecar in sidecars {
        let Some(text) = reader.read_text(sidecar, MAX_XML_BYTES) else { continue };
        match parse_xml(&text, XML_LIMITS) {
            Err(why) => reader.report_problem(sidecar, why),
            Ok(document) => match document.root_element().tag_name().name() {
                "annotations" => {
                    let root = document.root_element();
                    cvat::read(reader, sidecar, root);
                    // Programs that write VOC also put the documents of several pictures into one.
                    let each = root.children().filter(|node| node.has_tag_name("annotation"));
                    pictures.extend(each.map(|node| (sidecar, voc::parse(node))));
                }
                "annotation" => pictures.push((sidecar, voc::parse(document.root_element()))),
                _ => {}
            },
        }
    }
    add_pictures(reader, pictures);
}

/// Returns the files with an extension that no other format uses.
pub(super) fn unread<'a>(reader: &SidecarReader<'a>, extension: &str) -> Vec<&'a Path> {
    let has_extension =
        |path: &&Path| path.extension().is_some_and(|end| end.eq_ignore_ascii_case(extension));
    let is_unread = |path: &&Path| !reader.data.sidecars.contains(*path);
    reader.files.all().filter(has_extension).filter(is_unread).collect()
}

fn add_pictures(reader: &mut SidecarReader<'_>, pictures: Vec<(&Path, PictureAnnotations)>) {
    let sidecars = pictures.iter().map(|(sidecar, it)| {
        let name = it.file_name.as_deref();
        (*sidecar, name.map(|name| StatedName { name, folder: it.folder.as_deref() }))
    });
    let described = reader.files.described_by_each(sidecars, |_| false);
    for ((sidecar, annotations), media) in pictures.into_iter().zip(described) {
        let PictureAnnotations { description, diagnostics, .. } = annotations;
        match media {
            Ok(media) => {
                for media in media {
                    reader.add_description(media, sidecar, description.clone());
                }
                reader.mark_used(sidecar);
                reader.report_problems(sidecar, diagnostics);
            }
            Err(why) => reader.report_problem(sidecar, why.into_owned()),
        }
    }
}

/// Whether a sidecar can describe the pictures of the sample whose name it has. JSON and XML can also be an annotation
/// file that lists pictures.
pub(crate) fn may_describe_sample(folder: &dyn OriginalFiles, sidecar: &Path) -> bool {
    let scan = FolderScan::default();
    let mut reader = SidecarReader::new(folder, FileIndex::of_media(&scan));
    let is_of_sample = |text: String| {
        let is_object = SidecarRow::parse(&text).is_some();
        is_object && coco::parse(&text).is_none() && unread_format(&text).is_none()
    };
    let is_of_picture = |text: String| {
        let document = parse_xml(&text, XML_LIMITS);
        document.is_ok_and(|it| it.root_element().has_tag_name("annotation"))
    };
    let extension = sidecar.extension().unwrap_or_default();
    if extension.eq_ignore_ascii_case("json") {
        reader.read_json(sidecar, MAX_SHARED_SIDECAR_BYTES).is_some_and(is_of_sample)
    } else if extension.eq_ignore_ascii_case("xml") {
        reader.read_text(sidecar, MAX_XML_BYTES).is_some_and(is_of_picture)
    } else {
        true
    }
}

/// Reads the columns of a metadata table in JSON beside a picture, as in shards of `WebDataset`. Columns of the user's
/// own are enough, unless the document is in a format of annotations.
fn read_columns(
    reader: &SidecarReader<'_>,
    sidecar: &Path,
    text: &str,
) -> Option<PictureAnnotations> {
    let row = SidecarRow::parse(text)?;
    if reader.files.pictures_beside(sidecar).is_empty() {
        return None;
    }
    let mut diagnostics = SidecarDiagnostics::new("object", "objects");
    diagnostics.next_position();
    let description = describe_row(&row, &mut diagnostics);
    let is_read = row.describes()
        || row.is_export()
        || (!description.extra_columns.is_empty() && unread_format(text).is_none());
    is_read.then_some(PictureAnnotations {
        file_name: None,
        folder: None,
        description,
        diagnostics,
    })
}

/// Where the keys are by which a format is recognized.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyPlace {
    Document,
    /// The first element of a document that is a list.
    Element,
    /// The first picture in a document that is an object.
    Picture,
}

/// Formats of annotations that are not read, with the keys by which they are recognized.
const UNREAD_FORMATS: [(KeyPlace, &[&str], &str); 12] = [
    (KeyPlace::Document, &["_via_img_metadata"], "annotations of VIA"),
    (KeyPlace::Picture, &["filename", "regions"], "annotations of VIA"),
    (KeyPlace::Document, &["asset", "regions"], "annotations of VoTT"),
    (KeyPlace::Document, &["assets", "tags"], "annotations of VoTT"),
    (KeyPlace::Document, &["objects", "size"], "annotations of Supervisely"),
    (KeyPlace::Document, &["classes", "labels"], "labels of FiftyOne"),
    (KeyPlace::Picture, &["filepath"], "labels of FiftyOne"),
    (KeyPlace::Element, &["image", "annotations"], "annotations of CreateML"),
    (KeyPlace::Element, &["image_id", "bbox"], "results of COCO without the names of the images"),
    (KeyPlace::Element, &["data", "annotations"], "annotations in the own format of Label Studio"),
    (
        KeyPlace::Element,
        &["annotation_id", "lead_time"],
        "annotations in the own format of Label Studio",
    ),
    (KeyPlace::Element, &["name", "labels"], "annotations of BDD100K"),
];

/// Returns why a document is not read, if it contains annotations.
fn unread_format(text: &str) -> Option<String> {
    type Keys<'a> = BTreeMap<String, &'a RawValue>;
    let element = first_element(text);
    let place = if element.is_some() { KeyPlace::Element } else { KeyPlace::Document };
    let values: Keys<'_> = documents::parse_object(element.unwrap_or(text))?;
    // VIA has an object of pictures, and FiftyOne has a list of samples.
    let pictures = values.get("samples").or_else(|| values.values().next())?.get();
    let picture: Option<Keys<'_>> =
        documents::parse_object(first_element(pictures).unwrap_or(pictures));
    let fits = |(of, keys, _): &&(KeyPlace, &[&str], &str)| {
        let found = if *of == KeyPlace::Picture { picture.as_ref() } else { Some(&values) };
        let has = |found: &Keys<'_>| keys.iter().all(|key| found.contains_key(*key));
        let is_possible = *of == place || (*of, place) == (KeyPlace::Picture, KeyPlace::Document);
        is_possible && found.is_some_and(has)
    };
    let (_, _, name) = UNREAD_FORMATS.iter().find(fits)?;
    Some(format!("{name}, which are not read; export them as COCO"))
}

/// Returns the first element of a text that is a list.
fn first_element(text: &str) -> Option<&str> {
    let mut first = None;
    documents::for_each_element(text, |element| {
        first.get_or_insert(element.get());
    })?;
    first
}
