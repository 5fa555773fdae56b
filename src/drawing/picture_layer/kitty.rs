//! The pictures stored by a kitty terminal: each is sent once, and the least recently used one is
//! deleted first.
//!
//! A terminal stores about 320 MB of pictures and then drops arbitrary ones; staying far below that
//! ensures that all sent pictures exist. The ids of a process are a small fixed block, so that a panic
//! hook can delete them all.

use std::{collections::HashMap, fmt::Write, num::NonZeroU16};

use ratatui::{
    buffer::{Buffer, CellDiffOption},
    layout::{Position, Rect},
    style::Color,
};

use super::{PictureKey, diacritics::diacritic};

/// The most bytes to store, at four bytes per pixel.
const MEMORY_BUDGET: usize = 128 << 20;
/// The ids of one process.
const MAX_IDS: u16 = 1024;
/// Base64 characters of one chunk, as limited by the protocol.
const CHUNK_SIZE: usize = 4096;
/// The character of a picture's cell; the diacritics of row and column follow.
const PLACEHOLDER: char = '\u{10EEEE}';

#[derive(Debug)]
pub struct KittyStore {
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

impl KittyStore {
    pub fn new(in_tmux: bool) -> Self {
        Self {
            pictures: HashMap::new(),
            free_slots: (0..MAX_IDS).rev().collect(),
            bytes: 0,
            in_tmux,
        }
    }

    /// The color that identifies the picture in its cells. Sends the picture to `out` if it is not
    /// stored. `None` if all ids are on the screen.
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

/// Drops the diacritics of the cells that continue their left neighbor, which halves the bytes of a picture.
/// To be called when everything is drawn: the cell after an overlay needs its own.
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
    // Without diacritics a cell continues its left neighbor.
    if let (Some(row), Some(column)) = (row, column) {
        symbol.extend([row, column]);
    }
}

/// What deletes all pictures that this process may have sent, for panic hooks and signal handlers,
/// which have no access to the layer.
pub fn delete_all_pictures(in_tmux: bool) -> String {
    let mut out = String::new();
    for slot in 0..MAX_IDS {
        delete(slot, in_tmux, &mut out);
    }
    out
}

/// The id of a slot: 24 bits, as in a color, within the block of this process.
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

/// Writes a graphics command; tmux needs it wrapped, with each ESC doubled.
fn command(body: &str, in_tmux: bool, out: &mut String) {
    // Writing into a string cannot fail.
    let _ = if in_tmux {
        write!(out, "\x1bPtmux;\x1b\x1b_G{body}\x1b\x1b\\\x1b\\")
    } else {
        write!(out, "\x1b_G{body}\x1b\\")
    };
}
