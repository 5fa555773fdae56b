//! Writes and reads the files of the index of one generation of a dataset. The files are written when an indexing task
//! has ended or when the dataset is first searched, and later starts read them. The files contain nothing that is not
//! in the store.

use std::{
    collections::HashSet,
    fs::{self, File, Permissions},
    io::{self, BufReader, ErrorKind, Read, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use tessera_files::create_private_dir;
use tessera_media::ingest::disk_quota::DiskQuota;
use tessera_model::EntityType;
use tessera_search::similarity::VectorMemory;
use tessera_store::{
    Store, StoreError,
    dataset::{self, DatasetRecord},
};

use crate::{
    caption_index::{CaptionIndex, FileNames},
    checked_file::{CheckedWriter, open_checked},
    columns::{Column, read_column},
    dataset_index::DatasetIndex,
    index_builder::{IndexBuilder, VECTOR_FILES},
    member_columns::{MemberColumns, NameTable},
    vector_source::{IndexLimits, PartialVectors, VectorSource},
};

const MEMBERS_FILE: &str = "members";
const CAPTIONS_FILE: &str = "captions";
const FILE_NAMES_FILE: &str = "file_names";
/// The first bytes of the file of members, in the byte order of the machine. The number in them is the version of all
/// files and of the stems in the files.
const MAGIC: u64 = u64::from_be_bytes(*b"tessera\x0a");

/// Removes the files of all generations except the current ones, and the files that a crashed process left.
pub fn remove_outdated(store: &Store) -> Result<(), StoreError> {
    let mut current = HashSet::new();
    for dataset in store.read(dataset::all)? {
        for entity in [EntityType::Images, EntityType::Objects] {
            current.insert(folder_name(&dataset, entity));
        }
    }
    let folder = store.indexes_dir();
    remove_folders(&folder, |name| !current.contains(name))
        .map_err(|cause| StoreError::Io(folder, cause))
}

fn folder_name(dataset: &DatasetRecord, entity: EntityType) -> String {
    format!("{}-{}", folder_prefix(dataset, entity), dataset.generation)
}

fn folder_prefix(dataset: &DatasetRecord, entity: EntityType) -> String {
    format!("{}-{}", dataset.id, entity.as_str().to_ascii_lowercase())
}

fn remove_folders(indexes: &Path, is_outdated: impl Fn(&str) -> bool) -> io::Result<()> {
    let entries = match fs::read_dir(indexes) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_str().is_none_or(&is_outdated) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Removes the files of a dataset up to a generation. Another process may have written those of a newer one meanwhile.
fn remove_until(indexes: &Path, prefix: &str, generation: i64) -> io::Result<()> {
    remove_folders(indexes, |name| {
        let of_dataset = name.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-'));
        of_dataset.and_then(|it| it.parse().ok()).is_some_and(|it: i64| it <= generation)
    })
}

/// Opens the index of the current generation. If it has no files, reads it from the store and writes them. If there is
/// no space for files, the index is kept in memory.
pub fn open(
    store: &Store,
    limits: &IndexLimits,
    dataset: &DatasetRecord,
    entity: EntityType,
) -> Result<DatasetIndex, StoreError> {
    let folder = store.indexes_dir().join(folder_name(dataset, entity));
    if let Ok(index) = read(&folder, dataset.generation, &limits.memory) {
        return Ok(index);
    }
    if let Ok(index) = build(store, limits, dataset, entity, &folder, &|| false)? {
        return Ok(index);
    }
    // Another process may have written the files first.
    if let Ok(index) = read(&folder, dataset.generation, &limits.memory) {
        return Ok(index);
    }
    let built = IndexBuilder::in_memory().build(store, dataset, entity, &|| false)?;
    built.map_err(|cause| StoreError::Io(folder, cause))
}

/// Writes the files of the current generation unless they exist. Nothing is written if there is no space for the files,
/// or if `is_stopped` becomes true.
pub fn prepare(
    store: &Store,
    limits: &IndexLimits,
    dataset: &DatasetRecord,
    entity: EntityType,
    is_stopped: &dyn Fn() -> bool,
) -> Result<(), StoreError> {
    let folder = store.indexes_dir().join(folder_name(dataset, entity));
    let members = File::open(folder.join(MEMBERS_FILE));
    if !members.is_ok_and(|mut file| read_magic(&mut file).is_ok()) {
        // If the files cannot be written, the first search tries again.
        let _ = build(store, limits, dataset, entity, &folder, is_stopped)?;
    }
    Ok(())
}

fn build(
    store: &Store,
    limits: &IndexLimits,
    dataset: &DatasetRecord,
    entity: EntityType,
    folder: &Path,
    is_stopped: &dyn Fn() -> bool,
) -> Result<io::Result<DatasetIndex>, StoreError> {
    let indexes = store.indexes_dir();
    let prepare = || {
        create_private_dir(&indexes)?;
        let prefix = folder_prefix(dataset, entity);
        // Files of older generations and damaged files of this generation are removed. Files that are open stay
        // readable.
        remove_until(&indexes, &prefix, dataset.generation)?;
        let private = Permissions::from_mode(0o700);
        let new = tempfile::Builder::new().permissions(private).tempdir_in(&indexes)?;
        let builder = IndexBuilder::on_disk(new.path(), limits)?;
        Ok((new, builder))
    };
    let (new, builder) = match prepare() {
        Ok(prepared) => prepared,
        Err(cause) => return Ok(Err(cause)),
    };
    Ok(builder.build(store, dataset, entity, is_stopped)?.and_then(|mut index| {
        write_members(&mut index, &new.path().join(MEMBERS_FILE), &limits.disk)?;
        let mut captions = CheckedWriter::create(&new.path().join(CAPTIONS_FILE), &limits.disk)?;
        index.captions.write(&mut captions)?;
        captions.finish()?;
        let mut names = CheckedWriter::create(&new.path().join(FILE_NAMES_FILE), &limits.disk)?;
        index.file_names.0.write(&mut names)?;
        names.finish()?;
        // Another process may have published its files first. The end of `new` removes what was not renamed.
        fs::rename(new.path(), folder)?;
        Ok(index)
    }))
}

fn write_members(index: &mut DatasetIndex, path: &Path, disk: &DiskQuota) -> io::Result<()> {
    let mut file = CheckedWriter::create(path, disk)?;
    file.write_all(&MAGIC.to_ne_bytes())?;
    index.members.write(&mut file)?;
    index.names.write(&mut file)?;
    for partial in &index.vectors {
        vec![partial.vectors.dimension() as u64].write(&mut file)?;
        partial.members.write(&mut file)?;
    }
    file.finish()
}

fn read(folder: &Path, generation: i64, memory: &VectorMemory) -> io::Result<DatasetIndex> {
    let mut file = BufReader::new(open_checked(&folder.join(MEMBERS_FILE), None)?);
    read_magic(&mut file)?;
    let (members, names) = (MemberColumns::read(&mut file)?, NameTable::read(&mut file)?);
    let mut partial = |name: &str| {
        let dimension = read_column::<Vec<u64>>(&mut file)?.first().copied().unwrap_or_default();
        let dimension = usize::try_from(dimension).map_err(io::Error::other)?;
        let members: Vec<u32> = read_column(&mut file)?;
        let vectors = VectorSource::open(&folder.join(name), dimension, members.len(), memory)?;
        io::Result::Ok(PartialVectors { vectors, members })
    };
    let [descriptors, text_vectors, model] = VECTOR_FILES.map(&mut partial);
    let vectors = [descriptors?, text_vectors?, model?];
    let captions = open_checked(&folder.join(CAPTIONS_FILE), None)?;
    let captions = CaptionIndex::read(&mut BufReader::new(captions))?;
    let file_names = open_checked(&folder.join(FILE_NAMES_FILE), None)?;
    let file_names = FileNames(CaptionIndex::read(&mut BufReader::new(file_names))?);
    Ok(DatasetIndex::new(generation, members, names, captions, file_names, vectors))
}

/// Reads the first bytes. Fails if the files have another version.
fn read_magic(file: &mut impl Read) -> io::Result<()> {
    let mut magic = [0; size_of::<u64>()];
    file.read_exact(&mut magic)?;
    if u64::from_ne_bytes(magic) == MAGIC { Ok(()) } else { Err(ErrorKind::InvalidData.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_newer_generations_and_of_other_datasets_are_kept() {
        let indexes = tempfile::tempdir().unwrap();
        for name in ["a-images-3", "a-images-4", "a-images-10", "a-objects-1", "b-images-1"] {
            fs::create_dir(indexes.path().join(name)).unwrap();
        }
        remove_until(indexes.path(), "a-images", 4).unwrap();
        let entries = fs::read_dir(indexes.path()).unwrap();
        let mut left: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["a-images-10", "a-objects-1", "b-images-1"]);
    }
}
