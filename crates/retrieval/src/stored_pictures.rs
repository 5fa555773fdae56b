//! Stores thumbnails and the pictures of frames, in the store or in packs in the bucket of the deployment. Only this
//! file decides which of the two is used.

use std::{
    io::{self, ErrorKind},
    ops::Range,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tessera_media::object_storage::{BlockingStorage, BucketFolder, LazyStorage, ObjectUri};
use tessera_store::picture_table::{
    PackedPicture, PackedPictures, StoredPicture, picture_checksum,
};
use uuid::Uuid;

/// Ranges of a pack that are at most this far apart are fetched in one request.
const MAX_GAP_BYTES: u64 = 64 << 10;
/// Time limit for reading a picture for a client, whose own limit is 30 seconds.
pub const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// Time limit for reading pictures for a task, including the pauses between attempts.
pub const TASK_LIMIT: Duration = Duration::from_mins(2);

/// Writes new pictures to the place for new pictures, and reads pictures from wherever they are.
#[derive(Debug)]
pub struct StoredPictures {
    storage: Arc<LazyStorage>,
    /// The packs to which new pictures are written, or `None` if new pictures are kept in the store.
    packs: Option<BucketPacks>,
}

impl StoredPictures {
    pub fn new(storage: Arc<LazyStorage>, packs: Option<BucketPacks>) -> Self {
        Self { storage, packs }
    }

    /// Writes the pictures of the next transaction to the bucket, if there is one. This happens before the transaction,
    /// because other transactions would wait for the request.
    pub fn put<'a>(&self, pictures: impl Iterator<Item = &'a [u8]>) -> io::Result<PackedPictures> {
        match &self.packs {
            Some(packs) => packs.put(pictures),
            None => Ok(PackedPictures::default()),
        }
    }

    /// Reads a picture as a JPEG. Fails if the bytes differ from those that were written.
    pub fn read(&self, picture: StoredPicture, limit: Duration) -> io::Result<Vec<u8>> {
        match picture {
            StoredPicture::InStore(jpeg) => Ok(jpeg),
            StoredPicture::InPack(picture) => {
                let bytes = self.read_range(&picture.pack, picture.range.clone(), limit)?;
                intact_part(&bytes, picture.range.start, &picture)
            }
        }
    }

    /// Reads pictures for a task, in few requests. Returns each picture with its key, in any order. Fails if any
    /// picture cannot be read.
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

    /// Reads pictures of one pack, in the order of their bytes, in one request.
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

    /// Returns the addresses of the packs of this store in the bucket that are older than `age`.
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

/// Cuts a picture out of the bytes of its pack, which begin at position `start`, and verifies the checksum of the
/// picture.
fn intact_part(bytes: &[u8], start: u64, picture: &PackedPicture) -> io::Result<Vec<u8>> {
    let index = |position: u64| usize::try_from(position - start).ok();
    let part = || bytes.get(index(picture.range.start)?..index(picture.range.end)?);
    let intact = part().filter(|part| picture_checksum(part) == picture.checksum);
    let damaged = || io::Error::new(ErrorKind::InvalidData, "a picture in it is damaged");
    intact.map(<[u8]>::to_vec).ok_or_else(damaged)
}

const FOLDER: &str = "pictures";
/// Maximum size of a pack, which bounds the memory. A pack is larger only if a single picture is.
const MAX_PACK_BYTES: usize = 16 << 20;
const CONCURRENT_DELETIONS: usize = 8;

/// Packs of pictures in a bucket: `pictures/STORE/ID`. A pack has the pictures of one transaction, because one request
/// per picture would take longer than the extraction of the picture.
#[derive(Debug)]
pub struct BucketPacks {
    storage: Arc<BlockingStorage>,
    bucket: Arc<BucketFolder>,
    /// The folder with the packs of this store. Packs of other stores in the same bucket are never removed.
    folder: String,
}

impl BucketPacks {
    pub fn new(storage: Arc<BlockingStorage>, bucket: BucketFolder, store: Uuid) -> Self {
        Self { storage, bucket: Arc::new(bucket), folder: format!("{FOLDER}/{store}") }
    }

    /// Writes pictures to new packs. Returns when all packs are in the bucket.
    pub fn put<'a>(&self, pictures: impl Iterator<Item = &'a [u8]>) -> io::Result<PackedPictures> {
        let mut packed = PackedPictures::default();
        let (mut name, mut pack) = (self.new_name(), Vec::new());
        for picture in pictures {
            if picture.is_empty() || packed.find(picture).is_some() {
                continue;
            }
            if !pack.is_empty() && pack.len() + picture.len() > MAX_PACK_BYTES {
                self.put_pack(name, std::mem::take(&mut pack))?;
                name = self.new_name();
            }
            let start = pack.len() as u64;
            pack.extend_from_slice(picture);
            packed.insert(picture, &self.bucket.address(&name), start..pack.len() as u64);
        }
        if !pack.is_empty() {
            self.put_pack(name, pack)?;
        }
        Ok(packed)
    }

    fn new_name(&self) -> String {
        format!("{}/{}", self.folder, Uuid::new_v4())
    }

    fn put_pack(&self, name: String, pack: Vec<u8>) -> io::Result<()> {
        let (bucket, pack) = (self.bucket.clone(), Bytes::from(pack));
        self.storage.run(async move { bucket.put(&name, pack).await })
    }

    /// Returns the addresses of the packs that are older than `age`.
    pub(super) fn older_than(&self, age: Duration) -> io::Result<Vec<String>> {
        let (bucket, folder) = (self.bucket.clone(), self.folder.clone());
        let content = self.storage.run(async move { bucket.children(&folder).await })?;
        let newest = SystemTime::now() - age;
        let packs = content.objects.into_iter().filter(|(name, written_at)| {
            // Other programs may also write to the bucket, so names that are not UUIDs are skipped.
            *written_at < newest && Uuid::try_parse(name).is_ok()
        });
        let address = |name| self.bucket.address(&format!("{}/{name}", self.folder));
        Ok(packs.map(|(name, _)| address(name)).collect())
    }

    /// Deletes packs of this store. Addresses of another bucket or store are ignored.
    pub(super) fn delete_all(&self, addresses: &[String]) -> io::Result<()> {
        let base = self.bucket.address(&format!("{}/", self.folder));
        let name =
            |address: &String| Some(format!("{}/{}", self.folder, address.strip_prefix(&base)?));
        let names: Vec<String> = addresses.iter().filter_map(name).collect();
        let bucket = self.bucket.clone();
        self.storage.run(async move {
            let delete = |name: String| {
                let bucket = bucket.clone();
                async move { bucket.delete(&name).await }
            };
            let deletions = stream::iter(names).map(delete).buffer_unordered(CONCURRENT_DELETIONS);
            deletions.try_collect().await
        })
    }
}
