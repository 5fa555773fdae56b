//! Shows the media items of a search as points on the map of their dataset, with the picture at the cursor beside the
//! map. A rectangle selects the media items in it. The positions are computed by the local service.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use ratatui::{
    layout::{
        Constraint::{Length, Min},
        Layout, Position,
    },
    style::Style,
};
use tessera_model::{
    Anchor, AnchorKind, Basket, EntryContent, EntryId, Filter, MapPoint, MediaId, MediaMap,
    Operation, SelectionEntry,
    text::{group_digits, grouped_with_noun, truncate},
};
use tessera_picture::Protocol;

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        Mouse, MouseKind, availability,
        pane::inner_area,
        view::pictures::{VisiblePicture, preview_picture},
        viewer::full_size_reason,
    },
    drawing::{
        Theme, display_width, packed_rows,
        scatter_plot::{CLASSES, PlotPoint, PlotPosition, PlotWindow, draw_points},
    },
};

/// The columns of the picture beside the map, and the smallest dialog that has room for it.
const SIDE_COLUMNS: u16 = 26;
const MIN_COLUMNS_WITH_SIDE: u16 = 70;
const ZOOM_STEP: f32 = 1.5;
/// How many cells a key with Shift moves the cursor.
const LARGE_STEP: f32 = 8.0;
/// The class of points that have none of the names with a color of their own.
const OTHER: usize = CLASSES - 1;
const OTHERS: &str = "others";
/// The confidences of an issue in percent from which a point is in the first and in the second class.
const LIKELY: u8 = 50;
const POSSIBLE: u8 = 20;

/// The keys, as the help describes them.
const KEYS: [(&str, &str); 11] = [
    ("← ↓ ↑ → h j k l", "Move the cursor by a cell; with Shift, by eight cells"),
    ("+ - 0", "Zoom in, zoom out, show the whole map"),
    ("v", "Draw a rectangle from the cursor on; again, remove it"),
    ("z", "Zoom to the rectangle"),
    ("Space", "Select the media in the rectangle, or the one at the cursor"),
    ("a", "Select everything that is shown"),
    ("c", "Color by label, tag, or a quality issue"),
    ("Tab Shift-Tab", "Show the media of one label, tag or confidence alone"),
    ("Enter", "Search for what is similar to the media item at the cursor"),
    ("s", "Search for its file, and show the picture at full size"),
    ("Esc", "Remove the rectangle, show all media, or close"),
];

/// What the color of a point shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapColor {
    Label,
    Tag,
    /// A quality issue, by its position in the map.
    Issue(usize),
}

#[derive(Clone, Debug)]
pub struct MapView {
    search: Search,
    /// `None` while the map is loading.
    map: Option<Result<Arc<MediaMap>, SafeText>>,
    /// The window that contains all points.
    whole: PlotWindow,
    window: PlotWindow,
    pub cursor: PlotPosition,
    /// The corner of the rectangle at which it was begun. The cursor is at the opposite corner.
    corner: Option<PlotPosition>,
    pub color: MapColor,
    /// The classes that points are in, the most frequent name first. Rare names share a style.
    pub classes: Vec<MapClass>,
    /// The number of points that have none of the colors of classes.
    uncolored: usize,
    /// The class that is shown alone.
    pub only: Option<usize>,
    /// The position in the list of the shown point that is nearest to the cursor.
    hovered: Option<usize>,
}

/// A class of points, as the legend shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapClass {
    pub name: String,
    pub points: usize,
    /// The position of its style.
    style: usize,
}

struct MapAreas {
    plot: Rect,
    legend: Rect,
    picture: Rect,
    facts: Rect,
}

impl MapView {
    pub(in crate::app) fn open(app: &mut App) {
        let Some(view) = app.results.view() else { return };
        let search = Search { page: 0, ..view.search.clone() };
        let window = PlotWindow::around(std::iter::empty());
        app.overlays.open(Self {
            search,
            map: None,
            whole: window,
            window,
            cursor: window.center(),
            corner: None,
            color: MapColor::Label,
            classes: Vec::new(),
            uncolored: 0,
            only: None,
            hovered: None,
        });
    }

    /// Returns the request for the map of the open dialog, unless it is loaded.
    pub(in crate::app) fn map_request(overlays: &Overlays) -> Option<(Lane, Request)> {
        let view = overlays.dialog::<Self>().filter(|view| view.map.is_none())?;
        Some((Lane::Map(view.search.clone()), Request::Map(view.search.clone())))
    }

    pub(in crate::app) fn loaded(
        overlays: &mut Overlays,
        search: &Search,
        result: Result<MediaMap, Failure>,
    ) {
        let Some(view) = overlays.dialog_mut::<Self>().filter(|it| it.search == *search) else {
            return;
        };
        if let Ok(map) = &result {
            view.whole = PlotWindow::around(map.points.iter().map(|point| point.position));
            view.show_whole_map();
            view.color = *colors(map).first().unwrap_or(&MapColor::Label);
        }
        view.map = Some(result.map(Arc::new).map_err(|failure| failure.to_safe_text()));
        view.count_classes();
        view.find_hovered(None);
        if let Some(position) = view.hovered().map(|point| point.position) {
            view.cursor = position;
        }
    }

    pub fn map(&self) -> Option<&MediaMap> {
        self.map.as_ref()?.as_deref().ok()
    }

    /// Returns the classes of a point, the most frequent first. A point with several labels is in several classes.
    fn classes_of<'a>(&self, map: &'a MediaMap, index: usize) -> impl Iterator<Item = usize> + 'a {
        let point = &map.points[index];
        let (names, percent): (&[u32], u8) = match self.color {
            MapColor::Label => (&point.labels, 0),
            MapColor::Tag => (&point.tags, 0),
            MapColor::Issue(issue) => {
                (&[], map.issues.get(issue).map_or(0, |it| it.percents[index]))
            }
        };
        let issue = match percent {
            LIKELY.. => Some(0),
            POSSIBLE.. => Some(1),
            _ => None,
        };
        names.iter().map(|name| *name as usize).chain(issue)
    }

    /// Returns the position of the style of a point.
    fn style_of(&self, map: &MediaMap, index: usize) -> usize {
        match self.only.and_then(|only| self.classes.get(only)) {
            Some(class) => class.style,
            None => self.classes_of(map, index).next().map_or(OTHER, |class| class.min(OTHER)),
        }
    }

    fn count_classes(&mut self) {
        let Some(map) = self.map() else { return };
        let names: Vec<String> = match self.color {
            MapColor::Label => map.labels.iter().map(ToString::to_string).collect(),
            MapColor::Tag => map.tags.iter().map(ToString::to_string).collect(),
            MapColor::Issue(issue) => {
                let name = map.issues.get(issue).map(|it| it.name.as_str()).unwrap_or_default();
                vec![format!("{name} from {LIKELY} %"), format!("from {POSSIBLE} %")]
            }
        };
        let others = names.len();
        let mut counts = vec![0; names.len() + 1];
        let mut uncolored = 0;
        for index in 0..map.points.len() {
            let mut classes = self.classes_of(map, index).peekable();
            uncolored += usize::from(classes.peek().is_none_or(|class| *class >= OTHER));
            counts[others] += usize::from(classes.peek().is_none());
            classes.for_each(|class| counts[class] += 1);
        }
        let all = names.into_iter().chain([OTHERS.to_owned()]).zip(counts).enumerate();
        let class = |(at, (name, points)): (usize, (String, usize))| MapClass {
            name,
            points,
            style: if at == others { OTHER } else { at.min(OTHER) },
        };
        (self.classes, self.uncolored) = (all.map(class).collect(), uncolored);
    }

    /// Returns the class of the points without a name.
    fn others(&self) -> usize {
        self.classes.len().saturating_sub(1)
    }

    /// Returns the points that are not hidden, with their positions in the list.
    fn shown(&self) -> impl Iterator<Item = (usize, &MapPoint)> {
        self.points_of_class(self.only)
    }

    /// Returns the points of a class, or all points.
    fn points_of_class(&self, only: Option<usize>) -> impl Iterator<Item = (usize, &MapPoint)> {
        let map = self.map();
        let points = map.into_iter().flat_map(|map| map.points.iter().enumerate());
        let others = self.others();
        points.filter(move |(index, _)| {
            let Some((only, map)) = only.zip(map) else { return true };
            let mut classes = self.classes_of(map, *index);
            if only == others { classes.next().is_none() } else { classes.any(|it| it == only) }
        })
    }

    /// Returns the point that is nearest to the cursor.
    pub fn hovered(&self) -> Option<&MapPoint> {
        self.map()?.points.get(self.hovered?)
    }

    /// Finds the nearest point after a change, because a search for each drawing would take too long. Points in the
    /// rectangle, or in the window, come first, so that the picture beside the map is one of those that keys act on.
    fn find_hovered(&mut self, rectangle: Option<PlotWindow>) {
        let bounds = rectangle.unwrap_or(self.window);
        let rank = |(index, point): (usize, &MapPoint)| {
            let distance = self.window.distance(point.position, self.cursor);
            (!bounds.contains(point.position), distance, index)
        };
        let nearest = self
            .shown()
            .map(rank)
            .min_by(|one, other| one.0.cmp(&other.0).then_with(|| one.1.total_cmp(&other.1)));
        self.hovered = nearest.map(|(.., index)| index);
    }

    /// Returns the points in the rectangle, or without one, the point at the cursor.
    fn points_to_select(&self, plot: Rect) -> Vec<usize> {
        match self.rectangle(plot) {
            Some(rectangle) => self.points_in(rectangle),
            None => self.hovered.into_iter().collect(),
        }
    }

    fn points_in(&self, window: PlotWindow) -> Vec<usize> {
        self.shown()
            .filter(|(_, it)| window.contains(it.position))
            .map(|(index, _)| index)
            .collect()
    }

    fn rectangle(&self, plot: Rect) -> Option<PlotWindow> {
        // The outline is drawn on whole cells.
        let half = self.window.cell_sides(plot).map(|side| side / 2.0);
        self.corner.map(|corner| PlotWindow::between(corner, self.cursor).grown(half))
    }

    fn areas(&self, area: Rect) -> MapAreas {
        let inside = inner_area(area);
        let side =
            if area.width < MIN_COLUMNS_WITH_SIDE { 0 } else { SIDE_COLUMNS.max(area.width / 4) };
        let [map, side] = Layout::horizontal([Min(0), Length(side)]).areas(inside);
        let rows = self.legend_rows(usize::from(map.width)).len();
        let rows = u16::try_from(rows).unwrap_or(u16::MAX);
        let [plot, legend] = Layout::vertical([Min(0), Length(rows)]).areas(map);
        let side =
            Rect { x: side.x + side.width.min(1), width: side.width.saturating_sub(1), ..side };
        let [picture, facts] = Layout::vertical([Length(side.width / 2), Min(6)]).areas(side);
        MapAreas { plot, legend, picture, facts }
    }

    fn plot_area(&self, app: &App) -> Rect {
        self.areas(self.area(app)).plot
    }

    fn move_cursor(&mut self, by: [f32; 2], app: &App) {
        let sides = self.window.cell_sides(self.plot_area(app));
        for axis in 0..2 {
            self.cursor[axis] += by[axis] * sides[axis];
        }
        self.cursor = self.whole.nearest(self.cursor);
        self.window = self.window.moved_to_contain(self.cursor);
    }

    /// Zooms around a position. At the size of the whole map, the whole map is shown.
    fn zoom(&mut self, factor: f32, fixed: PlotPosition) {
        let zoomed = self.window.zoomed(factor, fixed);
        self.window = if zoomed.contains_window(self.whole) { self.whole } else { zoomed };
        // The wheel zooms around the mouse, which may leave the cursor outside.
        self.cursor = self.window.nearest(self.cursor);
    }

    fn show_whole_map(&mut self) {
        (self.window, self.cursor) = (self.whole, self.whole.center());
    }

    fn color_by_next(&mut self) {
        let colors = self.map().map(colors).unwrap_or_default();
        let at = colors.iter().position(|color| *color == self.color).unwrap_or(0);
        if let Some(next) = colors.iter().cycle().nth(at + 1) {
            (self.color, self.only) = (*next, None);
            self.count_classes();
        }
    }

    /// Shows the next class alone, and after the last one all of them.
    fn show_next_class(&mut self, backward: bool) {
        let classes = self.classes.len();
        self.only = match (self.only, backward) {
            (None, false) => Some(0),
            (None, true) => classes.checked_sub(1),
            (Some(class), false) => Some(class + 1).filter(|next| *next < classes),
            (Some(class), true) => class.checked_sub(1),
        };
    }

    fn key_on_map(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        let (key, is_large) = match chord.key {
            Key::Char(letter) => {
                (Key::Char(letter.to_ascii_lowercase()), letter.is_ascii_uppercase())
            }
            key => (key, chord.shift),
        };
        let step = if is_large { LARGE_STEP } else { 1.0 };
        match key {
            Key::Left | Key::Char('h') => self.move_cursor([-step, 0.0], app),
            Key::Right | Key::Char('l') => self.move_cursor([step, 0.0], app),
            Key::Up | Key::Char('k') => self.move_cursor([0.0, -step], app),
            Key::Down | Key::Char('j') => self.move_cursor([0.0, step], app),
            Key::Char('+' | '=') => self.zoom(ZOOM_STEP, self.cursor),
            Key::Char('-') => self.zoom(1.0 / ZOOM_STEP, self.cursor),
            Key::Char('0') => self.show_whole_map(),
            Key::Char('z') => {
                let rectangle = self.rectangle(self.plot_area(app));
                if let Some(rectangle) = rectangle.filter(|it| !it.is_smallest()) {
                    (self.window, self.cursor) = (rectangle, rectangle.center());
                    self.corner = None;
                }
            }
            Key::Char('v') => {
                self.corner = if self.corner.is_some() { None } else { Some(self.cursor) };
            }
            Key::Char('c') => self.color_by_next(),
            Key::Tab => self.show_next_class(chord.shift),
            Key::Char(' ') => {
                let points = self.points_to_select(self.plot_area(app));
                self.select(&points, app);
            }
            Key::Char('a') => self.select(&self.points_in(self.window), app),
            Key::Char('s') => return self.open_full_size(app),
            Key::Enter => {
                self.open_neighbors(app);
                return KeyResult::Close;
            }
            _ => {}
        }
        KeyResult::Stay
    }

    /// Returns the search that finds the file of a media item, so that its picture can be shown. For objects, it finds
    /// all objects of the image.
    fn search_of(&self, point: &MapPoint) -> Option<Search> {
        let filters = vec![Filter::in_folder(&point.path).ok()?];
        let Search { dataset, entity, granularity, .. } = self.search;
        Some(Search { filters, entity, granularity, ..Search::browse(dataset) })
    }

    /// Returns the page that is needed to show the media item at the cursor.
    pub(in crate::app) fn page_to_load(app: &App) -> Option<Search> {
        let view = app.dialog::<Self>()?;
        let search = view.search_of(view.hovered()?)?;
        let is_drawn = app.screen.protocol != Protocol::None;
        let is_shown = !view.areas(view.area(app)).picture.is_empty();
        (is_drawn && is_shown).then_some(search)
    }
}

/// Returns what the points of a map can be colored by. A map without any labels, tags and issues is not colored.
fn colors(map: &MediaMap) -> Vec<MapColor> {
    let labels = (!map.labels.is_empty()).then_some(MapColor::Label);
    let tags = (!map.tags.is_empty()).then_some(MapColor::Tag);
    let issues = (0..map.issues.len()).map(MapColor::Issue);
    labels.into_iter().chain(tags).chain(issues).collect()
}

impl Dialog for MapView {
    fn handle_key(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        let mut result = KeyResult::Stay;
        match chord.key {
            Key::Esc | Key::Char('q') if self.corner.is_some() => self.corner = None,
            Key::Esc | Key::Char('q') if self.only.is_some() => self.only = None,
            Key::Esc | Key::Char('q') => return KeyResult::Close,
            _ if self.map().is_some_and(|map| !map.points.is_empty()) => {
                result = self.key_on_map(chord, app);
            }
            _ => {}
        }
        self.find_hovered(self.rectangle(self.plot_area(app)));
        result
    }

    fn handle_mouse(&mut self, mouse: Mouse, app: &mut App) {
        let plot = self.plot_area(app);
        let cell = Position { x: mouse.column, y: mouse.row };
        if !plot.contains(cell) {
            return;
        }
        let position = self.window.position_in(plot, cell);
        match mouse.kind {
            MouseKind::Click => (self.cursor, self.corner) = (position, None),
            MouseKind::Drag => {
                self.corner.get_or_insert(self.cursor);
                self.cursor = position;
            }
            MouseKind::WheelUp => self.zoom(ZOOM_STEP, position),
            MouseKind::WheelDown => self.zoom(1.0 / ZOOM_STEP, position),
            MouseKind::Release | MouseKind::RightClick => {}
        }
        self.find_hovered(self.rectangle(plot));
    }

    fn hints(&self) -> &'static str {
        if self.corner.is_some() {
            return "Space select the rectangle   z zoom to it   ←↓↑→ move   Esc no rectangle";
        }
        "v rectangle   Space select   +/- zoom   c color   Tab one   s full size   Enter neighbors   Esc close"
    }

    fn keys(&self) -> &'static [(&'static str, &'static str)] {
        &KEYS
    }

    /// Shows one class alone.
    fn select_item(&mut self, index: usize, app: &App) {
        self.only = Some(index).filter(|index| *index < self.classes.len());
        self.find_hovered(self.rectangle(self.plot_area(app)));
    }

    fn pictures(&self, area: Rect, app: &App) -> Vec<(Rect, VisiblePicture)> {
        let Some(point) = self.hovered() else { return Vec::new() };
        let area = self.areas(area).picture;
        let preview = app.results.loaded_preview(point.media).filter(|_| !area.is_empty());
        let canvas = app.screen.canvas(area.width, area.height);
        let picture = preview.and_then(|preview| preview_picture(preview, canvas));
        picture.into_iter().map(|picture| (area, picture)).collect()
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        let inside = ctx.dialog(area, &self.title());
        let Some(map) = self.map().filter(|map| !map.points.is_empty()) else {
            return ctx.centered_message(inside, ctx.theme.dim, &[self.empty_text()]);
        };
        let areas = self.areas(area);
        self.draw_plot(ctx, areas.plot, map);
        self.draw_legend(ctx, areas.legend);
        if let Some(point) = self.hovered() {
            if !areas.picture.is_empty() {
                let canvas = ctx.app.screen.canvas(areas.picture.width, areas.picture.height);
                ctx.draw_picture(areas.picture, point.media.into(), canvas);
            }
            self.draw_facts(ctx, areas, map, point);
        }
    }
}

impl MapView {
    /// Replaces the results by the file of the media item at the cursor, and opens its picture.
    fn open_full_size(&self, app: &mut App) -> KeyResult {
        let Some(point) = self.hovered() else { return KeyResult::Close };
        let Some(search) = self.search_of(point) else {
            let name = point.file_name();
            let reason =
                "the path is too long for a filter; press Enter to search for similar media";
            app.outbox.notify(Level::Warning, format!("{name}: {reason}"));
            return KeyResult::Stay;
        };
        app.open_search(search);
        match full_size_reason(app) {
            Some(reason) => app.outbox.notify(Level::Warning, reason),
            None => app.open_viewer(),
        }
        KeyResult::Close
    }

    fn open_neighbors(&self, app: &mut App) {
        let Some(point) = self.hovered() else { return };
        if let Some(reason) = availability::status_reason(app, Operation::VisualSearch) {
            return app.outbox.notify(Level::Warning, reason);
        }
        let anchor = Anchor { media: point.media, kind: AnchorKind::Media };
        let from = Search { filters: Vec::new(), ..self.search.clone() };
        app.open_similar_search(from, anchor, point.file_name(), None);
    }

    /// Adds points to the selection, and removes the rectangle.
    fn select(&mut self, points: &[usize], app: &mut App) {
        self.corner = None;
        if let Some(reason) = availability::basket_reason(app) {
            return app.outbox.notify(Level::Warning, reason);
        }
        let Some(map) = self.map() else { return };
        if points.is_empty() {
            return app.outbox.notify(Level::Warning, "no media item is in the rectangle");
        }
        let Search { dataset, entity, granularity, .. } = self.search;
        let entry = |index: &usize| {
            let point = map.points.get(*index)?;
            let content = EntryContent::MediaItem(point.media, None);
            Some(SelectionEntry { name: point.file_name(), entity, granularity, content })
        };
        let entries: Vec<SelectionEntry> = points.iter().filter_map(entry).collect();
        let added = app.baskets.edit_of(dataset, |basket| add(basket, entries), &mut app.outbox);
        let text = match added {
            Some(0) | None => "all of this is selected already".to_owned(),
            Some(added) => {
                let added = grouped_with_noun(added as u64, "media item", "media items");
                format!("selected {added}; u undoes it after the map is closed")
            }
        };
        app.outbox.notify(Level::Success, text);
    }

    /// Says why there are no points.
    pub fn empty_text(&self) -> String {
        match &self.map {
            None => "loading the map".to_owned(),
            Some(Err(reason)) => reason.to_string(),
            Some(Ok(_)) => "nothing that this search finds is on the map".to_owned(),
        }
    }

    /// Returns in words which ninth of the map contains most points of a class, or that the points are spread over the
    /// whole map.
    pub fn place_of(&self, class: usize) -> Option<String> {
        let mut counts = BTreeMap::<(u16, u16), usize>::new();
        for (_, point) in self.points_of_class(Some(class)) {
            let cell = self.whole.cell_of(Rect::new(0, 0, 3, 3), point.position);
            *counts.entry((cell.y, cell.x)).or_default() += 1;
        }
        let all: usize = counts.values().sum();
        let ((row, column), most) = counts.into_iter().rev().max_by_key(|(_, count)| *count)?;
        if 3 * most < all {
            return Some("all over the map".to_owned());
        }
        let down = ["top", "middle", "bottom"][usize::from(row)];
        let across = ["left", "center", "right"][usize::from(column)];
        Some(format!("mostly {down} {across}"))
    }

    /// Returns the title, which says if only a sample is on the map.
    pub fn title(&self) -> String {
        let Some(map) = self.map() else { return "Map".to_owned() };
        let all = grouped_with_noun(map.media, "media item", "media items");
        let points = map.points.len() as u64;
        if points < map.media {
            return format!("Map: a sample of {} of {all}", group_digits(points));
        }
        format!("Map: {all}, similar ones near each other")
    }

    fn draw_plot(&self, ctx: &mut DrawContext, area: Rect, map: &MediaMap) {
        let styles = class_styles(ctx.theme);
        let selection = ctx.app.baskets.selection(&ctx.app.results);
        let selection = selection.filter(|selection| !selection.is_empty());
        let is_selected = |point: &MapPoint| {
            selection.is_some_and(|it| it.get(&EntryId::MediaItem(point.media)).is_some())
        };
        let points = self.shown().map(|(index, point)| PlotPoint {
            position: point.position,
            class: self.style_of(map, index),
            is_marked: is_selected(point),
        });
        let marks = (!has_color(&styles)).then_some(&CLASS_MARKS);
        draw_points(ctx.buf, area, self.window, points, (&styles, marks), ctx.theme.selected);
        if let Some(corner) = self.corner {
            draw_rectangle(ctx, [corner, self.cursor].map(|at| self.window.cell_of(area, at)));
        }
        let cursor = self.window.cell_of(area, self.cursor);
        ctx.buf[cursor].set_symbol("╋").set_style(ctx.theme.frame_focus);
        let hovered = self.hovered().filter(|point| self.window.contains(point.position));
        if let Some(cell) = hovered.map(|point| self.window.cell_of(area, point.position)) {
            let symbol = if cell == cursor { "◉" } else { "●" };
            ctx.buf[cell].set_symbol(symbol).set_style(ctx.theme.frame_focus);
        }
    }

    /// Returns the rows of the legend. A row has whole entries, whose names are shortened if they need too many rows.
    fn legend_rows(&self, cells: usize) -> Vec<Vec<(String, usize)>> {
        let needed = |(text, _): &(String, usize)| MARK_CELLS + display_width(text);
        let whole = packed_rows(self.legend_classes(usize::MAX), cells, needed);
        if whole.len() <= MAX_LEGEND_ROWS {
            return whole;
        }
        let entries = CLASSES.div_ceil(MAX_LEGEND_ROWS);
        packed_rows(self.legend_classes(cells / entries), cells, needed)
    }

    /// Returns the classes with their counts and the positions of their styles, or the class that is shown alone.
    /// Points without a color of their own are counted together.
    fn legend_classes(&self, max_cells: usize) -> Vec<(String, usize)> {
        let entry = |name: &str, points: usize, alone: &str, style: usize| {
            let end = format!(" {}  {alone}", group_digits(points as u64));
            let name = truncate(name, max_cells.saturating_sub(display_width(&end) + MARK_CELLS));
            (format!("{name}{end}"), style)
        };
        if let Some(class) = self.only.and_then(|only| self.classes.get(only)) {
            return vec![entry(&class.name, class.points, "alone; Esc shows all", class.style)];
        }
        let named = self.classes.iter().filter(|class| class.style < OTHER);
        let named = named.map(|class| (class.name.as_str(), class.points, class.style));
        let all =
            named.chain([(OTHERS, self.uncolored, OTHER)]).filter(|(_, points, _)| *points > 0);
        all.map(|(name, points, style)| entry(name, points, "", style)).collect()
    }

    fn draw_legend(&self, ctx: &mut DrawContext, area: Rect) {
        let styles = class_styles(ctx.theme);
        let has_color = has_color(&styles);
        let span = |(text, style): (String, usize)| {
            let mark = if has_color { '●' } else { CLASS_MARKS[style] };
            Span::styled(format!("{mark} {text}"), styles[style])
        };
        let rows = self.legend_rows(usize::from(area.width)).into_iter();
        let rows = rows.map(|entries| entries.into_iter().map(span).collect::<Line>());
        ctx.put_lines(area, &rows.collect::<Vec<_>>());
    }

    /// Draws what is known about the media item at the cursor, and how many media items are in the rectangle.
    fn draw_facts(
        &self,
        ctx: &mut DrawContext,
        MapAreas { plot, facts: area, .. }: MapAreas,
        map: &MediaMap,
        point: &MapPoint,
    ) {
        let theme = ctx.theme;
        let names = |names: &[SafeText], of_point: &[u32], mark: &str| {
            let named = of_point.iter().filter_map(|name| names.get(*name as usize));
            let named: Vec<String> = named.map(|name| format!("{mark}{name}")).collect();
            (!named.is_empty()).then(|| (named.join(", "), theme.text))
        };
        let mut facts = vec![(point.file_name().to_string(), theme.accent)];
        facts.extend(names(&map.labels, &point.labels, ""));
        facts.extend(names(&map.tags, &point.tags, "# "));
        if let (MapColor::Issue(issue), Some(index)) = (self.color, self.hovered) {
            let issue = &map.issues[issue];
            facts.push((format!("{} {} %", issue.name, issue.percents[index]), theme.text));
        }
        if let Some(rectangle) = self.rectangle(plot) {
            let inside = group_digits(self.points_in(rectangle).len() as u64);
            facts.push((format!("{inside} in the rectangle"), theme.attention));
        }
        let lines = facts.into_iter().map(|(text, style)| Line::styled(text, style));
        ctx.put_lines(area, &lines.collect::<Vec<_>>());
    }
}

const MAX_LEGEND_ROWS: usize = 4;
/// The cells of the mark before a name in the legend.
const MARK_CELLS: usize = 2;
/// The marks of the classes on a screen without color.
const CLASS_MARKS: [char; CLASSES] = ['A', 'B', 'C', 'D', 'E', 'F', '·'];

fn has_color(styles: &[Style; CLASSES]) -> bool {
    styles.iter().any(|style| style.fg.is_some())
}

/// The color of failures is the last one before the color of all other classes, because it looks like an error.
fn class_styles(theme: &Theme) -> [Style; CLASSES] {
    let Theme { accent, attention, success, failure, key, text, dim, .. } = *theme;
    [accent, attention, success, key, text, failure, dim]
}

/// Adds media items to a selection in one step that can be undone, except known members of its clusters. Returns how
/// many were not selected.
fn add(basket: &mut Basket, entries: Vec<SelectionEntry>) -> usize {
    let selected = basket.selection().ordered_entries().into_iter();
    let clusters = selected.filter_map(SelectionEntry::cluster);
    let members: BTreeSet<MediaId> = clusters
        .flat_map(|cluster| cluster.previewed.iter().chain(&cluster.excluded))
        .copied()
        .collect();
    let is_member = |entry: &SelectionEntry| {
        entry.representative().is_some_and(|media| members.contains(&media))
    };
    basket.select(entries.into_iter().filter(|entry| !is_member(entry))).added
}

/// Draws the outline between two cells.
fn draw_rectangle(ctx: &mut DrawContext, [one, other]: [Position; 2]) {
    let (left, right) = (one.x.min(other.x), one.x.max(other.x));
    let (top, bottom) = (one.y.min(other.y), one.y.max(other.y));
    let outline = Rect { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
    for cell in outline.positions() {
        let symbol = match (cell.x == left || cell.x == right, cell.y == top || cell.y == bottom) {
            (true, true) => "+",
            (true, false) => "│",
            (false, true) => "─",
            (false, false) => continue,
        };
        ctx.buf[cell].set_symbol(symbol).set_style(ctx.theme.frame_focus);
    }
}
