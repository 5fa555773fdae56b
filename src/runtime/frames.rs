//! Writes frames: only the cells that changed, and nothing without a change.

use std::io::{self, Write};

use crossterm::{
    QueueableCommand,
    terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate},
};
use ratatui::{buffer::Buffer, layout::Rect};

use crate::{
    drawing::picture_layer::TerminalWrites,
    runtime::cell_writer::{RESET, write_cells},
};

/// The most memory for the bytes of a frame that is kept: a large screen of half-blocks.
const MAX_KEPT_BYTES: usize = 1 << 20;

/// Its buffers are used again, because clearing them takes a fraction of the time of new ones.
#[derive(Debug)]
pub struct FrameWriter<W> {
    out: W,
    /// What is on the terminal, unless it is unknown.
    last_frame: Buffer,
    next_frame: Buffer,
    bytes: Vec<u8>,
    /// Whether the next frame must be drawn completely.
    is_unknown: bool,
}

/// The cost of a frame; zero without a change.
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
            // Until it is written.
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

    /// Composes the bytes of a frame, and returns how many cells change.
    fn compose(&mut self, is_whole: bool, writes: &TerminalWrites) -> io::Result<usize> {
        let bytes = &mut self.bytes;
        bytes.clear();
        bytes.queue(BeginSynchronizedUpdate)?;
        if is_whole {
            // A terminal clears with the current background.
            bytes.extend_from_slice(RESET);
            bytes.queue(Clear(ClearType::All))?;
        }
        bytes.extend_from_slice(writes.before.as_bytes());
        let cells = write_cells(bytes, self.last_frame.diff_iter(&self.next_frame));
        bytes.extend_from_slice(writes.after.as_bytes());
        bytes.queue(EndSynchronizedUpdate)?;
        Ok(cells)
    }

    /// Writes a sequence that changes no cell.
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
