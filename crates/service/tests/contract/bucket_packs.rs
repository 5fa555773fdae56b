//! The objects in a bucket that contain thumbnails and pictures of frames: when they are written and removed.

use std::collections::BTreeSet;

use crate::{
    bucket_pictures::{
        A_DAY_PASSES, FOLDER, OLD, VIDEO, YOUNG, counts, in_bucket, linked, packs, settings,
        storage, thumbnails,
    },
    support::{Place, Service, picture, pictures},
    video::with_frames,
};

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
