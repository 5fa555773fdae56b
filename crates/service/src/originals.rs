//! Opens the originals of datasets, wherever they are: in folders of this machine, or in buckets.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    settings::DeploymentSettings,
    uploads::{AcceptedUploads, BucketUploads},
};
use rustix::io::Errno;
use tessera_files::staging::ARCHIVE_FILE_NAME;
use tessera_media::{
    ingest::{
        ANNEX_POINTER, FolderPatterns, FolderScan, KnownFile, ListingComparison, OriginalFiles,
        SYMBOLIC_LINK, SandboxedDir, compare_listing, is_parquet,
        parquet_images::{ParquetOriginals, containing_file, list_images},
        scan_folder,
    },
    object_storage::{BucketFolder, BucketOriginals, LazyStorage, ObjectUri, StorageError},
};
use tessera_model::{FileKind, PatternLists};
use tessera_retrieval::stored_pictures::{BucketPacks, StoredPictures};
use tessera_store::{Store, StoreError, indexed_files, source::SourceFolder};

pub(crate) struct Originals {
    storage: Arc<LazyStorage>,
    pub uploads: AcceptedUploads,
    /// The thumbnails and the pictures of frames.
    pub pictures: StoredPictures,
}

impl Originals {
    pub fn new(settings: &DeploymentSettings, store: &Store) -> Result<Self, StorageError> {
        let storage = Arc::new(LazyStorage::new(&settings.storage));
        let (mut uploads, mut packs) = (None, None);
        if let Some(uri) = &settings.bucket {
            let folder = BucketFolder::new(&settings.storage, uri)?;
            packs = Some(BucketPacks::new(storage.get()?, folder.clone(), store.id()));
            uploads = Some(BucketUploads::new(storage.get()?, folder));
        }
        let uploads = AcceptedUploads::new(store.uploads_dir(), uploads);
        let pictures = StoredPictures::new(storage.clone(), packs);
        Ok(Self { storage, uploads, pictures })
    }

    /// Opens the folder, bucket or manifest of a source.
    pub fn open(&self, location: &Path) -> io::Result<Box<dyn OriginalFiles>> {
        let files: Box<dyn OriginalFiles> = match storage_location(location) {
            Some(uri) => Box::new(BucketOriginals::new(self.storage.get()?, uri)),
            None => Box::new(SandboxedDir::open(location)?),
        };
        Ok(Box::new(ParquetOriginals::new(files)))
    }

    /// Whether the folder of a source is on this machine and is missing: it cannot be listed, or none of its known
    /// media exist and it contains no others. A disk that is not connected often leaves a folder behind, which is empty
    /// or contains a file of the system.
    pub fn is_missing(&self, store: &Store, source: &SourceFolder) -> Result<bool, StoreError> {
        let folder = &source.folder;
        let is_upload = self.uploads.contains(folder);
        let is_packed = || folder.with_file_name(ARCHIVE_FILE_NAME).exists();
        if storage_location(folder).is_some() || (is_upload && is_packed()) {
            return Ok(false);
        }
        let is_empty = match fs::read_dir(folder) {
            Ok(mut entries) => entries.next().is_none(),
            Err(cause) => return Ok(!is_of_process(&cause)),
        };
        if is_empty && source.is_dataset_folder {
            return Ok(true);
        }
        // Clients ask often, so a few files are checked first, and all of them only if the folder has no media.
        let exist = |pages| known_media_exist(store, source, pages);
        let first = exist(1)?;
        // A folder without known media is new. It is about to be listed, and must not be listed here as well.
        let is_new = || Ok::<_, StoreError>(first.is_none() && exist(usize::MAX)?.is_none());
        if first == Some(true) || is_new()? {
            return Ok(false);
        }
        Ok(!may_contain_media(folder) && exist(usize::MAX)? == Some(false))
    }

    /// Checks that a folder in object storage can be listed and contains media. The error is safe to send to clients.
    pub fn check(&self, location: &Path) -> Result<(), String> {
        let storage = self.storage.get().map_err(|error| error.to_string())?;
        storage.check(&location.to_string_lossy())
    }

    /// Lists the first part of a folder in object storage, or a whole manifest. The error is safe to send to clients.
    pub fn list_first(&self, location: &ObjectUri) -> io::Result<()> {
        let storage = self.storage.get()?;
        let mut parts = storage.scan_parts(location).map_err(io::Error::other)?;
        parts.next().transpose().map(drop).map_err(StorageError::into_io)
    }

    /// Lists the files of a source. `patterns` belong to the dataset, and object storage has none. Fails if a folder or
    /// bucket cannot be listed, or if the patterns of a folder cannot be read. The error is safe to send to clients.
    pub fn scan(&self, location: &Path, patterns: &PatternLists) -> io::Result<FolderScan> {
        let Some(uri) = storage_location(location) else {
            let folder = SandboxedDir::open(location)?;
            let patterns = FolderPatterns::read(&folder, patterns).map_err(io::Error::other)?;
            let mut scan = scan_folder(&folder, &patterns)?;
            list_images(&folder, &mut scan)?;
            return Ok(scan);
        };
        let storage = self.storage.get()?;
        let mut scan = FolderScan::default();
        for part in storage.scan_parts(&uri).map_err(io::Error::other)? {
            let part = part.map_err(StorageError::into_io)?;
            scan.files.extend(part.files);
            scan.skipped.extend(part.skipped);
            scan.unreadable.extend(part.unreadable);
        }
        scan.files.sort_by(|a, b| a.path.cmp(&b.path));
        list_images(&BucketOriginals::new(storage, uri), &mut scan)?;
        Ok(scan)
    }

    /// Compares a folder in object storage with the files that are known in it. Both are in the byte order of their
    /// paths. The error is safe to send to clients.
    pub fn compare(
        &self,
        location: &Path,
        known: impl Iterator<Item = Result<(PathBuf, KnownFile), String>>,
    ) -> Result<ListingComparison, String> {
        let Some(uri) = storage_location(location) else { return Ok(ListingComparison::Unordered) };
        let storage = self.storage.get().map_err(|error| error.to_string())?;
        let parts = storage.scan_parts(&uri)?;
        let parts = parts.map(|part| part.map(|it| it.files).map_err(|error| error.to_string()));
        let originals = self.open(location).map_err(|error| error.to_string())?;
        let is_readable = |path: &Path| {
            originals.open_file(path).is_ok_and(|mut file| file.read(&mut [0]).is_ok())
        };
        compare_listing(parts, known, is_readable)
    }
}

/// The reason for not reading a folder that is missing. It is safe to send to clients.
pub(crate) const FOLDER_MISSING: &str = "The folder of this dataset is missing, unreadable or empty, or contains \
                                         none of its files. Its index is kept. Connect the disk of the folder and \
                                         rescan it, or remove the dataset";

/// Whether an error is one of this process, which may have too many open files. It says nothing about the file or
/// folder.
pub(crate) fn is_of_process(cause: &io::Error) -> bool {
    const OF_PROCESS: [Errno; 3] = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    Errno::from_io_error(cause).is_some_and(|it| OF_PROCESS.contains(&it))
}

/// Whether one of the known media files of a source on this machine exists. Returns `None` if none is known. At most
/// `pages` pages of files are checked.
pub(crate) fn known_media_exist(
    store: &Store,
    source: &SourceFolder,
    pages: usize,
) -> Result<Option<bool>, StoreError> {
    let (mut exist, mut last) = (None, PathBuf::new());
    for _ in 0..pages {
        let files = match store.read(|c| indexed_files::known_files_after(c, source.row, &last)) {
            // A damaged row says nothing about the folder, and must not hide the other datasets.
            Err(cause) if cause.is_damage() => return Ok(Some(true)),
            files => files?,
        };
        let Some((path, _)) = files.last() else { break };
        last.clone_from(path);
        for (path, _) in files.iter().filter(|(_, file)| file.content_hash.is_some()) {
            if may_exist(&source.folder, path) {
                return Ok(Some(true));
            }
            exist = Some(false);
        }
    }
    Ok(exist)
}

/// Whether a file exists in a folder, or nothing is known about it because of an error.
pub(crate) fn may_exist(folder: &Path, path: &Path) -> bool {
    containing_file(folder, path).try_exists().unwrap_or(true)
}

/// Whether a folder contains files that can be media, or links in their place. If the folder cannot be listed, it may
/// contain some.
fn may_contain_media(folder: &Path) -> bool {
    let folder = SandboxedDir::open(folder);
    let scan = folder.and_then(|folder| scan_folder(&folder, &FolderPatterns::default()));
    let Ok(FolderScan { files, skipped, .. }) = scan else { return true };
    let is_link = |reason| [SYMBOLIC_LINK, ANNEX_POINTER].contains(reason);
    let links = skipped.iter().filter(|(_, reason)| is_link(reason)).map(|(path, _)| path);
    files
        .iter()
        .map(|file| &file.path)
        .chain(links)
        .any(|path| FileKind::from_name(&path.to_string_lossy()).is_media() || is_parquet(path))
}

/// Returns the address in object storage, if the location is one. Folders of this machine are absolute paths.
pub(crate) fn storage_location(location: &Path) -> Option<ObjectUri> {
    ObjectUri::parse(location.to_str()?).ok()
}
