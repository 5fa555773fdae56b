//! Pascal VOC sidecars.

use std::path::Path;

use tessera_media::ingest::sidecar::BoundingBox;

use super::{TestFolder, describe, pixels, rounded};

const GOOD: &str = "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n\
    <annotation verified=\"yes\">\r\n <filename>other.jpg</filename>\r\n\
    <object><name> dog </name><bndbox><xmax>30.5</xmax><xmin>10</xmin><ymin>20</ymin>\
    <ymax> 60 </ymax></bndbox><part><name>head</name><bndbox/></part></object>\r\n\
    <object><name>cat &amp; kitten</name><bndbox><xmin>-1</xmin><ymin>0</ymin><xmax>5</xmax>\
    <ymax>6</ymax></bndbox></object></annotation>";

#[test]
fn voc_files_are_next_to_the_image_or_in_a_parallel_folder() {
    let folder =
        TestFolder::with_media(&["1.jpg", "VOC/JPEGImages/2.jpg", "images/3.png", "images/4.jpg"]);
    for path in ["1.xml", "VOC/Annotations/2.xml", "annotations/3.xml"] {
        folder.write(path, GOOD);
    }
    let objects = "dog cat & kitten";
    let expected = ["1.jpg", "VOC/JPEGImages/2.jpg", "images/3.png"]
        .map(|media| describe(media, "", "", "", objects));
    assert_eq!(folder.descriptions(), expected);
    let reading = folder.read_sidecars();
    assert_eq!((reading.sidecars.len(), reading.problems.len()), (3, 0));
    let extent = BoundingBox::Pixels { x: 10.0, y: 20.0, width: 20.5, height: 40.0 };
    assert_eq!(
        reading.descriptions["1.jpg".as_ref() as &std::path::Path].objects[0].bounding_box,
        extent
    );
}

#[test]
fn a_stated_extension_distinguishes_a_picture_from_its_mask() {
    for (mask, sidecar) in [
        ("annotations/trimaps/a.png", "annotations/xmls/a.xml"),
        ("annotations/masks/a.png", "annotations/xmls/a.xml"),
        ("annotations/a.png", "annotations/a.xml"),
    ] {
        let folder = TestFolder::with_media(&["images/a.jpg", mask]);
        folder.write(sidecar, GOOD.replace("other.jpg", "a.jpg"));
        let described = describe("images/a.jpg", "", "", "", "dog cat & kitten");
        assert!(folder.descriptions().contains(&described), "{mask}");
        assert!(folder.read_sidecars().problems.is_empty(), "{mask}");
    }
}

#[test]
fn a_picture_beside_its_document_may_have_another_extension_than_stated() {
    let folder = TestFolder::with_media(&["train/a.png", "val/a.jpg"]);
    folder.write("train/a.xml", GOOD.replace("other.jpg", "a.jpg"));
    assert_eq!(folder.boxes("train/a.png").len(), 2);
    let described = folder.read_sidecars().descriptions;
    assert!(described.get(Path::new("val/a.jpg")).is_none_or(|it| it.objects.is_empty()));
}

#[test]
fn a_document_may_contain_those_of_several_pictures() {
    let folder = TestFolder::with_media(&["images/1.jpg", "images/2.jpg"]);
    let object = |name: &str| {
        format!(
            "<annotation><filename>{name}.jpg</filename><object><name>dog {name}</name><bndbox>\
             <xmin>1</xmin><ymin>2</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object></annotation>"
        )
    };
    folder.write("all.xml", format!("<annotations>{}{}</annotations>", object("1"), object("2")));
    let expected = ["1", "2"]
        .map(|name| describe(&format!("images/{name}.jpg"), "", "", "", &format!("dog {name}")));
    assert_eq!(folder.descriptions(), expected);
}

#[test]
fn an_object_may_have_several_boxes() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let bndbox = |left: u32| {
        let right = left + 10;
        format!(
            "<bndbox><xmin>{left}</xmin><ymin>2</ymin><xmax>{right}</xmax><ymax>22</ymax></bndbox>"
        )
    };
    let object = format!("<object><name>dog</name>{}{}</object>", bndbox(1), bndbox(30));
    folder.write("1.xml", format!("<annotation>{object}</annotation>"));
    assert_eq!(
        folder.boxes("1.jpg"),
        [pixels(1.0, 2.0, 10.0, 20.0), pixels(30.0, 2.0, 10.0, 20.0)]
    );
}

#[test]
fn a_rounded_box_of_another_file_is_the_same_object() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let annotation = |left: &str| {
        format!(
            "<annotation><filename>1.jpg</filename><object><name>dog</name><bndbox><xmin>{left}</xmin>\
             <ymin>2</ymin><xmax>60</xmax><ymax>22</ymax></bndbox></object></annotation>"
        )
    };
    for (other, objects) in [("10", 1), ("20", 2)] {
        folder.write("Annotations/1.xml", annotation("10.4"));
        folder.write("Annotations_old/1.xml", annotation(other));
        assert_eq!(folder.boxes("1.jpg").len(), objects, "{other}");
    }
}

#[test]
fn comments_do_not_cut_texts() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let object = "<object><name><!--a-->do<!--b-->g<?c d?></name><bndbox><xmin><?a?>1</xmin>\
        <ymin>2</ymin><xmax>1<!--c-->10</xmax><ymax>10<![CDATA[0]]></ymax></bndbox></object>";
    folder.write("1.xml", format!("<annotation>{object}</annotation>"));
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "", "", "dog")]);
    assert_eq!(folder.boxes("1.jpg"), [pixels(1.0, 2.0, 109.0, 98.0)]);
}

#[test]
fn invalid_xml_is_reported() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let laughs: Vec<_> = (1..30)
        .map(|n| format!("<!ENTITY l{n} \"&l{m};&l{m};&l{m};&l{m};\">", m = n - 1))
        .collect();
    let laughs = laughs.concat();
    let bomb = format!(
        "<!DOCTYPE annotation [<!ENTITY l0 \"ha\">{laughs}]><annotation>&l29;</annotation>"
    );
    let outside =
        "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><annotation>&x;</annotation>";
    let long = "x".repeat((32 << 20) + 1);
    for (xml, why) in [
        (bomb.as_bytes(), "it declares entities, which are not supported"),
        (outside.as_bytes(), "it declares entities, which are not supported"),
        (b"", "line 1: invalid XML"),
        (b"<annotation>\n<object>\n</annotation>", "line 3: invalid XML"),
        (b"<annotation>\xc3\xa9\xff</annotation>", "it is not UTF-8; save it as UTF-8"),
        (long.as_bytes(), "it is larger than 32 MiB"),
    ] {
        folder.write("1.xml", xml);
        assert_eq!((folder.problem_of("1.xml").as_str(), folder.descriptions().len()), (why, 0));
    }
}

#[test]
fn documents_are_read_in_their_encoding() {
    let xml = |label: &str| {
        format!(
            "<?xml version=\"1.0\" encoding=\"{label}\"?><annotation><object><name>Schlüssel</name>\
             <bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object></annotation>"
        )
    };
    let latin: Vec<u8> = xml("ISO-8859-1").chars().map(|c| u8::try_from(c).unwrap()).collect();
    let wide = format!("\u{feff}{}", xml("utf-16"));
    for bytes in
        [latin, xml("utf-8").into_bytes(), wide.encode_utf16().flat_map(u16::to_be_bytes).collect()]
    {
        let folder = TestFolder::with_media(&["1.jpg"]);
        folder.write("1.xml", bytes);
        assert_eq!(folder.descriptions(), [describe("1.jpg", "", "", "", "Schlüssel")]);
    }
}

#[test]
fn a_document_needs_no_extension() {
    let folder =
        TestFolder::with_media(&["Images/dog/1.jpg", "Images/cat/1.jpg", "Images/cat/2.jpg"]);
    let stated = |name: &str| GOOD.replace("other.jpg", name);
    folder.write("Annotation/dog/1", stated("1"));
    folder.write("Annotation/cat/1", stated("1"));
    folder.write("Annotation/cat/2", stated("%s"));
    folder.write("Annotation/cat/3", stated("3"));
    folder.write("Annotation/cat/notes", "<p>of annotations</p>");
    let expected = [("cat", "1"), ("cat", "2"), ("dog", "1")].map(|(class, name)| {
        describe(&format!("Images/{class}/{name}.jpg"), "", class, "", "dog cat & kitten")
    });
    assert_eq!(folder.descriptions(), expected);
    let problems = folder.read_sidecars().problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(folder.problem_of("Annotation/cat/3"), "its file_name is not in the folder");
}

#[test]
fn invalid_objects_are_reported_and_other_xml_ignored() {
    let folder = TestFolder::with_media(&["1.jpg"]);
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
    folder.write("1.xml", format!("<annotation>{objects}</annotation>"));
    assert_eq!(folder.descriptions(), [describe("1.jpg", "", "", "", "good")]);
    assert_eq!(
        folder.problem_of("1.xml"),
        "object 2: it has no name; object 3: it has no bndbox; object 4: its bndbox does not have four numbers; 2 more objects"
    );
    folder.write("1.xml", "<svg><object/></svg>");
    let reading = folder.read_sidecars();
    assert!(reading.sidecars.is_empty() && reading.problems.is_empty());
}

#[test]
fn a_box_of_cvat_is_turned_by_its_rotation() {
    let folder = TestFolder::with_media(&["1.jpg", "2.jpg"]);
    folder.write(
        "1.xml",
        "<annotation><object><name>a</name><bndbox><xmin>60</xmin><ymin>100</ymin><xmax>160</xmax>\
         <ymax>120</ymax></bndbox><attributes><attribute><name>rotation</name><value>90.0</value>\
         </attribute></attributes></object></annotation>",
    );
    folder.write(
        "instances.json",
        r#"{"images": [{"id": 1, "file_name": "2.jpg"}], "categories": [{"id": 1, "name": "a"}],
        "annotations": [{"image_id": 1, "category_id": 1, "bbox": [60, 100, 100, 20], "segmentation": [],
        "attributes": {"occluded": false, "rotation": 90.0}}]}"#,
    );
    for picture in ["1.jpg", "2.jpg"] {
        let object = &folder.read_sidecars().descriptions[Path::new(picture)].objects[0];
        let sides = rounded(&object.bounding_box).map(|side| side.to_string());
        assert_eq!(sides, ["100", "60", "20", "100"]);
        let region = object.in_picture(320, 240).unwrap();
        let outline = [120.0, 60.0, 120.0, 160.0, 100.0, 160.0, 100.0, 60.0];
        assert_eq!(region.annotation.polygons, [outline]);
    }
}

#[test]
fn deep_xml_and_many_attributes_are_handled_quickly() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let namespaces: Vec<_> = (0..50_000).map(|n| format!("<a xmlns:a{n}='b'>")).collect();
    let attributes: Vec<_> = (0..60_000).map(|n| format!(" a{n}='>'")).collect();
    for xml in [namespaces.concat(), format!("<annotation{}/>", attributes.concat())] {
        folder.write("1.xml", xml);
        assert_eq!(folder.problem_of("1.xml"), "it has too many attributes or namespaces");
    }
    folder.write("1.xml", "<a>".repeat(300_000));
    assert_eq!(folder.problem_of("1.xml"), "line 1: invalid XML");
    let deep = ["<annotation>".repeat(40_000), "</annotation>".repeat(40_000)].concat();
    folder.write("1.xml", deep);
    let reading = folder.read_sidecars();
    assert_eq!((reading.sidecars.len(), reading.problems.len()), (1, 0));
}

#[test]
fn documents_are_found_by_content_in_all_usual_places() {
    for (sidecar, media) in [
        ("a.xml", "a.jpg"),
        ("Annotations/a.xml", "JPEGImages/a.jpg"),
        ("annotations/xmls/a.xml", "images/a.jpg"),
        ("Annotations/a.xml", "imgs/a.jpg"),
        ("train/xml/a.xml", "train/images/a.jpg"),
        ("xml/train/a.xml", "images/train/a.jpg"),
        ("labels/a.xml", "images/a.png"),
        ("outputs/a.xml", "a.jpeg"),
        ("Annotations/CLS-LOC/val/a.xml", "Data/CLS-LOC/val/a.JPEG"),
        ("VOC2012/Annotations/a.xml", "VOC2012/JPEGImages/a.jpg"),
        ("notes/a.jpg.xml", "pictures/a.jpg"),
        ("notes/0001.xml", "pictures/other.jpg"),
        ("notes/A.XML", "pictures/a.jpg"),
    ] {
        let folder = TestFolder::with_media(&[media, "elsewhere/train/b.jpg"]);
        folder.write(sidecar, GOOD);
        let reading = folder.read_sidecars();
        assert!(reading.problems.is_empty(), "{sidecar}: {:?}", reading.problems);
        let described = reading.descriptions.get(Path::new(media));
        assert_eq!(described.map(|it| it.objects.len()), Some(2), "{media} for {sidecar}");
    }
}

#[test]
fn a_document_that_fits_two_pictures_is_reported() {
    let problem = |media: &[&str], sidecar: &str| {
        let folder = TestFolder::with_media(media);
        folder.write(sidecar, GOOD);
        assert!(folder.read_sidecars().descriptions.values().all(|it| it.objects.is_empty()));
        folder.problem_of(sidecar)
    };
    let several = "its file_name matches several files in the folder, such as ";
    assert_eq!(
        problem(&["x/a.jpg", "y/a.jpg"], "notes/a.xml"),
        format!("{several}x/a.jpg and y/a.jpg")
    );
    assert_eq!(
        problem(&["x/a.jpg", "y/other.jpg"], "notes/a.xml"),
        format!("{several}x/a.jpg and y/other.jpg")
    );
    assert_eq!(problem(&["x/b.jpg"], "notes/a.xml"), "its file_name is not in the folder");
}

#[test]
fn a_document_of_another_picture_of_the_same_name_is_reported() {
    for (media, own, other) in [
        ("val/img/a.jpg", "val/ann/a.xml", "train/ann/a.xml"),
        ("dog/img/a.jpg", "dog/ann/a.xml", "cat/ann/a.xml"),
        ("dog/a.jpg", "dog/a.xml", "cat/a.xml"),
    ] {
        let folder = TestFolder::with_media(&[media]);
        folder.write(own, GOOD);
        folder.write(other, GOOD);
        assert_eq!(folder.boxes(media).len(), 2, "{other}");
        assert!(folder.problem_of(other).ends_with("is not in the folder"), "{other}");
    }
}

#[test]
fn a_picture_is_in_the_folder_that_its_document_states() {
    let media = ["train/a.jpg", "val/a.jpg"];
    let folder = TestFolder::with_media(&media);
    for (number, split) in ["train", "val"].into_iter().enumerate() {
        let stated = format!("<folder>{split}</folder><filename>a.jpg</filename>");
        let text = GOOD.replace("<filename>other.jpg</filename>", &stated);
        folder.write(&format!("xml/{number}.xml"), text.replace(" dog ", split));
    }
    let expected = [
        describe("train/a.jpg", "", "", "", "train cat & kitten"),
        describe("val/a.jpg", "", "", "", "val cat & kitten"),
    ];
    assert_eq!(folder.descriptions(), expected);
}

#[test]
fn turned_boxes_and_polygons_become_the_box_around_them() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let turned = format!(
        "<robndbox><cx>160</cx><cy>120</cy><w>200</w><h>40</h><angle>{}</angle></robndbox>",
        std::f64::consts::FRAC_PI_2
    );
    let polygon = "<polygon><pt><x>10</x><y>20</y></pt><pt><x>40</x><y>25</y></pt>\
        <pt><x>30</x><y>60</y></pt></polygon>";
    let objects = [&*turned, polygon, "<polygon><pt><x>1</x></pt></polygon>"]
        .map(|shape| format!("<object><name>a</name>{shape}</object>"))
        .concat();
    folder.write("1.xml", format!("<annotation>{objects}</annotation>"));
    let boxes: Vec<_> = folder.boxes("1.jpg").iter().map(rounded).collect();
    assert_eq!(boxes, [[140.0, 20.0, 40.0, 200.0], [10.0, 20.0, 30.0, 40.0]]);
    assert_eq!(folder.problem_of("1.xml"), "object 3: its polygon is not a list of points");
}

#[test]
fn objects_in_a_list_with_possible_results_and_points_in_texts_are_read() {
    let folder = TestFolder::with_media(&["images/1.tif", "images/2.tif"]);
    let points = ["10,20", " 40.0 , 25 ", "30,60", "10,20"];
    let points = points.map(|point| format!("<point>{point}</point>")).concat();
    let name = "<possibleresult><name>Boeing737</name></possibleresult>";
    let text = format!(
        "<annotation><source><filename>2.tif</filename></source><objects>
         <object>{name}<points>{points}</points></object>
         <object>{name}<points><point>10</point></points></object></objects></annotation>"
    );
    folder.write("labelXmls/a.xml", text);
    assert_eq!(folder.descriptions(), [describe("images/2.tif", "", "", "", "Boeing737")]);
    assert_eq!(folder.boxes("images/2.tif"), [pixels(10.0, 20.0, 30.0, 40.0)]);
    let outline = vec![vec![10.0, 20.0, 40.0, 25.0, 30.0, 60.0, 10.0, 20.0]];
    assert_eq!(folder.polygons("images/2.tif"), [outline]);
    let why = "object 2: its polygon is not a list of points";
    assert_eq!(folder.problem_of("labelXmls/a.xml"), why);
}

#[test]
fn documents_may_be_padded_and_may_name_a_document_type() {
    let good = GOOD.trim_start_matches('\u{feff}');
    let (declaration, annotation) = good.split_once("\r\n").unwrap();
    for text in [
        format!("\n  {good}"),
        format!("{good}\n\0\0"),
        format!("{declaration}<!DOCTYPE annotation>{annotation}"),
        format!("{declaration}<!DOCTYPE annotation SYSTEM \"voc.dtd\">{annotation}"),
    ] {
        let folder = TestFolder::with_media(&["1.jpg"]);
        folder.write("1.xml", &text);
        assert_eq!(folder.descriptions(), [describe("1.jpg", "", "", "", "dog cat & kitten")]);
        assert!(folder.read_sidecars().problems.is_empty(), "{text}");
    }
    let folder = TestFolder::with_media(&["1.jpg"]);
    folder.write("1.xml", "\n\n<annotation>\n<object>\n</annotation>");
    assert_eq!(folder.problem_of("1.xml"), "line 5: invalid XML");
}

#[test]
fn the_path_of_a_picture_names_it_too() {
    let folder = TestFolder::with_media(&["images/1.jpg"]);
    let path = "<path>C:\\set\\images\\1.jpg</path>";
    folder.write("x/00.xml", GOOD.replace("<filename>other.jpg</filename>", path));
    let expected = [describe("images/1.jpg", "", "", "", "dog cat & kitten")];
    assert_eq!(folder.descriptions(), expected);
}

#[test]
fn outlines_beside_a_box_and_with_numbered_points_are_kept() {
    let folder = TestFolder::with_media(&["1.jpg"]);
    let bndbox = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>50</xmax><ymax>60</ymax></bndbox>";
    let listed = "<polygon><pt><x>10</x><y>20</y></pt><pt><x>40</x><y>25</y></pt>\
        <pt><x>30</x><y>60</y></pt></polygon>";
    let numbered = "<polygon><x1>10</x1><y1>20</y1><x2>40</x2><y2>25</y2>\
        <x10>30</x10><y10>60</y10></polygon>";
    let turned = "<robndbox><cx>20</cx><cy>10</cy><w>8</w><h>4</h><angle>0</angle></robndbox>";
    let shapes = [
        [bndbox, listed],
        [bndbox, numbered],
        ["", numbered],
        [bndbox, turned],
        [bndbox, "<polygon/>"],
        [bndbox, "<polygon><x1>1</x1></polygon>"],
    ];
    let object = |shape: [&str; 2]| format!("<object><name>a</name>{}</object>", shape.concat());
    let objects = shapes.map(object).concat();
    folder.write("1.xml", format!("<annotation>{objects}</annotation>"));
    let (outer, inner) = ([1.0, 2.0, 49.0, 58.0], [10.0, 20.0, 30.0, 40.0]);
    let boxes: Vec<_> = folder.boxes("1.jpg").iter().map(rounded).collect();
    assert_eq!(boxes, [outer, outer, inner, outer, outer, outer]);
    let outline = vec![vec![10.0, 20.0, 40.0, 25.0, 30.0, 60.0]];
    let turned = vec![vec![16.0, 8.0, 24.0, 8.0, 24.0, 12.0, 16.0, 12.0]];
    let expected = [outline.clone(), outline.clone(), outline, turned, vec![], vec![]];
    assert_eq!(folder.polygons("1.jpg"), expected);
    assert_eq!(folder.problem_of("1.xml"), "object 6: its polygon is not a list of points");
}
