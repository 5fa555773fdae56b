//! Images inside Parquet files: in a folder, an upload and an archive, described by the columns beside them, exported
//! as they are.

use std::{collections::BTreeMap, fs, path::Path};

use reqwest::multipart::{Form, Part};
use serde_json::json;
use tessera_model::DatasetId;
use tessera_parquet::ParquetFile;
use tessera_service::{Deployment, DeploymentSettings};

use crate::{
    change::{archived, zip},
    components::object_storage::fake_s3::{FakeFailure, FakeS3},
    described::{found, set, vql},
    export::{archive, content, names},
    support::{Place, Service, picture},
};

/// Six rows in two groups: no image in the third, a damaged one in the fourth, no name in the fifth. The numbers of
/// classes have names.
pub const IMAGES: &[u8] = include_bytes!("../../../parquet/tests/parquet/images/images.parquet");
/// Three rows with the bytes alone, the last without.
const BYTES: &[u8] = include_bytes!("../../../parquet/tests/parquet/images/bytes.parquet");
/// A row with the path of an image, but without the image.
const NO_IMAGE: &[u8] = include_bytes!("../../../parquet/tests/parquet/images/no_image.parquet");
/// A table of names.
const NAMES: &[u8] = include_bytes!("../../../parquet/tests/parquet/images/names.parquet");

fn image(parquet: &[u8], row: u64) -> Vec<u8> {
    let file = ParquetFile::open(parquet.to_vec()).unwrap();
    let (_, column) = file.file_columns().into_iter().find(|(name, _)| name == "image").unwrap();
    file.files(column, row - 1, 1).unwrap().concat().remove(0).unwrap()
}

async fn originals(service: &Service) -> BTreeMap<String, Vec<u8>> {
    let mut originals = BTreeMap::new();
    for cluster in service.clusters("threshold=0").await {
        for preview in cluster["previews"].as_array().unwrap() {
            let link = preview["media_uri"].as_str().unwrap();
            let bytes = service.client.get(link).send().await.unwrap().bytes().await.unwrap();
            originals.insert(preview["file_name"].as_str().unwrap().to_owned(), bytes.to_vec());
        }
    }
    originals
}

fn skipped(service: &Service) -> Vec<(String, String)> {
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    skipped.into_iter().map(|file| (file.file.to_string(), file.reason.to_string())).collect()
}

fn files() -> [(&'static str, Vec<u8>); 4] {
    [
        ("plain.png", picture(0)),
        ("train/images.parquet", IMAGES.to_vec()),
        ("wall/bytes.parquet", BYTES.to_vec()),
        ("names.parquet", NAMES.to_vec()),
    ]
}

#[tokio::test]
async fn rows_with_an_image_are_media_items_and_others_are_named() {
    let service = Service::at_with(Place::new(&files()), DeploymentSettings::default()).await;
    assert_found(&service).await;
}

async fn assert_found(service: &Service) {
    let expected = [
        ("000001-red.png", image(IMAGES, 1)),
        ("000001.png", image(BYTES, 1)),
        ("000002-green.png", image(IMAGES, 2)),
        ("000002.png", image(BYTES, 2)),
        ("000005.png", image(IMAGES, 5)),
        ("000006-yellow.png", image(IMAGES, 6)),
        ("plain.png", picture(0)),
    ];
    let expected: BTreeMap<String, Vec<u8>> =
        expected.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
    // Equal images are in one cluster, but each has a preview.
    assert_eq!(originals(service).await, expected);
    let skipped = skipped(service);
    let reasons: Vec<_> =
        skipped.iter().map(|(file, reason)| (file.as_str(), reason.as_str())).collect();
    let no_images = "not a Parquet file with images";
    let no_image = "cannot be read (the row has no image)";
    assert_eq!(reasons[0], ("names.parquet", no_images));
    assert_eq!(reasons[1], ("train/images.parquet/000003.png", no_image));
    assert_eq!(reasons[2].0, "train/images.parquet/000004-broken.png");
    assert!(reasons[2].1.starts_with("not a picture"), "{reasons:?}");
    assert_eq!(reasons[3..], [("wall/bytes.parquet/000003.png", no_image)]);
    let caption = vql(&json!([{"text": {"op": "fts", "value": "green hill"}}]));
    assert_eq!(found(service, &caption).await, set(&["000002-green.png"]));
    let labeled = |name: &str| vql(&json!([{"labels": {"op": "one_of", "value": [name]}}]));
    assert_eq!(found(service, &labeled("nature")).await, set(&["000002-green.png", "000005.png"]));
    // Its own label, and the name of the folder where there is none.
    assert_eq!(
        found(service, &labeled("wall")).await,
        set(&["000001-red.png", "000001.png", "000002.png", "000006-yellow.png"])
    );
}

#[tokio::test]
async fn rows_are_read_again_only_if_their_file_changes() {
    let files = [("images.parquet", IMAGES.to_vec())];
    let service = Service::at_with(Place::new(&files), DeploymentSettings::default()).await;
    assert_eq!(service.record().await["n_images"], 4);
    let indexing_tasks = service.place.count("indexing_task");
    let service = service.again(DeploymentSettings::default()).await;
    let place = service.stop().await;
    let deployment = place.open();
    place.add(&deployment);
    deployment.wait_until_idle().await;
    assert_eq!(place.count("indexing_task"), indexing_tasks);
    drop(deployment);
    place.put("images.parquet", BYTES);
    let service = Service::at_with(place, DeploymentSettings::default()).await;
    let files: Vec<String> = originals(&service).await.into_keys().collect();
    assert_eq!(files, ["000001.png", "000002.png"]);
}

#[tokio::test]
async fn uploaded_parquet_files_add_their_images_and_exports_contain_them() {
    let service = Service::of_pictures().await;
    let part = Part::bytes(BYTES.to_vec()).file_name("bytes.parquet");
    service.added(Form::new().part("files", part)).await;
    service.added(archived("a.zip", zip(&[("deep/b.parquet".to_owned(), IMAGES.to_vec())]))).await;
    assert_eq!(service.reindex().await.0, 202);
    service.deployment.wait_until_idle().await;
    assert_eq!(service.record().await["n_images"], 12 + 2 + 4);
    let query = "file_name=a&export_format=json&include_images=true";
    let (_, mut exported) = archive(&service, query).await;
    for (name, bytes) in [("000002.png", image(BYTES, 2)), ("000006-yellow.png", image(IMAGES, 6))]
    {
        let path = names(&exported).into_iter().find(|path| path.ends_with(name)).unwrap();
        assert_eq!(content(&mut exported, &path), bytes, "{name}");
    }
}

/// Two rows with a list of images in the column `views`, which is declared as such, with a caption, a class, and
/// objects in the column `found`.
const FEATURES: &[u8] = include_bytes!("../../../parquet/tests/parquet/images/features.parquet");

#[tokio::test]
async fn the_types_of_columns_decide() {
    let files = [("features.parquet", FEATURES.to_vec())];
    let service = Service::at_with(Place::new(&files), DeploymentSettings::default()).await;
    let names: Vec<String> = originals(&service).await.into_keys().collect();
    assert_eq!(names, ["000001.1-left.png", "000001.2-right.png", "000002.1-far.png"]);
    let both = set(&["000001.1-left.png", "000001.2-right.png"]);
    let caption = vql(&json!([{"text": {"op": "fts", "value": "boat"}}]));
    assert_eq!(found(&service, &caption).await, both);
    let labeled = |name: &str| vql(&json!([{"labels": {"op": "one_of", "value": [name]}}]));
    assert_eq!(found(&service, &labeled("sea")).await, both);
    assert_eq!(found(&service, &labeled("hill")).await, set(&["000002.1-far.png"]));
    assert_eq!(service.record().await["n_objects"], 2);
}

/// Two rows without types. Their columns `content` and `preview` are bytes of pictures, and `digest` is other bytes.
const CONTENT: &[u8] = include_bytes!("../../../parquet/tests/parquet/images/content.parquet");

#[tokio::test]
async fn without_types_the_first_column_of_pictures_is_read_and_others_are_named() {
    let files = [("content.parquet", CONTENT.to_vec())];
    let service = Service::at_with(Place::new(&files), DeploymentSettings::default()).await;
    let names: Vec<String> = originals(&service).await.into_keys().collect();
    assert_eq!(names, ["000001.png", "000002.png"]);
    let why = "columns not kept: digest, preview (pictures in this column are not read)";
    assert_eq!(skipped(&service), [("content.parquet".to_owned(), why.to_owned())]);
}

const FOLDER: &str = "s3://team/set/";

/// Opens the bucket with what is in it, and waits until it is indexed.
async fn indexed(place: &Place, storage: &FakeS3) -> (Deployment, DatasetId) {
    let settings = storage.settings();
    let settings = DeploymentSettings { storage: settings, ..DeploymentSettings::default() };
    let deployment = place.open_with(settings);
    let dataset = deployment.add_folder(Path::new(FOLDER), Some("demo")).unwrap();
    deployment.wait_until_idle().await;
    (deployment, dataset)
}

async fn bucket() -> FakeS3 {
    let storage = FakeS3::with_objects(&[]).await;
    for (name, bytes) in files() {
        storage.put(&format!("team/set/{name}"), &bytes);
    }
    storage
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_in_object_storage_are_media_items_too() {
    let (storage, place) = (bucket().await, Place::new(&[]));
    let (deployment, dataset) = indexed(&place, &storage).await;
    let service = Service::serve(place, deployment, dataset, true).await;
    assert_found(&service).await;
    let query = "file_name=a&export_format=json&include_images=true";
    let (_, mut exported) = archive(&service, query).await;
    let path = names(&exported).into_iter().find(|path| path.ends_with("000006-yellow.png"));
    assert_eq!(content(&mut exported, &path.unwrap()), image(IMAGES, 6));
    let uploads = service.place.data.path().join("uploads");
    assert_eq!(fs::read_dir(uploads).unwrap().count(), 0, "nothing stays on disk");

    let place = service.stop().await;
    let indexing_tasks = place.count("indexing_task");
    drop(indexed(&place, &storage).await);
    assert_eq!(place.count("indexing_task"), indexing_tasks, "it has not changed");
    storage.put("team/set/train/images.parquet", BYTES);
    drop(indexed(&place, &storage).await);
    assert_eq!(place.count("indexing_task"), indexing_tasks + 1);
    assert_eq!(place.count("media WHERE kind = 'IMAGE'"), 1 + 2 + 2);
    storage.remove("team/set/wall/bytes.parquet");
    drop(indexed(&place, &storage).await);
    assert_eq!(place.count("media WHERE kind = 'IMAGE'"), 1 + 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storage_that_fails_ends_the_operation_and_loses_no_row() {
    let (storage, place) = (bucket().await, Place::new(&[]));
    // The check, the listing of four objects, and the description of the first table.
    storage.fail_next(vec![FakeFailure::None; 3]);
    storage.fail_next([FakeFailure::S3Error(403, "InvalidAccessKeyId")]);
    drop(indexed(&place, &storage).await);
    let named = "dataset WHERE status = 'ERROR' AND fatal_error LIKE '%names.parquet: %'";
    assert_eq!(place.count(named), 1);
    // Connections that break are resumed.
    storage.fail_next(vec![FakeFailure::None; 3]);
    storage.fail_next(vec![FakeFailure::Truncated; 5]);
    drop(indexed(&place, &storage).await);
    assert_eq!(place.count("dataset WHERE status = 'READY'"), 1);
    assert_eq!(place.count("media WHERE kind = 'IMAGE'"), 7);
}

#[tokio::test]
async fn a_folder_whose_only_row_has_no_image_says_so() {
    let place = Place::new(&[("train.parquet", NO_IMAGE.to_vec())]);
    let deployment = place.open();
    let refusal = deployment.add_folder(place.pictures.path(), None).unwrap_err().to_string();
    assert!(refusal.contains("the only file in "), "{refusal}");
    assert!(refusal.contains("(train.parquet/000001-a.jpg: the row has no image)"), "{refusal}");
}
