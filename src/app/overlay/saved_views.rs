//! Saved views: the line that names one, and the list from which they are opened, renamed and
//! deleted.

use tui_input::Input;

use crate::{
    app::{
        App, Level, Overlay, Pane,
        overlay::{KeyResult, PickItem, PickList, text_field::edit},
        view::query_image::QueryImage,
    },
    input::{Chord, Key},
    message::{Lane, Request},
};
use tessera_model::{
    AnchorKind, Failure, PictureSource, Query, SafeText, SavedView, Search, StateKey, StateValue,
};

/// The line that names a view.
#[derive(Clone, Debug)]
pub struct ViewNameInput {
    /// The name, as typed.
    pub name: Input,
    /// Whether the view is for whichever dataset is open; else for the one it was made in.
    pub any_dataset: bool,
    /// The view that is renamed; `None` when one is saved.
    pub renamed_from: Option<SafeText>,
}

impl ViewNameInput {
    /// Takes a key.
    pub fn handle_key(&mut self, chord: Chord) -> KeyResult {
        match chord.key {
            Key::Esc => return KeyResult::Close,
            Key::Enter => return KeyResult::Accept,
            Key::Tab if self.renamed_from.is_none() => self.any_dataset = !self.any_dataset,
            _ => edit(&mut self.name, chord),
        }
        KeyResult::Stay
    }

    /// The name that is typed.
    #[must_use]
    pub fn trimmed_name(&self) -> SafeText {
        SafeText::name(self.name.value().trim())
    }
}

/// What is to be done with the chosen view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewAction {
    /// Search it again.
    Open,
    /// Give it another name.
    Rename,
    /// Forget it.
    Delete,
}

/// The list of views.
#[derive(Clone, Debug)]
pub struct ViewList {
    /// The views by name.
    pub list: PickList<SafeText>,
    /// What the accepted key asked for.
    action: ViewAction,
}

impl ViewList {
    /// Takes a key.
    pub fn key(&mut self, chord: Chord) -> KeyResult {
        self.action = match chord.key {
            Key::F(2) => ViewAction::Rename,
            Key::Delete => ViewAction::Delete,
            _ => ViewAction::Open,
        };
        match self.action {
            ViewAction::Open => self.list.handle_key(chord),
            ViewAction::Rename | ViewAction::Delete if self.list.selected().is_some() => {
                KeyResult::Accept
            }
            ViewAction::Rename | ViewAction::Delete => KeyResult::Stay,
        }
    }
}

impl App {
    /// The saved views, as far as they were read.
    #[must_use]
    pub fn saved_views(&self) -> &[SavedView] {
        self.store.views.value().map_or(&[], Vec::as_slice)
    }

    /// Why no view can be saved now: what was kept before must not be lost.
    #[must_use]
    pub fn saved_views_unavailable(&self) -> Option<String> {
        match (self.store.views.value(), self.store.views.failure()) {
            (Some(_), _) => None,
            (None, Some(failure)) => Some(failure.to_string()),
            (None, None) => Some("the saved views are being read".to_owned()),
        }
    }

    /// Whether the saved views are wanted, and have not been asked for yet.
    #[must_use]
    pub fn needs_saved_views(&self) -> bool {
        let listed = matches!(self.overlay, Some(Overlay::SavedViews(_) | Overlay::Palette(_)));
        let awaited = self.setup.initial_view.is_some() && self.view().is_some();
        (listed || awaited || self.focus == Pane::Query) && self.store.views.due(None).is_some()
    }

    /// The saved views were read, or could not be.
    pub(in crate::app) fn saved_views_loaded(
        &mut self,
        result: Result<Option<StateValue>, Failure>,
    ) {
        match result {
            Ok(Some(StateValue::Views(views))) => self.store.views.succeed(self.now, views),
            Ok(_) => self.store.views.succeed(self.now, Vec::new()),
            Err(failure) => {
                self.notify_failure(&failure);
                self.store.views.fail(self.now, failure);
            }
        }
        if let Some(name) = self.setup.initial_view.take() {
            if self.saved_views().iter().any(|view| view.name == name) {
                self.open_saved_view(&name);
            } else {
                let text = format!("no saved view is called {name}");
                self.notify(Level::Warning, text);
            }
        }
        match &self.overlay {
            Some(Overlay::SavedViews(_)) => self.open_saved_views(),
            Some(Overlay::Palette(palette)) if palette.list.filter.value().is_empty() => {
                self.open_palette();
            }
            _ => {}
        }
    }

    /// Asks for the name of a view of what the builder holds.
    pub(in crate::app) fn open_view_name_input(&mut self) {
        let name = Input::default();
        self.overlay =
            Some(Overlay::NameView(ViewNameInput { name, any_dataset: false, renamed_from: None }));
    }

    /// Opens the list.
    pub(in crate::app) fn open_saved_views(&mut self) {
        let choice = |view: &SavedView| {
            PickItem::new(view.name.clone(), view.name.as_str()).note(self.describe_view(view))
        };
        let pick = PickList::new(self.saved_views().iter().map(choice).collect());
        self.overlay = Some(Overlay::SavedViews(ViewList { list: pick, action: ViewAction::Open }));
    }

    /// A view in a few words.
    pub(in crate::app) fn describe_view(&self, view: &SavedView) -> String {
        let place = match view.dataset {
            None => "any dataset".to_owned(),
            Some(id) => {
                let known = self.store.dataset(id);
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
        format!(
            "{place}{query} · {} filters on, {} off",
            view.filters.len(),
            view.disabled_filters.len()
        )
    }

    /// Keeps what the builder holds under a name, or gives a kept view another one.
    pub(in crate::app) fn submit_view_name(&mut self, line: ViewNameInput) {
        let name = line.trimmed_name();
        if name.is_empty() {
            self.notify(Level::Warning, "type a name for the view, or Esc");
            self.overlay = Some(Overlay::NameView(line));
            return;
        }
        let view = match &line.renamed_from {
            Some(old) => self.saved_views().iter().find(|view| view.name == *old).cloned(),
            None => self.view_to_save(line.any_dataset),
        };
        let Some(view) = view else { return };
        let mut views = self.saved_views().to_vec();
        views.retain(|kept| Some(&kept.name) != line.renamed_from.as_ref());
        self.notify(Level::Success, format!("kept as “{name}”; W opens it"));
        SavedView { name, ..view }.insert_into(&mut views);
        self.store_views(views);
    }

    /// The builder's filters on what is on screen, without a name.
    fn view_to_save(&self, anywhere: bool) -> Option<SavedView> {
        let view = self.view()?;
        Some(SavedView {
            name: SafeText::default(),
            dataset: (!anywhere).then_some(view.search.dataset),
            query: view.search.query.clone(),
            filters: self.draft().filters().ok()?,
            disabled_filters: self.draft().disabled_filters(),
            entity: view.search.entity,
            granularity: view.search.granularity,
            similar_to: view.similar_to.clone(),
            query_image: view.query_image.as_ref().and_then(|image| match &image.source {
                PictureSource::File(path) => Some((path.clone(), image.region)),
                // A link of the service ends; the anchor itself is asked for then.
                PictureSource::Link(_) | PictureSource::Entry(..) => None,
            }),
        })
    }

    fn store_views(&mut self, views: Vec<SavedView>) {
        self.store.views.succeed(self.now, views.clone());
        self.send(Lane::SaveState(StateKey::Views), Request::SaveState(StateValue::Views(views)));
    }

    /// Does with the chosen view what the key asked for.
    pub(in crate::app) fn run_view_action(&mut self, list: &ViewList) {
        let Some(name) = list.list.selected().cloned() else { return };
        match list.action {
            ViewAction::Open => self.open_saved_view(&name),
            ViewAction::Rename => {
                let line = name.as_str().into();
                let line =
                    ViewNameInput { name: line, any_dataset: false, renamed_from: Some(name) };
                self.overlay = Some(Overlay::NameView(line));
            }
            ViewAction::Delete => {
                let views: Vec<SavedView> =
                    self.saved_views().iter().filter(|view| view.name != name).cloned().collect();
                self.store_views(views);
                self.open_saved_views();
            }
        }
    }

    /// Searches a saved view again. Its query image is sent again, because the service may have
    /// forgotten it.
    pub(in crate::app) fn open_saved_view(&mut self, name: &SafeText) {
        let (Some(view), Some(open)) = (
            self.saved_views().iter().find(|view| view.name == *name).cloned(),
            self.view().map(|view| view.search.dataset),
        ) else {
            return;
        };
        let search = view.search(open);
        let upload =
            matches!(view.query, Query::Similar(anchor) if anchor.kind == AnchorKind::Upload);
        self.open_dataset(search.dataset);
        if let (true, Some((path, region))) = (upload, view.query_image) {
            let image = QueryImage { region, ..QueryImage::file(path) };
            self.focus = Pane::Results;
            self.register_query_image(image, Search { query: Query::Browse, ..search });
        } else {
            self.open_search(search);
            if let Some(shown) = self.results.view_mut() {
                shown.similar_to = view.similar_to;
            }
        }
        if let Some(draft) = self.draft_mut() {
            draft.replace_all(&view.filters, &view.disabled_filters);
        }
    }
}
