//! Keeps byte strings of different lengths in one allocation.

use std::io::{self, ErrorKind, Read, Write};

use crate::checked_file::{read_column, write_column};

#[derive(Debug)]
pub struct ByteLists {
    /// The start of each byte string, and the end of the last one.
    starts: Vec<u64>,
    bytes: Vec<u8>,
}

impl Default for ByteLists {
    fn default() -> Self {
        Self { starts: vec![0], bytes: Vec::new() }
    }
}

impl ByteLists {
    /// Creates lists of these sizes, which are filled by [`Self::bytes_mut`].
    pub fn zeros(sizes: impl IntoIterator<Item = usize>) -> Self {
        let mut lists = Self::default();
        let mut end = 0;
        for size in sizes {
            end += size;
            lists.starts.push(end as u64);
        }
        lists.bytes = vec![0; end];
        lists
    }

    /// Returns all lists, one after the other.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    pub fn push(&mut self, list: &[u8]) {
        self.bytes.extend_from_slice(list);
        self.starts.push(self.bytes.len() as u64);
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns a list; an empty one if there is none at this position.
    pub fn get(&self, at: usize) -> &[u8] {
        let Some(&[start, end]) = self.starts.get(at..at + 2) else { return &[] };
        let position = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        self.bytes.get(position(start)..position(end)).unwrap_or_default()
    }

    /// Returns the position of `list`, if all lists are in increasing order.
    pub fn binary_search(&self, list: &[u8]) -> Option<usize> {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from + (to - from) / 2;
            if self.get(middle) < list { from = middle + 1 } else { to = middle }
        }
        (from < self.len() && self.get(from) == list).then_some(from)
    }

    pub fn memory_bytes(&self) -> usize {
        size_of_val(&self.starts[..]) + self.bytes.len()
    }

    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        write_column(to, &self.starts)?;
        write_column(to, &self.bytes)
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        let (starts, bytes): (Vec<u64>, Vec<u8>) = (read_column(from)?, read_column(from)?);
        let is_complete =
            starts.first() == Some(&0) && starts.last() == Some(&(bytes.len() as u64));
        if is_complete && starts.is_sorted() {
            return Ok(Self { starts, bytes });
        }
        Err(ErrorKind::InvalidData.into())
    }
}
