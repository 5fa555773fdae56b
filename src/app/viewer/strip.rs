//! The strip below a frame of a video: the loaded frames of the video around it, with their times.

use ratatui::layout::Rect;

use super::{ViewerAreas, pairs::of_media};
use crate::app::{
    App,
    view::{
        frames::FrameLocation,
        visible_pictures::{VisiblePicture, preview_picture},
    },
};
use tessera_model::Preview;
use tessera_picture::Canvas;

/// The smallest screen with a strip (rows).
const MIN_SCREEN_ROWS: u16 = 20;
/// The cells of a frame, without its time below it and the gap beside it (columns, rows).
const FRAME_CELLS: (u16, u16) = (14, 4);

#[derive(Clone, Copy, Debug)]
pub struct StripFrame<'a> {
    pub preview: &'a Preview,
    /// The picture; the row below it is for the time.
    pub area: Rect,
    pub current: bool,
}

impl App {
    pub fn viewer_areas(&self) -> ViewerAreas {
        let areas = ViewerAreas::new(self.screen.size);
        let has_strip = self.screen.size.1 >= MIN_SCREEN_ROWS && self.shows_one_of_several_frames();
        if has_strip { areas.with_strip(FRAME_CELLS.1 + 1) } else { areas }
    }

    /// Whether other frames of the video are loaded, so that there is something to play.
    pub(super) fn shows_one_of_several_frames(&self) -> bool {
        self.comparison().is_none()
            && self.viewed_preview().map(of_media) == self.preview().map(of_media)
            && self.frame_position().is_some_and(|(_, count)| count > 1)
    }

    /// The frames of the strip in the order of time, with the current one as near to the middle as
    /// possible.
    pub fn strip_frames(&self) -> Vec<StripFrame<'_>> {
        let Some((area, (frames, current))) = self.viewer_areas().strip.zip(self.frames_of_video())
        else {
            return Vec::new();
        };
        let (columns, rows) = FRAME_CELLS;
        let most = usize::from((area.width + 1) / (columns + 1)).max(1).min(frames.len());
        let first = current.saturating_sub(most / 2).min(frames.len() - most);
        let xs = (area.x..).step_by(usize::from(columns) + 1);
        let shown = frames.iter().enumerate().skip(first).take(most).zip(xs);
        let frame = |((place, frame), x): ((usize, &FrameLocation), u16)| {
            let area = Rect { x, y: area.y, width: columns.min(area.width), height: rows };
            let preview = self.loaded_preview(frame.media)?;
            Some(StripFrame { preview, area, current: place == current })
        };
        shown.filter_map(frame).collect()
    }

    pub fn strip_canvas(&self) -> Canvas {
        self.screen.canvas(FRAME_CELLS.0, FRAME_CELLS.1)
    }

    pub(super) fn strip_pictures(&self) -> impl Iterator<Item = VisiblePicture> {
        let canvas = self.strip_canvas();
        self.strip_frames().into_iter().filter_map(move |it| preview_picture(it.preview, canvas))
    }
}
