//! The mouse in the full-size view: the wheel zooms where it points, a drag pans.

use ratatui::layout::Position;

use super::ViewerPanel;
use crate::app::{App, Mouse, MouseKind};
use tessera_model::region::Vec2;

const WHEEL_STEP: f64 = 1.25;

impl App {
    pub(in crate::app) fn viewer_mouse(&mut self, mouse: Mouse) {
        let cell = (mouse.column, mouse.row);
        match mouse.kind {
            MouseKind::WheelUp => self.zoom_viewer(WHEEL_STEP, self.point_in_picture(cell)),
            MouseKind::WheelDown => self.zoom_viewer(1.0 / WHEEL_STEP, self.point_in_picture(cell)),
            MouseKind::Click => self.edit_viewer(|viewer| viewer.drag = Some(cell)),
            MouseKind::Drag => self.drag_viewer(cell),
            MouseKind::Release => self.edit_viewer(|viewer| viewer.drag = None),
            MouseKind::RightClick => self.open_action_menu(),
        }
    }

    fn drag_viewer(&mut self, to: (u16, u16)) {
        let from = self.viewer.as_ref().and_then(|viewer| viewer.drag);
        let cells = self.panel_at(to).and_then(|panel| self.viewed_cells(&panel));
        let (Some(from), Some((cells, _))) = (from, cells) else { return };
        let moved = |from: u16, to: u16, side: u16| {
            (f64::from(from) - f64::from(to)) / f64::from(side.max(1))
        };
        self.pan_viewer((moved(from.0, to.0, cells.width), moved(from.1, to.1, cells.height)));
        self.edit_viewer(|viewer| viewer.drag = Some(to));
    }

    fn panel_at(&self, (column, row): (u16, u16)) -> Option<ViewerPanel<'_>> {
        let position = Position::new(column, row);
        let panels = self.viewer_panels();
        panels.iter().find(|panel| panel.area.contains(position)).or(panels.first()).copied()
    }

    /// A cell as a point of the picture, in fractions of it.
    fn point_in_picture(&self, cell: (u16, u16)) -> Option<Vec2> {
        let panel = self.panel_at(cell)?;
        let (cells, part) = self.viewed_cells(&panel)?;
        let fraction = |at: u16, start: u16, side: u16| {
            ((f64::from(at) + 0.5 - f64::from(start)) / f64::from(side.max(1))).clamp(0.0, 1.0)
        };
        let x = part.x + part.width * fraction(cell.0, cells.x, cells.width);
        let y = part.y + part.height * fraction(cell.1, cells.y, cells.height);
        Some((x, y))
    }
}
