//! Images and thumbnails by their links.

use serde_json::Value;

use crate::support::{Place, Service, picture, pictures};

async fn preview(service: &Service) -> Value {
    service.good(&service.explore("threshold=0")).await["clusters"][0]["previews"][0].clone()
}

#[tokio::test]
async fn links_open_without_login_and_show_what_is_in_the_folder() {
    let service = Service::of(&[("a.png", picture(3))]).await;
    let preview = preview(&service).await;
    let original = service.client.get(preview["media_uri"].as_str().unwrap());
    let original = original.send().await.unwrap();
    assert_eq!(original.status(), 200);
    assert_eq!(original.headers()["content-type"], "image/png");
    assert_eq!(original.headers()["x-content-type-options"], "nosniff");
    assert_eq!(original.headers()["content-security-policy"], "default-src 'none'");
    assert_eq!(original.headers()["content-disposition"], "inline; filename*=UTF-8''a.png");
    let tag = original.headers()["etag"].clone();
    assert_eq!(original.bytes().await.unwrap(), picture(3));
    let thumbnail = service.client.get(preview["media_thumb_uri"].as_str().unwrap());
    let thumbnail = thumbnail.send().await.unwrap();
    assert_eq!(thumbnail.headers()["content-type"], "image/jpeg");
    let bytes = thumbnail.bytes().await.unwrap();
    assert!(image::load_from_memory(&bytes).unwrap().width() <= 256);
    let tag = tag.to_str().unwrap();
    let weak = format!("W/{tag}");
    for (header, tags, status) in [
        ("if-none-match", tag.to_owned(), 304),
        ("if-none-match", weak.clone(), 304),
        ("if-none-match", format!("\"a\", {weak}"), 304),
        ("if-none-match", "*".to_owned(), 304),
        ("if-none-match", "W/\"a\"".to_owned(), 200),
        ("if-match", format!("\"a\", {tag}"), 200),
        ("if-match", "*".to_owned(), 200),
        ("if-match", "\"a\"".to_owned(), 412),
        ("if-match", weak, 412),
    ] {
        let again = service.client.get(preview["media_uri"].as_str().unwrap());
        let again = again.header(header, &tags).send().await.unwrap();
        assert_eq!(again.status(), status, "{header}: {tags}");
    }
}

#[tokio::test]
async fn ranges_of_every_form_are_served() {
    let service = Service::of(&[("a.png", picture(3))]).await;
    let preview = preview(&service).await;
    let whole = picture(3);
    let length = whole.len();
    for (range, expected) in [
        ("bytes=0-0", 0..1),
        ("bytes=2-", 2..length),
        ("bytes=-3", length - 3..length),
        ("bytes=-99999", 0..length),
        ("bytes=5-99999", 5..length),
        ("bytes=0-18446744073709551615", 0..length),
        ("bytes=99999-", 0..0),
        (format!("bytes={length}-").as_str(), 0..0),
        ("bytes=-0", 0..0),
    ] {
        let request = service.client.get(preview["media_uri"].as_str().unwrap());
        let response = request.header("range", range).send().await.unwrap();
        let status = if expected.is_empty() { 416 } else { 206 };
        assert_eq!(response.status(), status, "{range}");
        let body = response.bytes().await.unwrap();
        assert_eq!(body, whole[expected], "{range}");
    }
    for range in ["bytes=3-2", "bytes=0-1,3-4", "bytes=-", "lines=1-2"] {
        let request = service.client.get(preview["media_uri"].as_str().unwrap());
        let response = request.header("range", range).send().await.unwrap();
        assert_eq!(response.status(), 200, "{range}");
        assert_eq!(response.bytes().await.unwrap(), whole, "{range}");
    }
}

#[tokio::test]
async fn names_are_escaped_in_headers() {
    let service = Service::of(&[("ä \"x\"\r\nSet-Cookie: a.png", picture(3))]).await;
    let uri = preview(&service).await["media_uri"].as_str().unwrap().to_owned();
    let response = service.client.get(uri).send().await.unwrap();
    assert_eq!(
        response.headers()["content-disposition"],
        "inline; filename*=UTF-8''%C3%A4%20%22x%22%0D%0ASet-Cookie%3A%20a.png"
    );
}

#[tokio::test]
async fn forged_links_are_rejected() {
    let service = Service::of_pictures().await;
    let uri = preview(&service).await["media_uri"].as_str().unwrap().to_owned();
    let (resource, _) = uri.split_once('?').unwrap();
    let code = async |uri: &str| service.client.get(uri).send().await.unwrap().status().as_u16();
    assert_eq!(code(resource).await, 401);
    assert_eq!(code(&format!("{resource}?signature=AAAAAAAAAAAAAAAAAAAAAA")).await, 403);
    assert_eq!(code(&format!("{uri}x")).await, 403);
    let with_login = service.client.get(resource).bearer_auth(service.token());
    assert_eq!(with_login.send().await.unwrap().status(), 200);
    let other = service.url("/media/00000000-0000-0000-0000-000000000000/0/original");
    assert_eq!(
        service.client.get(other).bearer_auth(service.token()).send().await.unwrap().status(),
        404
    );
}

#[tokio::test]
async fn files_replaced_by_symlinks_are_not_followed() {
    let place = Place::new(&pictures(2));
    let secret = place.data.path().join("secret.png");
    std::fs::write(&secret, "secret").unwrap();
    let service = Service::at(place, true).await;
    let body = service.good(&service.explore("threshold=0")).await;
    for name in ["p000.png", "p001.png"] {
        std::fs::remove_file(service.place.picture(name)).unwrap();
        std::os::unix::fs::symlink(&secret, service.place.picture(name)).unwrap();
    }
    for cluster in body["clusters"].as_array().unwrap() {
        let uri = cluster["previews"][0]["media_uri"].as_str().unwrap();
        assert_eq!(service.client.get(uri).send().await.unwrap().status(), 404);
    }
}
