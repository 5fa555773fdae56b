//! Shows the picker of a path as a dialog, with a preview of the selected picture. The path is a query image, or fills
//! the focused field of the form from which the picker was opened. Come here to change what Tab and Ctrl-F do in such a
//! field. A form takes part by implementing `Dialog::path_field` and `Dialog::set_path`.

use tessera_model::{FolderListing, FolderQuery, PictureSource};
use tessera_picture::{Crop, PictureSubject, PictureView};

use crate::app::overlay::prelude::*;
use crate::app::{
    QueryImage,
    overlay::{
        fields::{Completion, PathField},
        path_picker::{PathCandidate, PathPicker, PickerAreas, PickerKey},
        region_picker::RegionPicker,
    },
    pane::inner_area,
    service_data::KnownFolder,
    view::pictures::VisiblePicture,
};

#[derive(Clone, Debug)]
pub struct FilePicker {
    pub picker: PathPicker,
    purpose: PickerPurpose,
}

#[derive(Clone, Debug)]
enum PickerPurpose {
    /// Searches by the picture.
    Search,
    /// Fills the focused field of this form.
    Field(Box<dyn Dialog>),
}

impl FilePicker {
    /// Creates the picker of a query image, which offers those that were used before.
    pub(in crate::app) fn of_query_image(results: &Results) -> Self {
        let recent = results.recent_images.files().cloned().collect();
        Self { picker: PathPicker::of_pictures(recent), purpose: PickerPurpose::Search }
    }

    /// Creates the picker of the path in the focused field of a form.
    pub(in crate::app) fn of_field(form: Box<dyn Dialog>, field: PathField, setup: &Setup) -> Self {
        let picker = PathPicker::begin_with(field, setup.home_dir.is_some());
        Self { picker, purpose: PickerPurpose::Field(form) }
    }

    fn listing<'a>(&self, app: &'a App) -> Option<&'a Remote<FolderListing>> {
        app.service_data.folder.listing_of(&self.picker.path.query(app.setup.home_dir.as_deref()))
    }

    pub fn candidates<'a>(&'a self, app: &'a App) -> Vec<PathCandidate<'a>> {
        self.picker.candidates(self.listing(app))
    }

    pub fn areas(area: Rect) -> PickerAreas {
        PickerAreas::new(inner_area(area))
    }

    /// Searches by the selected candidate, whose region is picked first if `pick_region` is set. Without a candidate,
    /// searches by the typed path, and stays open until its file is found, because files appear after a folder was read.
    fn search(&self, app: &mut App, pick_region: bool) -> KeyResult {
        let Some(view) = app.results.view() else { return KeyResult::Close };
        let search = Search { query: Query::Browse, ..view.search.clone() };
        let candidate = self.candidates(app).get(self.picker.cursor).map(|it| it.path());
        let is_listed = candidate.is_some();
        let typed = || self.picker.path.path(app.setup.home_dir.as_deref());
        let Some(file) = candidate.or_else(typed) else {
            app.outbox.notify(Level::Warning, "type the path of a picture");
            return KeyResult::Stay;
        };
        let image = QueryImage::file(file);
        if pick_region {
            RegionPicker::open_on(&mut app.overlays, &app.results, image);
        } else {
            app.panes.focus = Pane::Results;
            app.results.register_query_image(image, search, &mut app.outbox);
        }
        if is_listed { KeyResult::Close } else { KeyResult::Stay }
    }

    /// Closes the picker that waits for the file of a typed path.
    pub(in crate::app) fn file_found(overlays: &mut Overlays) {
        let picker = overlays.dialog::<Self>();
        if picker.is_some_and(|picker| matches!(picker.purpose, PickerPurpose::Search)) {
            overlays.close();
        }
    }
}

impl Dialog for FilePicker {
    fn handle_key(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        let listing = self.listing(app);
        match (self.picker.handle_key(chord, listing), &mut self.purpose) {
            (PickerKey::Close, PickerPurpose::Search) => KeyResult::Close,
            (PickerKey::Close, PickerPurpose::Field(_)) => KeyResult::Back,
            (PickerKey::Choose, PickerPurpose::Field(form)) => {
                form.set_path(&self.picker.chosen_text(listing));
                KeyResult::Back
            }
            (PickerKey::Choose, PickerPurpose::Search) => self.search(app, false),
            (PickerKey::TabOnFile, PickerPurpose::Search) => self.search(app, true),
            (PickerKey::Stay | PickerKey::TabOnFile, _) => KeyResult::Stay,
        }
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (110, screen.1.saturating_sub(4).min(30))
    }

    fn hints(&self) -> &'static str {
        match self.purpose {
            PickerPurpose::Search => {
                "↑ ↓ select   Tab complete, then pick a region   Enter open or search   Esc close"
            }
            PickerPurpose::Field(_) => {
                "↑ ↓ select   Tab complete or open a folder   Enter choose   Esc back"
            }
        }
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        Some(&mut self.picker.path.text)
    }

    fn form_below(&mut self) -> Option<&mut Box<dyn Dialog>> {
        match &mut self.purpose {
            PickerPurpose::Search => None,
            PickerPurpose::Field(form) => Some(form),
        }
    }

    fn select_item(&mut self, index: usize, app: &App) {
        self.picker.select(index, self.listing(app));
    }

    fn paste(&mut self, text: &str) {
        self.picker.paste(text);
    }

    fn pictures(&self, area: Rect, app: &App) -> Vec<(Rect, VisiblePicture)> {
        let area = Self::areas(area).picture;
        let candidates = self.candidates(app);
        let selected = candidates.get(self.picker.cursor).filter(|_| !area.is_empty());
        let picture = selected.filter(|candidate| candidate.is_picture()).map(|candidate| {
            let path = candidate.path();
            let subject = PictureSubject::File(path.clone());
            let view = PictureView { subject, crop: Crop::Full };
            let canvas = app.screen.canvas(area.width, area.height);
            (area, VisiblePicture::new(view, PictureSource::File(path), canvas))
        });
        picture.into_iter().collect()
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let title = match self.purpose {
            PickerPurpose::Search => "Search by a picture on this machine",
            PickerPurpose::Field(_) => "Choose a path on this machine",
        };
        ctx.dialog(area, title);
        let areas = FilePicker::areas(area);
        self.picker.draw(ctx, areas, self.listing(ctx.app));
        match self.pictures(area, ctx.app).pop() {
            Some((area, picture)) => _ = ctx.draw_picture(area, picture.view, picture.canvas),
            None if areas.picture.is_empty() => {}
            None if ctx.app.results.registering.is_some() => {
                ctx.picture_placeholder(areas.picture, "loading the file");
            }
            None => ctx.picture_placeholder(areas.picture, "no preview"),
        }
    }
}

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
