//! The columns of an index, and lists of different lengths in one allocation. A struct of columns lists them once, and
//! writes, reads and reorders itself column by column.

use std::io::{self, ErrorKind, Read, Write};

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// A part of an index that a file contains.
pub trait Column {
    fn write(&self, to: &mut dyn Write) -> io::Result<()>;

    /// Replaces the column by what [`Self::write`] wrote.
    fn read(&mut self, from: &mut dyn Read) -> io::Result<()>;

    /// Puts the values of the members into another order.
    fn reorder(&mut self, order: &[u32]);

    /// Returns the memory of the values.
    fn memory_bytes(&self) -> usize;
}

impl<T: FromBytes + IntoBytes + Immutable + Copy> Column for Vec<T> {
    /// Writes the column in the byte order of this machine, after its length in bytes.
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(&(self.memory_bytes() as u64).to_ne_bytes())?;
        to.write_all(self.as_bytes())
    }

    fn read(&mut self, from: &mut dyn Read) -> io::Result<()> {
        let mut bytes = [0; size_of::<u64>()];
        from.read_exact(&mut bytes)?;
        let bytes = usize::try_from(u64::from_ne_bytes(bytes)).map_err(io::Error::other)?;
        *self = vec![T::new_zeroed(); bytes / size_of::<T>()];
        from.read_exact(self.as_mut_bytes())
    }

    fn reorder(&mut self, order: &[u32]) {
        *self = order.iter().map(|&member| self[member as usize]).collect();
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&self[..])
    }
}

impl<C: Column, const N: usize> Column for [C; N] {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        self.iter().try_for_each(|column| column.write(to))
    }

    fn read(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.iter_mut().try_for_each(|column| column.read(from))
    }

    fn reorder(&mut self, order: &[u32]) {
        for column in self {
            column.reorder(order);
        }
    }

    fn memory_bytes(&self) -> usize {
        self.iter().map(Column::memory_bytes).sum()
    }
}

/// Returns the next column of a file.
pub fn read_column<C: Column + Default>(from: &mut dyn Read) -> io::Result<C> {
    let mut column = C::default();
    column.read(from)?;
    Ok(column)
}

/// A list of values for each member, word or cluster. All lists are in one allocation.
#[derive(Debug)]
pub struct Lists<T> {
    /// The start of each list, and the end of the last one.
    starts: Vec<u64>,
    values: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { starts: vec![0], values: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    /// Creates lists of these sizes, which are filled by [`Self::get_mut`].
    pub fn filled(sizes: impl IntoIterator<Item = usize>, value: T) -> Self {
        let mut lists = Self::default();
        let mut end = 0;
        for size in sizes {
            end += size;
            lists.starts.push(end as u64);
        }
        lists.values = vec![value; end];
        lists
    }

    pub fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.values.extend(list);
        self.starts.push(self.values.len() as u64);
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the list at this position, or an empty list if there is none.
    pub fn get(&self, at: usize) -> &[T] {
        let Some([start, end]) = self.bounds(at) else { return &[] };
        self.values.get(start..end).unwrap_or_default()
    }

    pub fn get_mut(&mut self, at: usize) -> &mut [T] {
        let Some([start, end]) = self.bounds(at) else { return &mut [] };
        self.values.get_mut(start..end).unwrap_or_default()
    }

    fn bounds(&self, at: usize) -> Option<[usize; 2]> {
        let &[start, end] = self.starts.get(at..at + 2)? else { return None };
        Some([start, end].map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
    }
}

impl<T: Copy + Ord> Lists<T> {
    /// Returns the position of `list`. All lists must be in increasing order.
    pub fn binary_search(&self, list: &[T]) -> Option<usize> {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from + (to - from) / 2;
            if self.get(middle) < list { from = middle + 1 } else { to = middle }
        }
        (from < self.len() && self.get(from) == list).then_some(from)
    }
}

impl<T: FromBytes + IntoBytes + Immutable + Copy> Column for Lists<T> {
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        self.starts.write(to)?;
        self.values.write(to)
    }

    fn read(&mut self, from: &mut dyn Read) -> io::Result<()> {
        self.starts.read(from)?;
        self.values.read(from)?;
        let ends = (self.starts.first(), self.starts.last());
        let is_complete = ends == (Some(&0), Some(&(self.values.len() as u64)));
        let is_valid = is_complete && self.starts.is_sorted();
        if is_valid { Ok(()) } else { Err(ErrorKind::InvalidData.into()) }
    }

    fn reorder(&mut self, order: &[u32]) {
        let mut lists = Self::default();
        for &member in order {
            lists.push(self.get(member as usize).iter().copied());
        }
        *self = lists;
    }

    fn memory_bytes(&self) -> usize {
        self.starts.memory_bytes() + self.values.memory_bytes()
    }
}
