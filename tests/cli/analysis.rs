//! Tests `report`, `check`, `dataset split` and `dataset leaks` over a folder with planted copies and blur.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{BufRead as _, BufReader},
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::{Command, Stdio},
};

use image::{Rgb, RgbImage};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tessera_model::pseudorandom::mix64;
use tessera_store::{Store, export};
use tessera_testing::scripts::write_script;

use super::{documented::replay_section, outcome, run, serve, tessera};

/// Paints a picture of 8 x 6 plain fields, which are different for each number.
fn paint(number: u32) -> RgbImage {
    RgbImage::from_fn(160, 120, |x, y| {
        let field = u64::from(number) << 32 | u64::from(x / 20 * 6 + y / 20);
        let [red, green, blue, ..] = mix64(field).to_le_bytes();
        Rgb([red, green, blue])
    })
}

/// Creates a home with a folder of 32 pictures: 24 and a blurred one in `train`, 4 in `val`, and 3 copies of pictures
/// in `train`, of which one is in `train`, too. Most pictures in `train` have a label and a caption.
pub(super) fn photographs() -> tempfile::TempDir {
    photographs_times(1)
}

/// Creates a home like [`photographs`], and returns it with its folder.
fn photographs_in_folder() -> (tempfile::TempDir, String) {
    let home = photographs();
    let folder = home.path().join("photos").to_str().unwrap().to_owned();
    (home, folder)
}

/// Creates a home like [`photographs`], with this number of times as many pictures of each kind.
pub(super) fn photographs_times(times: u32) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("photos");
    for part in ["train", "val"] {
        fs::create_dir_all(folder.join(part)).unwrap();
    }
    let put = |path: String, picture: &RgbImage| picture.save(folder.join(path)).unwrap();
    // With these numbers, no two pictures are similar by chance.
    let paint = |number| paint(10_000 * (times - 1) + number);
    let first_of_val = 24 * times;
    for number in 0..first_of_val {
        put(format!("train/{number:02}.png"), &paint(number));
    }
    for number in first_of_val..28 * times {
        put(format!("val/{number:02}.png"), &paint(number));
    }
    for time in 0..times {
        for (part, number) in [("val", 3), ("val", 4), ("train", 9)] {
            let number = 24 * time + number;
            put(format!("{part}/copy-{number}.png"), &paint(number));
        }
        let end = if time == 0 { String::new() } else { format!("-{time}") };
        put(
            format!("train/blurred{end}.png"),
            &image::imageops::blur(&paint(50 * times + time), 12.0),
        );
    }
    let rows: Vec<String> = (0..first_of_val)
        .map(|number| {
            let label = if number % 4 == 0 { "rare" } else { "common" };
            format!("{{\"file_name\": \"train/{number:02}.png\", \"labels\": [\"{label}\"], \"caption\": \"<b>{number}\"}}\n")
        })
        .collect();
    fs::write(folder.join("metadata.jsonl"), rows.concat()).unwrap();
    home
}

fn document(home: &Path, arguments: &[&str]) -> Value {
    let (code, out, err) = run(home, &[arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn a_report_counts_and_shows_what_a_dataset_contains() {
    let (home, folder) = photographs_in_folder();
    let (home, folder) = (home.path(), folder.as_str());
    let report = document(home, &["report", folder]);
    assert_eq!((&report["images"], &report["with_caption"]), (&32.into(), &24.into()));
    assert_eq!(report["labels"], serde_json::json!({"common": 18, "rare": 6}));
    assert_eq!(report["duplicates"]["redundant_media"], 3);
    assert_eq!(report["issues"]["blur"], 1);
    let [leaks] = report["leaks"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!(
        (&leaks["a"], &leaks["b"], &leaks["groups"]),
        (&"train".into(), &"val".into(), &2.into())
    );
    let (code, text, err) = run(home, &["report", folder]);
    assert_eq!(code, 0, "{err}");
    for words in [
        "- Images: 32",
        "| common | 18 |",
        "- train/blurred.png",
        "train/09.png, train/copy-9.png",
        "| train and val | 2 |",
        "### leaks between train and val\n\n- train/03.png, val/copy-3.png\n",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let page = home.join("report.html");
    let (code, _, err) = run(home, &["report", folder, "-o", page.to_str().unwrap()]);
    assert_eq!(code, 0, "{err}");
    let html = fs::read_to_string(&page).unwrap();
    let issues = report["issues"].as_object().unwrap().values();
    let shown: u64 = issues.map(|count| count.as_u64().unwrap().min(12)).sum();
    assert_eq!(
        html.matches("<img").count() as u64,
        shown + 10,
        "three groups and two leaks of two"
    );
    assert!(html.contains("data:image/jpeg;base64,/9j/") && !html.contains("src=\"http"));
    let (code, _, err) = run(home, &["report", folder, "-o", page.to_str().unwrap()]);
    assert_eq!(code, 1, "an existing file stays");
    assert!(err.contains("is not overwritten"), "{err}");
}

#[test]
fn a_report_says_which_pictures_it_lacks() {
    let home = photographs();
    let home = home.path();
    let serving = serve(home, &[home.join("photos").to_str().unwrap(), "--no-auth"]);
    assert_eq!(outcome(&mut serving.asked(home, &["dataset", "wait"])).0, 0);
    fs::remove_file(home.join("photos/train/blurred.png")).unwrap();
    let (code, html, err) = outcome(&mut serving.asked(home, &["report", "photos", "--html"]));
    assert_eq!(code, 0, "{err}");
    let missing = "of the report could not be read";
    assert!(html.contains(missing) && err.contains(missing), "{err}");
}

#[test]
fn an_interrupted_report_cancels_its_export() {
    let (home, folder) = photographs_in_folder();
    let (home, folder) = (home.path(), folder.as_str());
    document(home, &["report", folder]);
    // The service runs the exports of all processes.
    let _serving = serve(home, &[folder, "--no-auth", "--slow-progress", "600"]);
    let mut report = tessera(home, &["report", folder, "--verbose"]);
    let mut report = report.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(report.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("export_status")));
    let data = Store::open(&home.join("tessera/local")).unwrap();
    assert_eq!(data.read(export::count_unfinished).unwrap(), 1);
    kill_process(Pid::from_child(&report), Signal::INT).unwrap();
    lines.for_each(drop);
    assert_eq!(report.wait().unwrap().code(), Some(130));
    assert_eq!(data.read(export::count_unfinished).unwrap(), 0);
}

#[test]
fn what_could_not_be_read_is_said_and_counted() {
    let home = photographs();
    let home = home.path();
    let folder = home.join("photos");
    fs::write(folder.join("val/broken.png"), "no picture").unwrap();
    fs::write(folder.join("val/boxes.json"), "{\"images\": [").unwrap();
    let folder = folder.to_str().unwrap();
    let warning = "1 picture or video and 1 annotation file of photos were not read";
    let target = home.to_str().unwrap();
    let export = ["export", "start", "--folder", folder, "--format", "coco", "--download", target];
    let (code, _, err) = run(home, &export);
    assert!(code == 0 && err.contains(warning) && err.contains("val/broken.png: "), "{code} {err}");
    let report = document(home, &["report", folder]);
    assert_eq!(report["unread"][0]["path"], "val/broken.png", "{report}");
    let (_, text, err) = run(home, &["report", folder]);
    assert!(
        text.contains("### not read\n\n- val/broken.png: ") && err.contains(warning),
        "{text} {err}"
    );
    let (_, html, _) = run(home, &["report", folder, "--html"]);
    assert!(html.contains("<li>val/broken.png: "), "{html}");
    let shown = document(home, &["dataset", "show", "--folder", folder]);
    assert_eq!(shown["_local"]["n_unread"], 2, "{shown}");
    for (limit, exit) in [("0", 11), ("1", 0), ("2%", 11), ("4%", 0)] {
        let check = ["check", folder, "--max-unreadable", limit, "--sarif", "-"];
        let (code, sarif, err) = run(home, &check);
        assert!(code == exit && err.contains(warning), "{limit}: {code} {err}");
        assert!(sarif.contains("broken.png"), "{sarif}");
    }
    let only_broken = home.join("broken");
    fs::create_dir(&only_broken).unwrap();
    fs::write(only_broken.join("a.png"), "\u{89}PNG\r\n\u{1a}\n").unwrap();
    fs::write(only_broken.join("b.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    let only_broken = only_broken.to_str().unwrap();
    let (code, _, err) = run(home, &["search", "browse", "--folder", only_broken]);
    assert!(code == 9 && err.contains("broken is ERROR: none of its 2 files"), "{code} {err}");
    let (code, _, err) = run(home, &["dataset", "list", "--folder", only_broken]);
    assert!(code == 0 && err.contains("broken is ERROR: none of its 2 files"), "{code} {err}");
    let (code, _, err) = run(home, &["report", only_broken]);
    assert!(code != 0 && err.contains("broken is ERROR (none of its 2 files"), "{code} {err}");
}

/// Runs a command whose reader closes the pipe at once.
fn code_without_reader(mut command: Command) -> Option<i32> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    child.wait().unwrap().code()
}

fn assert_prints_log_and_table(mut check: Command, file: &Path) {
    assert!(check.stdout(fs::File::create(file).unwrap()).status().unwrap().success());
    let both = fs::read_to_string(file).unwrap();
    let end = both.find("</testsuite>").unwrap();
    assert!(both.starts_with("<?xml") && both[end..].contains("at least 1"), "{both}");
}

#[test]
fn checks_fail_with_their_own_exit_code() {
    let home = photographs();
    let home = home.path();
    let serving = serve(home, &[home.join("photos").to_str().unwrap(), "--no-auth"]);
    assert_eq!(outcome(&mut serving.asked(home, &["dataset", "wait"])).0, 0);
    let check = |options: &[&str]| {
        let mut command = serving.asked(home, &[&["check"], options, &["--json"]].concat());
        let (code, out, err) = outcome(&mut command);
        (code, serde_json::from_str::<Value>(&out).unwrap_or_default(), err)
    };
    let (code, _, err) = check(&["--max-duplicates", "3", "--max-blur", "5%", "--min-media", "32"]);
    assert_eq!(code, 0, "{err}");
    let (junit, sarif) = (home.join("checks.xml"), home.join("checks.sarif"));
    let failing = "--max-duplicates 1% --max-blur 0 --require-captions --no-leaks train val";
    let failing: Vec<&str> = failing.split(' ').collect();
    let files = ["--junit", junit.to_str().unwrap(), "--sarif", sarif.to_str().unwrap()];
    let (code, found, _) = check(&[&failing[..], &files].concat());
    assert_eq!((code, &found["passed"]), (11, &false.into()));
    let counts: Vec<u64> = found["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| check["found"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [3, 1, 8, 2], "{found}");
    let xml = fs::read_to_string(&junit).unwrap();
    assert!(xml.contains("tests=\"4\" failures=\"4\"") && xml.contains("val/copy-3.png"), "{xml}");
    let sarif: Value = serde_json::from_str(&fs::read_to_string(&sarif).unwrap()).unwrap();
    assert_eq!(findings(&sarif), [("duplicates", 3), ("blur", 1), ("captions", 8), ("leaks", 2)]);
    assert_eq!(check(&[]).0, 2, "a check of nothing is a mistake");
    let (code, printed, _) = check(&[&failing[..], &["--sarif", "-"]].concat());
    assert_eq!((code, findings(&printed).len()), (11, 4), "the log instead of the table");
    let rows = serving.asked(home, &["check", "--max-blur", "0", "--jsonl"]).output().unwrap();
    let rows = String::from_utf8(rows.stdout).unwrap();
    assert!(rows.lines().count() == 1 && !rows.contains("tessera.event"), "only rows: {rows}");
    let (code, _, err) = check(&["--max-blur", "0", "--junit", "-"]);
    assert!(code == 2 && err.contains("--junit - prints XML"), "{code}: {err}");
    let unread = serving.asked(home, &[&["check"], &failing[..]].concat());
    assert_eq!(code_without_reader(unread), Some(11), "a closed pipe hides no failed check");
    let picture = home.join("photos/val/copy-3.png");
    assert!(picture.is_file());
    let (code, _, err) = check(&["--min-media", "1", "--sarif", picture.to_str().unwrap()]);
    assert!(code == 2 && err.contains("is not a text file; name another file"), "{code}: {err}");
    assert!(fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    let both = serving.asked(home, &["check", "--min-media", "1", "--junit", "/dev/stdout"]);
    assert_prints_log_and_table(both, &home.join("log"));
    let (code, _, err) = check(&["--no-leaks", "train", "valid"]);
    assert_eq!(code, 5);
    assert!(err.contains("`valid` contains no media"), "{err}");
}

#[test]
fn a_frame_counts_and_is_located_as_its_video() {
    let home = tempfile::tempdir().unwrap();
    let (programs, video) = (home.path().join("bin"), home.path().join("films/clips/a.mp4"));
    fs::create_dir_all(video.parent().unwrap()).unwrap();
    fs::create_dir(&programs).unwrap();
    fs::write(&video, b"\0\0\0\x20ftypisom and what follows").unwrap();
    let jpeg = programs.join("frame.jpg");
    paint(1).save(&jpeg).unwrap();
    let (length, jpeg) = (fs::metadata(&jpeg).unwrap().len(), jpeg.display());
    let streams = r#"echo '{"streams": [{"index": 0, "codec_type": "video"}]}'"#;
    write_script(&programs.join("ffprobe"), &format!("cat > /dev/null\n{streams}"));
    let frame = |seconds| {
        format!(
            "echo 'frame:0 pts:0 pts_time:{seconds}' >&2\n\
             printf -- '--ffmpeg\\r\\nContent-length: {length}\\r\\n\\r\\n'\ncat '{jpeg}'\nprintf '\\r\\n'\n"
        )
    };
    let script = format!("cat > /dev/null\n{}{}", frame(0), frame(5));
    write_script(&programs.join("ffmpeg"), &script);
    let path = format!("{}:/usr/bin:/bin", programs.display());
    let run = |arguments: &[&str]| {
        let mut command = tessera(home.path(), arguments);
        let (code, out, err) = outcome(command.current_dir(home.path()).env("PATH", &path));
        (code, serde_json::from_str::<Value>(&out).unwrap_or_else(|_| panic!("{out}{err}")))
    };
    let (_, report) = run(&["report", "films", "--json"]);
    assert_eq!((&report["frames"], &report["bytes"]), (&json!(2), &json!(29)), "{report}");
    let (code, sarif) = run(&["check", "films", "--max-duplicates", "0", "--sarif", "-"]);
    let location = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    let uri = &location["artifactLocation"]["uri"];
    assert_eq!((code, uri), (11, &json!("films/clips/a.mp4")), "{sarif}");
}

#[test]
fn a_selection_of_clusters_is_no_part_of_a_check() {
    let (home, folder) = photographs_in_folder();
    let (home, folder) = (home.path(), folder.as_str());
    let at = ["--folder", folder];
    let browse = ["search", "browse", "--jq", ".clusters[0].cluster_id"];
    let cluster = run(home, &[&browse[..], &at].concat()).1;
    let add = ["selection", "add", "--name", "mix", "--cluster", cluster.trim().trim_matches('"')];
    let (code, _, err) = run(home, &[&add[..], &at].concat());
    assert_eq!(code, 0, "{cluster} {err}");
    let (code, _, err) = run(home, &["check", folder, "--no-leaks", "train", "selection:mix"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("`mix` contains clusters") && err.contains("select images"), "{err}");
    assert_eq!(run(home, &["dataset", "leaks", "train", "selection:mix", folder]).0, 2);
}

#[test]
fn an_object_of_a_selection_stands_for_its_picture() {
    let home = photographs();
    let home = home.path();
    let folder = home.join("photos");
    let object = json!({"label": "door", "bbox": [0.1, 0.1, 0.5, 0.5]});
    // The only label of the second picture is metadata.
    let rows = [
        json!({"file_name": "train/03.png", "objects": [object]}),
        json!({"file_name": "val/24.png", "label": "iso:100"}),
    ];
    let lines = rows.map(|row| row.to_string()).join("\n");
    fs::write(folder.join("metadata.jsonl"), lines).unwrap();
    let at = |arguments: &[&str]| {
        run(home, &[arguments, &["--folder", folder.to_str().unwrap()]].concat())
    };
    let object = ".clusters[0].previews[0].media_id";
    let (_, object, _) = at(&["search", "browse", "--entity", "objects", "--jq", object]);
    let object = object.trim().trim_matches('"');
    let (code, _, err) = at(&["selection", "add", "--name", "doors", "--media", object]);
    assert_eq!(code, 0, "{object} {err}");
    // `val` has a copy of the picture.
    let leaks = ["dataset", "leaks", "selection:doors", "val", "--jq", ".groups[0].a[0].path"];
    let (code, path, err) = at(&leaks);
    assert_eq!((code, path.trim()), (0, "train/03.png"), "{err}");
    let (code, found, err) = at(&["check", "--no-leaks", "selection:doors", "val", "--json"]);
    assert!(code == 11 && !err.contains("omitted"), "{code} {found} {err}");
    let (code, found, err) = at(&["check", "--require-labels", "--jq", ".checks[0].found"]);
    assert_eq!((code, found.trim()), (11, "31"), "{err}");
}

/// Checks the parts of a SARIF file that its schema and code scanning of GitHub require, and returns how many errors
/// each rule has.
fn findings(sarif: &Value) -> Vec<(&str, usize)> {
    assert!(sarif["$schema"].as_str().unwrap().ends_with("/sarif-schema-2.1.0.json"));
    assert_eq!((&sarif["version"], sarif["runs"].as_array().unwrap().len()), (&"2.1.0".into(), 1));
    let run = &sarif["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "tessera");
    let rules = driver["rules"].as_array().unwrap();
    let mut counts = Vec::new();
    for rule in rules {
        for text in ["shortDescription", "fullDescription", "help"] {
            assert!(rule[text]["text"].as_str().unwrap().ends_with('.'), "{rule}");
        }
        counts.push((rule["id"].as_str().unwrap(), 0));
    }
    for result in run["results"].as_array().unwrap() {
        let rule = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!((&result["ruleId"], &result["level"]), (&rules[rule]["id"], &"error".into()));
        assert!(result["message"]["text"].as_str().unwrap().contains(" found, at most "));
        let location = &result["locations"][0]["physicalLocation"];
        assert_eq!(location["region"]["startLine"], 1);
        assert_eq!(location["artifactLocation"]["uriBaseId"], "%SRCROOT%");
        let uri = location["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.starts_with("train/") || uri.starts_with("val/"), "{uri}");
        counts[rule].1 += 1;
    }
    counts
}

#[test]
fn near_duplicates_never_cross_the_sets_of_a_split() {
    let (home, folder) = photographs_in_folder();
    let (home, folder) = (home.path(), folder.as_str());
    let leaks = document(home, &["dataset", "leaks", "train", "val", folder]);
    let second: Vec<&Value> =
        leaks["groups"].as_array().unwrap().iter().map(|group| &group["b"][0]["path"]).collect();
    assert_eq!(second, ["val/copy-3.png", "val/copy-4.png"]);
    let list = home.join("sets.jsonl");
    let split =
        ["dataset", "split", "75/25", folder, "--by", "label", "--list", list.to_str().unwrap()];
    let sets = document(home, &split);
    let media: Vec<u64> =
        sets["sets"].as_array().unwrap().iter().map(|set| set["media"].as_u64().unwrap()).collect();
    assert_eq!((media[0] + media[1], media[0].abs_diff(24)), (32, 0), "{sets}");
    let rare = sets["sets"][1]["labels"]["rare"].as_u64().unwrap();
    assert!((1..=2).contains(&rare), "a quarter of six: {sets}");
    let rows = fs::read_to_string(&list).unwrap();
    let set_of: BTreeMap<String, String> = rows
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|row| {
            let name = Path::new(row["original_path"].as_str().unwrap()).file_name().unwrap();
            (name.to_string_lossy().into_owned(), row["set"].as_str().unwrap().to_owned())
        })
        .collect();
    for (original, copy) in [("03", "copy-3"), ("04", "copy-4"), ("09", "copy-9")] {
        assert_eq!(set_of[&format!("{original}.png")], set_of[&format!("{copy}.png")], "{copy}");
    }
    let leaks = document(home, &["dataset", "leaks", "selection:train", "selection:test", folder]);
    assert_eq!(leaks["groups"].as_array().unwrap().len(), 0);
    let (code, _, err) = run(home, &[&split[..], &["--verbose"]].concat());
    assert_eq!(code, 1);
    assert!(err.contains("--force") && !err.contains("export_context_async"), "{err}");
    let (code, _, err) = run(home, &["dataset", "split", "75/25", folder, "--verbose"]);
    assert!(code == 2 && !err.contains("export_context_async"), "taken names cost no work: {err}");
    assert!(err.contains("`train` already exists"), "{err}");
    let again = document(home, &[&split[..], &["--force"]].concat());
    assert_eq!(again, sets, "the same seed gives the same sets");
    let names: BTreeSet<&str> = set_of.values().map(String::as_str).collect();
    assert_eq!(names, BTreeSet::from(["test", "train"]));
    let list = ["selection", "list", "--folder", folder];
    let selections = document(home, &list);
    let other = home.join("photos/train");
    document(home, &["dataset", "split", "75/25", other.to_str().unwrap()]);
    let now = document(home, &list)["selections"].as_array().unwrap().clone();
    assert_eq!(now.len(), 4, "each dataset has its own names: {now:?}");
    let before = selections["selections"].as_array().unwrap();
    assert!(before.iter().all(|selection| now.contains(selection)), "one was replaced: {now:?}");
}

#[test]
fn what_a_dataset_no_longer_has_is_left_out_of_a_saved_selection() {
    let home = photographs();
    let home = home.path();
    let folder = home.join("photos");
    let list = home.join("sets.jsonl");
    let in_folder = |arguments: &[&str]| {
        run(home, &[arguments, &["--folder", folder.to_str().unwrap()]].concat())
    };
    assert_eq!(in_folder(&["dataset", "split", "75/25", "--list", list.to_str().unwrap()]).0, 0);
    let rows = fs::read_to_string(&list).unwrap();
    let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let file =
        rows.filter(|row| row["set"] == "test").map(|row| row["original_path"].clone()).next();
    fs::remove_file(file.unwrap().as_str().unwrap()).unwrap();
    let target = home.to_str().unwrap();
    let sentence = "omitted 1 entry that the dataset no longer has, such as ";
    for arguments in [
        &["export", "start", "--selection", "test", "--format", "yolo", "--download", target][..],
        &["export", "start", "--selection", "test", "--format", "json"],
        &["tag", "add", "seen", "--selection", "test"],
        &["media", "copy", "--selection", "test", "--to", target, "--yes"],
        &["dataset", "leaks", "selection:train", "selection:test"],
        &["check", "--no-leaks", "selection:train", "selection:test"],
    ] {
        let (code, _, err) = in_folder(arguments);
        assert!(code == 9 && err.contains(sentence), "{arguments:?}: {code} {err}");
    }
    let rest = ["export", "start", "--selection", "test", "--rest", "--format", "json"];
    assert_eq!(in_folder(&rest).0, 0);
    let unknown = ["export", "start", "--media", "11111111-1111-4111-8111-111111111111"];
    let (code, _, err) = in_folder(&[&unknown[..], &["--format", "yolo"]].concat());
    assert!(code == 5 && !err.contains("only local services"), "{code} {err}");
    fs::remove_dir_all(folder.join("val")).unwrap();
    fs::remove_dir_all(folder.join("train")).unwrap();
    paint(99).save(folder.join("new.png")).unwrap();
    let (code, _, err) = in_folder(&["tag", "add", "seen", "--selection", "test"]);
    assert!(code == 5 && err.contains("no longer has any media item of this"), "{code} {err}");
}

/// The way from a folder to sets for a training, by ten commands: copies are removed by a rule, blurred pictures are
/// rejected, some are tagged, and what remains is split, exported, and checked.
#[test]
fn a_folder_becomes_sets_for_a_training() {
    let home = photographs();
    let home = home.path();
    let folder = home.join("photos");
    let done = |arguments: &[&str]| {
        let (code, out, err) =
            run(home, &[arguments, &["--folder", folder.to_str().unwrap()]].concat());
        assert_eq!(code, 0, "{arguments:?}: {err}");
        out
    };
    let on_disk = || fs::read_dir(folder.join("train")).unwrap().count();
    assert_eq!(run(home, &["check", folder.to_str().unwrap(), "--max-blur", "0"]).0, 11);
    assert_eq!(on_disk(), 26);
    done(&["duplicates", "--keep", "path:*/[0-9]*", "--trash", "--yes"]);
    assert_eq!(on_disk(), 25, "of three copies, the one in this folder is in the trash");
    let blurred = r#"[{"issues": {"op": "issue", "value": "blur"}}]"#;
    done(&["tag", "add", "rejected", "--vql", blurred]);
    let list = home.join("list");
    let listed = format!("{}/train/01.png\0train/02.png\0", folder.display());
    fs::write(&list, listed).unwrap();
    assert!(
        done(&["tag", "add", "hard", "--files-from", list.to_str().unwrap()])
            .contains("changed\t2")
    );
    let misspelled = ["dataset", "split", "80/20", "--without", "rejectd", "--folder"];
    let (code, _, err) = run(home, &[&misspelled[..], &[folder.to_str().unwrap()]].concat());
    assert!(code == 5 && err.contains("`rejectd`"), "{code} {err}");
    let sets = done(&["dataset", "split", "80/10/10", "--by", "label", "--without", "rejected"]);
    let count = |line: &str| line.split('\t').nth(1)?.parse::<usize>().ok();
    assert_eq!(
        sets.lines().filter_map(count).sum::<usize>(),
        28,
        "29 without the blurred one: {sets}"
    );
    done(&["dataset", "leaks", "selection:train", "selection:val"]);
    let out = home.join("out");
    let (into, extracted) = (home.to_str().unwrap(), out.to_str().unwrap());
    let coco = ["export", "start", "--format", "coco", "--selection", "train", "--wait"];
    done(&[&coco[..], &["--download", into, "--extract", extracted]].concat());
    let written = fs::read_to_string(out.join("annotations/captions.json")).unwrap();
    let coco: Value = serde_json::from_str(&written).unwrap();
    assert!(coco["images"].as_array().unwrap().len() > 15, "{coco}");
    done(&["check", "--max-duplicates", "0", "--max-blur", "1", "--min-media", "28"]);
    done(&["media", "undo", "--yes"]);
    assert_eq!(on_disk(), 26, "the copies came back");
}

#[test]
fn the_most_different_media_are_one_of_each_group() {
    let (home, folder) = photographs_in_folder();
    let (home, folder) = (home.path(), folder.as_str());
    let chosen = document(home, &["dataset", "diverse", "29", folder]);
    let path = |item: &Value| item["path"].as_str().unwrap().to_owned();
    let paths: BTreeSet<String> = chosen["media"].as_array().unwrap().iter().map(path).collect();
    assert_eq!(paths.len(), 29);
    for (one, copy) in [("03", "val/copy-3"), ("04", "val/copy-4"), ("09", "train/copy-9")] {
        let both = [format!("train/{one}.png"), format!("{copy}.png")];
        assert_eq!(both.iter().filter(|path| paths.contains(*path)).count(), 1, "{both:?}");
    }
    // The name is refused before anything else is looked at.
    let again = ["dataset", "diverse", "2", folder, "--selection", "unknown"];
    let (code, _, err) = run(home, &again);
    assert!(code == 2 && err.contains("`diverse` already exists"), "{code} {err}");
    let label = r#"[{"labels": {"op": "one_of", "value": ["rare"]}}]"#;
    let rare = document(home, &["dataset", "diverse", "4", folder, "--vql", label, "--name", "r"]);
    let rare: Vec<String> = rare["media"].as_array().unwrap().iter().map(path).collect();
    assert_eq!(rare.len(), 4);
    assert!(rare.iter().all(|path| path[6..8].parse::<u32>().unwrap() % 4 == 0), "{rare:?}");
}

#[test]
fn embeddings_go_out_and_come_in_and_what_is_missing_is_said() {
    let home = photographs();
    let home = home.path();
    let folder = home.join("photos");
    let (folder, file) = (folder.to_str().unwrap(), home.join("vectors.npy"));
    let embeddings = |arguments: &[&str]| {
        run(
            home,
            &[&["dataset", "embeddings"], arguments, &["--folder", folder, "--json"]].concat(),
        )
    };
    let read = |out: &str| serde_json::from_str::<Value>(out).unwrap();
    let file = file.to_str().unwrap();
    let (code, out, err) = embeddings(&["export", file]);
    assert_eq!((code, &read(&out)["missing_media"]), (0, &0.into()), "{err}");
    let bytes = fs::read(file).unwrap();
    fs::write(home.join("other"), "as the umask says").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(Path::new(file)), mode(&home.join("other")));
    let (code, _, err) = embeddings(&["export", file]);
    assert!(code == 1 && err.contains("nothing is overwritten"), "{code} {err}");
    assert_eq!(fs::read(file).unwrap(), bytes);
    // The last row is of a picture that is elsewhere, and the picture of its place has none.
    let names = home.join("vectors.txt");
    let listed = fs::read_to_string(&names).unwrap();
    let (kept, last) = listed.trim_end().rsplit_once('\n').unwrap();
    fs::write(&names, format!("{kept}\nelsewhere.png\n")).unwrap();
    let (code, out, err) = embeddings(&["import", file]);
    assert_eq!(code, 9, "{err}");
    assert!(err.contains("1 row was omitted: row 32 (elsewhere.png)"), "{err}");
    assert!(err.contains("1 of 32 pictures has no vector"), "{err}");
    assert_eq!((&read(&out)["covered_media"], &read(&out)["refused"]), (&31.into(), &1.into()));
    let (_, out, _) = run(home, &["enrichment", "show", "--folder", folder]);
    assert!(out.contains("31 of 32 pictures have an imported embedding"), "{out}");
    assert!(out.contains("no text encoder belongs to them"), "{out}");
    let (_, _, err) = run(home, &["dataset", "rescan", "--folder", folder]);
    assert!(err.contains("31 of 32 pictures have an imported embedding"), "{last}: {err}");
    let (code, out, err) = embeddings(&["remove"]);
    assert_eq!((code, &read(&out)["name"]), (0, &"vectors.npy".into()), "{err}");
    let elsewhere = ["--base-url", "http://127.0.0.1:9", "--kind", "onprem"];
    let import = ["dataset", "embeddings", "import", file];
    let (code, _, err) = run(home, &[&import[..], &elsewhere].concat());
    assert!(code == 2 && err.contains("needs a local folder"), "{code} {err}");
}

/// Each tutorial begins with a new folder.
#[test]
fn the_documented_tutorials_print_the_same() {
    for tutorial in ["A folder with duplicates", "A training set", "A gate"] {
        let home = photographs();
        let home = home.path();
        let program = tessera(home, &[]);
        let programs = tempfile::tempdir().unwrap();
        symlink(program.get_program(), programs.path().join("tessera")).unwrap();
        let path = format!("{}:/usr/bin:/bin", programs.path().display());
        let home_text = fs::canonicalize(home).unwrap().display().to_string();
        replay_section("tutorials.md", &format!("\n## {tutorial}"), |line| {
            let mut shell = Command::new("sh");
            shell.args(["-c", line]).current_dir(home).env_clear();
            shell.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let (code, out, err) = outcome(shell.env("PATH", &path));
            assert_eq!(code, 0, "{line}: {err}");
            out.replace(&home_text, "/home/you")
        });
    }
}
