//! The full-size view: one picture of a list as large as the screen allows, or several to compare, zoomed
//! and panned in step.

mod actions;
mod comparison;
mod mouse;
mod pairs;
mod panels;
mod pictures;
mod playback;
mod position;
mod reason;
mod strip;

pub use comparison::{Arrangement, Comparison};
pub use panels::{PanelPicture, ViewerPanel};
pub use position::ZoomPosition;
pub use strip::StripFrame;

use ratatui::layout::Rect;

use crate::app::Uptime;

pub(in crate::app) use reason::{full_size_reason, other_picture_reason, viewer_reason};

/// What next and previous go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureList {
    /// The first previews of the tiles.
    Results,
    /// The previews of one cluster.
    Members,
    /// The entries of the basket that are on a loaded page.
    Basket,
}

#[derive(Clone, Debug)]
pub struct Viewer {
    pub list: PictureList,
    /// The pictures in place of one of the list.
    pub comparison: Option<Comparison>,
    pub position: ZoomPosition,
    /// Whether the boxes of objects are outlined.
    pub boxes: bool,
    /// When the next frame of the video that is played is shown.
    next_frame_due: Option<Uptime>,
    /// The cell that the mouse drags from.
    drag: Option<(u16, u16)>,
}

impl Viewer {
    pub(in crate::app) fn new(list: PictureList) -> Self {
        Self {
            list,
            comparison: None,
            position: ZoomPosition::default(),
            boxes: true,
            next_frame_due: None,
            drag: None,
        }
    }
}

/// The title, the pictures, the frames of a video, and the line with hints and notifications.
#[derive(Clone, Copy, Debug)]
pub struct ViewerAreas {
    pub title: Rect,
    pub pictures: Rect,
    pub strip: Option<Rect>,
    pub hints: Rect,
}

impl ViewerAreas {
    fn new(screen: (u16, u16)) -> Self {
        let row = |y, height| Rect { x: 0, y, width: screen.0, height };
        let last = screen.1.saturating_sub(1);
        Self {
            title: row(0, 1.min(screen.1)),
            pictures: row(1.min(screen.1), last.saturating_sub(1)),
            strip: None,
            hints: row(last, 1.min(screen.1)),
        }
    }

    /// The same with a strip of this height below the pictures.
    fn with_strip(self, rows: u16) -> Self {
        let height = self.pictures.height.saturating_sub(rows);
        let pictures = Rect { height, ..self.pictures };
        let strip = Rect { y: pictures.bottom(), height: rows, ..self.pictures };
        Self { pictures, strip: Some(strip), ..self }
    }
}
