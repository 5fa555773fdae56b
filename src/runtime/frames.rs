//! Writes frames to the terminal: the cells that have changed, as escape sequences, and the pictures over them.

use std::{
    io::{self, Write},
    num::NonZeroU16,
};

use crossterm::{
    QueueableCommand,
    terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate},
};
use ratatui::{
    buffer::{Buffer, Cell, CellDiffOption},
    layout::Rect,
    style::{Color, Modifier},
};
use tessera_interface::drawing::picture_layer::{TerminalWrites, index_of_named};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The largest buffer that is kept for the bytes of the next frame, enough for a large screen of
/// half-blocks.
const MAX_KEPT_BYTES: usize = 1 << 20;

/// Writes frames and reuses its buffers, because clearing a buffer takes a fraction of the time of
/// allocating one.
#[derive(Debug)]
pub struct FrameWriter<W> {
    out: W,
    /// The contents of the terminal, unless `is_unknown` is set.
    last_frame: Buffer,
    next_frame: Buffer,
    bytes: Vec<u8>,
    /// Whether the next frame must be drawn completely.
    is_unknown: bool,
}

/// The cost of a frame, which is zero if nothing has changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCost {
    pub cells: usize,
    pub bytes: usize,
}

impl<W: Write> FrameWriter<W> {
    pub fn new(out: W) -> Self {
        let (last_frame, next_frame) = (Buffer::default(), Buffer::default());
        Self { out, last_frame, next_frame, bytes: Vec::new(), is_unknown: true }
    }

    pub fn invalidate(&mut self) {
        self.is_unknown = true;
    }

    /// Draws the changed cells in one write, between the sequences that the pictures need.
    pub fn draw(
        &mut self,
        (columns, rows): (u16, u16),
        view: impl FnOnce(&mut Buffer) -> TerminalWrites,
    ) -> io::Result<FrameCost> {
        let area = Rect::new(0, 0, columns, rows);
        let is_whole = self.is_unknown || self.last_frame.area != area;
        if is_whole {
            clear(&mut self.last_frame, area);
        }
        clear(&mut self.next_frame, area);
        let writes = view(&mut self.next_frame);
        let cells = self.compose(is_whole, &writes)?;
        let mut cost = FrameCost { cells, bytes: 0 };
        if is_whole || cells > 0 || writes != TerminalWrites::default() {
            // The contents of the terminal are unknown until the write succeeds.
            self.is_unknown = true;
            self.out.write_all(&self.bytes)?;
            self.out.flush()?;
            cost.bytes = self.bytes.len();
        }
        self.bytes.clear();
        self.bytes.shrink_to(MAX_KEPT_BYTES);
        std::mem::swap(&mut self.last_frame, &mut self.next_frame);
        self.is_unknown = false;
        Ok(cost)
    }

    /// Composes the bytes of a frame, and returns the number of changed cells.
    fn compose(&mut self, is_whole: bool, writes: &TerminalWrites) -> io::Result<usize> {
        let bytes = &mut self.bytes;
        bytes.clear();
        bytes.queue(BeginSynchronizedUpdate)?;
        if is_whole {
            // A terminal clears the screen with the current background, so the style is reset
            // first.
            bytes.extend_from_slice(RESET);
            bytes.queue(Clear(ClearType::All))?;
        }
        bytes.extend_from_slice(writes.before.as_bytes());
        mark_uncertain_rows(&mut self.last_frame, &self.next_frame);
        let cells = write_cells(bytes, self.last_frame.diff_iter(&self.next_frame));
        bytes.extend_from_slice(writes.after.as_bytes());
        bytes.queue(EndSynchronizedUpdate)?;
        Ok(cells)
    }

    /// Writes a sequence that changes no cells.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.flush()
    }

    pub fn into_inner(self) -> W {
        self.out
    }
}

fn clear(buffer: &mut Buffer, area: Rect) {
    buffer.resize(area);
    buffer.reset();
}

/// Makes every cell of a changed row differ from the last frame if the row has or had joined characters, because a
/// terminal may have drawn some of these characters into the cells after them.
fn mark_uncertain_rows(last: &mut Buffer, next: &Buffer) {
    let columns = usize::from(next.area.width).max(1);
    let rows = last.content.chunks_mut(columns).zip(next.content.chunks(columns));
    for (last, next) in rows.filter(|(last, next)| last != next) {
        if last.iter().chain(next).any(is_joined) {
            last.clone_from_slice(next);
            for cell in last {
                cell.modifier.toggle(Modifier::BOLD);
            }
        }
    }
}

/// Resets colors and modifiers.
pub const RESET: &[u8] = b"\x1b[m";

/// Modifiers that one parameter removes together, with that parameter.
const REMOVING_PARAMETERS: [(Modifier, u8); 7] = [
    (Modifier::BOLD.union(Modifier::DIM), 22),
    (Modifier::ITALIC, 23),
    (Modifier::UNDERLINED, 24),
    (Modifier::SLOW_BLINK.union(Modifier::RAPID_BLINK), 25),
    (Modifier::REVERSED, 27),
    (Modifier::HIDDEN, 28),
    (Modifier::CROSSED_OUT, 29),
];

/// The parameter that adds each modifier.
const ADDING_PARAMETERS: [(Modifier, u8); 9] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::SLOW_BLINK, 5),
    (Modifier::RAPID_BLINK, 6),
    (Modifier::REVERSED, 7),
    (Modifier::HIDDEN, 8),
    (Modifier::CROSSED_OUT, 9),
];

/// Writes cells with their positions (column, row), and returns the number of cells. The terminal must have the default
/// style, and has it again afterwards.
pub fn write_cells<'a>(
    bytes: &mut Vec<u8>,
    cells: impl Iterator<Item = (u16, u16, &'a Cell)>,
) -> usize {
    let mut style = CellStyle::DEFAULT;
    let mut cursor = None;
    let mut count = 0;
    for (x, y, cell) in cells {
        if cursor != Some((x, y)) {
            write_position(bytes, x, y);
        }
        let next = CellStyle { fg: cell.fg, bg: cell.bg, modifier: cell.modifier };
        if next != style {
            style.write_transition(next, bytes);
            style = next;
        }
        if is_joined(cell) {
            write_joined(bytes, x, y, cell.symbol());
        } else {
            bytes.extend_from_slice(cell.symbol().as_bytes());
        }
        cursor = advances_one_column(cell).then_some((x + 1, y));
        count += 1;
    }
    bytes.extend_from_slice(RESET);
    count
}

/// Returns whether every terminal advances the cursor by one column for this cell. Terminals disagree about the width
/// of some characters, so the cell after such a character is written with its position.
fn advances_one_column(cell: &Cell) -> bool {
    if cell.diff_option == CellDiffOption::ForcedWidth(NonZeroU16::MIN) {
        return true;
    }
    let mut characters = cell.symbol().chars();
    // These are ASCII and Latin letters, punctuation, arrows, and boxes and shapes, without those that are also emoji.
    let is_narrow = matches!(
        characters.next(),
        Some(
            ' '..='~'
            | '\u{a1}'..='\u{ac}'
            | '\u{ae}'..='\u{2ff}'
            | '\u{2010}'..='\u{2027}'
            | '\u{2190}'..='\u{2193}'
            | '\u{2500}'..='\u{25a9}'
            | '\u{25ac}'..='\u{25b5}'
            | '\u{25b7}'..='\u{25bf}'
            | '\u{25c1}'..='\u{25fa}',
        )
    );
    is_narrow && characters.next().is_none()
}

/// Returns whether a cell has several characters with a width, such as a flag or an emoji with a skin tone. Some
/// terminals draw each of these characters beside the one before.
fn is_joined(cell: &Cell) -> bool {
    const EMOJI_PRESENTATION: char = '\u{fe0f}';
    let symbol = cell.symbol();
    let has_width = |c: &char| c.width() != Some(0) || *c == EMOJI_PRESENTATION;
    symbol.len() > 3
        && cell.diff_option == CellDiffOption::None
        && symbol.chars().filter(has_width).count() > 1
}

/// Writes joined characters over blanks, because they may be narrower than their cells.
fn write_joined(bytes: &mut Vec<u8>, x: u16, y: u16, symbol: &str) {
    bytes.extend(std::iter::repeat_n(b' ', symbol.width()));
    write_position(bytes, x, y);
    bytes.extend_from_slice(symbol.as_bytes());
}

fn write_position(bytes: &mut Vec<u8>, x: u16, y: u16) {
    bytes.extend_from_slice(b"\x1b[");
    write_number(bytes, usize::from(y) + 1);
    bytes.push(b';');
    write_number(bytes, usize::from(x) + 1);
    bytes.push(b'H');
}

fn write_number(bytes: &mut Vec<u8>, number: usize) {
    if number > 9 {
        write_number(bytes, number / 10);
    }
    bytes.push(b"0123456789"[number % 10]);
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct CellStyle {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

impl CellStyle {
    const DEFAULT: Self = Self { fg: Color::Reset, bg: Color::Reset, modifier: Modifier::empty() };

    /// Writes a single "select graphic rendition" sequence with everything that changes.
    fn write_transition(self, next: Self, bytes: &mut Vec<u8>) {
        if next == Self::DEFAULT {
            bytes.extend_from_slice(RESET);
            return;
        }
        bytes.extend_from_slice(b"\x1b[");
        if self.modifier != next.modifier {
            write_modifier_changes(bytes, self.modifier, next.modifier);
        }
        if self.fg != next.fg {
            write_color(bytes, 30, next.fg);
        }
        if self.bg != next.bg {
            write_color(bytes, 40, next.bg);
        }
        // The final byte takes the place of the last semicolon.
        bytes.pop();
        bytes.push(b'm');
    }
}

fn write_modifier_changes(bytes: &mut Vec<u8>, from: Modifier, to: Modifier) {
    let mut active = from;
    for (group, number) in REMOVING_PARAMETERS {
        if (active - to).intersects(group) {
            write_parameters(bytes, &[number]);
            active.remove(group);
        }
    }
    for (modifier, number) in ADDING_PARAMETERS {
        if (to - active).contains(modifier) {
            write_parameters(bytes, &[number]);
        }
    }
}

/// Sets the foreground if `base` is 30, or the background if it is 40.
fn write_color(bytes: &mut Vec<u8>, base: u8, color: Color) {
    let index = match color {
        Color::Reset => return write_parameters(bytes, &[base + 9]),
        Color::Rgb(red, green, blue) => {
            return write_parameters(bytes, &[base + 8, 2, red, green, blue]);
        }
        Color::Indexed(index) => index,
        named => index_of_named(named),
    };
    // The first 16 colors are also written as indexes, because some terminals draw bold text in a brighter color
    // after 30 to 37.
    write_parameters(bytes, &[base + 8, 5, index]);
}

/// Writes each parameter with a semicolon after it.
fn write_parameters(bytes: &mut Vec<u8>, parameters: &[u8]) {
    for parameter in parameters {
        write_number(bytes, (*parameter).into());
        bytes.push(b';');
    }
}
