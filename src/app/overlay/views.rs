//! Saved views: the line that names one, and the list from which they are opened, renamed and
//! deleted.

use tui_input::Input;

use crate::{
    app::{
        App, Effect, Level, Overlay, Pane,
        overlay::{Choice, Pick, Press, field::edit},
        view::query_image::QueryImage,
    },
    input::{Chord, Key},
    message::{Lane, Request},
};
use tessera_model::{
    AnchorKind, Book, Entry, Failure, PictureSource, Query, SafeText, SavedView, Search,
};

/// The line that names a view.
#[derive(Clone, Debug)]
pub struct NameLine {
    /// The name, as typed.
    pub name: Input,
    /// Whether the view is for whichever dataset is open; else for the one it was made in.
    pub anywhere: bool,
    /// The view that is renamed; `None` when one is saved.
    pub renames: Option<SafeText>,
}

impl NameLine {
    /// Takes a key.
    pub fn key(&mut self, chord: Chord) -> Press {
        match chord.key {
            Key::Esc => return Press::Leave,
            Key::Enter => return Press::Accept,
            Key::Tab if self.renames.is_none() => self.anywhere = !self.anywhere,
            _ => edit(&mut self.name, chord),
        }
        Press::Stay
    }

    /// The name that is typed.
    #[must_use]
    pub fn typed(&self) -> SafeText {
        SafeText::name(self.name.value().trim())
    }
}

/// What is to be done with the chosen view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
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
    pub pick: Pick<SafeText>,
    /// What the accepted key asked for.
    wish: Wish,
}

impl ViewList {
    /// Takes a key.
    pub fn key(&mut self, chord: Chord) -> Press {
        self.wish = match chord.key {
            Key::F(2) => Wish::Rename,
            Key::Delete => Wish::Delete,
            _ => Wish::Open,
        };
        match self.wish {
            Wish::Open => self.pick.key(chord),
            Wish::Rename | Wish::Delete if self.pick.chosen().is_some() => Press::Accept,
            Wish::Rename | Wish::Delete => Press::Stay,
        }
    }
}

impl App {
    /// The saved views, as far as they were read.
    #[must_use]
    pub fn views(&self) -> &[SavedView] {
        self.store.views.value().map_or(&[], Vec::as_slice)
    }

    /// Why no view can be saved now: what was kept before must not be lost.
    #[must_use]
    pub fn views_refusal(&self) -> Option<String> {
        match (self.store.views.value(), self.store.views.failure()) {
            (Some(_), _) => None,
            (None, Some(failure)) => Some(failure.to_string()),
            (None, None) => Some("the saved views are being read".to_owned()),
        }
    }

    /// Whether the saved views are wanted, and have not been asked for yet.
    #[must_use]
    pub fn wants_views(&self) -> bool {
        let listed = matches!(self.overlay, Some(Overlay::Views(_) | Overlay::Palette(_)));
        let awaited = self.setup.view.is_some() && self.view().is_some();
        (listed || awaited || self.focus == Pane::Query) && self.store.views.due(None).is_some()
    }

    /// The saved views were read, or could not be.
    pub(in crate::app) fn views_recalled(
        &mut self,
        result: Result<Option<Entry>, Failure>,
        effects: &mut Vec<Effect>,
    ) {
        match result {
            Ok(Some(Entry::Views(views))) => self.store.views.succeed(self.now, views),
            Ok(_) => self.store.views.succeed(self.now, Vec::new()),
            Err(failure) => {
                self.notices.fail(self.now, &failure);
                self.store.views.fail(self.now, failure);
            }
        }
        if let Some(name) = self.setup.view.take() {
            if self.views().iter().any(|view| view.name == name) {
                self.open_view(&name, effects);
            } else {
                let text = format!("no saved view is called {name}");
                self.notices.add(self.now, Level::Warning, text);
            }
        }
        match &self.overlay {
            Some(Overlay::Views(_)) => self.list_views(),
            Some(Overlay::Palette(palette)) if palette.pick.typed.value().is_empty() => {
                self.open_palette();
            }
            _ => {}
        }
    }

    /// Asks for the name of a view of what the builder holds.
    pub(in crate::app) fn ask_for_view_name(&mut self) {
        let name = Input::default();
        self.overlay = Some(Overlay::NameView(NameLine { name, anywhere: false, renames: None }));
    }

    /// Opens the list.
    pub(in crate::app) fn list_views(&mut self) {
        let choice = |view: &SavedView| {
            Choice::new(view.name.clone(), view.name.as_str()).note(self.about_view(view))
        };
        let pick = Pick::new(self.views().iter().map(choice).collect());
        self.overlay = Some(Overlay::Views(ViewList { pick, wish: Wish::Open }));
    }

    /// A view in a few words.
    pub(in crate::app) fn about_view(&self, view: &SavedView) -> String {
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
        format!("{place}{query} · {} filters on, {} off", view.filters.len(), view.off.len())
    }

    /// Keeps what the builder holds under a name, or gives a kept view another one.
    pub(in crate::app) fn name_view(&mut self, line: NameLine, effects: &mut Vec<Effect>) {
        let name = line.typed();
        if name.is_empty() {
            self.notices.add(self.now, Level::Warning, "type a name for the view, or Esc");
            self.overlay = Some(Overlay::NameView(line));
            return;
        }
        let view = match &line.renames {
            Some(old) => self.views().iter().find(|view| view.name == *old).cloned(),
            None => self.view_to_save(line.anywhere),
        };
        let Some(view) = view else { return };
        let mut views = self.views().to_vec();
        views.retain(|kept| Some(&kept.name) != line.renames.as_ref());
        self.notices.add(self.now, Level::Success, format!("kept as “{name}”; W opens it"));
        SavedView { name, ..view }.join(&mut views);
        self.keep_views(views, effects);
    }

    /// The builder's filters on what is on screen, without a name.
    fn view_to_save(&self, anywhere: bool) -> Option<SavedView> {
        let view = self.view()?;
        Some(SavedView {
            name: SafeText::default(),
            dataset: (!anywhere).then_some(view.search.dataset),
            query: view.search.query.clone(),
            filters: self.draft().filters().ok()?,
            off: self.draft().off(),
            entity: view.search.entity,
            granularity: view.search.granularity,
            similar_to: view.similar_to.clone(),
            image: view.query_image.as_ref().and_then(|image| match &image.source {
                PictureSource::File(path) => Some((path.clone(), image.region)),
                // A link of the service ends; the anchor itself is asked for then.
                PictureSource::Link(_) | PictureSource::Entry(..) => None,
            }),
        })
    }

    fn keep_views(&mut self, views: Vec<SavedView>, effects: &mut Vec<Effect>) {
        self.store.views.succeed(self.now, views.clone());
        self.send(Lane::Keep(Book::Views), Request::Keep(Entry::Views(views)), effects);
    }

    /// Does with the chosen view what the key asked for.
    pub(in crate::app) fn choose_view(&mut self, list: &ViewList, effects: &mut Vec<Effect>) {
        let Some(name) = list.pick.chosen().cloned() else { return };
        match list.wish {
            Wish::Open => self.open_view(&name, effects),
            Wish::Rename => {
                let line = name.as_str().into();
                let line = NameLine { name: line, anywhere: false, renames: Some(name) };
                self.overlay = Some(Overlay::NameView(line));
            }
            Wish::Delete => {
                let views: Vec<SavedView> =
                    self.views().iter().filter(|view| view.name != name).cloned().collect();
                self.keep_views(views, effects);
                self.list_views();
            }
        }
    }

    /// Searches a saved view again. Its query image is sent again, because the service may have
    /// forgotten it.
    pub(in crate::app) fn open_view(&mut self, name: &SafeText, effects: &mut Vec<Effect>) {
        let (Some(view), Some(open)) = (
            self.views().iter().find(|view| view.name == *name).cloned(),
            self.view().map(|view| view.search.dataset),
        ) else {
            return;
        };
        let search = view.search(open);
        let upload =
            matches!(view.query, Query::Similar(anchor) if anchor.kind == AnchorKind::Upload);
        self.open_dataset(search.dataset);
        if let (true, Some((path, region))) = (upload, view.image) {
            let image = QueryImage { region, ..QueryImage::file(path) };
            self.focus = Pane::Results;
            self.register(image, Search { query: Query::Browse, ..search }, effects);
        } else {
            self.open_search(search);
            if let Some(shown) = self.results.view_mut() {
                shown.similar_to = view.similar_to;
            }
        }
        if let Some(draft) = self.draft_mut() {
            draft.replace(&view.filters, &view.off);
        }
    }
}
