//! What users have given to media items: tags and ratings. Each change is one transaction, which increases the revision
//! of the tags of its dataset and can be undone. `tagged_files` has what survives a new index.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::prelude::*;
use crate::{
    assignment::{ASSIGNMENT_COLUMNS, read_assignment},
    captions,
    media::read_joined_names,
    tag_ids::TagIds,
};
use tessera_model::{
    Granularity, TagChangeId, TagColor, TagEdit, TagId, UserTags, tag::opposite,
    text::count_with_noun,
};

/// The number of media items that are read at a time.
const MEDIA_AT_A_TIME: usize = 8_192;
/// The number of changes of a dataset that can be undone.
const MAX_CHANGES: u32 = 50;

/// A tag that users have created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagDefinition {
    pub id: TagId,
    pub name: String,
    /// The color in the spelling of [`TagColor`].
    pub color: String,
}

/// Returns the tags that users have created, in the order of their creation.
pub fn definitions(connection: &Connection, dataset: DatasetId) -> Result<Vec<TagDefinition>> {
    let sql = "SELECT id, name, color, require(intact) FROM tag WHERE dataset = ?1 ORDER BY row";
    query::all(connection, sql, params![dataset.0], |row| {
        Ok(TagDefinition { id: TagId(row.get(0)?), name: row.get(1)?, color: row.get(2)? })
    })
}

pub fn ids(connection: &Connection, dataset: DatasetId) -> Result<TagIds> {
    Ok(TagIds::new(dataset, &definitions(connection, dataset)?))
}

/// Creates those tags that do not exist, and returns their names.
pub fn create<'a>(
    transaction: &Transaction,
    dataset: DatasetId,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<String>> {
    let created = insert(transaction, dataset, names.into_iter().map(|name| (name, None)))?;
    if !created.is_empty() {
        increase_revision(transaction, dataset)?;
    }
    Ok(created)
}

/// Creates those tags that were stored before and whose names do not exist. A tag whose identifier another tag has by
/// now gets a new one.
pub(crate) fn restore(
    transaction: &Transaction,
    dataset: DatasetId,
    tags: &[TagDefinition],
) -> Result<()> {
    insert(transaction, dataset, tags.iter().map(|tag| (&*tag.name, Some(tag)))).map(drop)
}

/// Creates the tags that do not exist yet. A tag that was stored before gets its former identifier and color. Returns
/// the names of the created tags.
fn insert<'a>(
    transaction: &Transaction,
    dataset: DatasetId,
    tags: impl Iterator<Item = (&'a str, Option<&'a TagDefinition>)>,
) -> Result<Vec<String>> {
    let mut ids = ids(transaction, dataset)?;
    let mut created = Vec::new();
    let sql = "INSERT INTO tag (dataset, id, name, color) VALUES (?1, ?2, ?3, ?4)";
    let mut inserts = StatementBatch::new(transaction, sql);
    for (name, stored) in tags {
        if ids.has_name(dataset, name) {
            continue;
        }
        let id = stored.map(|tag| tag.id).filter(|id| !ids.contains(*id));
        let id = id.unwrap_or_else(|| ids.of(dataset, name));
        let new_color = || TagColor::of_new(name, ids.count()).as_str();
        let color = stored.map_or_else(new_color, |tag| tag.color.as_str());
        inserts.add(params![dataset.0, id.0, name, color])?;
        ids.insert(dataset, id, name);
        created.push(name.to_owned());
    }
    inserts.finish()?;
    Ok(created)
}

/// Creates a tag, or changes its color.
pub fn define(
    transaction: &Transaction,
    dataset: DatasetId,
    name: &str,
    color: Option<TagColor>,
) -> Result<AppliedChange> {
    let known = definitions(transaction, dataset)?;
    let known = known.into_iter().find(|tag| tag.name == name);
    let (definition, description) = match (known, color) {
        (None, _) => {
            let names = create(transaction, dataset, [name])?;
            (DefinitionChange::Created { names }, format!("create {name}"))
        }
        (Some(tag), Some(color)) if tag.color != color.as_str() => {
            let description = format!("color {name} {color}");
            (DefinitionChange::Recolored { name: tag.name, from: tag.color }, description)
        }
        _ => return Ok(AppliedChange::default()),
    };
    if let Some(color) = color {
        recolor(transaction, dataset, name, color.as_str())?;
    }
    record(transaction, dataset, &description, Some(definition), Vec::new())
}

fn recolor(c: &Connection, dataset: DatasetId, name: &str, color: &str) -> Result<()> {
    let sql = "UPDATE tag SET color = ?3 WHERE dataset = ?1 AND name = ?2";
    query::execute(c, sql, params![dataset.0, name, color])
}

pub(crate) fn increase_revision(transaction: &Transaction, dataset: DatasetId) -> Result<()> {
    let sql = "INSERT INTO tag_state (dataset, revision) VALUES (?1, 1)
               ON CONFLICT (dataset) DO UPDATE SET revision = tag_state.revision + 1";
    query::execute(transaction, sql, params![dataset.0])
}

/// Media items that had the same tags and rating before a change, and have the same ones after it.
struct ChangedGroup {
    before: UserTags,
    after: UserTags,
    media: Vec<Uuid>,
}

/// What a change did to the tags of the dataset itself. `Renamed` keeps the former identifier, so that undo restores
/// it.
#[derive(Serialize, Deserialize)]
enum DefinitionChange {
    Created { names: Vec<String> },
    Recolored { name: String, from: String },
    Renamed { from: String, to: String, id: TagId },
    Deleted { tag: TagDefinition, row: i64 },
}

impl DefinitionChange {
    fn deleted((tag, row): (TagDefinition, i64)) -> Self {
        Self::Deleted { tag, row }
    }
}

/// The part of a change that is stored as JSON: the tags before and after it, with the number of media items.
#[derive(Serialize, Deserialize)]
struct StoredChange {
    definition: Option<DefinitionChange>,
    groups: Vec<(UserTags, UserTags, usize)>,
}

/// The result of a change.
#[derive(Clone, Debug, Default)]
pub struct AppliedChange {
    /// `None` if nothing was changed.
    pub id: Option<TagChangeId>,
    /// The number of media items that were changed.
    pub changed: u64,
    /// The number of media items that keep a tag that was to be removed, because sidecars give it, or that were changed
    /// since the change that is undone, or that are missing.
    pub kept: u64,
    /// The description of the change that was undone.
    pub undone: Option<String>,
}

/// Media items in groups of the same tags. Most media items have the same few tags, so the JSON of each list is read
/// only once.
struct EditGroups<'a> {
    edit: &'a TagEdit,
    groups: Vec<EditGroup>,
    positions: HashMap<(String, String, u8), usize>,
    /// The group of the media item before, which is usually that of the next one, too.
    last: usize,
}

struct EditGroup {
    /// The tags of sidecars and of users as JSON, and the rating.
    key: (String, String, u8),
    changed: ChangedGroup,
    /// Whether a sidecar gives a tag that is removed.
    keeps: bool,
}

impl EditGroups<'_> {
    fn add(&mut self, media: Uuid, of_sidecars: &str, given: &str, rating: u8) -> Result<()> {
        let is_last = self.groups.get(self.last).is_some_and(|EditGroup { key, .. }| {
            (&*key.0, &*key.1, key.2) == (of_sidecars, given, rating)
        });
        if !is_last {
            let key = (of_sidecars.to_owned(), given.to_owned(), rating);
            self.last = self.positions.get(&key).copied().unwrap_or(self.groups.len());
            if self.last == self.groups.len() {
                self.positions.insert(key.clone(), self.last);
                self.groups.push(EditGroup::new(self.edit, key)?);
            }
        }
        self.groups[self.last].changed.media.push(media);
        Ok(())
    }
}

impl EditGroup {
    fn new(edit: &TagEdit, key: (String, String, u8)) -> Result<Self> {
        let parse = |text| serde_json::from_str(text).map_err(QueryError::value);
        let of_sidecars: Vec<String> = parse(&key.0)?;
        let before = UserTags { tags: parse(&key.1)?, rating: key.2 };
        let after = edit.apply(&before, &of_sidecars);
        let keeps = edit.remove.iter().any(|name| of_sidecars.contains(name));
        Ok(Self { key, changed: ChangedGroup { before, after, media: Vec::new() }, keeps })
    }
}

/// Returns the first tag that a change adds although it must exist and does not.
pub fn missing_tag<'a>(
    connection: &Connection,
    dataset: DatasetId,
    edit: &'a TagEdit,
) -> Result<Option<&'a str>> {
    if !edit.only_existing {
        return Ok(None);
    }
    let known = definitions(connection, dataset)?;
    let is_missing = |name: &&String| known.iter().all(|tag| tag.name != **name);
    Ok(edit.add.iter().find(is_missing).map(String::as_str))
}

/// Changes the tags of media items, given by their rows. Tags that do not exist are created. The description of the
/// change is completed by the number of changed media items.
pub fn apply(
    transaction: &Transaction,
    dataset: DatasetId,
    rows: &[i64],
    edit: &TagEdit,
    description: &str,
) -> Result<AppliedChange> {
    let names = create(transaction, dataset, edit.add.iter().map(String::as_str))?;
    let created = (!names.is_empty()).then_some(DefinitionChange::Created { names });
    let sql = "SELECT media.id, media.tags, coalesce(given.tags, '[]'), coalesce(given.rating, 0),
                      require(media.intact), require(coalesce(given.intact, given.media IS NULL))
               FROM media LEFT JOIN tagged_media given ON given.media = media.id
               WHERE media.dataset = ?1 AND media.row IN";
    let mut groups = EditGroups { edit, groups: Vec::new(), positions: HashMap::new(), last: 0 };
    for rows in rows.chunks(MEDIA_AT_A_TIME) {
        let add = |row: &Row| {
            let (of_sidecars, given) = (row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?);
            groups.add(row.get(0)?, of_sidecars, given, row.get(3)?)
        };
        query::all_listed::<_, (), ()>(transaction, sql, params![dataset.0], rows, add)?;
    }
    let kept = groups.groups.iter().filter(|group| group.keeps);
    let kept = kept.map(|group| group.changed.media.len() as u64).sum();
    let groups = groups.groups.into_iter().map(|group| group.changed);
    let groups: Vec<_> = groups.filter(|group| group.before != group.after).collect();
    let changed: usize = groups.iter().map(|group| group.media.len()).sum();
    let media = count_with_noun(changed, "media item", "media items");
    let description = format!("{description} ({media})");
    let change = record(transaction, dataset, &description, created, groups)?;
    Ok(AppliedChange { kept, ..change })
}

/// Renames a tag. If the other name exists, both become one tag. If the other name is `picked` or `rejected`, the media
/// items lose its opposite. Returns `None` if there is no such tag.
pub fn rename(
    transaction: &Transaction,
    dataset: DatasetId,
    from: &str,
    to: &str,
) -> Result<Option<AppliedChange>> {
    let mut others = definitions(transaction, dataset)?;
    let Some(position) = others.iter().position(|tag| tag.name == from) else { return Ok(None) };
    let tag = others.remove(position);
    let groups = changed_everywhere(transaction, dataset, |tags| {
        let mut renamed: Vec<String> = Vec::with_capacity(tags.len());
        for tag in tags {
            let name = if tag == from { to } else { tag };
            if opposite(to) != Some(name) && !renamed.iter().any(|other| other == name) {
                renamed.push(name.to_owned());
            }
        }
        tags.iter().any(|tag| tag == from).then_some(renamed)
    })?;
    let definition = if others.iter().any(|tag| tag.name == to) {
        take_definition(transaction, dataset, from)?.map(DefinitionChange::deleted)
    } else {
        Some(rename_definition(transaction, dataset, &tag, to, &others)?)
    };
    let description = format!("rename {from} to {to}");
    record(transaction, dataset, &description, definition, groups).map(Some)
}

/// Deletes a tag, and takes it from all media items. Returns `None` if there is no such tag.
pub fn delete(
    transaction: &Transaction,
    dataset: DatasetId,
    name: &str,
) -> Result<Option<AppliedChange>> {
    let Some(taken) = take_definition(transaction, dataset, name)? else { return Ok(None) };
    let groups = changed_everywhere(transaction, dataset, |tags| {
        let rest: Vec<String> = tags.iter().filter(|tag| *tag != name).cloned().collect();
        (rest.len() < tags.len()).then_some(rest)
    })?;
    let deleted = DefinitionChange::deleted(taken);
    record(transaction, dataset, &format!("delete {name}"), Some(deleted), groups).map(Some)
}

/// Deletes a tag itself. Returns the tag and its row, or `None` if there is no such tag.
fn take_definition(
    transaction: &Transaction,
    dataset: DatasetId,
    name: &str,
) -> Result<Option<(TagDefinition, i64)>> {
    let sql = "SELECT id, color, row, require(intact) FROM tag WHERE dataset = ?1 AND name = ?2";
    let found = query::find(transaction, sql, params![dataset.0, name], |row| {
        let tag =
            TagDefinition { id: TagId(row.get(0)?), name: name.to_owned(), color: row.get(1)? };
        Ok((tag, row.get(2)?))
    })?;
    delete_definition(transaction, dataset, name)?;
    Ok(found)
}

/// Renames a tag itself. Returns how this is undone.
fn rename_definition(
    transaction: &Transaction,
    dataset: DatasetId,
    tag: &TagDefinition,
    to: &str,
    others: &[TagDefinition],
) -> Result<DefinitionChange> {
    let TagDefinition { id, name: from, .. } = tag;
    // The tags of sidecars stay, so searches by the identifiers of both names must still find them.
    let of_sidecars =
        captions::has_sidecar_tag(transaction, dataset, |name| name == from || name == to)?;
    let new = if of_sidecars { TagIds::new(dataset, others).of(dataset, to) } else { *id };
    let sql = "UPDATE tag SET name = ?3, id = ?4 WHERE dataset = ?1 AND name = ?2";
    query::execute(transaction, sql, params![dataset.0, from, to, new.0])?;
    Ok(DefinitionChange::Renamed { from: from.clone(), to: to.to_owned(), id: *id })
}

fn delete_definition(c: &Connection, dataset: DatasetId, name: &str) -> Result<()> {
    let sql = "DELETE FROM tag WHERE dataset = ?1 AND name = ?2";
    query::execute(c, sql, params![dataset.0, name])
}

/// Returns the groups of all tagged media items, also missing ones, whose tags `change` changes.
fn changed_everywhere(
    connection: &Connection,
    dataset: DatasetId,
    change: impl Fn(&[String]) -> Option<Vec<String>>,
) -> Result<Vec<ChangedGroup>> {
    let sql = "SELECT media, tags, rating, require(intact) FROM tagged_media WHERE dataset = ?1";
    let mut groups: BTreeMap<UserTags, Vec<Uuid>> = BTreeMap::new();
    query::for_each(connection, sql, params![dataset.0], |row| {
        let given = UserTags { tags: from_json(row, 1)?, rating: row.get(2)? };
        groups.entry(given).or_default().push(row.get(0)?);
        Ok::<_, QueryError>(())
    })?;
    let changed = groups.into_iter().filter_map(|(before, media)| {
        let after = UserTags { tags: change(&before.tags)?, rating: before.rating };
        Some(ChangedGroup { before, after, media })
    });
    Ok(changed.collect())
}

/// Makes a change, and keeps it so that it can be undone.
fn record(
    transaction: &Transaction,
    dataset: DatasetId,
    description: &str,
    definition: Option<DefinitionChange>,
    groups: Vec<ChangedGroup>,
) -> Result<AppliedChange> {
    if groups.is_empty() && definition.is_none() {
        return Ok(AppliedChange::default());
    }
    let changed = groups.iter().map(|group| group.media.len() as u64).sum();
    groups.iter().try_for_each(|ChangedGroup { before, after, media }| {
        replace(transaction, before, after, media)
    })?;
    let media: Vec<u8> =
        groups.iter().flat_map(|group| &group.media).flat_map(|id| *id.as_bytes()).collect();
    let groups = groups.into_iter().map(|group| (group.before, group.after, group.media.len()));
    let stored = to_json(&StoredChange { definition, groups: groups.collect() })?;
    let id = Uuid::new_v4();
    let sql = "INSERT INTO tag_change (id, dataset, description, groups, media)
               VALUES (?1, ?2, ?3, ?4, ?5)";
    query::execute(transaction, sql, params![id, dataset.0, description, stored, media])?;
    let sql = "DELETE FROM tag_change WHERE dataset = ?1 AND row <=
                 (SELECT row FROM tag_change WHERE dataset = ?1 ORDER BY row DESC LIMIT 1 OFFSET ?2)";
    query::execute(transaction, sql, params![dataset.0, MAX_CHANGES])?;
    increase_revision(transaction, dataset)?;
    Ok(AppliedChange { id: Some(TagChangeId(id)), changed, ..AppliedChange::default() })
}

// The statements below end with a list of media items.

const INSERT_TAGGED: &str =
    "INSERT INTO tagged_media (media, dataset, folder, path, seconds, region, content, tags, rating)
     SELECT media.id, media.dataset,
            CASE WHEN source.folder = dataset.folder THEN NULL ELSE source.folder END,
            media.path, media.seconds, media.region, media.content, ?1, ?2
     FROM media JOIN source ON source.row = media.source JOIN dataset ON dataset.id = media.dataset
     WHERE media.id IN";
const UPDATE_TAGGED: &str = "UPDATE tagged_media SET tags = ?1, rating = ?2 WHERE media IN";
const DELETE_TAGGED: &str = "DELETE FROM tagged_media WHERE media IN";

/// Replaces what media items have, which is the same for all of them.
fn replace(c: &Connection, before: &UserTags, after: &UserTags, media: &[Uuid]) -> Result<()> {
    let nothing = UserTags::default();
    if *after == nothing {
        return delete_tagged(c, media);
    }
    let (tags, rating) = (to_json(&after.tags)?, after.rating);
    let sql = if *before == nothing { INSERT_TAGGED } else { UPDATE_TAGGED };
    media
        .chunks(MEDIA_AT_A_TIME)
        .try_for_each(|media| query::all_listed(c, sql, params![tags, rating], media, |_| Ok(())))
}

pub(crate) fn delete_tagged(connection: &Connection, media: &[Uuid]) -> Result<()> {
    media.chunks(MEDIA_AT_A_TIME).try_for_each(|media| {
        query::all_listed(connection, DELETE_TAGGED, params![], media, |_| Ok(()))
    })
}

/// Adds tags and a rating to a media item, which may have others.
pub(crate) fn give(transaction: &Transaction, media: Uuid, given: &UserTags) -> Result<()> {
    let before = given_to(transaction, &[media])?.remove(&media).unwrap_or_default();
    let rating = (given.rating > 0).then_some(given.rating);
    let edit = TagEdit { add: given.tags.clone(), rating, ..TagEdit::default() };
    let after = edit.apply(&before, &[]);
    replace(transaction, &before, &after, &[media])
}

/// Returns the description of the last change of a dataset that can be undone.
pub fn last_change(connection: &Connection, dataset: DatasetId) -> Result<Option<String>> {
    let sql = "SELECT description, require(intact) FROM tag_change WHERE dataset = ?1
               ORDER BY row DESC LIMIT 1";
    query::find(connection, sql, params![dataset.0], |row| row.get(0))
}

/// Undoes a change: the given one, or else the last one. Media items that were changed again since then stay as they
/// are. Returns `None` if there is no such change.
pub fn undo(
    transaction: &Transaction,
    dataset: DatasetId,
    change: Option<TagChangeId>,
) -> Result<Option<AppliedChange>> {
    let sql = "SELECT row, description, groups, media, require(intact) FROM tag_change
               WHERE dataset = ?1 AND (id = ?2 OR ?3) ORDER BY row DESC LIMIT 1";
    let id = change.map_or(Uuid::nil(), |id| id.0);
    let params = params![dataset.0, id, change.is_none()];
    let found: Option<(i64, String, StoredChange, Vec<u8>)> =
        query::find(transaction, sql, params, |row| {
            Ok((row.get(0)?, row.get(1)?, from_json(row, 2)?, row.get(3)?))
        })?;
    let Some((row, description, StoredChange { definition, groups }, media)) = found else {
        return Ok(None);
    };
    query::execute(transaction, "DELETE FROM tag_change WHERE row = ?1", params![row])?;
    undo_definition(transaction, dataset, definition.as_ref())?;
    let former = groups.iter().flat_map(|(before, ..)| &before.tags);
    create(transaction, dataset, former.map(String::as_str))?;
    let (ids, _) = media.as_chunks::<16>();
    let mut ids = ids.iter().map(|bytes| Uuid::from_bytes(*bytes));
    let mut undone = AppliedChange { undone: Some(description), ..AppliedChange::default() };
    for (before, after, count) in groups {
        let media: Vec<Uuid> = ids.by_ref().take(count).collect();
        let unchanged = unchanged(transaction, &media, &after)?;
        replace(transaction, &after, &before, &unchanged)?;
        undone.changed += unchanged.len() as u64;
        undone.kept += (media.len() - unchanged.len()) as u64;
    }
    let names = match definition {
        Some(DefinitionChange::Renamed { to, .. }) => vec![to],
        Some(DefinitionChange::Created { names }) => names,
        _ => Vec::new(),
    };
    define_used(transaction, dataset, &names)?;
    increase_revision(transaction, dataset)?;
    Ok(Some(undone))
}

/// Returns the media items that still have what a change has given to them.
fn unchanged(c: &Connection, media: &[Uuid], after: &UserTags) -> Result<Vec<Uuid>> {
    let current = given_to(c, media)?;
    let existing = if *after == UserTags::default() { existing(c, media)? } else { HashSet::new() };
    let is_unchanged = |id: &Uuid| match current.get(id) {
        Some(given) => given == after,
        None => existing.contains(id),
    };
    Ok(media.iter().copied().filter(is_unchanged).collect())
}

fn existing(connection: &Connection, media: &[Uuid]) -> Result<HashSet<Uuid>> {
    let sql = "SELECT id, require(intact) FROM media WHERE id IN";
    let mut all = HashSet::with_capacity(media.len());
    for media in media.chunks(MEDIA_AT_A_TIME) {
        let found: Vec<Uuid> =
            query::all_listed(connection, sql, params![], media, |row| row.get(0))?;
        all.extend(found);
    }
    Ok(all)
}

/// Replaces the media items of moved files in the recorded changes, so that undo finds them.
pub(crate) fn follow_changes(
    transaction: &Transaction,
    dataset: DatasetId,
    moved: &HashMap<Uuid, Uuid>,
) -> Result<()> {
    let sql = "SELECT row FROM tag_change WHERE dataset = ?1";
    let changes: Vec<i64> = query::all(transaction, sql, params![dataset.0], |row| row.get(0))?;
    for change in changes {
        let sql = "SELECT media, require(intact) FROM tag_change WHERE row = ?1";
        let found = query::find(transaction, sql, params![change], |row| row.get(0))?;
        // On a server, another process may have deleted the change since the changes were listed.
        let Some(mut media): Option<Vec<u8>> = found else { continue };
        let mut is_concerned = false;
        for id in media.as_chunks_mut::<16>().0 {
            if let Some(new) = moved.get(&Uuid::from_bytes(*id)) {
                *id = new.into_bytes();
                is_concerned = true;
            }
        }
        if is_concerned {
            let sql = "UPDATE tag_change SET media = ?2 WHERE row = ?1";
            query::execute(transaction, sql, params![change, media])?;
        }
    }
    Ok(())
}

fn undo_definition(
    transaction: &Transaction,
    dataset: DatasetId,
    change: Option<&DefinitionChange>,
) -> Result<()> {
    match change {
        Some(DefinitionChange::Renamed { from, to, id }) => {
            let Some((tag, row)) = take_definition(transaction, dataset, to)? else {
                return Ok(());
            };
            let tag = TagDefinition { id: *id, name: from.clone(), ..tag };
            bring_back(transaction, dataset, &tag, row)
        }
        Some(DefinitionChange::Recolored { name, from }) => {
            recolor(transaction, dataset, name, from)
        }
        Some(DefinitionChange::Deleted { tag, row }) => bring_back(transaction, dataset, tag, *row),
        Some(DefinitionChange::Created { .. }) | None => Ok(()),
    }
}

/// Restores a tag at its former place in the order. The tag replaces one that got its name in the meantime, because
/// searches know the tag by its former identifier.
fn bring_back(
    transaction: &Transaction,
    dataset: DatasetId,
    tag: &TagDefinition,
    row: i64,
) -> Result<()> {
    delete_definition(transaction, dataset, &tag.name)?;
    restore(transaction, dataset, std::slice::from_ref(tag))?;
    // In a recovered store, another tag may have the row by now.
    let sql = "UPDATE tag SET row = ?3 WHERE dataset = ?1 AND name = ?2
               AND NOT EXISTS (SELECT 1 FROM tag WHERE row = ?3)";
    query::execute(transaction, sql, params![dataset.0, tag.name, row])
}

/// Creates the given tags that a media item has, and deletes the definitions of all other given tags.
fn define_used(transaction: &Transaction, dataset: DatasetId, names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let has_any = |tags: &[String]| tags.iter().any(|tag| names.contains(tag)).then(Vec::new);
    let groups = changed_everywhere(transaction, dataset, has_any)?;
    names.iter().try_for_each(|name| {
        if groups.iter().any(|group| group.before.tags.contains(name)) {
            create(transaction, dataset, [name.as_str()]).map(drop)
        } else {
            delete_definition(transaction, dataset, name)
        }
    })
}

fn given_to(connection: &Connection, media: &[Uuid]) -> Result<HashMap<Uuid, UserTags>> {
    let sql = "SELECT media, tags, rating, require(intact) FROM tagged_media WHERE media IN";
    let mut all = HashMap::with_capacity(media.len());
    for media in media.chunks(MEDIA_AT_A_TIME) {
        let found: Vec<(Uuid, UserTags)> =
            query::all_listed(connection, sql, params![], media, |row| {
                Ok((row.get(0)?, UserTags { tags: from_json(row, 1)?, rating: row.get(2)? }))
            })?;
        all.extend(found);
    }
    Ok(all)
}

/// Returns all tags of media items, also those of sidecars, and their ratings. Items without any are omitted.
pub fn of_media(connection: &Connection, media: &[MediaId]) -> Result<HashMap<MediaId, UserTags>> {
    let sql = "SELECT media.id, media.tags, coalesce(given.tags, '[]'), coalesce(given.rating, 0),
                      require(media.intact), require(coalesce(given.intact, given.media IS NULL))
               FROM media LEFT JOIN tagged_media given ON given.media = media.id
               WHERE media.id IN";
    let ids: Vec<Uuid> = media.iter().map(|id| id.0).collect();
    let mut found: HashMap<MediaId, UserTags> =
        query::all_listed(connection, sql, params![], &ids, |row| {
            let tags = read_joined_names(row, 1)?;
            Ok((MediaId(row.get(0)?), UserTags { tags, rating: row.get(3)? }))
        })?;
    found.retain(|_, given| *given != UserTags::default());
    Ok(found)
}

/// A media item with what users have given to it.
#[derive(Clone, Debug)]
pub struct TaggedMember {
    pub row: i64,
    pub is_object: bool,
    /// The rank of its cluster at each level, or `None` while the item is not clustered.
    pub ranks: Option<[u32; Granularity::LEVELS]>,
    pub given: UserTags,
}

/// Returns the media items of a dataset that have tags or ratings of users, in the order of their rows.
pub fn tagged_members(connection: &Connection, dataset: DatasetId) -> Result<Vec<TaggedMember>> {
    let sql = format!(
        "SELECT media.row, media.parent IS NOT NULL, tagged_media.tags, rating,
                {ASSIGNMENT_COLUMNS}, require(tagged_media.intact)
         FROM tagged_media JOIN media ON media.id = tagged_media.media
         LEFT JOIN place ON place.media = media.row
         WHERE tagged_media.dataset = ?1 ORDER BY media.row"
    );
    query::all(connection, &sql, params![dataset.0], |row| {
        let number = row.get(0)?;
        let assignment = read_assignment(row, 4, number)?;
        Ok(TaggedMember {
            row: number,
            is_object: row.get(1)?,
            ranks: assignment.map(|assignment| assignment.cluster_ranks),
            given: UserTags { tags: from_json(row, 2)?, rating: row.get(3)? },
        })
    })
}
