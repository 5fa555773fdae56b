//! Index folders that were moved, copied, or restored without an upload. Uploads and opened archives are in them.

use std::{fs, process::Command};

use serde_json::Value;
use tempfile::TempDir;

use crate::{
    change::{archived, new, uploads, zip},
    export::{archive, metadata},
    restart::{batch_dir, media_ids},
    support::{Place, Service, answer, assert_no_path, picture, pictures},
};

/// The same place with a copy of its index folder, and the original folder.
fn copied(place: Place) -> (Place, TempDir) {
    let data = tempfile::tempdir().unwrap();
    let inside = place.data.path().join(".");
    let copy = Command::new("cp").arg("-a").arg(inside).arg(data.path()).status().unwrap();
    assert!(copy.success());
    let Place { pictures, data: original, store } = place;
    (Place { pictures, data, store }, original)
}

/// What is missing in an export of all images.
async fn missing_in_export(service: &Service) -> Value {
    let query = "file_name=a&export_format=json&include_images=true";
    archive(service, query).await.0["result_message"].take()
}

#[tokio::test]
async fn a_moved_or_copied_index_folder_has_its_own_uploads() {
    for is_moved in [true, false] {
        let service = Service::at(Place::new(&pictures(12)).with_store_file(), true).await;
        service.added(uploads(12..14)).await;
        let form = archived("set.zip", zip(&new(14..16)));
        service.added(form.text("auto_reindex", "true")).await;
        let before = media_ids(&service);
        assert_eq!(before.len(), 16);
        let (place, original) = copied(service.stop().await);
        let original = (!is_moved).then_some(original);
        let service = Service::at(place, true).await;
        assert_eq!((service.place.count("source"), media_ids(&service)), (3, before.clone()));
        drop(original);
        assert_eq!(missing_in_export(&service).await, Value::Null);

        let place = service.stop().await;
        fs::remove_file(place.data.path().join("tessera.db")).unwrap();
        let service = Service::at(place, true).await;
        assert_eq!(media_ids(&service), before, "also after the loss of the database");
    }
}

#[tokio::test]
async fn an_opened_archive_is_the_same_dataset_in_a_moved_index_folder() {
    let files = zip(&new(12..15));
    // The name of the folder is the one of a file in which a program could describe what was unpacked.
    let place = Place::new(&[("unpacked.json.zip", files)]);
    let opened = |place: &Place| {
        let deployment = place.open();
        let dataset = deployment.add_folder(&place.picture("unpacked.json.zip"), None).unwrap();
        (deployment, dataset)
    };
    let (deployment, dataset) = opened(&place);
    deployment.wait_until_idle().await;
    drop(deployment);
    let (place, _) = copied(place);
    let (deployment, again) = opened(&place);
    deployment.wait_until_idle().await;
    let datasets = deployment.datasets().unwrap();
    let found: Vec<_> = datasets.iter().map(|it| (it.id, it.name.as_str(), it.n_images)).collect();
    assert_eq!((again, found), (dataset, vec![(dataset, "unpacked.json", 3)]));
}

#[tokio::test]
async fn a_lost_upload_is_named_and_left_out_of_exports() {
    let service = Service::of_pictures().await;
    service.added(uploads(12..14).text("auto_reindex", "true")).await;
    let lost = batch_dir(&service.place);
    fs::remove_dir_all(&lost).unwrap();
    let canonical = service.place.data.path().canonicalize().unwrap();
    let name = format!("uploads/{}", lost.file_name().unwrap().to_str().unwrap());
    let missing = service.deployment.missing_folders(service.dataset).unwrap();
    assert_eq!(missing, [canonical.join(&name)]);

    let (task, mut zip) = archive(&service, "file_name=a&export_format=json").await;
    let rows = metadata(&mut zip)["media_items"].as_array().unwrap().len();
    assert_eq!((rows, &task["result_message"]), (14, &Value::Null));
    let expected = format!(
        "2 pictures could not be read and were left out: n012.png, n013.png; \
         the folder {name} cannot be opened. Restore it, and export again"
    );
    assert_eq!(missing_in_export(&service).await, expected);

    service.place.put("new.png", &picture(20));
    let rescan = format!("/local/dataset/{}/rescan", service.dataset);
    assert_eq!(answer(service.post(&rescan)).await.0, 200);
    service.deployment.wait_until_idle().await;
    let mut record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&"READY".into(), &15.into()));
    let reason = record["fatal_error_msg"].take();
    let expected = format!("{name}: missing, or without any of its files, so its media are kept");
    assert!(reason.as_str().unwrap().starts_with(&expected), "{reason}");
    assert_no_path(&reason, &service.place);
}
