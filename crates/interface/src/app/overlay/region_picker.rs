//! Picks a region, which is a box on a query image. Keys, numbers and the mouse change the box. Accepting the dialog
//! searches by the region.

use std::mem;

use ratatui::layout::{
    Constraint::{Length, Min},
    Layout,
};
use tessera_model::{Anchor, AnchorKind, Region, region::Vec2, text::truncate};
use tessera_picture::{Canvas, Crop, PictureSubject, PictureView, Protocol, fit::Fit};

use crate::app::overlay::prelude::*;
use crate::{
    app::{
        Mouse, MouseKind, QueryImage, Screen,
        overlay::region_edit::{Drag, RegionField, RegionNumberInput, StepSize, cell_under},
        pane::inner_area,
        view::pictures::VisiblePicture,
    },
    drawing::{below, display_width, line, packed_rows, rows_of_line, wrapped_rows},
};

#[derive(Clone, Debug)]
pub struct RegionPicker {
    pub image: QueryImage,
    pub region: Region,
    pub step: StepSize,
    pub number_input: Option<RegionNumberInput>,
    /// Whether the region alone is shown, enlarged.
    pub zoomed: bool,
    /// Earlier regions, oldest first.
    undo_stack: Vec<Region>,
    /// The drag of the mouse with the region when the drag began.
    drag: Option<(Drag, Region)>,
}

/// The maximum number of regions that `u` brings back.
const MAX_UNDO: usize = 200;

impl Dialog for RegionPicker {
    fn handle_key(&mut self, chord: Chord, app: &mut App) -> KeyResult {
        if let Some(numbers) = &mut self.number_input {
            let previous = self.region;
            let mut result = numbers.handle_key(chord, &mut self.region);
            if result == KeyResult::Back {
                (self.number_input, result) = (None, KeyResult::Stay);
            }
            self.push_undo(previous);
            return result;
        }
        match chord.key {
            Key::Esc => return KeyResult::Close,
            Key::Enter => return KeyResult::Accept,
            Key::Tab => self.number_input = Some(RegionNumberInput::new(self.region, chord.shift)),
            Key::Char(',') => self.step = self.step.finer(),
            Key::Char('.') => self.step = self.step.coarser(),
            Key::Char('w') => self.set_region(Region::WHOLE),
            Key::Char('z') => self.zoomed = !self.zoomed,
            Key::Char('u') => self.region = self.undo_stack.pop().unwrap_or(self.region),
            Key::Char(digit @ '1'..='9') => self.select_item(usize::from(digit as u8 - b'1'), app),
            _ => self.move_by_key(chord, app),
        }
        KeyResult::Stay
    }

    /// Takes the preset at a position.
    fn select_item(&mut self, index: usize, _: &App) {
        if let Some((_, preset)) = Region::PRESETS.get(index) {
            self.set_region(*preset);
        }
    }

    fn area(&self, app: &App) -> Rect {
        Self::area_on(app.screen.size)
    }

    fn hints(&self) -> &'static str {
        match self.number_input {
            None => "Enter search   Tab numbers   Esc close",
            Some(_) => "type a fraction   Tab next number   Enter search   Esc back to the box",
        }
    }

    fn text_input(&mut self) -> Option<&mut Input> {
        self.number_input.as_mut().map(|numbers| &mut numbers.text)
    }

    fn handle_mouse(&mut self, mouse: Mouse, app: &mut App) {
        let Some(picture) = self.picture_cells(app).filter(|_| !self.zoomed) else { return };
        let cell = cell_under(mouse, picture);
        match (mouse.kind, self.drag) {
            (MouseKind::Click, _) if picture.contains((mouse.column, mouse.row).into()) => {
                self.drag = Some((Drag::from_cell(self.region, picture, cell), self.region));
                self.number_input = None;
            }
            (MouseKind::Drag, Some((drag, start))) => {
                self.region = drag.apply(start, picture, cell, self.size_of(StepSize::Pixel, app));
            }
            (MouseKind::Release, Some((_, start))) => {
                self.drag = None;
                self.push_undo(start);
            }
            _ => {}
        }
    }

    fn pictures(&self, _: Rect, app: &App) -> Vec<(Rect, VisiblePicture)> {
        vec![(Self::areas_on(&app.screen).picture, self.picture_to_load(app))]
    }

    /// Searches by the region. A whole media item of the dataset is not uploaded.
    fn accept(self: Box<Self>, app: &mut App) {
        let Some(view) = app.results.view() else { return };
        let search = Search { query: Query::Browse, ..view.search.clone() };
        let Self { image, region, .. } = *self;
        app.panes.focus = Pane::Results;
        match (&image.subject, region == Region::WHOLE) {
            (PictureSubject::Media(media), true) => {
                let anchor = Anchor { media: *media, kind: AnchorKind::Media };
                app.open_similar_search(search, anchor, image.name, None);
            }
            (_, is_whole) => {
                let region = (!is_whole).then_some(region);
                app.results.register_query_image(
                    QueryImage { region, ..image },
                    search,
                    &mut app.outbox,
                );
            }
        }
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect) {
        ctx.dialog(area, &self.title(ctx, usize::from(area.width.saturating_sub(4))));
        let has_pictures = ctx.app.screen.protocol != Protocol::None;
        let RegionPickerAreas { picture, numbers, keys } = RegionPicker::areas(area, has_pictures);
        if ctx.app.screen.protocol == Protocol::None {
            draw_presets(ctx, picture);
        } else {
            draw_picture(ctx, picture, self);
        }
        draw_numbers(ctx, numbers, self);
        draw_keys(ctx, keys, self);
    }
}

impl RegionPicker {
    /// Moves the region by an arrow key or by hjkl. With Shift, the key moves the bottom right corner, and with Alt
    /// the top left corner.
    fn move_by_key(&mut self, chord: Chord, app: &App) {
        let (letter, shift) = match chord.key {
            Key::Char(letter) => (letter.to_ascii_lowercase(), letter.is_ascii_uppercase()),
            Key::Left => ('h', chord.shift),
            Key::Down => ('j', chord.shift),
            Key::Up => ('k', chord.shift),
            Key::Right => ('l', chord.shift),
            _ => return,
        };
        let step = self.size_of(self.step, app);
        let by = match letter {
            'h' => (-step.0, 0.0),
            'j' => (0.0, step.1),
            'k' => (0.0, -step.1),
            'l' => (step.0, 0.0),
            _ => return,
        };
        let smallest = self.size_of(StepSize::Pixel, app);
        self.set_region(match (chord.alt, shift) {
            (true, _) => self.region.with_top_left_moved(by, smallest),
            (false, true) => self.region.with_bottom_right_moved(by, smallest),
            (false, false) => self.region.translated(by),
        });
    }

    fn set_region(&mut self, region: Region) {
        let previous = mem::replace(&mut self.region, region);
        self.push_undo(previous);
    }

    fn push_undo(&mut self, previous: Region) {
        if previous != self.region {
            self.undo_stack.push(previous);
            self.undo_stack.drain(..self.undo_stack.len().saturating_sub(MAX_UNDO));
        }
    }

    /// Returns the size of a step as a fraction of the picture.
    fn size_of(&self, step: StepSize, app: &App) -> Vec2 {
        let cells = self.picture_cells(app).map_or(ASSUMED_CELLS, |it| (it.width, it.height));
        step.fraction_of(cells, self.picture_size(app).unwrap_or(ASSUMED_PIXELS))
    }

    pub(in crate::app) fn open(overlays: &mut Overlays, results: &Results) {
        let Some(preview) = results.preview() else { return };
        if let Some(image) = QueryImage::copy_of(preview) {
            // An object starts with its own region.
            let region = results.recent_images.region(&image.subject).or(preview.region);
            RegionPicker::open_on(overlays, results, QueryImage { region, ..image });
        }
    }

    pub(in crate::app) fn open_on_query(overlays: &mut Overlays, results: &Results) {
        if let Some(image) = results.view().and_then(|view| view.query_image.clone()) {
            RegionPicker::open_on(overlays, results, image);
        }
    }

    /// Starts with the region of the last search by this picture, or with its inner half.
    pub(in crate::app) fn open_on(overlays: &mut Overlays, results: &Results, image: QueryImage) {
        let last = image.region.or_else(|| results.recent_images.region(&image.subject));
        overlays.open(Self {
            image: QueryImage { region: None, ..image },
            region: last.unwrap_or(Region::INNER_HALF),
            step: StepSize::Cell,
            number_input: None,
            zoomed: false,
            undo_stack: Vec::new(),
            drag: None,
        });
    }
}

/// A key with what it does.
pub type KeyHint = (String, &'static str);

/// Keys with their effects and their ranks. If there is no room, the keys with the highest rank are
/// omitted first.
const REGION_KEYS: [(&str, &str, u8); 5] = [
    ("hjkl", "move", 3),
    ("HJKL", "bottom right corner", 9),
    ("Alt-hjkl", "top left corner", 10),
    (", .", "step", 8),
    ("mouse", "drag", 11),
];
const OTHER_KEYS: [(&str, &str, u8); 7] = [
    ("Enter", "search", 1),
    ("w", "whole", 6),
    ("1-9", "presets", 4),
    ("z", "zoom in", 7),
    ("Tab", "numbers", 2),
    ("u", "undo", 5),
    ("Esc", "close", 0),
];
const ZOOM_KEY: &str = "z";

/// Returns the rows of as many keys as fit, none of which is cut. The most important keys are always among them.
pub fn key_rows(zoomed: bool, width: u16, max_rows: u16) -> Vec<Vec<KeyHint>> {
    let groups = [&REGION_KEYS[..], &OTHER_KEYS[..]];
    let hint = |(key, effect, _): &(&'static str, &'static str, u8)| {
        let effect = if zoomed && *key == ZOOM_KEY { "zoom out" } else { *effect };
        ((*key).to_owned(), effect)
    };
    let rows = groups.map(|keys| keys.iter().map(hint).collect::<Vec<_>>());
    let is_whole =
        |row: &Vec<KeyHint>| row.iter().map(cells_of).sum::<usize>() <= usize::from(width);
    if max_rows > 1 && rows.iter().all(is_whole) {
        return rows.to_vec();
    }
    let keys = groups.concat();
    let up_to_rank = |limit: u8| {
        let keys = keys.iter().filter(|(.., rank)| *rank <= limit).map(hint);
        packed_rows(keys, usize::from(width), cells_of)
    };
    let ranks = (0..=u8::try_from(keys.len()).unwrap_or(u8::MAX)).rev();
    let fitting = ranks.map(up_to_rank).find(|rows| rows.len() <= usize::from(max_rows));
    fitting.unwrap_or_else(|| up_to_rank(0))
}

/// Returns the rows of the presets.
pub fn preset_rows(width: u16) -> Vec<Vec<KeyHint>> {
    let presets = (1..).zip(Region::PRESETS);
    let presets = presets.map(|(number, (name, _))| (number.to_string(), name));
    packed_rows(presets, usize::from(width), cells_of)
}

/// Returns the cells of a key. There is a space before the key and its effect, and a space after both.
fn cells_of((key, effect): &KeyHint) -> usize {
    display_width(key) + display_width(effect) + 3
}

const NUMBER_COLUMNS: u16 = 26;
/// The rows that the keys leave for the numbers and a fact.
const MIN_BODY_ROWS: u16 = 5;
/// The rows of the presets beside the numbers, with the text above the presets.
const PRESET_ROWS: u16 = 9 + 4;
/// The size in pixels of a picture that is not loaded yet.
const ASSUMED_PIXELS: (u32, u32) = (1000, 1000);
/// The size in cells of a picture that is not drawn.
const ASSUMED_CELLS: (u16, u16) = (40, 20);

/// The longest text about what a search costs.
const SEARCH_TEXT: &str = "searches objects at granularity 4; a change uploads the picture again";

#[derive(Clone, Copy, Debug)]
pub struct RegionPickerAreas {
    /// The picture, or the presets if pictures are disabled.
    pub picture: Rect,
    pub numbers: Rect,
    pub keys: Rect,
}

impl RegionPicker {
    pub fn areas(area: Rect, has_pictures: bool) -> RegionPickerAreas {
        let inner = inner_area(area);
        let max_rows = inner.height.saturating_sub(MIN_BODY_ROWS).max(1);
        // The key that zooms is measured with its longest text, so that the picture does not move.
        let keys = row_count(&key_rows(true, inner.width, max_rows));
        let text = wrapped_rows(SEARCH_TEXT, inner.width.saturating_sub(1));
        let keys = if keys + text <= max_rows { keys + text } else { keys };
        let [body, key_area] = Layout::vertical([Min(0), Length(keys)]).areas(inner);
        if !has_pictures && body.height < PRESET_ROWS {
            return Self::areas_with_low_presets(inner);
        }
        let [picture, numbers] = Layout::horizontal([Min(0), Length(NUMBER_COLUMNS)]).areas(body);
        RegionPickerAreas { picture, numbers, keys: key_area }
    }

    /// Returns the areas with the presets below the numbers, if the presets have no room beside the numbers.
    fn areas_with_low_presets(inner: Rect) -> RegionPickerAreas {
        const NUMBER_ROWS: u16 = MIN_BODY_ROWS - 1;
        let presets = row_count(&preset_rows(inner.width));
        let keys = inner.height.saturating_sub(NUMBER_ROWS + presets).max(1);
        let keys = row_count(&key_rows(true, inner.width, keys));
        let rows = [Min(0), Length(presets), Length(keys)];
        let [numbers, picture, keys] = Layout::vertical(rows).areas(inner);
        RegionPickerAreas { picture, numbers, keys }
    }

    fn areas_on(screen: &Screen) -> RegionPickerAreas {
        Self::areas(Self::area_on(screen.size), screen.protocol != Protocol::None)
    }

    pub fn canvas(screen: &Screen) -> Canvas {
        let picture = Self::areas_on(screen).picture;
        screen.canvas(picture.width, picture.height)
    }

    /// Returns all of the screen except the header and the last lines.
    fn area_on(screen: (u16, u16)) -> Rect {
        Rect::new(0, 1.min(screen.1), screen.0, screen.1.saturating_sub(3))
    }

    fn requested_picture(&self) -> PictureView {
        let crop =
            if self.zoomed { Crop::Region(self.region) } else { Crop::Highlighted(self.region) };
        PictureView { subject: self.image.subject.clone(), crop }
    }

    /// Returns the newest picture that is loaded, because the region may move faster than pictures are made.
    pub fn displayed_picture(&self, app: &App) -> PictureView {
        let (requested, canvas) = (self.requested_picture(), Self::canvas(&app.screen));
        let pictures = &app.service_data.pictures;
        match pictures.get(&requested, canvas) {
            Some(_) => requested,
            None => pictures.most_recent_variant(&requested, canvas).cloned().unwrap_or(requested),
        }
    }

    /// Returns the picture that is being made, or the picture to request if none is being made. This way, a moving
    /// region never requests pictures faster than they are made.
    fn picture_to_load(&self, app: &App) -> VisiblePicture {
        let (requested, canvas) = (self.requested_picture(), Self::canvas(&app.screen));
        let in_progress = app.outbox.tickets.lanes().find_map(|lane| match lane {
            Lane::Picture(view, at) if *at == canvas && view.differs_only_in_region(&requested) => {
                Some(view)
            }
            _ => None,
        });
        let view = in_progress.unwrap_or(&requested).clone();
        VisiblePicture::new(view, self.image.source.clone(), canvas)
    }

    /// Returns the size of the picture in pixels, once the picture is loaded.
    pub fn picture_size(&self, app: &App) -> Option<(u32, u32)> {
        let picture =
            app.service_data.pictures.get(&self.displayed_picture(app), Self::canvas(&app.screen));
        picture.and_then(|picture| picture.as_ref().ok()).map(|thumbnail| thumbnail.original)
    }

    /// Returns the cells that the whole picture covers, once the picture is loaded.
    pub fn picture_cells(&self, app: &App) -> Option<Rect> {
        let area = Self::areas_on(&app.screen).picture;
        if area.is_empty() {
            return None;
        }
        let (width, height) = Fit::new(self.picture_size(app)?, Self::canvas(&app.screen)).cells;
        // A canvas has at least one cell, but the screen may have no room for it.
        let (columns, rows) =
            (area.width.saturating_sub(width), area.height.saturating_sub(height));
        let (x, y) = (area.x + columns / 2, area.y + rows / 2);
        Some(Rect { x, y, width, height })
    }

    /// Returns the title. The name of the picture is shortened, or omitted if there is no room.
    fn title(&self, ctx: &DrawContext, cells: usize) -> String {
        const MIN_NAME: usize = 8;
        let what = "Pick a region   ";
        let size = self.picture_size(ctx.app);
        let size = size.map_or_else(String::new, |(width, height)| format!("  {width}×{height}"));
        let end = format!("{size}   fractions of the picture");
        let free = cells.saturating_sub(display_width(what) + display_width(&end));
        let name = self.image.name.as_str();
        if free < MIN_NAME.min(display_width(name)) {
            return "Pick a region   fractions of the picture".to_owned();
        }
        format!("{what}{}{end}", truncate(name, free))
    }
}

fn row_count(rows: &[Vec<KeyHint>]) -> u16 {
    u16::try_from(rows.len()).unwrap_or(u16::MAX)
}

fn draw_picture(ctx: &mut DrawContext, area: Rect, picker: &RegionPicker) {
    let app = ctx.app;
    let view = picker.displayed_picture(app);
    let is_highlighted = matches!(view.crop, Crop::Highlighted(_));
    ctx.draw_picture(area, view, RegionPicker::canvas(&app.screen));
    if let Some(covered) = picker.picture_cells(app).filter(|_| is_highlighted) {
        ctx.draw_region_outline(covered, picker.region, app.screen.protocol);
    }
}

fn draw_presets(ctx: &mut DrawContext, area: Rect) {
    let theme = ctx.theme;
    let text = " pictures are disabled: pick a preset, or type the numbers";
    let preset = |(number, name): &KeyHint| {
        let number = Span::styled(format!(" {number} "), theme.key);
        [number, Span::styled(format!("{name} "), theme.text)]
    };
    let presets = preset_rows(area.width);
    if usize::from(area.height) <= presets.len() {
        let lines = presets.iter().map(|row| row.iter().flat_map(preset).collect::<Line>());
        return ctx.put_lines(area, &lines.collect::<Vec<_>>());
    }
    let presets = presets.iter().flatten().map(|it| Line::from(preset(it).to_vec()));
    let lines: Vec<Line> =
        [Line::styled(text, theme.dim), Line::default()].into_iter().chain(presets).collect();
    ctx.put_lines(area, &lines);
}

fn draw_numbers(ctx: &mut DrawContext, area: Rect, picker: &RegionPicker) {
    let theme = ctx.theme;
    // The first row stays blank only if there are enough rows.
    let top = u16::from(area.height > 12);
    for (row, side) in (top..area.height).zip(RegionField::ALL) {
        draw_number(ctx, line(area, row), side, picker);
    }
    let error = picker.number_input.as_ref().and_then(|numbers| numbers.error);
    let error = error.map(|error| {
        Line::from(vec![Span::styled(" ! ", theme.failure), Span::styled(error, theme.failure)])
    });
    let facts = region_facts(ctx, picker).into_iter().map(|(name, value)| {
        let name = Span::styled(format!("  {name:<7} "), theme.dim);
        Line::from(vec![name, Span::styled(value, theme.text)])
    });
    let lines: Vec<Line> =
        [error.unwrap_or_default(), Line::default()].into_iter().chain(facts).collect();
    ctx.put_lines(below(area, top + 4), &lines);
}

fn draw_number(ctx: &mut DrawContext, line: Rect, side: RegionField, picker: &RegionPicker) {
    let theme = ctx.theme;
    let Some(input) = picker.number_input.as_ref().filter(|input| input.field == side) else {
        let text = format!("  {:<7}[{:<9.6}]", side.name(), side.value_in(picker.region));
        return ctx.put(line, 0, &[(text, theme.text)]);
    };
    ctx.put(line, 0, &[(format!("  {:<7}[         ]", side.name()), theme.accent)]);
    let field = Rect { x: line.x + 10, width: 9, ..line }.intersection(line);
    ctx.text_field(field, &input.text, true);
}

fn region_facts(ctx: &DrawContext, picker: &RegionPicker) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(size) = picker.picture_size(ctx.app) {
        let ((x, y), (width, height)) = picker.region.pixels(size);
        facts.push(("pixels", format!("{width}×{height}")));
        facts.push(("at", format!("{x}, {y}")));
    }
    facts.push(("area", format!("{:.0}%", 100.0 * picker.region.area())));
    facts.push(("step", picker.step.name().to_owned()));
    if picker.zoomed {
        facts.push(("view", "region only".to_owned()));
    }
    facts
}

fn draw_keys(ctx: &mut DrawContext, area: Rect, picker: &RegionPicker) {
    let theme = ctx.theme;
    let key = |(key, effect): &KeyHint| {
        let key = Span::styled(format!(" {key}"), theme.key);
        [key, Span::styled(format!(" {effect} "), theme.dim)]
    };
    let rows = key_rows(picker.zoomed, area.width, area.height);
    let lines: Vec<Line> = rows.iter().map(|row| row.iter().flat_map(key).collect()).collect();
    ctx.put_lines(area, &lines);
    let rest = below(area, u16::try_from(lines.len()).unwrap_or(u16::MAX));
    let text =
        Line::styled(ctx.app.results().view().map_or_else(String::new, search_text), theme.dim);
    if rows_of_line(&text, usize::from(rest.width)) <= usize::from(rest.height) {
        ctx.put_lines(rest, &[text]);
    }
}

fn search_text(View { search, .. }: &View) -> String {
    let (entity, level) = (search.entity.as_str(), search.granularity.level());
    format!(" searches {entity} at granularity {level}; a change uploads the picture again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_important_keys_remain_whole() {
        let text = |rows: Vec<Vec<KeyHint>>| -> Vec<String> {
            let row = |row: Vec<KeyHint>| {
                row.iter().map(|(key, effect)| format!("{key} {effect}")).collect::<Vec<_>>()
            };
            rows.into_iter().map(|keys| row(keys).join(", ")).collect()
        };
        assert_eq!(key_rows(false, 100, 2).len(), 2);
        assert_eq!(key_rows(true, 48, 9).concat().len(), REGION_KEYS.len() + OTHER_KEYS.len());
        assert_eq!(text(key_rows(false, 28, 1)), ["Enter search, Esc close"]);
        assert_eq!(text(key_rows(false, 48, 1)), ["Enter search, Tab numbers, Esc close"]);
        for (width, rows) in [(28, 1), (28, 3), (48, 4), (78, 3)] {
            let all = key_rows(false, width, rows);
            assert!(all.len() <= usize::from(rows));
            let is_whole =
                |row: &Vec<KeyHint>| row.iter().map(cells_of).sum::<usize>() <= usize::from(width);
            assert!(all.iter().all(is_whole), "{all:?}");
        }
    }
}
