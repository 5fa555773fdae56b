//! Tests bytes that other programs write: JSON that is almost JSON, text in UTF-16 or Latin-1, and names in another
//! form of Unicode. Only what cannot be read is unknown, and nothing is uploaded that nobody has named.

use std::{
    ffi::OsStr,
    fs,
    io::Write as _,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tessera_testing::scripted::{ReceivedRequest, Reply, ScriptedServer};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::{outcome, picture, run, tessera};

const ID: &str = "ad48d250-0000-11f1-bfca-000000000001";
const OTHER: &str = "ad48d250-0000-11f1-bfca-000000000002";

fn dataset(id: &str, name: &str) -> Value {
    json!({ "id": id, "display_name": name, "status_new": "READY", "n_images": 3 })
}

/// Starts a service that answers every read with this body.
async fn service(media_type: &'static str, body: Vec<u8>) -> ScriptedServer {
    ScriptedServer::start(move |seen: &ReceivedRequest| match seen.method.as_str() {
        "POST" => Reply::new(202, &[], ""),
        _ => Reply::new(200, &[("content-type", media_type)], &body),
    })
    .await
}

fn asked(server: &ScriptedServer, home: &Path, arguments: &[&str]) -> Command {
    let mut command = tessera(home, arguments);
    command.env("TESSERA_BASE_URL", server.url()).env("TESSERA_KIND", "onprem");
    command
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_unreadable_value_hides_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let named = |name: &str| json!([dataset(ID, name), dataset(OTHER, "street-cams")]).to_string();
    let lone = named("holiday X").replace('X', "\\ud83c");
    let missing = named("nights").replacen(":3", ":NaN", 1);
    let latin = named("caf\u{e9}").chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let plain = "application/json";
    for (media_type, body, name, warning) in [
        (plain, lone.into_bytes(), "holiday \u{fffd}", "not Unicode"),
        (plain, missing.into_bytes(), "nights", "NaN"),
        (plain, format!("\u{feff}{}", named("marked")).into_bytes(), "marked", ""),
        (plain, named("a\u{1b}[2J\u{202e}\n").into_bytes(), "a\u{1b}[2J\u{202e}\n", ""),
        (plain, utf16(&format!("\u{feff}{}", named("wide"))), "wide", ""),
        ("application/json; charset=\"ISO-8859-1\"", latin, "caf\u{e9}", ""),
    ] {
        let server = service(media_type, body).await;
        let list = ["dataset", "list", "--json"];
        let (code, out, err) = outcome(&mut asked(&server, home.path(), &list));
        assert_eq!(code, 0, "{name}: {err}");
        let listed: Value = serde_json::from_str(&out).unwrap();
        let datasets = listed["datasets"].as_array().unwrap();
        assert_eq!(datasets.len(), 2, "{out}");
        assert_eq!(datasets[0]["display_name"], name, "{out}");
        assert_eq!(err.contains("warning"), !warning.is_empty(), "{name}: {err}");
        assert!(err.contains(warning), "{name}: {err}");
        let raw = ["api", "get", "datasets", "--jq", ".[0].display_name"];
        let (code, out, err) = outcome(&mut asked(&server, home.path(), &raw));
        assert!(code == 0 && err.contains(warning), "{name}: {err}");
        assert!(out.trim() == name || name.contains('\u{1b}'), "{out}");
    }
    let server = service(plain, b"<p>caf\xe9".to_vec()).await;
    let (code, _, err) = outcome(&mut asked(&server, home.path(), &["api", "get", "x", "--json"]));
    assert!(code == 1 && err.contains("is not JSON"), "{code} {err}");
}

#[test]
fn an_archive_with_missing_scores_is_inspected() {
    let home = tempfile::tempdir().unwrap();
    for (metadata, unscored) in [
        (
            r#"[{"image_filename":"a.jpg","uniqueness_score":NaN},{"image_filename":"b.jpg","uniqueness_score":0.25}]"#,
            1,
        ),
        (
            "\u{feff}[{\"image_filename\":\"a.jpg\",\"uniqueness_score\":0.5},{\"image_filename\":\"caf\\udce9.jpg\"}]",
            1,
        ),
        (r#"{"media_items":[{"uniqueness_score":-Infinity},{"uniqueness_score":1e999}]}"#, 2),
    ] {
        let path = home.path().join("export.zip");
        let mut archive = ZipWriter::new(fs::File::create(&path).unwrap());
        archive.start_file("metadata.json", SimpleFileOptions::default()).unwrap();
        archive.write_all(metadata.as_bytes()).unwrap();
        archive.finish().unwrap();
        let inspect = ["export", "inspect", path.to_str().unwrap(), "--json"];
        let (_, out, err) = run(home.path(), &inspect);
        let found: Value = serde_json::from_str(&out).unwrap_or_default();
        assert_eq!((&found["rows"], &found["unscored"]), (&2.into(), &unscored.into()), "{err}");
    }
}

/// Creates two pictures in a folder, and one in another folder.
fn pictures() -> (TempDir, [PathBuf; 3]) {
    let home = tempfile::tempdir().unwrap();
    let files =
        ["pics/a.png", "pics/b.png", "private/diary.png"].map(|name| home.path().join(name));
    for file in &files {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        picture(file);
    }
    (home, files)
}

/// Returns the outcome of an upload of the files in a list, and the names of the files that were sent.
async fn upload(home: &Path, list: &[u8], options: &[&str]) -> (i32, String, Vec<String>) {
    let server = service("application/json", dataset(ID, "dash").to_string().into_bytes()).await;
    fs::write(home.join("list.txt"), list).unwrap();
    let mut command = asked(&server, home, &["media", "add", ID, "--files-from", "list.txt"]);
    let (code, _, err) = outcome(command.args(options).current_dir(home));
    let mut sent = Vec::new();
    for request in server.requests() {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let names = body.split("filename=\"").skip(1);
        sent.extend(names.map(|rest| rest.split('"').next().unwrap().to_owned()));
    }
    sent.sort();
    (code, err, sent)
}

#[tokio::test(flavor = "multi_thread")]
async fn only_files_that_a_list_names_are_uploaded() {
    let (home, [a, b, _]) = pictures();
    let list = format!("{}\r\n{}\r\n", a.display(), b.display());
    let marked = format!("\u{feff}{list}");
    for bytes in [utf16(&marked), marked.into_bytes(), list.clone().into_bytes()] {
        let (code, err, sent) = upload(home.path(), &bytes, &[]).await;
        assert_eq!((code, sent.len()), (0, 2), "{err}");
        assert!(!sent.iter().any(|name| name.contains("diary")), "{sent:?}");
    }
    // Without a mark, the list is not guessed.
    let (code, err, sent) = upload(home.path(), &utf16(&list), &["--yes"]).await;
    assert_eq!((code, sent.len()), (2, 0), "{err}");
    assert!(err.contains("UTF-16") && err.contains("save it as UTF-8"), "{err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_in_a_list_is_only_sent_after_a_confirmation() {
    let (home, [a, ..]) = pictures();
    let list = format!("{}\nprivate\n", a.display());
    let (code, err, sent) = upload(home.path(), list.as_bytes(), &[]).await;
    assert_eq!((code, sent.len()), (2, 0), "{err}");
    assert!(err.contains("private is not a file") && err.contains("--yes"), "{err}");
    let (code, err, sent) = upload(home.path(), list.as_bytes(), &["--yes"]).await;
    assert_eq!((code, sent.len()), (0, 2), "{err}");
    let (code, err, sent) = upload(home.path(), list.as_bytes(), &["--dry-run"]).await;
    assert_eq!((code, sent.len()), (0, 0), "{err}");
}

#[test]
fn settings_of_windows_are_decoded() {
    let home = tempfile::tempdir().unwrap();
    let settings = home.path().join("settings.toml");
    let listed = ["--config", settings.to_str().unwrap(), "profile", "list"];
    fs::write(
        &settings,
        utf16("\u{feff}[profiles.lab]\nkind = \"onprem\"\nbase_url = \"http://lab\"\n"),
    )
    .unwrap();
    let (code, out, err) = run(home.path(), &listed);
    assert!(code == 0 && out.contains("lab"), "{err}");
    fs::write(&settings, b"# caf\xe9\n").unwrap();
    let (code, _, err) = run(home.path(), &listed);
    assert!(code == 2 && err.contains("it is not UTF-8 text; save it as UTF-8"), "{err}");
    let (code, _, err) = run(home.path(), &["config", "get", "ui.tile", listed[0], listed[1]]);
    assert!(code == 2 && err.contains("try: tessera config edit --config "), "{err}");
}

/// The settings of a project and the patterns of its folder are in one file, which two parts of the program read.
#[test]
fn the_file_of_a_project_is_decoded() {
    let home = tempfile::tempdir().unwrap();
    let (pictures, file) =
        (home.path().join("pictures"), home.path().join("pictures/.tessera.toml"));
    fs::create_dir(&pictures).unwrap();
    for name in ["a.png", "b.png"] {
        picture(&pictures.join(name));
    }
    let project = "[ui]\ntile = \"large\"\n[folder]\nexclude = [\"b.png\"]\n";
    let asked =
        |arguments: &[&str]| outcome(tessera(home.path(), arguments).current_dir(&pictures));
    for bytes in [utf16(&format!("\u{feff}{project}")), format!("\u{feff}{project}").into_bytes()] {
        fs::write(&file, bytes).unwrap();
        let (code, out, err) = asked(&["config", "get", "ui.tile"]);
        assert_eq!((code, out.as_str()), (0, "large\n"), "{err}");
        let (code, out, err) = asked(&["--folder", ".", "search", "browse", "--flat", "--paths"]);
        assert!(code == 0 && out.contains("a.png") && !out.contains("b.png"), "{err}{out}");
    }
    fs::write(&file, b"# caf\xe9\n").unwrap();
    let (code, _, err) = asked(&["config", "get", "ui.tile"]);
    assert!(code == 2 && err.contains(".tessera.toml: it is not UTF-8 text"), "{err}");
    // The command opens the user's file, which is not the wrong one.
    assert!(!err.contains("config edit"), "{err}");
}

#[test]
fn files_and_secrets_of_windows_are_decoded() {
    let home = tempfile::tempdir().unwrap();
    let query = r#"[{"labels":{"op":"one_of","value":["café"]}}]"#;
    let file = home.path().join("query.json");
    for bytes in [utf16(&format!("\u{feff}{query}\r\n")), format!("\u{feff}{query}").into_bytes()] {
        fs::write(&file, bytes).unwrap();
        let (code, out, err) = run(home.path(), &["query", "explain", file.to_str().unwrap()]);
        assert!(code == 0 && (out.contains("café") || out.contains("caf")), "{err}{out}");
    }
    fs::write(&file, utf16(query)).unwrap();
    let (code, _, err) = run(home.path(), &["query", "explain", file.to_str().unwrap()]);
    assert!(code == 2 && err.contains("save it as UTF-8"), "{err}");

    let secret = "a-secret-of-at-least-thirty-two-bytes";
    let token = |bytes: Vec<u8>| {
        let file = home.path().join("secret");
        fs::write(&file, bytes).unwrap();
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(&file, private).unwrap();
        let mut command = tessera(home.path(), &["auth", "token"]);
        command.env("TESSERA_BASE_URL", "https://vl.example").env("TESSERA_KIND", "hosted");
        command.env("TESSERA_API_KEY", "ak_1").env("TESSERA_API_SECRET_FILE", file);
        outcome(&mut command)
    };
    let signed = |(code, out, err): (i32, String, String)| {
        assert_eq!(code, 0, "{err}");
        // The verification needs the library that every client installs.
        assert!(tessera_testing::clients::raw_client().build().is_ok());
        let mut validation = jsonwebtoken::Validation::default();
        validation.set_required_spec_claims(&["exp"]);
        let key = jsonwebtoken::DecodingKey::from_secret(secret.as_bytes());
        jsonwebtoken::decode::<Value>(out.trim(), &key, &validation).is_ok()
    };
    for text in [format!("{secret}\r\n"), format!("\u{feff}{secret}\r\n")] {
        assert!(signed(token(text.into_bytes())));
    }
    assert!(signed(token(utf16(&format!("\u{feff}{secret}\r\n")))));
    let (code, _, err) = token(utf16(secret));
    assert!(code == 2 && err.contains("NUL characters"), "{err}");
    for (text, reason) in [
        (String::new(), "it is empty"),
        (" \r\n".to_owned(), "it is empty"),
        (format!("{secret}\nof the staging service\n"), "several lines"),
        ("x".repeat(70_000), "larger than 64 KiB"),
    ] {
        let (code, _, err) = token(text.into_bytes());
        assert!(code == 2 && err.contains(reason) && !err.contains(secret), "{err}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dataset_is_found_by_either_form_of_its_name() {
    let home = tempfile::tempdir().unwrap();
    let (composed, decomposed) = ("caf\u{e9} cr\u{e8}me", "cafe\u{301} cre\u{300}me");
    for (stored, typed) in [(decomposed, composed), (composed, decomposed)] {
        let body = json!([dataset(ID, stored), dataset(OTHER, "other")]).to_string();
        let server = service("application/json", body.into_bytes()).await;
        let show = ["search", "browse", "-d", typed, "--dry-run", "-v"];
        let (code, out, err) = outcome(&mut asked(&server, home.path(), &show));
        assert!(code == 0 && out.contains(ID), "{err}{out}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn empty_variables_count_as_unset() {
    let home = tempfile::tempdir().unwrap();
    let body = json!([dataset(ID, "street-cams")]).to_string();
    let server = service("application/json", body.into_bytes()).await;
    let url = server.url();
    let list = ["dataset", "list", "--base-url", &url, "--kind", "onprem"];
    let mut command = tessera(home.path(), &list);
    for variable in [
        "TESSERA_PROFILE",
        "TESSERA_BASE_URL",
        "TESSERA_KIND",
        "TESSERA_PIPELINE_URL",
        "TESSERA_DATASET",
        "TESSERA_READ_ONLY",
        "TESSERA_CONFIG",
        "TESSERA_STORE",
        "TESSERA_BUCKET",
        "TESSERA_API_KEY",
        "TESSERA_TOKEN",
        "TERM",
        "NO_COLOR",
        "COLUMNS",
        "ALL_PROXY",
    ] {
        command.env(variable, "");
    }
    let (code, out, err) = outcome(command.stdin(Stdio::null()));
    assert!(code == 0 && out.contains("street-cams"), "{err}");
}

#[test]
fn a_path_that_is_not_text_is_used_and_printed_but_no_setting() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(OsStr::from_bytes(b"nu\xff8"));
    fs::create_dir(&folder).unwrap();
    let file = folder.join(OsStr::from_bytes(b"x\xff.png"));
    picture(&file);
    let mut search = tessera(home.path(), &["search", "image", "--json", "--folder"]);
    let (code, out, err) = outcome(search.args([&folder, &file]));
    assert_eq!(code, 0, "{err}");
    let document: Value = serde_json::from_str(&out).unwrap();
    let shown = document["query"]["file"].as_str().unwrap();
    assert!(shown.ends_with("nu\u{fffd}8/x\u{fffd}.png"), "{shown}");
    let mut paths = tessera(home.path(), &["config", "path", "--all", "--json"]);
    assert_eq!(outcome(paths.env("XDG_CONFIG_HOME", &folder)).0, 0);
    let add = ["profile", "add", "here", "--kind", "local", "--folder"];
    let (code, _, err) = outcome(tessera(home.path(), &add).arg(&folder));
    assert!(code == 2 && err.contains("is not; rename what it names"), "{code} {err}");
    assert!(!home.path().join("tessera/config.toml").exists());
}

#[test]
fn a_folder_whose_name_is_not_text_is_a_dataset_in_every_place() {
    let home = tempfile::tempdir().unwrap();
    let folder = Path::new(OsStr::from_bytes(b"nu\xff8"));
    fs::create_dir(home.path().join(folder)).unwrap();
    let file = folder.join(OsStr::from_bytes(b"x\xff.png"));
    picture(&home.path().join(&file));
    let ask = |line: &str, argument: &OsStr| {
        let mut command = tessera(home.path(), &line.split(' ').collect::<Vec<_>>());
        outcome(command.arg(argument).current_dir(home.path()))
    };
    let option = [b"--dataset=", folder.as_os_str().as_bytes()].concat();
    for (line, argument) in [
        ("report", folder.as_os_str()),
        ("dataset show --json", Path::new(".").join(folder).as_os_str()),
        ("dataset show", OsStr::from_bytes(&option)),
        ("duplicates -d", folder.as_os_str()),
        ("export start --format coco --wait", folder.as_os_str()),
        ("media add -n --file nu8.png -d", folder.as_os_str()),
    ] {
        fs::copy(home.path().join(&file), home.path().join("nu8.png")).unwrap();
        let (code, _, err) = ask(line, argument);
        assert_eq!(code, 0, "{line}: {err}");
    }
    let (code, _, err) = ask("-d", folder.as_os_str());
    assert!(code == 2 && err.contains("the interface needs a terminal"), "{err}");
    let (code, _, err) = ask("--read-only", folder.as_os_str());
    assert!(code == 2 && err.contains("the interface needs a terminal"), "{err}");
    let mut show = tessera(home.path(), &["dataset", "show"]);
    let (code, _, err) = outcome(show.env("TESSERA_DATASET", home.path().join(folder)));
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = ask("image show --graphics half", file.as_os_str());
    assert!(!err.contains("UTF-8") && code == 0, "{err}");
    let (code, _, err) = ask("query save --vql []", folder.as_os_str());
    assert!(code == 2 && err.contains("`nu\u{fffd}8` is not UTF-8"), "{err}");
}
