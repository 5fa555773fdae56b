//! Another user of the machine gets nothing without a token.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use reqwest::multipart::{Form, Part};

use crate::{
    change::{plain, uploads},
    support::{Service, answer, picture},
};

/// The mode of everything at and below a path.
fn modes(path: &Path, found: &mut Vec<(String, u32)>) {
    let mode = fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    found.push((path.display().to_string(), mode));
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            modes(&entry.unwrap().path(), found);
        }
    }
}

#[tokio::test]
async fn the_data_folder_is_readable_by_its_owner_only() {
    let service = Service::of_pictures().await;
    let image = Part::bytes(picture(1)).file_name("a.png");
    let anchor = service
        .post(&service.of_dataset("/search-image-similarity?entity_type=IMAGES"))
        .multipart(Form::new().part("file", image));
    assert_eq!(answer(anchor).await.0, 200);
    service
        .good(&service.of_dataset(
            "/export_context_async?file_name=a&export_format=parquet&include_images=true",
        ))
        .await;
    service.deployment.wait_until_idle().await;
    service.added(uploads(12..14)).await;
    let mut found = Vec::new();
    modes(service.place.data.path(), &mut found);
    for kind in ["zip", "png"] {
        let is_kind = |path: &str| Path::new(path).extension().is_some_and(|found| found == kind);
        assert!(found.iter().any(|(path, _)| is_kind(path)), "{kind}: {found:?}");
    }
    let open: Vec<_> = found.iter().filter(|(_, mode)| mode & 0o077 != 0).collect();
    assert!(open.is_empty(), "{open:?}");
}

#[tokio::test]
async fn pictures_and_archives_need_a_token_or_a_signed_link() {
    let service = Service::of_pictures().await;
    let page = service.good(&service.explore("")).await;
    let preview = &page["clusters"][0]["previews"][0];
    for link in ["media_uri", "media_thumb_uri"] {
        let link = preview[link].as_str().unwrap();
        let (unsigned, _) = link.split_once('?').unwrap();
        for (link, expected) in [(link, 200), (unsigned, 401)] {
            let response = service.client.get(link).send().await.unwrap();
            assert_eq!(response.status(), expected, "{link}");
        }
    }
    let archive = service.url("/exports/00000000-0000-0000-0000-000000000000");
    assert_eq!(plain(service.client.get(archive)).await.0, 403);
}
