//! Names of archives as hashes: 8 bytes each, however many there are and however long they are.

use std::{collections::hash_map::RandomState, hash::BuildHasher as _};

/// Keyed at random, so that no archive can be made whose names collide.
#[derive(Default)]
pub(super) struct NameHasher(RandomState);

impl NameHasher {
    pub(super) fn hash(&self, name: &str) -> u64 {
        self.0.hash_one(name)
    }
}
