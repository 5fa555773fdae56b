//! Pictures in packs. A pack is an object in a bucket with the pictures of one transaction.

use std::{collections::HashMap, ops::Range};

/// The location of a picture in a pack, and a checksum of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedPicture {
    /// The address of the pack in object storage.
    pub pack: String,
    /// The position in the pack, in bytes.
    pub range: Range<u64>,
    /// The checksum that [`picture_checksum`] computes.
    pub checksum: u64,
}

/// The pictures that were put into packs, by the hash of their bytes. Empty if the store keeps the pictures itself.
#[derive(Debug, Default)]
pub struct PackedPictures(HashMap<blake3::Hash, PackedPicture>);

impl PackedPictures {
    pub fn insert(&mut self, picture: &[u8], pack: &str, range: Range<u64>) {
        let hash = blake3::hash(picture);
        let (pack, checksum) = (pack.to_owned(), first_bytes(hash));
        self.0.insert(hash, PackedPicture { pack, range, checksum });
    }

    pub fn find(&self, picture: &[u8]) -> Option<&PackedPicture> {
        // If there are no packs, nothing needs to be hashed.
        if self.0.is_empty() { None } else { self.0.get(&blake3::hash(picture)) }
    }
}

/// Returns the first eight bytes of the BLAKE3 hash of a picture.
pub fn picture_checksum(picture: &[u8]) -> u64 {
    first_bytes(blake3::hash(picture))
}

fn first_bytes(hash: blake3::Hash) -> u64 {
    let (chunks, _) = hash.as_bytes().as_chunks();
    u64::from_le_bytes(chunks[0])
}
