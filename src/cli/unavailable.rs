//! Contains stubs of the local deployment for builds without the feature `local`.
#![expect(clippy::unused_async, reason = "the same functions as the real local deployment")]

use std::{collections::BTreeMap, sync::Arc};

use crate::cli::prelude::*;
use crate::cli::{
    FolderOpening, GlobalOptions, ServeOptions, WorkOptions,
    doctor_result::DoctorResult,
    service_options::{ModelCommand, SharedStorage, StoreCommand},
};
use crate::usecase::{file_actions::OriginalFinder, models::ModelProvider};
use tessera_client::{Client, OriginalLookup};
use tessera_model::{
    Cover, EmbeddingExport, EmbeddingImport, ExportTaskId, MediaId, PatternLists, SelectionItem,
    SkippedFile, TagTarget,
};

/// The settings of local deployments, which are empty because this build has none.
#[derive(Clone, Default)]
pub struct LocalSettings {}

fn unavailable() -> CliError {
    CliError::usage("this build has no local deployment; install tessera with the feature `local`")
}

pub enum LocalService {}

pub enum Deployment {}

impl LocalService {
    pub async fn open_folders(
        _: &[PathBuf],
        _: FolderOpening,
        _: Option<PathBuf>,
        _: LocalSettings,
    ) -> CliResult<Self> {
        Err(unavailable())
    }

    pub fn skipped_warning(&self) -> impl Future<Output = Option<SafeText>> + Send + use<> {
        std::future::ready(None)
    }

    pub async fn cover(&self) -> Cover {
        match *self {}
    }

    pub async fn wait_until_indexed(&self) -> CliResult<()> {
        match *self {}
    }

    pub async fn blocking<T>(&self, _: impl FnOnce(&Deployment) -> CliResult<T>) -> CliResult<T> {
        match *self {}
    }

    pub async fn stop(self) -> CliResult<()> {
        match self {}
    }
}

/// Defines methods of a service that cannot exist.
macro_rules! methods {
    ($type:ident: $($name:ident($($argument:ty),*) -> $result:ty;)*) => {
        impl $type {
            $(pub fn $name(&self, $(_: $argument),*) -> $result { match *self {} })*
        }
    };
}

methods! {
    LocalService:
    first_dataset() -> Option<DatasetId>;
    client() -> CliResult<Client>;
    media_count() -> Option<u64>;
    report_skipped() -> ();
    model_provider() -> Arc<dyn ModelProvider>;
    dataset_folders() -> CliResult<BTreeMap<DatasetId, PathBuf>>;
    skipped_files(DatasetId) -> CliResult<Vec<SkippedFile>>;
    archive_file(ExportTaskId) -> Option<PathBuf>;
    original_paths() -> OriginalLookup;
    originals() -> OriginalLookup;
    original_finder() -> Arc<dyn OriginalFinder>;
}

methods! {
    Deployment:
    count_tagged(DatasetId, &TagTarget) -> CliResult<usize>;
    export_embeddings(DatasetId, &Path) -> CliResult<EmbeddingExport>;
    import_embeddings(DatasetId, &Path, Option<&Path>, bool) -> CliResult<EmbeddingImport>;
    remove_embeddings(DatasetId) -> CliResult<String>;
    diverse_media(DatasetId, Option<&[SelectionItem]>, usize) -> CliResult<Vec<(MediaId, PathBuf)>>;
}

pub fn local_settings(_: Option<&Path>, _: Option<PatternLists>) -> CliResult<LocalSettings> {
    Err(unavailable())
}

pub async fn check_storage_folder(_: &Path) -> CliResult<()> {
    Err(unavailable())
}

pub async fn serve(_: &GlobalOptions, _: ServeOptions) -> CliResult<i32> {
    Err(unavailable())
}

pub async fn work(_: &GlobalOptions, _: WorkOptions) -> CliResult<i32> {
    Err(unavailable())
}

pub fn model_folder(path: &Path) -> PathBuf {
    path.to_owned()
}

pub async fn run_model(_: &Context, _: &ModelCommand) -> CliResult {
    Err(unavailable())
}

pub fn run_store(_: &Context, _: &StoreCommand) -> CliResult {
    Err(unavailable())
}

pub fn check_requirements(_: Option<&Path>, _: Option<&Path>) -> Vec<DoctorResult> {
    Vec::new()
}

pub async fn check_store(_: &SharedStorage) -> Vec<DoctorResult> {
    Vec::new()
}

pub fn sqlite_version() -> Option<&'static str> {
    None
}

pub fn full_text_error(_: &str) -> Option<String> {
    None
}

pub async fn start_demo(_: u32, _: Option<PathBuf>) -> CliResult<LocalService> {
    Err(unavailable())
}

pub async fn run_text_tour(local: &LocalService) -> CliResult<()> {
    match *local {}
}
