//! Contains stubs of the local deployment for builds without the feature `local`.
#![expect(clippy::unused_async, reason = "the same functions as the real local deployment")]

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::cli::{
    CliError, CliResult, Context, FolderOpening, GlobalOptions, Output, ServeOptions, WorkOptions,
    exit::CheckResult,
    service_options::{ModelCommand, SharedStorage, StoreCommand},
};
use crate::usecase::{file_actions::OriginalFinder, models::ModelProvider};
use tessera_client::{Client, OriginalLookup};
use tessera_model::{
    Cover, DatasetId, EmbeddingExport, EmbeddingImport, ExportTaskId, MediaId, PatternLists,
    SafeText, SelectionItem, SkippedFile, TagTarget,
};

/// The settings of local deployments, which are empty because this build has none.
#[derive(Clone, Default)]
pub struct LocalSettings {}

fn unavailable() -> CliError {
    CliError::usage("this build has no local deployment; install tessera with the feature `local`")
}

pub enum LocalService {}

impl LocalService {
    pub async fn open_folders(
        _: &[PathBuf],
        _: FolderOpening,
        _: Option<PathBuf>,
        _: LocalSettings,
    ) -> CliResult<Self> {
        Err(unavailable())
    }

    pub fn first_dataset(&self) -> Option<DatasetId> {
        match *self {}
    }

    pub fn client(&self) -> CliResult<Client> {
        match *self {}
    }

    pub fn media_count(&self) -> Option<u64> {
        match *self {}
    }

    pub async fn cover(&self) -> Cover {
        match *self {}
    }

    pub fn report_skipped(&self) {
        match *self {}
    }

    pub fn skipped_warning(&self) -> impl Future<Output = Option<SafeText>> + Send + use<> {
        std::future::ready(None)
    }

    pub async fn wait_until_indexed(&self) -> CliResult<()> {
        match *self {}
    }

    pub fn model_provider(&self) -> Arc<dyn ModelProvider> {
        match *self {}
    }

    pub fn dataset_folders(&self) -> CliResult<BTreeMap<DatasetId, PathBuf>> {
        match *self {}
    }

    pub fn skipped_files(&self, _: DatasetId) -> CliResult<Vec<SkippedFile>> {
        match *self {}
    }

    pub fn archive_file(&self, _: ExportTaskId) -> Option<PathBuf> {
        match *self {}
    }

    pub fn original_paths(&self) -> OriginalLookup {
        match *self {}
    }

    pub fn originals(&self) -> OriginalLookup {
        match *self {}
    }

    pub async fn count_tagged(&self, _: DatasetId, _: TagTarget) -> CliResult<usize> {
        match *self {}
    }

    pub async fn export_embeddings(&self, _: DatasetId, _: PathBuf) -> CliResult<EmbeddingExport> {
        match *self {}
    }

    pub async fn import_embeddings(
        &self,
        _: DatasetId,
        _: (PathBuf, Option<PathBuf>),
        _: bool,
    ) -> CliResult<EmbeddingImport> {
        match *self {}
    }

    pub async fn remove_embeddings(&self, _: DatasetId) -> CliResult<String> {
        match *self {}
    }

    pub async fn diverse_media(
        &self,
        _: DatasetId,
        _: Option<Vec<SelectionItem>>,
        _: usize,
    ) -> CliResult<Vec<(MediaId, PathBuf)>> {
        match *self {}
    }

    pub fn original_finder(&self) -> Arc<dyn OriginalFinder> {
        match *self {}
    }

    pub async fn stop(self) -> CliResult<()> {
        match self {}
    }
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

pub fn model_folder(given: &Path) -> PathBuf {
    given.to_owned()
}

pub async fn run_model(_: &Context, _: &ModelCommand) -> CliResult {
    Err(unavailable())
}

pub fn run_store(_: &Output, _: &StoreCommand) -> CliResult {
    Err(unavailable())
}

pub fn check_requirements(_: &Path) -> Vec<CheckResult> {
    Vec::new()
}

pub async fn check_store(_: &SharedStorage) -> Vec<CheckResult> {
    Vec::new()
}

pub async fn start_demo(_: u32, _: Option<PathBuf>) -> CliResult<LocalService> {
    Err(unavailable())
}

pub async fn run_text_tour(local: &LocalService) -> CliResult<()> {
    match *local {}
}
