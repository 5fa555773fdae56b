//! The files of search indexes: derived from the store, used by later starts, and never needed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tessera_media::ingest::disk_quota::DiskQuota;
use tessera_service::DeploymentSettings;

use crate::{
    change::uploads,
    described::{self, vql},
    support::{Place, Service},
};

/// The ranked results of searches of every kind, of images and of objects.
async fn results(service: &Service) -> Vec<Value> {
    let similar = format!("anchor_type=MEDIA&anchor_media_id={}", anchor(service).await);
    let labels = json!([{"labels": {"op": "one_of", "value": ["sea", "door"]}}]);
    let words = json!([{"text": {"op": "fts", "value": "red OR boat"}}]);
    let mut results = Vec::new();
    for entity in ["IMAGES", "OBJECTS"] {
        for query in ["caption=boat%20sea", &similar, &vql(&labels), &vql(&words)] {
            let query = format!("entity_type={entity}&threshold=0&{query}");
            let mut page = service.good(&service.explore(&query)).await;
            // Each response has links of its own.
            remove_links(&mut page);
            results.push(page);
        }
    }
    results
}

async fn anchor(service: &Service) -> String {
    let first = &service.clusters("threshold=0").await[0]["previews"][0]["media_id"];
    first.as_str().unwrap().to_owned()
}

fn remove_links(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("_uri"));
            fields.values_mut().for_each(remove_links);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_links),
        _ => {}
    }
}

/// All files of the indexes in a data folder.
fn files(place: &Place) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let folders = entries(&place.data.path().join("indexes"));
    let mut files: Vec<_> = folders.iter().flat_map(|folder| entries(folder)).collect();
    files.sort();
    files
}

async fn restarted(place: Place) -> Service {
    Service::at(place, true).await
}

#[tokio::test]
async fn a_later_start_searches_the_files_of_an_earlier_one() {
    let service = described::served().await;
    let expected = results(&service).await;
    let place = service.stop().await;
    assert_eq!(files(&place).len(), 12, "six of the images, six of the objects");
    place.database().execute_batch("DELETE FROM text_vector; DELETE FROM place").unwrap();
    let service = restarted(place).await;
    assert_eq!(results(&service).await, expected);
}

#[tokio::test]
async fn an_operation_that_ends_writes_the_files_for_the_first_search() {
    let service = described::served().await;
    let first = files(&service.place);
    assert_eq!(first.len(), 12, "nothing was searched yet");
    service.added(uploads(12..14)).await;
    let second = files(&service.place);
    assert!(second.len() == 12 && second.iter().all(|file| !first.contains(file)), "{second:?}");
    let place = service.stop().await;
    fs::remove_dir_all(place.data.path().join("indexes")).unwrap();
    let unprepared = DeploymentSettings { prepare_indexes: false, ..DeploymentSettings::default() };
    let service = Service::at_with(place, unprepared).await;
    assert!(!service.place.data.path().join("indexes").exists());
    let place = service.stop().await;
    let service = restarted(place).await;
    assert_eq!(files(&service.place), second, "a start writes what is missing");
    let names = service.names("caption=boat").await;
    assert!(!names.is_empty());
    assert_eq!(files(&service.place), second);
}

#[tokio::test]
async fn damaged_and_missing_files_are_replaced() {
    let service = described::served().await;
    let expected = results(&service).await;
    let mut place = service.stop().await;
    let damages: [fn(&Path); 3] = [
        |file| {
            let mut bytes = fs::read(file).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(file, bytes).unwrap();
        },
        |file| fs::write(file, "").unwrap(),
        |file| fs::remove_file(file).unwrap(),
    ];
    for (number, damage) in damages.iter().enumerate() {
        let all = files(&place);
        damage(&all[number]);
        damage(&all[number + 3]);
        damage(&all[number + 6]);
        let service = restarted(place).await;
        assert_eq!(results(&service).await, expected, "{number}");
        place = service.stop().await;
        assert_eq!(files(&place), all, "{number}");
    }
}

#[tokio::test]
async fn a_file_that_is_truncated_while_it_is_searched_is_reported_once_and_replaced() {
    let service = described::served().await;
    let query = format!("anchor_type=MEDIA&anchor_media_id={}", anchor(&service).await);
    let similar = |granularity| service.explore(&format!("threshold={granularity}&{query}"));
    service.good(&similar(0)).await;
    for file in files(&service.place).iter().filter(|file| file.ends_with("descriptors")) {
        fs::File::options().write(true).open(file).unwrap().set_len(0).unwrap();
    }
    let (status, body) = service.json(&similar(1)).await;
    assert_eq!(status, 500, "{body}");
    service.good(&similar(1)).await;
}

#[tokio::test]
async fn files_of_another_version_are_replaced_at_the_start() {
    let service = described::served().await;
    let expected = results(&service).await;
    let place = service.stop().await;
    let members: Vec<PathBuf> =
        files(&place).into_iter().filter(|file| file.ends_with("members")).collect();
    let current: Vec<Vec<u8>> = members.iter().map(|file| fs::read(file).unwrap()).collect();
    for (file, bytes) in members.iter().zip(&current) {
        fs::write(file, [&3_u64.to_ne_bytes(), &bytes[size_of::<u64>()..]].concat()).unwrap();
    }
    let service = restarted(place).await;
    for (file, bytes) in members.iter().zip(&current) {
        assert_eq!(fs::read(file).unwrap()[..8], bytes[..8]);
    }
    assert_eq!(results(&service).await, expected);
}

#[tokio::test]
async fn files_of_older_generations_are_removed() {
    let service = described::served().await;
    results(&service).await;
    let older = files(&service.place);
    service.added(uploads(12..14)).await;
    assert_eq!(service.reindex().await.0, 202);
    service.deployment.wait_until_idle().await;
    results(&service).await;
    let newer = files(&service.place);
    assert_eq!(newer.len(), older.len());
    assert!(newer.iter().all(|file| !older.contains(file)), "{newer:?}");

    let place = service.stop().await;
    let left_behind = place.data.path().join("indexes/.tmpabc");
    fs::create_dir(&left_behind).unwrap();
    restarted(place).await;
    assert!(!left_behind.exists());
}

#[tokio::test]
async fn without_disk_space_the_index_is_in_memory() {
    let service = described::served().await;
    let expected = results(&service).await;
    let place = service.stop().await;
    fs::remove_dir_all(place.data.path().join("indexes")).unwrap();
    let disk = DiskQuota::with_reserve(u64::MAX);
    let settings = DeploymentSettings { disk, ..DeploymentSettings::default() };
    let service = Service::at_with(place, settings).await;
    assert_eq!(results(&service).await, expected);
    assert!(files(&service.place).is_empty());
}
