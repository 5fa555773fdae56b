//! Selection files, at a path of the user or named in the state folder. The format is `tessera.selection/1`:
//! the body of a selective export, with its dataset and, in fields that start with `_`, details for display.
//! Those fields are optional, so that a file can be written by hand.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::state::{
    StateFolder,
    searches_json::{read_entity, read_granularity},
    state_folder::file_failure,
};
use tessera_model::{
    ClusterId, DatasetId, EntityType, EntryContent, EntryId, Failure, MediaId, SafeText,
    SelectedCluster, Selection, SelectionEntry, SelectionItem,
};
use tessera_wire::selection;

const SELECTIONS_DIR: &str = "selections";

/// Saves a selection to a new file; never overwrites.
pub fn save_selection(
    path: PathBuf,
    dataset: DatasetId,
    selection: &Selection,
) -> Result<PathBuf, Failure> {
    let text = format!("{:#}\n", write_selection(dataset, selection));
    match tessera_files::write_new_file(&path, &text) {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let sentence = format!("{} already exists", path.display());
            Err(Failure::local(sentence).with_remedy("Choose another name"))
        }
        Err(error) => {
            let sentence = format!("{} cannot be written: {error}", path.display());
            Err(Failure::local(sentence).with_remedy("Choose another folder"))
        }
    }
}

pub fn open_selection(path: &Path, dataset: DatasetId) -> Result<Selection, Failure> {
    let source = fs::read_to_string(path).map_err(|error| error.to_string());
    source
        .and_then(|source| read_selection(&source, dataset))
        .map_err(|reason| Failure::local(format!("{} cannot be opened: {reason}", path.display())))
}

pub fn read_selection(source: &str, dataset: DatasetId) -> Result<Selection, String> {
    let document = serde_json::from_str(source).map_err(|error| error.to_string())?;
    parse_selection(dataset, &document)
}

impl StateFolder {
    /// `None` for an unknown name.
    pub fn load_named_selection(
        &self,
        name: &str,
        dataset: DatasetId,
    ) -> Result<Option<Selection>, Failure> {
        let path = self.named_selection_path(name)?;
        path.exists().then(|| open_selection(&path, dataset)).transpose()
    }

    /// The selection and its dataset, if the file names one. `None` for an unknown name.
    pub fn load_named_selection_of_any_dataset(
        &self,
        name: &str,
    ) -> Result<Option<(Option<DatasetId>, Selection)>, Failure> {
        let path = self.named_selection_path(name)?;
        let source = tessera_files::if_exists(fs::read_to_string(&path))
            .map_err(file_failure(&path, "read"))?;
        let read = |source: String| -> Result<_, String> {
            let document = serde_json::from_str(&source).map_err(|error| error.to_string())?;
            let dataset = dataset_of(&document)?;
            let selection = parse_selection(dataset.unwrap_or(DatasetId(Uuid::nil())), &document)?;
            Ok((dataset, selection))
        };
        source.map(read).transpose().map_err(file_failure(&path, "parsed"))
    }

    pub fn save_named_selection(
        &self,
        name: &str,
        dataset: DatasetId,
        selection: &Selection,
    ) -> Result<PathBuf, Failure> {
        let path = self.named_selection_path(name)?;
        let text = format!("{:#}\n", write_selection(dataset, selection));
        tessera_files::write_user_file(&path, &text).map_err(file_failure(&path, "written"))?;
        Ok(path)
    }

    /// Sorted.
    pub fn selection_names(&self) -> Result<Vec<String>, Failure> {
        let Some(folder) = self.dir.as_ref().map(|folder| folder.join(SELECTIONS_DIR)) else {
            return Ok(Vec::new());
        };
        let entries = tessera_files::if_exists(fs::read_dir(&folder))
            .map_err(file_failure(&folder, "read"))?;
        let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        let mut names: Vec<String> = paths
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        Ok(names)
    }

    /// Returns `false` if there was none.
    pub fn delete_named_selection(&self, name: &str) -> Result<bool, Failure> {
        let path = self.named_selection_path(name)?;
        let removed = tessera_files::if_exists(fs::remove_file(&path))
            .map_err(file_failure(&path, "removed"))?;
        Ok(removed.is_some())
    }

    fn named_selection_path(&self, name: &str) -> Result<PathBuf, Failure> {
        let error =
            |reason: &str| Failure::local(format!("`{name}` cannot name a selection: {reason}"));
        let plain = |c: char| c.is_alphanumeric() || "-_ ".contains(c);
        if name.trim().is_empty() || name.len() > 100 || !name.chars().all(plain) {
            return Err(error("use up to 100 letters, digits, spaces, - and _"));
        }
        let folder = self.dir.as_ref().ok_or_else(|| error("this system has no state folder"))?;
        Ok(folder.join(SELECTIONS_DIR).join(format!("{name}.json")))
    }
}

/// Without the schema and the fields that start with `_`, the body of a selective export.
pub fn write_selection(dataset: DatasetId, selection: &Selection) -> Value {
    let totals = selection.totals();
    json!({
        "schema": "tessera.selection/1",
        "_dataset_id": dataset,
        "media_selection": selection::write(&selection.items())["media_selection"],
        "_counts": {
            "media": totals.media,
            "clusters": totals.clusters,
            "excluded": totals.excluded,
            "estimated_total": totals.export_rows(),
        },
        "_marks": selection.ordered_entries().into_iter().map(entry_details).collect::<Vec<_>>(),
    })
}

/// Details of an entry that are not sent.
fn entry_details(entry: &SelectionEntry) -> Value {
    let mut detail = json!({
        "name": entry.name.as_str(),
        "entity_type": entry.entity.as_str(),
        "granularity": entry.granularity.level(),
    });
    match &entry.content {
        EntryContent::MediaItem(id, cluster) => {
            detail["media_id"] = json!(id);
            detail["cluster"] = json!(cluster);
        }
        EntryContent::Cluster(cluster) => {
            detail["cluster_id"] = json!(cluster.id);
            detail["members"] = json!(cluster.member_count);
            detail["excluded"] = json!(cluster.excluded.len());
            detail["at_least"] = json!(cluster.count_is_minimum);
            detail["seen"] = json!(cluster.previewed);
            detail["stale"] = json!(cluster.stale);
        }
    }
    detail
}

pub(super) fn parse_selection(dataset: DatasetId, document: &Value) -> Result<Selection, String> {
    if let Some(other) = dataset_of(document)?.filter(|other| *other != dataset) {
        return Err(format!("it belongs to dataset {other}"));
    }
    let items = document.get("media_selection").or_else(|| document.get("items"));
    if items.and_then(Value::as_array).is_some_and(Vec::is_empty) {
        return Ok(Selection::default());
    }
    let details = EntryDetails::parse_selection(document);
    let body = json!({ "media_selection": items }).to_string();
    let items = selection::read(body.as_bytes()).map_err(|problem| problem.to_string())?;
    let mut entries: Vec<SelectionEntry> =
        items.into_iter().flat_map(|item| details.entries(item)).collect();
    entries.sort_by_key(|entry| details.order(entry.id()));
    Ok(entries.into_iter().collect())
}

pub(super) fn dataset_of(document: &Value) -> Result<Option<DatasetId>, String> {
    let value = document.get("_dataset_id").or_else(|| document.get("dataset_id"));
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    let id = value.as_str().and_then(|value| value.parse().ok());
    id.map(Some).ok_or_else(|| format!("{value} is not a dataset ID"))
}

struct EntryDetails<'a>(BTreeMap<EntryId, (usize, &'a Value)>);

impl<'a> EntryDetails<'a> {
    fn parse_selection(document: &'a Value) -> Self {
        let details = document["_marks"].as_array().into_iter().flatten().enumerate();
        let named =
            details.filter_map(|(order, detail)| Some((entry_id(detail)?, (order, detail))));
        Self(named.collect())
    }

    fn of(&self, id: EntryId) -> &Value {
        self.0.get(&id).map_or(&Value::Null, |(_, detail)| detail)
    }

    /// Entries without details come last.
    fn order(&self, id: EntryId) -> usize {
        self.0.get(&id).map_or(usize::MAX, |(order, _)| *order)
    }

    fn entries(&self, item: SelectionItem) -> Vec<SelectionEntry> {
        match item {
            SelectionItem::Media(media) => {
                media.into_iter().map(|id| self.media_item(id)).collect()
            }
            SelectionItem::Cluster { cluster, entity, filters, exclude } => {
                let detail = self.of(EntryId::Cluster(cluster));
                let previewed = detail["seen"].as_array().into_iter().flatten();
                let content = EntryContent::Cluster(SelectedCluster {
                    id: cluster,
                    filters,
                    member_count: detail["members"].as_u64(),
                    count_is_minimum: detail["at_least"] == true,
                    previewed: previewed.filter_map(|id| id.as_str()?.parse().ok()).collect(),
                    excluded: exclude.into_iter().collect(),
                    stale: detail["stale"] == true,
                });
                vec![selection_entry(detail, &cluster.short(), entity, content)]
            }
        }
    }

    fn media_item(&self, id: MediaId) -> SelectionEntry {
        let detail = self.of(EntryId::MediaItem(id));
        let entity = read_entity(&detail["entity_type"]).unwrap_or_default();
        let cluster = detail["cluster"].as_str().and_then(|id| id.parse().ok());
        selection_entry(detail, &id.short(), entity, EntryContent::MediaItem(id, cluster))
    }
}

fn selection_entry(
    detail: &Value,
    short: &str,
    entity: EntityType,
    content: EntryContent,
) -> SelectionEntry {
    SelectionEntry {
        name: SafeText::file_name(detail["name"].as_str().unwrap_or(short)),
        entity,
        granularity: read_granularity(&detail["granularity"]).unwrap_or_default(),
        content,
    }
}

fn entry_id(detail: &Value) -> Option<EntryId> {
    let id = |field: &str| detail[field].as_str();
    let cluster = || id("cluster_id")?.parse::<ClusterId>().ok().map(EntryId::Cluster);
    let media_item = || id("media_id")?.parse::<MediaId>().ok().map(EntryId::MediaItem);
    cluster().or_else(media_item)
}
