//! The text of an area of the drawing, without frames, bars and gaps.

use ratatui::{
    buffer::{Buffer, Cell},
    layout::{Margin, Rect},
    style::Modifier,
};

use crate::{
    app::App,
    drawing::{
        PictureLayer, Theme,
        picture_layer::{ColorDepth, GraphicsSettings},
        theme::ThemeName,
    },
    ui,
};

/// A line of text, and whether the cursor is on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DrawnLine {
    pub text: String,
    pub current: bool,
}

/// Draws the screen and reads an area with a frame: its title, and the lines inside.
pub(super) fn read(app: &App, area: Rect) -> (String, Vec<DrawnLine>) {
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
    // Selected text is reversed in it.
    let theme = Theme::built_in(ThemeName::Plain).ok()?;
    let mut buffer = Buffer::empty(Rect::new(0, 0, app.screen().size.0, app.screen().size.1));
    let settings = GraphicsSettings { in_tmux: false, color_depth: ColorDepth::TrueColor };
    ui::draw(app, &theme, &mut buffer, &mut PictureLayer::new(settings));
    Some(buffer)
}

fn is_selected(cell: &Cell) -> bool {
    cell.modifier.contains(Modifier::REVERSED)
}

/// The words of a row, with commas for gaps. A part of it that is selected is in brackets.
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

/// Frames, bars, shades and pointers say nothing in a line of text.
fn readable(symbol: &str) -> &str {
    let is_drawing = |c: char| matches!(c, '\u{2500}'..='\u{259f}' | '\u{25b8}' | '\u{25b9}' | '\u{2800}'..='\u{28ff}');
    if symbol.chars().next().is_some_and(is_drawing) { " " } else { symbol }
}
