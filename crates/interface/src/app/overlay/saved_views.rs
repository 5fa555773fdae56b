//! Saves, lists, renames, deletes and opens views.

use tessera_model::{AnchorKind, PictureSource, SavedView, StateKey, StateValue};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        QueryBuilder, QueryImage, ServiceData,
        basket::count_with_noun,
        overlay::{
            command_list::{CommandList, ListKind},
            fields::{self},
            palette::refresh_palette,
            pick_list::{Command, PickItem},
        },
        service_data::LoadedState,
    },
    drawing::{FormOptions, Prefilled, choice_text, field_area},
};

#[derive(Clone, Debug)]
pub struct ViewNameInput {
    pub name: Prefilled,
    /// Whether the view applies to any dataset, or only to the open one.
    pub any_dataset: bool,
    /// The view to rename. `None` saves a new view.
    pub renamed_from: Option<SafeText>,
}

impl ViewNameInput {
    pub fn trimmed_name(&self) -> SafeText {
        SafeText::name(self.name.value().trim())
    }

    pub(in crate::app) fn open(overlays: &mut Overlays, renamed_from: Option<SafeText>) {
        let name = Prefilled::of_choice(renamed_from.as_ref().map_or("", SafeText::as_str));
        overlays.open(ViewNameInput { name, any_dataset: false, renamed_from });
    }
}

impl Dialog for ViewNameInput {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        if chord.key == Key::Tab && self.renamed_from.is_none() {
            self.any_dataset = !self.any_dataset;
            return KeyResult::Stay;
        }
        fields::handle_key(&mut self.name, chord)
    }

    fn preferred_size(&self, _: (u16, u16)) -> (u16, u16) {
        (72, 5)
    }

    fn hints(&self) -> &'static str {
        "Enter save   Tab this or any dataset   Esc close"
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        Some(self.name.replaced())
    }

    fn accept(self: Box<Self>, app: &mut App) {
        let name = self.trimmed_name();
        if name.is_empty() {
            app.outbox.notify(Level::Warning, "type a name for the view");
            app.overlays.open(*self);
            return;
        }
        let view = match &self.renamed_from {
            Some(old) => app.service_data.saved_view(old).cloned(),
            None => view_to_save(&app.query, &app.results, self.any_dataset),
        };
        let Some(view) = view else { return };
        let mut views = app.service_data.saved_views().to_vec();
        views.retain(|saved| !self.renamed_from.as_ref().is_some_and(|old| saved.is_named(old)));
        app.outbox.notify(Level::Success, format!("saved the view “{name}”; W opens it"));
        SavedView { name, ..view }.insert_into(&mut views);
        app.service_data.store_views(views, &mut app.outbox);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let is_new = self.renamed_from.is_none();
        let inside = ctx.dialog(area, if is_new { "Save as a view" } else { "Rename the view" });
        let theme = ctx.theme;
        let name = self.trimmed_name();
        let existing = ctx.app.service_data().saved_view(&name);
        let replaces = existing
            .is_some_and(|view| !self.renamed_from.as_ref().is_some_and(|old| view.is_named(old)));
        ctx.form(inside, &FormOptions::new(FIELD_COLUMN, &[], 0), |rows| {
            let row = rows.reserve(1);
            rows.ctx.put(row, 0, &[(" name", theme.text)]);
            rows.ctx.prefilled_field(field_area(row, FIELD_COLUMN), &self.name, true);
            if is_new {
                let scope = if self.any_dataset { "any dataset" } else { "this dataset" };
                rows.text(&format!("for    {}", choice_text(scope, true)), theme.text);
            }
            if replaces {
                rows.text(&format!("? replaces the view “{name}”"), theme.attention);
            }
        });
    }
}

/// Asks for confirmation before a saved view is deleted, which cannot be undone.
#[derive(Clone, Debug)]
pub struct ViewDeletion(pub SafeText);

impl Dialog for ViewDeletion {
    fn handle_key(&mut self, chord: Chord, _: &mut App) -> KeyResult {
        KeyResult::of_confirmation(chord, false)
    }

    fn preferred_size(&self, _: (u16, u16)) -> (u16, u16) {
        (72, 4)
    }

    fn hints(&self) -> &'static str {
        "y delete   Esc close"
    }

    fn accept(self: Box<Self>, app: &mut App) {
        delete_view(app, &self.0);
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let title = format!("Delete the view “{}”", self.0);
        ctx.texts_dialog(area, &title, &["This cannot be undone."]);
    }
}

impl ServiceData {
    pub fn saved_views(&self) -> &[SavedView] {
        self.views.value().map_or(&[], Vec::as_slice)
    }

    fn saved_view(&self, name: &SafeText) -> Option<&SavedView> {
        self.saved_views().iter().find(|view| view.is_named(name))
    }

    /// Returns why no view can be saved. Saving a view before the saved views are loaded would overwrite them.
    pub fn saved_views_unavailable(&self) -> Option<String> {
        match (self.views.value(), self.views.failure()) {
            (Some(_), _) => None,
            (None, Some(failure)) => Some(failure.to_string()),
            (None, None) => Some("the saved views are loading".to_owned()),
        }
    }

    pub(in crate::app) fn describe_view(&self, view: &SavedView) -> String {
        let dataset = match view.dataset {
            None => "any dataset".to_owned(),
            Some(id) => {
                let known = self.dataset(id);
                known.map_or_else(|| format!("dataset {}", id.short()), |it| it.name.to_string())
            }
        };
        let query = match &view.query {
            Query::Browse => String::new(),
            Query::Caption { text, .. } => format!(" · “{}”", SafeText::name(text.as_str())),
            Query::Similar(_) => {
                let name = view.similar_to.as_ref().map_or("a picture", SafeText::as_str);
                format!(" · similar to {name}")
            }
        };
        let on = count_with_noun(view.filters.len(), "filter", "filters");
        let off = view.disabled_filters.len();
        format!("{dataset}{query} · {on} on, {off} off")
    }

    fn store_views(&mut self, views: Vec<SavedView>, outbox: &mut Outbox) {
        self.views.finish(outbox.now, Ok(views.clone()));
        outbox.save(StateValue::Views(views));
    }
}

pub fn needs_saved_views(app: &App) -> bool {
    let listed = [ListKind::Views, ListKind::Palette]
        .iter()
        .any(|kind| CommandList::opened(&app.overlays, *kind).is_some());
    let awaited = app.setup.start.view.is_some() && app.results.view().is_some();
    (listed || awaited || app.panes.focus == Pane::Query)
        && app.service_data.views.due(None).is_some()
        && !app.tickets().is_open(&Lane::SaveState(StateKey::Views))
}

pub(in crate::app) fn saved_views_loaded(app: &mut App, result: LoadedState) {
    let views = result.map(|value| match value {
        Some(StateValue::Views(views)) => views,
        // No other state is stored under this key.
        _ => Vec::new(),
    });
    app.service_data.views.finish(app.outbox.now, views);
    if let Some(name) = app.setup.start.view.take() {
        if app.service_data.saved_view(&name).is_some() {
            open_saved_view(app, &name);
        } else {
            app.outbox.notify(Level::Warning, format!("unknown view: {name}"));
        }
    }
    if CommandList::is_unfiltered(&app.overlays, ListKind::Views) {
        open_saved_views(app);
    }
    refresh_palette(app);
}

pub(in crate::app) fn open_saved_views(app: &mut App) {
    let service_data = &app.service_data;
    let title = match service_data.saved_views_unavailable() {
        Some(reason) => format!("Saved views: {reason}"),
        None => "Saved views; w in the query builder saves one".to_owned(),
    };
    let item = |view: &SavedView| {
        PickItem::new(Command::OpenView(view.name.clone()), view.name.as_str())
            .note(service_data.describe_view(view))
    };
    let items = service_data.saved_views().iter().map(item).collect();
    CommandList::open(app, ListKind::Views, &title, items);
}

fn delete_view(app: &mut App, name: &SafeText) {
    let mut views = app.service_data.saved_views().to_vec();
    views.retain(|view| !view.is_named(name));
    app.service_data.store_views(views, &mut app.outbox);
    open_saved_views(app);
}

/// Returns the search on screen with the builder's filters as a view without a name.
fn view_to_save(query: &QueryBuilder, results: &Results, any_dataset: bool) -> Option<SavedView> {
    let view = results.view()?;
    // Links of the service expire; the anchor's ID is saved instead.
    let (file, region) = match &view.query_image {
        Some(QueryImage { source: PictureSource::File(path), region, .. }) => {
            (Some(path.clone()), *region)
        }
        _ => (None, None),
    };
    Some(SavedView {
        name: SafeText::default(),
        dataset: (!any_dataset).then_some(view.search.dataset),
        query: view.search.query.clone(),
        filters: query.draft(results).filters().ok()?,
        disabled_filters: query.draft(results).disabled_filters(),
        entity: view.search.entity,
        granularity: view.search.granularity,
        order: view.search.order,
        similar_to: view.similar_to.clone(),
        file,
        region,
    })
}

/// Runs a saved view. The file of its query image is uploaded again, because the service may have dropped the image.
pub(in crate::app) fn open_saved_view(app: &mut App, name: &SafeText) {
    let (Some(view), Some(open)) = (
        app.service_data.saved_view(name).cloned(),
        app.results.view().map(|view| view.search.dataset),
    ) else {
        return;
    };
    let search = view.search(open);
    if app.refuses_unlisted(search.dataset, "view") {
        return;
    }
    let upload = matches!(view.query, Query::Similar(anchor) if anchor.kind == AnchorKind::Upload);
    app.open_dataset(search.dataset);
    if let (true, Some(file)) = (upload, view.file) {
        let image = QueryImage { region: view.region, ..QueryImage::file(file) };
        app.panes.focus = Pane::Results;
        app.results.register_query_image(image, search, &mut app.outbox);
    } else {
        app.open_search(search);
        app.results.edit_view(|shown| shown.similar_to = view.similar_to);
    }
    app.query
        .edit_draft(|draft| draft.replace_all(&view.filters, &view.disabled_filters), &app.results);
}

const FIELD_COLUMN: u16 = 8;
