//! AVIF and HEIC in a folder: decoded by the `ffmpeg` of this machine, or skipped with its name.

use tessera_picture::PictureFormat;
use tessera_service::DeploymentSettings;

use crate::support::{Place, Service, picture};

const AVIF: &[u8] = include_bytes!("../../../picture/tests/picture/heif/chart.avif");
const HEIC: &[u8] = include_bytes!("../../../picture/tests/picture/heif/chart.heic");

#[tokio::test]
async fn pictures_are_indexed_with_ffmpeg_and_named_without() {
    let files = [("a.avif", AVIF.to_vec()), ("b.heic", HEIC.to_vec()), ("c.png", picture(1))];
    let service = Service::at_with(Place::new(&files), DeploymentSettings::default()).await;
    let skipped = service.deployment.skipped_files(service.dataset).unwrap();
    if !PictureFormat::Avif.is_decodable() {
        let reasons: Vec<_> = skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
        let expected = ["AVIF", "HEIC"].map(|name| {
            format!(
                "{name} is decoded by ffmpeg, which was not found: install it, or convert the file"
            )
        });
        assert_eq!(reasons, expected);
        return;
    }
    assert!(
        skipped.is_empty(),
        "{:?}",
        skipped.iter().map(|file| &file.reason).collect::<Vec<_>>()
    );
    let mut originals = Vec::new();
    for cluster in service.clusters("threshold=0").await {
        for preview in cluster["previews"].as_array().unwrap() {
            let get = async |uri: &str| {
                let response = service.client.get(preview[uri].as_str().unwrap()).send().await;
                response.unwrap().bytes().await.unwrap()
            };
            assert!(image::load_from_memory(&get("media_thumb_uri").await).is_ok());
            originals.push(get("media_uri").await.to_vec());
        }
    }
    assert_eq!(originals.len(), 3);
    for (name, bytes) in files {
        assert!(originals.contains(&bytes), "{name}: the original is the file itself");
    }
}
