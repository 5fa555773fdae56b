//! `POST add_media`: every source, the dataset afterwards, and added media over time: after a restart, folder changes, a
//! new extractor version, and in an export started before.

use std::{collections::BTreeSet, fs, sync::Arc, time::Duration};

use parquet::{
    data_type::{ByteArray, ByteArrayType},
    file::writer::SerializedFileWriter,
    schema::parser::parse_message_type,
};
use reqwest::multipart::Form;
use serde_json::{Value, json};
use tessera_service::DeploymentSettings;

use crate::{
    bucket::Bucket,
    change::{archived, gzip, new, tar, uploads, zip},
    support::{Service, assert_no_path, picture},
};

/// The dataset after adding three images; it now has `images`.
async fn assert_three_came(service: &Service, images: usize) {
    let record = service.record().await;
    assert_eq!(record["status_new"], "PARTIAL INDEX", "{record}");
    assert_eq!((&record["n_images"], &record["progress"]), (&json!(images), &json!(100)));
    let names = service.names("").await;
    assert_eq!(names.len(), images, "{names:?}");
    for name in ["n012.png", "n013.png", "n014.png"] {
        let last = &names[images - 3..];
        assert!(last.iter().any(|named| named == name), "{name} after the old: {names:?}");
    }
}

fn ids(clusters: &[Value]) -> Vec<&Value> {
    clusters.iter().map(|cluster| &cluster["cluster_id"]).collect()
}

#[tokio::test]
async fn uploaded_files_are_visible_immediately_after_the_old_clusters() {
    let service = Service::of_pictures().await;
    let mut before = Vec::new();
    for level in 0..5 {
        before.push(service.clusters(&format!("threshold={level}")).await);
    }
    service.added(uploads(12..15)).await;
    assert_three_came(&service, 15).await;
    for (level, old) in before.iter().enumerate() {
        let all = service.clusters(&format!("threshold={level}")).await;
        assert_eq!(&all[..old.len()], old, "untouched at {level}");
        let new = &all[old.len()..];
        let count: u64 = new.iter().map(|cluster| cluster["n_images"].as_u64().unwrap()).sum();
        assert_eq!(count, 3, "a batch of its own at {level}");
        let new_ids = ids(new);
        assert!(new_ids.iter().all(|id| !ids(old).contains(id)), "{new_ids:?}");
        for cluster in new {
            for preview in cluster["previews"].as_array().unwrap() {
                let picture = service.client.get(preview["media_uri"].as_str().unwrap());
                let bytes = picture.send().await.unwrap().bytes().await.unwrap();
                let name = preview["file_name"].as_str().unwrap();
                let (_, sent) = new_pictures().into_iter().find(|(n, _)| n == name).unwrap();
                assert_eq!(bytes, sent, "{name}");
                let thumb = service.client.get(preview["media_thumb_uri"].as_str().unwrap());
                assert_eq!(thumb.send().await.unwrap().headers()["content-type"], "image/jpeg");
            }
        }
    }
    assert_no_path(&service.record().await, &service.place);
}

fn new_pictures() -> Vec<(String, Vec<u8>)> {
    new(12..15)
}

#[tokio::test]
async fn every_archive_format_is_unpacked() {
    let files = new_pictures();
    for (name, bytes) in
        [("set.zip", zip(&files)), ("set.tar", tar(&files)), ("SET.TAR.GZ", gzip(&tar(&files)))]
    {
        let service = Service::of_pictures().await;
        service.added(archived(name, bytes)).await;
        assert_three_came(&service, 15).await;
    }
}

#[tokio::test]
async fn readable_files_of_a_damaged_archive_are_added_and_the_others_reported() {
    let service = Service::of_pictures().await;
    let mut files = new_pictures();
    files.push(("torn.png".to_owned(), files[0].1[..60].to_vec()));
    files.push(("notes.txt".to_owned(), b"no picture".to_vec()));
    let hidden = [".n015.png", "__MACOSX/n016.png"];
    files.extend(hidden.map(|name| (name.to_owned(), files[0].1.clone())));
    service.added(archived("set.zip", zip(&files))).await;
    assert_three_came(&service, 15).await;
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    let names: Vec<&str> = skipped.iter().map(|skipped| skipped.file.as_str()).collect();
    assert_eq!(names, [hidden[0], hidden[1], "notes.txt", "torn.png"], "{skipped:?}");
}

#[tokio::test]
async fn an_addition_of_nothing_and_of_a_part_says_what_is_missing() {
    let service = Service::of_pictures().await;
    let reason = async || service.record().await["fatal_error_msg"].as_str().map(str::to_owned);
    service.added(archived("set.zip", crate::components::archives::METHODS.to_vec())).await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("PARTIAL INDEX"), &json!(12)));
    let nothing = reason().await.unwrap();
    assert!(nothing.starts_with("nothing was added: "), "{nothing}");
    assert!(nothing.contains("and 6 more; the upload is kept in the index folder, in uploads/"));
    let mut files = new_pictures();
    files.push(("torn.png".to_owned(), files[0].1[..60].to_vec()));
    files.push(("notes.txt".to_owned(), b"no picture".to_vec()));
    service.added(archived("set.zip", zip(&files))).await;
    let part = reason().await.unwrap();
    assert!(part.starts_with("1 file was not added: torn.png (broken picture"), "{part}");
    assert_eq!(service.reindex().await.0, 202);
    service.deployment.wait_until_idle().await;
    assert_eq!(service.record().await["status_new"], "READY");
    assert_eq!(reason().await, None);
    service.added(archived("set.zip", zip(&[("a.txt".to_owned(), b"a".to_vec())]))).await;
    let nothing = reason().await.unwrap();
    assert!(nothing.contains("a.txt (a description without a picture"), "{nothing}");
}

/// A folder whose object storage contains three images and manifests of them.
async fn storage() -> Bucket {
    let files = new_pictures();
    let mut objects: Vec<(String, Vec<u8>)> =
        files.into_iter().map(|(name, bytes)| (format!("photos/in/{name}"), bytes)).collect();
    let names = ["in/n012.png", "in/n013.png", "s3://photos/in/n014.png"];
    objects.push(("photos/a.txt".to_owned(), names.join("\n").into_bytes()));
    objects.push(("photos/b.CSV".to_owned(), format!("uri\n{}\n", names.join("\n")).into_bytes()));
    objects.push(("photos/c.parquet".to_owned(), column("uri", &names)));
    objects.push(("photos/empty/notes.md".to_owned(), b"-".to_vec()));
    Bucket::of(objects).await
}

/// A Parquet file with one string column.
fn column(name: &str, values: &[&str]) -> Vec<u8> {
    let schema = parse_message_type(&format!("message m {{ required binary {name} (UTF8); }}"));
    let mut bytes = Vec::new();
    let mut file =
        SerializedFileWriter::new(&mut bytes, Arc::new(schema.unwrap()), Arc::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let values: Vec<ByteArray> = values.iter().map(|value| ByteArray::from(*value)).collect();
    column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    bytes
}

#[tokio::test]
async fn a_storage_folder_and_every_manifest_are_read_over_s3() {
    let bucket = storage().await;
    let service = Service::with(bucket.settings()).await;
    for (images, uri) in [
        (15, "s3://photos/in/"),
        (18, "s3://photos/a.txt"),
        (21, "s3://photos/b.CSV"),
        (24, "s3://photos/c.parquet"),
    ] {
        service.added(Form::new().text("s3_uri", uri)).await;
        assert_three_came(&service, images).await;
    }
    let asked = bucket.asked();
    assert_eq!(asked.len(), 20, "four lists and their objects: {asked:?}");
}

#[tokio::test]
async fn missing_objects_of_a_manifest_are_reported_and_the_others_added() {
    let mut objects: Vec<(String, Vec<u8>)> =
        new_pictures().into_iter().map(|(name, bytes)| (format!("photos/{name}"), bytes)).collect();
    let names = ["n012.png", "gone.png", "n013.png", "n014.png", "notes.md"];
    objects.push(("photos/list.txt".to_owned(), names.join("\n").into_bytes()));
    let bucket = Bucket::of(objects).await;
    let service = Service::with(bucket.settings()).await;
    service.added(Form::new().text("s3_uri", "s3://photos/list.txt")).await;
    assert_three_came(&service, 15).await;
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    let gone = skipped.iter().find(|skipped| skipped.file.as_str() == "gone.png").unwrap();
    assert_eq!(gone.reason.as_str(), "cannot be read (it does not exist)");
}

#[tokio::test]
async fn storage_without_media_is_rejected_with_the_documented_message() {
    let bucket = storage().await;
    let service = Service::with(bucket.settings()).await;
    let words = "Invalid S3 URI or no media files found at";
    for uri in
        ["s3://photos/empty/", "s3://photos/nothing", "photos/in/", "s3://", "s3://photos/no.csv"]
    {
        let (status, body) = service.add(Form::new().text("s3_uri", uri)).await;
        assert_eq!(status, 400, "{uri}: {body}");
        let body: Value = serde_json::from_str(&body).unwrap();
        let detail = body["detail"].as_str().unwrap();
        assert!(detail.starts_with(&format!("{words} {uri}")), "{detail}");
    }
    let (_, body) = service.add(Form::new().text("s3_uri", " s3://photos/empty/ ")).await;
    assert_eq!(body, format!(r#"{{"detail":"{words} s3://photos/empty/"}}"#));
    assert_eq!(service.record().await["status_new"], "READY");
}

#[tokio::test]
async fn roles_are_validated_and_rejected_with_a_reason() {
    let bucket = storage().await;
    let service = Service::with(bucket.settings()).await;
    let form = |role: &'static str| {
        Form::new().text("s3_uri", "s3://photos/in/").text("assume_role", role)
    };
    let (status, body) = service.add(form("arn:aws:iam::123456789012:role/reader")).await;
    let refused = "the role arn:aws:iam::123456789012:role/reader cannot be assumed: ";
    assert_eq!(status, 400, "{body}");
    assert!(body.contains(refused), "{body}");
    assert_eq!(service.add(form("reader")).await.0, 422);
    assert!(bucket.asked().is_empty(), "nothing is asked under another name");
    service.added(form("")).await;
    assert_three_came(&service, 15).await;
}

#[tokio::test]
async fn auto_reindex_is_read_in_every_spelling() {
    let service = Service::of_pictures().await;
    for (number, (spelling, status)) in
        (12..).zip([("True", "READY"), ("FALSE", "PARTIAL INDEX"), ("Yes", "READY")])
    {
        service.added(uploads(number..number + 1).text("auto_reindex", spelling)).await;
        assert_eq!(service.record().await["status_new"], status, "{spelling}");
    }
}

#[tokio::test]
async fn sizes_and_spot_are_accepted() {
    let service = Service::of_pictures().await;
    let form = uploads(12..15)
        .text("auto_reindex", "False")
        .text("batch_n_videos", "0")
        .text("batch_n_images", "3")
        .text("batch_n_objects", "")
        .text("use_spot", "true")
        .text("files_", "unknown");
    service.added(form).await;
    assert_three_came(&service, 15).await;
}

#[tokio::test]
async fn archives_never_write_outside_their_folder() {
    let service = Service::of_pictures().await;
    let hostile = ["../escaped-7f3a.png", "/tmp/escaped-7f3a.png", "a/../../escaped-7f3a.png"];
    let mut files = new_pictures();
    files.extend(hostile.map(|name| (name.to_owned(), new_pictures()[0].1.clone())));
    service.added(archived("set.zip", zip(&files))).await;
    let mut tarball = tar::Builder::new(Vec::new());
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    tarball.append_link(&mut link, "out", "/").unwrap();
    let (_, bytes) = &new_pictures()[0];
    let mut head = tar::Header::new_gnu();
    head.set_size(bytes.len() as u64);
    head.set_mode(0o644);
    tarball.append_data(&mut head, "out/tmp/escaped-7f3a.png", bytes.as_slice()).unwrap();
    service.added(archived("set.tar", tarball.into_inner().unwrap())).await;
    for above in service.place.data.path().join("uploads").ancestors() {
        assert!(!above.join("escaped-7f3a.png").exists(), "{}", above.display());
    }
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    assert!(skipped.iter().any(|skipped| skipped.reason.as_str().contains("link")), "{skipped:?}");
    let names = service.names("").await;
    assert!(names.iter().all(|name| !name.contains('/')), "{names:?}");
}

/// The names and identifiers of all media.
async fn media(service: &Service) -> BTreeSet<(String, String)> {
    let clusters = service.clusters("threshold=0").await;
    let previews = clusters.iter().flat_map(|cluster| cluster["previews"].as_array().unwrap());
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    previews.map(|preview| (word(&preview["file_name"]), word(&preview["media_id"]))).collect()
}

#[tokio::test]
async fn a_partial_index_survives_a_restart_and_an_unchanged_folder() {
    let service = Service::of_pictures().await;
    service.added(uploads(12..14)).await;
    let before = media(&service).await;
    let service = service.again(DeploymentSettings::default()).await;
    service.place.add(&service.deployment);
    service.deployment.wait_until_idle().await;
    assert_eq!(service.record().await["status_new"], "PARTIAL INDEX");
    assert_eq!(media(&service).await, before);
}

#[tokio::test]
async fn a_changed_folder_keeps_the_batches_and_ends_in_ready() {
    let service = Service::of_pictures().await;
    service.added(uploads(12..14)).await;
    service.added(archived("set.zip", zip(&new(14..15)))).await;
    let mut expected = media(&service).await;
    service.place.put("late.png", &picture(21));
    fs::remove_file(service.place.picture("p000.png")).unwrap();
    service.place.add(&service.deployment);
    service.deployment.wait_until_idle().await;
    let record = service.record().await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&json!("READY"), &json!(15)));
    let after = media(&service).await;
    expected.retain(|(name, _)| name != "p000.png");
    assert!(after.is_superset(&expected), "{after:?}");
    assert_eq!(after.len(), 15);
}

#[tokio::test]
async fn batches_are_extracted_again_and_keep_their_identifiers() {
    let service = Service::of_pictures().await;
    service.added(uploads(12..14).text("auto_reindex", "1")).await;
    let before = media(&service).await;
    service.place.change("UPDATE dataset SET extractor = 0");
    service.place.add(&service.deployment);
    service.deployment.wait_until_idle().await;
    assert_eq!(service.record().await["status_new"], "READY");
    assert_eq!(media(&service).await, before);
}

#[tokio::test]
async fn an_export_started_before_an_addition_reports_its_media_count() {
    let slow = Duration::from_millis(300);
    let service = Service::of_pictures().await;
    let service = service
        .again(DeploymentSettings { simulated_delay: slow, ..DeploymentSettings::default() })
        .await;
    let path = service.of_dataset("/export_context_async?file_name=a&export_format=json");
    let task = service.good(&path).await;
    service.added(uploads(12..14)).await;
    let id = task["id"].as_str().unwrap();
    let task =
        service.good(&service.of_dataset(&format!("/export_status?export_task_id={id}"))).await;
    assert_eq!(task["status"], "COMPLETED", "{task}");
    let answer = service.client.get(task["download_uri"].as_str().unwrap()).send().await.unwrap();
    let bytes = std::io::Cursor::new(answer.bytes().await.unwrap());
    let mut zip = zip::ZipArchive::new(bytes).unwrap();
    let metadata: Value = serde_json::from_reader(zip.by_name("metadata.json").unwrap()).unwrap();
    let items = metadata["media_items"].as_array().unwrap().len();
    assert_eq!(metadata["info"]["total_media_items"], items);
    assert_eq!(task["entities_count"], items);
}
