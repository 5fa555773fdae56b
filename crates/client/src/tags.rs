//! Lists and changes the tags and ratings of a local service. Each change is sent once.

use crate::{
    client::{Client, NO_PARAMETERS},
    request::RequestBody,
};
use tessera_model::{
    DatasetId, DatasetTags, Failure, TagChange, TagChangeId, TagDefinition, TagEdit, TagTarget,
};
use tessera_wire::{
    endpoints::{self, Endpoint, query},
    tags::{read_tag_change, read_tag_list, write_definition, write_edit, write_undo},
};

impl Client {
    /// Returns the tags of a dataset.
    ///
    /// # Errors
    /// [`NotFound`](tessera_model::FailureKind::NotFound) also if the service is not a local service.
    pub async fn tags(&self, dataset: DatasetId) -> Result<DatasetTags, Failure> {
        let path = endpoints::tags(dataset);
        self.get(Endpoint::Tags, &path, &NO_PARAMETERS, |list| read_tag_list(list)).await
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
        let body = RequestBody::Json(write_edit(edit, target).to_string().into());
        let request = self.request(Endpoint::ChangeTags, &path, &parameters, body);
        self.fetch_as(&request, |change| read_tag_change(change)).await
    }

    /// Creates, recolors, renames or deletes a tag.
    pub async fn define_tag(
        &self,
        dataset: DatasetId,
        name: &str,
        change: &TagDefinition,
    ) -> Result<TagChange, Failure> {
        let path = format!("{}/define", endpoints::tags(dataset));
        let body = RequestBody::Json(write_definition(name, change).to_string().into());
        let request = self.request(Endpoint::DefineTag, &path, &NO_PARAMETERS, body);
        self.fetch_as(&request, |change| read_tag_change(change)).await
    }

    /// Undoes a change, or the last one.
    pub async fn undo_tags(
        &self,
        dataset: DatasetId,
        change: Option<TagChangeId>,
    ) -> Result<TagChange, Failure> {
        let path = format!("{}/undo", endpoints::tags(dataset));
        let body = RequestBody::Json(write_undo(change).to_string().into());
        let request = self.request(Endpoint::UndoTags, &path, &NO_PARAMETERS, body);
        self.fetch_as(&request, |change| read_tag_change(change)).await
    }
}
