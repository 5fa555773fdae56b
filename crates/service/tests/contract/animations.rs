//! Animations in a folder: sampled into frames with their times, like videos, but without `ffmpeg`.

use std::collections::BTreeMap;

use serde_json::json;
use tessera_media::ingest::video::sample_animation;
use tessera_service::DeploymentSettings;

use crate::{
    described::{found, vql},
    support::{Place, Service},
};

/// By Pillow: a red frame for a second, a green one for three, and a dark one for two.
const THREE: [(&str, &[u8]); 3] = [
    ("three.gif", include_bytes!("animations/three.gif")),
    ("three.png", include_bytes!("animations/three.png")),
    ("three.webp", include_bytes!("animations/three.webp")),
];
/// A picture.
const ONE: &[u8] = include_bytes!("animations/one.gif");
/// 300 frames of two seconds, black and white in turn.
const LONG: &[u8] = include_bytes!("animations/long.gif");

fn times(bytes: &[u8]) -> Option<Vec<f64>> {
    let frames = sample_animation(bytes, &|| false)?;
    Some(frames.iter().map(|frame| frame.seconds).collect())
}

#[test]
fn a_frame_is_sampled_when_the_scene_has_changed() {
    for (name, bytes) in THREE {
        assert_eq!(times(bytes), Some(vec![0.0, 4.0]), "{name}");
        assert_eq!(times(&bytes[..40]), None, "{name}");
    }
    assert_eq!(times(ONE), None);
    assert_eq!(times(b"GIF89a"), None);
    assert_eq!(sample_animation(LONG, &|| true), None);
}

#[test]
fn long_animations_are_sampled_evenly() {
    let times = times(LONG).unwrap();
    assert!((50..=100).contains(&times.len()), "{times:?}");
    assert!(times[0] == 0.0 && times[times.len() - 1] > 580.0, "{times:?}");
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|&gap| (2.0..=24.0).contains(&gap)), "{gaps:?}");
}

#[tokio::test]
async fn animations_are_videos_and_pictures_stay_pictures() {
    let mut files: Vec<(&str, Vec<u8>)> =
        THREE.iter().map(|(name, bytes)| (*name, bytes.to_vec())).collect();
    files.push(("one.gif", ONE.to_vec()));
    let service = Service::at_with(Place::new(&files), DeploymentSettings::default()).await;
    let record = service.record().await;
    assert_eq!((&record["n_images"], &record["n_videos"]), (&json!(1), &json!(3)));
    assert!(service.deployment.skipped_files(service.dataset).unwrap().is_empty());
    let filter = json!([{"format": {"op": "is", "value": "gif"}}]);
    let gifs = found(&service, &vql(&filter)).await;
    assert!(gifs.contains("one.gif") && gifs.contains("three_000001.jpg"), "{gifs:?}");
    assert!(gifs.len() < 6, "frames of other animations: {gifs:?}");
    let mut frames: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for cluster in service.clusters("threshold=0").await {
        for preview in cluster["previews"].as_array().unwrap() {
            let Some(time) = preview["frame_timestamp"].as_f64() else { continue };
            let name = preview["original_uri"].as_str().unwrap().to_owned();
            let link = preview["video_uri"].as_str().unwrap();
            let video = service.client.get(link).send().await.unwrap().bytes().await.unwrap();
            assert!(files.contains(&(&*name, video.to_vec())), "{name} is served as it is");
            frames.entry(name).or_default().push(time);
        }
    }
    for times in frames.values_mut() {
        times.sort_by(f64::total_cmp);
    }
    let expected = THREE.map(|(name, _)| (name.to_owned(), vec![0.0, 4.0]));
    assert_eq!(frames, expected.into());
}
