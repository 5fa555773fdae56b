//! User-provided encoders: texts find images without captions. The pair of these tests knows three
//! colors.

use std::{path::PathBuf, sync::Arc};

use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};
use tessera_service::{DeploymentSettings, text::encoders::Encoders};

use crate::support::{Place, Service, encoded};

pub fn settings() -> DeploymentSettings {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/encoders");
    let file = |name: &str| folder.join(name);
    let encoders =
        Encoders::load(&file("image.onnx"), &file("clip-text.onnx"), &file("clip.json")).unwrap();
    DeploymentSettings { encoders: Some(Arc::new(encoders)), ..DeploymentSettings::default() }
}

fn plain(color: [u8; 3]) -> Vec<u8> {
    encoded(&RgbImage::from_pixel(64, 64, Rgb(color)), ImageFormat::Png)
}

fn place() -> Place {
    Place::new(&[
        ("1.png", plain([250, 10, 10])),
        ("2.png", plain([10, 250, 10])),
        ("3.png", plain([10, 10, 250])),
    ])
}

async fn served(place: Place, settings: DeploymentSettings) -> Service {
    let deployment = place.open_with(settings);
    let dataset = place.add(&deployment);
    deployment.wait_until_idle().await;
    Service::serve(place, deployment, dataset, true).await
}

async fn found(service: &Service, query: &str) -> Vec<(String, f64)> {
    let body = service.good(&service.explore(&format!("threshold=0&{query}"))).await;
    let clusters = body["clusters"].as_array().unwrap().iter();
    let shown = |cluster: &Value| {
        let name = cluster["previews"][0]["file_name"].as_str().unwrap().to_owned();
        (name, cluster["relevance_score"].as_f64().unwrap())
    };
    clusters.map(shown).collect()
}

#[tokio::test]
async fn texts_find_images_without_captions() {
    let service = served(place(), settings()).await;
    for (text, file) in [("red", "1.png"), ("green", "2.png"), ("blue", "3.png")] {
        let ranking = found(&service, &format!("caption={text}")).await;
        assert_eq!(ranking[0].0, file, "{ranking:?}");
        assert!(ranking[0].1 < 0.2 && ranking[1].1 > 0.3, "{ranking:?}");
        let near = format!(
            "vql=[{{\"text\":{{\"op\":\"semantic\",\"value\":\"{text}\",\"threshold\":0.8}}}}]"
        );
        assert_eq!(found(&service, &near).await.len(), 1);
    }
    let context = format!("/api/v1/enrichment/{}/context", service.dataset);
    let models = &service.good(&context).await["dataset_enrichment_models"]["enrichment_models"];
    assert_eq!(models["MULTIMODEL_IMAGE_ENCODING"]["id"], "own-encoders", "{models}");
}

#[tokio::test]
async fn changed_encoders_are_noticed_at_the_next_start() {
    let place = served(place(), DeploymentSettings::default()).await.stop().await;
    assert_eq!(place.count("meaning"), 0);
    let place = served(place, settings()).await.stop().await;
    assert_eq!(place.count("meaning"), 3);
    let service = served(place, DeploymentSettings::default()).await;
    assert_eq!(service.place.count("meaning"), 0);
    let (status, body) = service.json(&service.explore("caption=red")).await;
    assert_eq!(status, 422);
    assert_eq!(body["detail"][0]["loc"], json!(["query", "caption"]));
}
