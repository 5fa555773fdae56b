//! Tests exports in the formats of other programs: what a format omits is reported before the export starts, and
//! other services refuse such a format by name.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tempfile::TempDir;
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

use super::{add_local_profile, outcome, picture, tessera};

/// Adds a profile for a folder with a caption, a label, and an object with a polygon. Returns the home and the folder.
fn annotated_folder() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("pictures");
    fs::create_dir_all(folder.join("sub")).unwrap();
    picture(&folder.join("a.png"));
    picture(&folder.join("sub/a.png"));
    let row = r#"{"file_name": "a.png", "caption": "A wall", "labels": ["wall"], "objects": [
        {"label": "door", "bbox": [0.25, 0.25, 0.5, 0.5], "score": 0.5,
         "polygons": [[0.25, 0.25, 0.75, 0.25, 0.5, 0.75]]}]}"#;
    fs::write(folder.join("metadata.jsonl"), row.replace('\n', " ")).unwrap();
    add_local_profile(home.path(), "mine", folder.to_str().unwrap());
    (home, folder)
}

/// Starts an export with a profile. Returns the exit code, the document, and the messages.
fn start(home: &Path, arguments: &[&str]) -> (i32, Value, String) {
    let arguments = [&["--profile", "mine", "export", "start"], arguments, &["--json"]].concat();
    let (code, out, err) = outcome(tessera(home, &arguments).current_dir(home));
    (code, serde_json::from_str(&out).unwrap_or_default(), err)
}

#[test]
fn what_a_format_leaves_out_is_reported_before_the_export_starts() {
    let (home, folder) = annotated_folder();
    let home = home.path();
    let options = ["--download", ".", "--extract", "out", "--link"];
    let (code, reported, err) =
        start(home, &[&["--format", "voc", "--name", "voc"], &options[..]].concat());
    assert_eq!(code, 0, "{err}");
    let omissions = reported["omissions"].as_array().unwrap();
    let texts: Vec<&str> = omissions.iter().map(|it| it["text"].as_str().unwrap()).collect();
    let expected = [
        "captions omitted: 1",
        "images without their labels: 2",
        "scores omitted: 1",
        "objects without their polygons: 1",
        "objects without pose, truncated and difficult: 1",
        "images renamed, so that names are unique and safe: 1",
    ];
    assert_eq!(texts, expected);
    let began = err.find("export ").unwrap();
    for text in expected {
        assert!(err.find(&format!("voc: {text}")).is_some_and(|at| at < began), "{text}: {err}");
    }
    assert_eq!((&reported["rows"], &reported["images"]), (&Value::Null, &2.into()));
    let xml = fs::read_to_string(home.join("out/Annotations/a.xml")).unwrap();
    assert!(xml.contains("<name>door</name>") && xml.contains("<xmin>8</xmin>"), "{xml}");
    assert!(home.join("out/Annotations/a_2.xml").is_file());
    assert_eq!(
        fs::read(home.join("out/images/a.png")).unwrap(),
        fs::read(folder.join("a.png")).unwrap()
    );
    assert!(err.contains("2 links to their originals") || err.contains("2 share"), "{err}");
    let (code, out, err) =
        outcome(tessera(home, &["export", "inspect", "voc.zip"]).current_dir(home));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("Annotations/a.xml"), "{out}");
}

#[test]
fn every_format_is_exported_for_what_a_search_finds() {
    let (home, _) = annotated_folder();
    let home = home.path();
    for (format, file) in [
        ("coco", "annotations/instances.json"),
        ("yolo", "labels/a.txt"),
        ("yolo-segment", "data.yaml"),
        ("yolo-pose", "data.yaml"),
        ("voc", "Annotations/a.xml"),
        ("csv", "metadata.csv"),
        ("imagefolder", "metadata.jsonl"),
        ("webdataset", "shard-000000.tar"),
        ("hf-parquet", "data/train-00000.parquet"),
    ] {
        let options = ["--label", "wall", "--name", format, "--download", ".", "--extract", format];
        let (code, reported, err) = start(home, &[&["--format", format], &options[..]].concat());
        assert_eq!(code, 0, "{format}: {err}");
        assert_eq!(reported["kind"], "selection");
        assert!(home.join(format).join(file).is_file(), "{format}: {file}");
        let archive = format!("{format}.zip");
        let counts = "[.export_format, .rows, .unscored, .images] | map(tostring) | join(\" \")";
        let inspect = ["export", "inspect", &archive, "--jq", counts];
        let (_, counted, err) = outcome(tessera(home, &inspect).current_dir(home));
        let shown = if format.starts_with("yolo") { "yolo" } else { format };
        let images = match format {
            "webdataset" | "hf-parquet" => "null",
            "coco" | "csv" => "0",
            _ => "1",
        };
        assert_eq!(counted, format!("{shown} null null {images}\n"), "{err}");
        assert!(!home.join(format).join("images/a_2.png").exists(), "{format}");
    }
    let line = fs::read_to_string(home.join("yolo-segment/labels/a.txt")).unwrap();
    assert_eq!(line, "0 0.25 0.25 0.75 0.25 0.5 0.75\n");
}

#[test]
fn a_dry_run_reports_what_is_left_out_and_starts_nothing() {
    let (home, _) = annotated_folder();
    let home = home.path();
    let options = ["--profile", "mine", "export", "start", "--format", "yolo", "--dry-run"];
    let (code, out, err) = outcome(tessera(home, &options).current_dir(home));
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("yolo: captions omitted: 1"), "{err}");
    assert!(out.contains("export_format=yolo"), "{out}");
    let (_, out, _) = outcome(&mut tessera(home, &["--profile", "mine", "export", "list"]));
    assert_eq!(out.lines().count(), 0, "{out}");
}

#[test]
fn options_that_a_format_does_not_have_are_refused() {
    let (home, _) = annotated_folder();
    let home = home.path();
    for (options, expected) in [
        (&["--format", "voc", "--images=false"][..], "voc has no form without images"),
        (
            &["--format", "coco", "--download", ".", "--extract", "x", "--join"],
            "--join needs json or parquet, not coco",
        ),
        (&["--format", "docx"], "expected json, parquet, coco, yolo"),
    ] {
        let (code, _, err) = start(home, options);
        assert!(code == 2 && err.contains(expected), "{options:?}: {err}");
    }
    let (code, reported, err) = start(home, &["--format", "csv", "--images=false", "--wait"]);
    assert_eq!((code, &reported["include_images"]), (0, &false.into()), "{err}");
}

const DATASET: &str = "8a1b6f0e-0000-4c1d-9d55-000000000001";

#[tokio::test(flavor = "multi_thread")]
async fn other_services_refuse_the_format_by_name_before_anything_starts() {
    let service = ScriptedServer::start(|seen: &ReceivedRequest| match seen.path() {
        path if path.starts_with("/local/") => Reply::new(404, &[], r#"{"detail":"Not Found"}"#),
        path if path.contains("export") => Reply::new(500, &[], "{}"),
        _ => {
            Reply::json(format!(r#"{{"id":"{DATASET}","display_name":"x","status_new":"READY"}}"#))
        }
    })
    .await;
    let home = tempfile::tempdir().unwrap();
    let refused = |more: &[&str]| {
        let mut command = tessera(home.path(), &[&["export", "start", DATASET], more].concat());
        command.env("TESSERA_BASE_URL", service.url()).env("TESSERA_KIND", "onprem");
        let (code, out, err) = outcome(&mut command);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        let expected = "only local services write coco; this service writes json and parquet";
        assert!(err.contains(expected), "{err}");
    };
    refused(&["--format", "coco"]);
    for format in ["hf-parquet", "coco"] {
        let set = ["config", "set", "export.format", format];
        let (code, _, err) = outcome(&mut tessera(home.path(), &set));
        assert_eq!(code, 0, "{err}");
    }
    refused(&[]);
}
