//! Tests `tessera selection`: baskets and named selections, without requests to a service.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    home, piped, run,
    set::{ONPREM, id},
};

const DATASET: &str = "95233006-eddc-11ef-b303-000000000001";

/// Runs `tessera selection`. No request reaches the given service.
fn selection(home: &Path, arguments: &[&str]) -> (i32, String, String) {
    run(home, &[&["selection"], arguments, &ONPREM].concat())
}

/// Returns the selection as a document.
fn shown(home: &Path, more: &[&str]) -> Value {
    let (code, out, err) = selection(home, &[&["show", DATASET, "--json"], more].concat());
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn the_basket_is_filled_reduced_and_cleared() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let cluster = format!("{}^{}", id(1), id(11));
    let single = id(21);
    let (code, out, err) =
        selection(home, &["add", DATASET, "--cluster", &cluster, "--media", &single]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert!(err.contains("2 entries more"), "{err}");
    let left_out = format!("{}^{}", id(1), id(12));
    assert_eq!(selection(home, &["exclude", DATASET, "--cluster", &left_out]).0, 0);
    let document = shown(home, &[]);
    assert_eq!(document["schema"], "tessera.selection/1");
    assert_eq!(
        document["media_selection"],
        json!([
            { "type": "media", "payload": { "media_ids": [single] } },
            { "type": "cluster", "payload": {
                "cluster_id": id(1),
                "cluster_filters": { "entity_type": "IMAGES" },
                "exclude_media_ids": [id(11), id(12)],
            } },
        ])
    );
    assert!(
        document
            .as_object()
            .unwrap()
            .keys()
            .all(|key| { key == "schema" || key == "media_selection" || key.starts_with('_') })
    );

    // A member of a selected cluster is never selected twice. Instead, its exclusion is removed.
    assert_eq!(selection(home, &["add", DATASET, "--media", &id(11)]).0, 0);
    assert_eq!(shown(home, &[])["_counts"]["excluded"], 1);
    let (code, _, err) = selection(home, &["exclude", DATASET, "--media", &id(99)]);
    assert_eq!(code, 5);
    assert!(err.contains("no selected cluster is known to contain"), "{err}");
    assert_eq!(selection(home, &["remove", DATASET, "--media", &single]).0, 0);
    assert_eq!(selection(home, &["remove", DATASET, "--media", &single]).0, 5);
    let part = format!("{cluster}^{single}");
    assert_eq!(selection(home, &["remove", DATASET, "--cluster", &part]).0, 2);
    assert_eq!(selection(home, &["clear", DATASET]).0, 0);
    assert_eq!(shown(home, &[])["media_selection"], json!([]));
}

#[test]
fn named_selections_are_readable_files() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let (medium, file) = (id(5), home.join("vans.json"));
    let file = file.to_str().unwrap();
    assert_eq!(selection(home, &["add", DATASET, "--media", &medium, "--name", "vans"]).0, 0);
    assert_eq!(shown(home, &[])["_counts"]["media"], 0, "the basket is another one");
    let (_, listed, _) = selection(home, &["list"]);
    assert_eq!(listed, format!("vans\t{DATASET}\t0\t1\t0\t1\n"));

    assert_eq!(selection(home, &["export", DATASET, file, "--name", "vans"]).0, 0);
    let (code, _, err) = selection(home, &["export", DATASET, file, "--name", "vans"]);
    assert_eq!(code, 1);
    assert!(err.contains("already exists"), "{err}");
    let (code, _, err) = selection(home, &["import", DATASET, file]);
    assert_eq!(code, 0, "{err}");
    let (_, out, _) = selection(home, &["export", DATASET, "-"]);
    assert_eq!(out, fs::read_to_string(file).unwrap());

    // The same selection is written as the reference spells it, and as a user might write it.
    let items = json!([{ "type": "media", "payload": { "media_ids": [id(6)] } }]);
    let by_hand = json!({ "dataset_id": DATASET, "items": items }).to_string();
    let import = [&["selection", "import", DATASET, "-"][..], &ONPREM].concat();
    assert_eq!(piped(home, &import, &by_hand).0, 0);
    assert_eq!(shown(home, &[])["media_selection"], items);
    let (code, _, err) = piped(home, &import, &by_hand.replace(DATASET, &id(1)));
    assert_eq!(code, 8);
    assert!(err.contains("belongs to dataset"), "{err}");

    assert_eq!(selection(home, &["clear", DATASET, "--name", "vans"]).0, 0);
    let (code, _, err) = selection(home, &["show", DATASET, "--name", "vans"]);
    assert_eq!(code, 5);
    assert!(err.contains("tessera selection list"), "{err}");
}

#[test]
fn what_cannot_be_parsed_is_cleared() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    for name in [&[][..], &["--name", "night"]] {
        let with = |command: &'static str| [&[command, DATASET], name].concat();
        assert_eq!(selection(home, &[&with("add")[..], &["--media", &id(5)]].concat()).0, 0);
        let state = walkdir::WalkDir::new(home).into_iter().filter_map(Result::ok);
        let is_saved = |path: &Path| path.extension().is_some_and(|end| end == "json");
        for file in state.filter(|entry| is_saved(entry.path())) {
            fs::write(file.path(), "{").unwrap();
        }
        assert_eq!(selection(home, &with("show")).0, 1);
        let (code, _, err) = selection(home, &with("clear"));
        assert!(code == 0 && err.contains("cannot be parsed"), "{code} {err}");
        let code = selection(home, &with("show")).0;
        assert_eq!(code, if name.is_empty() { 0 } else { 5 });
    }
}

#[test]
fn a_folder_has_the_same_selections_with_a_profile_and_without() {
    let (home, folder) = home();
    let home = home.path();
    let folder = folder.to_str().unwrap();
    let done = |arguments: &[&str]| {
        let (code, out, err) = run(home, arguments);
        assert_eq!(code, 0, "{arguments:?}: {err}");
        out
    };
    done(&["search", "browse", "--mark", "all", "--folder", folder]);
    done(&["profile", "add", "local", "--kind", "onprem", "--base-url", "http://127.0.0.1:9"]);
    done(&["profile", "add", "photos", "--kind", "local", "--folder", folder]);
    let of_folder = done(&["selection", "list", "--folder", folder]);
    assert!(of_folder.contains("all"), "{of_folder}");
    assert_eq!(done(&["selection", "list", "--profile", "photos"]), of_folder);
    assert_eq!(done(&["selection", "list", "--profile", "local"]), "", "another deployment");
}
