//! Manages the datasets of a local service: removes, renames and rescans them, and cancels their indexing. Each change
//! is sent once.

use crate::{
    client::{Client, NO_PARAMETERS},
    request::RequestBody,
};
use serde_json::json;
use tessera_model::{
    Dataset, DatasetId, ExportFormat, ExportPreview, ExportSelection, Failure, LocalDataset,
    PatternLists, RescanResult,
};
use tessera_wire::{
    dataset::read_dataset,
    endpoints::{self, Endpoint},
    export::read_preview,
    fields::Fields,
    local_dataset::{PatternsBody, read_local_dataset, read_removed, read_rescan, write_rename},
    selection,
};

impl Client {
    /// Returns what only a local service knows about a dataset.
    ///
    /// # Errors
    /// [`NotFound`](tessera_model::FailureKind::NotFound) if the service is not a local service, too.
    pub async fn local_dataset(&self, id: DatasetId) -> Result<LocalDataset, Failure> {
        let path = endpoints::local_dataset(id);
        let read = |local: Fields<'_>| read_local_dataset(local);
        self.get(Endpoint::LocalDataset, &path, &NO_PARAMETERS, read).await
    }

    /// Removes a dataset from the index. Returns the number of uploaded files, which the service keeps.
    ///
    /// # Errors
    /// [`Conflict`](tessera_model::FailureKind::Conflict) if a task is running on the dataset.
    pub async fn remove_dataset(&self, id: DatasetId) -> Result<u64, Failure> {
        let path = endpoints::remove_dataset(id);
        let request =
            self.request(Endpoint::RemoveDataset, &path, &NO_PARAMETERS, RequestBody::Post);
        self.fetch_as(&request, |removed| read_removed(removed)).await
    }

    /// Renames a dataset. The errors are those of [`Client::remove_dataset`].
    pub async fn rename_dataset(&self, id: DatasetId, name: &str) -> Result<Dataset, Failure> {
        let path = endpoints::rename_dataset(id);
        let body = RequestBody::Json(write_rename(name).to_string().into());
        let request = self.request(Endpoint::RenameDataset, &path, &NO_PARAMETERS, body);
        self.fetch_as(&request, |record| read_dataset(record)).await
    }

    /// Compares the folder of a dataset with its index, and indexes what has changed. `patterns` replace those of the
    /// dataset. The errors are those of [`Client::remove_dataset`].
    pub async fn rescan(
        &self,
        id: DatasetId,
        patterns: Option<&PatternLists>,
    ) -> Result<RescanResult, Failure> {
        let path = endpoints::rescan(id);
        let body = patterns.map_or(RequestBody::Post, |patterns| {
            RequestBody::Json(json!(PatternsBody::from(patterns.clone())).to_string().into())
        });
        let request = self.request(Endpoint::Rescan, &path, &NO_PARAMETERS, body);
        self.fetch_as(&request, |rescan| read_rescan(rescan)).await
    }

    /// Cancels the creation, addition or reindex that is running on a dataset. Returns the dataset, which has the
    /// status ERROR.
    ///
    /// # Errors
    /// [`Conflict`](tessera_model::FailureKind::Conflict) if none is running.
    pub async fn cancel_indexing(&self, id: DatasetId) -> Result<Dataset, Failure> {
        let path = endpoints::cancel_indexing(id);
        let request =
            self.request(Endpoint::CancelIndexing, &path, &NO_PARAMETERS, RequestBody::Post);
        self.fetch_as(&request, |record| read_dataset(record)).await
    }

    /// Says what the format of an export leaves out or changes, in the whole dataset or in a selection. Nothing is
    /// started.
    ///
    /// # Errors
    /// [`NotFound`](tessera_model::FailureKind::NotFound) if the service is not a local service, too. Only a local
    /// service writes formats that the API document does not have.
    pub async fn export_preview(
        &self,
        id: DatasetId,
        format: ExportFormat,
        include_images: bool,
        selection: Option<&ExportSelection>,
    ) -> Result<ExportPreview, Failure> {
        let path = endpoints::export_preview(id);
        let parameters = self.selection_parameters(format, include_images, selection)?;
        let body = selection.map_or(RequestBody::Post, |selection| {
            RequestBody::Json(selection::write(&selection.items).to_string().into())
        });
        let request = self.request(Endpoint::ExportPreview, &path, &parameters, body);
        self.fetch_as(&request, |preview| read_preview(preview)).await
    }
}
