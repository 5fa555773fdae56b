//! Finds out whether a service is a local one, and manages the datasets of a local service: removes, renames and rescans
//! them, cancels their indexing, and lists and changes their tags and ratings. Each change is sent once.

use std::sync::atomic::Ordering;

use crate::{
    client::{Client, NO_PARAMETERS},
    request::RequestBody,
};
use serde_json::json;
use tessera_model::{
    Dataset, DatasetId, DatasetTags, ExportFormat, ExportPreview, ExportSelection, Failure,
    FailureKind, FileOrder, Filter, LocalDataset, PatternLists, RescanResult, Search,
    SelectionItem, TagChange, TagChangeId, TagDefinitionChange, TagEdit, TagTarget,
    text::group_digits,
};
use tessera_wire::{
    dataset::read_dataset,
    endpoints::{self, Endpoint, Parameters, query},
    export::read_preview,
    local_dataset::{PatternsBody, read_local_dataset, read_removed, read_rescan, write_rename},
    selection::{self, MAX_ITEMS},
    tags::{read_tag_change, read_tag_list, write_definition, write_edit, write_undo},
};

/// A part of a request that only a local service understands. Another service would ignore it, and would return
/// something other than what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalAddition {
    /// A filter, by its keyword.
    Filter(&'static str),
    /// The order of a whole result.
    Order(FileOrder),
    /// The maximum score of a search by a picture, as a filter.
    MaxScore,
    /// The export of everything except a selection.
    Rest,
}

impl LocalAddition {
    pub fn in_search(search: &Search) -> Option<Self> {
        Self::in_filters(&search.filters).or(search.order.map(Self::Order))
    }

    pub fn in_filters(filters: &[Filter]) -> Option<Self> {
        filters.iter().find_map(Filter::local_addition).map(Self::Filter)
    }

    pub(super) fn in_export(selection: &ExportSelection) -> Option<Self> {
        let rest = selection.rest_of.is_some().then_some(Self::Rest);
        let in_item = |item: &SelectionItem| match item {
            SelectionItem::Cluster { filters, .. } => Self::in_filters(filters),
            SelectionItem::Media(_) => None,
        };
        rest.or_else(|| selection.items.iter().find_map(in_item))
    }

    fn refusal(self) -> Failure {
        let (subject, remedy) = match self {
            Self::Filter(keyword) => {
                (format!("the filter `{keyword}`"), "Remove the filter, or open the folder")
            }
            Self::Order(order) => (
                format!("sorting a whole result by {}", order.by.as_str()),
                "Sort the loaded rows, or open the folder",
            ),
            Self::MaxScore => (
                "the maximum score of a search by a picture".to_owned(),
                "Remove the maximum score, or open the folder",
            ),
            Self::Rest => (
                "exporting the rest of a dataset or search".to_owned(),
                "Select the rest, and export the selection",
            ),
        };
        let sentence = "is an addition of local services; this service does not know it";
        Failure::local(format!("{subject} {sentence}")).with_remedy(remedy)
    }
}

pub(super) fn selection_parameters(
    format: ExportFormat,
    include_images: bool,
    selection: Option<&ExportSelection>,
) -> Parameters {
    let parameters = endpoints::selection_parameters(format, include_images);
    let rest_of = selection.and_then(|selection| selection.rest_of.as_ref());
    [parameters, endpoints::rest_parameters(rest_of)].concat()
}

impl Client {
    /// Refuses a selection with more items than a local service takes in a request. The API document has no limit.
    pub(super) fn require_few_items(&self, items: &[SelectionItem]) -> Result<(), Failure> {
        if items.len() <= MAX_ITEMS || !self.transport.is_local_service.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (count, limit) = (group_digits(items.len() as u64), group_digits(MAX_ITEMS as u64));
        let sentence = format!(
            "a request has at most {limit} items, which are clusters, and all single media items together; this \
             selection has {count}"
        );
        let remedy = "Select coarser clusters, or select media items with `tessera search ... --flat --all --mark NAME`";
        Err(Failure::new(FailureKind::Invalid, sentence).with_remedy(remedy))
    }

    /// Refuses an addition of local services before it is sent to another service. A service at an address is asked
    /// until it is known to be a local one.
    ///
    /// # Errors
    /// The service is not a local service, or it cannot be asked.
    pub async fn require_local(
        &self,
        dataset: DatasetId,
        addition: Option<LocalAddition>,
    ) -> Result<(), Failure> {
        let is_local = &self.transport.is_local_service;
        let Some(addition) = addition.filter(|_| !is_local.load(Ordering::Relaxed)) else {
            return Ok(());
        };
        match self.local_dataset(dataset).await {
            Ok(_) => Ok(()),
            Err(failure) if failure.is_connection_failure() => Err(failure),
            Err(_) => Err(addition.refusal()),
        }
    }

    /// Returns what only a local service knows about a dataset.
    ///
    /// # Errors
    /// [`NotFound`](tessera_model::FailureKind::NotFound) if the service is not a local service, too.
    pub async fn local_dataset(&self, id: DatasetId) -> Result<LocalDataset, Failure> {
        let path = endpoints::local_dataset(id);
        let local =
            self.get(Endpoint::LocalDataset, &path, &NO_PARAMETERS, read_local_dataset).await?;
        self.transport.is_local_service.store(true, Ordering::Relaxed);
        Ok(local)
    }

    /// Removes a dataset from the index. Returns the number of uploaded files, which the service keeps.
    ///
    /// # Errors
    /// [`Conflict`](tessera_model::FailureKind::Conflict) if a task is running on the dataset.
    pub async fn remove_dataset(&self, id: DatasetId) -> Result<u64, Failure> {
        let path = endpoints::remove_dataset(id);
        self.post(Endpoint::RemoveDataset, &path, &NO_PARAMETERS, RequestBody::Post, read_removed)
            .await
    }

    /// Renames a dataset. The errors are those of [`Client::remove_dataset`].
    pub async fn rename_dataset(&self, id: DatasetId, name: &str) -> Result<Dataset, Failure> {
        let path = endpoints::rename_dataset(id);
        let body = RequestBody::json(&write_rename(name));
        self.post(Endpoint::RenameDataset, &path, &NO_PARAMETERS, body, read_dataset).await
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
            RequestBody::json(&json!(PatternsBody::from(patterns.clone())))
        });
        self.post(Endpoint::Rescan, &path, &NO_PARAMETERS, body, read_rescan).await
    }

    /// Cancels the creation, addition or reindex that is running on a dataset. Returns the dataset, which has the
    /// status ERROR.
    ///
    /// # Errors
    /// [`Conflict`](tessera_model::FailureKind::Conflict) if none is running.
    pub async fn cancel_indexing(&self, id: DatasetId) -> Result<Dataset, Failure> {
        let path = endpoints::cancel_indexing(id);
        self.post(Endpoint::CancelIndexing, &path, &NO_PARAMETERS, RequestBody::Post, read_dataset)
            .await
    }

    /// Says what the format of an export omits or changes, in the whole dataset or in a selection. Nothing is
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
        self.require_few_items(selection.map_or(&[], |selection| &selection.items))?;
        let path = endpoints::export_preview(id);
        let parameters = selection_parameters(format, include_images, selection);
        let body = selection.map_or(RequestBody::Post, |selection| {
            RequestBody::json(&selection::write(&selection.items))
        });
        self.post(Endpoint::ExportPreview, &path, &parameters, body, read_preview).await
    }

    /// Returns the tags of a dataset.
    ///
    /// # Errors
    /// [`NotFound`](tessera_model::FailureKind::NotFound) also if the service is not a local service.
    pub async fn tags(&self, dataset: DatasetId) -> Result<DatasetTags, Failure> {
        let path = endpoints::tags(dataset);
        self.get(Endpoint::Tags, &path, &NO_PARAMETERS, read_tag_list).await
    }

    /// Changes the tags and ratings of media items.
    ///
    /// # Errors
    /// [`NotFound`](tessera_model::FailureKind::NotFound) if one of the media items or files is not in the dataset.
    pub async fn change_tags(
        &self,
        dataset: DatasetId,
        target: &TagTarget,
        edit: &TagEdit,
    ) -> Result<TagChange, Failure> {
        if let TagTarget::Selection(items) = target {
            self.require_few_items(items)?;
        }
        let path = format!("{}/change", endpoints::tags(dataset));
        let mut parameters = NO_PARAMETERS;
        if let TagTarget::Search(search) = target {
            parameters = endpoints::explore_parameters(search);
            parameters.retain(|(name, _)| *name != query::PAGE_NUMBER);
        }
        let body = RequestBody::json(&write_edit(edit, target));
        self.post(Endpoint::ChangeTags, &path, &parameters, body, read_tag_change).await
    }

    /// Creates, recolors, renames or deletes a tag.
    pub async fn define_tag(
        &self,
        dataset: DatasetId,
        name: &str,
        change: &TagDefinitionChange,
    ) -> Result<TagChange, Failure> {
        let path = format!("{}/define", endpoints::tags(dataset));
        let body = RequestBody::json(&write_definition(name, change));
        self.post(Endpoint::DefineTag, &path, &NO_PARAMETERS, body, read_tag_change).await
    }

    /// Undoes a change, or the last one.
    pub async fn undo_tags(
        &self,
        dataset: DatasetId,
        change: Option<TagChangeId>,
    ) -> Result<TagChange, Failure> {
        let path = format!("{}/undo", endpoints::tags(dataset));
        let body = RequestBody::json(&write_undo(change));
        self.post(Endpoint::UndoTags, &path, &NO_PARAMETERS, body, read_tag_change).await
    }
}
