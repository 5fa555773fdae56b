//! Requests to a real S3 service: it checks signatures, parts and links by its own rules.

use std::{
    fs,
    io::{Seek as _, Write as _},
    path::Path,
    time::SystemTime,
};

use serde_json::json;
use tessera_media::object_storage::{
    BucketFolder, INTERRUPTED_AFTER, IncompleteObject, ObjectStorage, ObjectUri, RetryPolicy,
    StorageSettings,
};
use tessera_service::DeploymentSettings;
use tessera_testing::seaweedfs::{SECRET, SeaweedFs};
use tokio::sync::mpsc;

use crate::{
    bucket_pictures,
    change::{archived, gzip, new, tar, uploads, zip},
    components::object_storage::read,
    export,
    support::{Place, Service, picture, pictures},
};

fn settings(service: &SeaweedFs, secret: &str) -> StorageSettings {
    StorageSettings::from_env(service.variables(secret)).unwrap()
}

fn folder(service: &SeaweedFs) -> BucketFolder {
    let uri = ObjectUri::parse("s3://photos/set").unwrap();
    BucketFolder::new(&settings(service, SECRET), &uri).unwrap()
}

async fn upload(folder: &BucketFolder, name: &str, bytes: &[u8]) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    assert!(folder.upload(name, &mut file, "attachment", |_| true).await.unwrap(), "{name}");
}

#[tokio::test]
async fn objects_are_written_listed_linked_downloaded_and_deleted() {
    let Some(service) = SeaweedFs::start() else { return };
    let folder = folder(&service);
    folder.check().await.unwrap();
    // More than one part.
    let large: Vec<u8> = (0..9 << 20).map(|at: u32| u8::try_from(at % 251).unwrap()).collect();
    upload(&folder, "large.png", &large).await;
    upload(&folder, "a b+c&d=\u{e9}%2F~.jpg", b"odd").await;
    upload(&folder, "x?y#z.jpg", b"mark").await;
    let storage =
        ObjectStorage::with_retry_policy(settings(&service, SECRET), RetryPolicy::default())
            .unwrap();
    let listing = storage.list("s3://photos/set/", None, usize::MAX).await.unwrap();
    let mut keys: Vec<&str> = listing.entries.iter().map(|entry| entry.key.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["set/a b+c&d=\u{e9}%2F~.jpg", "set/large.png", "set/x?y#z.jpg"]);
    for entry in &listing.entries {
        let bytes = read(&storage, entry).await.unwrap();
        assert_eq!(Some(bytes.len() as u64), entry.size);
        assert!(entry.key != "set/large.png" || bytes == large, "the parts are in their order");
    }
    let client = tessera_testing::clients::raw_client().build().unwrap();
    let link = folder.signed_link("x?y#z.jpg").await.unwrap();
    let linked = client.get(link.clone()).send().await.unwrap();
    assert_eq!(linked.headers()["content-disposition"], "attachment");
    assert_eq!(linked.bytes().await.unwrap(), &b"mark"[..]);
    folder.delete("x?y#z.jpg").await.unwrap();
    assert_eq!(client.get(link).send().await.unwrap().status(), 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_of_the_service_is_opened_as_a_dataset() {
    let Some(service) = SeaweedFs::start() else { return };
    let folder = folder(&service);
    for n in 0..4 {
        upload(&folder, &format!("day 1/p{n}.png"), &picture(n)).await;
    }
    let place = Place::new(&[]);
    let storage = settings(&service, SECRET);
    let deployment =
        place.open_with(DeploymentSettings { storage, ..DeploymentSettings::default() });
    let dataset = deployment.add_folder(Path::new("s3://photos/set"), Some("demo")).unwrap();
    deployment.wait_until_idle().await;
    let served = Service::serve(place, deployment, dataset, true).await;
    let record = served.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(4)));
    let query = "file_name=a&export_format=json&include_images=true";
    let (_, mut zip) = export::archive(&served, query).await;
    assert_eq!(export::content(&mut zip, "images/p2.png"), picture(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uploads_are_kept_in_the_service_and_outlive_the_database() {
    let Some(service) = SeaweedFs::start() else { return };
    let bucket = Some(ObjectUri::parse("s3://photos/tessera").unwrap());
    let storage = settings(&service, SECRET);
    let settings = DeploymentSettings { storage, bucket, ..DeploymentSettings::default() };
    let place = Place::new(&pictures(12)).with_store_file();
    let served = Service::at_with(place, settings.clone()).await;
    served.added(uploads(12..14)).await;
    served.added(archived("set.zip", zip(&new(14..17)))).await;
    served.added(archived("set.tar.gz", gzip(&tar(&new(17..18))))).await;
    let place = served.stop().await;
    assert_eq!(fs::read_dir(place.data.path().join("uploads")).unwrap().count(), 0);
    fs::remove_file(place.data.path().join("tessera.db")).unwrap();
    let served = Service::at_with(place, settings).await;
    let record = served.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(18)));
    let query = "file_name=a&export_format=json&include_images=true";
    let (_, mut zip) = export::archive(&served, query).await;
    for (name, number) in [("n013.png", 13), ("n016.png", 16), ("n017.png", 17)] {
        assert_eq!(export::content(&mut zip, &format!("images/{name}")), picture(number));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thumbnails_are_read_from_packs_of_the_service() {
    let Some(service) = SeaweedFs::start() else { return };
    let bucket = Some(ObjectUri::parse("s3://photos/tessera").unwrap());
    let storage = settings(&service, SECRET);
    let settings = DeploymentSettings { storage, bucket, ..DeploymentSettings::default() };
    let expected = bucket_pictures::thumbnails(&Service::of_pictures().await).await;
    let served = Service::at_with(Place::new(&pictures(12)), settings.clone()).await;
    assert_eq!(["thumbnail", "packed_thumbnail"].map(|table| served.place.count(table)), [0, 12]);
    assert!(bucket_pictures::thumbnails(&served).await == expected);
    served.place.change("UPDATE packed_thumbnail SET start = start + 1");
    let link = bucket_pictures::thumbnail_link(&served, "p004.png").await;
    assert_eq!(served.client.get(link).send().await.unwrap().status(), 500);
    let place = served.stop().await;
    place.change("DELETE FROM dataset");
    for has_packs in [true, false] {
        let deployment = place.open_with(settings.clone());
        deployment.wait_until_idle().await;
        tokio::task::spawn_blocking(move || drop(deployment)).await.unwrap();
        assert_eq!(place.count("picture_pack") > 0, has_packs);
        place.change(bucket_pictures::A_DAY_PASSES);
    }
}

/// As after a kill.
#[tokio::test]
async fn parts_of_an_object_that_is_never_complete_are_listed_and_removed() {
    let Some(service) = SeaweedFs::start() else { return };
    let (folder, part) = (folder(&service), 8 << 20);
    let name = "exports/7b7d7a5e-54a5-4d0c-9c4c-0f1d6a8f3b11.zip";
    let (sender, mut sent) = mpsc::unbounded_channel();
    let uploading = folder.clone();
    let upload = tokio::spawn(async move {
        let file = &mut tempfile::tempfile().unwrap();
        file.set_len(3 * part).unwrap();
        uploading.upload(name, file, "attachment", |bytes| sender.send(bytes).is_ok()).await
    });
    assert_eq!(sent.recv().await, Some(part));
    upload.abort();
    assert!(upload.await.unwrap_err().is_cancelled());
    let tomorrow = SystemTime::now() + INTERRUPTED_AFTER;
    let incomplete = folder.incomplete_objects(tomorrow).await.unwrap();
    let names: Vec<&str> = incomplete.iter().map(IncompleteObject::name).collect();
    assert_eq!(names, [name]);
    let yesterday = SystemTime::now() - INTERRUPTED_AFTER;
    assert!(folder.incomplete_objects(yesterday).await.unwrap().is_empty(), "it is recent");
    folder.abort(&incomplete[0]).await.unwrap();
    assert!(folder.incomplete_objects(tomorrow).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_is_not_allowed_is_reported() {
    let Some(service) = SeaweedFs::start() else { return };
    let list = async |secret: &str, uri: &str| {
        let settings = settings(&service, secret);
        let storage = ObjectStorage::with_retry_policy(settings, RetryPolicy::default()).unwrap();
        storage.list(uri, None, 1).await.unwrap_err().to_string()
    };
    let refusal = list("another", "s3://photos/").await;
    assert!(refusal.ends_with("(the access key of this deployment is not accepted)"), "{refusal}");
    let refusal = list(SECRET, "s3://missing/").await;
    assert!(refusal.ends_with("(the bucket does not exist)"), "{refusal}");
    let refusal = list(SECRET, "s3://photos/empty/").await;
    assert!(refusal.ends_with("s3://photos/empty/"), "{refusal}");
}
