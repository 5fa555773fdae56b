//! Shows how many media items of the dataset have each label, tag, word in captions, folder and value of a column. If
//! the service does not count media items, the loaded clusters are counted. Dates and sizes are also drawn as bars in
//! their order. Quality issues are listed without counts, because results do not carry issues. Picking a value filters
//! the results by it.

use std::slice;

use ratatui::{
    style::Style,
    widgets::{Sparkline, SparklineBar, Widget},
};
use tessera_model::{
    ColumnFacets, Distribution, DistributionBar, EntityType, Facet, FacetKind, Filter, Overview,
    TagId, count_distributions, count_facets,
    text::{format_bytes, group_digits, grouped_with_noun, truncate},
    vql::{
        ColumnName, ColumnValue, FileProperty, IssueMode, IssueName, LabelRule, Operator, Property,
    },
};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        Mouse, MouseKind, area_of_size,
        pane::{cycle, inner_area, list_step, moved_cursor, scroll_top},
    },
    drawing::{below, display_width, gauge, text_cells},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FacetSection {
    Counted(FacetKind),
    /// The labels of objects, while the results are images.
    ObjectLabels,
    /// A column of the user's own, by its position in the counts.
    Column(usize),
    /// Dates or sizes.
    Distribution(FileProperty),
    Issues,
}

impl FacetSection {
    pub fn label(self, app: &App) -> String {
        match self {
            Self::Counted(kind) => kind.label().to_owned(),
            Self::ObjectLabels => "objects".to_owned(),
            Self::Column(index) => {
                let name = columns(app).get(index).map(|column| column.name.as_str());
                SafeText::name(name.unwrap_or_default()).to_string()
            }
            Self::Distribution(FileProperty::Date) => "dates".to_owned(),
            Self::Distribution(FileProperty::Size) => "bytes".to_owned(),
            Self::Distribution(property) => property.as_str().to_owned(),
            Self::Issues => "issues".to_owned(),
        }
    }
}

/// A value to filter by.
#[derive(Clone, Debug, PartialEq)]
pub struct FacetValue {
    pub name: SafeText,
    /// How many of the counted items have this value. `None` if results do not carry the value.
    pub count: Option<u64>,
    criterion: Criterion,
}

/// What the filter for a value compares.
#[derive(Clone, Debug, PartialEq)]
enum Criterion {
    /// The name, or the identifier of a tag if the service sends it.
    Counted(FacetKind, Option<TagId>),
    Column(ColumnName, ColumnValue),
    /// The range of a date or size.
    Range(FileProperty, DistributionBar),
    Issue,
}

impl FacetValue {
    fn counted(kind: FacetKind, facet: &Facet) -> Self {
        let criterion = Criterion::Counted(kind, facet.tag);
        Self { name: facet.name.clone(), count: Some(facet.count), criterion }
    }

    /// Returns the filters that require or exclude the value, which apply together.
    fn filters(&self, excludes: bool, is_local: bool) -> Result<Vec<Filter>, String> {
        // The printable form of a name finds nothing if it is not the name itself.
        let name = self.name.received();
        let negated_if_excluded =
            |filter| if excludes { Filter::negated(filter) } else { Ok(filter) };
        let filter = match &self.criterion {
            Criterion::Range(..) if !is_local => {
                return Err("only local folders are filtered by date and size".to_owned());
            }
            Criterion::Range(property, bar) => {
                return bar.filters(*property, excludes).map_err(|invalid| invalid.reason);
            }
            Criterion::Issue => {
                let mode = if excludes { IssueMode::Out } else { IssueMode::In };
                IssueName::new(name).and_then(|name| Filter::issue(name, mode, None, None))
            }
            Criterion::Counted(FacetKind::Label, _) => {
                let rule = if excludes { LabelRule::NotOneOf } else { LabelRule::OneOf };
                Filter::labels(rule, [name])
            }
            Criterion::Counted(FacetKind::Tag, _) if excludes && !is_local => {
                return Err(
                    "only local folders exclude tags; x excludes labels and issues".to_owned()
                );
            }
            Criterion::Counted(FacetKind::Tag, None) => {
                return Err("the service does not send the id of this tag".to_owned());
            }
            Criterion::Counted(FacetKind::Tag, Some(tag)) => {
                Filter::tags(vec![*tag]).and_then(negated_if_excluded)
            }
            Criterion::Counted(FacetKind::CaptionWord, _) if excludes => {
                return Err("words in captions cannot be excluded, because they rank".to_owned());
            }
            Criterion::Counted(FacetKind::CaptionWord, _) => Filter::full_text(name),
            Criterion::Counted(FacetKind::Folder, _) => {
                Filter::in_folder(name).and_then(negated_if_excluded)
            }
            Criterion::Column(column, value) => {
                let column = Property::Column(column.clone());
                Filter::property(column, Operator::Is, slice::from_ref(value))
                    .and_then(negated_if_excluded)
            }
        };
        filter
            .map(|filter| vec![filter])
            .map_err(|invalid| format!("{}: {}", self.name, invalid.reason))
    }
}

/// What the counts of a section count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedUnit {
    /// All images or objects of the dataset, and their number if the service sends it.
    Media(EntityType, Option<u64>),
    LoadedClusters(usize),
    LoadedPictures(usize),
}

impl CountedUnit {
    /// Returns the noun for one and for several.
    pub fn nouns(self) -> (&'static str, &'static str) {
        match self {
            // Frames of videos are counted as well.
            Self::Media(EntityType::Images, _) => ("media item", "media items"),
            Self::Media(EntityType::Objects, _) => ("object", "objects"),
            Self::LoadedClusters(_) => ("loaded cluster", "loaded clusters"),
            Self::LoadedPictures(_) => ("loaded picture", "loaded pictures"),
        }
    }

    /// Returns a text like `all 240 media items` or `12 loaded clusters`.
    pub fn description(self) -> String {
        let (one, many) = self.nouns();
        match self {
            Self::Media(_, Some(count)) => format!("all {}", grouped_with_noun(count, one, many)),
            Self::Media(_, None) => format!("all {many}"),
            Self::LoadedClusters(count) | Self::LoadedPictures(count) => {
                grouped_with_noun(count as u64, one, many)
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facets {
    pub section: FacetSection,
    /// The index of the selected row.
    pub cursor: usize,
}

impl Facets {
    /// Returns the values of the section.
    pub fn values(self, app: &App) -> Vec<FacetValue> {
        match self.section {
            FacetSection::Counted(kind) => counted_values(app, kind),
            FacetSection::ObjectLabels => {
                let labels = object_labels(app).iter();
                labels.map(|label| FacetValue::counted(FacetKind::Label, label)).collect()
            }
            FacetSection::Column(index) => {
                columns(app).get(index).map(column_values).unwrap_or_default()
            }
            FacetSection::Distribution(property) => distribution_values(app, property),
            FacetSection::Issues => {
                let value = |name| FacetValue { name, count: None, criterion: Criterion::Issue };
                app.query.known_values(&app.results).issue_names().map(value).collect()
            }
        }
    }

    /// Returns what the counts of the section count, or `None` for a section without counts.
    pub fn unit(self, app: &App) -> Option<CountedUnit> {
        let objects = || Some((EntityType::Objects, overview(app, EntityType::Objects)?));
        let of_results = || {
            let entity = results_entity(app)?;
            Some((entity, overview(app, entity)?))
        };
        let counted = match self.section {
            FacetSection::Issues => return None,
            FacetSection::Distribution(_) if of_results().is_none() => {
                let clusters = app.results.loaded_clusters().into_iter();
                let pictures = clusters.map(|cluster| cluster.previews.len()).sum();
                return Some(CountedUnit::LoadedPictures(pictures));
            }
            FacetSection::ObjectLabels => objects(),
            FacetSection::Counted(_) | FacetSection::Column(_) | FacetSection::Distribution(_) => {
                of_results()
            }
        };
        Some(counted.map_or_else(
            || CountedUnit::LoadedClusters(app.results.loaded_clusters().len()),
            |(entity, overview)| CountedUnit::Media(entity, overview.media),
        ))
    }
}

impl Dialog for Facets {
    fn handle_key(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        let values = self.values(app);
        match (chord.key, list_step(chord.key)) {
            (_, Some(by)) => self.cursor = moved_cursor(self.cursor, by, values.len()),
            (Key::Tab, _) if chord.shift => self.show(app, -1),
            (Key::Left | Key::Char('h'), _) => self.show(app, -1),
            (Key::Tab | Key::Right | Key::Char('l'), _) => self.show(app, 1),
            (Key::Enter | Key::Char('x'), _) => {
                let Some(value) = values.get(self.cursor) else { return KeyResult::Stay };
                return self.search_with(app, value, chord.key == Key::Char('x'));
            }
            (Key::Esc | Key::Char('q'), _) => return KeyResult::Close,
            _ => {}
        }
        KeyResult::Stay
    }

    /// The dialog is at least as wide as the names of all sections.
    fn area(&self, app: &App) -> Rect {
        let screen = app.screen.size;
        let margin = if screen.1 < 24 { 3 } else { 6 };
        let names = name_columns(&Facets::sections(app), app);
        let columns = u16::try_from(names + 3).unwrap_or(u16::MAX);
        area_of_size((columns.max(72), screen.1.saturating_sub(margin).min(30)), screen)
    }

    fn hints(&self) -> &'static str {
        "Tab next kind   x exclude   ↑ ↓ select   Enter filter   Esc close"
    }

    fn select_item(&mut self, index: usize, app: &App) {
        self.cursor = moved_cursor(index, 0, self.values(app).len());
    }

    /// A click on the name of a kind shows that kind.
    fn handle_mouse(&mut self, mouse: Mouse, app: &mut App) {
        self.turn_wheel(mouse, app);
        let inside = inner_area(self.area(app));
        if mouse.kind != MouseKind::Click || mouse.row != inside.y {
            return;
        }
        let mut end = inside.x + 1;
        let (_, sections) = self.sections_in_sight(app, inside.width.into());
        let clicked = sections.into_iter().find(|section| {
            let start = end;
            end += text_cells(&section.label(app)) + 2;
            (start..end.min(inside.right())).contains(&mouse.column)
        });
        if let Some(section) = clicked {
            *self = Self { section, cursor: 0 };
        }
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, &self.title(ctx));
        ctx.put(inside, 0, &self.section_names(ctx, usize::from(inside.width)));
        let facets = self.values(ctx.app);
        // The blank row is omitted if the values need it.
        let is_full = facets.len() + 2 > usize::from(inside.height);
        let rows = below(inside, if is_full { 1 } else { 2 });
        let rows = match self.section {
            FacetSection::Counted(_) | FacetSection::ObjectLabels | FacetSection::Column(_) => rows,
            FacetSection::Distribution(_) => draw_bars(ctx, rows, &facets, self.cursor),
            FacetSection::Issues => ctx.text_below(rows, ISSUES_NOTE),
        };
        let largest = facets.iter().filter_map(|facet| facet.count).max().unwrap_or(0);
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
            ctx.list_row(names, row, index, index == self.cursor);
        }
    }
}

impl Facets {
    /// Searches for what has the value or, if the value is excluded, for what does not have it.
    fn search_with(self, app: &mut App, value: &FacetValue, excludes: bool) -> KeyResult {
        let entity = match self.section {
            FacetSection::ObjectLabels => EntityType::Objects,
            FacetSection::Counted(_)
            | FacetSection::Column(_)
            | FacetSection::Distribution(_)
            | FacetSection::Issues => results_entity(app).unwrap_or_default(),
        };
        match value.filters(excludes, app.has_local_service()) {
            Ok(filters) => {
                app.search_with_filters(entity, &filters);
                KeyResult::Close
            }
            Err(reason) => {
                app.outbox.notify(Level::Warning, reason);
                KeyResult::Stay
            }
        }
    }

    fn title(self, ctx: &DrawContext) -> String {
        match self.unit(ctx.app) {
            Some(unit) => format!("In {}", unit.description()),
            None => "Quality issues".to_owned(),
        }
    }

    /// Returns the sections without the first ones that would push the name of the shown section off the line, and
    /// whether any were omitted.
    fn sections_in_sight(self, app: &App, width: usize) -> (bool, Vec<FacetSection>) {
        let mut sections = Facets::sections(app);
        let shown = sections.iter().position(|section| *section == self.section).unwrap_or(0);
        let first = (0..shown).find(|first| name_columns(&sections[*first..=shown], app) < width);
        let first = first.unwrap_or(shown);
        (first > 0, sections.split_off(first))
    }

    /// Returns the names of the sections, after a mark where some are omitted.
    fn section_names(self, ctx: &DrawContext, width: usize) -> Vec<(String, Style)> {
        let theme = ctx.theme;
        let (is_cut, sections) = self.sections_in_sight(ctx.app, width);
        let mark = if is_cut { "…" } else { " " };
        let mut names = vec![(mark.to_owned(), theme.dim)];
        names.extend(sections.into_iter().map(|section| {
            let style = if section == self.section { theme.selected } else { theme.dim };
            (format!(" {} ", section.label(ctx.app)), style)
        }));
        names
    }

    fn show(&mut self, app: &App, by: isize) {
        *self = Self { section: cycle(&Facets::sections(app), self.section, by), cursor: 0 };
    }

    pub(in crate::app) fn open(app: &mut App) {
        if let Some(&section) = Facets::sections(app).first() {
            app.overlays.open(Facets { section, cursor: 0 });
        }
    }

    /// Returns the kinds of values that there are, and the issues.
    pub fn sections(app: &App) -> Vec<FacetSection> {
        let kinds = FacetKind::ALL.into_iter();
        let is_local = app.has_local_service();
        let kinds = kinds.filter(|kind| is_local || *kind != FacetKind::Folder);
        let counted = kinds.filter(|kind| !counted_values(app, *kind).is_empty());
        let objects = (!object_labels(app).is_empty()).then_some(FacetSection::ObjectLabels);
        let columns = columns(app).iter().enumerate();
        let columns = columns.filter(|(_, column)| !column.values.is_empty());
        let columns = columns.map(|(index, _)| FacetSection::Column(index));
        let counted = counted.map(FacetSection::Counted).chain(objects).chain(columns);
        let distributions = distributions(app).into_iter().map(|it| it.property);
        let distributions = distributions.map(FacetSection::Distribution);
        counted.chain([FacetSection::Issues]).chain(distributions).collect()
    }

    /// Returns the counts that the open dialog shows.
    pub(in crate::app) fn overviews_to_show(app: &App) -> Vec<(DatasetId, EntityType)> {
        let (Some(_), Some(view)) = (app.dialog::<Self>(), app.results.view()) else {
            return Vec::new();
        };
        [EntityType::Images, EntityType::Objects].map(|entity| (view.search.dataset, entity)).into()
    }
}

/// Returns the columns of the names of sections, each with a blank on both sides.
fn name_columns(sections: &[FacetSection], app: &App) -> usize {
    sections.iter().map(|section| display_width(&section.label(app)) + 2).sum()
}

fn results_entity(app: &App) -> Option<EntityType> {
    app.results.view().map(|view| view.search.entity)
}

fn overview(app: &App, entity: EntityType) -> Option<&Overview> {
    app.service_data.overview(app.results.view()?.search.dataset, entity)
}

/// Counts the media items of the dataset, or the loaded clusters if the service does not count.
fn counted_values(app: &App, kind: FacetKind) -> Vec<FacetValue> {
    let value = |facet: &Facet| FacetValue::counted(kind, facet);
    if let Some(overview) = results_entity(app).and_then(|entity| overview(app, entity)) {
        return overview.facets(kind).iter().map(value).collect();
    }
    count_facets(app.results.loaded_clusters(), kind).iter().map(value).collect()
}

/// Returns the labels of objects, unless the results are objects, whose labels are a section already.
fn object_labels(app: &App) -> &[Facet] {
    if results_entity(app) == Some(EntityType::Objects) {
        return &[];
    }
    overview(app, EntityType::Objects).map_or(&[], |overview| &overview.labels)
}

/// Returns the dates and sizes of the dataset, or of the loaded pictures if the service does not count media items.
fn distributions(app: &App) -> Vec<Distribution> {
    match results_entity(app).and_then(|entity| overview(app, entity)) {
        Some(overview) => overview.distributions.clone(),
        None => count_distributions(app.results.loaded_clusters()),
    }
}

fn distribution_values(app: &App, property: FileProperty) -> Vec<FacetValue> {
    let bars = distributions(app).into_iter().find(|it| it.property == property);
    let value = |bar: DistributionBar| FacetValue {
        name: SafeText::name(&bar_name(property, &bar)),
        count: Some(bar.count),
        criterion: Criterion::Range(property, bar),
    };
    bars.into_iter().flat_map(|it| it.bars).map(value).collect()
}

/// Returns a text like `2024-05`, `from 64.0 KiB` or `from 512 pixels`.
fn bar_name(property: FileProperty, bar: &DistributionBar) -> String {
    let ColumnValue::Number(from) = &bar.from else { return bar.from.to_string() };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size")]
    let from = *from as u64;
    match property {
        FileProperty::Size => format!("from {}", format_bytes(from)),
        _ => format!("from {} pixels", group_digits(from)),
    }
}

/// Returns the user's own columns that the results have. Only the local deployment filters by such columns.
fn columns(app: &App) -> &[ColumnFacets] {
    let overview = results_entity(app).and_then(|entity| overview(app, entity));
    let is_local = app.has_local_service();
    overview.filter(|_| is_local).map_or(&[], |overview| &overview.columns)
}

fn column_values(column: &ColumnFacets) -> Vec<FacetValue> {
    let value = |(value, count): &(ColumnValue, u64)| FacetValue {
        name: SafeText::name(&value.to_string()),
        count: Some(*count),
        criterion: Criterion::Column(column.name.clone(), value.clone()),
    };
    column.values.iter().map(value).collect()
}

/// The cells of the longest bar.
const MAX_BAR: usize = 24;
/// The cells that a name leaves for the bar and the count.
const BAR_AND_COUNT: usize = 20;

/// The rows of the bars above the values, and the smallest number of rows for the values.
const BAR_ROWS: u16 = 6;
const MIN_VALUE_ROWS: u16 = 5;
/// The columns of the widest bar.
const MAX_BAR_COLUMNS: usize = 6;

/// Draws a bar for each value, from the first to the last, and returns the area below the bars. If there is no room for
/// both, only the values are drawn.
fn draw_bars(ctx: &mut DrawContext, area: Rect, facets: &[FacetValue], cursor: usize) -> Rect {
    let [Some(first), Some(last)] = [facets.first(), facets.last()] else { return area };
    if area.height < BAR_ROWS + MIN_VALUE_ROWS + 1 || facets.len() > usize::from(area.width) - 2 {
        return area;
    }
    let theme = ctx.theme;
    let columns = (usize::from(area.width - 2) / facets.len()).min(MAX_BAR_COLUMNS);
    let largest = facets.iter().filter_map(|facet| facet.count).max().unwrap_or(1);
    // A bar of one media item stays visible beside a bar of many.
    let smallest = largest.div_ceil(8 * u64::from(BAR_ROWS));
    let bars = facets.iter().enumerate().flat_map(|(index, facet)| {
        let count = facet.count.filter(|count| *count > 0).map_or(0, |it| it.max(smallest));
        let style = if index == cursor { theme.frame_focus } else { theme.gauge };
        let bar = SparklineBar::from(count).style(Some(style));
        let gap = usize::from(columns > 1);
        (0..columns).map(move |at| if at + gap < columns { bar } else { SparklineBar::from(0) })
    });
    let width = u16::try_from(columns * facets.len()).unwrap_or(area.width);
    let plot = Rect { x: area.x + 1, width, height: BAR_ROWS, ..area };
    Sparkline::default().data(bars).max(largest).render(plot, ctx.buf);
    let axis = below(area, BAR_ROWS);
    let selected = facets.get(cursor).unwrap_or(first);
    ctx.put(
        axis,
        0,
        &[
            (format!(" {} ‥ {}   ", first.name, last.name), theme.dim),
            (selected.name.to_string(), theme.accent),
        ],
    );
    below(axis, 1)
}

const ISSUES_NOTE: &str =
    "No counts: results do not carry issues. Services may reject names other than blur.";

fn draw_facet(
    ctx: &mut DrawContext,
    rows: Rect,
    row: u16,
    facet: &FacetValue,
    name_width: usize,
    largest: u64,
) {
    let theme = ctx.theme;
    let name = truncate(facet.name.as_str(), name_width);
    let gap = " ".repeat(name_width.saturating_sub(display_width(&name)) + 1);
    let Some(count) = facet.count else {
        return ctx.put(rows, row, &[(format!(" {name}"), theme.text)]);
    };
    #[expect(clippy::cast_precision_loss, reason = "a fraction for a bar")]
    let part = count as f64 / largest.max(1) as f64;
    let used = name_width + 12;
    let bar = gauge(part, MAX_BAR.min(usize::from(rows.width).saturating_sub(used)));
    let parts = [
        (format!(" {name}{gap}"), theme.text),
        (bar, theme.gauge),
        (format!(" {}", group_digits(count)), theme.dim),
    ];
    ctx.put(rows, row, &parts);
}
