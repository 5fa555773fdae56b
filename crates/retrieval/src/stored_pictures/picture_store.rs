//! Writes pictures where new ones are kept, and reads them from where they are.

use std::{
    io::{self, ErrorKind},
    ops::Range,
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;

use super::BucketPacks;
use tessera_media::object_storage::{LazyStorage, ObjectUri};
use tessera_store::{
    packed_picture::{PackedPicture, PackedPictures, picture_checksum},
    picture_table::StoredPicture,
};

/// Ranges that are as near in a pack are read by one request, with what is between them.
const MAX_GAP_BYTES: u64 = 64 << 10;
/// Longest time that a client waits for a picture. Its own limit is 30 seconds.
pub const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// Longest time that a task waits, with the pauses between attempts.
pub const TASK_LIMIT: Duration = Duration::from_mins(2);

#[derive(Debug)]
pub struct PictureStore {
    storage: Arc<LazyStorage>,
    /// `None` if new pictures are kept in the store.
    packs: Option<BucketPacks>,
}

impl PictureStore {
    pub fn new(storage: Arc<LazyStorage>, packs: Option<BucketPacks>) -> Self {
        Self { storage, packs }
    }

    /// Writes the pictures of the transaction that follows to the bucket, if there is one. In the transaction, others
    /// would wait for the request.
    pub fn put<'a>(&self, pictures: impl Iterator<Item = &'a [u8]>) -> io::Result<PackedPictures> {
        match &self.packs {
            Some(packs) => packs.put(pictures),
            None => Ok(PackedPictures::default()),
        }
    }

    /// Reads a picture: JPEG. Fails if its bytes are not those that were written.
    pub fn read(&self, picture: StoredPicture, limit: Duration) -> io::Result<Vec<u8>> {
        match picture {
            StoredPicture::InStore(jpeg) => Ok(jpeg),
            StoredPicture::InPack(picture) => {
                let bytes = self.read_range(&picture.pack, picture.range.clone(), limit)?;
                intact_part(&bytes, picture.range.start, &picture)
            }
        }
    }

    /// Reads pictures for a task in few requests, and returns each with what came with it, in any order. Fails if one
    /// cannot be read.
    pub fn read_all<T>(&self, pictures: Vec<(T, StoredPicture)>) -> io::Result<Vec<(T, Vec<u8>)>> {
        let (mut read, mut packed) = (Vec::new(), Vec::new());
        for (key, picture) in pictures {
            match picture {
                StoredPicture::InStore(jpeg) => read.push((key, jpeg)),
                StoredPicture::InPack(picture) => packed.push((key, picture)),
            }
        }
        packed.sort_by(|(_, a), (_, b)| (&a.pack, a.range.start).cmp(&(&b.pack, b.range.start)));
        let mut bytes = Vec::new();
        let places: Vec<&PackedPicture> = packed.iter().map(|(_, picture)| picture).collect();
        for neighbors in places.chunk_by(|a, b| are_near(a, b)) {
            bytes.extend(self.read_together(neighbors)?);
        }
        read.extend(packed.into_iter().map(|(key, _)| key).zip(bytes));
        Ok(read)
    }

    /// Reads pictures of one pack, in the order of their bytes, by one request.
    fn read_together(&self, pictures: &[&PackedPicture]) -> io::Result<Vec<Vec<u8>>> {
        let Some(first) = pictures.first() else { return Ok(Vec::new()) };
        let start = first.range.start;
        let end = pictures.iter().map(|picture| picture.range.end).max().unwrap_or(start);
        let bytes = self.read_range(&first.pack, start..end, TASK_LIMIT)?;
        pictures.iter().map(|picture| intact_part(&bytes, start, picture)).collect()
    }

    fn read_range(&self, pack: &str, range: Range<u64>, limit: Duration) -> io::Result<Bytes> {
        let pack = ObjectUri::parse(pack).map_err(io::Error::other)?;
        self.storage.get()?.read_range(pack, range, limit)
    }

    /// The addresses of the packs of this store in the bucket that were written longer ago than this.
    pub fn packs_older_than(&self, age: Duration) -> io::Result<Vec<String>> {
        self.packs.as_ref().map_or(Ok(Vec::new()), |packs| packs.older_than(age))
    }

    /// Deletes packs from the bucket.
    pub fn delete_packs(&self, addresses: &[String]) -> io::Result<()> {
        self.packs.as_ref().map_or(Ok(()), |packs| packs.delete_all(addresses))
    }
}

fn are_near(a: &PackedPicture, b: &PackedPicture) -> bool {
    a.pack == b.pack && b.range.start <= a.range.end.saturating_add(MAX_GAP_BYTES)
}

/// A picture in the bytes of its pack from a position on.
fn intact_part(bytes: &[u8], start: u64, picture: &PackedPicture) -> io::Result<Vec<u8>> {
    let index = |position: u64| usize::try_from(position - start).ok();
    let part = || bytes.get(index(picture.range.start)?..index(picture.range.end)?);
    let intact = part().filter(|part| picture_checksum(part) == picture.checksum);
    let damaged = || io::Error::new(ErrorKind::InvalidData, "a picture in it is damaged");
    intact.map(<[u8]>::to_vec).ok_or_else(damaged)
}
