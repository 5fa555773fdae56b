//! A screen as text that also shows its styles: text alone cannot see colour, and would print two
//! different pictures as the same blanks.
//!
//! Each row is printed twice: its text, and below it one letter per cell for its style, where a
//! row has any but the plain one. Cells of pictures print as `▒`; a checksum tells them apart.

use std::fmt::Write as _;

use ratatui::{
    buffer::{Buffer, Cell},
    style::{Color, Modifier},
};

/// The screen with a legend of its styles.
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
    if cell.fg == Color::Reset && cell.bg == Color::Reset && cell.modifier == Modifier::empty() {
        return ' ';
    }
    let mut style = format!("{:?}", cell.fg).to_lowercase();
    if cell.bg != Color::Reset {
        let _ = write!(style, " on {:?}", cell.bg);
    }
    if cell.modifier != Modifier::empty() {
        let _ = write!(style, " {:?}", cell.modifier);
    }
    let place = legend.iter().position(|known| *known == style).unwrap_or_else(|| {
        legend.push(style);
        legend.len() - 1
    });
    char::from(b'a' + u8::try_from(place).unwrap())
}
