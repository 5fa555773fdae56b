//! `GET process/add_media`, which adds media in on-premises deployments.

use std::{os::unix::fs::symlink, path::Path};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use tessera_service::{DeploymentSettings, InjectedFailure};

use crate::{
    change::new,
    support::{Place, Service, answer, picture, pictures},
};

/// A folder with three new images, which the deployment may be allowed to read.
fn batch() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in new(12..15) {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

fn reading(root: &Path) -> DeploymentSettings {
    DeploymentSettings {
        readable_roots: vec![root.canonicalize().unwrap()],
        ..DeploymentSettings::default()
    }
}

async fn process(service: &Service, path: &Path, more: &str) -> (StatusCode, Value) {
    let (id, path) = (service.dataset, path.to_str().unwrap());
    service.json(&format!("/api/v1/process/add_media?dataset_id={id}&path={path}{more}")).await
}

#[tokio::test]
async fn folders_below_an_allowed_one_are_added() {
    let folder = batch();
    let service = Service::with(reading(folder.path())).await;
    let (status, body) = process(&service, folder.path(), "").await;
    assert_eq!((status.as_u16(), &body["status"]), (200, &json!("success")), "{body}");
    service.deployment.wait_until_idle().await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("PARTIAL INDEX"), &json!(15)));
    assert_eq!(service.names("").await.len(), 15);

    let (status, _) = process(&service, &folder.path().join("."), "&auto_reindex=true").await;
    assert_eq!(status, 200);
    service.deployment.wait_until_idle().await;
    assert_eq!(service.record().await["status_new"], "READY");
    assert_eq!(service.names("").await.len(), 15, "the same folder holds the same media");
}

#[tokio::test]
async fn adding_a_folder_again_adds_only_new_files() {
    let folder = batch();
    let service = Service::with(reading(folder.path())).await;
    for count in [15, 16] {
        assert_eq!(process(&service, folder.path(), "").await.0, 200);
        service.deployment.wait_until_idle().await;
        let names = service.names("").await;
        assert_eq!(names.len(), count, "{names:?}");
        let (name, bytes) = new(15..16).remove(0);
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let folder = service.place.pictures.path().to_owned();
    assert_eq!(process(&service, &folder, "").await.0, 200, "its own folder");
    service.deployment.wait_until_idle().await;
    let names = service.names("").await;
    assert_eq!(names.len(), 16, "every media once: {names:?}");
}

#[tokio::test]
async fn a_missing_folder_that_is_added_again_keeps_its_media() {
    let folder = batch();
    let service = Service::with(reading(folder.path())).await;
    assert_eq!(process(&service, folder.path(), "&auto_reindex=true").await.0, 200);
    service.deployment.wait_until_idle().await;
    // The disk of the folder is not connected, and leaves an empty folder behind.
    for (name, _) in new(12..15) {
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
    assert_eq!(process(&service, folder.path(), "&auto_reindex=true").await.0, 200);
    service.deployment.wait_until_idle().await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(15)));
    let message = record["fatal_error_msg"].as_str().unwrap();
    assert!(message.contains("so its media are kept as they were"), "{message}");
    assert_eq!(service.deployment.missing_folders(service.dataset).unwrap().len(), 1);
}

#[tokio::test]
async fn a_folder_inside_the_dataset_is_judged_alone() {
    let mut files = pictures(2);
    files.extend([("broken.jpg", b"\xff\xd8\xff\xe0".to_vec()), ("raw/a.png", picture(7))]);
    let service = Service::with(DeploymentSettings::default()).await;
    for (name, bytes) in files {
        service.place.put(name, &bytes);
    }
    let raw = service.place.picture("raw");
    assert_eq!(process(&service, &raw, "").await.0, 200);
    service.deployment.wait_until_idle().await;
    assert_eq!(service.record().await["fatal_error_msg"], Value::Null, "nothing of broken.jpg");
    let patterns = json!({"include": [], "exclude": ["raw/"]});
    let rescan = format!("/local/dataset/{}/rescan", service.dataset);
    assert_eq!(answer(service.post(&rescan).json(&patterns)).await.0, 200);
    service.deployment.wait_until_idle().await;
    assert_eq!(process(&service, &raw, "").await.0, 200);
    service.deployment.wait_until_idle().await;
    let expected = "nothing was added: a pattern of the dataset excludes the folder; \
                    rescan the dataset with other patterns";
    assert_eq!(service.record().await["fatal_error_msg"], expected);
}

#[tokio::test]
async fn folders_outside_are_neither_read_nor_revealed() {
    let outside = batch();
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("file.png"), b"-").unwrap();
    symlink(outside.path(), root.path().join("link")).unwrap();
    let service = Service::with(reading(root.path())).await;
    let root = root.path().canonicalize().unwrap();
    let inside = |name: &str| root.join(name);
    let mut answers = Vec::new();
    for path in [
        outside.path().to_owned(),
        "/".into(),
        "/etc".into(),
        "/no/such/folder".into(),
        inside("link"),
        inside("missing"),
        inside("file.png"),
        inside("../"),
        inside(&format!("..{}", outside.path().display())),
        format!("{}x", root.display()).into(),
    ] {
        let (status, body) = process(&service, &path, "").await;
        assert_eq!(status, 403, "{}: {body}", path.display());
        answers.push(body);
    }
    assert!(answers.iter().all(|body| *body == answers[0]), "{answers:?}");
    for wrong in ["relative/folder", ".", "%00"] {
        let (status, body) = process(&service, Path::new(wrong), "").await;
        assert_eq!(status, 422, "{wrong}");
        assert_eq!(body["detail"][0]["loc"], json!(["query", "path"]));
    }
    let (status, body) = process(&service, Path::new(""), "").await;
    assert_eq!((status.as_u16(), &body["detail"][0]["type"]), (422, &json!("missing")));
    assert_eq!(service.place.count("indexing_task WHERE kind = 'MEDIA_ADDITION'"), 0);
}

#[tokio::test]
async fn the_same_statuses_and_options_apply() {
    let folder = batch();
    let service = Service::with(reading(folder.path())).await;
    for status in ["READ ONLY", "INDEXING", "ERROR"] {
        service.set_status(status);
        let (code, body) = process(&service, folder.path(), "").await;
        assert_eq!(code, 409, "{status}");
        assert!(body["detail"].as_str().unwrap().starts_with("Operation 'add_media' is blocked"));
    }
    service.set_status("READY");
    let (code, body) = process(&service, folder.path(), "&auto_reindex=perhaps").await;
    assert_eq!((code.as_u16(), &body["detail"][0]["loc"][1]), (422, &json!("auto_reindex")));
    let head = service.client.head(service.url(&format!(
        "/api/v1/process/add_media?dataset_id={}&path={}",
        service.dataset,
        folder.path().display()
    )));
    assert_eq!(head.bearer_auth(service.token()).send().await.unwrap().status(), 405);
    for (settings, expected) in [
        (DeploymentSettings { add_media: false, ..reading(folder.path()) }, 403),
        (DeploymentSettings { write_access: false, ..reading(folder.path()) }, 403),
        (
            DeploymentSettings {
                injected_failures: [InjectedFailure::Trigger].into(),
                ..reading(folder.path())
            },
            500,
        ),
    ] {
        let service = Service::at_with(Place::new(&pictures(3)), settings).await;
        let (code, body) = process(&service, folder.path(), "").await;
        assert_eq!(code, expected, "{body}");
        assert_eq!(service.record().await["status_new"], "READY");
    }
}

#[tokio::test]
async fn on_premises_it_needs_no_login() {
    let place = Place::new(&pictures(3));
    let folder = batch();
    let deployment = place.open_with(reading(folder.path()));
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    let service = Service::serve(place, deployment, dataset, false).await;
    let path =
        format!("/api/v1/process/add_media?dataset_id={dataset}&path={}", folder.path().display());
    assert_eq!(service.client.get(service.url(&path)).send().await.unwrap().status(), 200);
    service.deployment.wait_until_idle().await;
    assert_eq!(service.record().await["n_images"], 6);
}

#[tokio::test]
async fn overlapping_folders_list_no_file_twice() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("own");
    std::fs::create_dir_all(folder.join("late")).unwrap();
    let put =
        |file: std::path::PathBuf, n| std::fs::write(file, crate::support::picture(n)).unwrap();
    put(folder.join("a.png"), 0);
    put(folder.join("late/b.png"), 1);
    let place = Place::new(&[]);
    let deployment = place.open_with(reading(above.path()));
    let dataset = deployment.add_folder(&folder, None).unwrap();
    deployment.wait_until_idle().await;
    let service = Service::serve(place, deployment, dataset, true).await;
    put(folder.join("late/c.png"), 2);
    put(above.path().join("d.png"), 3);
    for (folder, images) in [(folder.join("late"), 3), (above.path().to_owned(), 4), (folder, 4)] {
        assert_eq!(process(&service, &folder, "").await.0, 200);
        service.deployment.wait_until_idle().await;
        let record = service.record().await;
        assert_eq!(
            (&record["status_new"], &record["n_images"]),
            (&json!("PARTIAL INDEX"), &json!(images))
        );
    }
    assert_eq!(service.place.count("place"), 4);
}

/// Replaces a folder by a link to another one.
fn replace_by_link(folder: &Path, target: &Path) {
    std::fs::rename(folder, folder.with_extension("moved")).unwrap();
    symlink(target, folder).unwrap();
}

#[tokio::test]
async fn a_folder_that_becomes_a_link_before_it_is_read_adds_nothing() {
    for link in ["inbox", "inbox/today"] {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(outside.path().join("today")).unwrap();
        for (name, bytes) in new(12..15) {
            std::fs::write(outside.path().join(&name), &bytes).unwrap();
            std::fs::write(outside.path().join("today").join(name), bytes).unwrap();
        }
        let folder = root.path().join("inbox/today");
        std::fs::create_dir_all(&folder).unwrap();
        let settings = DeploymentSettings { jobs: 0, ..reading(root.path()) };
        let place = Place::new(&pictures(3));
        let first = place.open();
        let dataset = place.add(&first);
        first.wait_until_idle().await;
        drop(first);
        let accepting = place.open_with(settings);
        let service = Service::serve(place, accepting, dataset, true).await;
        assert_eq!(process(&service, &folder, "").await.0, 200);
        replace_by_link(&root.path().join(link), outside.path());
        let Service { place, deployment, .. } = service;
        drop(deployment);
        let working = place.open();
        working.wait_until_idle().await;
        assert_eq!(place.count("media"), 3, "{link}");
        assert_eq!(place.count("skipped"), 0, "{link}: not even names are revealed");
        let error: Option<String> = place.row("SELECT fatal_error FROM dataset", |row| row.get(0));
        let expected = "the folder today cannot be opened";
        assert!(error.as_deref().unwrap_or_default().starts_with(expected), "{error:?}");
    }
}

#[tokio::test]
async fn a_folder_that_becomes_a_link_later_reveals_no_file_of_its_target() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("inbox");
    std::fs::create_dir(&folder).unwrap();
    let outside = batch();
    for (name, bytes) in new(12..15) {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
    let service = Service::with(reading(root.path())).await;
    assert_eq!(process(&service, &folder, "&auto_reindex=true").await.0, 200);
    service.deployment.wait_until_idle().await;
    let body = service.good(&service.explore("threshold=0")).await;
    let clusters = body["clusters"].as_array().unwrap();
    let previews = clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap());
    let added: Vec<&Value> =
        previews.filter(|preview| preview["file_name"] == new(12..13)[0].0).collect();
    let link = added[0]["media_uri"].as_str().unwrap();
    assert_eq!(service.client.get(link).send().await.unwrap().status(), 200);
    replace_by_link(&folder, outside.path());
    assert_eq!(service.client.get(link).send().await.unwrap().status(), 404);
}
