//! Exports the vectors of a dataset for other programs, and imports embeddings that were computed elsewhere. Imported
//! embeddings take the place of a model of the dataset. No route of the API leads here, because the files are on this
//! machine.

use std::{
    collections::{HashMap, hash_map::Entry},
    path::{Path, PathBuf},
};

use half::f16;

use super::local_originals::unlistable;
use crate::{Deployment, LocalError, archive::EmbeddingWriter};
use tessera_encoder::{HashedFile, fingerprint, hash_file};
use tessera_media::ingest::{
    FolderScan,
    embeddings::{EmbeddingFile, EmbeddingRow},
    file_names::printable_path,
    sidecar::FileIndex,
};
use tessera_model::{Coverage, DatasetId, EmbeddingExport, EmbeddingImport, EntityType};
use tessera_retrieval::ModelChoice;
use tessera_search::index::DIMENSION;
use tessera_store::{
    QueryError, StoreError, Transaction,
    applied_model::{self, AppliedModel, ModelFile, ModelRecord},
    dataset::{self, DatasetRecord},
    indexing_task::{self, IndexingTaskKind},
    media,
    vectors::{MODEL_VECTORS, model_vector_counts},
};

/// The number of vectors that are stored at a time.
const BATCH_SIZE: usize = 1_000;
/// The number of refused rows that are named.
const MAX_EXAMPLES: usize = 3;

/// Why a file was not written or read. The sentence is for the user.
enum Refusal {
    File(String),
    Store(QueryError),
}

impl From<QueryError> for Refusal {
    fn from(cause: QueryError) -> Self {
        Self::Store(cause)
    }
}

impl From<Refusal> for LocalError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::File(why) => Self::Unusable(why),
            Refusal::Store(cause) => Self::Store(StoreError::from(cause)),
        }
    }
}

impl Deployment {
    /// Writes the vectors of images and frames to a new file: those of the model of the dataset, or imported ones, or
    /// our own descriptors if there are neither.
    ///
    /// # Errors
    /// The file exists or cannot be written, or the dataset does not exist.
    pub fn export_embeddings(
        &self,
        id: DatasetId,
        target: &Path,
    ) -> Result<EmbeddingExport, LocalError> {
        self.require_dataset(id).map_err(unlistable)?;
        let applied = self.store.read(|c| applied_model::find(c, id))?;
        let model = applied.map(|(applied, _)| applied.record.name);
        let of_model = self.store.read(|c| MODEL_VECTORS.dimension(c, id))?;
        let dimension = if model.is_some() { of_model } else { DIMENSION };
        if dimension == 0 {
            let why = "no picture has a vector of the model yet; wait until the dataset is indexed";
            return Err(LocalError::Unusable(why.to_owned()));
        }
        EmbeddingWriter::check_extension(target).map_err(LocalError::Unusable)?;
        let mut writer = EmbeddingWriter::create(target, dimension).map_err(LocalError::Failed)?;
        let mut coverage = Coverage { covered: 0, all: 0 };
        let written = self.store.read(|c| {
            Ok(media::for_each_with_features(c, id, EntityType::Images, None, |features| {
                coverage.all += 1;
                let vector = match &model {
                    Some(_) => features.model_vector,
                    None => Some(features.descriptor),
                };
                let Some(vector) = vector.filter(|vector| vector.len() == dimension) else {
                    return Ok(());
                };
                coverage.covered += 1;
                writer.push(&features.media.file_path(), &vector).map_err(Refusal::File)
            }))
        })?;
        written.map_err(|refusal| match refusal {
            Refusal::File(why) => LocalError::Failed(why),
            store @ Refusal::Store(_) => store.into(),
        })?;
        let names = writer.finish().map_err(LocalError::Failed)?;
        Ok(EmbeddingExport { model, dimension, coverage, names })
    }

    /// Replaces the vectors of a dataset by embeddings from a file, and clusters the dataset again in the background.
    /// `names` lists the names of the rows of an array. A dry run changes nothing.
    ///
    /// # Errors
    /// The file cannot be read, none of its rows is an embedding of a file of the dataset, a task is running on the
    /// dataset, or the deployment gives its datasets a model.
    pub fn import_embeddings(
        &self,
        id: DatasetId,
        file: &Path,
        names: Option<&Path>,
        is_dry_run: bool,
    ) -> Result<EmbeddingImport, LocalError> {
        self.require_no_common_model()?;
        self.require_folder(id).map_err(unlistable)?;
        let file = EmbeddingFile::open(file, names).map_err(LocalError::Unusable)?;
        let applied = applied(&file)?;
        // An error of the store rolls the transaction back, so the outcome of the file is kept beside it.
        let mut rolled_back = None;
        let changed = self.change_at_rest(id, "import embeddings", |tx, record| {
            let imported = replace_vectors(tx, record, file, &applied);
            match imported {
                Ok(import) if !is_dry_run => {
                    indexing_task::begin(tx, id, IndexingTaskKind::Creation, None, false)?;
                    Ok(Ok(import))
                }
                other => {
                    rolled_back = Some(other);
                    Err(QueryError::Stopped)
                }
            }
        });
        if let Some(outcome) = rolled_back {
            return Ok(outcome?);
        }
        let import = changed.map_err(unlistable)?;
        self.tasks.wake();
        Ok(import)
    }

    /// Takes the imported embeddings away from a dataset, and clusters the dataset again in the background. Returns the
    /// name of their file.
    ///
    /// # Errors
    /// The dataset has none, or a task is running on it.
    pub fn remove_embeddings(&self, id: DatasetId) -> Result<String, LocalError> {
        self.require_folder(id).map_err(unlistable)?;
        let removed = self.change_at_rest(id, "remove embeddings", |tx, _| {
            let applied = applied_model::find(tx, id)?.map(|(applied, _)| applied.record);
            let Some(record) = applied.filter(|record| record.is_imported) else {
                return Ok(Ok(None));
            };
            applied_model::replace(tx, id, None)?;
            indexing_task::begin(tx, id, IndexingTaskKind::Creation, None, false)?;
            Ok(Ok(Some(record.name)))
        });
        let removed = removed.map_err(unlistable)?;
        self.tasks.wake();
        let none = || LocalError::Unusable("the dataset has no imported embeddings".to_owned());
        removed.ok_or_else(none)
    }

    /// Fails if a model would take the place of the embeddings at the next start.
    fn require_no_common_model(&self) -> Result<(), LocalError> {
        let why = if self.store.is_on_server() {
            "a store on a server has one model for all datasets, so embeddings cannot be imported; give the model to all \
             processes with --model"
        } else if matches!(self.settings.model, ModelChoice::Own(_)) {
            "the setting `model` gives each dataset that is opened a model, which would replace the embeddings; run \
             `tessera config unset model` first, and unset TESSERA_MODEL"
        } else {
            return Ok(());
        };
        Err(LocalError::Unusable(why.to_owned()))
    }
}

/// Describes a file with embeddings as a model.
fn applied(file: &EmbeddingFile) -> Result<AppliedModel, LocalError> {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let hashed = |path: &Path| match hash_file(path) {
        Ok(sha256) => Ok(HashedFile { path: name(path), sha256 }),
        Err(error) => {
            let path = printable_path(path);
            Err(LocalError::Unusable(format!("cannot read {path}: {error}")))
        }
    };
    let files = file.files().map(hashed).collect::<Result<Vec<_>, _>>()?;
    let record = ModelRecord {
        name: file.files().next().map(name).unwrap_or_default(),
        is_imported: true,
        takes_texts: false,
        files: files
            .iter()
            .map(|file| ModelFile { path: file.path.clone(), sha256: file.sha256.clone() })
            .collect(),
    };
    Ok(AppliedModel { fingerprint: fingerprint(&files), record })
}

/// Replaces the vectors of a dataset, and takes its model away.
fn replace_vectors(
    tx: &Transaction,
    record: DatasetRecord,
    file: EmbeddingFile,
    applied: &AppliedModel,
) -> Result<EmbeddingImport, Refusal> {
    let id = record.id;
    dataset::upsert(tx, &DatasetRecord { model: None, ..record })?;
    applied_model::replace(tx, id, Some(applied))?;
    let mut paths = Vec::new();
    media::for_each_by_path(tx, id, EntityType::Images, None, |media, _| {
        paths.push((PathBuf::from(media.file_path()), media.row));
    })?;
    let media = FolderScan::of_paths(paths.iter().map(|(path, _)| path.clone()));
    let mut matcher = RowMatcher::new(FileIndex::of_media(&media), &paths);
    let mut stored = Ok(());
    let read = file.for_each(|row| {
        matcher.add(row);
        if matcher.batch.len() >= BATCH_SIZE {
            stored = MODEL_VECTORS.upsert_all(tx, &matcher.batch);
            matcher.batch.clear();
        }
        stored.is_ok()
    });
    stored?;
    read.map_err(Refusal::File)?;
    MODEL_VECTORS.upsert_all(tx, &matcher.batch)?;
    let (covered, all) = model_vector_counts(tx, id)?;
    let RowMatcher { dimension, refused, examples, .. } = matcher;
    if covered == 0 {
        let why = examples.first().map(|example| format!(", for example {example}"));
        let why =
            format!("no row is an embedding of a file of the dataset{}", why.unwrap_or_default());
        return Err(Refusal::File(why));
    }
    let (name, coverage) = (applied.record.name.clone(), Coverage { covered, all });
    Ok(EmbeddingImport { name, dimension, coverage, refused, examples })
}

/// Assigns rows to media. A row that does not fit is omitted.
struct RowMatcher<'a> {
    names: FileIndex<'a>,
    media: HashMap<&'a Path, MediaOfPath>,
    /// The numbers of the rows that media have got.
    assigned: HashMap<i64, u64>,
    batch: Vec<(i64, Vec<f16>)>,
    dimension: usize,
    refused: u64,
    examples: Vec<String>,
}

#[derive(Clone, Copy)]
enum MediaOfPath {
    One(i64),
    /// Files of the same path, for example in the folder and among the uploads.
    Several,
}

impl<'a> RowMatcher<'a> {
    fn new(names: FileIndex<'a>, paths: &'a [(PathBuf, i64)]) -> Self {
        let mut media = HashMap::new();
        for (path, row) in paths {
            let known = media.entry(path.as_path());
            known
                .and_modify(|known| *known = MediaOfPath::Several)
                .or_insert(MediaOfPath::One(*row));
        }
        Self {
            names,
            media,
            assigned: HashMap::new(),
            batch: Vec::new(),
            dimension: 0,
            refused: 0,
            examples: Vec::new(),
        }
    }

    fn add(&mut self, row: EmbeddingRow<'_>) {
        let EmbeddingRow { number, name, vector } = row;
        let matched = vector.and_then(|vector| Ok((self.assign(number, name)?, vector)));
        match matched {
            Ok((media, vector)) => {
                self.dimension = vector.len();
                self.batch.push((media, vector));
            }
            Err(why) => {
                self.refused += 1;
                if self.examples.len() < MAX_EXAMPLES {
                    self.examples.push(format!("row {number} ({name}): {why}"));
                }
            }
        }
    }

    /// Returns the row of the media item that a name fits.
    fn assign(&mut self, number: u64, name: &str) -> Result<i64, String> {
        let path = self.names.resolve(name, Path::new(""))?;
        let Some(MediaOfPath::One(media)) = self.media.get(path).copied() else {
            return Err("its file_name matches several files of the dataset".to_owned());
        };
        match self.assigned.entry(media) {
            Entry::Vacant(free) => {
                free.insert(number);
                Ok(media)
            }
            Entry::Occupied(first) => {
                Err(format!("its file has the embedding of row {} already", first.get()))
            }
        }
    }
}
