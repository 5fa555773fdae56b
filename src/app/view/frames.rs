//! The frames of a video on the page, in the order of time, across its clusters.

use crate::app::App;
use tessera_model::{ClusterId, MediaId};

/// Where a frame is among the results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::app) struct FrameLocation {
    seconds: f64,
    pub media: MediaId,
    tile: usize,
    cluster: ClusterId,
    preview_index: usize,
}

impl Results {
    /// The position of the selected frame among those of its video, from 0, and their number. `None` if
    /// it is not a frame, or if its time is unknown.
    pub fn frame_position(&self) -> Option<(usize, usize)> {
        let (frames, position) = self.frames_of_video()?;
        Some((position, frames.len()))
    }

    /// The frame that is `by` frames later in the video.
    pub(in crate::app) fn frame_beside(&self, by: isize) -> Option<FrameLocation> {
        let (frames, position) = self.frames_of_video()?;
        frames.get(position.checked_add_signed(by)?).copied()
    }

    pub(in crate::app) fn step_frame(&mut self, by: isize, pictures: &mut PictureCache) {
        let Some(frame) = self.frame_beside(by) else { return };
        self.edit_view(|view| {
            view.cursor = frame.tile;
            view.cluster = Some(frame.cluster);
            view.preview_index = frame.preview_index;
        });
        self.retry_failed_picture(pictures);
    }

    /// The frames of the selected frame's video, and its own position.
    pub(in crate::app) fn frames_of_video(&self) -> Option<(Vec<FrameLocation>, usize)> {
        let selected = self.preview()?;
        let video = &selected.frame.as_ref()?.video;
        let page = self.page()?;
        let mut frames = Vec::new();
        for (tile, visible) in self.visible_clusters().into_iter().enumerate() {
            let cluster = &page.clusters[visible.index];
            for (preview_index, preview) in cluster.previews.iter().enumerate() {
                let frame = preview.frame.as_ref().filter(|frame| frame.video == *video);
                if let Some(seconds) = frame.and_then(|frame| frame.seconds) {
                    let (media, cluster) = (preview.media, cluster.id);
                    frames.push(FrameLocation { seconds, media, tile, cluster, preview_index });
                }
            }
        }
        frames.sort_by(|a, b| a.seconds.total_cmp(&b.seconds).then(a.media.cmp(&b.media)));
        frames.dedup_by_key(|frame| frame.media);
        let position = frames.iter().position(|frame| frame.media == selected.media)?;
        Some((frames, position))
    }
}
