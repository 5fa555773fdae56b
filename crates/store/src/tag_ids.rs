//! The identifiers of tags, by which searches filter. A tag gets an identifier from its name and keeps it when it is
//! renamed, so that saved searches find the renamed tag, unless a sidecar gives a tag with the old or the new name.
//! Indexes know tags by the identifiers of their names.

use std::collections::HashMap;

use uuid::Uuid;

use crate::tags::TagDefinition;
use tessera_model::{DatasetId, TagId};

/// Returns the identifier that a tag gets from its name.
pub fn name_id(dataset: DatasetId, name: &str) -> TagId {
    TagId(Uuid::new_v5(&dataset.0, format!("tag {name}").as_bytes()))
}

/// The identifiers of the tags of a dataset. A tag that only sidecars have is not stored, so its identifier is
/// computed. If a renamed tag has the identifier of a name, another tag with this name gets the identifier that the
/// renamed tag does not use.
#[derive(Debug, Default)]
pub struct TagIds {
    /// The identifiers of the names of stored tags, by the identifiers of the tags.
    name_ids: HashMap<TagId, TagId>,
    /// The identifiers of stored tags, by the identifiers of their names.
    tag_ids: HashMap<TagId, TagId>,
}

impl TagIds {
    pub fn new(dataset: DatasetId, definitions: &[TagDefinition]) -> Self {
        let mut ids = Self::default();
        for tag in definitions {
            ids.insert(dataset, tag.id, &tag.name);
        }
        ids
    }

    pub(crate) fn insert(&mut self, dataset: DatasetId, tag: TagId, name: &str) {
        let name = name_id(dataset, name);
        self.name_ids.insert(tag, name);
        self.tag_ids.insert(name, tag);
    }

    /// Returns the number of stored tags.
    pub(crate) fn count(&self) -> usize {
        self.name_ids.len()
    }

    /// Whether a stored tag has this name.
    pub(crate) fn has_name(&self, dataset: DatasetId, name: &str) -> bool {
        self.tag_ids.contains_key(&name_id(dataset, name))
    }

    /// Returns the identifier of the tag with this name in the dataset.
    pub fn of(&self, dataset: DatasetId, name: &str) -> TagId {
        let mut id = name_id(dataset, name);
        if let Some(stored) = self.tag_ids.get(&id) {
            return *stored;
        }
        while let Some(other) = self.name_ids.get(&id) {
            id = *other;
        }
        id
    }

    /// Returns the identifier of the name of a tag.
    pub fn name_id(&self, tag: TagId) -> TagId {
        if let Some(stored) = self.name_ids.get(&tag) {
            return *stored;
        }
        let mut id = tag;
        while let Some(other) = self.tag_ids.get(&id) {
            id = *other;
        }
        id
    }

    /// Whether a stored tag has this identifier.
    pub fn contains(&self, tag: TagId) -> bool {
        self.name_ids.contains_key(&tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_tag_keeps_its_identifier_and_no_other_tag_gets_it() {
        let dataset = DatasetId(Uuid::from_u128(7));
        let mut stored: Vec<TagDefinition> = Vec::new();
        let mut add = |name: &str, renamed: &str| {
            let id = TagIds::new(dataset, &stored).of(dataset, name);
            assert!(stored.iter().all(|tag| tag.id != id), "{name}");
            stored.push(TagDefinition { id, name: renamed.to_owned(), color: "red".to_owned() });
        };
        add("a", "b");
        add("a", "c");
        add("a", "d");
        let ids = TagIds::new(dataset, &stored);
        assert_eq!(ids.of(dataset, "b"), name_id(dataset, "a"));
        for name in ["a", "b", "c", "d", "e"] {
            assert_eq!(ids.name_id(ids.of(dataset, name)), name_id(dataset, name), "{name}");
            assert_eq!(ids.contains(ids.of(dataset, name)), "bcd".contains(name), "{name}");
        }
    }
}
