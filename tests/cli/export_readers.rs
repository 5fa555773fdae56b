//! Reads exports by pandas, polars, pyarrow, duckdb, `datasets`, pycocotools, labelformat and webdataset, and replays
//! the examples of docs/exports.md, if `TESSERA_TEST_PYTHON` names a Python that has these packages
//! (`tools/python_packages.sh export_readers` installs them).

use std::{
    env,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Serving, outcome, picture, picture_folder, serve, tessera};

const DOCUMENT: &str = include_str!("../../docs/exports.md");
const ANNOTATION_CHECKS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/annotation_readers.py");
const EMBEDDING_CHECKS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/embedding_readers.py");
const CHECKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/export_readers.py");

/// Returns the Python with the packages. Prints why it is missing.
fn python() -> Option<PathBuf> {
    let python = env::var_os("TESSERA_TEST_PYTHON").map(PathBuf::from);
    let python = python.filter(|path| path.is_file());
    if python.is_none() {
        let note = "SKIPPED: no Python packages; run tools/python_packages.sh export_readers and set TESSERA_TEST_PYTHON";
        // A print macro is not used, because the output of passing tests is hidden.
        std::io::stderr().write_all(format!("{note}\n").as_bytes()).unwrap();
    }
    python
}

/// Serves the sample dataset as `photos`, with pictures that have no sidecar and names like those of splits.
fn photos(home: &Path) -> Serving {
    let folder = home.join("originals/photos");
    tessera_sample::write(&folder, 24, 7, |_, _| {}).unwrap();
    for name in ["test_01.png", "train.png", "a b#%&'ü.png", "scan.v2.png"] {
        picture(&folder.join(name));
    }
    annotate(&folder);
    let serving = serve(home, &[folder.to_str().unwrap(), "--no-auth"]);
    assert_eq!(serving.indexed()["status_new"], "READY");
    serving
}

/// Returns the code blocks of the document in a language.
fn examples(language: &str) -> Vec<&'static str> {
    let begin = format!("```{language}\n");
    let blocks = DOCUMENT.split(&begin).skip(1);
    blocks.map(|block| block.split_once("```").unwrap().0).collect()
}

fn run_python(python: &Path, home: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(python);
    command.args(arguments).current_dir(home).env("HOME", home).env("HF_HOME", home.join("hf"));
    command.env("HF_HUB_OFFLINE", "1").env("HF_DATASETS_OFFLINE", "1");
    let (code, out, err) = outcome(&mut command);
    assert_eq!(code, 0, "{arguments:?}\n{out}\n{err}");
    out
}

/// Exports the pictures in a format, and extracts the archive into a folder.
fn export(serving: &Serving, home: &Path, format: &str, folder: &str) {
    let start = ["export", "start", "photos", "--format", format, "--images"];
    let name = folder.rsplit('/').next().unwrap();
    let options = ["--name", name, "--download", ".", "--extract", folder];
    let start = [&start[..], &options].concat();
    let (code, _, err) = outcome(serving.asked(home, &start).current_dir(home));
    assert_eq!(code, 0, "{format}: {err}");
}

#[test]
fn other_tools_read_exports() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let serving = photos(home);
    for format in ["parquet", "json"] {
        // `datasets` takes names such as `parquet` for its own modules.
        let name = format!("photos-{format}");
        export(&serving, home, format, &name);
        let report = run_python(&python, home, &[CHECKS, &name]);
        assert!(report.ends_with("28 images\n"), "{report}");
    }
}

/// Adds a row with polygons, a mask, keypoints, and columns of the user's own to the table of the folder.
fn annotate(folder: &Path) {
    let object = r#""label": "kite & string", "bbox": [0.25, 0.25, 0.5, 0.5]"#;
    let row = format!(
        r#"{{"file_name": "scan.v2.png", "caption": "Kites", "weather": "fog", "count": 3, "objects": [
            {{{object}, "score": 0.5, "polygons": [[0.25, 0.25, 0.75, 0.25, 0.5, 0.75]]}},
            {{{object}, "mask": {{"size": [24, 32], "counts": "T3<`d0"}}, "is_crowd": true}},
            {{{object}, "keypoints": [0.5, 0.5, 2, 0.25, 0.75, 1]}}]}}"#
    );
    let table = folder.join("metadata.jsonl");
    let rows = std::fs::read_to_string(&table).unwrap_or_default();
    std::fs::write(table, format!("{rows}{}\n", row.replace('\n', " "))).unwrap();
}

#[test]
fn other_tools_read_the_formats_of_annotations() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let serving = photos(home);
    let formats =
        ["coco", "yolo", "yolo-segment", "voc", "csv", "imagefolder", "webdataset", "hf-parquet"];
    for format in formats {
        export(&serving, home, format, &format!("formats/{format}"));
    }
    let report = run_python(&python, home, &[ANNOTATION_CHECKS, "formats"]);
    assert!(report.ends_with("28 images\n"), "{report}");
}

#[test]
fn other_tools_exchange_embeddings() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    for name in ["a.png", "b <i>.png", "caf\u{e9} \u{30ab}/c.png"] {
        let path = home.join("photos").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        picture(&path);
    }
    let embeddings = |arguments: &[&str]| {
        let arguments = [&["dataset", "embeddings"], arguments, &["--folder", "photos"]].concat();
        outcome(tessera(home, &arguments).current_dir(home))
    };
    for file in ["out.parquet", "out.npy"] {
        let (code, _, err) = embeddings(&["export", file]);
        assert_eq!(code, 0, "{err}");
    }
    assert_eq!(run_python(&python, home, &[EMBEDDING_CHECKS, "check"]), "3 embeddings\n");
    for (kind, file, expected) in [
        ("float16", "in.npy", None),
        ("float64", "in.npy", None),
        ("halves", "in.parquet", None),
        ("fixed", "in.parquet", None),
        ("doubles", "in.parquet", None),
        ("fortran", "in.npy", Some("Fortran order")),
        ("big", "in.npy", Some("big-endian")),
        ("whole", "in.npy", Some("have the type <i8")),
        ("objects", "in.npy", Some("pickled Python objects")),
        ("flat", "in.npy", Some("two dimensions")),
    ] {
        run_python(&python, home, &[EMBEDDING_CHECKS, "write", kind]);
        let (code, _, err) = embeddings(&["import", file]);
        match expected {
            None => assert_eq!(code, 0, "{kind}: {err}"),
            Some(reason) => assert!(code != 0 && err.contains(reason), "{kind}: {err}"),
        }
    }
}

#[test]
fn the_documented_examples_work() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let serving = photos(home);
    let start: Vec<&str> = examples("sh")[0].split_whitespace().skip(1).collect();
    let (code, _, err) = outcome(serving.asked(home, &start).current_dir(home));
    assert_eq!(code, 0, "{err}");
    let examples = examples("python");
    assert_eq!(examples.len(), 5, "one for each tool");
    for example in examples {
        let out = run_python(&python, home, &["-c", example]);
        assert!(!out.trim().is_empty(), "{example}");
    }
}

#[test]
fn the_python_package_searches_checks_and_exports() {
    let Some(python) = python() else { return };
    let home = tempfile::tempdir().unwrap();
    let folder = picture_folder(home.path(), "photos", &["a.png"]);
    image::RgbImage::from_fn(40, 30, |x, y| {
        image::Rgb([if (x / 5 + y / 5) % 2 == 0 { 250 } else { 10 }; 3])
    })
    .save(folder.join("b <i>.png"))
    .unwrap();
    std::fs::write(
        folder.join("metadata.jsonl"),
        "{\"file_name\": \"b <i>.png\", \"labels\": [\"boat\"]}\n",
    )
    .unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/python_package.py");
    let programs = Path::new(env!("CARGO_BIN_EXE_tessera")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), env::var("PATH").unwrap());
    let mut command = Command::new(python);
    command.env("HOME", home.path()).env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TESSERA_PROFILE"] {
        command.env_remove(name);
    }
    command.arg(script).arg(&folder).env("PATH", path);
    command.env("PYTHONPATH", concat!(env!("CARGO_MANIFEST_DIR"), "/python"));
    let (code, out, err) = outcome(&mut command);
    assert_eq!(code, 0, "{out}\n{err}");
}
