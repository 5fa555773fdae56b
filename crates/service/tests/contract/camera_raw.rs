//! Raw files of cameras in a folder: indexed, shown and compared by their previews.

use image::{ImageFormat, Rgb, RgbImage};
use serde_json::json;
use tessera_service::DeploymentSettings;
use tessera_testing::camera_raw::camera_raw_files;

use crate::{
    described::{found, vql},
    support::{Place, Service, encoded},
};

/// Red at the left and blue at the right, so red is above when it is turned to the right.
fn preview(width: u32, height: u32) -> Vec<u8> {
    let color = |x| if x < width / 2 { Rgb([220, 20, 20]) } else { Rgb([20, 20, 220]) };
    encoded(&RgbImage::from_fn(width, height, |x, _| color(x)), ImageFormat::Jpeg)
}

#[tokio::test]
async fn raw_files_are_indexed_with_thumbnails_of_their_previews() {
    let files = camera_raw_files(&preview(96, 64), &preview(24, 16));
    let names: Vec<String> = files.iter().map(|(extension, _)| format!("a.{extension}")).collect();
    let contents =
        names.iter().map(String::as_str).zip(files.iter().map(|(_, bytes)| bytes.clone()));
    let place = Place::new(&contents.collect::<Vec<_>>());
    let service = Service::at_with(place, DeploymentSettings::default()).await;
    assert!(service.deployment.skipped_files(service.dataset).unwrap().is_empty());
    let record = service.good(&service.of_dataset("")).await;
    assert_eq!(record["n_images"], json!(files.len()));
    for cluster in service.clusters("threshold=0").await {
        for preview in cluster["previews"].as_array().unwrap() {
            let get = async |uri: &str| {
                let response = service.client.get(preview[uri].as_str().unwrap()).send().await;
                response.unwrap().bytes().await.unwrap()
            };
            let thumbnail = image::load_from_memory(&get("media_thumb_uri").await).unwrap();
            let thumbnail = thumbnail.into_rgb8();
            assert_eq!(thumbnail.dimensions(), (64, 96), "upright");
            assert!(thumbnail.get_pixel(9, 9)[0] > 150 && thumbnail.get_pixel(9, 86)[2] > 150);
            // The original is the file itself.
            let original = get("media_uri").await;
            assert!(files.iter().any(|(_, bytes)| *bytes == original));
        }
    }
    let labeled = vql(&json!([{"labels": {"op": "one_of", "value": ["camera:NIKON D90"]}}]));
    assert_eq!(found(&service, &labeled).await, ["a.nef".to_owned()].into());
}
