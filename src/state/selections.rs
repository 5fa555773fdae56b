//! Reads and writes selection files, at a path that the user gives or under a name in the state folder. The format is
//! `tessera.selection/1`: the body of a selective export with its dataset. Fields that start with `_` contain details
//! for display, and are optional, so that a file can be written by hand.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tessera_model::{
    ClusterId, ClusterPart, DatasetId, EntityType, EntryContent, Failure, Granularity, KeptTags,
    MediaId, SafeText, SelectedCluster, Selection, SelectionEntry, SelectionItem,
};
use tessera_wire::{selection, text_encoding::read_text};

const SCHEMA: &str = "tessera.selection/1";

/// Saves a selection to a new file. An existing file is never overwritten.
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

pub fn load_selection(path: &Path, dataset: DatasetId) -> Result<Selection, Failure> {
    let source = read_text(path).map_err(|error| error.to_string());
    source
        .and_then(|source| read_selection(&source, dataset))
        .map_err(|reason| Failure::local(format!("{} cannot be opened: {reason}", path.display())))
}

pub fn read_selection(source: &str, dataset: DatasetId) -> Result<Selection, String> {
    let document = serde_json::from_str(source).map_err(|error| error.to_string())?;
    parse_selection(dataset, &document)
}

/// The details of an entry that are not sent.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct EntryDetails {
    name: Option<SafeText>,
    entity_type: EntityType,
    granularity: Granularity,
    /// The media item. `None` if the entry is a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    media_id: Option<MediaId>,
    /// The cluster, or the cluster in which the media item was seen.
    cluster_id: Option<ClusterId>,
    #[serde(flatten)]
    cluster: Option<ClusterDetails>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct ClusterDetails {
    members: Option<u64>,
    excluded: usize,
    count_is_minimum: bool,
    previewed: Vec<MediaId>,
    stale: bool,
}

/// Writes a selection. Without the schema and the fields that start with `_`, this is the body of a
/// selective export.
pub fn write_selection(dataset: DatasetId, selection: &Selection) -> Value {
    let totals = selection.totals();
    json!({
        "schema": SCHEMA,
        "_dataset_id": dataset,
        "media_selection": selection::write(&selection.items())["media_selection"],
        "_counts": {
            "media": totals.media,
            "clusters": totals.clusters,
            "excluded": totals.excluded,
            "estimated_total": totals.export_rows(),
        },
        "_entries":
            selection.ordered_entries().into_iter().map(EntryDetails::new).collect::<Vec<_>>(),
    })
}

impl EntryDetails {
    fn new(entry: &SelectionEntry) -> Self {
        let (media_id, cluster_id, cluster) = match &entry.content {
            EntryContent::MediaItem(id, cluster) => {
                (Some(*id), cluster.as_ref().map(|part| part.cluster), None)
            }
            EntryContent::Cluster(cluster) => (None, Some(cluster.id), Some(cluster)),
        };
        Self {
            name: Some(entry.name.clone()),
            entity_type: entry.entity,
            granularity: entry.granularity,
            media_id,
            cluster_id,
            cluster: cluster.map(|cluster| ClusterDetails {
                members: cluster.member_count,
                excluded: cluster.excluded.len(),
                count_is_minimum: cluster.count_is_minimum,
                previewed: cluster.previewed.clone(),
                stale: cluster.stale,
            }),
        }
    }

    fn id(&self) -> Option<DetailsId> {
        let cluster = || self.cluster_id.map(DetailsId::Cluster);
        self.media_id.map(DetailsId::MediaItem).or_else(cluster)
    }

    fn entry(self, short_id: &str, entity: EntityType, content: EntryContent) -> SelectionEntry {
        SelectionEntry {
            name: self.name.unwrap_or_else(|| SafeText::file_name(short_id)),
            entity,
            granularity: self.granularity,
            content,
        }
    }
}

pub(super) fn parse_selection(dataset: DatasetId, document: &Value) -> Result<Selection, String> {
    if let Some(other) = dataset_of(document)?.filter(|other| *other != dataset) {
        return Err(format!("it belongs to dataset {other}"));
    }
    let items = document.get("media_selection").or_else(|| document.get("items"));
    if items.and_then(Value::as_array).is_some_and(Vec::is_empty) {
        return Ok(Selection::default());
    }
    let body = json!({ "media_selection": items }).to_string();
    let items = selection::read_file(body.as_bytes()).map_err(|problem| problem.to_string())?;
    let mut details = read_details(document)?;
    let mut entries: Vec<(usize, SelectionEntry)> = Vec::new();
    for item in items {
        match item {
            SelectionItem::Media(media) => {
                entries.extend(media.into_iter().map(|id| media_entry(id, &mut details)));
            }
            SelectionItem::Cluster { cluster: id, entity, filters, exclude } => {
                let (order, mut known) = take_details(DetailsId::Cluster(id), &mut details);
                let cluster = known.cluster.take().unwrap_or_default();
                let content = EntryContent::Cluster(SelectedCluster {
                    id,
                    filters,
                    member_count: cluster.members,
                    count_is_minimum: cluster.count_is_minimum,
                    previewed: cluster.previewed,
                    excluded: exclude.into_iter().collect(),
                    stale: cluster.stale,
                });
                entries.push((order, known.entry(&id.short(), entity, content)));
            }
        }
    }
    entries.sort_by_key(|(order, _)| *order);
    Ok(entries.into_iter().map(|(_, entry)| entry).collect())
}

fn media_entry(id: MediaId, details: &mut DetailsById) -> (usize, SelectionEntry) {
    let (order, known) = take_details(DetailsId::MediaItem(id), details);
    let within = known.cluster_id.map(|cluster| ClusterPart::new(cluster, &[]));
    let content = EntryContent::MediaItem(id, within);
    let entity = known.entity_type;
    (order, known.entry(&id.short(), entity, content))
}

const TAGS: &str = "tessera.kept_tags/1";

/// Writes tags with a selection document for each.
pub(super) fn write_tags(dataset: DatasetId, tags: &KeptTags) -> Value {
    let tags =
        tags.iter().map(|(name, it)| (name.received().to_owned(), write_selection(dataset, it)));
    json!({ "schema": TAGS, "tags": tags.collect::<serde_json::Map<_, _>>() })
}

pub(super) fn parse_tags(dataset: DatasetId, document: &Value) -> Result<KeptTags, String> {
    let tags = document["tags"].as_object().filter(|_| document["schema"] == TAGS);
    let tags = tags.ok_or_else(|| format!("expected the schema {TAGS}"))?;
    let read = |(name, selection): (&String, &Value)| {
        let selection = parse_selection(dataset, selection);
        Ok((SafeText::name(name), selection.map_err(|reason| format!("tag {name}: {reason}"))?))
    };
    tags.iter().map(read).collect()
}

pub(super) fn dataset_of(document: &Value) -> Result<Option<DatasetId>, String> {
    let id = document.get("_dataset_id").or_else(|| document.get("dataset_id"));
    let id = id.unwrap_or(&Value::Null);
    Option::deserialize(id).map_err(|_| format!("{id} is not a dataset ID"))
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum DetailsId {
    Cluster(ClusterId),
    MediaItem(MediaId),
}

/// The details of each entry, with its position in the file. If a cluster has several parts, its details are in the
/// order of the parts.
type DetailsById = BTreeMap<DetailsId, VecDeque<(usize, EntryDetails)>>;

fn read_details(document: &Value) -> Result<DetailsById, String> {
    let rows = document["_entries"].as_array().into_iter().flatten().enumerate();
    let mut details = DetailsById::new();
    for (order, row) in rows {
        let row = EntryDetails::deserialize(row);
        let row = row.map_err(|error| format!("entry {order}: {error}"))?;
        if let Some(id) = row.id() {
            details.entry(id).or_default().push_back((order, row));
        }
    }
    Ok(details)
}

/// Removes and returns the details of an entry with its position. Entries without details come last.
fn take_details(id: DetailsId, details: &mut DetailsById) -> (usize, EntryDetails) {
    let known = details.get_mut(&id).and_then(VecDeque::pop_front);
    known.unwrap_or_else(|| (usize::MAX, EntryDetails::default()))
}
