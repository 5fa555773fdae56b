//! What is read aloud of the state: the open dialog, the picture, or the focused pane, as lines.

use ratatui::layout::Rect;

use super::{
    drawn_text::{self, DrawnLine},
    pictures, plots, sentences,
};
use crate::{
    app::{
        App, Pane, Remote,
        overlay::{
            command_list::CommandList,
            facets::Facets,
            palette::Palette,
            pick_list::{Command, PickList},
            score_histogram::ScoreHistogram,
        },
        query::chips,
    },
    ui,
};

/// A place and its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The name of the place.
    pub title: String,
    pub lines: Vec<String>,
    /// The line that the cursor is on.
    pub current: Option<usize>,
    /// Whether it goes away when it is closed.
    pub is_dialog: bool,
}

impl Reading {
    pub fn of(app: &App) -> Self {
        match app.overlay() {
            Some(_) => Self { is_dialog: true, ..dialog(app) },
            None if app.comparison().is_some() => pictures::compared(app),
            None if app.viewer().is_some() => pictures::viewed(app),
            None => pane(app),
        }
    }

    /// Lines of text after each other, of which the items have a cursor.
    pub(super) fn with_items(
        title: impl Into<String>,
        above: Vec<String>,
        items: Vec<String>,
        cursor: usize,
    ) -> Self {
        let current = (cursor < items.len()).then_some(above.len() + cursor);
        Self { title: title.into(), lines: [above, items].concat(), current, is_dialog: false }
    }

    fn drawn(title: impl Into<String>, lines: Vec<DrawnLine>) -> Self {
        let current = lines.iter().position(|line| line.current);
        let lines = lines.into_iter().map(|line| line.text).collect();
        Self { title: title.into(), lines, current, is_dialog: false }
    }
}

fn dialog(app: &App) -> Reading {
    if let Some(list) = app.dialog::<CommandList>() {
        pick_list(list.title.as_str(), &list.list)
    } else if let Some(palette) = app.dialog::<Palette>() {
        pick_list("Command", &palette.list)
    } else if let Some(facets) = app.dialog::<Facets>() {
        plots::facets(app, *facets)
    } else if let Some(histogram) = app.dialog::<ScoreHistogram>() {
        plots::score_histogram(app, histogram)
    } else {
        let (title, lines) = drawn_text::read(app, app.overlay_area().unwrap_or_default());
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
    let drawn = |area: Option<Rect>| area.map_or_else(Vec::new, |it| drawn_text::read(app, it).1);
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

/// The datasets, and the status of the selected one.
fn datasets(app: &App, status: Vec<DrawnLine>) -> Reading {
    let list = app.visible_datasets();
    let selected = app.selected_dataset().map(|dataset| dataset.id);
    let cursor = list.iter().position(|dataset| Some(dataset.id) == selected);
    let count = list.len();
    let items: Vec<String> =
        (1..).zip(&list).map(|(number, it)| sentences::dataset(number, count, it)).collect();
    let mut above = Vec::new();
    if let Some(failure) = app.store().datasets.failure() {
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
    above.extend(ui::arrangement_text(app, view));
    above.extend(sentences::open_range(app));
    let filters: Vec<String> = chips(app).iter().map(|chip| chip.text.to_string()).collect();
    if !filters.is_empty() {
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
        app.results().tile_cursor().0,
    )
}
