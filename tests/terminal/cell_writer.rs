//! Tests which bytes are written for which cells.

use ratatui::{
    buffer::{Buffer, Cell},
    layout::Rect,
    style::{Color, Modifier, Style},
};
use tessera::runtime::frames::write_cells;

/// Returns the bytes of adjacent cells, without the position before them and the reset after them.
fn bytes_of(cells: &[Cell]) -> String {
    let mut bytes = Vec::new();
    let cells = (0..).zip(cells).map(|(x, cell)| (x, 0, cell));
    write_cells(&mut bytes, cells);
    let text = String::from_utf8(bytes).unwrap();
    let text = text.strip_prefix("\x1b[1;1H").and_then(|text| text.strip_suffix("\x1b[m"));
    text.unwrap().to_owned()
}

fn cell(symbol: &str, style: impl Into<Style>) -> Cell {
    let mut cell = Cell::default();
    cell.set_symbol(symbol).set_style(style);
    cell
}

#[test]
fn only_what_differs_from_the_cell_before_is_written() {
    let blue = Style::new().bg(Color::Rgb(0, 10, 255));
    let cells = [
        cell("a", blue.fg(Color::Rgb(1, 22, 103))),
        cell("b", blue.fg(Color::Rgb(1, 22, 103))),
        cell("c", blue.fg(Color::Rgb(1, 22, 99))),
        cell("d", Style::new().fg(Color::Rgb(1, 22, 99))),
        cell("e", Style::new()),
        cell("f", Style::new()),
    ];
    assert_eq!(
        bytes_of(&cells),
        "\x1b[38;2;1;22;103;48;2;0;10;255mab\x1b[38;2;1;22;99mc\x1b[49md\x1b[mef"
    );
}

#[test]
fn each_color_has_its_number() {
    let named =
        [Color::Black, Color::Red, Color::Gray, Color::DarkGray, Color::LightRed, Color::White];
    let written = named.map(|color| bytes_of(&[cell("x", Style::new().fg(color))]));
    assert_eq!(written, [0, 1, 7, 8, 9, 15].map(|number| format!("\x1b[38;5;{number}mx")));
    let both = Style::new().fg(Color::Indexed(100)).bg(Color::Indexed(9));
    let only_bg = Style::new().bg(Color::Indexed(9));
    assert_eq!(bytes_of(&[cell("a", both), cell("b", only_bg)]), "\x1b[38;5;100;48;5;9ma\x1b[39mb");
}

#[test]
fn modifiers_are_removed_one_by_one() {
    let with = |modifier| cell("x", Style::new().fg(Color::Indexed(1)).add_modifier(modifier));
    let cells = [
        with(Modifier::UNDERLINED | Modifier::REVERSED | Modifier::ITALIC),
        with(Modifier::UNDERLINED),
        with(Modifier::empty()),
    ];
    assert_eq!(bytes_of(&cells), "\x1b[3;4;7;38;5;1mx\x1b[23;27mx\x1b[24mx");
    // One parameter removes both modifiers.
    let cells = [
        with(Modifier::BOLD | Modifier::DIM),
        with(Modifier::DIM),
        with(Modifier::SLOW_BLINK | Modifier::RAPID_BLINK),
        with(Modifier::RAPID_BLINK),
    ];
    assert_eq!(bytes_of(&cells), "\x1b[1;2;38;5;1mx\x1b[22;2mx\x1b[22;5;6mx\x1b[25;6mx");
}

#[test]
fn everything_at_once_is_one_sequence() {
    let rgb = Color::Rgb(255, 255, 255);
    let all = cell("x", Style::new().fg(rgb).bg(rgb).add_modifier(Modifier::all()));
    assert_eq!(
        bytes_of(&[all, cell("y", Style::new())]),
        "\x1b[1;2;3;4;5;6;7;8;9;38;2;255;255;255;48;2;255;255;255mx\x1b[my"
    );
    // This is the longest sequence: all modifiers are removed and both colors change.
    let before = Style::new().bg(rgb).add_modifier(Modifier::all());
    let after = Style::new().fg(rgb).bg(Color::Rgb(100, 100, 100));
    assert_eq!(
        bytes_of(&[cell("x", before), cell("y", after)]),
        "\x1b[1;2;3;4;5;6;7;8;9;48;2;255;255;255mx\
         \x1b[22;23;24;25;27;28;29;38;2;255;255;255;48;2;100;100;100my"
    );
}

#[test]
fn text_without_colors_has_no_color_sequence() {
    let plain = [cell("a", Style::new()), cell("b", Modifier::REVERSED), cell("c", Style::new())];
    assert_eq!(bytes_of(&plain), "a\x1b[7mb\x1b[mc");
}

/// Returns the number of cells and the bytes of the difference between two frames of 40x2.
fn difference(previous: &[(u16, u16, &str)], next: &[(u16, u16, &str)]) -> (usize, String) {
    let [previous, next] = [previous, next].map(|texts| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 40, 2));
        for (x, y, text) in texts {
            buffer.set_string(*x, *y, text, Style::new());
        }
        buffer
    });
    let mut bytes = Vec::new();
    let count = write_cells(&mut bytes, previous.diff_iter(&next));
    (count, String::from_utf8(bytes).unwrap())
}

#[test]
fn the_cursor_moves_only_where_cells_are_not_adjacent() {
    assert_eq!(
        difference(&[], &[(0, 0, "ab"), (4, 0, "é┐▀"), (10, 0, "xy"), (0, 1, "z")]),
        (8, "\x1b[1;1Hab\x1b[1;5Hé┐▀\x1b[1;11Hxy\x1b[2;1Hz\x1b[m".to_owned())
    );
    let symbols = "ready ● “two” → ▸ ├─╯ naïve…";
    let (count, bytes) = difference(&[], &[(0, 0, &symbols.replace(' ', "_"))]);
    assert_eq!(bytes, format!("\x1b[1;1H{}\x1b[m", symbols.replace(' ', "_")));
    assert_eq!(count, symbols.chars().count());
    assert_eq!(difference(&[(0, 0, "same")], &[(0, 0, "same")]), (0, "\x1b[m".to_owned()));
}

#[test]
fn the_cell_after_a_character_of_another_width_gets_a_position() {
    assert_eq!(
        difference(&[], &[(0, 0, "値段a")]),
        (3, "\x1b[1;1H値\x1b[1;3H段\x1b[1;5Ha\x1b[m".to_owned())
    );
    // The symbols are a character that is narrow in some terminals and wide in others, and a letter
    // with a combining mark.
    for symbol in ["⌨", "e\u{301}"] {
        assert_eq!(
            difference(&[], &[(0, 0, &format!("{symbol}b"))]),
            (2, format!("\x1b[1;1H{symbol}\x1b[1;2Hb\x1b[m"))
        );
    }
    // The right half of the wide character is replaced.
    assert_eq!(difference(&[(0, 0, "値")], &[(0, 0, "ab")]), (2, "\x1b[1;1Hab\x1b[m".to_owned()));
}
