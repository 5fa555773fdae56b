//! Tests that nothing is cut: searches list every media item, exports contain what searches find, and counts count
//! media items. The folder has a cluster with more members than previews.

use std::{fs, os::unix::ffi::OsStrExt as _, path::PathBuf, sync::Arc};

use serde_json::{Value, json};
use tempfile::TempDir;
use tessera_testing::scripted::{Reply, ScriptedServer};

use super::{Serving, outcome, picture_folder, piped, run, serve, tessera};

const VANS: usize = 15;
const ALL: usize = 18;
const QUERY: &str = r#"[{"labels":{"op":"one_of","value":["van"]}}]"#;

/// Creates a folder of 15 similar pictures of vans and 3 pictures of dogs, with labels and captions.
fn create_folder() -> (TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("cams");
    fs::create_dir(&folder).unwrap();
    let mut rows = String::new();
    for number in 0..ALL {
        let shade = u8::try_from(number * 4).unwrap();
        let is_van = number < VANS;
        let pixel = |x: u32, y: u32| {
            let (x, y) = (u8::try_from(x * 3).unwrap(), u8::try_from(y * 4).unwrap());
            if is_van { [x, y, 90 + shade] } else { [255 - y, shade, 255 - x] }
        };
        let name = format!("{number:02}.png");
        let drawn = image::RgbImage::from_fn(64, 48, |x, y| image::Rgb(pixel(x, y)));
        drawn.save(folder.join(&name)).unwrap();
        let (caption, label) = if is_van {
            ("A red van in the street", "van")
        } else {
            ("Two dogs on a beach", "dog")
        };
        rows += &json!({ "file_name": name, "caption": caption, "labels": [label] }).to_string();
        rows.push('\n');
    }
    fs::write(folder.join("metadata.jsonl"), rows).unwrap();
    (home, folder)
}

struct CompletionHome {
    home: TempDir,
    folder: PathBuf,
}

impl CompletionHome {
    fn new() -> Self {
        let (home, folder) = create_folder();
        Self { home, folder }
    }

    fn ask(&self, arguments: &[&str]) -> (i32, String, String) {
        let folder = ["--folder", self.folder.to_str().unwrap()];
        run(self.home.path(), &[&folder[..], arguments].concat())
    }
}

fn json_of(out: &str) -> Value {
    serde_json::from_str(out).unwrap_or_default()
}

fn column(out: &str, column: usize) -> Vec<&str> {
    out.lines().map(|line| line.split('\t').nth(column).unwrap()).collect()
}

#[test]
fn every_match_is_listed_closest_first() {
    let fixture = CompletionHome::new();
    let (code, out, err) = fixture.ask(&["search", "browse", "--granularity", "4", "--json"]);
    assert_eq!(code, 0, "{err}");
    let clusters = json_of(&out)["clusters"].as_array().unwrap().clone();
    assert!(clusters.iter().any(|it| it["_members"].as_u64() > Some(9)), "{out}");

    for level in ["0", "2", "4"] {
        let search = ["search", "vql", QUERY, "--flat", "--all", "--granularity", level];
        let (code, out, err) = fixture.ask(&search);
        assert_eq!((code, out.lines().count()), (0, VANS), "{level}: {err}");
        let (_, out, err) = fixture.ask(&[&search[..], &["--json"]].concat());
        let found = json_of(&out);
        assert_eq!((&found["truncated"], &found["_missing"]), (&false.into(), &0.into()), "{err}");
    }

    let first = fixture.ask(&[
        "search",
        "browse",
        "--flat",
        "--limit",
        "1",
        "--jq",
        ".previews[0].media_id",
    ]);
    let media = first.1.trim();
    let search = ["search", "media", media, "--flat", "--granularity", "4"];
    let (code, all, err) = fixture.ask(&[&search[..], &["--all"]].concat());
    let scores: Vec<f64> = column(&all, 0).iter().map(|score| score.parse().unwrap()).collect();
    assert_eq!((code, scores.len()), (0, ALL), "{err}");
    assert!(scores.is_sorted(), "{scores:?}");
    let (code, top, err) = fixture.ask(&[&search[..], &["--limit", "10"]].concat());
    assert_eq!(code, 0, "{err}");
    assert_eq!(top.lines().collect::<Vec<_>>(), all.lines().take(10).collect::<Vec<_>>());
    assert!(err.contains("10 media items shown; more may exist"), "{err}");
    let (_, lines, _) = fixture.ask(&[&search[..], &["--all", "--jsonl"]].concat());
    let media = |line: &str| json_of(line)["media_id"].as_str().unwrap().to_owned();
    assert_eq!(lines.lines().map(media).collect::<Vec<_>>(), column(&all, 2));
}

#[test]
fn paths_are_those_of_the_originals() {
    let fixture = CompletionHome::new();
    let odd = fixture.folder.join("a line\nbreak.png");
    fs::copy(fixture.folder.join("17.png"), &odd).unwrap();
    let folder = fixture.folder.canonicalize().unwrap();
    let (code, out, err) = fixture.ask(&["search", "vql", QUERY, "--paths", "--all"]);
    assert_eq!(code, 0, "{err}");
    let mut paths: Vec<PathBuf> = out.lines().map(PathBuf::from).collect();
    paths.sort();
    let vans = (0..VANS).map(|number| folder.join(format!("{number:02}.png")));
    assert_eq!(paths, vans.collect::<Vec<_>>());
    let (code, out, err) = fixture.ask(&["search", "browse", "--paths", "--all"]);
    assert_eq!((code, out.lines().count()), (9, ALL), "{err}");
    assert!(err.contains("1 path has a line break") && err.contains("use -0"), "{err}");

    let mut command =
        tessera(fixture.home.path(), &["search", "browse", "-0", "--all", "--folder"]);
    command.arg(&fixture.folder);
    let output = command.output().unwrap();
    let expected = folder.join("a line\nbreak.png");
    let listed = output.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    let listed: Vec<&[u8]> = listed.collect();
    assert_eq!((output.status.code(), listed.len()), (Some(0), ALL + 1));
    assert!(listed.contains(&expected.as_os_str().as_bytes()));
    let (code, _, err) = fixture.ask(&["search", "browse", "--paths", "--json"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--paths prints only paths"), "{err}");
}

#[test]
fn every_service_of_this_program_lists_all_members() {
    let fixture = CompletionHome::new();
    for options in [&[][..], &["--compat"]] {
        let folder = fixture.folder.to_str().unwrap();
        let serving = serve(fixture.home.path(), &[&[folder, "--no-auth"], options].concat());
        assert_eq!(serving.indexed()["status_new"], "READY");
        let ask = |arguments: &[&str]| outcome(&mut serving.asked(fixture.home.path(), arguments));
        let search = ["search", "vql", QUERY, "--flat", "--all", "--granularity", "4"];
        let (code, out, err) = ask(&search);
        assert_eq!((code, out.lines().count()), (0, VANS), "{err}");
        let (code, out, err) = ask(&["dataset", "show", "--plot"]);
        assert!(code == 0 && out.contains("labels, in images"), "{out} {err}");
    }
}

/// Starts a service that has only what the API document describes. It passes requests on to another service.
async fn documented(serving: &Arc<Serving>) -> ScriptedServer {
    let serving = Arc::clone(serving);
    ScriptedServer::start(move |request| {
        if request.path().starts_with("/local") {
            return Reply::new(200, &[("content-type", "text/html")], "<!DOCTYPE html>");
        }
        let (status, body) = serving.ask(&request.method, &request.target);
        Reply::new(status, &[("content-type", "application/json")], body.to_string())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_service_does_not_list_is_counted() {
    let fixture = CompletionHome::new();
    let folder = fixture.folder.to_str().unwrap();
    let serving = Arc::new(serve(fixture.home.path(), &[folder, "--no-auth"]));
    assert_eq!(serving.indexed()["status_new"], "READY");
    let server = documented(&serving).await;
    let ask = |arguments: &[&str]| {
        let mut command = serving.asked(fixture.home.path(), arguments);
        outcome(command.env("TESSERA_BASE_URL", server.url()))
    };
    let search = ["search", "vql", QUERY, "--flat", "--granularity", "4"];
    let (code, out, err) = ask(&[&search[..], &["--limit", "100", "--json"]].concat());
    let found = json_of(&out);
    assert!(code == 9 && found["_missing"].as_u64() > Some(0), "{out}");
    assert!(!err.contains("raise --limit"), "{err}");
    // The members that are not listed are farther than the limit.
    let van = found["previews"][0]["media_id"].as_str().unwrap();
    let close = ["search", "media", van, "--max-score", "0.0001", "--flat"];
    let (code, out, err) = ask(&[&close[..], &["--granularity", "4", "--json"]].concat());
    assert_eq!((code, &json_of(&out)["_missing"]), (0, &0.into()), "{out} {err}");

    let (code, out, err) = ask(&[&search[..], &["--all", "--json"]].concat());
    let found = json_of(&out);
    let shown = found["previews"].as_array().unwrap().len();
    let missing = usize::try_from(found["_missing"].as_u64().unwrap()).unwrap();
    assert_eq!((code, shown + missing), (9, VANS), "{err}");
    assert!(missing > 0 && found["truncated"] == true, "{out}");
    assert!(err.contains(&format!("{missing} matching media items are missing")), "{err}");
    let (code, _, err) = ask(&["search", "browse", "--paths"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--folder DIR"), "{err}");
    let (code, _, err) = ask(&["export", "start", "--caption", "a red van"]);
    assert_eq!(code, 9, "{err}");
    assert!(err.contains("missing") && err.contains("nothing was exported"), "{err}");
    let (code, out, err) = ask(&["dataset", "show", "--plot"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        err.contains("counts no media by label") && out.contains("labels, in clusters"),
        "{err}"
    );
}

#[test]
fn counts_are_of_media_items() {
    let fixture = CompletionHome::new();
    let (code, out, err) = fixture.ask(&["dataset", "show", "--plot"]);
    assert_eq!(code, 0, "{err}");
    let count = |name: &str| {
        let line = out.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.rsplit(' ').next().unwrap().parse::<usize>().unwrap()
    };
    assert!(out.contains("labels, in images"), "{out}");
    assert_eq!([count("van "), count("dog "), count("street ")], [VANS, ALL - VANS, VANS], "{out}");
}

#[test]
fn a_folder_takes_the_place_of_a_profile() {
    let fixture = CompletionHome::new();
    let other = picture_folder(fixture.home.path(), "other", &["only.png"]);
    let other = other.to_str().unwrap();
    let name = |out: &str| json_of(out)["display_name"].as_str().unwrap_or_default().to_owned();
    let (code, out, err) = fixture.ask(&["dataset", "show", "--json"]);
    assert_eq!((code, name(&out).as_str()), (0, "cams"), "{err}");
    let (code, out, err) =
        run(fixture.home.path(), &["dataset", "show", "--json", "--folder", other]);
    assert_eq!((code, name(&out).as_str()), (0, "other"), "both are in the index folder: {err}");
    let mut command =
        tessera(fixture.home.path(), &["dataset", "show", "--json", "--folder", other]);
    let (code, _, err) = outcome(command.env("TESSERA_PROFILE", "from-the-environment"));
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = fixture.ask(&["dataset", "show", "--profile", "x"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("takes the place of --profile and --base-url"), "{err}");
    let (code, _, err) = fixture.ask(&["open", other]);
    assert_eq!(code, 2, "{err}");
    let missing = ["dataset", "list", "--folder", "/nonexistent/folder"];
    let (code, _, err) = run(fixture.home.path(), &missing);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("/nonexistent/folder"), "{err}");
}

#[test]
fn a_query_is_given_in_the_same_ways_everywhere() {
    let fixture = CompletionHome::new();
    let home = fixture.home.path();
    let file = home.join("query.json");
    fs::write(&file, QUERY).unwrap();
    let file = file.to_str().unwrap();
    let ways: [&[&str]; 4] = [&[QUERY], &[file], &["-f", file], &["--vql", QUERY]];
    for way in ways {
        let search = [&["search", "vql"], way, &["--flat", "--all"]].concat();
        let (code, out, err) = fixture.ask(&search);
        assert_eq!((code, out.lines().count()), (0, VANS), "{way:?}: {err}");
        let (code, out, err) = run(home, &[&["query", "explain"], way].concat());
        assert_eq!(code, 0, "{way:?}: {err}");
        assert!(out.contains("van"), "{out}");
    }
    let (code, out, err) = piped(home, &["query", "explain", "-"], QUERY);
    assert_eq!((code, out.contains("van")), (0, true), "{err}");
    let (code, _, err) = run(home, &["query", "fmt", QUERY, "--vql", QUERY]);
    assert_eq!(code, 2, "{err}");
    let (code, out, err) = fixture.ask(&["search", "vql", QUERY, "--raw"]);
    assert_eq!(code, 0, "{err}");
    assert!(json_of(&out)["clusters"][0]["previews"][0]["media_uri"].is_string(), "{out}");
}

#[test]
fn an_export_of_a_search_has_what_the_search_finds() {
    let fixture = CompletionHome::new();
    let folder = fixture.home.path().join("exports");
    fs::create_dir(&folder).unwrap();
    let folder = folder.to_str().unwrap();
    let save = ["search", "caption", "a red van", "--max-score", "0.5", "--save", "red vans"];
    let (code, _, err) = fixture.ask(&save);
    assert_eq!(code, 0, "{err}");
    let contents: [(&[&str], usize); 5] = [
        (&["--vql", QUERY], VANS),
        (&["--label", "dog"], ALL - VANS),
        (&["--caption", "a red van", "--max-score", "0.5"], VANS),
        (&["--search", "red vans"], VANS),
        (&["--caption", "a red van", "--max-score", "0.5", "--label", "van"], VANS),
    ];
    for (number, (content, expected)) in contents.into_iter().enumerate() {
        let name = format!("export-{number}");
        let start = ["export", "start", "--download", folder, "--name", &name, "--json"];
        let (code, out, err) = fixture.ask(&[&start[..], content].concat());
        assert_eq!(code, 0, "{content:?}: {err}");
        assert_eq!(json_of(&out)["rows"], expected, "{content:?}: {out}");
    }
    for (content, code, words) in [
        (&["--label", "none such"][..], 5, "nothing was found"),
        (&["--search", "none such"], 5, "unknown view"),
        (&["--label", "van", "--selection", "x"], 2, "not both"),
        (&["--max-score", "0.5"], 2, "--caption"),
    ] {
        let (got, _, err) = fixture.ask(&[&["export", "start"], content].concat());
        assert_eq!(got, code, "{content:?}: {err}");
        assert!(err.contains(words), "{content:?}: {err}");
    }
}
