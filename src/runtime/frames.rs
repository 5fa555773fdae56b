//! Writes frames: only the cells that changed, and nothing without a change.

use std::io::{self, Write};

use crossterm::{
    QueueableCommand,
    terminal::{BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate},
};
use ratatui::{
    backend::{Backend as _, CrosstermBackend},
    buffer::Buffer,
    layout::Rect,
};

use crate::ui::picture_layer::TerminalWrites;

#[derive(Debug)]
pub struct FrameWriter<W> {
    out: W,
    /// What is on the terminal; `None` if the next frame must be drawn completely.
    last_frame: Option<Buffer>,
}

/// The cost of a frame; zero without a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCost {
    pub cells: usize,
    pub bytes: usize,
}

impl<W: Write> FrameWriter<W> {
    pub fn new(out: W) -> Self {
        Self { out, last_frame: None }
    }

    pub fn invalidate(&mut self) {
        self.last_frame = None;
    }

    /// Draws the changed cells in one write, between the sequences that the pictures need.
    pub fn draw(
        &mut self,
        (columns, rows): (u16, u16),
        view: impl FnOnce(&mut Buffer) -> TerminalWrites,
    ) -> io::Result<FrameCost> {
        let area = Rect::new(0, 0, columns, rows);
        let mut next = Buffer::empty(area);
        let writes = view(&mut next);
        let last = self.last_frame.take().filter(|previous| previous.area == area);
        let is_whole = last.is_none();
        let previous = last.unwrap_or_else(|| Buffer::empty(area));
        let changed = previous.diff(&next);
        let mut cost = FrameCost { cells: changed.len(), bytes: 0 };
        if is_whole || cost.cells > 0 || writes != TerminalWrites::default() {
            let mut bytes = Vec::new();
            bytes.queue(BeginSynchronizedUpdate)?;
            if is_whole {
                bytes.queue(Clear(ClearType::All))?;
            }
            bytes.write_all(writes.before.as_bytes())?;
            CrosstermBackend::new(&mut bytes).draw(changed.into_iter())?;
            bytes.write_all(writes.after.as_bytes())?;
            bytes.queue(EndSynchronizedUpdate)?;
            self.write(&bytes)?;
            cost.bytes = bytes.len();
        }
        self.last_frame = Some(next);
        Ok(cost)
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
