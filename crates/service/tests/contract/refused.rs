//! Errors of `add_media` (400, 403, 409, 422 and 500), which leave nothing behind.

use std::time::Duration;

use reqwest::multipart::{Form, Part};
use serde_json::json;
use tessera_service::{DeploymentSettings, InjectedFailure};

use crate::{
    change::{archived, detail, uploads, zip},
    support::{Place, Service, picture, pictures},
};

const ONE_SOURCE: &str = "Exactly one media source must be provided: files[], s3_uri, or archive";

/// A rejected request leaves nothing: no indexing task, no staged file, no change of status.
async fn assert_untouched(service: &Service) {
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(12)));
    assert_eq!(service.place.count("indexing_task WHERE kind <> 'DATASET_CREATION'"), 0);
    let uploads = service.place.data.path().join("uploads");
    let left = std::fs::read_dir(uploads).map_or(0, Iterator::count);
    assert_eq!(left, 0, "staging folders");
}

#[tokio::test]
async fn there_is_exactly_one_source() {
    let service = Service::of_pictures().await;
    let archive = || Part::bytes(zip(&[])).file_name("a.zip");
    let file = || Part::bytes(picture(12)).file_name("a.png");
    for form in [
        Form::new(),
        Form::new().text("auto_reindex", "true"),
        Form::new().text("s3_uri", ""),
        uploads(12..13).text("s3_uri", "s3://bucket/a"),
        uploads(12..13).part("archive", archive()),
        Form::new().part("archive", archive()).text("s3_uri", "s3://bucket/a"),
        Form::new().part("archive", archive()).part("files", file()),
        Form::new().text("s3_uri", "s3://bucket/a").part("files", file()),
    ] {
        assert_eq!(service.add(form).await, (400, json!({"detail": ONE_SOURCE}).to_string()));
    }
    assert_untouched(&service).await;
}

#[tokio::test]
async fn archives_are_checked_by_name_and_content() {
    let service = Service::of_pictures().await;
    for (name, bytes, words) in [
        ("a.rar", zip(&[]), "The archive must be a .zip, .tar, .tar.gz, .tar.xz or .tar.zst file"),
        ("a.tgz", zip(&[]), "The archive must be a .zip, .tar, .tar.gz, .tar.xz or .tar.zst file"),
        ("a.png", zip(&[]), "The archive must be a .zip, .tar, .tar.gz, .tar.xz or .tar.zst file"),
        ("a", zip(&[]), "The archive must be a .zip, .tar, .tar.gz, .tar.xz or .tar.zst file"),
        ("a.zip", b"no archive at all".to_vec(), "The archive is not a .zip file"),
        ("a.tar.gz", zip(&[]), "The archive is not a .tar.gz file"),
        ("a.tar.xz", zip(&[]), "The archive is not a .tar.xz file"),
        ("a.tar.zst", zip(&[]), "The archive is not a .tar.zst file"),
    ] {
        let (status, body) = service.add(archived(name, bytes)).await;
        assert_eq!((status, detail(&body)), (400, json!(words)), "{name}");
    }
    assert_untouched(&service).await;
}

#[tokio::test]
async fn a_field_occurs_once() {
    let service = Service::of_pictures().await;
    let uri = || Form::new().text("s3_uri", "s3://bucket/a");
    let archive = |bytes: Vec<u8>| Part::bytes(bytes).file_name("a.zip");
    for (form, name) in [
        (uri().text("s3_uri", "s3://bucket/a"), "s3_uri"),
        (uri().text("use_spot", "true").text("use_spot", ""), "use_spot"),
        (
            Form::new().part("archive", archive(zip(&[]))).part("archive", archive(Vec::new())),
            "archive",
        ),
    ] {
        let (status, body) = service.add(form).await;
        let message = format!("The field '{name}' was given more than once");
        assert_eq!((status, detail(&body)), (400, json!(message)));
    }
    assert_untouched(&service).await;
}

#[tokio::test]
async fn a_nameless_file_must_be_empty_and_a_text_short() {
    let service = Service::of_pictures().await;
    let nameless = Form::new().part("files", Part::bytes(b"x".to_vec()).file_name(""));
    let (status, body) = service.add(nameless).await;
    assert_eq!((status, &detail(&body)[0]["loc"]), (422, &json!(["body", "files"])));
    assert_eq!(service.add(Form::new().text("s3_uri", "x".repeat(5_000))).await.0, 413);
    let raw = Form::new().part("s3_uri", Part::bytes(vec![b'?', 0xFF, b'?']));
    let (status, body) = service.add(raw).await;
    assert_eq!((status, &detail(&body)[0]["loc"]), (422, &json!(["body", "s3_uri"])));
    assert_untouched(&service).await;
}

#[tokio::test]
async fn without_an_embedding_configuration_there_is_nothing_to_add_to() {
    let torn = picture(1)[..60].to_vec();
    let service = Service::of(&[("torn.png", torn)]).await;
    let (status, body) = service.add(uploads(0..1)).await;
    assert_eq!(status, 400, "{body}");
    let id = service.dataset;
    let words = detail(&body);
    let words = words.as_str().unwrap();
    assert!(words.starts_with(&format!("Dataset {id} has no embedding_config")), "{words}");
}

#[tokio::test]
async fn a_dataset_that_is_indexed_for_the_first_time_is_busy() {
    let simulated_delay = Duration::from_secs(20);
    let place = Place::new(&pictures(4));
    let deployment =
        place.open_with(DeploymentSettings { simulated_delay, ..DeploymentSettings::default() });
    let dataset = place.add(&deployment);
    let service = Service::serve(place, deployment, dataset, true).await;
    let (status, body) = service.add(uploads(0..1)).await;
    assert_eq!(status, 409, "{body}");
}

#[tokio::test]
async fn the_feature_and_write_access_are_different_403() {
    let off = DeploymentSettings { add_media: false, ..DeploymentSettings::default() };
    let service = Service::with(off).await;
    let words = r#"{"detail":"Add media feature is not enabled"}"#;
    assert_eq!(service.add(uploads(12..13)).await, (403, words.to_owned()));
    assert_untouched(&service).await;

    let read_only = DeploymentSettings { write_access: false, ..DeploymentSettings::default() };
    let service = Service::with(read_only).await;
    let (status, body) = service.add(uploads(12..13)).await;
    assert_eq!(status, 403);
    assert!(detail(&body).as_str().unwrap().contains("write access"), "{body}");
    let (status, body) = service.reindex().await;
    assert_eq!(status, 403);
    assert!(detail(&body).as_str().unwrap().contains("write access"), "{body}");
    assert_untouched(&service).await;
    service.good(&service.explore("")).await;
}

#[tokio::test]
async fn in_the_order_of_the_document() {
    let nothing = DeploymentSettings {
        add_media: false,
        write_access: false,
        ..DeploymentSettings::default()
    };
    let service = Service::with(nothing).await;
    service.set_status("ERROR");
    let (status, body) = service.add(Form::new()).await;
    assert_eq!((status, detail(&body)), (403, json!("Add media feature is not enabled")));
}

#[tokio::test]
async fn invalid_fields_are_422_with_their_name() {
    let service = Service::of_pictures().await;
    for (name, value) in [
        ("auto_reindex", "maybe"),
        ("assume_role", "reader"),
        ("assume_role", "arn:aws:iam::12:role/x"),
        ("batch_n_videos", "-1"),
        ("batch_n_images", "1.5"),
        ("batch_n_objects", "many"),
        ("batch_n_objects", "9999999999"),
        ("use_spot", "2"),
    ] {
        let (status, body) = service.add(uploads(12..13).text(name, value)).await;
        assert_eq!(status, 422, "{name}: {body}");
        let words = detail(&body);
        assert_eq!(words[0]["loc"], json!(["body", name]));
        assert_eq!(words[0]["input"], value);
        assert!(words[0]["msg"].is_string() && words[0]["type"].is_string(), "{words}");
    }
    let list = Form::new().part("files[]", Part::bytes(picture(1)).file_name("a.png"));
    let (status, body) = service.add(list).await;
    let words = detail(&body);
    assert_eq!((status, &words[0]["loc"]), (422, &json!(["body", "files"])));
    assert_eq!(words[0]["type"], "missing");
    let (status, body) = service.add(Form::new().text("files", "a.png")).await;
    assert_eq!((status, &detail(&body)[0]["loc"]), (422, &json!(["body", "files"])));
    assert_untouched(&service).await;
}

#[tokio::test]
async fn a_failed_upload_and_a_failed_trigger_are_500() {
    for (failing, word) in
        [(InjectedFailure::Upload, "upload"), (InjectedFailure::Trigger, "trigger")]
    {
        let service = Service::failing(failing).await;
        let (status, body) = service.add(uploads(12..13)).await;
        assert_eq!(status, 500, "{body}");
        assert!(detail(&body).as_str().unwrap().contains(word), "{body}");
        assert_untouched(&service).await;
    }
}

#[tokio::test]
async fn a_data_folder_that_cannot_be_written_is_500_without_its_path() {
    let service = Service::at(Place::new(&pictures(12)), true).await;
    let uploads_folder = service.place.data.path().join("uploads");
    // A file in place of the folder stops even root.
    let _ = std::fs::remove_dir_all(&uploads_folder);
    std::fs::write(&uploads_folder, "in the way").unwrap();
    let (status, body) = service.add(uploads(12..13)).await;
    std::fs::remove_file(&uploads_folder).unwrap();
    assert_eq!(status, 500, "{body}");
    assert!(detail(&body).as_str().unwrap().starts_with("The upload could not be stored"));
    assert!(!body.contains(service.place.data.path().to_str().unwrap()), "{body}");
    assert_untouched(&service).await;
}
