//! Counts the facets of the loaded results: labels, tags and words in captions. Quality issues are listed without
//! counts, because results do not carry issues. Picking a value filters the results by it.

use ratatui::layout::Rect;
use tessera_model::{
    Facet, FacetKind, Filter, SafeText, TagId, count_facets,
    text::{group_digits, grouped_with_noun, truncate},
    vql::{InvalidField, IssueMode, IssueName, LabelRule},
};

use crate::{
    app::{
        App, Dialog, DrawContext, Level, QueryBuilder, Results,
        overlay::fields::KeyResult,
        pane::{cycle, moved_cursor, rows_to_move, scroll_top},
    },
    drawing::{below, display_width, gauge},
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
    /// The number of loaded clusters with this value. `None` if results do not carry the value.
    pub clusters: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facets {
    pub section: FacetSection,
    /// The index of the selected row.
    pub cursor: usize,
    /// Whether the selected value is excluded instead of required.
    excludes: bool,
}

impl Facets {
    /// Returns the values of the section.
    pub fn values(self, query: &QueryBuilder, results: &Results) -> Vec<FacetValue> {
        match self.section {
            FacetSection::Counted(kind) => Facets::counted_values(results, kind),
            FacetSection::Issues => {
                let value = |name| FacetValue { name, tag: None, clusters: None };
                query.known_values(results).issue_names().map(value).collect()
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
        let count = self.values(&app.query, &app.results).len();
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
        self.cursor = moved_cursor(index, 0, self.values(&app.query, &app.results).len());
    }

    fn accept(self: Box<Self>, app: &mut App) {
        let filter =
            self.values(&app.query, &app.results).get(self.cursor).map(|value| self.filter(value));
        match filter {
            Some(Ok(filter)) => app.search_with_filter(filter),
            Some(Err(reason)) => {
                app.outbox.notify(Level::Warning, reason);
                app.overlays.open(*self);
            }
            None => {}
        }
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, &self.title(ctx));
        let theme = ctx.theme;
        let mut kinds = vec![(" ".to_owned(), theme.dim)];
        for section in Facets::sections(&ctx.app.results) {
            let style = if section == self.section { theme.selected } else { theme.dim };
            kinds.push((format!(" {} ", section.label()), style));
        }
        ctx.put(inside, 0, &kinds);
        let facets = self.values(&ctx.app.query, &ctx.app.results);
        // The blank row is omitted if the values need it.
        let is_full = facets.len() + 2 > usize::from(inside.height);
        let rows = below(inside, if is_full { 1 } else { 2 });
        let rows = match self.section {
            FacetSection::Counted(_) => rows,
            FacetSection::Issues => ctx.text_below(rows, ISSUES_NOTE),
        };
        let largest = facets.first().and_then(|facet| facet.clusters).unwrap_or(0);
        let widest = facets.iter().map(|facet| display_width(facet.name.as_str())).max();
        let used = if largest > 0 { BAR_AND_COUNT } else { 2 };
        let max_name = usize::from(rows.width).saturating_sub(used).max(1);
        let name_width = widest.unwrap_or(0).min(max_name);
        let selected = facets.get(self.cursor).map_or("", |facet| facet.name.as_str());
        let is_cut = display_width(selected) > name_width;
        let rows = if is_cut { ctx.text_below(rows, selected) } else { rows };
        let top = scroll_top(0, self.cursor, usize::from(rows.height));
        // The bar is not selected, because a reversed style would make it look empty.
        let width = u16::try_from(name_width + 2).unwrap_or(u16::MAX).min(rows.width);
        let names = Rect { width, ..rows };
        for (row, (index, facet)) in (0..rows.height).zip(facets.iter().enumerate().skip(top)) {
            draw_facet(ctx, rows, row, facet, name_width, largest);
            ctx.select_row(names, row, index == self.cursor);
        }
    }
}

impl Facets {
    fn at(section: FacetSection) -> Self {
        Self { section, cursor: 0, excludes: false }
    }

    fn show(&mut self, app: &App, by: isize) {
        *self = Self::at(cycle(&Facets::sections(&app.results), self.section, by));
    }
}

impl Facets {
    pub(in crate::app) fn open(app: &mut App) {
        if let Some(&section) = Facets::sections(&app.results).first() {
            app.overlays.open(Facets::at(section));
        }
    }

    fn counted_values(results: &Results, kind: FacetKind) -> Vec<FacetValue> {
        let facets = count_facets(results.loaded_clusters(), kind).into_iter();
        let value = |facet: Facet| FacetValue {
            name: facet.name,
            tag: facet.tag,
            clusters: Some(facet.clusters),
        };
        facets.map(value).collect()
    }

    /// Returns the kinds of values that the loaded results have, and the issues.
    pub fn sections(results: &Results) -> Vec<FacetSection> {
        let kinds = FacetKind::ALL.into_iter();
        let counted = kinds.filter(|kind| !Facets::counted_values(results, *kind).is_empty());
        counted.map(FacetSection::Counted).chain([FacetSection::Issues]).collect()
    }
}

/// The cells of the longest bar.
const MAX_BAR: usize = 24;
/// The cells that a name leaves for the bar and the count.
const BAR_AND_COUNT: usize = 20;

const ISSUES_NOTE: &str =
    "No counts: results do not carry issues. Services may reject names other than blur.";

impl Facets {
    fn title(self, ctx: &DrawContext) -> String {
        if self.section == FacetSection::Issues {
            return "Quality issues".to_owned();
        }
        let all = ctx.app.results().loaded_clusters().len();
        format!("In {}", grouped_with_noun(all as u64, "loaded cluster", "loaded clusters"))
    }
}

fn draw_facet(
    ctx: &mut DrawContext,
    rows: Rect,
    row: u16,
    facet: &FacetValue,
    name_width: usize,
    largest: usize,
) {
    let theme = ctx.theme;
    let name = truncate(facet.name.as_str(), name_width);
    let gap = " ".repeat(name_width.saturating_sub(display_width(&name)) + 1);
    let Some(clusters) = facet.clusters else {
        return ctx.put(rows, row, &[(format!(" {name}"), theme.text)]);
    };
    #[expect(clippy::cast_precision_loss, reason = "a fraction for a bar")]
    let part = clusters as f64 / largest.max(1) as f64;
    let used = name_width + 12;
    let bar = gauge(part, MAX_BAR.min(usize::from(rows.width).saturating_sub(used)));
    let parts = [
        (format!(" {name}{gap}"), theme.text),
        (bar, theme.gauge),
        (format!(" {}", group_digits(clusters as u64)), theme.dim),
    ];
    ctx.put(rows, row, &parts);
}
