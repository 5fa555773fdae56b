//! A list of numbers per member, all in one allocation.

use std::io::{self, Read, Write};

use super::column_file::{read_column, write_column};

#[derive(Debug)]
pub struct IdLists {
    /// Where the list of each member begins, and where the last one ends.
    starts: Vec<u32>,
    ids: Vec<u32>,
}

impl Default for IdLists {
    fn default() -> Self {
        Self { starts: vec![0], ids: Vec::new() }
    }
}

impl IdLists {
    /// Adds the list of the next member.
    pub fn push(&mut self, ids: impl IntoIterator<Item = u32>) {
        self.ids.extend(ids);
        self.starts.push(u32::try_from(self.ids.len()).unwrap_or(u32::MAX));
    }

    pub fn of(&self, member: usize) -> &[u32] {
        &self.ids[self.starts[member] as usize..self.starts[member + 1] as usize]
    }

    pub fn of_mut(&mut self, member: usize) -> &mut [u32] {
        &mut self.ids[self.starts[member] as usize..self.starts[member + 1] as usize]
    }

    /// The lists of the members of `order`.
    pub fn reordered(&self, order: &[u32]) -> Self {
        let mut lists = Self::default();
        for &member in order {
            lists.push(self.of(member as usize).iter().copied());
        }
        lists
    }

    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        write_column(to, &self.starts)?;
        write_column(to, &self.ids)
    }

    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        Ok(Self { starts: read_column(from)?, ids: read_column(from)? })
    }
}
