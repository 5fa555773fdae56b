//! Keeps the columns of the caption index, and writes and reads their file.

use std::io::{self, ErrorKind, Read, Write};

use tessera_search::text::bm25::CaptionTotals;

use super::byte_lists::ByteLists;
use crate::checked_file::{read_column, write_column};

#[derive(Debug, Default)]
pub struct CaptionIndex {
    /// The rows of the media items with a caption, in increasing order. The number of a caption is its position here.
    pub(super) rows: Vec<i64>,
    /// The number of words of each caption.
    pub(super) lengths: Vec<u32>,
    /// All different words, in increasing order.
    pub(super) words: ByteLists,
    /// The captions that contain each word.
    pub(super) postings: ByteLists,
}

impl CaptionIndex {
    pub fn totals(&self) -> CaptionTotals {
        let words = self.lengths.iter().map(|&length| u64::from(length)).sum();
        CaptionTotals { captions: self.lengths.len() as u64, words }
    }

    pub fn memory_bytes(&self) -> usize {
        size_of_val(&self.rows[..])
            + size_of_val(&self.lengths[..])
            + self.words.memory_bytes()
            + self.postings.memory_bytes()
    }

    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        write_column(to, &self.rows)?;
        write_column(to, &self.lengths)?;
        self.words.write(to)?;
        self.postings.write(to)
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        let (rows, lengths): (Vec<i64>, Vec<u32>) = (read_column(from)?, read_column(from)?);
        let (words, postings) = (ByteLists::read(from)?, ByteLists::read(from)?);
        if rows.len() != lengths.len() || words.len() != postings.len() {
            return Err(ErrorKind::InvalidData.into());
        }
        Ok(Self { rows, lengths, words, postings })
    }
}
