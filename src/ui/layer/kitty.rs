//! Pictures held by a kitty terminal: ids we own, sent once, deleted when they have not been
//! shown for longest.
//!
//! A terminal keeps about 320 MB of pictures and then drops what it likes; staying far below that
//! keeps every picture we believe sent really there. The ids of one process are a small fixed
//! block, so that even a panic hook, which cannot see this store, can delete them all.

use std::{collections::HashMap, fmt::Write, num::NonZeroU16};

use ratatui::{
    buffer::{Buffer, CellDiffOption},
    layout::Rect,
    style::Color,
};

use super::{Key, diacritics::mark};

/// Most bytes the terminal is asked to keep, at four a pixel.
const BUDGET: usize = 128 << 20;
/// Ids of one process, and so most pictures held.
const IDS: u16 = 1024;
/// Base64 characters of one chunk; the most the protocol allows.
const CHUNK: usize = 4096;
/// The character that a cell of a picture consists of, followed by its row and column marks.
const PLACEHOLDER: char = '\u{10EEEE}';

/// The pictures the terminal holds.
#[derive(Debug)]
pub struct Store {
    held: HashMap<Key, Held>,
    free: Vec<u16>,
    bytes: usize,
    in_tmux: bool,
}

#[derive(Debug)]
struct Held {
    slot: u16,
    bytes: usize,
    shown_in: u64,
}

impl Store {
    pub fn new(in_tmux: bool) -> Self {
        Self { held: HashMap::new(), free: (0..IDS).rev().collect(), bytes: 0, in_tmux }
    }

    /// The colour that names the picture in its cells; sends the picture to `out` if the terminal
    /// does not hold it. None when every id is on the screen already.
    pub fn show(
        &mut self,
        key: Key,
        picture: (&str, (u32, u32), (u16, u16)),
        frame: u64,
        out: &mut String,
    ) -> Option<Color> {
        if let Some(held) = self.held.get_mut(&key) {
            held.shown_in = frame;
            return Some(colour(held.slot));
        }
        if self.free.is_empty() {
            self.drop_oldest(frame, out);
        }
        let slot = self.free.pop()?;
        let (payload, size, cells) = picture;
        let bytes = 4 * size.0 as usize * size.1 as usize;
        self.bytes += bytes;
        self.held.insert(key, Held { slot, bytes, shown_in: frame });
        transmit(slot, payload, size, cells, self.in_tmux, out);
        Some(colour(slot))
    }

    /// Deletes pictures not shown in `frame`, oldest first, until the rest fits the budget.
    pub fn shrink(&mut self, frame: u64, out: &mut String) {
        while self.bytes > BUDGET && self.drop_oldest(frame, out) {}
    }

    /// Deletes every picture.
    pub fn clear(&mut self, out: &mut String) {
        for (_, held) in self.held.drain() {
            delete(held.slot, self.in_tmux, out);
            self.free.push(held.slot);
        }
        self.bytes = 0;
    }

    #[cfg(test)]
    pub fn holds(&self, key: &Key) -> bool {
        self.held.contains_key(key)
    }

    fn drop_oldest(&mut self, frame: u64, out: &mut String) -> bool {
        let oldest = self
            .held
            .iter()
            .filter(|(_, held)| held.shown_in < frame)
            .min_by_key(|(_, held)| (held.shown_in, held.slot))
            .map(|(key, _)| key.clone());
        let Some(held) = oldest.and_then(|key| self.held.remove(&key)) else {
            return false;
        };
        self.bytes -= held.bytes;
        self.free.push(held.slot);
        delete(held.slot, self.in_tmux, out);
        true
    }
}

/// Fills the cells of `area` with placeholders of the picture that `colour` names. Every cell
/// carries both marks, so that an overlay may cover any part.
pub fn fill(buffer: &mut Buffer, area: Rect, colour: Color) {
    let mut symbol = String::new();
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            symbol.clear();
            symbol.push(PLACEHOLDER);
            // Beyond the last mark a cell continues its left neighbour.
            if let (Some(row), Some(column)) = (mark(y - area.y), mark(x - area.x)) {
                symbol.extend([row, column]);
            }
            let cell = &mut buffer[(x, y)];
            cell.reset();
            cell.set_symbol(&symbol).set_fg(colour);
            cell.set_diff_option(CellDiffOption::ForcedWidth(NonZeroU16::MIN));
        }
    }
}

/// Deletes every id this process can have used, known or not.
pub fn delete_all(in_tmux: bool) -> String {
    let mut out = String::new();
    for slot in 0..IDS {
        delete(slot, in_tmux, &mut out);
    }
    out
}

/// The id of a slot: 24 bits, as many as a colour holds, in a block chosen by the process.
fn id(slot: u16) -> u32 {
    (std::process::id() % 0x3FFF + 1) << 10 | u32::from(slot)
}

fn colour(slot: u16) -> Color {
    let [_, red, green, blue] = id(slot).to_be_bytes();
    Color::Rgb(red, green, blue)
}

fn transmit(
    slot: u16,
    payload: &str,
    (width, height): (u32, u32),
    (columns, rows): (u16, u16),
    in_tmux: bool,
    out: &mut String,
) {
    let mut keys =
        format!("a=T,U=1,i={},f=24,s={width},v={height},c={columns},r={rows},", id(slot));
    let mut rest = payload;
    while !rest.is_empty() || !keys.is_empty() {
        let (chunk, after) = rest.split_at(rest.len().min(CHUNK));
        let more = u8::from(!after.is_empty());
        command(&format!("{keys}q=2,m={more};{chunk}"), in_tmux, out);
        keys.clear();
        rest = after;
    }
}

fn delete(slot: u16, in_tmux: bool, out: &mut String) {
    command(&format!("a=d,d=I,i={},q=2", id(slot)), in_tmux, out);
}

/// One graphics command; tmux passes it on when wrapped, with each ESC doubled.
fn command(body: &str, in_tmux: bool, out: &mut String) {
    // Writing into a string cannot fail.
    let _ = if in_tmux {
        write!(out, "\x1bPtmux;\x1b\x1b_G{body}\x1b\x1b\\\x1b\\")
    } else {
        write!(out, "\x1b_G{body}\x1b\\")
    };
}
