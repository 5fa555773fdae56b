//! Performs actions in the full-size view, handles the mouse there, plays the frames of a video, and decides why an
//! action is unavailable there. An action that is not about the view closes the view and acts on its picture.

use std::{cmp::Ordering, time::Duration};

use tessera_config::input::action::ActionGroup;
use tessera_model::{Basket, MediaId, ToggleOutcome, region::Vec2};
use tessera_picture::Protocol;

use crate::app::prelude::*;
use crate::app::{
    Baskets, Mouse, MouseKind, Screen,
    basket::{count_with_noun, select::toggle_preview_selected},
    overlay::palette::open_action_menu,
    pane::moved_cursor,
    view::tiles::member_index,
    viewer::{
        Arrangement, Comparison, PictureList, Viewer, ZoomPosition, actual_zoom,
        comparison::{focused_list, pictures_to_compare},
    },
};

const ZOOM_STEP: f64 = std::f64::consts::SQRT_2;
/// How far a key pans, as a fraction of the visible part.
const PAN_STEP: f64 = 0.25;
/// The number of pictures that a screen up or down moves by in the list.
const PAGE_STEP: isize = 10;

impl Baskets {
    /// Goes to the next entry of the basket whose picture is on a loaded page.
    fn step_in_basket(&mut self, by: isize, results: &Results) {
        let (rows, cursor) = (self.rows(results), self.cursor());
        let shown =
            |place: &usize| rows.get(*place).is_some_and(|row| results.loaded_entry(row).is_some());
        let places: Vec<usize> = (0..rows.len()).filter(shown).collect();
        let current = places.iter().position(|place| *place >= cursor).unwrap_or(0);
        let Some(&place) = places.get(moved_cursor(current, by, places.len())) else { return };
        self.move_cursor(place.cast_signed() - cursor.cast_signed(), results);
    }
}

/// Says what keeping a picture has changed in the selection, and how to undo it.
fn changes_text(changes: &[ToggleOutcome]) -> String {
    let outcomes = [
        (ToggleOutcome::Selected, "selected"),
        (ToggleOutcome::Included, "included again"),
        (ToggleOutcome::Excluded, "excluded"),
        (ToggleOutcome::Deselected, "deselected"),
    ];
    let parts = outcomes.map(|(outcome, verb)| {
        match changes.iter().filter(|change| **change == outcome).count() {
            0 => String::new(),
            count => format!(", {verb} {}", count_with_noun(count, "picture", "pictures")),
        }
    });
    let undo = if changes.is_empty() { "" } else { "; u undoes it" };
    parts.concat() + undo
}

/// Returns whether an action is performed with the full-size view still open.
fn keeps_viewer(action: Action) -> bool {
    match action.group() {
        ActionGroup::Selection | ActionGroup::Clipboard | ActionGroup::Viewer => true,
        ActionGroup::Program => !matches!(action, Action::Jump | Action::Zoom),
        ActionGroup::Searching => {
            matches!(action, Action::OpenExternally | Action::Refresh)
        }
        ActionGroup::Navigation
        | ActionGroup::QueryBuilder
        | ActionGroup::Tagging
        | ActionGroup::Jobs => false,
    }
}

const WHEEL_STEP: f64 = 1.25;

/// The minimum time for which a frame is shown. A frame is shown longer if the next frame is not
/// loaded yet.
const FRAME_DURATION: Duration = Duration::from_millis(250);
/// The number of frames that are loaded ahead.
const FRAMES_AHEAD: isize = 3;

impl Results {
    /// Returns the frames to load while a video is played.
    pub(in crate::app) fn frames_ahead(&self) -> Vec<&Preview> {
        let ahead = (1..=FRAMES_AHEAD).map_while(|by| self.frame_beside(by));
        ahead.filter_map(|frame| self.loaded_preview(frame.media)).collect()
    }
}

/// Returns why an action of the full-size view is unavailable.
pub(in crate::app) fn viewer_reason(app: &App, action: Action) -> Option<String> {
    if action == Action::Compare {
        return pictures_off(&app.screen, &app.setup).or_else(|| pictures_to_compare(app).err());
    }
    if app.viewer.is_none() {
        let key = app.keys_of(Action::FullSize);
        let key = key.first().map_or("", String::as_str);
        return Some(format!("no picture is shown at full size; {key} shows one"));
    }
    if let Some(comparison) = app.comparison() {
        return comparison_reason(app, comparison, action);
    }
    let (place, count) = app.viewer_position().unwrap_or_default();
    let reason = match action {
        Action::Blink | Action::Difference | Action::KeepPicture => {
            Some("no pictures are compared; m compares")
        }
        Action::NextPicture => (place + 1 >= count && !app.viewer_crosses_pages(1))
            .then_some("this is the last picture"),
        Action::PreviousPicture => {
            (place == 0 && !app.viewer_crosses_pages(-1)).then_some("this is the first picture")
        }
        Action::ZoomIn | Action::ZoomOut | Action::ActualSize => {
            app.viewer_scale().is_none().then_some("the picture is still loading")
        }
        Action::Play if app.viewed_preview().is_none_or(|preview| preview.frame.is_none()) => {
            Some("this is not a frame of a video")
        }
        Action::Play => (!app.shows_one_of_several_frames())
            .then_some("no other frame of this video is on this page"),
        Action::Boxes => {
            let none =
                app.viewed_preview().is_none_or(|preview| app.results.boxes_in(preview).is_empty());
            none.then_some("no objects of this picture are on this page; t shows objects")
        }
        _ => None,
    };
    reason.map(str::to_owned)
}

fn comparison_reason(app: &App, comparison: &Comparison, action: Action) -> Option<String> {
    let count = comparison.pictures.len();
    match action {
        Action::NextPicture if comparison.pair_beside(1, &app.results).is_none() => {
            Some("there is no later pair on this page".to_owned())
        }
        Action::PreviousPicture if comparison.pair_beside(-1, &app.results).is_none() => {
            Some("there is no earlier pair on this page".to_owned())
        }
        Action::Play => Some("pictures are compared; Esc shows one".to_owned()),
        Action::Difference if count != 2 => {
            Some(format!("{count} pictures are compared; a difference needs two"))
        }
        Action::ZoomIn | Action::ZoomOut | Action::ActualSize if app.viewer_scale().is_none() => {
            Some("the picture is still loading".to_owned())
        }
        _ => None,
    }
}

fn pictures_off(screen: &Screen, setup: &Setup) -> Option<String> {
    let off = screen.protocol == Protocol::None && !setup.is_text;
    off.then(|| "pictures are turned off; g p tests them".to_owned())
}

/// Returns why no picture can be shown at full size.
pub(in crate::app) fn full_size_reason(app: &App) -> Option<String> {
    if let Some(reason) = pictures_off(&app.screen, &app.setup) {
        return Some(reason);
    }
    let reason = if app.panes.focus == Pane::Basket {
        match app.baskets.selected_entry(&app.results) {
            None => "nothing is selected",
            Some(entry) if app.results.loaded_entry(entry).is_none() => {
                "no picture of this entry is on a loaded page; Enter searches for it"
            }
            Some(_) => return None,
        }
    } else if app.results.preview().is_none() {
        "no picture is selected"
    } else {
        return None;
    };
    Some(reason.to_owned())
}

/// Returns why an action on a picture does not apply to the picture at full size. Such an action
/// acts on the cursor, which may be on another picture.
pub(in crate::app) fn other_picture_reason(app: &App, action: Action) -> Option<String> {
    app.viewer.as_ref()?;
    let acts_on_picture = match action.group() {
        ActionGroup::Selection => !matches!(action, Action::Undo | Action::Redo),
        ActionGroup::Clipboard => true,
        _ => matches!(action, Action::Similar | Action::PickRegion | Action::OpenExternally),
    };
    let viewed = app.viewed_preview().map(|preview| preview.media);
    let at_cursor = app.results.preview().map(|preview| preview.media);
    let differs = acts_on_picture && viewed != at_cursor;
    differs.then(|| "the cursor is on another picture; Esc, then Enter in the basket".to_owned())
}

impl App {
    /// Opens the list of the focused pane at its cursor.
    pub(in crate::app) fn open_viewer(&mut self) {
        let list = focused_list(self.panes.focus, &self.results);
        self.viewer = Some(Viewer::new(list));
    }

    /// Performs an action in the full-size view, or closes the view for an action that is not about
    /// it. Returns whether the action is done.
    pub(in crate::app) fn perform_in_viewer(&mut self, action: Action) -> bool {
        if action != Action::Play {
            self.edit_viewer(Viewer::stop_playback);
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
            Action::PreviousFrame => self.results.step_frame(-1),
            Action::NextFrame => self.results.step_frame(1),
            Action::Play => self.toggle_playback(),
            Action::ZoomIn => self.zoom_viewer(ZOOM_STEP, None),
            Action::ZoomOut => self.zoom_viewer(1.0 / ZOOM_STEP, None),
            Action::ActualSize => self.zoom_to_actual_size(),
            Action::FitScreen => {
                self.edit_viewer(|viewer| viewer.position = ZoomPosition::default());
            }
            Action::Boxes => self.edit_viewer(|viewer| viewer.boxes ^= true),
            Action::Back => {
                if !self.dismiss_notification()
                    && !self.viewer.as_mut().is_some_and(Viewer::leave_arrangement)
                {
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

    /// Performs an action on the compared pictures. Returns whether the action is one of theirs.
    pub(in crate::app) fn perform_on_comparison(&mut self, action: Action) -> bool {
        match action {
            Action::NextPane => self.activate_compared(1),
            Action::PreviousPane => self.activate_compared(-1),
            Action::FullSize => self.edit_viewer(|viewer| viewer.comparison = None),
            Action::Compare => self.open_comparison(),
            Action::Blink => self.blink_compared(),
            Action::Difference => self.edit_comparison(Comparison::toggle_difference),
            Action::KeepPicture => self.keep_compared(),
            // The same action selects the cluster in the results.
            Action::Select if self.comparison().is_some() => toggle_preview_selected(self),
            _ => return false,
        }
        true
    }

    pub(in crate::app) fn edit_viewer(&mut self, edit: impl FnOnce(&mut Viewer)) {
        if let Some(viewer) = &mut self.viewer {
            edit(viewer);
        }
    }

    /// Goes to the next or previous picture, or to the next or previous pair of compared pictures.
    fn step_viewer(&mut self, by: isize) {
        if self.comparison().is_some() { self.step_pair(by) } else { self.step_in_list(by) }
    }

    /// Goes to the next or previous picture in the list, and shows the whole picture.
    fn step_in_list(&mut self, by: isize) {
        let Some(list) =
            self.viewer.as_ref().filter(|it| it.comparison.is_none()).map(|it| it.list)
        else {
            return;
        };
        match list {
            PictureList::Results if by.abs() == 1 => {
                self.results.move_across_pages(by);
            }
            PictureList::Results => self.results.move_cursor(by),
            PictureList::Members => self.results.step_preview(by),
            PictureList::Basket => self.baskets.step_in_basket(by, &self.results),
        }
        self.edit_viewer(|viewer| viewer.position = ZoomPosition::default());
    }

    pub(in crate::app) fn step_pair(&mut self, by: isize) {
        if let Some(pair) = self.comparison().and_then(|it| it.pair_beside(by, &self.results)) {
            self.show_compared(pair);
        }
    }

    /// Goes to the next picture of the list, or of the compared pictures.
    fn step_beside(&mut self, by: isize) {
        if self.comparison().is_some() { self.activate_compared(by) } else { self.step_in_list(by) }
    }

    /// Zooms around a point. Without a point, zooms around the center.
    pub(in crate::app) fn zoom_viewer(&mut self, factor: f64, point: Option<Vec2>) {
        let Some((size, canvas)) = self.viewed_dimensions() else { return };
        self.edit_viewer(|viewer| {
            let point = point.unwrap_or(viewer.position.center);
            viewer.position.zoom_by(factor, point, size, canvas);
        });
    }

    /// Switches between the actual and the fitting size.
    fn zoom_to_actual_size(&mut self) {
        let Some((size, canvas)) = self.viewed_dimensions() else { return };
        let zoom = if self.has_actual_size() { 1.0 } else { actual_zoom(size, canvas) };
        self.edit_viewer(|viewer| {
            viewer.position.zoom = zoom;
            viewer.position.pan((0.0, 0.0), size, canvas);
        });
    }

    fn has_actual_size(&self) -> bool {
        self.viewer_scale().is_some_and(|scale| (scale - 1.0).abs() < 1e-9)
    }

    /// Changes the screen. A picture that is zoomed to its actual size keeps this size, because the zoom is relative to
    /// the size that fits.
    pub(in crate::app) fn change_screen(&mut self, change: impl FnOnce(&mut Screen)) {
        let is_zoomed =
            self.viewer.as_ref().is_some_and(|it| (it.position.zoom - 1.0).abs() > 1e-9);
        let is_actual = is_zoomed && self.has_actual_size();
        change(&mut self.screen);
        if is_actual && !self.has_actual_size() {
            self.zoom_to_actual_size();
        }
    }

    /// Pans a zoomed picture. A whole picture has nothing to pan, so left and right go to the previous and next
    /// picture.
    pub(in crate::app) fn pan_or_step(&mut self, by: Vec2) {
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

    /// Pans by fractions of the visible part.
    pub(in crate::app) fn pan_viewer(&mut self, by: Vec2) {
        let Some((size, canvas)) = self.viewed_dimensions() else { return };
        self.edit_viewer(|viewer| viewer.position.pan(by, size, canvas));
    }

    pub(in crate::app) fn open_comparison(&mut self) {
        let Ok(pictures) = pictures_to_compare(self) else { return };
        let list = self.viewer.as_ref().map(|viewer| viewer.list);
        let list = list.unwrap_or_else(|| focused_list(self.panes.focus, &self.results));
        let comparison = Some(Comparison::new(pictures));
        self.viewer = Some(Viewer { comparison, ..Viewer::new(list) });
        self.select_compared();
    }

    pub(in crate::app) fn show_compared(&mut self, pictures: Vec<MediaId>) {
        self.edit_viewer(|viewer| {
            let arrangement = viewer.comparison.as_ref().map(|it| it.arrangement);
            viewer.position = ZoomPosition::default();
            viewer.comparison = Some(Comparison {
                arrangement: arrangement.unwrap_or(Arrangement::SideBySide),
                ..Comparison::new(pictures)
            });
        });
        self.select_compared();
    }

    /// Activates the picture `by` places further, and selects it in the results.
    pub(in crate::app) fn activate_compared(&mut self, by: isize) {
        self.edit_comparison(|comparison| comparison.activate(by));
        self.select_compared();
    }

    /// Shows the pictures in turn. If they are shown in turn already, the next picture is shown.
    fn blink_compared(&mut self) {
        if self.comparison().is_some_and(|it| it.arrangement == Arrangement::InTurn) {
            return self.activate_compared(1);
        }
        self.edit_comparison(|comparison| comparison.arrangement = Arrangement::InTurn);
    }

    fn edit_comparison(&mut self, edit: impl FnOnce(&mut Comparison)) {
        self.viewer.as_mut().and_then(|viewer| viewer.comparison.as_mut()).map(edit);
    }

    /// Keeps the active picture: selects the other pictures instead of it, and goes to the next pair. The last pair
    /// stays.
    fn keep_compared(&mut self) {
        let Some(comparison) = self.comparison().cloned() else { return };
        let next = comparison.pair_after_keeping(&self.results);
        let kept = comparison.pictures[comparison.active];
        let changes: Vec<ToggleOutcome> = comparison
            .pictures
            .iter()
            .filter_map(|media| {
                let is_other = *media != kept;
                self.baskets.set_selected(*media, is_other, &self.results, &mut self.outbox)
            })
            .collect();
        let merge = |basket: &mut Basket| basket.merge_last_steps(changes.len());
        self.baskets.edit(merge, &self.results, &mut self.outbox);
        let name = self.results.loaded_preview(kept).map(|kept| kept.file_name.clone());
        let end = if next.is_some() { "" } else { "; this was the last pair on this page" };
        let text = format!("kept {}{}{end}", name.unwrap_or_default(), changes_text(&changes));
        self.outbox.notify(Level::Success, text);
        if let Some(pair) = next {
            self.show_compared(pair);
        }
    }

    /// Moves the cursor to the active picture if it is on the open page, so that actions apply to it.
    fn select_compared(&mut self) {
        let active = self.comparison().map(|comparison| comparison.pictures[comparison.active]);
        let mut tiles = self.results.tile_clusters().into_iter().enumerate();
        let found = active.and_then(|media| {
            tiles.find_map(|(tile, it)| Some((tile, it.id, member_index(it, media)?)))
        });
        if let Some((tile, cluster, preview_index)) = found {
            self.results.edit_view(|view| {
                view.cursor = tile;
                view.cluster = Some(cluster);
                (view.preview_index, view.media) = (preview_index, active);
            });
        }
    }

    /// Starts or stops playback. Playback starts at this frame, or at the first frame if this is
    /// the last one.
    pub(in crate::app) fn toggle_playback(&mut self) {
        if self.viewer.as_ref().is_some_and(Viewer::is_playing) {
            return self.edit_viewer(Viewer::stop_playback);
        }
        if self.results.frame_beside(1).is_none() {
            let (position, _) = self.results.frame_position().unwrap_or_default();
            self.results.step_frame(-position.cast_signed());
        }
        let due = self.outbox.now + FRAME_DURATION;
        self.edit_viewer(|viewer| viewer.next_frame_due = Some(due));
    }

    /// Shows the next frame once it is due and loaded, and stops at the last one.
    pub(in crate::app) fn continue_playback(&mut self) {
        let Some(due) = self.viewer.as_ref().and_then(|viewer| viewer.next_frame_due) else {
            return;
        };
        if due > self.outbox.now || !self.has_loaded_next_frame() {
            return;
        }
        self.results.step_frame(1);
        let next = self.results.frame_beside(1).map(|_| self.outbox.now + FRAME_DURATION);
        self.edit_viewer(|viewer| viewer.next_frame_due = next);
    }

    pub(in crate::app) fn viewer_mouse(&mut self, mouse: Mouse) {
        let cell = (mouse.column, mouse.row);
        match mouse.kind {
            MouseKind::WheelUp => self.zoom_viewer(WHEEL_STEP, self.point_in_picture(cell)),
            MouseKind::WheelDown => self.zoom_viewer(1.0 / WHEEL_STEP, self.point_in_picture(cell)),
            MouseKind::Click => self.edit_viewer(|viewer| viewer.drag = Some(cell)),
            MouseKind::Drag => self.drag_viewer(cell),
            MouseKind::Release => self.edit_viewer(|viewer| viewer.drag = None),
            MouseKind::RightClick => open_action_menu(self),
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
}
