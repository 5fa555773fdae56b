//! A list of numbers per member, all in one allocation.

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
}
