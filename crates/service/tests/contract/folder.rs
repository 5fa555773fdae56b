//! Adding folders: what is rejected, skipped or repeated.

use std::{fs, os::unix::fs::PermissionsExt as _};

use image::{ImageFormat, RgbImage};
use tessera_service::LocalError;
use tessera_store::{Row, params, query};

use crate::support::{Place, Service, encoded, picture, pictures};

#[test]
fn unsuitable_folders_are_rejected_with_a_message() {
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n".to_vec();
    let place = Place::new(&[
        ("a.png", picture(1)),
        ("a.tgz", b"\x1f\x8b".to_vec()),
        ("notes/readme.txt", b"text".to_vec()),
        ("lfs/.gitattributes", b"*.jpg filter=lfs".to_vec()),
        ("lfs/README.md", b"text".to_vec()),
        ("lfs/b.jpg", pointer),
    ]);
    let deployment = place.open();
    fs::create_dir(place.picture("empty")).unwrap();
    for (name, words) in [
        ("nothing", "does not exist"),
        ("a.png", "is not a folder"),
        (
            "a.tgz",
            "is an archive in a format that is not read; unpack it and give the folder, rename a .tgz to .tar.gz",
        ),
        ("empty", "is empty"),
        ("notes", "the only file in "),
        ("lfs", "b.jpg: a Git LFS pointer instead of the file; run: git lfs pull"),
    ] {
        let refusal = deployment.add_folder(&place.picture(name), None).unwrap_err().to_string();
        assert!(refusal.contains(words) && refusal.contains(name), "{refusal}");
    }
    assert_eq!(place.count("dataset"), 0);
}

#[test]
fn an_unreadable_folder_is_rejected_with_a_message() {
    let place = Place::new(&pictures(1));
    fs::set_permissions(place.pictures.path(), fs::Permissions::from_mode(0o000)).unwrap();
    let listed = fs::read_dir(place.pictures.path()).is_ok();
    let refusal = place.open().add_folder(place.pictures.path(), None);
    fs::set_permissions(place.pictures.path(), fs::Permissions::from_mode(0o700)).unwrap();
    // Root can read everything.
    assert_eq!(refusal.is_ok(), listed);
    if let Err(refusal) = refusal {
        assert!(matches!(refusal, LocalError::Unreadable(..)), "{refusal}");
    }
}

#[tokio::test]
async fn all_formats_and_subfolders_are_added_and_other_files_reported() {
    let mut image = RgbImage::new(40, 30);
    image.put_pixel(3, 3, image::Rgb([255, 0, 0]));
    let of = |format| encoded(&image, format);
    let broken = picture(1)[..80].to_vec();
    let place = Place::new(&[
        ("a.jpg", of(ImageFormat::Jpeg)),
        ("sub/b.png", of(ImageFormat::Png)),
        ("sub/deep/c.webp", of(ImageFormat::WebP)),
        ("d.gif", of(ImageFormat::Gif)),
        ("e.bmp", of(ImageFormat::Bmp)),
        ("named.like.text.txt", of(ImageFormat::Png)),
        ("notes.txt", b"text".to_vec()),
        ("shard.tar", vec![0; 1_024]),
        ("torn.jpg", b"\xFF\xD8\xFF\xE0 torn".to_vec()),
        ("torn.png", broken),
        ("zero.jpg", Vec::new()),
        (".hidden.jpg", of(ImageFormat::Jpeg)),
    ]);
    let service = Service::at(place, true).await;
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&"READY".into(), &6.into()));
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    let names: Vec<_> = skipped.iter().map(|skipped| skipped.file.as_str()).collect();
    assert_eq!(
        names,
        [".hidden.jpg", "notes.txt", "shard.tar", "torn.jpg", "torn.png", "zero.jpg"]
    );
    assert_eq!(skipped[0].reason.as_str(), "hidden");
    let reason = "a description without a picture of its name";
    assert_eq!(skipped[1].reason.as_str(), reason);
    assert!(skipped[2].reason.as_str().starts_with("an archive; "), "{:?}", skipped[2]);
    assert!(skipped[3].reason.as_str().starts_with("broken picture"), "{:?}", skipped[3]);
}

#[tokio::test]
async fn a_folder_without_valid_images_ends_in_error_with_a_reason() {
    let torn = picture(1)[..80].to_vec();
    let service = Service::of(&[("a.png", torn.clone()), ("b.png", torn)]).await;
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!(record["status_new"], "ERROR");
    let words = record["fatal_error_msg"].as_str().unwrap();
    assert!(words.contains("none of its 2 files") && words.contains("a.png"), "{words}");
    service.place.put("b.png", &picture(2));
    service.place.add(&service.deployment);
    service.deployment.wait_until_idle().await;
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&"READY".into(), &1.into()));
    assert!(record["fatal_error_msg"].is_null());
}

#[tokio::test]
async fn an_unchanged_folder_is_ready_immediately() {
    let place = Service::of_pictures().await.stop().await;
    let deployment = place.open();
    let dataset = place.add(&deployment);
    let status: String = place.row("SELECT status FROM dataset", |row| row.get(0));
    assert_eq!(status, "READY", "not even for a moment anything else");
    let linked = place.data.path().join("alias");
    std::os::unix::fs::symlink(place.pictures.path(), &linked).unwrap();
    assert_eq!(deployment.add_folder(&linked, None).unwrap(), dataset, "the same folder");
    assert_eq!(place.count("dataset"), 1);
}

#[tokio::test]
async fn only_what_changed_is_indexed_again() {
    let service = Service::of_pictures().await;
    let place = &service.place;
    let rows = |place: &Place| -> Vec<(String, i64, Vec<u8>)> {
        let sql = "SELECT path, row, content FROM media ORDER BY path";
        let read = |row: &Row| {
            let path = String::from_utf8(row.get(0)?).unwrap();
            Ok((path, row.get(1)?, row.get(2)?))
        };
        query::all(&place.database(), sql, params![], read).unwrap()
    };
    let before = rows(place);
    place.put("p000.png", &picture(50)); // changed
    place.put("p001.png", &picture(1)); // written again, the same
    place.put("new.png", &picture(77));
    fs::remove_file(place.picture("p002.png")).unwrap();
    assert_eq!(place.add(&service.deployment), service.dataset);
    service.deployment.wait_until_idle().await;
    let after = rows(place);
    let names: Vec<_> = after.iter().map(|row| row.0.as_str()).collect();
    assert_eq!(names.len(), 12);
    assert!(names.contains(&"new.png") && !names.contains(&"p002.png"), "{names:?}");
    for old in &before {
        if let Some(new) = after.iter().find(|new| new.0 == old.0) {
            assert_eq!(new.1, old.1, "{} keeps its row", old.0);
            assert_eq!(new.2 == old.2, old.0 != "p000.png", "{}", old.0);
        }
    }
    let body = service.good(&service.explore("threshold=0")).await;
    let text = body.to_string();
    assert!(text.contains("new.png") && !text.contains("p002.png"));
    assert_eq!(service.good(&service.of_dataset("")).await["n_images"], 12);
}

#[tokio::test]
async fn identifiers_stay_the_same() {
    let service = Service::of_pictures().await;
    let strip = |body: serde_json::Value| {
        // Links contain the port, which differs.
        let text = body.to_string();
        text.replace(&service.address.to_string(), "")
    };
    let before = strip(service.good(&service.explore("threshold=1")).await);
    let place = &service.place;
    place.change("UPDATE dataset SET extractor = 0");
    place.add(&service.deployment);
    service.deployment.wait_until_idle().await;
    let after = strip(service.good(&service.explore("threshold=1")).await);
    assert_eq!(before, after, "indexed anew from the first picture");
}

#[tokio::test]
async fn a_folder_without_images_is_in_error_until_images_return() {
    let service = Service::of_pictures().await;
    for n in 0..12 {
        fs::remove_file(service.place.picture(&format!("p{n:03}.png"))).unwrap();
    }
    assert_eq!(service.place.add(&service.deployment), service.dataset);
    assert_eq!(service.place.count("media"), 12, "an unmounted disk costs nothing");
    let elsewhere = service.place.data.path().join("elsewhere.png");
    std::os::unix::fs::symlink(elsewhere, service.place.picture("link.png")).unwrap();
    let refusal = service.deployment.add_folder(service.place.pictures.path(), None);
    assert!(matches!(refusal.unwrap_err(), LocalError::OnlyLinks(_)));
    let annexed = service.place.picture("annexed.png");
    std::os::unix::fs::symlink("../.git/annex/objects/K1/S.png", annexed).unwrap();
    let refusal = service.deployment.add_folder(service.place.pictures.path(), None).unwrap_err();
    assert!(refusal.to_string().contains("run: git annex get"), "{refusal}");
    service.place.put("notes.txt", b"text");
    service.place.add(&service.deployment);
    service.deployment.wait_until_idle().await;
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!((&record["status_new"], &record["n_images"]), (&"ERROR".into(), &0.into()));
}
