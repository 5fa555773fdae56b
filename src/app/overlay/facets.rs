//! The facets of the loaded results: labels, tags and words in captions, with counts; and the quality issues,
//! which results do not carry. The results can be filtered by each of them.

use tessera_model::{
    Facet, FacetKind, Filter, SafeText, TagId, count_facets,
    vql::{InvalidField, IssueMode, IssueName, LabelRule},
};

use super::{Dialog, KeyResult, Overlay};
use crate::{
    app::{
        App, Level,
        pane::{cycle, moved_cursor, rows_to_move},
    },
    input::{Chord, Key},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FacetSection {
    Counted(FacetKind),
    Issues,
}

impl FacetSection {
    pub fn label(self) -> &'static str {
        match self {
            Self::Counted(kind) => kind.label(),
            Self::Issues => "issues",
        }
    }
}

/// A value to filter by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FacetValue {
    pub name: SafeText,
    /// The identifier of a tag, if the service sends it.
    tag: Option<TagId>,
    /// In how many loaded clusters it occurs, unless the results do not carry it.
    pub clusters: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facets {
    pub section: FacetSection,
    /// The selected row.
    pub cursor: usize,
    /// Whether the selected value is excluded instead of required.
    excludes: bool,
}

impl Facets {
    /// The values of the section.
    pub fn values(self, app: &App) -> Vec<FacetValue> {
        match self.section {
            FacetSection::Counted(kind) => app.counted_values(kind),
            FacetSection::Issues => {
                let value = |name| FacetValue { name, tag: None, clusters: None };
                app.known_values().issue_names().map(value).collect()
            }
        }
    }

    fn filter(self, value: &FacetValue) -> Result<Filter, String> {
        let name = value.name.as_str();
        let filter = match (self.section, self.excludes) {
            (FacetSection::Issues, excludes) => issue_filter(name, excludes),
            (FacetSection::Counted(FacetKind::Label), true) => {
                Filter::labels(LabelRule::NotOneOf, [name])
            }
            (FacetSection::Counted(FacetKind::Label), false) => {
                Filter::labels(LabelRule::OneOf, [name])
            }
            (FacetSection::Counted(FacetKind::Tag), false) => match value.tag {
                Some(tag) => Filter::tags(vec![tag]),
                None => return Err("the service does not send the id of this tag".to_owned()),
            },
            (FacetSection::Counted(FacetKind::CaptionWord), false) => Filter::full_text(name),
            (FacetSection::Counted(kind), true) => {
                let kind = kind.label();
                return Err(format!("{kind} cannot be excluded; only labels and issues can"));
            }
        };
        filter.map_err(|invalid| format!("{name}: {}", invalid.reason))
    }
}

fn issue_filter(name: &str, excludes: bool) -> Result<Filter, InvalidField> {
    let mode = if excludes { IssueMode::Out } else { IssueMode::In };
    Filter::issue(IssueName::new(name)?, mode, None, None)
}

impl Dialog for Facets {
    fn handle_key(&mut self, chord: Chord, app: &App) -> KeyResult {
        let count = self.values(app).len();
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
        let margin = if screen.1 < 24 { 3 } else { 6 };
        (72, screen.1.saturating_sub(margin).min(30))
    }

    fn hints(&self) -> &'static str {
        "Tab next kind   x exclude   ↑ ↓ select   Enter filter   Esc close"
    }

    fn select_item(&mut self, index: usize, app: &App) {
        self.cursor = moved_cursor(index, 0, self.values(app).len());
    }

    fn accept(self, app: &mut App) {
        let filter = self.values(app).get(self.cursor).map(|value| self.filter(value));
        match filter {
            Some(Ok(filter)) => app.search_with_filter(filter),
            Some(Err(reason)) => {
                app.outbox.notify(Level::Warning, reason);
                app.overlays.open(Overlay::Facets(self));
            }
            None => {}
        }
    }
}

impl Facets {
    fn at(section: FacetSection) -> Self {
        Self { section, cursor: 0, excludes: false }
    }

    fn show(&mut self, app: &App, by: isize) {
        *self = Self::at(cycle(&app.facet_sections(), self.section, by));
    }
}

impl App {
    pub(in crate::app) fn open_facets(&mut self) {
        if let Some(&section) = self.facet_sections().first() {
            self.overlays.open(Overlay::Facets(Facets::at(section)));
        }
    }

    fn counted_values(&self, kind: FacetKind) -> Vec<FacetValue> {
        let facets = count_facets(self.loaded_clusters(), kind).into_iter();
        let value = |facet: Facet| FacetValue {
            name: facet.name,
            tag: facet.tag,
            clusters: Some(facet.clusters),
        };
        facets.map(value).collect()
    }

    /// The kinds of values that the loaded results have, and the issues.
    pub fn facet_sections(&self) -> Vec<FacetSection> {
        let kinds = FacetKind::ALL.into_iter();
        let counted = kinds.filter(|kind| !self.counted_values(*kind).is_empty());
        counted.map(FacetSection::Counted).chain([FacetSection::Issues]).collect()
    }
}
