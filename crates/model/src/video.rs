//! Frames: pictures that were taken from a video.

use std::time::Duration;

use crate::{
    Link, SafeText,
    text::{format_duration, grouped_with_noun},
};

/// Where a picture is in a video.
#[derive(Clone, Debug, PartialEq)]
pub struct VideoFrame {
    /// The path of the video, or what identifies it otherwise.
    pub video: SafeText,
    /// `None` if the service does not send it.
    pub seconds: Option<f64>,
    /// The video itself.
    pub link: Option<Link>,
}

impl VideoFrame {
    /// The file name of the video.
    pub fn video_name(&self) -> &str {
        self.video.as_str().rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default()
    }

    /// The time in the video and its name: `00:07 clip.mp4`. In narrow places, the time must not be cut.
    pub fn title(&self) -> SafeText {
        let time = self.seconds.map(|seconds| format!("{} ", format_timestamp(seconds)));
        SafeText::file_name(&format!("{}{}", time.unwrap_or_default(), self.video_name()))
    }
}

/// `12 frames, 3 videos`; the number of videos may be unknown.
pub fn frames_and_videos(frames: u64, videos: Option<u64>) -> String {
    let frames = grouped_with_noun(frames, "frame", "frames");
    match videos {
        None => frames,
        Some(videos) => format!("{frames}, {}", grouped_with_noun(videos, "video", "videos")),
    }
}

/// A time in a video as `00:07` or `1:00:07.5`.
pub fn format_timestamp(seconds: f64) -> String {
    let tenths =
        Duration::try_from_secs_f64((seconds * 10.0).round()).unwrap_or_default().as_secs();
    let time = format_duration(Duration::from_secs(tenths / 10));
    if tenths.is_multiple_of(10) { time } else { format!("{time}.{}", tenths % 10) }
}
