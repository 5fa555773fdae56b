//! Renders a screen as text with its styles.
//!
//! A row with styles is followed by a row with one letter per cell. Cells of pictures are shown as `▒`, together with a
//! checksum of the picture.

use std::fmt::Write as _;

use ratatui::{
    buffer::{Buffer, Cell},
    style::{Color, Modifier},
};

/// Returns the screen with a legend of its styles.
pub fn styled(buffer: &Buffer) -> String {
    let mut legend: Vec<String> = Vec::new();
    let mut pictures = crc32fast::Hasher::new();
    let mut painted = 0;
    let mut screen = String::new();
    for y in 0..buffer.area.height {
        let (mut text, mut styles) = (String::new(), String::new());
        for x in 0..buffer.area.width {
            let cell = &buffer[(x, y)];
            if is_picture(cell) {
                painted += 1;
                pictures.update(
                    format!("{x},{y},{:?},{:?},{}", cell.fg, cell.bg, cell.symbol()).as_bytes(),
                );
                text.push('▒');
                styles.push('▒');
                continue;
            }
            text.push_str(cell.symbol());
            styles.push(letter(&mut legend, cell));
        }
        let _ = writeln!(screen, "{}", text.trim_end());
        if styles.contains(|c| c != ' ') {
            let _ = writeln!(screen, "{}", styles.trim_end());
        }
    }
    for (index, style) in legend.iter().enumerate() {
        let _ = writeln!(screen, "{}: {style}", char::from(b'a' + u8::try_from(index).unwrap()));
    }
    if painted > 0 {
        let _ = writeln!(screen, "pictures: {painted} cells, checksum {:08x}", pictures.finalize());
    }
    screen
}

fn is_picture(cell: &Cell) -> bool {
    matches!(cell.fg, Color::Rgb(..)) || matches!(cell.bg, Color::Rgb(..))
}

fn letter(legend: &mut Vec<String>, cell: &Cell) -> char {
    match style(cell) {
        style if style.is_empty() => ' ',
        style => name(place(legend, style)),
    }
}

/// Describes the style of a cell. The description is empty for the default style.
fn style(cell: &Cell) -> String {
    if cell.fg == Color::Reset && cell.bg == Color::Reset && cell.modifier == Modifier::empty() {
        return String::new();
    }
    let mut style = format!("{:?}", cell.fg).to_lowercase();
    if cell.bg != Color::Reset {
        let _ = write!(style, " on {:?}", cell.bg);
    }
    if cell.modifier != Modifier::empty() {
        let _ = write!(style, " {:?}", cell.modifier);
    }
    style
}

/// Returns the index of a style in the legend. A new style is added to the legend.
fn place(legend: &mut Vec<String>, style: String) -> usize {
    legend.iter().position(|known| *known == style).unwrap_or_else(|| {
        legend.push(style);
        legend.len() - 1
    })
}

/// Returns the screen in two themes that differ only in style. Each row is printed once, followed by the indices of its
/// styles in a common legend.
pub fn in_two_themes(first: &Buffer, second: &Buffer) -> String {
    let mut legend: Vec<String> = Vec::new();
    let mut pictures = crc32fast::Hasher::new();
    let mut painted = 0;
    let mut screen = String::new();
    for y in 0..first.area.height {
        let (mut text, mut styles) = (String::new(), Vec::new());
        for x in 0..first.area.width {
            let (cell, other) = (&first[(x, y)], &second[(x, y)]);
            assert_eq!(cell.symbol(), other.symbol(), "the themes differ in more than style");
            if is_picture(cell) {
                painted += 1;
                pictures.update(format!("{x},{y},{:?},{:?}", cell.fg, cell.bg).as_bytes());
                text.push('▒');
                styles.push(None);
            } else {
                text.push_str(cell.symbol());
                let both = [style(cell), style(other)];
                let is_plain = both.iter().all(String::is_empty);
                styles.push((!is_plain).then(|| place(&mut legend, both.join(" | "))));
            }
        }
        let _ = writeln!(screen, "{}", text.trim_end());
        let _ = write!(screen, "{}", spans(&styles));
    }
    for (index, style) in legend.iter().enumerate() {
        let _ = writeln!(screen, "{}: {style}", name(index));
    }
    if painted > 0 {
        let _ = writeln!(screen, "pictures: {painted} cells, checksum {:08x}", pictures.finalize());
    }
    screen
}

/// Returns the styled columns of a row, such as `a0-9 b12`.
fn spans(styles: &[Option<usize>]) -> String {
    let mut line = String::new();
    let mut start = 0;
    for run in styles.chunk_by(|a, b| a == b) {
        let end = start + run.len();
        match run[0].map(name) {
            Some(name) if run.len() == 1 => _ = write!(line, " {name}{start}"),
            Some(name) => _ = write!(line, " {name}{start}-{}", end - 1),
            None => {}
        }
        start = end;
    }
    if line.is_empty() { line } else { format!("   {line}\n") }
}

fn name(place: usize) -> char {
    char::from(b'a' + u8::try_from(place).unwrap())
}
