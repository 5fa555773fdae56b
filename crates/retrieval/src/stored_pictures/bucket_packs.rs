//! Packs of pictures in a bucket: `pictures/STORE/ID`, each with those of one transaction, because a request for each
//! picture would take longer than its extraction.

use std::{
    io,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use uuid::Uuid;

use tessera_media::object_storage::{BlockingStorage, BucketFolder};
use tessera_store::packed_picture::PackedPictures;

const FOLDER: &str = "pictures";
/// Bounds the memory; only a larger picture makes a larger pack.
const MAX_PACK_BYTES: usize = 16 << 20;
const CONCURRENT_DELETIONS: usize = 8;

#[derive(Debug)]
pub struct BucketPacks {
    storage: Arc<BlockingStorage>,
    bucket: Arc<BucketFolder>,
    /// The folder of the packs of this store: what another one has in the same bucket is not removed.
    folder: String,
}

impl BucketPacks {
    pub fn new(storage: Arc<BlockingStorage>, bucket: BucketFolder, store: Uuid) -> Self {
        Self { storage, bucket: Arc::new(bucket), folder: format!("{FOLDER}/{store}") }
    }

    /// Writes pictures to new packs. Returns when all of them are in the bucket.
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

    /// The addresses of the packs that were written longer ago than this.
    pub(super) fn older_than(&self, age: Duration) -> io::Result<Vec<String>> {
        let (bucket, folder) = (self.bucket.clone(), self.folder.clone());
        let content = self.storage.run(async move { bucket.children(&folder).await })?;
        let newest = SystemTime::now() - age;
        let packs = content.objects.into_iter().filter(|(name, written_at)| {
            // Others may write to the bucket, too.
            *written_at < newest && Uuid::try_parse(name).is_ok()
        });
        let address = |name| self.bucket.address(&format!("{}/{name}", self.folder));
        Ok(packs.map(|(name, _)| address(name)).collect())
    }

    /// Deletes packs; those of another bucket or store stay.
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
