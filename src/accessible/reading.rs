//! Reads the state aloud: the open dialog, the picture, or the focused pane, as lines. A dialog or pane without a text
//! of its own is read from the drawing, without frames, bars and gaps.

use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
};

use ratatui::{
    buffer::{Buffer, Cell},
    layout::{Margin, Rect},
    style::Modifier,
};
use tessera_interface::{
    app::{
        App, Dialog, Pane, Remote,
        overlay::{
            command_list::CommandList,
            duplicate_review::DuplicateReview,
            facets::Facets,
            help::Help,
            map::MapView,
            pick_list::{Command, PickList},
            region_picker::RegionPicker,
            score_histogram::ScoreHistogram,
            selection_rows::totals_lines,
        },
        query::chips,
    },
    drawing::{
        FocusedField, MouseTargets, PictureLayer, Theme,
        picture_layer::{ColorDepth, GraphicsSettings},
        theme::ThemeName,
    },
    ui,
};

use crate::accessible::{pictures, sentences};

/// The text of a dialog or pane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The name of the dialog or pane.
    pub title: String,
    /// The type of the dialog, which is forgotten when it is closed. `None` for a pane.
    pub dialog: Option<TypeId>,
    /// The keys of the dialog, or of the field that is edited.
    pub keys: String,
    pub lines: Vec<ReadLine>,
    /// The number of items of the list.
    pub count: usize,
    /// The line that the cursor is on.
    pub current: Option<usize>,
    /// What is said about the field that takes the keys.
    pub field: Option<String>,
}

/// A line of a dialog or pane. `item` is its position in the list, if it is an item of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadLine {
    pub text: String,
    pub item: Option<usize>,
}

impl Reading {
    pub fn of(app: &App) -> Self {
        match app.overlay() {
            Some(overlay) => {
                let any: &dyn Any = overlay;
                let keys = overlay.hints().to_owned();
                Self { dialog: Some(any.type_id()), keys, ..dialog(app, overlay) }
            }
            None if app.comparison().is_some() => pictures::compared(app),
            None if app.viewer().is_some() => pictures::viewed(app),
            None => pane(app),
        }
    }

    /// Creates a reading of lines followed by items, with the cursor on one of the items.
    pub(super) fn with_items(
        title: impl Into<String>,
        above: Vec<String>,
        items: Vec<String>,
        cursor: usize,
    ) -> Self {
        let current = (cursor < items.len()).then(|| above.len() + cursor);
        let (title, count) = (title.into(), items.len());
        let line = |text: String, item| ReadLine { text: text.replace(" · ", ", "), item };
        let above = above.into_iter().map(|text| line(text, None));
        let items = items.into_iter().enumerate().map(|(index, text)| line(text, Some(index)));
        Self { title, lines: above.chain(items).collect(), count, current, ..Self::default() }
    }

    /// Creates a reading of a drawing. The cursor is on an item or in a field, or otherwise on the only selected line.
    fn drawn(title: impl Into<String>, drawing: Drawing) -> Self {
        let lines = &drawing.lines;
        let field = drawing.field.as_ref().map(|field| field.row);
        let is_selected_item = |it: &DrawnLine| it.is_selected && it.line.item.is_some();
        let current = lines.iter().position(|it| is_selected_item(it) || field == Some(it.row));
        let current = current.or_else(|| lines.iter().position(|it| it.is_selected));
        let count = lines.iter().filter_map(|it| it.line.item).max().map_or(0, |last| last + 1);
        let lines = drawing.lines.into_iter().map(|it| it.line).collect();
        Self { title: title.into(), lines, count, current, ..Self::default() }
    }

    /// Returns whether this is the last dialog or pane. The title of a form, of a review and of a map says what has
    /// become of it. Another title of other dialogs means that everything in it is new.
    pub(super) fn continues(&self, last: &Self) -> bool {
        let changing = [TypeId::of::<DuplicateReview>(), TypeId::of::<MapView>()];
        let may_change_title =
            self.field.is_some() || self.dialog.is_some_and(|dialog| changing.contains(&dialog));
        self.dialog == last.dialog && (may_change_title || self.title == last.title)
    }

    /// Returns whether this is a dialog without items and fields, of which only the first lines are read at once.
    pub(super) fn is_long_text(&self) -> bool {
        self.dialog.is_some() && self.count == 0 && self.field.is_none()
    }

    /// Returns the indexes of the lines that are not among others, or are among them less often.
    pub(super) fn lines_beyond(&self, others: &[ReadLine]) -> Vec<usize> {
        let mut known = BTreeMap::<&str, usize>::new();
        for line in others {
            *known.entry(&line.text).or_default() += 1;
        }
        let mut is_new = |index: &usize| match known.get_mut(self.lines[*index].text.as_str()) {
            None | Some(0) => true,
            Some(left) => {
                *left -= 1;
                false
            }
        };
        (0..self.lines.len()).filter(|index| is_new(index)).collect()
    }

    /// Returns a line with its number in the list.
    pub(super) fn text(&self, index: usize) -> String {
        let ReadLine { text, item } = &self.lines[index];
        item.map_or_else(|| text.clone(), |item| format!("{} of {}. {text}", item + 1, self.count))
    }
}

fn dialog(app: &App, overlay: &dyn Dialog) -> Reading {
    if let Some(list) = app.dialog::<CommandList>() {
        pick_list(list.title.as_str(), &list.list)
    } else if let Some(facets) = app.dialog::<Facets>() {
        pictures::facets(app, *facets)
    } else if let Some(histogram) = app.dialog::<ScoreHistogram>() {
        pictures::score_histogram(app, histogram)
    } else if let Some(map) = app.dialog::<MapView>() {
        pictures::map(map)
    } else if let Some(picker) = app.dialog::<RegionPicker>() {
        pictures::region(picker)
    } else if let Some(review) = app.dialog::<DuplicateReview>().filter(|it| it.lists_groups(app)) {
        let groups = review.found.groups.iter();
        let groups = groups.map(|group| sentences::duplicates(&review.found, group)).collect();
        let message = Some(review.message.clone()).filter(|text| !text.is_empty());
        Reading::with_items(review.title(), message.into_iter().collect(), groups, review.group)
    } else {
        let (mut title, drawing) = read_drawing(app, app.overlay_area().unwrap_or_default());
        let filter = app.dialog::<Help>().filter(|help| !help.searching);
        if let Some(filter) = filter.map(|help| help.query.value()).filter(|it| !it.is_empty()) {
            title = format!("{title}, filter: {filter}");
        }
        let field = drawing.field_text(overlay);
        Reading { field, ..Reading::drawn(title, drawing) }
    }
}

fn pick_list(title: &str, list: &PickList) -> Reading {
    let matches = list.matches();
    let items = matches.iter().map(|item| {
        let name = match &item.command {
            Command::Action(action) => format!("{}: ", action.name()),
            _ => String::new(),
        };
        let key = match item.prefix.as_str() {
            "" => String::new(),
            key => format!(" ({key})"),
        };
        let note = match item.note.as_str() {
            "" => String::new(),
            note if item.disabled => format!(", unavailable: {note}"),
            note => format!(", {note}"),
        };
        let label = item.label.as_str().split("  ").map(str::trim).filter(|part| !part.is_empty());
        format!("{name}{}{key}{note}", label.collect::<Vec<_>>().join(", "))
    });
    let items = items.collect::<Vec<_>>();
    let above = items.is_empty().then(|| "no match".to_owned());
    // Another filter makes another list, which is read from its start.
    let title = match list.filter.value() {
        "" => title.to_owned(),
        filter => format!("{title}, filter: {filter}"),
    };
    Reading::with_items(title, above.into_iter().collect(), items, list.cursor)
}

fn pane(app: &App) -> Reading {
    let areas = app.areas();
    let drawn = |area: Option<Rect>| area.map(|it| read_drawing(app, it).1).unwrap_or_default();
    let title = app.panes().focus.name();
    match app.panes().focus {
        Pane::Datasets => datasets(app, drawn(areas.status)),
        Pane::Results => results(app),
        Pane::Detail => Reading::drawn(title, drawn(areas.pane(Pane::Detail))),
        Pane::Query => {
            let keys = app.query().editing_hints(Pane::Query, app.results()).unwrap_or_default();
            let field = sentences::query_field(app.query().draft(app.results()));
            Reading {
                keys: keys.to_owned(),
                field,
                ..Reading::drawn(title, drawn(areas.pane(Pane::Query)))
            }
        }
        Pane::Jobs if app.jobs().is_empty() => Reading::drawn(title, drawn(areas.pane(Pane::Jobs))),
        Pane::Jobs => {
            let jobs = app.jobs().iter().rev().map(|job| sentences::job(app, job)).collect();
            Reading::with_items(title, Vec::new(), jobs, app.jobs().cursor())
        }
        Pane::Basket => basket(app, drawn(areas.pane(Pane::Basket))),
    }
}

/// Reads the datasets and the status of the selected dataset.
fn datasets(app: &App, status: Drawing) -> Reading {
    let list = app.visible_datasets();
    let selected = app.selected_dataset().map(|dataset| dataset.id);
    let cursor = list.iter().position(|dataset| Some(dataset.id) == selected);
    let items: Vec<String> = list.iter().map(|it| sentences::dataset(app, it)).collect();
    let mut above = Vec::new();
    if let Some(failure) = app.service_data().datasets.failure() {
        above.push(failure.to_string());
    } else if items.is_empty() {
        above.push("no datasets".to_owned());
    }
    let mut reading =
        Reading::with_items(app.panes().focus.name(), above, items, cursor.unwrap_or(usize::MAX));
    reading.lines.extend(status.lines.into_iter().map(|it| it.line));
    reading
}

fn basket(app: &App, empty: Drawing) -> Reading {
    let title = app.panes().focus.name();
    let entries = app.baskets().rows(app.results());
    if entries.is_empty() {
        return Reading::drawn(title, empty);
    }
    let cursor = app.baskets().cursor().min(entries.len() - 1);
    let entries = entries.into_iter().map(|entry| sentences::entry(app, entry)).collect();
    Reading::with_items(title, totals_lines(app), entries, cursor)
}

fn results(app: &App) -> Reading {
    let Some(view) = app.results().view() else {
        let nothing = vec!["no dataset is open".to_owned()];
        return Reading::with_items(app.panes().focus.name(), nothing, Vec::new(), 0);
    };
    let mut above = vec![sentences::search(app, view)];
    above.extend(sentences::unavailable_dataset(app));
    above.extend(ui::arrangement_text(app.results(), view));
    above.extend(sentences::open_range(app));
    let chips = chips(app);
    let filters: Vec<String> = chips.iter().map(sentences::chip).collect();
    if !view.search.filters.is_empty() || chips.iter().any(|chip| chip.row.is_some()) {
        above.push(format!("query: {}", filters.join(", ")));
    }
    if let Some(failure) = app.results().remote_page().and_then(Remote::failure) {
        above.push(failure.to_string());
    }
    let tiles = app.results().tiles();
    let items = (1..).zip(&tiles).map(|(number, tile)| {
        if app.results().shows_members() {
            sentences::member(app, tile)
        } else {
            sentences::cluster(app, number, tile)
        }
    });
    Reading::with_items(
        app.panes().focus.name(),
        above,
        items.collect(),
        app.results().tile_cursor().tile,
    )
}

/// The lines of a framed area, and the focused field if the area has a form.
#[derive(Default)]
struct Drawing {
    lines: Vec<DrawnLine>,
    field: Option<FocusedField>,
}

/// A line of a drawing. `row` is its row on the screen.
struct DrawnLine {
    line: ReadLine,
    row: u16,
    is_selected: bool,
}

impl Drawing {
    /// Describes the field that takes the keys of a dialog, and what a typed line or a key does with it.
    fn field_text(&self, dialog: &dyn Dialog) -> Option<String> {
        let typed = dialog.field_text();
        let row = self.field.as_ref().map(|field| field.row);
        let line = self.lines.iter().find(|it| row.is_none_or(|row| row == it.row))?;
        let Some(FocusedField { label, number, count, .. }) = &self.field else {
            let text = typed?;
            let text = if text.is_empty() { "empty" } else { &text };
            return Some(format!("field: {text}; a typed line replaces its text"));
        };
        let shown = line.line.text.trim_start_matches(label).trim_start_matches([',', ' ']);
        let Some(text) = typed else {
            let place = format!("field {number} of {count}");
            return Some(format!("{label}: {shown}, {place}; left and right change this choice"));
        };
        let note = shown.strip_prefix(&text).unwrap_or_default().trim_start_matches([',', ' ']);
        Some(sentences::text_field(label, &text, (number - 1, *count), note))
    }
}

/// Draws the screen, and reads the title and the lines of a framed area.
fn read_drawing(app: &App, area: Rect) -> (String, Drawing) {
    let Some((buffer, targets)) = draw(app) else { return Default::default() };
    let row = |row: Rect| row.positions().map(|position| &buffer[position]).collect::<Vec<_>>();
    let area = area.intersection(buffer.area);
    let title = text_of(&row(Rect { height: 1.min(area.height), ..area }), false);
    let lines = area.inner(Margin::new(1, 1)).rows().map(|line| {
        let (cells, item) = (row(line), targets.item_in(line.y));
        DrawnLine {
            line: ReadLine { text: text_of(&cells, item.is_none()), item },
            row: line.y,
            is_selected: cells.iter().any(|cell| is_selected(cell)),
        }
    });
    let lines = lines.filter(|it| !it.line.text.is_empty()).collect();
    (title, Drawing { lines, field: targets.field().cloned() })
}

fn draw(app: &App) -> Option<(Buffer, MouseTargets)> {
    // The plain theme shows selected text reversed, which `is_selected` recognizes.
    let theme = Theme::built_in(ThemeName::Plain, ColorDepth::TrueColor).ok()?;
    let mut buffer = Buffer::empty(Rect::new(0, 0, app.screen().size.0, app.screen().size.1));
    let settings = GraphicsSettings { in_tmux: false, color_depth: ColorDepth::TrueColor };
    let mut targets = MouseTargets::default();
    let mut layer = PictureLayer::new(settings);
    ui::draw_with_texts(app, &theme, &mut buffer, &mut layer, &mut targets);
    Some((buffer, targets))
}

fn is_selected(cell: &Cell) -> bool {
    cell.modifier.contains(Modifier::REVERSED)
}

/// Returns the words of a row with commas for gaps. A selected part of a row with choices is put in brackets.
fn text_of(cells: &[&Cell], may_have_choices: bool) -> String {
    let selected = cells.iter().filter(|cell| is_selected(cell)).count();
    let has_choices = may_have_choices && selected > 1 && selected < cells.len();
    let mut text = String::new();
    let mut in_choice = false;
    for cell in cells {
        let opens = has_choices && is_selected(cell);
        if opens != in_choice {
            text.push_str(if opens { " [" } else { "] " });
            in_choice = opens;
        }
        text.push_str(readable(cell.symbol()));
    }
    if in_choice {
        text.push(']');
    }
    // The rest of a bar has nothing to read, and a gap between two facts is a comma.
    let text = text.replace("‹ ", "").replace(" ›", "").replace(" · ", ", ");
    let parts = text.split("  ").map(|part| part.trim_matches([' ', '·']));
    let parts = parts.filter(|part| !part.is_empty()).map(|part| match part.split_once(' ') {
        Some(("!", error)) => format!("error: {error}"),
        Some(("?", warning)) => format!("warning: {warning}"),
        _ => part.to_owned(),
    });
    let text = parts.collect::<Vec<_>>().join(", ");
    let text = text.replace("[ ", "[").replace(", ]", "]").replace(" ]", "]").replace(",]", "]");
    text.replace("[]", "")
}

/// Replaces frames, bars, shades and pointers by a space, because they say nothing in a line of
/// text.
fn readable(symbol: &str) -> &str {
    let is_drawing = |c: char| matches!(c, '\u{2500}'..='\u{259f}' | '\u{25b8}' | '\u{25b9}' | '\u{2800}'..='\u{28ff}');
    if symbol.chars().next().is_some_and(is_drawing) { " " } else { symbol }
}
