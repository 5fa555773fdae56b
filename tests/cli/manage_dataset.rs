//! Tests the commands that manage datasets of local folders, over a profile and over a running service.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use serde_json::Value;

use super::{
    Serving, add_local_profile, home, outcome, picture, picture_folder, run, serve,
    served_folder::PATIENCE, tessera,
};

/// Adds a profile of the folder, and returns the arguments that select it.
fn profile(home: &Path, folder: &Path) -> [&'static str; 2] {
    let folder = folder.to_str().unwrap();
    add_local_profile(home, "here", folder);
    ["--profile", "here"]
}

fn document(home: &Path, arguments: &[&str]) -> (Value, String) {
    let (code, out, err) = run(home, &[arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{err}");
    (serde_json::from_str(&out).unwrap(), err)
}

fn asked(serving: &Serving, home: &Path, arguments: &[&str]) -> (i32, String, String) {
    outcome(&mut serving.asked(home, arguments))
}

#[test]
fn a_dataset_of_a_profile_is_renamed_rescanned_and_removed() {
    let (home, folder) = home();
    let home = home.path();
    let selected = profile(home, &folder);
    let with = |arguments: &[&'static str]| [&selected[..], arguments].concat();
    let (shown, _) = document(home, &with(&["dataset", "show"]));
    assert_eq!((&shown["display_name"], &shown["n_images"]), (&"pictures".into(), &1.into()));
    picture(&folder.join("b.png"));
    let (rescan, _) = document(home, &with(&["dataset", "rescan"]));
    assert_eq!((&rescan["added"], &rescan["removed"]), (&1.into(), &0.into()), "{rescan}");
    assert_eq!((&rescan["indexing"], &rescan["status_new"]), (&true.into(), &"READY".into()));
    fs::write(folder.join("zz"), "").unwrap();
    let (rescan, _) = document(home, &with(&["dataset", "rescan"]));
    assert_eq!((&rescan["added"], &rescan["unread"]), (&1.into(), &1.into()), "{rescan}");
    fs::remove_file(folder.join("zz")).unwrap();
    let (renamed, _) = document(home, &with(&["dataset", "rename", "pictures", "My photos"]));
    assert_eq!((&renamed["display_name"], &renamed["n_images"]), (&"My photos".into(), &2.into()));
    let (shown, _) = document(home, &with(&["dataset", "show", "My photos"]));
    assert_eq!(shown["_local"]["folder_missing"], false);
    let canonical = folder.canonicalize().unwrap();
    assert_eq!(shown["_local"]["folder"], canonical.to_str().unwrap());
    let (_, listed, err) = run(home, &with(&["dataset", "list", "--full"]));
    assert!(listed.ends_with(&format!("\t{}\n", canonical.display())), "{listed}{err}");
    let (code, _, err) = run(home, &with(&["dataset", "remove", "My photos", "--no-input"]));
    assert_eq!(code, 2);
    assert!(err.contains("The files in its folder stay") && err.contains("--yes"), "{err}");
    let (removed, err) = document(home, &with(&["dataset", "remove", "My photos", "--yes"]));
    assert_eq!(removed["uploads"], 0);
    assert!(err.contains("tessera profile remove here"), "{err}");
    assert!(folder.join("a.png").exists() && folder.join("b.png").exists());
    let (again, _) = document(home, &with(&["dataset", "show"]));
    assert_eq!(again["display_name"], "pictures", "opening the folder indexes it again");
}

#[test]
fn an_archive_is_the_folder_of_a_profile_until_it_is_removed() {
    let (home, folder) = home();
    let home = home.path();
    let archive = home.join("photos.zip");
    let mut zip = zip::ZipWriter::new(fs::File::create(&archive).unwrap());
    zip.start_file("a.png", zip::write::SimpleFileOptions::default()).unwrap();
    std::io::Write::write_all(&mut zip, &fs::read(folder.join("a.png")).unwrap()).unwrap();
    zip.finish().unwrap();
    let selected = profile(home, &archive);
    let with = |arguments: &[&'static str]| [&selected[..], arguments].concat();
    let (shown, _) = document(home, &with(&["dataset", "show"]));
    assert_eq!((&shown["display_name"], &shown["n_images"]), (&"photos".into(), &1.into()));
    document(home, &with(&["dataset", "remove", "photos", "--yes"]));
    let unpacked = files_named(home, "a.png");
    assert_eq!(unpacked, [folder.join("a.png")], "only the original stays");
    assert!(archive.exists());
    let text = home.join("notes.txt");
    fs::write(&text, "no pictures").unwrap();
    let add = ["profile", "add", "other", "--kind", "local", "--folder", text.to_str().unwrap()];
    let (code, _, err) = run(home, &add);
    assert_eq!(code, 2);
    assert!(err.contains("notes.txt is neither a folder nor an archive"), "{err}");
}

/// Returns the paths of all files with this name below a folder.
fn files_named(folder: &Path, name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = entries.flat_map(|path| match path.is_dir() {
        true => files_named(&path, name),
        false if path.ends_with(name) => vec![path],
        false => Vec::new(),
    });
    found.collect()
}

#[test]
fn a_running_service_is_managed_without_a_restart() {
    let (home, folder) = home();
    let home = home.path();
    let serving = serve(home, &[folder.to_str().unwrap(), "--no-auth"]);
    assert_eq!(serving.indexed()["n_images"], 1);
    let (_, listed, _) = asked(&serving, home, &["dataset", "list", "--full", "--json"]);
    assert!(!listed.contains(folder.to_str().unwrap()), "a client of a service sees no path");
    picture(&folder.join("b.png"));
    fs::remove_file(folder.join("a.png")).unwrap();
    let (code, out, err) = asked(&serving, home, &["dataset", "rescan", "--wait"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("new files\t1\n") && out.contains("removed files\t1\n"), "{out}");
    assert!(out.contains("status\tREADY"), "{out}");
    let (code, _, err) = asked(&serving, home, &["dataset", "cancel"]);
    assert_eq!(code, 6, "{err}");
    assert!(err.contains("No indexing of this dataset is running"), "{err}");
    let dry = ["dataset", "remove", "pictures", "--dry-run"];
    let (code, out, err) = asked(&serving, home, &dry);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("POST http://") && out.ends_with("/remove\n"), "{out}");
    let (code, _, err) = asked(&serving, home, &["dataset", "remove", "--yes", "--read-only"]);
    assert_eq!(code, 6, "{err}");
    let (code, _, err) = asked(&serving, home, &["dataset", "remove", "pictures", "--yes"]);
    assert_eq!(code, 0, "{err}");
    let (_, out, _) = asked(&serving, home, &["dataset", "list"]);
    assert_eq!(out, "");
    let (code, _, err) = asked(&serving, home, &["dataset", "remove", "pictures", "--yes"]);
    assert_eq!(code, 5, "{err}");
    assert!(folder.join("b.png").exists());
}

#[test]
fn a_watched_folder_is_compared_when_its_files_change() {
    let (home, folder) = home();
    let home = home.path();
    let serving = serve(home, &[folder.to_str().unwrap(), "--no-auth", "--watch"]);
    assert_eq!(serving.indexed()["n_images"], 1);
    let images_become = |count: u64| {
        let deadline = Instant::now() + PATIENCE;
        let mut shown = Value::Null;
        while shown["n_images"] != count {
            assert!(Instant::now() < deadline, "{count} images: {shown}");
            let (code, out, err) = asked(&serving, home, &["dataset", "show", "--json"]);
            assert_eq!(code, 0, "{err}");
            shown = serde_json::from_str(&out).unwrap();
        }
    };
    fs::create_dir(folder.join("new")).unwrap();
    picture(&folder.join("new/b.png"));
    images_become(2);
    fs::remove_file(folder.join("a.png")).unwrap();
    images_become(1);
    let moved = home.join("moved");
    fs::rename(&folder, &moved).unwrap();
    picture(&moved.join("c.png"));
    fs::rename(&moved, &folder).unwrap();
    images_become(2);
    picture(&folder.join("d.png"));
    images_become(3);
}

#[test]
fn uploads_of_a_removed_dataset_are_counted_and_kept() {
    let (home, folder) = home();
    let home = home.path();
    let selected = profile(home, &folder);
    let beside = picture_folder(home, "beside", &["b.png"]);
    let file = beside.join("b.png");
    let add = ["media", "add", "--file", file.to_str().unwrap(), "--then-reindex", "--wait"];
    let (code, _, err) = run(home, &[&selected[..], &add].concat());
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = run(home, &[&selected[..], &["dataset", "remove", "--no-input"]].concat());
    assert_eq!(code, 2);
    for words in ["1 uploaded file,", "no other copy", "local/uploads"] {
        assert!(err.contains(words), "{words}: {err}");
    }
    let (removed, _) = document(home, &[&selected[..], &["dataset", "remove", "--yes"]].concat());
    assert_eq!(removed["uploads"], 1);
    let (again, _) = document(home, &[&selected[..], &["dataset", "show"]].concat());
    assert_eq!((&again["n_images"], &again["_local"]["uploads"]), (&2.into(), &1.into()));
}

#[test]
fn patterns_are_chosen_by_options_and_kept() {
    let (home, folder) = home();
    let home = home.path();
    for name in ["b.png", "drafts/c.png", "d.png"] {
        fs::create_dir_all(folder.join("drafts")).unwrap();
        picture(&folder.join(name));
    }
    let selected = profile(home, &folder);
    let with = |arguments: &[&'static str]| [&selected[..], arguments].concat();
    let leave_out = ["dataset", "rescan", "--exclude", "drafts/", "--exclude", "b.*"];
    assert_eq!(document(home, &with(&leave_out)).0["status_new"], "READY");
    let (shown, _) = document(home, &with(&["dataset", "show"]));
    assert_eq!(shown["n_images"], 2);
    let patterns = serde_json::json!({"include": [], "exclude": ["drafts/", "b.*"]});
    assert_eq!(shown["_local"]["patterns"], patterns);
    let serving = serve(home, &["--no-auth", folder.to_str().unwrap(), "--include", "a.*"]);
    let (code, out, err) = asked(&serving, home, &["dataset", "show", "--json"]);
    assert_eq!(code, 0, "{err}");
    let shown: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(shown["n_images"], 1);
    drop(serving);
    let (code, _, err) = run(home, &with(&["dataset", "rescan", "--exclude", "[z-a]"]));
    assert_eq!(code, 8);
    assert!(err.contains("the pattern \"[z-a]\" is wrong"), "{err}");
    document(home, &with(&["dataset", "rescan", "--all-files"]));
    assert_eq!(document(home, &with(&["dataset", "show"])).0["n_images"], 4);
}

#[test]
fn patterns_and_missing_folders_are_shown() {
    let (home, folder) = home();
    let home = home.path();
    picture(&folder.join("b.png"));
    fs::write(folder.join(".tessera.toml"), "[folder]\nexclude = ['b.*']\n").unwrap();
    let selected = profile(home, &folder);
    let show = [&selected[..], &["dataset", "show"]].concat();
    let (shown, _) = document(home, &show);
    assert_eq!((&shown["n_images"], &shown["_local"]["excluded"]), (&1.into(), &1.into()));
    // The file may also contain settings of a project.
    let (code, _, err) = outcome(tessera(home, &show).current_dir(&folder));
    assert_eq!(code, 0, "{err}");
    let away = home.join("away");
    fs::rename(&folder, &away).unwrap();
    let (shown, err) = document(home, &show);
    assert_eq!((&shown["folder_missing"], &shown["n_images"]), (&true.into(), &1.into()));
    assert!(err.contains("none of its files; its index can be searched"), "{err}");
    let (code, _, err) = run(home, &[&selected[..], &["dataset", "rescan"]].concat());
    assert_eq!(code, 6);
    assert!(err.contains("Its index is kept") && err.contains("remove the dataset"), "{err}");
    fs::rename(&away, &folder).unwrap();
    let (shown, _) = document(home, &show);
    assert_eq!(shown.get("folder_missing"), None);
    fs::write(folder.join(".tessera.toml"), "[folder]\nexclude = 'b'\n").unwrap();
    let (code, _, err) = run(home, &show);
    assert_eq!(code, 2);
    assert!(err.contains(".tessera.toml, line 2"), "{err}");
}
