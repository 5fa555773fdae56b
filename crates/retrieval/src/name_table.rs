//! Labels and tags as numbers: most media items share a few.

use std::{
    collections::HashMap,
    io::{self, Read, Write},
};

use super::column_file::{read_column, write_column};

#[derive(Debug, Default)]
pub struct NameTable(HashMap<String, u32>);

impl NameTable {
    /// The numbers of names, which get one if they have none.
    pub fn add(&mut self, names: impl IntoIterator<Item = String>) -> impl Iterator<Item = u32> {
        names.into_iter().map(|name| {
            let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
            *self.0.entry(name).or_insert(next)
        })
    }

    /// Replaces all numbers.
    pub fn renumber(&mut self, mut new: impl FnMut(u32) -> u32) {
        self.0.values_mut().for_each(|id| *id = new(*id));
    }

    pub fn id(&self, name: &str) -> Option<u32> {
        self.0.get(name).copied()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.0.iter().map(|(name, &id)| (name.as_str(), id))
    }

    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        write_column(to, &serde_json::to_vec(&self.0)?)
    }

    pub fn read(from: &mut impl Read) -> io::Result<Self> {
        Ok(Self(serde_json::from_slice(&read_column::<u8>(from)?)?))
    }
}
