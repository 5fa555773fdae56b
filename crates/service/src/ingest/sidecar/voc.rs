//! Pascal VOC: XML of one image, next to it or in `Annotations`, with an `object` for each box in
//! pixels. XML is parsed without DTD, so custom entities are impossible.

use roxmltree::{Document, Error, Node};

use super::{
    description::{BoundingBox, MediaDescription, normalized_name},
    diagnostics::SidecarDiagnostics,
    sidecar_reader::{MAX_SINGLE_SIDECAR_BYTES, SidecarReader},
};

/// Sidecar folders, parallel to the image folder.
const ANNOTATION_FOLDERS: [&str; 2] = ["Annotations", "annotations"];

/// Limit on attributes per element, because each is compared with all others.
const MAX_ATTRIBUTES: usize = 256;
/// Limit on namespaces. VOC has none, and nested ones need quadratic memory.
const MAX_NAMESPACES: usize = 16;

/// Reads the XML file of every media file. Other XML is ignored.
pub fn read(reader: &mut SidecarReader<'_>) {
    for media in reader.files.media() {
        let files = &reader.files;
        let opposite = || {
            ANNOTATION_FOLDERS
                .iter()
                .find_map(|folder| files.sidecar_in_parallel_folder(media, folder, "xml"))
        };
        let Some(sidecar) = files.sidecar_beside(media, "xml").or_else(opposite) else { continue };
        let Some(text) = reader.read_text(sidecar, MAX_SINGLE_SIDECAR_BYTES) else { continue };
        match parse(&text) {
            Ok(Some((description, faults))) => {
                reader.mark_used(sidecar);
                reader.add_description(media, description);
                if let Some(sentence) = faults.summary() {
                    reader.report_problem(sidecar, sentence);
                }
            }
            Ok(None) => {}
            Err(why) => reader.report_problem(sidecar, why),
        }
    }
}

/// Returns the objects of a document and its problems; `None` if it is not VOC.
///
/// # Errors
/// It is not valid XML, or has a DTD; the message says where.
fn parse(text: &str) -> Result<Option<(MediaDescription, SidecarDiagnostics)>, String> {
    let namespaces = text.matches("xmlns").count();
    let attributes = text.split('<').map(|tag| tag.matches('=').count()).max();
    if namespaces > MAX_NAMESPACES || attributes.is_some_and(|count| count > MAX_ATTRIBUTES) {
        return Err("it has too many attributes or namespaces".to_owned());
    }
    let document = Document::parse(text).map_err(|cause| match cause {
        Error::DtdDetected => "it has a DTD, which is not read".to_owned(),
        cause => format!("line {}: it is no XML from here on", cause.pos().row),
    })?;
    let root = document.root_element();
    if !root.has_tag_name("annotation") {
        return Ok(None);
    }
    let (mut description, mut faults) =
        (MediaDescription::default(), SidecarDiagnostics::new("object", "objects"));
    let objects = root.children().filter(|node| node.has_tag_name("object"));
    for (number, object) in (1..).zip(objects) {
        faults.set_position(number);
        match parse_object(object) {
            Ok((label, extent)) => description.push_object(label, extent),
            Err(why) => faults.report(why),
        }
    }
    Ok(Some((description, faults)))
}

fn parse_object(object: Node<'_, '_>) -> Result<(String, BoundingBox), &'static str> {
    let label = child_text(object, "name").and_then(normalized_name).ok_or("it has no name")?;
    let bndbox = child(object, "bndbox").ok_or("it has no bndbox")?;
    let corner = |tag| {
        let number = child_text(bndbox, tag).and_then(|text| text.trim().parse::<f64>().ok());
        number.ok_or("its bndbox has not four numbers")
    };
    let (left, top) = (corner("xmin")?, corner("ymin")?);
    let sides = [left, top, corner("xmax")? - left, corner("ymax")? - top];
    let extent = BoundingBox::pixels(sides).ok_or("its bndbox is empty or outside the picture")?;
    Ok((label, extent))
}

fn child<'a, 'd>(node: Node<'a, 'd>, tag: &str) -> Option<Node<'a, 'd>> {
    node.children().find(|child| child.has_tag_name(tag))
}

fn child_text<'a>(node: Node<'a, '_>, tag: &str) -> Option<&'a str> {
    child(node, tag)?.text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::sidecar::test_support::{TestFolder, describe};

    const GOOD: &str = "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n\
        <annotation verified=\"yes\">\r\n <filename>other.jpg</filename>\r\n\
        <object><name> dog </name><bndbox><xmax>30.5</xmax><xmin>10</xmin><ymin>20</ymin>\
        <ymax> 60 </ymax></bndbox><part><name>head</name><bndbox/></part></object>\r\n\
        <object><name>cat &amp; kitten</name><bndbox><xmin>-1</xmin><ymin>0</ymin><xmax>5</xmax>\
        <ymax>6</ymax></bndbox></object></annotation>";

    #[test]
    fn objects_are_read_beside_the_picture_or_opposite_its_folder() {
        let place = TestFolder::with_media(&[
            "1.jpg",
            "VOC/JPEGImages/2.jpg",
            "images/3.png",
            "images/4.jpg",
        ]);
        for path in ["1.xml", "VOC/Annotations/2.xml", "annotations/3.xml"] {
            place.write(path, GOOD);
        }
        let objects = "dog cat & kitten";
        let expected = ["1.jpg", "VOC/JPEGImages/2.jpg", "images/3.png"]
            .map(|media| describe(media, "", "", "", objects));
        assert_eq!(place.descriptions(), expected);
        let reading = place.read_sidecars();
        assert_eq!((reading.sidecars.len(), reading.problems.len()), (3, 0));
        let extent = BoundingBox::Pixels { x: 10.0, y: 20.0, width: 20.5, height: 40.0 };
        assert_eq!(
            reading.descriptions["1.jpg".as_ref() as &std::path::Path].objects[0].bounding_box,
            extent
        );
    }

    #[test]
    fn bad_xml_is_refused_and_named() {
        let place = TestFolder::with_media(&["1.jpg"]);
        let laughs: Vec<_> = (1..30)
            .map(|n| format!("<!ENTITY l{n} \"&l{m};&l{m};&l{m};&l{m};\">", m = n - 1))
            .collect();
        let laughs = laughs.concat();
        let bomb = format!(
            "<!DOCTYPE annotation [<!ENTITY l0 \"ha\">{laughs}]><annotation>&l29;</annotation>"
        );
        let outside =
            "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><annotation>&x;</annotation>";
        let long = "x".repeat((1 << 20) + 1);
        for (xml, why) in [
            (bomb.as_bytes(), "it has a DTD, which is not read"),
            (outside.as_bytes(), "it has a DTD, which is not read"),
            (b"", "line 1: it is no XML from here on"),
            (b"<annotation>\n<object>\n</annotation>", "line 3: it is no XML from here on"),
            (b"<annotation>\xff</annotation>", "it is not UTF-8"),
            (long.as_bytes(), "it is larger than 1 MiB"),
        ] {
            place.write("1.xml", xml);
            assert_eq!((place.problem_of("1.xml").as_str(), place.descriptions().len()), (why, 0));
        }
    }

    #[test]
    fn deep_xml_and_many_attributes_end_soon() {
        let many: Vec<_> = (0..60_000).map(|n| format!("<a xmlns:a{n}='b'>")).collect();
        let why = "it has too many attributes or namespaces";
        assert_eq!(parse(&many.concat()).err().unwrap(), why);
        let many: Vec<_> = (0..60_000).map(|n| format!(" a{n}='>'")).collect();
        assert_eq!(parse(&format!("<annotation{}/>", many.concat())).err().unwrap(), why);
        assert!(parse(&"<a>".repeat(300_000)).is_err());
        let deep = ["<annotation>".repeat(40_000), "</annotation>".repeat(40_000)].concat();
        assert!(parse(&deep).unwrap().is_some());
    }

    #[test]
    fn broken_objects_are_named_and_other_xml_left_alone() {
        let place = TestFolder::with_media(&["1.jpg"]);
        let corners = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>";
        let objects = [
            format!("<name>good</name>{corners}"),
            format!("<name> </name>{corners}"),
            "<name>a</name>".to_owned(),
            format!("<name>b</name>{}", corners.replace("<xmax>9</xmax>", "<xmax>9 px</xmax>")),
            format!("<name>c</name>{}", corners.replace("<xmax>9", "<xmax>1")),
            format!("<name>d</name>{}", corners.replace("<xmax>9", "<xmax>NaN")),
        ];
        let objects = objects.map(|object| format!("<object>{object}</object>")).concat();
        place.write("1.xml", format!("<annotation>{objects}</annotation>"));
        assert_eq!(place.descriptions(), [describe("1.jpg", "", "", "", "good")]);
        assert_eq!(place.problem_of("1.xml"), "object 2: it has no name; 4 more objects");
        place.write("1.xml", "<svg><object/></svg>");
        let reading = place.read_sidecars();
        assert!(reading.sidecars.is_empty() && reading.problems.is_empty());
    }
}
