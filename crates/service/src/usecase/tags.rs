//! Tags and ratings: lists the tags of a dataset, changes those of media items, and undoes changes.

use bytes::Bytes;

use super::{
    ExportScope, SearchParams, ServiceError,
    export::require_none_missing,
    local_originals::unlistable,
    search::{require_searchable, until_current},
};
use crate::{Deployment, LocalError};
use tessera_model::{
    DatasetId, EntityType, Operation, SafeText, TagChangeId, TagDefinitionChange, TagEdit,
};
use tessera_store::{
    QueryError, Transaction, captions,
    dataset::DatasetRecord,
    media, source,
    tag_ids::TagIds,
    tags::{self, AppliedChange},
};
use tessera_wire::tags::{DatasetTagBody, TagChangeBody, TagListBody};

/// The media items whose tags are changed.
pub(crate) enum TagTarget {
    Search(SearchParams),
    /// What a body selects.
    Selection(Bytes),
    /// Files by their paths, which are absolute or relative to the folder of the dataset.
    Files(Vec<String>),
}

impl Deployment {
    pub(crate) fn tag_list(&self, id: DatasetId) -> Result<TagListBody, ServiceError> {
        self.require_dataset(id)?;
        let (definitions, counts, last_change) = self.store.read(|c| {
            let mut counts = captions::tag_counts(c, id, EntityType::Images)?;
            for (name, count) in captions::tag_counts(c, id, EntityType::Objects)? {
                match counts.iter_mut().find(|(other, _)| *other == name) {
                    Some((_, all)) => *all += count,
                    None => counts.push((name, count)),
                }
            }
            Ok((tags::definitions(c, id)?, counts, tags::last_change(c, id)?))
        })?;
        let count_of = |name: &str| counts.iter().find(|(other, _)| other == name);
        let is_defined = |name: &str| definitions.iter().any(|tag| tag.name == name);
        let defined = definitions.iter().map(|tag| {
            let count = count_of(&tag.name).map_or(0, |(_, count)| *count);
            (&tag.name, Some(tag.color.clone()), count)
        });
        let others = counts.iter().filter(|(name, _)| !is_defined(name));
        let others = others.map(|(name, count)| (name, None, *count));
        let ids = TagIds::new(id, &definitions);
        let tags = defined.chain(others).map(|(name, color, count)| DatasetTagBody {
            id: ids.of(id, name).0,
            name: name.clone(),
            color,
            count,
        });
        let (tags, file_problems) = (tags.collect(), self.tag_writer.problems(id));
        Ok(TagListBody { tags, last_change, file_problems })
    }

    /// Changes the tags and ratings of media items.
    pub(crate) fn change_tags(
        &self,
        id: DatasetId,
        target: &TagTarget,
        edit: &TagEdit,
    ) -> Result<TagChangeBody, ServiceError> {
        let rows = until_current(|| self.tagged_rows(id, target))?;
        let description = describe(edit);
        self.write_tags(id, |tx| match tags::missing_tag(tx, id, edit)? {
            None => tags::apply(tx, id, &rows, edit, &description).map(Ok),
            Some(name) => Ok(Err(ServiceError::Invalid(format!(
                "The dataset has no tag {name:?}. It may have been renamed or deleted."
            )))),
        })
    }

    /// Creates, recolors, renames or deletes a tag.
    pub(crate) fn define_tag(
        &self,
        id: DatasetId,
        name: &str,
        edit: &TagDefinitionChange,
    ) -> Result<TagChangeBody, ServiceError> {
        let unknown = || Err(ServiceError::NotFound("Tag not found".to_owned()));
        self.write_tags(id, |tx| match edit {
            TagDefinitionChange::Create(color) => tags::define(tx, id, name, *color).map(Ok),
            TagDefinitionChange::Rename(to) if to == name => Ok(Ok(AppliedChange::default())),
            TagDefinitionChange::Rename(to) => {
                tags::rename(tx, id, name, to).map(|made| made.map_or_else(unknown, Ok))
            }
            TagDefinitionChange::Delete => {
                tags::delete(tx, id, name).map(|made| made.map_or_else(unknown, Ok))
            }
        })
    }

    /// Undoes a change, or the last one.
    pub(crate) fn undo_tags(
        &self,
        id: DatasetId,
        change: Option<TagChangeId>,
    ) -> Result<TagChangeBody, ServiceError> {
        let nothing = || Err(ServiceError::NotFound("There is no change to undo".to_owned()));
        self.write_tags(id, |tx| {
            tags::undo(tx, id, change).map(|undone| undone.map_or_else(nothing, Ok))
        })
    }

    fn write_tags(
        &self,
        id: DatasetId,
        change: impl FnOnce(&Transaction) -> Result<Result<AppliedChange, ServiceError>, QueryError>,
    ) -> Result<TagChangeBody, ServiceError> {
        let (record, AppliedChange { id, changed, kept, undone }) = self
            .write_dataset(id, |tx, record, _| Ok(change(tx)?.map(|applied| (record, applied))))?;
        let file_problems = self.tag_writer.note_change(&record);
        Ok(TagChangeBody { change_id: id.map(|id| id.0), changed, kept, undone, file_problems })
    }

    /// Returns the rows of the media items whose tags are changed.
    fn tagged_rows(&self, id: DatasetId, target: &TagTarget) -> Result<Vec<i64>, ServiceError> {
        let record = self.require_dataset(id)?;
        let scope = match target {
            TagTarget::Search(params) if params.is_browse() => {
                let entity = params.entity.unwrap_or_default();
                return Ok(self.store.read(|c| media::rows(c, id, entity))?);
            }
            TagTarget::Search(params) => {
                require_searchable(&record, Operation::TextSearch)?;
                ExportScope::Search(params.clone())
            }
            TagTarget::Selection(body) => ExportScope::Selection(body.clone()),
            TagTarget::Files(files) => return self.file_rows(&record, files),
        };
        let selected = self.selected_media(&record, &scope)?.unwrap_or_default();
        Ok(selected.into_keys().collect())
    }
}

impl Deployment {
    /// Counts the media items whose tags a change would concern, and changes nothing.
    ///
    /// # Errors
    /// The dataset, a media item or a file does not exist.
    pub fn count_tagged(
        &self,
        id: DatasetId,
        target: &tessera_model::TagTarget,
    ) -> Result<usize, LocalError> {
        let rows = match target {
            tessera_model::TagTarget::Files(files) => {
                self.require_dataset(id).and_then(|record| self.file_rows(&record, files))
            }
            tessera_model::TagTarget::Selection(items) => self
                .rows_of_items(id, items)
                .and_then(|(rows, missing)| require_none_missing(&missing).map(|()| rows)),
            tessera_model::TagTarget::Search(search) => {
                let target = TagTarget::Search(SearchParams::from(&**search));
                until_current(|| self.tagged_rows(id, &target))
            }
        };
        rows.map(|rows| rows.len()).map_err(unlistable)
    }

    /// Returns the rows of the images and frames in files.
    fn file_rows(
        &self,
        record: &DatasetRecord,
        files: &[String],
    ) -> Result<Vec<i64>, ServiceError> {
        let unknown = |file: &str| {
            let file = SafeText::file_name(file);
            ServiceError::NotFound(format!("The file {file} is not a media item of the dataset"))
        };
        let sources = self.store.read(|c| source::of_dataset(c, record.id))?;
        let mut rows = Vec::with_capacity(files.len());
        self.store.read(|c| {
            for file in files {
                let path = record.folder.join(file);
                let mut found = Vec::new();
                for source in &sources {
                    if let Ok(relative) = path.strip_prefix(&source.folder) {
                        found.extend(media::rows_of_file(c, source.row, relative)?);
                    }
                }
                if found.is_empty() {
                    return Ok(Err(unknown(file)));
                }
                rows.append(&mut found);
            }
            Ok(Ok(()))
        })??;
        rows.sort_unstable();
        rows.dedup();
        Ok(rows)
    }
}

fn describe(edit: &TagEdit) -> String {
    let words = edit.add.iter().map(|name| format!("add {name}"));
    let words = words.chain(edit.remove.iter().map(|name| format!("remove {name}")));
    let words = words.chain(edit.rating.map(|rating| format!("rate {rating}")));
    words.collect::<Vec<_>>().join(", ")
}
