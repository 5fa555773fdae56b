//! Files that change after they were indexed. No other bytes pass for the indexed ones, neither behind a link nor in an
//! export, and the next comparison indexes such files again.

use std::{fs, fs::File, path::Path, time::SystemTime};

use reqwest::{Response, header};
use serde_json::{Value, json};
use tessera_model::DatasetId;
use tessera_store::{cluster, media, params, query};
use uuid::Uuid;

use crate::{
    export::{archive, names},
    support::{Place, Service, answer, picture, pictures},
};

/// Replaces the content of a file. If `hidden`, the size and the time stay the same.
fn replace(path: &Path, hidden: bool) {
    let (old, modified) = (fs::read(path).unwrap(), path.metadata().unwrap().modified().unwrap());
    let mut new = picture(1);
    if hidden {
        new = old;
        let last = new.len() - 5;
        new[last] ^= 0x55;
    }
    fs::write(path, new).unwrap();
    if hidden {
        set_modified(path, modified);
    }
}

fn set_modified(path: &Path, time: SystemTime) {
    File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

async fn preview(service: &Service, name: &str) -> Value {
    let body = service.good(&service.explore("threshold=0")).await;
    let clusters = body["clusters"].as_array().unwrap();
    let mut previews =
        clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap()).cloned();
    previews.find(|preview| preview["file_name"] == name).unwrap()
}

async fn get(service: &Service, link: &Value, known: Option<&str>) -> Response {
    let mut request = service.client.get(link.as_str().unwrap());
    if let Some(tag) = known {
        request = request.header(header::IF_NONE_MATCH, tag);
    }
    request.send().await.unwrap()
}

fn text<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers()[name].to_str().unwrap()
}

async fn rescan(service: &Service) -> Value {
    let path = format!("/local/dataset/{}/rescan", service.dataset);
    let (status, body) = answer(service.post(&path)).await;
    assert_eq!(status, 200, "{body}");
    service.deployment.wait_until_idle().await;
    body
}

#[tokio::test]
async fn a_changed_file_is_gone_until_it_is_indexed_again() {
    for hidden in [false, true] {
        let service = Service::of(&pictures(8)).await;
        let link = preview(&service, "p003.png").await["media_uri"].clone();
        let first = get(&service, &link, None).await;
        assert!(text(&first, "cache-control").contains("immutable"));
        let tag = text(&first, "etag").to_owned();
        replace(&service.place.picture("p003.png"), hidden);
        for known in [None, Some(&*tag)] {
            let (status, body) = {
                let response = get(&service, &link, known).await;
                (response.status(), response.json::<Value>().await.unwrap())
            };
            let expected = "The file has changed since it was indexed; rescan its dataset";
            assert_eq!((status.as_u16(), &body["detail"]), (410, &json!(expected)), "{hidden}");
        }
        let expected = json!({"added": 0, "changed": 1, "removed": 0, "indexing": true});
        assert_eq!(rescan(&service).await, expected);
        if hidden {
            continue; // the damaged file is no longer a picture
        }
        let later = get(&service, &link, Some(&tag)).await;
        assert_eq!(
            (later.status().as_u16(), text(&later, "cache-control")),
            (200, "private, no-cache")
        );
        assert_ne!(text(&later, "etag"), tag);
        let link = preview(&service, "p003.png").await["media_uri"].clone();
        let current = get(&service, &link, None).await;
        assert!(text(&current, "cache-control").contains("immutable"));
        assert_eq!(current.bytes().await.unwrap(), picture(1));
    }
}

#[tokio::test]
async fn an_old_link_to_a_thumbnail_is_not_kept_as_its_version() {
    let service = Service::of(&pictures(8)).await;
    let link = preview(&service, "p003.png").await["media_thumb_uri"].clone();
    let tag = text(&get(&service, &link, None).await, "etag").to_owned();
    assert_eq!(get(&service, &link, Some(&tag)).await.status(), 304);
    replace(&service.place.picture("p003.png"), false);
    rescan(&service).await;
    let later = get(&service, &link, Some(&tag)).await;
    assert_eq!(
        (later.status().as_u16(), text(&later, "cache-control")),
        (200, "private, no-cache")
    );
}

#[tokio::test]
async fn a_file_with_another_time_but_the_same_content_is_unchanged() {
    let service = Service::of(&pictures(4)).await;
    let link = preview(&service, "p001.png").await["media_uri"].clone();
    set_modified(&service.place.picture("p001.png"), SystemTime::now());
    assert_eq!(get(&service, &link, None).await.status(), 200);
    let (task, zip) = archive(&service, "file_name=a&export_format=json&include_images=true").await;
    assert_eq!((&task["result_message"], names(&zip).len()), (&json!(null), 5));
}

#[tokio::test]
async fn an_export_leaves_out_removed_files_and_names_them() {
    let service = Service::of(&pictures(4)).await;
    std::fs::remove_file(service.place.picture("p002.png")).unwrap();
    for format in ["json", "webdataset", "hf-parquet", "imagefolder"] {
        let query = format!("file_name=a&export_format={format}&include_images=true");
        let (task, _) = archive(&service, &query).await;
        let message = "1 picture could not be read and was omitted: p002.png";
        assert_eq!(task["result_message"], message, "{format}");
    }
}

#[tokio::test]
async fn an_export_leaves_out_changed_files_and_names_them() {
    let service = Service::of(&pictures(8)).await;
    replace(&service.place.picture("p002.png"), false);
    replace(&service.place.picture("p005.png"), true);
    let query = "file_name=a&export_format=json&include_images=true";
    let (task, zip) = archive(&service, query).await;
    let message = "2 pictures changed after indexing and were omitted: p002.png, p005.png. \
                   Rescan the dataset, and export again";
    assert_eq!(task["result_message"], message);
    let packed = names(&zip);
    assert_eq!(packed.iter().filter(|name| name.starts_with("images/")).count(), 6, "{packed:?}");
    assert!(!packed.contains(&"images/p002.png".to_owned()));
    let expected = json!({"added": 0, "changed": 2, "removed": 0, "indexing": true});
    assert_eq!(rescan(&service).await, expected);
}

#[tokio::test]
async fn rows_of_a_changed_video_or_large_file_are_compared_by_size_and_time() {
    let place = Place::new(&pictures(4));
    let mut large = picture(1);
    large.resize(17 << 20, 0);
    place.put("large.png", &large);
    let service = Service::at(place, true).await;
    let link = preview(&service, "large.png").await["media_uri"].clone();
    assert_eq!(get(&service, &link, None).await.status(), 200);
    let path = service.place.picture("large.png");
    let time = path.metadata().unwrap().modified().unwrap();
    *large.last_mut().unwrap() = 1;
    fs::write(&path, &large).unwrap();
    set_modified(&path, time + std::time::Duration::from_secs(1));
    assert_eq!(get(&service, &link, None).await.status(), 410);
}

#[tokio::test]
async fn the_row_of_a_removed_file_is_given_to_no_other_file() {
    let service = Service::of(&pictures(8)).await;
    let database = service.place.database();
    let sql = "SELECT row, path FROM media ORDER BY row DESC LIMIT 1";
    let (last, path): (i64, Vec<u8>) =
        query::one(&database, sql, params![], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let path = String::from_utf8(path).unwrap();
    let found = &format!("vql=[{{\"path\":{{\"op\":\"is\",\"value\":\"{path}\"}}}}]");
    assert_eq!(service.names(found).await, [&*path]);
    let shown = |dataset| {
        let previews = cluster::previews_of(&database, dataset, &[last]).unwrap();
        (previews.len(), media::pictures_of(&database, dataset, &[last]).unwrap().len())
    };
    assert_eq!(shown(service.dataset), (1, 1));
    assert_eq!(shown(DatasetId(Uuid::nil())), (0, 0), "another dataset");
    // An indexing that has not ended leaves the index as it was.
    query::change(&database, "DELETE FROM media WHERE row = ?1", params![last]).unwrap();
    let columns = "dataset, source, kind, size, modified, content, width, height, hash, sharpness, brightness";
    let sql = format!(
        "INSERT INTO media (id, path, {columns}) SELECT ?1, ?2, {columns} FROM media LIMIT 1"
    );
    let new = b"new.png".to_vec();
    assert_eq!(query::change(&database, &sql, params![Uuid::nil(), new]).unwrap(), 1);
    assert_eq!(service.names(found).await, [""; 0]);
    assert_eq!(shown(service.dataset), (0, 0));
}
