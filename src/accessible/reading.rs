//! Reads the state aloud: the open dialog, the picture, or the focused pane, as lines. A dialog or pane without a text
//! of its own is read from the drawing, without frames, bars and gaps.

use ratatui::{
    buffer::{Buffer, Cell},
    layout::{Margin, Rect},
    style::Modifier,
};
use tessera_interface::{
    app::{
        App, Pane, Remote,
        overlay::{
            command_list::CommandList,
            facets::Facets,
            map::MapView,
            pick_list::{Command, PickList},
            score_histogram::ScoreHistogram,
        },
        query::chips,
    },
    drawing::{
        PictureLayer, Theme,
        picture_layer::{ColorDepth, GraphicsSettings},
        theme::ThemeName,
    },
    ui,
};

use crate::accessible::{Reading, pictures, sentences};

impl Reading {
    pub fn of(app: &App) -> Self {
        match app.overlay() {
            Some(_) => Self { is_dialog: true, ..dialog(app) },
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
        let range = above.len()..above.len() + items.len();
        let lines = [above, items].concat();
        Self { title: title.into(), lines, items: range, current, is_dialog: false }
    }

    fn drawn(title: impl Into<String>, lines: Vec<DrawnLine>) -> Self {
        let current = lines.iter().position(|line| line.current);
        let lines = lines.into_iter().map(|line| line.text).collect();
        Self { title: title.into(), lines, items: 0..0, current, is_dialog: false }
    }
}

fn dialog(app: &App) -> Reading {
    if let Some(list) = app.dialog::<CommandList>() {
        pick_list(list.title.as_str(), &list.list)
    } else if let Some(facets) = app.dialog::<Facets>() {
        pictures::facets(app, *facets)
    } else if let Some(histogram) = app.dialog::<ScoreHistogram>() {
        pictures::score_histogram(app, histogram)
    } else if let Some(map) = app.dialog::<MapView>() {
        pictures::map(map)
    } else {
        let (title, lines) = read_drawing(app, app.overlay_area().unwrap_or_default());
        Reading::drawn(title, lines)
    }
}

fn pick_list(title: &str, list: &PickList) -> Reading {
    let matches = list.matches();
    let items = (1..).zip(&matches).map(|(number, item)| {
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
        format!("{number} {name}{}{key}{note}", item.label)
    });
    let items = items.collect::<Vec<_>>();
    let above = match list.filter.value() {
        _ if items.is_empty() => vec!["no match".to_owned()],
        "" => Vec::new(),
        filter => vec![format!("filter: {filter}")],
    };
    Reading::with_items(title, above, items, list.cursor)
}

fn pane(app: &App) -> Reading {
    let areas = app.areas();
    let drawn = |area: Option<Rect>| area.map_or_else(Vec::new, |it| read_drawing(app, it).1);
    let title = app.panes().focus.name();
    match app.panes().focus {
        Pane::Datasets => datasets(app, drawn(areas.status)),
        Pane::Results => results(app),
        Pane::Detail => Reading::drawn(title, drawn(areas.detail)),
        Pane::Query => Reading::drawn(title, drawn(areas.query)),
        Pane::Jobs => Reading::drawn(title, drawn(areas.jobs)),
        Pane::Basket => Reading::drawn(title, drawn(areas.basket)),
    }
}

/// Reads the datasets and the status of the selected dataset.
fn datasets(app: &App, status: Vec<DrawnLine>) -> Reading {
    let list = app.visible_datasets();
    let selected = app.selected_dataset().map(|dataset| dataset.id);
    let cursor = list.iter().position(|dataset| Some(dataset.id) == selected);
    let count = list.len();
    let items: Vec<String> =
        (1..).zip(&list).map(|(number, it)| sentences::dataset(app, number, count, it)).collect();
    let mut above = Vec::new();
    if let Some(failure) = app.service_data().datasets.failure() {
        above.push(failure.to_string());
    } else if items.is_empty() {
        above.push("no datasets".to_owned());
    }
    let mut reading =
        Reading::with_items(app.panes().focus.name(), above, items, cursor.unwrap_or(usize::MAX));
    reading.lines.extend(status.into_iter().map(|line| line.text));
    reading
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
    let filters: Vec<String> = chips.iter().map(|chip| chip.text.to_string()).collect();
    if !view.search.filters.is_empty() || chips.iter().any(|chip| chip.row.is_some()) {
        above.push(format!("query: {}", filters.join(", ")));
    }
    if let Some(failure) = app.results().remote_page().and_then(Remote::failure) {
        above.push(failure.to_string());
    }
    let tiles = app.results().tiles();
    let items = (1..).zip(&tiles).map(|(number, tile)| {
        if app.results().shows_members() {
            sentences::member(app, number, tiles.len(), tile)
        } else {
            sentences::cluster(app, number, tiles.len(), tile)
        }
    });
    Reading::with_items(
        app.panes().focus.name(),
        above,
        items.collect(),
        app.results().tile_cursor().tile,
    )
}

/// A line of text. `current` is set if the cursor is on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DrawnLine {
    pub text: String,
    pub current: bool,
}

/// Draws the screen, and reads the title and the lines of a framed area.
fn read_drawing(app: &App, area: Rect) -> (String, Vec<DrawnLine>) {
    let Some(buffer) = draw(app) else { return (String::new(), Vec::new()) };
    let row = |row: Rect| row.positions().map(|position| &buffer[position]).collect::<Vec<_>>();
    let area = area.intersection(buffer.area);
    let title = text_of(&row(Rect { height: 1.min(area.height), ..area }));
    let lines = area.inner(Margin::new(1, 1)).rows().map(row).map(|cells| DrawnLine {
        text: text_of(&cells),
        current: cells.iter().any(|cell| is_selected(cell)),
    });
    (title, lines.filter(|line| !line.text.is_empty()).collect())
}

fn draw(app: &App) -> Option<Buffer> {
    // The plain theme shows selected text reversed, which `is_selected` recognizes.
    let theme = Theme::built_in(ThemeName::Plain, ColorDepth::TrueColor).ok()?;
    let mut buffer = Buffer::empty(Rect::new(0, 0, app.screen().size.0, app.screen().size.1));
    let settings = GraphicsSettings { in_tmux: false, color_depth: ColorDepth::TrueColor };
    ui::draw(app, &theme, &mut buffer, &mut PictureLayer::new(settings));
    Some(buffer)
}

fn is_selected(cell: &Cell) -> bool {
    cell.modifier.contains(Modifier::REVERSED)
}

/// Returns the words of a row with commas for gaps. A selected part of the row is put in brackets.
fn text_of(cells: &[&Cell]) -> String {
    let selected = cells.iter().filter(|cell| is_selected(cell)).count();
    let has_choices = selected > 1 && selected < cells.len();
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
    let parts = text.split("  ").map(str::trim).filter(|part| !part.is_empty());
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
