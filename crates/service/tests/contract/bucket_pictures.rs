//! Thumbnails and pictures of frames that are kept in a bucket, and when the objects that contain them are written and
//! removed.

use std::{
    collections::BTreeSet,
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use tessera_encoder::Encoder;
use tessera_media::object_storage::ObjectUri;
use tessera_service::{DeploymentSettings, ModelChoice};
use tessera_store::query;
use tessera_testing::tiny_model::ModelFolder;
use tokio::time::timeout;

use crate::{
    change::plain,
    components::object_storage::fake_s3::{FakeFailure, FakeS3},
    described::scored,
    export,
    support::{Place, Service, picture, pictures},
    video::{with_ffmpeg, with_frames},
};

pub const FOLDER: &str = "team/tessera/pictures/";
/// When the objects of processes that are still running were written.
pub const YOUNG: &str = "2999-01-01T00:00:00.000Z";
pub const OLD: &str = "2026-01-01T00:00:00.000Z";
/// Makes everything that nothing refers to old.
pub const A_DAY_PASSES: &str =
    "UPDATE picture_pack SET unused_since = 1 WHERE unused_since IS NOT NULL";
pub const VIDEO: &[u8] = b"\0\0\0\x20ftypisom and what follows";

/// Storage whose objects are young, as those of workers that are still running.
pub async fn storage() -> FakeS3 {
    let storage = FakeS3::with_objects(&[("team/readme.md", b"-")]).await;
    storage.set_modified(YOUNG);
    storage
}

pub fn in_bucket(storage: &FakeS3, settings: DeploymentSettings) -> DeploymentSettings {
    let bucket = Some(ObjectUri::parse("s3://team/tessera/").unwrap());
    DeploymentSettings { storage: storage.settings(), bucket, ..settings }
}

pub fn settings(storage: &FakeS3) -> DeploymentSettings {
    in_bucket(storage, DeploymentSettings::default())
}

/// The names of the packs.
pub fn packs(storage: &FakeS3) -> Vec<String> {
    storage.names().into_iter().filter(|name| name.starts_with(FOLDER)).collect()
}

/// Twelve pictures, one with two boxes, and a video.
fn place() -> Place {
    let place = Place::new(&pictures(12));
    place.put("film.mp4", VIDEO);
    let row = json!({"file_name": "p004.png", "objects": [
        {"label": "left", "bbox": [0.0, 0.0, 0.5, 1.0]}, {"label": "all", "bbox": [0.0, 0.0, 1.0, 1.0]}]});
    place.put("metadata.jsonl", row.to_string().as_bytes());
    place
}

/// The names and bytes behind the links of all previews.
pub async fn linked(service: &Service, link: &str) -> BTreeSet<(String, Vec<u8>)> {
    let mut found = BTreeSet::new();
    for entity in ["IMAGES", "OBJECTS"] {
        let clusters = service.clusters(&format!("entity_type={entity}&threshold=0")).await;
        let previews = clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap());
        for preview in previews {
            let response =
                service.client.get(preview[link].as_str().unwrap()).send().await.unwrap();
            assert_eq!(response.status(), 200, "{preview}");
            let name = preview["file_name"].as_str().unwrap().to_owned();
            found.insert((name, response.bytes().await.unwrap().to_vec()));
        }
    }
    found
}

pub async fn thumbnails(service: &Service) -> BTreeSet<(String, Vec<u8>)> {
    linked(service, "media_thumb_uri").await
}

/// A link to a thumbnail.
pub async fn thumbnail_link(service: &Service, name: &str) -> String {
    let clusters = service.clusters("threshold=0").await;
    let previews = clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap());
    let preview = previews.into_iter().find(|preview| preview["file_name"] == name).unwrap();
    preview["media_thumb_uri"].as_str().unwrap().to_owned()
}

pub fn counts(place: &Place) -> [i64; 4] {
    ["thumbnail", "frame_picture", "packed_thumbnail", "packed_frame_picture"]
        .map(|table| place.count(table))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_are_kept_in_packs_and_served_as_without_a_bucket() {
    let (storage, tools) = (storage().await, tempfile::tempdir().unwrap());
    let ffmpeg = || with_ffmpeg(tools.path(), &[2, 3, 1]);
    let without = Service::at_with(place(), ffmpeg()).await;
    let service = Service::at_with(place(), in_bucket(&storage, ffmpeg())).await;
    assert_eq!((counts(&without.place), counts(&service.place)), ([17, 3, 0, 0], [0, 0, 17, 3]));
    assert!((1..=9).contains(&packs(&storage).len()), "one for each transaction");
    let (expected, found) = (thumbnails(&without).await, thumbnails(&service).await);
    assert!(found == expected && expected.len() > 14);
    assert!(storage.ranges().len() >= found.len());
    let originals = linked(&service, "media_uri").await;
    assert!(originals == linked(&without, "media_uri").await);
    let link = thumbnail_link(&service, "p004.png").await;
    let headers = [("range", "bytes=10-19")];
    let part = headers
        .iter()
        .fold(service.client.get(&link), |it, (name, value)| it.header(*name, *value));
    let part = part.send().await.unwrap();
    assert_eq!(
        (part.status().as_u16(), part.headers()["cache-control"].to_str().unwrap()),
        (206, "private, max-age=31536000, immutable")
    );
    let query = "file_name=a&export_format=json&include_images=true";
    let (task, mut zip) = export::archive(&service, query).await;
    assert_eq!(task["result_message"], json!(null));
    assert_eq!(export::content(&mut zip, "images/film_000002.jpg"), picture(3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_gets_the_same_pictures_by_few_requests() {
    let (storage, tools) = (storage().await, tempfile::tempdir().unwrap());
    // Thumbnails, or the pictures of frames.
    for folder in [ModelFolder::clip(), ModelFolder::brightest(384)] {
        let model = Arc::new(Encoder::load(folder.path()).unwrap());
        let with_model = || DeploymentSettings {
            model: ModelChoice::Own(model.clone()),
            ..with_ffmpeg(tools.path(), &[2, 3, 1])
        };
        let vectors = |service: &Service| -> Vec<Vec<u8>> {
            let sql = "SELECT vector FROM model_vector JOIN media ON media.row = model_vector.media
                       ORDER BY path, frame, region";
            query::all(&service.place.database(), sql, &[], |row| row.get(0)).unwrap()
        };
        let without = Service::at_with(place(), with_model()).await;
        let before = storage.ranges().len();
        let service = Service::at_with(place(), in_bucket(&storage, with_model())).await;
        assert_eq!(vectors(&without).len(), 17);
        assert!(vectors(&service) == vectors(&without));
        let requests = storage.ranges().len() - before;
        assert!((1..=packs(&storage).len()).contains(&requests), "{requests}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_that_fails_is_reported_and_serves_nothing_wrong() {
    let storage = storage().await;
    let service = Service::at_with(Place::new(&pictures(1)), settings(&storage)).await;
    let link = &thumbnail_link(&service, "p000.png").await;
    let get = async || plain(service.client.get(link)).await;
    let expected = service.client.get(link).send().await.unwrap().bytes().await.unwrap();
    storage.fail_next(vec![FakeFailure::S3Error(503, "SlowDown"); 4]);
    let response = service.client.get(link).send().await.unwrap();
    assert_eq!(
        (response.status().as_u16(), response.headers().contains_key("retry-after")),
        (503, true)
    );
    storage.fail_next([FakeFailure::S3Error(403, "AccessDenied")]);
    let (status, body) = get().await;
    assert_eq!((status, body.contains("access is denied")), (503, true), "{body}");
    let reason = "The object storage cannot be reached; try again later";
    assert!(response.text().await.unwrap().contains(reason));
    storage.fail_next([FakeFailure::Truncated, FakeFailure::S3Error(503, "SlowDown")]);
    assert_eq!(service.client.get(link).send().await.unwrap().bytes().await.unwrap(), expected);
    storage.fail_next(vec![FakeFailure::NoResponse; 4]);
    let begun = Instant::now();
    let (status, body) = timeout(Duration::from_secs(20), get()).await.unwrap();
    assert_eq!((status, body.contains(reason)), (503, true), "{body}");
    assert!(begun.elapsed() > Duration::from_secs(9), "a slow bucket has time");
    storage.recover();
    let pack = &packs(&storage)[0];
    let bytes = storage.object(pack);
    let reason = "The object storage has lost or damaged this picture; restore it from a backup";
    let flipped: Vec<u8> = bytes.iter().map(|byte| byte ^ 1).collect();
    for damaged in [Some(flipped.as_slice()), Some(&bytes[..9]), Some(b""), None] {
        match damaged {
            Some(damaged) => storage.put(pack, damaged),
            None => storage.remove(pack),
        }
        let (status, body) = get().await;
        assert_eq!((status, body.contains(reason)), (500, true), "{body}");
    }
    storage.put(pack, &bytes);
    assert_eq!(service.client.get(link).send().await.unwrap().bytes().await.unwrap(), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_by_a_media_item_reads_its_thumbnail() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    let found = async |service: &Service| {
        let media = service.media("p002.png").await;
        scored(service, &format!("anchor_type=MEDIA&anchor_media_id={media}")).await
    };
    let media = service.media("p002.png").await;
    let query = format!("threshold=0&anchor_type=MEDIA&anchor_media_id={media}");
    storage.fail_next(vec![FakeFailure::S3Error(503, "SlowDown"); 4]);
    let (status, body) = plain(service.get(&service.explore(&query))).await;
    assert_eq!((status, body.contains("try again later")), (503, true), "{body}");
    assert_eq!(found(&service).await, found(&Service::of_pictures().await).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_are_read_from_where_they_are_when_the_bucket_changes() {
    let storage = storage().await;
    let place = Place::new(&pictures(12)).with_store_file();
    let none =
        || DeploymentSettings { storage: storage.settings(), ..DeploymentSettings::default() };
    let service = Service::at_with(place, none()).await;
    let found = thumbnails(&service).await;
    let place = service.stop().await;
    place.put("p012.png", &picture(12));
    let service = Service::at_with(place, settings(&storage)).await;
    assert_eq!(counts(&service.place), [12, 0, 1, 0], "what is in the store stays there");
    assert!(thumbnails(&service).await.is_superset(&found));
    let place = service.stop().await;
    place.put("p001.png", &picture(21));
    let service = Service::at_with(place, settings(&storage)).await;
    assert_eq!(counts(&service.place), [11, 0, 2, 0]);
    let found = thumbnails(&service).await;
    let service = service.again(none()).await;
    assert!(thumbnails(&service).await == found, "the store has the addresses of packs");
    let place = service.stop().await;
    place.put("p012.png", &picture(13));
    fs::remove_file(place.picture("p001.png")).unwrap();
    let service = Service::at_with(place, none()).await;
    assert_eq!(counts(&service.place), [12, 0, 0, 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pack_is_bounded() {
    const MIB: usize = 1 << 20;
    let (storage, tools) = (storage().await, tempfile::tempdir().unwrap());
    // What follows a picture is ignored when it is decoded.
    let frames: Vec<Vec<u8>> = (0..5).map(|n| [picture(n), vec![7; 5 * MIB]].concat()).collect();
    let settings = in_bucket(&storage, with_frames(tools.path(), frames.clone()));
    let service = Service::at_with(Place::new(&[("film.mp4", VIDEO.to_vec())]), settings).await;
    let sizes = packs(&storage).into_iter().map(|name| storage.object(&name).len() / MIB);
    assert_eq!(sizes.collect::<BTreeSet<_>>(), [10, 15].into());
    let served = linked(&service, "media_uri").await.into_iter();
    let served: BTreeSet<Vec<u8>> = served.map(|(_, bytes)| bytes).collect();
    assert!(served == frames.into_iter().collect());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pack_is_removed_a_day_after_its_last_picture() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    let former = packs(&storage);
    let place = service.stop().await;
    place.put("p004.png", &picture(20));
    let service = Service::at_with(place, settings(&storage)).await;
    assert_eq!(counts(&service.place), [0, 0, 12, 0]);
    let (changed, found) = (packs(&storage), thumbnails(&service).await);
    assert_eq!(changed.len(), former.len() + 1);
    storage.set_modified(OLD);
    let service = service.again(settings(&storage)).await;
    assert_eq!(packs(&storage), changed, "the other pictures are still in them");
    let place = service.stop().await;
    for n in (0..12).filter(|n| *n != 4) {
        place.put(&format!("p{n:03}.png"), &picture(n + 24));
    }
    storage.set_modified(YOUNG);
    let service = Service::at_with(place, settings(&storage)).await;
    assert!(thumbnails(&service).await != found);
    let found = thumbnails(&service).await;
    storage.set_modified(OLD);
    let service = service.again(settings(&storage)).await;
    let all: BTreeSet<String> = packs(&storage).into_iter().collect();
    assert!(changed.iter().all(|pack| all.contains(pack)), "a backup may refer to them");
    service.place.change(A_DAY_PASSES);
    let service = service.again(settings(&storage)).await;
    let former = former.into_iter().collect();
    assert_eq!(packs(&storage).into_iter().collect::<BTreeSet<_>>(), &all - &former);
    assert_eq!(service.place.count("picture_pack"), i64::try_from((&all - &former).len()).unwrap());
    assert!(thumbnails(&service).await == found);
    // A deleted dataset leaves nothing.
    let place = service.stop().await;
    place.change("DELETE FROM dataset");
    for _ in 0..2 {
        let deployment = place.open_with(settings(&storage));
        deployment.wait_until_idle().await;
        tokio::task::spawn_blocking(move || drop(deployment)).await.unwrap();
        place.change(A_DAY_PASSES);
    }
    assert_eq!((packs(&storage).len(), place.count("picture_pack")), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pack_without_a_transaction_is_removed_after_a_day() {
    let storage = storage().await;
    let service = Service::with(settings(&storage)).await;
    let known = packs(&storage);
    let (folder, _) = known[0].rsplit_once('/').unwrap();
    storage.put(&format!("{folder}/0c6e62d8-7a35-4a52-9d29-5b1f2f6b8f8e"), b"-");
    let of_others = [
        format!("{folder}/notes.txt"),
        format!("{FOLDER}7b7d7a5e-54a5-4d0c-9c4c-0f1d6a8f3b11/{}", uuid::Uuid::new_v4()),
    ];
    for name in &of_others {
        storage.put(name, b"-");
    }
    let service = service.again(settings(&storage)).await;
    assert_eq!(packs(&storage).len(), known.len() + 3, "its worker may be about to commit");
    storage.set_modified(OLD);
    storage.deny_deletions(true);
    let service = service.again(settings(&storage)).await;
    assert_eq!(packs(&storage).len(), known.len() + 3);
    storage.deny_deletions(false);
    let service = service.again(settings(&storage)).await;
    let left: BTreeSet<String> = packs(&storage).into_iter().collect();
    assert_eq!(left, known.into_iter().chain(of_others).collect());
    assert_eq!(thumbnails(&service).await.len(), 12);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn indexing_fails_while_pictures_cannot_be_written_and_continues_then() {
    let storage = storage().await;
    let place = Place::new(&pictures(12));
    storage.deny_objects(true);
    let service = Service::at_with(place, settings(&storage)).await;
    let record = service.record().await;
    assert_eq!(record["status_new"], "ERROR", "{record}");
    assert!(record.to_string().contains("object storage failed: access is denied"), "{record}");
    assert_eq!(service.place.count("media"), 0);
    let place = service.stop().await;
    storage.deny_objects(false);
    let service = Service::at_with(place, settings(&storage)).await;
    assert_eq!(service.record().await["status_new"], "READY");
    assert_eq!((thumbnails(&service).await.len(), counts(&service.place)), (12, [0, 0, 12, 0]));
}
