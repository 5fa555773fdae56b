//! Fuzzes files that users write: settings, keys, themes, saved searches and selections, sidecars,
//! and embeddings.

use std::{
    fs,
    path::{Component, Path},
};

use tessera::state::read_selection;
use tessera_config::{
    input::Keymap,
    settings_file::{FileOwner, Layer},
};
use tessera_interface::drawing::Theme;
use tessera_media::ingest::{
    FolderPatterns, SandboxedDir,
    embeddings::{EmbeddingFile, npy_header},
    scan_folder, sidecar,
};

use super::{fuzz, mutation::mutated};

const TOKENS: [&str; 10] =
    ["[", "]]", "=", "\"\"\"", "'", "\n", "\u{0}", "9e99", "- &a", "<!ENTITY"];

const ARRAY_TOKENS: [&str; 10] =
    ["<f8", "<f2", "|O", "True", "(", "9999999999", ",", "'", "\u{0}", "}"];

fn corpus(files: &[&str]) -> Vec<Vec<u8>> {
    files.iter().map(|file| file.as_bytes().to_vec()).collect()
}

#[test]
fn damaged_settings_keys_and_themes_are_read_or_refused() {
    let files = corpus(&[
        include_str!("../../assets/config.toml"),
        include_str!("../../assets/keymap.toml"),
        include_str!("../../assets/themes/dark.toml"),
        "default_profile = \"lab\"\n[profiles.lab]\nbase_url = \"https://a.example\"\n",
    ]);
    fuzz(100, &mutated(files, &TOKENS), |input| {
        let text = String::from_utf8_lossy(&input.0);
        for owner in [FileOwner::User, FileOwner::Project] {
            let layer = Layer::read(Path::new("config.toml"), &text, owner);
            let lines = text.lines().count() + 1;
            assert!(layer.errors.iter().all(|error| error.position.is_none_or(|at| at.0 <= lines)));
        }
        let _ = (Keymap::parse(&text), Theme::parse(&text));
    });
}

#[test]
fn damaged_selections_are_read_or_refused() {
    let dataset = "ad48d250-0000-11f1-bfca-000000000001";
    let file = format!(
        r#"{{"schema": "tessera.selection/1", "dataset_id": "{dataset}", "clusters": [{{"cluster_id":
        "{dataset}", "exclude": ["{dataset}"], "stale": 3}}], "media": ["{dataset}"]}}"#
    );
    fuzz(2_000, &mutated(corpus(&[&file]), &TOKENS), |input| {
        let text = String::from_utf8_lossy(&input.0);
        let _ = read_selection(&text, dataset.parse().expect("an id"));
    });
}

#[test]
fn damaged_arrays_give_unit_vectors_or_reasons() {
    let folder = tempfile::tempdir().expect("a folder");
    let (array, names) = (folder.path().join("a.npy"), folder.path().join("a.txt"));
    fs::write(&names, "a.jpg\nb.jpg\n").expect("a list of names");
    let numbers = [1.0_f32, 0.5, -0.25, 3.0, 0.0, 1e-30].map(f32::to_le_bytes).concat();
    let file = [npy_header(2, 3), numbers].concat();
    fuzz(2_000, &mutated(vec![file], &ARRAY_TOKENS), |input| {
        fs::write(&array, &input.0).expect("an array");
        let Ok(opened) = EmbeddingFile::open(&array, None) else { return };
        let read = opened.for_each(|row| {
            let squares = row.vector.iter().flatten().map(|number| number.to_f32().powi(2));
            let length = squares.sum::<f32>();
            assert!(row.vector.is_err() || (length - 1.0).abs() < 0.01, "{length}");
            true
        });
        assert!(read.is_ok(), "{read:?}");
    });
}

#[test]
fn damaged_sidecars_describe_what_can_be_read() {
    let sidecars: [(&str, &str); 12] = [
        (
            "metadata.jsonl",
            "{\"file_name\": \"a.jpg\", \"caption\": \"A van\", \"labels\": [\"van\"]}\n",
        ),
        ("metadata.csv", "file_name,caption,label\na.jpg,\"A van, red\",van\nb.jpg,,\n"),
        ("metadata.tsv", "sep=\t\r\nFile Name\tPrompt\r\na.jpg\tM\u{f6}bel\r\nb.jpg\t\r\n"),
        (
            "b.jpg.xmp",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><rdf:RDF \
             xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description \
             xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:subject><rdf:Bag><rdf:li>van</rdf:li></rdf:Bag>\
             </dc:subject></rdf:Description></rdf:RDF>",
        ),
        (
            "b.jpg.supplemental-meta.json",
            r#"{"description": "x", "photoTakenTime": {"timestamp": "1715950800"}, "people": [{"name": "A"}]}"#,
        ),
        (
            "annotations.json",
            r#"{"images": [{"id": 1, "file_name": "a.jpg", "width": 40, "height": 30}], "categories":
            [{"id": 2, "name": "van"}], "annotations": [{"image_id": 1, "category_id": 2, "bbox": [1, 2, 3, 4]}]}"#,
        ),
        (
            "a.xml",
            "<annotation><size><width>40</width><height>30</height></size><object><name>van</name>\
             <bndbox><xmin>1</xmin><ymin>2</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object></annotation>",
        ),
        ("a.txt", "0 0.5 0.5 0.25 0.25\n1 0.1 0.1 0.05 0.05\n"),
        ("data.yaml", "names:\n  0: van\n  1: bus\n"),
        (
            "notes/b.json",
            r#"{"imagePath": "..\\b.jpg", "imageWidth": 40, "imageHeight": 30, "shapes": [{"label": 7, "points": [[1, 2],
            [3, NaN]]}, {"label": "van", "points": [[1, 2], [3, 4]], "shape_type": "circle"}]}"#,
        ),
        (
            "notes/task.xml",
            "<annotations><image name=\"/data/a.jpg\" width=\"40\" height=\"30\"><box label=\"van\" xtl=\"1\" ytl=\"2\" \
             xbr=\"9\" ybr=\"9\" rotation=\"30.0\"/></image></annotations>",
        ),
        ("labels/b.txt", "0 0.5 0.5 0.2 0.4 0.45 0.35 2\n0 0.5 0.5 0.2 0.4 0.45 0.35 2\n"),
    ];
    for (name, text) in sidecars {
        fuzz(100, &mutated(corpus(&[text]), &TOKENS), |input| {
            read_with(&sidecars, name, &input.0);
        });
    }
}

/// Reads a folder of sidecars, of which one has other bytes.
fn read_with(sidecars: &[(&str, &str)], name: &str, bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    for picture in ["a.jpg", "b.jpg"] {
        fs::write(folder.path().join(picture), b"\xFF\xD8\xFF").expect("a file");
    }
    for (other, text) in sidecars {
        let parent = folder.path().join(other);
        fs::create_dir_all(parent.parent().expect("a parent")).expect("a folder");
        fs::write(folder.path().join(other), text).expect("a file");
    }
    fs::write(folder.path().join(name), bytes).expect("a file");
    let sandbox = SandboxedDir::open(folder.path()).expect("a folder");
    let scan = scan_folder(&sandbox, &FolderPatterns::default()).unwrap();
    let mut read = sidecar::read(&sandbox, &scan);
    let sizes = [(Path::new("a.jpg"), (30, 40)), (Path::new("b.jpg"), (400, 300))];
    sidecar::place_boxes(&sandbox, &mut read, sizes.into_iter());
    let paths = read.descriptions.keys().chain(&read.sidecars);
    assert!(paths.into_iter().all(|path| is_inside(path)), "{read:?}");
}

fn is_inside(path: &Path) -> bool {
    path.components().all(|component| matches!(component, Component::Normal(_)))
}
