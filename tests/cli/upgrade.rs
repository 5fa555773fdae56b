//! Reads what an earlier release left in a home folder. `tests/fixtures/make_home.sh` packs such a folder once for each
//! release. If this test fails, a format that docs/stability.md promises has changed.

use std::{fs::File, path::Path};

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::run;

/// Unpacks the home folder of a release below `folder`, runs commands in it, and returns their documents.
fn reader(folder: &Path, version: &str) -> impl Fn(&[&str]) -> Value {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let packed = File::open(packed.join(format!("home-{version}.tar.gz"))).unwrap();
    tar::Archive::new(GzDecoder::new(packed)).unpack(folder).unwrap();
    let home = folder.join("home");
    move |command| {
        let photos = home.join("photos");
        let all = [&["--folder", photos.to_str().unwrap()], command, &["--json"]].concat();
        let (code, out, err) = run(&home, &all);
        assert_eq!(code, 0, "{command:?}: {err}");
        serde_json::from_str(&out).unwrap()
    }
}

#[test]
fn a_home_folder_of_version_0_1_0_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let read = reader(folder.path(), "0.1.0");
    let found = read(&["dataset", "list"]);
    let datasets = found["datasets"].as_array().unwrap();
    // The folder is elsewhere now, where it is a new dataset. The old one has an upload as well.
    let images: Vec<&Value> = datasets.iter().map(|dataset| &dataset["n_images"]).collect();
    assert_eq!(images, [4, 3], "{found}");
    let (old, new) = (datasets[0]["id"].as_str().unwrap(), datasets[1]["id"].as_str().unwrap());

    let search = |dataset| {
        let found = read(&["search", "caption", "green van", "-d", dataset, "--flat"]);
        found["previews"][0].clone()
    };
    assert_eq!(search(old)["file_name"], "green.png");
    assert_eq!(search(new)["user_tags"], json!(["keep"]), "the file beside the pictures has them");
    assert_eq!(read(&["tag", "list", old])["tags"][0]["count"], 3);
    let picks = read(&["selection", "show", old, "--name", "picks"]);
    assert_eq!(picks["media_selection"][0]["payload"]["media_ids"][0], search(old)["media_id"]);
    assert_eq!(read(&["profile", "list"])["profiles"][0]["name"], "lab");
}
