//! Why actions are unavailable in the full-size view, or outside it.

use super::{Comparison, PictureList};
use crate::{
    app::{App, Pane},
    input::{Action, action::ActionGroup},
};
use tessera_picture::Protocol;

/// Why an action of the full-size view is unavailable.
pub(in crate::app) fn viewer_reason(app: &App, action: Action) -> Option<String> {
    if action == Action::Compare {
        return pictures_off(app).or_else(|| app.pictures_to_compare().err());
    }
    if app.viewer.is_none() {
        let key = app.setup.keymap.keys_of(&app.contexts(), Action::FullSize);
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
            let none = app.viewed_preview().is_none_or(|preview| app.boxes_in(preview).is_empty());
            none.then_some("no objects of this picture are on this page; t shows objects")
        }
        _ => None,
    };
    reason.map(str::to_owned)
}

fn comparison_reason(app: &App, comparison: &Comparison, action: Action) -> Option<String> {
    let count = comparison.pictures.len();
    match action {
        Action::NextPicture if app.pair_beside(1).is_none() => {
            Some("there is no later pair on this page".to_owned())
        }
        Action::PreviousPicture if app.pair_beside(-1).is_none() => {
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

fn pictures_off(app: &App) -> Option<String> {
    let off = app.screen.protocol == Protocol::None && !app.is_text();
    off.then(|| "pictures are turned off; g p tests them".to_owned())
}

/// Why no picture can be shown at full size.
pub(in crate::app) fn full_size_reason(app: &App) -> Option<String> {
    if let Some(reason) = pictures_off(app) {
        return Some(reason);
    }
    let reason = if app.panes.focus == Pane::Basket {
        match app.selected_entry() {
            None => "nothing is selected",
            Some(entry) if app.loaded_entry(entry).is_none() => {
                "no picture of this entry is on a loaded page; Enter searches for it"
            }
            Some(_) => return None,
        }
    } else if app.preview().is_none() {
        "no picture is selected"
    } else {
        return None;
    };
    Some(reason.to_owned())
}

/// Why an action on a picture does not apply to the one at full size: it acts on the cursor.
pub(in crate::app) fn other_picture_reason(app: &App, action: Action) -> Option<String> {
    app.viewer.as_ref()?;
    let acts_on_picture = match action.group() {
        ActionGroup::Selection => !matches!(action, Action::Undo | Action::Redo),
        ActionGroup::Clipboard => true,
        _ => matches!(action, Action::Similar | Action::PickRegion | Action::OpenExternally),
    };
    let viewed = app.viewed_preview().map(|preview| preview.media);
    let at_cursor = app.preview().map(|preview| preview.media);
    let differs = acts_on_picture && viewed != at_cursor;
    differs.then(|| "the cursor is on another picture; Esc, then Enter in the basket".to_owned())
}

impl App {
    /// Whether the next or previous picture of the results is on another page.
    fn viewer_crosses_pages(&self, by: isize) -> bool {
        let in_results =
            self.viewer.as_ref().is_some_and(|viewer| viewer.list == PictureList::Results);
        in_results && if by > 0 { self.may_have_next_page() } else { self.page_number() > 0 }
    }
}
