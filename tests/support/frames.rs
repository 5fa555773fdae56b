//! Creates results with frames of videos.

use tessera_interface::{
    app::Event,
    message::{Lane, Payload},
};
use tessera_model::{Cluster, Page, Preview, SafeText, Status, VideoFrame};
use tessera_picture::Protocol;

use crate::support::{
    app_harness::{AppHarness, cluster, dataset},
    scene::paint,
};

fn as_frame(preview: &Preview, video: &str, seconds: f64) -> Preview {
    let video = SafeText::file_name(video);
    let frame = Some(VideoFrame { video, seconds: Some(seconds), link: None });
    Preview { frame, ..preview.clone() }
}

/// Returns a page with two videos over three clusters. The third cluster also contains pictures.
pub fn frames_of_two_videos() -> Page {
    let of = |number, frames: &[(&str, f64)]| {
        let like = cluster(number);
        let previews = like.previews.iter().zip(frames);
        let previews = previews.map(|(preview, (video, time))| as_frame(preview, video, *time));
        Cluster {
            n_images: None,
            n_videos: Some(2),
            n_frames: Some(frames.len() as u64),
            previews: previews.collect(),
            ..like
        }
    };
    let mut mixed = cluster(2);
    mixed.previews[1] = as_frame(&mixed.previews[1], "a.mp4", 8.0);
    let clusters = vec![
        of(0, &[("a.mp4", 4.0), ("b.mp4", 1.0), ("a.mp4", 0.0)]),
        of(1, &[("b.mp4", 2.0), ("a.mp4", 6.5)]),
        mixed,
    ];
    Page { clusters, fills_pages: true, ..Page::default() }
}

pub fn frames(columns: u16, rows: u16) -> AppHarness {
    let mut harness = AppHarness::with_pictures(Protocol::HalfBlock);
    harness.happen(Event::Resize(columns, rows));
    harness.answer(Lane::Datasets, Payload::Datasets(vec![dataset(1, Status::Ready)], 0));
    harness.answer_page(frames_of_two_videos());
    paint(&mut harness);
    harness
}
