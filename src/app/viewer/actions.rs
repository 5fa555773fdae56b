//! What the actions do in the full-size view. All others close it and act on its picture.

use std::cmp::Ordering;

use super::{PictureList, Viewer, ZoomPosition, position::actual_zoom};
use crate::{
    app::{App, Pane, pane::moved_cursor},
    input::{Action, action::ActionGroup},
};
use tessera_model::region::Vec2;
use tessera_picture::Canvas;

const ZOOM_STEP: f64 = std::f64::consts::SQRT_2;
/// How far a key pans, as a fraction of the visible part.
const PAN_STEP: f64 = 0.25;
/// How far a screen up or down goes in the list.
const PAGE_STEP: isize = 10;

impl App {
    /// Opens the list of the focused pane at its cursor.
    pub(in crate::app) fn open_viewer(&mut self) {
        let list = self.focused_list();
        self.viewer = Some(Viewer::new(list));
    }

    /// The list of pictures of the focused pane.
    pub(super) fn focused_list(&self) -> PictureList {
        match self.panes.focus {
            Pane::Basket => PictureList::Basket,
            Pane::Detail => PictureList::Members,
            _ if self.shows_members() => PictureList::Members,
            _ => PictureList::Results,
        }
    }

    /// Performs an action in the full-size view, or closes it for one that is not about it. Returns
    /// whether the action is done.
    pub(in crate::app) fn perform_in_viewer(&mut self, action: Action) -> bool {
        if action != Action::Play {
            self.stop_playback();
        }
        match action {
            Action::Up => self.pan_or_step((0.0, -PAN_STEP)),
            Action::Down => self.pan_or_step((0.0, PAN_STEP)),
            Action::Left => self.pan_or_step((-PAN_STEP, 0.0)),
            Action::Right => self.pan_or_step((PAN_STEP, 0.0)),
            Action::ScreenUp => self.step_in_list(-PAGE_STEP),
            Action::ScreenDown => self.step_in_list(PAGE_STEP),
            Action::First => self.step_in_list(isize::MIN / 2),
            Action::Last => self.step_in_list(isize::MAX / 2),
            Action::NextPicture => self.step_viewer(1),
            Action::PreviousPicture => self.step_viewer(-1),
            Action::PreviousFrame => self.step_frame(-1),
            Action::NextFrame => self.step_frame(1),
            Action::Play => self.toggle_playback(),
            Action::ZoomIn => self.zoom_viewer(ZOOM_STEP, None),
            Action::ZoomOut => self.zoom_viewer(1.0 / ZOOM_STEP, None),
            Action::ActualSize => self.zoom_to_actual_size(),
            Action::FitScreen => {
                self.edit_viewer(|viewer| viewer.position = ZoomPosition::default());
            }
            Action::Boxes => self.edit_viewer(|viewer| viewer.boxes ^= true),
            Action::Back => {
                if !self.dismiss_notification() && !self.leave_arrangement() {
                    self.viewer = None;
                }
            }
            _ if self.perform_on_comparison(action) => {}
            _ => {
                if !keeps_viewer(action) {
                    self.viewer = None;
                }
                return false;
            }
        }
        true
    }

    pub(super) fn edit_viewer(&mut self, edit: impl FnOnce(&mut Viewer)) {
        if let Some(viewer) = &mut self.viewer {
            edit(viewer);
        }
    }

    /// The next or previous picture, or pair of compared ones.
    fn step_viewer(&mut self, by: isize) {
        if self.comparison().is_some() { self.step_pair(by) } else { self.step_in_list(by) }
    }

    /// Goes on in the list, and shows the whole picture.
    fn step_in_list(&mut self, by: isize) {
        let Some(list) =
            self.viewer.as_ref().filter(|it| it.comparison.is_none()).map(|it| it.list)
        else {
            return;
        };
        match list {
            PictureList::Results if by.abs() == 1 => self.move_across_pages(by),
            PictureList::Results => self.move_in_results(by),
            PictureList::Members => self.step_preview(by),
            PictureList::Basket => self.step_in_basket(by),
        }
        self.edit_viewer(|viewer| viewer.position = ZoomPosition::default());
    }

    /// Goes to the next entry of the basket whose picture is on a loaded page.
    fn step_in_basket(&mut self, by: isize) {
        let (rows, cursor) = (self.basket_rows(), self.baskets.cursor());
        let shown =
            |place: &usize| rows.get(*place).is_some_and(|row| self.loaded_entry(row).is_some());
        let places: Vec<usize> = (0..rows.len()).filter(shown).collect();
        let current = places.iter().position(|place| *place >= cursor).unwrap_or(0);
        let Some(&place) = places.get(moved_cursor(current, by, places.len())) else { return };
        self.move_in_basket(place.cast_signed() - cursor.cast_signed());
    }

    /// The size of the picture and its canvas, which zooming and panning need.
    fn viewed_dimensions(&self) -> Option<((u32, u32), Canvas)> {
        let panels = self.viewer_panels();
        let panel = panels.iter().find(|panel| panel.active)?;
        Some((
            self.viewed_size(panel.picture.preview())?,
            self.screen.canvas(panel.area.width, panel.area.height),
        ))
    }

    /// Zooms around a point, by default the center.
    pub(super) fn zoom_viewer(&mut self, factor: f64, point: Option<Vec2>) {
        let Some((size, canvas)) = self.viewed_dimensions() else { return };
        self.edit_viewer(|viewer| {
            let point = point.unwrap_or(viewer.position.center);
            viewer.position.zoom_by(factor, point, size, canvas);
        });
    }

    /// Switches between the actual and the fitting size.
    fn zoom_to_actual_size(&mut self) {
        let Some((size, canvas)) = self.viewed_dimensions() else { return };
        let actual = actual_zoom(size, canvas);
        self.edit_viewer(|viewer| {
            let is_actual = (viewer.position.zoom - actual).abs() < 1e-9;
            viewer.position.zoom = if is_actual { 1.0 } else { actual };
            viewer.position.pan((0.0, 0.0), size, canvas);
        });
    }

    /// Pans a zoomed picture. A whole one has nothing to pan: left and right go to the picture beside it.
    pub(super) fn pan_or_step(&mut self, by: Vec2) {
        let Some(position) = self.viewer.as_ref().map(|viewer| viewer.position) else { return };
        if position.is_whole() {
            return match by.0.partial_cmp(&0.0) {
                Some(Ordering::Less) => self.step_beside(-1),
                Some(Ordering::Greater) => self.step_beside(1),
                _ => {}
            };
        }
        self.pan_viewer(by);
    }

    /// The next picture of the list, or of those that are compared.
    fn step_beside(&mut self, by: isize) {
        if self.comparison().is_some() { self.activate_compared(by) } else { self.step_in_list(by) }
    }

    /// Pans by fractions of the visible part.
    pub(super) fn pan_viewer(&mut self, by: Vec2) {
        let Some((size, canvas)) = self.viewed_dimensions() else { return };
        self.edit_viewer(|viewer| viewer.position.pan(by, size, canvas));
    }

    /// How large the picture is shown: 1 is a pixel of the picture per pixel of the canvas.
    pub fn viewer_scale(&self) -> Option<f64> {
        let (size, canvas) = self.viewed_dimensions()?;
        Some(self.viewer.as_ref()?.position.zoom / actual_zoom(size, canvas))
    }
}

/// Whether an action is performed with the full-size view still open.
fn keeps_viewer(action: Action) -> bool {
    match action.group() {
        ActionGroup::Selection | ActionGroup::Clipboard | ActionGroup::Viewer => true,
        ActionGroup::Program => !matches!(action, Action::Jump | Action::Zoom),
        ActionGroup::Searching => {
            matches!(action, Action::OpenExternally | Action::Refresh)
        }
        ActionGroup::Navigation | ActionGroup::QueryBuilder | ActionGroup::Jobs => false,
    }
}
