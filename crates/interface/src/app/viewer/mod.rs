//! Keeps the state of the full-size view, and computes zoom and pan. The view shows one picture of a list as large as
//! the screen allows, or several pictures to compare, which are zoomed and panned together.

mod actions;
mod comparison;
mod pictures;

pub(in crate::app) use actions::{full_size_reason, other_picture_reason, viewer_reason};
pub(in crate::app) use comparison::focused_list;
pub use comparison::{Arrangement, Comparison, PictureList};
pub use pictures::{PanelPicture, StripFrame, ViewerPanel};

use ratatui::layout::{
    Constraint::{Length, Min},
    Layout, Rect,
};
use tessera_model::{Region, region::Vec2};
use tessera_picture::{Canvas, fit::pixels_per_cell};

use crate::app::Uptime;

#[derive(Clone, Debug)]
pub struct Viewer {
    pub list: PictureList,
    /// The compared pictures, which replace the picture of the list.
    pub comparison: Option<Comparison>,
    pub position: ZoomPosition,
    /// Whether the boxes of objects are outlined.
    pub boxes: bool,
    /// When the next frame of the playing video is due.
    next_frame_due: Option<Uptime>,
    /// The cell from which the mouse drags.
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

    /// Returns whether the picture is that of the cluster under the cursor of the results.
    pub(in crate::app) fn shows_open_cluster(&self) -> bool {
        self.comparison.is_none() && self.list != PictureList::Basket
    }

    /// Returns to the pictures side by side. Returns `false` if they are side by side already.
    fn leave_arrangement(&mut self) -> bool {
        let comparison = self.comparison.as_mut();
        let other = comparison.filter(|it| it.arrangement != Arrangement::SideBySide);
        other.map(|it| it.arrangement = Arrangement::SideBySide).is_some()
    }

    pub fn is_playing(&self) -> bool {
        self.next_frame_due.is_some()
    }

    fn stop_playback(&mut self) {
        self.next_frame_due = None;
    }
}

/// The areas of the title, the pictures, the frames of a video, and the line with hints and
/// notifications.
#[derive(Clone, Copy, Debug)]
pub struct ViewerAreas {
    pub title: Rect,
    pub pictures: Rect,
    pub strip: Option<Rect>,
    pub hints: Rect,
}

impl ViewerAreas {
    /// Computes the areas. `strip_rows` is the height of the strip below the pictures, or 0 without a strip.
    fn new(screen: (u16, u16), strip_rows: u16) -> Self {
        let rows = [Length(1), Min(0), Length(strip_rows), Length(1)];
        let screen = Rect::new(0, 0, screen.0, screen.1);
        let [title, pictures, strip, hints] = Layout::vertical(rows).areas(screen);
        Self { title, pictures, strip: (strip_rows > 0).then_some(strip), hints }
    }
}

/// The zoom and the center of what is shown. The zoom is relative to the largest size at which the whole picture is
/// shown, and the center is in fractions of the picture, so that pictures of different sizes can be zoomed together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZoomPosition {
    pub zoom: f64,
    pub center: Vec2,
}

impl Default for ZoomPosition {
    fn default() -> Self {
        Self { zoom: 1.0, center: (0.5, 0.5) }
    }
}

/// The largest size of a pixel of the picture, in pixels of the canvas.
const MAX_PIXEL_SIZE: f64 = 32.0;
/// The maximum zoom of a picture whose pixels are already that large at the fitting size.
const MIN_MAX_ZOOM: f64 = 4.0;

impl ZoomPosition {
    pub fn is_whole(self) -> bool {
        self.zoom <= 1.0
    }

    /// Returns the part of a picture of `size` pixels that is shown, and the canvas that it fills. Below the fitting
    /// size, the canvas is smaller.
    pub fn part(self, size: (u32, u32), canvas: Canvas) -> (Region, Canvas) {
        let (width, height) = fitted_fractions(size, canvas);
        if self.is_whole() {
            let cells =
                |side: u16, fraction: f64| whole_cells(f64::from(side) * fraction * self.zoom);
            let smaller = Canvas {
                columns: cells(canvas.columns, width),
                rows: cells(canvas.rows, height),
                ..canvas
            };
            return (Region::WHOLE, if self.zoom < 1.0 { smaller } else { canvas });
        }
        let sides = (1.0 / (width * self.zoom), 1.0 / (height * self.zoom));
        let sides = (sides.0.min(1.0), sides.1.min(1.0));
        let part = Region { x: 0.0, y: 0.0, width: sides.0, height: sides.1 };
        let corner = (self.center.0 - sides.0 / 2.0, self.center.1 - sides.1 / 2.0);
        (part.moved_to(corner), canvas)
    }

    /// Zooms by a factor around a point that stays where it is. The fitting size is never skipped.
    pub fn zoom_by(&mut self, factor: f64, point: Vec2, size: (u32, u32), canvas: Canvas) {
        let actual = actual_zoom(size, canvas);
        let most = (actual * MAX_PIXEL_SIZE).max(MIN_MAX_ZOOM);
        let wanted = (self.zoom * factor).clamp(actual.min(1.0), most);
        let crosses_fit = (self.zoom - 1.0) * (wanted - 1.0) < 0.0;
        let zoom = if crosses_fit { 1.0 } else { wanted };
        let shift = |center: f64, fixed: f64| fixed + (center - fixed) * self.zoom / zoom;
        self.center = (shift(self.center.0, point.0), shift(self.center.1, point.1));
        self.zoom = zoom;
        self.keep_inside(size, canvas);
    }

    /// Moves the center by fractions of the visible part.
    pub fn pan(&mut self, by: Vec2, size: (u32, u32), canvas: Canvas) {
        let (part, _) = self.part(size, canvas);
        self.center.0 += by.0 * part.width;
        self.center.1 += by.1 * part.height;
        self.keep_inside(size, canvas);
    }

    fn keep_inside(&mut self, size: (u32, u32), canvas: Canvas) {
        let (part, _) = self.part(size, canvas);
        self.center = (part.x + part.width / 2.0, part.y + part.height / 2.0);
    }
}

/// Returns the zoom at which a pixel of the picture is a pixel of the canvas.
pub(in crate::app) fn actual_zoom(size: (u32, u32), canvas: Canvas) -> f64 {
    let (width, _) = fitted_fractions(size, canvas);
    let pixels = f64::from(canvas.columns) * f64::from(pixels_per_cell(canvas).0);
    f64::from(size.0.max(1)) / (pixels * width)
}

/// Returns the fractions of the canvas's width and height that the whole picture covers. One of
/// them is 1.
fn fitted_fractions(size: (u32, u32), canvas: Canvas) -> Vec2 {
    let across = |cells: u16, pixels: u16| f64::from(cells.max(1)) * f64::from(pixels.max(1));
    let (width, height) = (f64::from(size.0.max(1)), f64::from(size.1.max(1)));
    let columns = across(canvas.columns, canvas.cell.0) / width;
    let rows = across(canvas.rows, canvas.cell.1) / height;
    let scale = columns.min(rows);
    (scale / columns, scale / rows)
}

fn whole_cells(exact: f64) -> u16 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and a float cast saturates"
    )]
    let cells = exact.round().max(1.0) as u16;
    cells
}
