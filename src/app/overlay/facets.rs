//! The facets of the loaded results: labels, tags and words in captions, to filter by.

use tessera_model::{Facet, FacetKind, Filter, count_facets, vql::LabelRule};

use super::{Dialog, KeyResult, Overlay};
use crate::{
    app::{
        App, Level,
        pane::{cycle, moved_cursor, rows_to_move},
    },
    input::{Chord, Key},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facets {
    pub kind: FacetKind,
    /// The selected row.
    pub cursor: usize,
    /// Whether the selected value is excluded instead of required.
    excludes: bool,
}

impl Facets {
    fn filter(self, facet: &Facet) -> Result<Filter, String> {
        let name = facet.name.as_str();
        let filter = match (self.kind, self.excludes) {
            (FacetKind::Label, true) => Filter::labels(LabelRule::NotOneOf, [name]),
            (FacetKind::Label, false) => Filter::labels(LabelRule::OneOf, [name]),
            (FacetKind::Tag, false) => match facet.tag {
                Some(tag) => Filter::tags(vec![tag]),
                None => return Err("the service does not send the id of this tag".to_owned()),
            },
            (FacetKind::CaptionWord, false) => Filter::full_text(name),
            (FacetKind::Tag | FacetKind::CaptionWord, true) => {
                let kind = self.kind.label();
                return Err(format!("{kind} cannot be excluded; only labels can"));
            }
        };
        filter.map_err(|invalid| format!("{name}: {}", invalid.reason))
    }
}

impl Dialog for Facets {
    fn handle_key(&mut self, chord: Chord, app: &App) -> KeyResult {
        let count = app.facets(self.kind).len();
        let by = match chord.key {
            Key::Char('k') => Some(-1),
            Key::Char('j') => Some(1),
            Key::Home | Key::Char('g') => Some(isize::MIN / 2),
            Key::End | Key::Char('G') => Some(isize::MAX / 2),
            key => rows_to_move(key),
        };
        match (chord.key, by) {
            (_, Some(by)) => self.cursor = moved_cursor(self.cursor, by, count),
            (Key::Tab, _) if chord.shift => self.show(app, -1),
            (Key::Left | Key::Char('h'), _) => self.show(app, -1),
            (Key::Tab | Key::Right | Key::Char('l'), _) => self.show(app, 1),
            (Key::Enter | Key::Char('x'), _) if count > 0 => {
                self.excludes = chord.key == Key::Char('x');
                return KeyResult::Accept;
            }
            (Key::Esc | Key::Char('q'), _) => return KeyResult::Close,
            _ => {}
        }
        KeyResult::Stay
    }

    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        (72, screen.1.saturating_sub(6).min(30))
    }

    fn hints(&self) -> &'static str {
        "↑ ↓ select   Enter filter by it   x exclude it   Tab next kind   Esc close"
    }

    fn select_item(&mut self, index: usize, app: &App) {
        self.cursor = moved_cursor(index, 0, app.facets(self.kind).len());
    }

    fn accept(self, app: &mut App) {
        let filter = app.facets(self.kind).get(self.cursor).map(|facet| self.filter(facet));
        match filter {
            Some(Ok(filter)) => app.search_with_filter(filter),
            Some(Err(reason)) => {
                app.notify(Level::Warning, reason);
                app.overlay = Some(Overlay::Facets(self));
            }
            None => {}
        }
    }
}

impl Facets {
    fn show(&mut self, app: &App, by: isize) {
        let kinds = app.facet_kinds();
        if !kinds.is_empty() {
            *self = Self { kind: cycle(&kinds, self.kind, by), cursor: 0, excludes: false };
        }
    }
}

impl App {
    pub(in crate::app) fn open_facets(&mut self) {
        if let Some(&kind) = self.facet_kinds().first() {
            self.overlay = Some(Overlay::Facets(Facets { kind, cursor: 0, excludes: false }));
        }
    }

    pub fn facets(&self, kind: FacetKind) -> Vec<Facet> {
        count_facets(self.loaded_clusters(), kind)
    }

    /// The kinds that the loaded results have.
    pub fn facet_kinds(&self) -> Vec<FacetKind> {
        FacetKind::ALL.into_iter().filter(|kind| !self.facets(*kind).is_empty()).collect()
    }
}
