//! Completes the path in the focused field of a form, and opens the picker for it. Come here to change what Tab and
//! Ctrl-F do in such a field. A form takes part by implementing `Dialog::path_field` and `Dialog::set_path`.

use tessera_model::FolderQuery;

use crate::app::overlay::prelude::*;
use crate::app::{
    overlay::{fields::Completion, file_picker::FilePicker},
    service_data::KnownFolder,
};

/// Handles a key in a field with a path. Returns the dialog if it has to handle the key itself.
pub(super) fn path_field_key(
    app: &mut App,
    dialog: Box<dyn Dialog>,
    chord: Chord,
) -> Option<Box<dyn Dialog>> {
    let Some(field) = dialog.path_field() else { return Some(dialog) };
    let opens_picker = chord.ctrl && chord.key == Key::Char('f');
    // Only a name that the user has begun can be completed. Otherwise, Tab goes to the next field.
    let completes = chord.key == Key::Tab
        && !chord.shift
        && app.overlays.path_is_typed
        && !field.name().is_empty();
    if !opens_picker && !completes {
        return Some(dialog);
    }
    // An earlier listing may be out of date.
    app.service_data.folder = KnownFolder::default();
    if opens_picker {
        app.overlays.open(FilePicker::of_field(dialog, field, &app.setup));
    } else {
        (app.overlays.completion, app.overlays.open) = (Some(field), Some(dialog));
    }
    None
}

/// Completes the path that waited for its folder. If several names continue the path, the picker shows them. If
/// nothing does, the next field is focused.
pub(in crate::app) fn complete_path(app: &mut App) {
    let Some(mut field) = app.overlays.completion.take() else { return };
    let Some(mut dialog) = app.overlays.open.take() else { return };
    let query = field.query(app.setup.home_dir.as_deref());
    let listing = app.service_data.folder.listing_of(&query);
    let folder = listing.and_then(Remote::value);
    match folder.map_or(Completion::Complete, |folder| field.complete_in(folder)) {
        Completion::Extended => dialog.set_path(field.text.value()),
        Completion::Ambiguous => {
            app.service_data.folder = KnownFolder::default();
            return app.overlays.open(FilePicker::of_field(dialog, field, &app.setup));
        }
        Completion::Complete => {
            app.overlays.path_is_typed = false;
            dialog.handle_key(Chord::plain(Key::Tab), app);
        }
    }
    app.overlays.open = Some(dialog);
}

/// Returns the text of the path in the focused field.
pub(super) fn typed_path(dialog: &dyn Dialog) -> Option<String> {
    dialog.path_field().map(|field| field.text.value().to_owned())
}

/// Returns the query for the entries that the open picker shows, or that a completion waits for.
pub(in crate::app) fn folder_to_list(overlays: &Overlays, setup: &Setup) -> Option<FolderQuery> {
    let picked = overlays.dialog::<FilePicker>().map(|picker| &picker.picker.path);
    Some(picked.or(overlays.completion.as_ref())?.query(setup.home_dir.as_deref()))
}
