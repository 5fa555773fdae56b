//! Videos in a folder: listed with their first frame if `ffmpeg` is installed, skipped otherwise.
//! The `ffmpeg` of these tests is a shell script that writes an image.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use serde_json::json;
use tessera_service::DeploymentSettings;

use crate::support::{Place, Service, picture};

const VIDEO: &[u8] = b"\0\0\0\x20ftypisom and what follows";

fn place() -> Place {
    Place::new(&[("a.png", picture(0)), ("film.mp4", VIDEO.to_vec())])
}

/// Settings with an `ffmpeg` that always writes the image at `frame`.
fn with_ffmpeg(folder: &Path) -> DeploymentSettings {
    let frame = folder.join("frame.png");
    fs::write(&frame, picture(2)).unwrap();
    let program = folder.join("ffmpeg");
    fs::write(&program, format!("#!/bin/sh\ncat '{}'\n", frame.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    DeploymentSettings { ffmpeg: Some(program), ..DeploymentSettings::default() }
}

async fn served(place: Place, settings: DeploymentSettings) -> Service {
    let deployment = place.open_with(settings);
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    Service::serve(place, deployment, dataset, true).await
}

#[tokio::test]
async fn a_video_is_counted_and_shown_by_its_first_frame() {
    let tools = tempfile::tempdir().unwrap();
    let service = served(place(), with_ffmpeg(tools.path())).await;
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!((&record["n_images"], &record["n_videos"]), (&json!(1), &json!(1)));
    let body = service.good(&service.explore("threshold=0")).await;
    let clusters = body["clusters"].as_array().unwrap();
    let video = clusters.iter().find(|cluster| cluster["n_videos"] == 1).unwrap();
    assert_eq!(video["n_images"], 0);
    let preview = &video["previews"][0];
    assert_eq!((&preview["type"], &preview["width"]), (&json!("VIDEO"), &json!(96)));
    let get = async |key: &str| {
        let answer = service.client.get(preview[key].as_str().unwrap()).send().await.unwrap();
        let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
        (kind, answer.bytes().await.unwrap())
    };
    let (kind, bytes) = get("media_uri").await;
    assert_eq!((kind.as_str(), bytes.as_ref()), ("video/mp4", VIDEO));
    let (kind, thumbnail) = get("media_thumb_uri").await;
    assert_eq!(kind, "image/jpeg");
    assert!(thumbnail.starts_with(&[0xFF, 0xD8]));
}

#[tokio::test]
async fn without_ffmpeg_videos_are_skipped_until_it_is_installed() {
    let service = served(place(), DeploymentSettings::default()).await;
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    let words: Vec<_> =
        skipped.iter().map(|one| (one.file.to_string(), one.reason.to_string())).collect();
    let reason = "a video: install ffmpeg to decode its first frame";
    assert_eq!(words, [("film.mp4".to_owned(), reason.to_owned())]);
    assert_eq!(service.good(&service.of_dataset("")).await["n_videos"], 0);

    let place = service.stop().await;
    let tools = tempfile::tempdir().unwrap();
    let service = served(place, with_ffmpeg(tools.path())).await;
    assert_eq!(service.good(&service.of_dataset("")).await["n_videos"], 1);
    assert_eq!(service.deployment.skipped_files(service.dataset).unwrap(), []);
}
