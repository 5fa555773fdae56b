//! Tests `tessera search` against a real deployment: every kind of search, its pages and faults, and what is saved.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Serving, add_local_profile, outcome, picture, piped, run, serve};
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};

const ID: &str = "95233006-eddc-11ef-b303-76dbc3993eb2";

/// Starts a service over pictures with captions and labels.
fn serve_folder() -> (TempDir, Serving) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("street-cams");
    fs::create_dir(&folder).unwrap();
    let mut rows = String::new();
    for (name, caption, label) in [
        ("a.png", "A red van in the street", "van"),
        ("b.png", "A red van at night", "van"),
        ("c.png", "Two dogs on a beach", "dog"),
    ] {
        picture(&folder.join(name));
        rows += &json!({ "file_name": name, "caption": caption, "labels": [label] }).to_string();
        rows.push('\n');
    }
    fs::write(folder.join("metadata.jsonl"), rows).unwrap();
    let serving = serve(home.path(), &[folder.to_str().unwrap(), "--no-auth"]);
    assert_eq!(serving.indexed()["status_new"], "READY");
    (home, serving)
}

fn ask(home: &Path, serving: &Serving, arguments: &[&str]) -> (i32, String, String) {
    let arguments = [&["search"], arguments].concat();
    outcome(serving.asked(home, &arguments).current_dir(home))
}

fn document(out: &str) -> Value {
    serde_json::from_str(out).unwrap_or_default()
}

#[test]
fn a_local_folder_sorts_its_whole_result_by_files() {
    let (home, _serving) = serve_folder();
    let home = home.path();
    let folder = home.join("street-cams");
    let ask = |arguments: &[&str]| {
        let start = ["--folder", folder.to_str().unwrap(), "search"];
        run(home, &[&start, arguments].concat())
    };
    let first_names = |arguments: &[&str]| {
        let sorted = [&["browse", "--granularity", "0", "--flat", "--json"], arguments].concat();
        let (code, out, err) = ask(&sorted);
        assert_eq!(code, 0, "{err}");
        let rows = document(&out)["previews"].as_array().cloned().unwrap_or_default();
        let name = |row: &Value| row["file_name"].as_str().unwrap_or_default().to_owned();
        rows.iter().map(name).collect::<Vec<_>>()
    };
    let by_name = first_names(&["--sort", "name"]);
    assert_eq!(by_name, ["a.png", "b.png", "c.png"]);
    let reversed = first_names(&["--sort", "path", "--reverse"]);
    assert!(reversed.iter().rev().eq(&by_name), "{reversed:?}");
    ask(&["browse", "--sort", "path", "--reverse", "--save", "sorted"]);
    let view =
        ["--folder", folder.to_str().unwrap(), "query", "run", "sorted", "--flat", "--paths"];
    let (code, out, err) = run(home, &view);
    let paths: Vec<&str> = out.lines().filter_map(|line| line.rsplit('/').next()).collect();
    assert_eq!((code, paths), (0, vec!["c.png", "b.png", "a.png"]), "{err}");
    let (code, _, err) = ask(&["browse", "--reverse"]);
    assert_eq!(code, 2, "{err}");
    let cut = ["media", ID, "--max-score", "0.3", "--sort", "name"];
    let (code, _, err) = ask(&cut);
    assert!(code == 2 && err.contains("leave out --sort"), "{code} {err}");
}

/// Creates a folder of four pictures. The second and the fourth one differ from the others, so they are in another
/// cluster.
fn mixed_folder(home: &Path) -> PathBuf {
    let folder = home.join("mixed");
    fs::create_dir(&folder).unwrap();
    for (name, color) in [("a", 0), ("b", 200), ("c", 0), ("d", 200)] {
        let pixel = |x: u32, y: u32| image::Rgb([color, u8::try_from(x * y % 40).unwrap(), 90]);
        image::RgbImage::from_fn(64, 48, pixel)
            .save(folder.join(name).with_extension("png"))
            .unwrap();
    }
    folder
}

#[test]
fn a_saved_search_by_a_picture_keeps_its_maximum_score() {
    let home = tempfile::tempdir().unwrap();
    let folder = mixed_folder(home.path());
    let picture = folder.join("a.png");
    let ask = |arguments: &[&str]| {
        let start = ["--folder", folder.to_str().unwrap()];
        let (code, out, err) = run(home.path(), &[&start, arguments].concat());
        assert_eq!(code, 0, "{arguments:?}: {err}");
        out
    };
    let id = ask(&["search", "browse", "--flat", "--limit", "1", "--jq", ".previews[].media_id"]);
    let lines = |out: &str| out.lines().count();
    for search in [["image", picture.to_str().unwrap()], ["media", id.trim().trim_matches('"')]] {
        let limited = ["--max-score", "0.05", "--paths", "--save", "near"];
        let found = ask(&[&["search"], &search[..], &limited].concat());
        assert_eq!(lines(&found), 2, "{found}");
        assert_eq!(ask(&["query", "run", "near", "--paths"]), found);
        let plan = ask(&["media", "trash", "--search", "near", "--dry-run", "--json"]);
        assert!(plan.contains("a.png") && !plan.contains("b.png"), "{plan}");
        assert!(lines(&ask(&[&["search"], &search[..], &["--paths"]].concat())) > 2);
    }
    // Two pictures are at exactly this distance, which is not below it.
    let media = ["search", "media", id.trim().trim_matches('"'), "--paths"];
    assert_eq!(ask(&[&media[..], &["--max-score", "0", "--save", "below"]].concat()), "");
    assert_eq!(ask(&["query", "run", "below", "--paths"]), "");
    ask(&["query", "remove", "below", "--yes"]);
    let wide = vec![json!({"width": {"op": "at_least", "value": 1}}); 16];
    let full = ["--vql", &json!(wide).to_string(), "--max-score", "0.05", "--save", "full"];
    let search = ["--folder", folder.to_str().unwrap(), "search", "image"];
    let (code, _, err) =
        run(home.path(), &[&search[..], &[picture.to_str().unwrap()], &full].concat());
    assert_eq!(code, 8, "{err}");
    assert!(err.contains("remove one of the filters"), "{err}");
    assert_eq!(lines(&ask(&["query", "list", "--jq", ".views[].name"])), 1, "the lists are read");
}

#[test]
fn media_items_of_several_clusters_are_sorted_by_their_files() {
    let home = tempfile::tempdir().unwrap();
    let folder = mixed_folder(home.path());
    let folder = folder.to_str().unwrap();
    let names = |options: &[&str]| {
        let ask = ["--folder", folder, "search", "browse", "--granularity", "0", "--sort", "name"];
        let (_, out, err) = run(home.path(), &[&ask, options].concat());
        let names = out.lines().filter_map(|line| Some(line.rsplit_once('/')?.1.to_owned()));
        (names.collect::<Vec<_>>(), err)
    };
    let (clusters, err) = names(&["--jq", ".clusters[].previews[] | \"/\" + .file_name"]);
    assert_ne!(clusters, ["a.png", "b.png", "c.png", "d.png"], "two clusters: {err}");
    for (options, expected) in [
        (&["--paths"][..], &["a.png", "b.png", "c.png", "d.png"][..]),
        (&["--paths", "--limit", "3"], &["a.png", "b.png", "c.png"]),
        (&["--paths", "--limit", "2", "--reverse"], &["d.png", "c.png"]),
        (
            &["--flat", "--limit", "2", "--jq", ".previews[] | \"/\" + .file_name"],
            &["a.png", "b.png"],
        ),
    ] {
        let (found, err) = names(options);
        assert_eq!(found, expected, "{options:?}: {err}");
    }
}

#[test]
fn pictures_media_and_anchors() {
    let (home, serving) = serve_folder();
    let home = home.path();
    let ask = |arguments: &[&str]| ask(home, &serving, arguments);
    fs::copy(home.join("street-cams/a.png"), home.join("van.png")).unwrap();

    let (code, out, err) = ask(&["image", "van.png", "--box-px", "8,6,16,12", "--json"]);
    let reported = document(&out);
    assert_eq!((code, &reported["schema"]), (0, &"tessera.clusters/1".into()), "{err}");
    let query = &reported["query"];
    assert_eq!(query["bounding_box"], json!({"x": 0.25, "y": 0.25, "width": 0.5, "height": 0.5}));
    assert_eq!(query["anchor_type"], "UPLOAD");
    let cluster = &reported["clusters"][0];
    assert_eq!(
        (&cluster["_page"], &cluster["relevance_score_type"]),
        (&0.into(), &"cosine_distance".into())
    );
    assert!(cluster["_band"].is_string() && cluster["previews"][0]["media_uri"].is_string());

    for (max, found) in [("0", 0), ("0.3", 1)] {
        let (code, out, err) = ask(&["image", "van.png", "--max-score", max, "--json"]);
        let clusters = document(&out)["clusters"].as_array().map(Vec::len);
        assert_eq!((code, clusters), (0, Some(found)), "{err}");
    }

    let (_, out, _) = ask(&["image", "van.png", "--anchor-only", "--granularity", "1", "--json"]);
    let anchor = document(&out)["anchor_media_id"].as_str().unwrap().to_owned();
    let (code, out, err) = ask(&["anchor", &anchor, "--type", "upload", "--json"]);
    assert_eq!((code, &document(&out)["query"]["granularity"]), (0, &1.into()), "{err}");
    let (code, _, err) = ask(&["anchor", &anchor, "--type", "UPLOAD", "--granularity", "3"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("granularity 1") && err.contains("van.png --entity images"), "{err}");

    let (_, out, _) = ask(&["browse", "--flat", "--json=media_id,_cluster_id"]);
    let media = document(&out)[0]["media_id"].as_str().unwrap().to_owned();
    let (code, out, _) = ask(&["media", &media, "--raw", "--json", "--entity", "IMAGES"]);
    let reported = document(&out);
    assert_eq!((code, reported["clusters"][0]["_band"].as_str()), (0, Some("same")), "{reported}");
    assert!(reported["metadata"]["used_duckdb"].is_boolean());
}

#[test]
fn results_and_datasets_are_plotted() {
    let (home, serving) = serve_folder();
    let ask = |arguments: &[&str]| outcome(&mut serving.asked(home.path(), arguments));
    let (code, out, err) = ask(&["search", "browse", "--granularity", "0", "--plot"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("labels, in clusters\n  dog")
            && out.contains("words in captions, in clusters\n"),
        "{out}"
    );
    assert!(out.contains('█') && !out.contains("scores"), "{out}");
    let (code, out, err) = ask(&["search", "caption", "a red van", "--plot"]);
    assert_eq!((code, out.starts_with("scores, from the closest\n")), (0, true), "{out}{err}");
    let (code, _, err) = ask(&["search", "browse", "--plot", "--json"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--plot draws; remove --json"), "{err}");
    let (code, out, err) = ask(&["dataset", "show", "street-cams", "--plot"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("READY") && out.contains("labels, in images\n"), "{out}");
}

#[test]
fn text_searches_filters_views_and_selections() {
    let (home, serving) = serve_folder();
    let home = home.path();
    let ask = |arguments: &[&str]| ask(home, &serving, arguments);
    let files = |out: &str| {
        out.lines().map(|line| line.split('\t').nth(4).unwrap().to_owned()).collect::<Vec<_>>()
    };

    let (code, out, err) = ask(&["vql", "--label", "van", "--flat", "--granularity", "0"]);
    assert_eq!(code, 0, "{err}");
    let mut vans = files(&out);
    vans.sort();
    assert_eq!(vans, ["a.png", "b.png"]);
    let vql = r#"[{"text":{"op":"fts","value":"dog"}}]"#;
    let (code, out, err) = outcome_of_input(home, &serving, vql);
    assert_eq!((code, files(&out)), (0, vec!["c.png".to_owned()]), "{err}");

    let keep = ["caption", "red van", "--mark", "vans", "--save", "red vans", "--granularity", "0"];
    let (code, _, err) = ask(&keep);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("selection `vans`") && err.contains("view `red vans`"), "{err}");
    let (_, _, err) = ask(&["vql", "--label", "dog", "--mark", "vans"]);
    assert!(err.contains("1 cluster as the selection `vans`, replacing"), "{err}");
    let (_, _, err) = ask(&["vql", "--label", "none such", "--mark", "vans", "--fail-empty"]);
    assert!(err.contains("0 clusters as") && err.contains("nothing was found"), "{err}");

    for (code, arguments) in [
        (10, &["caption", "red van", "--label", "none such", "--fail-empty"][..]),
        (0, &["caption", "red van", "--label", "none such"]),
        (8, &["vql", "--vql", "[{\"labels\":{}}]"]),
        (8, &["vql", "--vql", r#"[{"issues":{"op":"issue","value":"odd"}}]"#]),
        (5, &["caption", "van", "--path", "vector/{dataset_id}/search"]),
        (5, &["caption", "van", "--dataset", "none such"]),
        (2, &["caption", "van", "--mark", "../up"]),
    ] {
        let (got, _, err) = ask(arguments);
        assert_eq!(got, code, "{arguments:?}: {err}");
    }
    let labels: Vec<_> = (0..100).map(|n| format!("{n}{}", "\u{5199}".repeat(80))).collect();
    let long = serde_json::json!([{ "labels": { "op": "one_of", "value": labels } }]).to_string();
    let (code, _, err) = ask(&["vql", "--vql", &long]);
    assert!(code != 0 && err.contains("a URL has at most 65534"), "{code} {err}");
    let (code, out, _) = ask(&["caption", "red van", "--max-score", "0.4", "--print", "curl"]);
    assert_eq!(code, 0);
    assert!(
        out.contains("textual_similarity_threshold=0.4") && out.contains("threshold=2"),
        "{out}"
    );
}

/// Runs `search vql -f -` with this query on standard input.
fn outcome_of_input(home: &Path, serving: &Serving, vql: &str) -> (i32, String, String) {
    let url = serving.1["base_url"].as_str().unwrap();
    let place = ["--base-url", url, "--kind", "onprem"];
    piped(home, &[&["search", "vql", "-f", "-", "--flat"], &place[..]].concat(), vql)
}

#[test]
fn invalid_searches_are_rejected_before_any_request() {
    let home = tempfile::tempdir().unwrap();
    let van = home.path().join("van.png");
    picture(&van);
    let (van, text) = (van.to_str().unwrap(), home.path().join("text"));
    fs::write(&text, "no picture").unwrap();
    let nowhere = ["--base-url", "http://127.0.0.1:9", "--kind", "onprem"];
    for (arguments, words) in [
        (&["image", van, "--box", "0.5,0,0.6,1"][..], "x + width"),
        (&["image", van, "--box", "-0.1,0,1,1"], "from 0 to 1, with x + width"),
        (&["image", van, "--box", "0,0,1"], "four comma-separated numbers"),
        (&["image", van, "--box-px", "20,0,20,10"], "32x24 pixels"),
        (&["image", text.to_str().unwrap()], "not a picture"),
        (&["image", "none such.png"], "none such.png"),
        (&["caption", "  "], "must not be empty"),
        (&["caption", "van", "--max-score", "1.5"], "0.0 to 1.0"),
        (&["browse", "--granularity", "5"], "0 (finest) to 4"),
        (&["browse", "--entity", "videos"], "images or objects"),
        (&["vql"], "give a filter"),
        (&["browse", "--raw", "--flat"], "cannot be used with"),
    ] {
        let (code, out, err) = run(home.path(), &[&["search"], arguments, &nowhere].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.contains(words), "{arguments:?}: {err}");
    }
}

/// Returns a page of `count` clusters whose ids begin at `first`.
fn page(first: u32, count: u32) -> Reply {
    let cluster = |id: u32| {
        json!({
            "cluster_id": format!("00000000-0000-4000-8000-{id:012}"), "type": "IMAGES", "n_images": 1,
            "relevance_score": 0.8, "relevance_score_type": "cosine_distance", "previews": [],
            "odd": "kept by --raw",
        })
    };
    let clusters: Vec<Value> = (first..first + count).map(cluster).collect();
    Reply::json(json!({ "clusters": clusters }).to_string())
}

/// Runs a search against a service with scripted pages and a dataset in PARTIAL INDEX. Returns the outcome and the
/// number of requests.
async fn scripted(
    pages: impl Fn(u32) -> Reply + Send + Sync + 'static,
    arguments: &[&str],
) -> (i32, String, String, usize) {
    let server = ScriptedServer::start(move |seen: &ReceivedRequest| {
        let page = seen.target.split("page_number=").nth(1).map(|number| number.parse().unwrap());
        let record = json!({ "id": ID, "display_name": "old", "status_new": "PARTIAL INDEX" });
        page.map_or_else(|| Reply::json(record.to_string()), &pages)
    })
    .await;
    let home = tempfile::tempdir().unwrap();
    let url = server.url();
    let place = ["--base-url", &url, "--kind", "onprem", "--dataset", ID];
    let (code, out, err) = run(home.path(), &[&["search"], arguments, &place[..]].concat());
    (code, out, err, server.count())
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_and_missing_pages_are_reported() {
    let all = &["browse", "--all", "--json"][..];
    let repeating = |number| page(if number == 0 { 0 } else { 50 }, 100);
    let (code, out, err, asked) = scripted(repeating, all).await;
    let reported = document(&out);
    assert_eq!((code, asked, reported["clusters"].as_array().unwrap().len()), (0, 4, 150), "{err}");
    assert_eq!((&reported["truncated"], &reported["_repeated"]), (&false.into(), &150.into()));
    assert!(err.contains("new media are not clustered yet"), "{err}");

    let ending = |number| if number == 0 { page(0, 100) } else { Reply::new(404, &[], "{}") };
    let (code, out, err, _) = scripted(ending, &[all, &["--mark", "half"]].concat()).await;
    let reported = document(&out);
    assert_eq!((code, reported["clusters"].as_array().unwrap().len()), (9, 100), "{err}");
    assert!(err.contains("the selection `half` was not saved"), "{err}");
    assert_eq!((&reported["truncated"], &reported["_missing_page"]), (&true.into(), &1.into()));
    assert!(err.contains("page 1 failed"), "{err}");

    let ending = |number| match number {
        0 => page(0, 100),
        _ => Reply::json(json!({ "clusters": null }).to_string()),
    };
    let (code, out, err, _) = scripted(ending, all).await;
    let reported = document(&out);
    assert_eq!((code, reported["clusters"].as_array().unwrap().len()), (9, 100), "{err}");
    assert_eq!(reported["_missing_page"], 1);
    assert!(err.contains("page 1 failed") && err.contains("no `clusters`"), "{err}");

    let small = |number| page(number * 60, if number < 2 { 60 } else { 0 });
    let (code, out, err, asked) = scripted(small, all).await;
    let reported = document(&out);
    assert_eq!((code, asked, reported["clusters"].as_array().unwrap().len()), (0, 4, 120), "{err}");
    assert_eq!(reported["last_page"], true);

    let endless = |number| page(number * 100, 100);
    let lines = &["browse", "--limit", "120", "--jsonl", "--raw"][..];
    let (code, out, err, asked) = scripted(endless, lines).await;
    assert_eq!((code, asked, out.lines().count()), (0, 3, 120), "{err}");
    assert_eq!(document(out.lines().last().unwrap())["odd"], "kept by --raw");
    assert!(err.contains("warning: 120 clusters shown; more may exist"), "{err}");
}

/// The service of a local profile ends with the command, so its links would not work.
#[test]
fn rows_of_a_local_profile_name_files_instead_of_links() {
    let (home, serving) = serve_folder();
    drop(serving);
    let home = home.path();
    let folder = home.join("street-cams");
    add_local_profile(home, "cams", folder.to_str().unwrap());
    let file = folder.canonicalize().unwrap().join("c.png");
    let expect = |row: &Value| {
        let fields = ["original_path", "media_uri", "media_thumb_uri", "video_uri"];
        let [path, picture, thumbnail, video] = fields.map(|field| &row[field]);
        assert_eq!(path.as_str(), file.to_str(), "{row}");
        assert_eq!(*picture, format!("file://{}", file.display()), "{row}");
        assert!(thumbnail.is_null() && video.is_null(), "{row}");
    };
    let search = ["--profile", "cams", "search", "caption", "dogs on a beach", "--json"];
    let (code, out, err) = run(home, &search);
    assert_eq!(code, 0, "{err}");
    assert!(!out.contains("127.0.0.1"), "{out}");
    expect(&document(&out)["clusters"][0]["previews"][0]);
    let (code, out, err) = run(home, &[&search[..], &["--flat"]].concat());
    assert_eq!(code, 0, "{err}");
    expect(&document(&out)["previews"][0]);
}

/// Returns a page with a cluster of two frames of a video, in the shape of recorded pages.
fn frames(_: u32) -> Reply {
    let preview = |number: u32, seconds: f64| {
        json!({
            "type": "IMAGES", "media_id": format!("00000000-0000-4000-8000-{number:012}"),
            "media_uri": "/f.jpg", "file_name": format!("output_{number:06}.jpg"),
            "original_uri": "clips/clip.mp4", "video_uri": "", "frame_timestamp": seconds,
        })
    };
    let cluster = json!({
        "cluster_id": ID, "type": "IMAGES", "n_images": -1, "n_objects": -1, "n_videos": 1,
        "n_frames": 12, "previews": [preview(1, 0.0), preview(2, 7.5)],
    });
    Reply::json(json!({ "clusters": [cluster] }).to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_are_listed_with_their_video_and_time() {
    let (code, out, err, _) = scripted(frames, &["browse", "--flat"]).await;
    assert_eq!(code, 9, "the service counts 12 frames: {err}");
    assert!(err.contains("10 matching media items are missing"), "{err}");
    let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split('\t').collect()).collect();
    let [file, video, seconds] = [4, 6, 7];
    let facts: Vec<_> = rows.iter().map(|row| [row[file], row[video], row[seconds]]).collect();
    let expected = [
        ["output_000001.jpg", "clips/clip.mp4", "0.0"],
        ["output_000002.jpg", "clips/clip.mp4", "7.5"],
    ];
    assert_eq!(facts, expected, "{out}");

    let (_, out, err, _) = scripted(frames, &["browse", "--json"]).await;
    let reported = document(&out);
    let cluster = &reported["clusters"][0];
    assert_eq!(
        ["n_images", "n_videos", "n_frames", "_members"].map(|key| cluster[key].as_u64()),
        [None, Some(1), Some(12), Some(12)],
        "{err}"
    );
    let preview = &cluster["previews"][1];
    assert_eq!(preview["original_uri"], "clips/clip.mp4");
    assert_eq!((&preview["frame_timestamp"], &preview["video_uri"]), (&7.5.into(), &Value::Null));
}

#[tokio::test(flavor = "multi_thread")]
async fn unexpected_search_responses_are_reported() {
    let caption = ["caption", "van", "--max-score", "0.5"];
    let (code, _, err, _) = scripted(|_| page(0, 1), &caption).await;
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("interprets the maximum score inversely"), "{err}");

    let bounded = |_| Reply::json(r#"{"clusters": [], "metadata": {"bounded": true}}"#);
    let (code, _, err, _) = scripted(bounded, &["caption", "van"]).await;
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("old is so large that the service searched only the nearest"), "{err}");

    let other = |_| Reply::json(r#"{"results": [1]}"#);
    let (code, out, err, _) = scripted(other, &["caption", "van"]).await;
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("no `clusters`") && err.contains("--raw"), "{err}");
    let (code, out, _, _) = scripted(other, &["caption", "van", "--raw", "--json"]).await;
    assert_eq!((code, &document(&out)["body"]["results"][0]), (1, &1.into()), "{out}");

    let save = ["media", ID, "--max-score", "0.3", "--save", "near"];
    let (code, _, err, _) = scripted(|_| page(0, 1), &save).await;
    assert!(code != 0 && err.contains("the maximum score of a search by a picture"), "{err}");

    let conflict = |_| Reply::new(409, &[], r#"{"detail": "no model"}"#);
    let (code, _, err, asked) = scripted(conflict, &["media", ID]).await;
    assert_eq!((code, asked), (6, 1), "{err}");
    assert!(
        err.contains("image search is not available") && err.contains("tessera reindex"),
        "{err}"
    );
    let (code, _, err, asked) = scripted(conflict, &["media", ID, "--force"]).await;
    assert_eq!((code, asked), (6, 2), "{err}");
}

/// Adds a profile of a folder with columns of the user's own.
fn described_folder() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("photos");
    for (name, side) in [("train/a.png", 40), ("train/b.png", 60), ("val/c.png", 80)] {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let shade = |value: u32| u8::try_from(value % 256).unwrap();
        let image = image::RgbImage::from_fn(side, 40, |x, y| {
            image::Rgb([shade(x * 3), shade(y * 5), shade(side)])
        });
        image.save(path).unwrap();
    }
    let table = "file_name,weather,distance,night\ntrain/a.png,sun,1.5,true\nval/c.png,rain,007,\n";
    std::fs::write(folder.join("metadata.csv"), table).unwrap();
    add_local_profile(home.path(), "mine", folder.to_str().unwrap());
    home
}

#[test]
fn a_local_folder_is_searched_by_what_files_are() {
    let home = described_folder();
    for (filter, expected) in [
        (r#"{"path":{"op":"is","value":"train"}}"#, &["a.png", "b.png"][..]),
        (r#"{"name":{"op":"is","value":"[bc].*"}}"#, &["b.png", "c.png"]),
        (r#"{"size":{"op":"at_least","value":1000000}}"#, &[]),
        (r#"{"width":{"op":"at_least","value":60}}"#, &["b.png", "c.png"]),
        (r#"{"height":{"op":"is","value":40}}"#, &["a.png", "b.png", "c.png"]),
        (r#"{"aspect":{"op":"is","value":2}}"#, &["c.png"]),
        (r#"{"format":{"op":"is_not","value":"png"}}"#, &[]),
        (r#"{"date":{"op":"at_most","value":"2000"}}"#, &[]),
        (r#"{"column":{"name":"weather","op":"is","value":"sun"}}"#, &["a.png"]),
        (r#"{"column":{"name":"distance","op":"at_most","value":2}}"#, &["a.png"]),
        (r#"{"column":{"name":"distance","op":"is","value":"007"}}"#, &["c.png"]),
        (r#"{"not":{"column":{"name":"night","op":"is","value":true}}}"#, &["b.png", "c.png"]),
    ] {
        let query = format!("[{filter}]");
        let search = ["--profile", "mine", "search", "vql", &query, "--flat", "--json"];
        let (code, out, err) = run(home.path(), &search);
        assert_eq!(code, 0, "{filter}: {err}");
        let found = document(&out);
        let previews = found["previews"].as_array().unwrap();
        let mut names: Vec<&str> =
            previews.iter().map(|it| it["file_name"].as_str().unwrap()).collect();
        names.sort_unstable();
        assert_eq!(names, expected, "{filter}");
        for preview in previews.iter().filter(|it| it["file_name"] == "a.png") {
            let columns = json!({ "weather": "sun", "distance": 1.5, "night": true });
            assert_eq!(preview["columns"], columns);
        }
    }
    let unknown = r#"[{"column":{"name":"wether","op":"is","value":"sun"}}]"#;
    let (code, _, err) = run(home.path(), &["--profile", "mine", "search", "vql", unknown]);
    assert_ne!(code, 0);
    assert!(err.contains("the dataset has the columns distance, night, weather"), "{err}");
}
