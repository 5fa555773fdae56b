//! Tracks the pictures that a kitty terminal stores. Each picture is sent once, and the least recently used one is
//! deleted first.
//!
//! A terminal stores about 320 MB of pictures and then drops arbitrary ones. The budget stays far below that, so that
//! every picture that was sent still exists. The ids of a process are a small fixed block, so that a panic hook can
//! delete them all.

use std::{collections::HashMap, fmt::Write, num::NonZeroU16};

use ratatui::{
    buffer::{Buffer, CellDiffOption},
    layout::{Position, Rect},
    style::Color,
};

use crate::drawing::picture_layer::overdraw::PictureKey;

/// The maximum number of bytes to store, at four bytes per pixel.
const MEMORY_BUDGET: usize = 128 << 20;
/// The number of picture ids that one process uses.
const MAX_IDS: u16 = 1024;
/// The number of Base64 characters in a chunk, which the protocol limits.
const CHUNK_SIZE: usize = 4096;
/// The character of a picture's cell, followed by the diacritics of its row and column.
const PLACEHOLDER: char = '\u{10EEEE}';

#[derive(Debug)]
pub struct KittyImages {
    pictures: HashMap<PictureKey, StoredPicture>,
    free_slots: Vec<u16>,
    bytes: usize,
    in_tmux: bool,
}

#[derive(Debug)]
struct StoredPicture {
    slot: u16,
    bytes: usize,
    last_frame: u64,
}

impl KittyImages {
    pub fn new(in_tmux: bool) -> Self {
        Self {
            pictures: HashMap::new(),
            free_slots: (0..MAX_IDS).rev().collect(),
            bytes: 0,
            in_tmux,
        }
    }

    /// Returns the color that identifies the picture in its cells. If the picture is not stored
    /// yet, `out` gets the sequences that send it. Returns `None` if all ids are in use on the
    /// screen.
    pub fn upload(
        &mut self,
        key: PictureKey,
        picture: (&str, (u32, u32), (u16, u16)),
        frame: u64,
        out: &mut String,
    ) -> Option<Color> {
        if let Some(stored) = self.pictures.get_mut(&key) {
            stored.last_frame = frame;
            return Some(id_color(stored.slot));
        }
        if self.free_slots.is_empty() {
            self.evict_oldest(frame, out);
        }
        let slot = self.free_slots.pop()?;
        let (payload, size, cells) = picture;
        let bytes = 4 * size.0 as usize * size.1 as usize;
        self.bytes += bytes;
        self.pictures.insert(key, StoredPicture { slot, bytes, last_frame: frame });
        transmit(slot, payload, size, cells, self.in_tmux, out);
        Some(id_color(slot))
    }

    /// Deletes pictures that `frame` does not use, oldest first, until the budget is met.
    pub fn evict_over_budget(&mut self, frame: u64, out: &mut String) {
        while self.bytes > MEMORY_BUDGET && self.evict_oldest(frame, out) {}
    }

    pub fn clear(&mut self, out: &mut String) {
        for (_, stored) in self.pictures.drain() {
            delete(stored.slot, self.in_tmux, out);
            self.free_slots.push(stored.slot);
        }
        self.bytes = 0;
    }

    fn evict_oldest(&mut self, frame: u64, out: &mut String) -> bool {
        let oldest = self
            .pictures
            .iter()
            .filter(|(_, stored)| stored.last_frame < frame)
            .min_by_key(|(_, stored)| (stored.last_frame, stored.slot))
            .map(|(key, _)| key.clone());
        let Some(stored) = oldest.and_then(|key| self.pictures.remove(&key)) else {
            return false;
        };
        self.bytes -= stored.bytes;
        self.free_slots.push(stored.slot);
        delete(stored.slot, self.in_tmux, out);
        true
    }
}

/// Fills `area` with placeholders of the picture with this id color. Each cell has both diacritics, so
/// that an overlay may cover any part.
pub fn fill_placeholders(buffer: &mut Buffer, area: Rect, color: Color) {
    let mut symbol = String::new();
    for position in area.positions() {
        write_placeholder(&mut symbol, area, position);
        let cell = &mut buffer[position];
        cell.reset();
        cell.set_symbol(&symbol).set_fg(color);
        cell.set_diff_option(CellDiffOption::ForcedWidth(NonZeroU16::MIN));
    }
}

/// Drops the diacritics of cells that continue their left neighbor, which halves the bytes of a picture. This must run
/// after everything is drawn, because the cell after an overlay needs its own diacritics.
pub fn shorten_placeholders(buffer: &mut Buffer, area: Rect, color: Color) {
    let mut symbol = String::new();
    for row in area.rows() {
        let mut has_neighbor = false;
        for position in row.positions() {
            write_placeholder(&mut symbol, area, position);
            let cell = &mut buffer[position];
            let is_own = cell.fg == color && cell.symbol() == symbol;
            if is_own && has_neighbor {
                cell.set_char(PLACEHOLDER);
            }
            has_neighbor = is_own;
        }
    }
}

fn write_placeholder(symbol: &mut String, area: Rect, position: Position) {
    symbol.clear();
    symbol.push(PLACEHOLDER);
    let (row, column) = (diacritic(position.y - area.y), diacritic(position.x - area.x));
    // A cell that has no diacritics continues its left neighbor.
    if let (Some(row), Some(column)) = (row, column) {
        symbol.extend([row, column]);
    }
}

/// Returns the sequences that delete all pictures that this process may have sent. Panic hooks and
/// signal handlers need them, because they have no access to the layer.
pub fn delete_all_pictures(in_tmux: bool) -> String {
    let mut out = String::new();
    for slot in 0..MAX_IDS {
        delete(slot, in_tmux, &mut out);
    }
    out
}

/// Returns the id of a slot, within the block of ids of this process. An id has 24 bits, like the
/// color that carries it.
fn image_id(slot: u16) -> u32 {
    (std::process::id() % 0x3FFF + 1) << 10 | u32::from(slot)
}

fn id_color(slot: u16) -> Color {
    let [_, red, green, blue] = image_id(slot).to_be_bytes();
    Color::Rgb(red, green, blue)
}

fn transmit(
    slot: u16,
    payload: &str,
    size: (u32, u32),
    cells: (u16, u16),
    in_tmux: bool,
    out: &mut String,
) {
    let ((width, height), (columns, rows)) = (size, cells);
    let mut keys =
        format!("a=T,U=1,i={},f=24,s={width},v={height},c={columns},r={rows},", image_id(slot));
    let mut rest = payload;
    while !rest.is_empty() || !keys.is_empty() {
        let (chunk, after) = rest.split_at(rest.len().min(CHUNK_SIZE));
        let more = u8::from(!after.is_empty());
        command(&format!("{keys}q=2,m={more};{chunk}"), in_tmux, out);
        keys.clear();
        rest = after;
    }
}

fn delete(slot: u16, in_tmux: bool, out: &mut String) {
    command(&format!("a=d,d=I,i={},q=2", image_id(slot)), in_tmux, out);
}

/// Writes a graphics command. For tmux, the command is wrapped and each ESC is doubled.
fn command(body: &str, in_tmux: bool, out: &mut String) {
    // Writing into a string cannot fail.
    let _ = if in_tmux {
        write!(out, "\x1bPtmux;\x1b\x1b_G{body}\x1b\x1b\\\x1b\\")
    } else {
        write!(out, "\x1b_G{body}\x1b\\")
    };
}

/// The 297 diacritics of the kitty graphics protocol in order, which encode the row and column of a placeholder cell.
/// Each run is given as its first code point and its length.
#[rustfmt::skip]
const DIACRITIC_RUNS: [(u32, u32); 86] = [
    (0x0305, 1), (0x030D, 2), (0x0310, 1), (0x0312, 1), (0x033D, 3), (0x0346, 1), (0x034A, 3),
    (0x0350, 3), (0x0357, 1), (0x035B, 1), (0x0363, 13), (0x0483, 5), (0x0592, 4), (0x0597, 3),
    (0x059C, 6), (0x05A8, 2), (0x05AB, 2), (0x05AF, 1), (0x05C4, 1), (0x0610, 8), (0x0657, 5),
    (0x065D, 2), (0x06D6, 7), (0x06DF, 4), (0x06E4, 1), (0x06E7, 2), (0x06EB, 2), (0x0730, 1),
    (0x0732, 2), (0x0735, 2), (0x073A, 1), (0x073D, 1), (0x073F, 3), (0x0743, 1), (0x0745, 1),
    (0x0747, 1), (0x0749, 2), (0x07EB, 7), (0x07F3, 1), (0x0816, 4), (0x081B, 9), (0x0825, 3),
    (0x0829, 5), (0x0951, 1), (0x0953, 2), (0x0F82, 2), (0x0F86, 2), (0x135D, 3), (0x17DD, 1),
    (0x193A, 1), (0x1A17, 1), (0x1A75, 8), (0x1B6B, 1), (0x1B6D, 7), (0x1CD0, 3), (0x1CDA, 2),
    (0x1CE0, 1), (0x1DC0, 2), (0x1DC3, 7), (0x1DCB, 2), (0x1DD1, 22), (0x1DFE, 1), (0x20D0, 2),
    (0x20D4, 4), (0x20DB, 2), (0x20E1, 1), (0x20E7, 1), (0x20E9, 1), (0x20F0, 1), (0x2CEF, 3),
    (0x2DE0, 32), (0xA66F, 1), (0xA67C, 2), (0xA6F0, 2), (0xA8E0, 18), (0xAAB0, 1), (0xAAB2, 2),
    (0xAAB7, 2), (0xAABE, 2), (0xAAC1, 1), (0xFE20, 7), (0x10A0F, 1), (0x10A38, 1), (0x1D185, 5),
    (0x1D1AA, 4), (0x1D242, 3),
];

/// Returns the diacritic of a row or column, or `None` beyond the last.
fn diacritic(index: u16) -> Option<char> {
    let mut rest = u32::from(index);
    for (first, length) in &DIACRITIC_RUNS {
        if rest < *length {
            return char::from_u32(first + rest);
        }
        rest -= length;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_are_those_of_the_protocol() {
        let diacritics: Vec<char> = (0..).map_while(diacritic).collect();
        assert_eq!(diacritics.len(), 297);
        assert!(diacritics.is_sorted());
        assert_eq!(
            (diacritics[0], diacritics[1], diacritics[296]),
            ('\u{305}', '\u{30D}', '\u{1D244}')
        );
        assert_eq!(diacritic(297), None);
    }
}
