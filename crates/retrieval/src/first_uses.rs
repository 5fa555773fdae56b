//! Numbers in the order of their first use.

#[derive(Default)]
pub struct FirstUses {
    /// By old number; `None` if it was not used yet.
    new: Vec<Option<u32>>,
    used: u32,
}

impl FirstUses {
    /// The new number of an old one.
    pub fn number(&mut self, old: u32) -> u32 {
        let old = old as usize;
        if self.new.len() <= old {
            self.new.resize(old + 1, None);
        }
        *self.new[old].get_or_insert_with(|| {
            self.used += 1;
            self.used - 1
        })
    }
}
