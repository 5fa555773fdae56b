//! The mouse: a click focuses and selects, a double click opens, a drag selects a range, the wheel scrolls.

use std::time::Duration;

use ratatui::layout::{Position, Rect};

use crate::{
    app::{
        App, Mouse, MouseKind, Pane, areas::tab_areas, basket::TileDrag,
        detail_layout::DetailLayout, jobs::job_rows::JobRows, pane::datasets_scroll_top,
    },
    input::Action,
};

const DOUBLE_CLICK: Duration = Duration::from_millis(400);

impl App {
    pub(super) fn handle_mouse(&mut self, mouse: Mouse) {
        if self.overlay_mouse(mouse) {
            return;
        }
        if self.viewer.is_some() {
            return self.viewer_mouse(mouse);
        }
        match mouse.kind {
            MouseKind::Drag => return self.drag_over_tiles(mouse),
            MouseKind::Release => return self.finish_tile_drag(),
            MouseKind::Click => self.baskets.pending.drag = None,
            MouseKind::RightClick | MouseKind::WheelUp | MouseKind::WheelDown => {}
        }
        let areas = self.areas();
        let position = Position::new(mouse.column, mouse.row);
        let clicked = |line: &Rect| mouse.kind == MouseKind::Click && line.contains(position);
        if let Some(line) = areas.tabs.filter(clicked) {
            let tab = tab_areas(line).find(|(_, area)| area.contains(position));
            self.panes.focus = tab.map_or(self.panes.focus, |(pane, _)| pane);
            return;
        }
        if let Some(line) = areas.chips.filter(clicked) {
            return self.click_chip(line, mouse.column);
        }
        let Some((pane, _)) = areas.panes().find(|(_, area)| area.contains(position)) else {
            return;
        };
        self.panes.focus = pane;
        match mouse.kind {
            MouseKind::WheelUp => self.move_cursor(Action::Up),
            MouseKind::WheelDown => self.move_cursor(Action::Down),
            MouseKind::Drag | MouseKind::Release => {}
            MouseKind::RightClick => {
                self.select_at(mouse);
                self.open_action_menu();
            }
            MouseKind::Click => {
                self.select_at(mouse);
                let double = self.input.last_click.is_some_and(|(before, at)| {
                    at == mouse && self.outbox.now.saturating_sub(before) <= DOUBLE_CLICK
                });
                self.input.last_click = (!double).then_some((self.outbox.now, mouse));
                if double {
                    self.open_selected();
                }
            }
        }
    }

    fn tile_at(&self, mouse: Mouse) -> Option<usize> {
        let grid = self.grid()?;
        let index = grid.index_at(mouse.column, mouse.row)?;
        let index = index + grid.first_visible(self.tile_cursor().1);
        (index < self.tiles().len()).then_some(index)
    }

    /// The range of tiles from where the button was pressed, as with the keys.
    fn drag_over_tiles(&mut self, mouse: Mouse) {
        let (Some(drag), Some(index)) = (self.baskets.pending.drag, self.tile_at(mouse)) else {
            return;
        };
        if !drag.moved && index != drag.start {
            self.select_tile(drag.start);
            self.baskets.pending.range = self.cluster().map(|cluster| cluster.id);
            self.baskets.pending.drag = Some(TileDrag { moved: true, ..drag });
            self.input.last_click = None;
        }
        if index != self.tile_cursor().0 {
            self.select_tile(index);
        }
    }

    fn finish_tile_drag(&mut self) {
        if self.baskets.pending.drag.take().is_some_and(|drag| drag.moved)
            && self.baskets.pending.range.is_some()
        {
            self.select_range();
        }
    }

    fn select_at(&mut self, mouse: Mouse) {
        let areas = self.areas();
        let row = |area: Rect| usize::from(mouse.row.saturating_sub(area.y + 1));
        match (self.panes.focus, areas.datasets, areas.jobs) {
            (Pane::Datasets, Some(area), _) => {
                let top = datasets_scroll_top(self, area);
                let dataset = self.visible_datasets().get(top + row(area)).map(|it| it.id);
                self.datasets.cursor = dataset.or(self.datasets.cursor);
            }
            (Pane::Jobs, _, Some(area)) => {
                if let Some(job) = JobRows::new(self, area).index_at(mouse.row) {
                    self.jobs.select_row(job);
                }
            }
            (Pane::Results, ..) => {
                if let Some(index) = self.tile_at(mouse) {
                    self.select_tile(index);
                    let drag = TileDrag { start: index, moved: false };
                    self.baskets.pending.drag = (!self.shows_members()).then_some(drag);
                }
            }
            (Pane::Detail, ..) => {
                let layout = areas.detail.map(|area| DetailLayout::new(self, area));
                let index = layout.and_then(|layout| layout.preview_at(mouse.column, mouse.row));
                if let Some(index) = index {
                    self.show_preview(index);
                }
            }
            _ => {}
        }
    }
}
