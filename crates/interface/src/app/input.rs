//! Turns keys and the mouse into actions. An open dialog gets all keys and the mouse. In the panes, a click focuses and
//! selects, a double click opens, a drag selects a range, and the wheel scrolls.

use std::time::Duration;

use ratatui::layout::Position;
use tessera_config::input::{KeyContext, KeyMatch};

use crate::app::prelude::*;
use crate::app::{
    Mouse, MouseKind,
    areas::{DetailLayout, datasets_scroll_top, tab_areas},
    basket::{TileDrag, select::select_range},
    custom_commands::run_custom_command,
    jobs::rows::JobRows,
    overlay::{palette::open_action_menu, selection_rows::BasketRows},
    query::{chip_areas, chips},
    quitting::stop_or_quit,
};

const DOUBLE_CLICK: Duration = Duration::from_millis(400);
/// The number of letters without an action after which the layout is explained.
const UNKNOWN_LETTERS: u8 = 3;

/// Returns whether a letter is not on a keyboard with a Latin layout.
fn is_other_letter(c: char) -> bool {
    c.is_alphabetic() && !c.is_ascii()
}

fn finish_tile_drag(app: &mut App) {
    let pending = &mut app.baskets.pending;
    if pending.drag.take().is_some_and(|drag| drag.moved) && pending.range.is_some() {
        select_range(app);
    }
}

impl App {
    pub(in crate::app) fn handle_key(&mut self, chord: Chord) {
        self.input.hover = None;
        // Ctrl-C stops or quits from anywhere, even from a text field.
        if self.overlays.is_open() && chord.ctrl && chord.key == Key::Char('c') {
            stop_or_quit(self);
        } else if self.takes_keys() && self.is_bound_everywhere(chord, Action::Suspend) {
            self.perform(Action::Suspend);
        } else if self.overlay_key(chord) {
            // The open dialog has handled the key.
        } else if self.input.jump_mode {
            self.jump(chord);
        } else if !(self.is_editing_query() && self.handle_query_key(chord)) {
            self.input.pending_keys.push(chord);
            let resolved = self.setup.keymap.resolve(&self.contexts(), &self.input.pending_keys);
            if resolved != KeyMatch::Pending {
                self.input.pending_keys.clear();
            }
            match resolved {
                KeyMatch::Action(action) => {
                    self.input.unknown_letters = 0;
                    self.perform(action);
                }
                KeyMatch::CustomCommand(position) => run_custom_command(self, position),
                KeyMatch::Unbound if chord.typed().is_some_and(is_other_letter) => {
                    self.explain_unknown_letter();
                }
                KeyMatch::Unbound | KeyMatch::Pending => {}
            }
        }
    }

    /// Returns whether something other than the keymap handles the keys.
    fn takes_keys(&self) -> bool {
        self.overlays.is_open() || self.input.jump_mode || self.is_editing_query()
    }

    fn is_editing_query(&self) -> bool {
        self.query.is_editing_query(self.panes.focus, &self.results)
    }

    /// Returns whether a key that types no text is bound to an action of the whole program.
    fn is_bound_everywhere(&self, chord: Chord, action: Action) -> bool {
        let resolved = self.setup.keymap.resolve(&[KeyContext::Everywhere], &[chord]);
        chord.typed().is_none() && resolved == KeyMatch::Action(action)
    }

    /// Returns whether a letter of a layout that is not Latin types text here, or is bound.
    pub(in crate::app) fn takes_key(&self, typed: Chord) -> bool {
        if let Some(dialog) = self.overlay() {
            return dialog.takes_text();
        }
        let keys = [self.input.pending_keys.as_slice(), &[typed]].concat();
        !self.input.jump_mode
            && (self.is_editing_query()
                || self.setup.keymap.resolve(&self.contexts(), &keys) != KeyMatch::Unbound)
    }

    /// Explains the layout after some letters without an action, because the terminal does not report where their keys
    /// are.
    fn explain_unknown_letter(&mut self) {
        self.input.unknown_letters += 1;
        if self.input.unknown_letters == UNKNOWN_LETTERS {
            self.input.unknown_letters = 0;
            let text = "these letters have no action; switch to a Latin keyboard layout, or bind them in keys.toml";
            self.outbox.notify(Level::Warning, text);
        }
    }

    /// Handles a key while the pane takes typed text. Returns `false` for keys that the keymap
    /// handles.
    pub(in crate::app) fn handle_query_key(&mut self, chord: Chord) -> bool {
        if matches!(chord.key, Key::F(_)) || (chord.ctrl && chord.key == Key::Char('c')) {
            return false;
        }
        let in_json = self.query.draft(&self.results).json.is_some();
        match chord.key {
            Key::Esc if in_json => self.panes.focus = Pane::Results,
            Key::Tab if in_json => self.query.switch_json(&self.results, &mut self.outbox),
            _ => {
                if let Some((draft, known)) = self.query.draft_and_values(&self.results) {
                    draft.handle_key(chord, known);
                }
            }
        }
        true
    }

    pub(in crate::app) fn click_chip(&mut self, line: Rect, column: u16) {
        let chips = chips(self);
        let hit = chip_areas(&chips, line).position(|area| area.contains((column, line.y).into()));
        self.panes.focus = Pane::Query;
        if let Some(row) = hit.and_then(|hit| chips[hit].row) {
            self.query.edit_draft(|draft| draft.select_row(row), &self.results);
        }
    }

    pub(in crate::app) fn handle_mouse(&mut self, mouse: Mouse) {
        if self.overlay_mouse(mouse) {
            return;
        }
        if self.viewer.is_some() {
            return self.viewer_mouse(mouse);
        }
        match mouse.kind {
            MouseKind::Drag => return self.drag_over_tiles(mouse),
            MouseKind::Release => return finish_tile_drag(self),
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
        if let Some(line) = Some(areas.chips).filter(clicked) {
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
                open_action_menu(self);
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
        (index < self.results.tiles().len()).then_some(index)
    }

    /// Selects the range of tiles from the tile where the button was pressed, like the keys for a
    /// range.
    fn drag_over_tiles(&mut self, mouse: Mouse) {
        let (Some(drag), Some(index)) = (self.baskets.pending.drag, self.tile_at(mouse)) else {
            return;
        };
        if !drag.moved && index != drag.start {
            self.results.select_tile(drag.start);
            self.baskets.pending.range = self.results.cluster().map(|cluster| cluster.id);
            self.baskets.pending.drag = Some(TileDrag { moved: true, ..drag });
            self.input.last_click = None;
        }
        if index != self.results.tile_cursor().tile {
            self.results.select_tile(index);
        }
    }

    /// Moves the cursor of the focused pane to the item under the mouse. In the results, a drag can begin there.
    fn select_at(&mut self, mouse: Mouse) {
        let Some(index) = self.item_at(mouse) else { return };
        self.go_to_item(index);
        if self.panes.focus == Pane::Results && !self.results.shows_members() {
            self.baskets.pending.drag = Some(TileDrag { start: index, moved: false });
        }
    }

    fn item_at(&self, mouse: Mouse) -> Option<usize> {
        let area = self.areas().pane(self.panes.focus)?;
        match self.panes.focus {
            Pane::Datasets => {
                let row = mouse.row.saturating_sub(area.y + 1);
                Some(datasets_scroll_top(self, area) + usize::from(row))
            }
            Pane::Results => self.tile_at(mouse),
            Pane::Detail => DetailLayout::new(self, area).preview_at(mouse.column, mouse.row),
            Pane::Query => None,
            Pane::Jobs => JobRows::new(self, area).index_at(mouse.row),
            Pane::Basket => BasketRows::new(self, area).index_at(mouse.row),
        }
    }
}
