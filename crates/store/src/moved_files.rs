//! Keeps the tags of files that were moved. The tags go to the media items at the new paths, which are found by their
//! content.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use super::prelude::*;
use crate::{
    tagged_files::{MEDIA_PLACES, Part, Place, read_place},
    tags::{self, increase_revision},
};
use tessera_model::UserTags;

/// Media items that had the content of a tagged file before their files were indexed again. They are copies, which were
/// there when the file was moved or removed, so they never get its tags.
pub struct KnownCopies(HashSet<Uuid>);

/// Reads the copies before the files of a dataset are indexed again. Media items that are not clustered yet were found
/// by an interrupted indexing task, so they count as new.
pub fn known_copies(connection: &Connection, dataset: DatasetId) -> Result<KnownCopies> {
    let sql = "SELECT content, require(intact) FROM tagged_media WHERE dataset = ?1";
    let tagged: HashSet<[u8; 32]> =
        query::all(connection, sql, params![dataset.0], |row| row.get(0))?;
    let mut copies = HashSet::new();
    if !tagged.is_empty() {
        let sql = "SELECT media.id, media.content, require(media.intact)
                   FROM media JOIN place ON place.media = media.row WHERE media.dataset = ?1";
        query::for_each(connection, sql, params![dataset.0], |row| {
            if tagged.contains(&row.get::<[u8; 32]>(1)?) {
                copies.insert(row.get(0)?);
            }
            Ok::<_, QueryError>(())
        })?;
    }
    Ok(KnownCopies(copies))
}

/// Gives the tags of moved files to the files at their new paths. The tags of all other missing files stay, because the
/// files may come back. Such files are found only by their paths from then on, because a file with the same content is
/// a copy.
pub fn follow_moved(
    transaction: &Transaction,
    dataset: DatasetId,
    known: &KnownCopies,
) -> Result<()> {
    let missing = find_moved(transaction, dataset, known)?;
    if missing.is_empty() {
        return Ok(());
    }
    let sql = "UPDATE tagged_media SET content = ?2 WHERE media = ?1";
    query::execute_each(transaction, sql, &missing, |media, run| run(params![media, NO_CONTENT]))?;
    increase_revision(transaction, dataset)
}

/// Gives the tags that the tag file of a dataset lists to the files with the same content, wherever they are.
pub(crate) fn find_imported(transaction: &Transaction, dataset: DatasetId) -> Result<()> {
    find_moved(transaction, dataset, &KnownCopies(HashSet::new())).map(|_| ())
}

/// The content of a file that is found only by its path. No file has this hash.
const NO_CONTENT: [u8; 32] = [0; 32];

/// Tags whose media item is missing, or has another content than when it was tagged.
struct LostTags {
    media: Uuid,
    place: Place,
    content: [u8; 32],
    given: UserTags,
}

/// Finds the media items of lost tags: first by their content, and then by their path. For lost tags that were not
/// found, returns the former media items, unless they can be found only by their path anyway.
fn find_moved(
    transaction: &Transaction,
    dataset: DatasetId,
    known: &KnownCopies,
) -> Result<Vec<Uuid>> {
    let lost = lost_tags(transaction, dataset)?;
    if lost.is_empty() {
        return Ok(Vec::new());
    }
    let mut candidates = Candidates::read(transaction, dataset, &lost, known)?;
    let mut found = candidates.pair_by_content(&lost);
    let mut missing = Vec::new();
    for (number, lost) in lost.iter().enumerate() {
        if found.contains_key(&number) {
            continue;
        }
        match candidates.by_place.get(&lost.place) {
            Some(media) => drop(found.insert(number, *media)),
            None if lost.content != NO_CONTENT => missing.push(lost.media),
            None => {}
        }
    }
    let former: Vec<Uuid> = found.keys().map(|number| lost[*number].media).collect();
    tags::delete_tagged(transaction, &former)?;
    for (number, media) in &found {
        tags::give(transaction, *media, &lost[*number].given)?;
    }
    if !found.is_empty() {
        let moved = found.iter().map(|(number, media)| (lost[*number].media, *media));
        tags::follow_changes(transaction, dataset, &moved.collect())?;
        increase_revision(transaction, dataset)?;
    }
    Ok(missing)
}

/// Returns the lost tags of a dataset in the order of their paths.
fn lost_tags(connection: &Connection, dataset: DatasetId) -> Result<Vec<LostTags>> {
    let sql = "SELECT tagged_media.media, folder, tagged_media.path, tagged_media.seconds,
                      tagged_media.region, tagged_media.content, tagged_media.tags, rating,
                      require(tagged_media.intact)
               FROM tagged_media LEFT JOIN media ON media.id = tagged_media.media
               WHERE tagged_media.dataset = ?1
                 AND (media.id IS NULL OR media.content <> tagged_media.content)";
    let mut lost: Vec<LostTags> = query::all(connection, sql, params![dataset.0], |row| {
        Ok(LostTags {
            media: row.get(0)?,
            place: read_place(row)?,
            content: row.get(5)?,
            given: UserTags { tags: from_json(row, 6)?, rating: row.get(7)? },
        })
    })?;
    lost.sort_by(|a, b| a.place.path.cmp(&b.place.path));
    Ok(lost)
}

/// Media items with their paths, by content and part.
type MediaByContent = HashMap<([u8; 32], Part), Vec<(Uuid, Vec<u8>)>>;

/// The media items that may get lost tags.
#[derive(Default)]
struct Candidates {
    /// The media items without tags of their own that are no known copies.
    by_content: MediaByContent,
    by_place: HashMap<Place, Uuid>,
}

impl Candidates {
    fn read(
        transaction: &Transaction,
        dataset: DatasetId,
        lost: &[LostTags],
        known: &KnownCopies,
    ) -> Result<Self> {
        let contents: HashSet<&[u8; 32]> = lost.iter().map(|lost| &lost.content).collect();
        let places: HashSet<&Place> = lost.iter().map(|lost| &lost.place).collect();
        let sql = "SELECT tagged_media.media FROM tagged_media
                   JOIN media ON media.id = tagged_media.media
                   WHERE tagged_media.dataset = ?1 AND media.content = tagged_media.content";
        let tagged: HashSet<Uuid> =
            query::all(transaction, sql, params![dataset.0], |row| row.get(0))?;
        let mut candidates = Self::default();
        query::for_each(transaction, MEDIA_PLACES, params![dataset.0], |row| {
            let (media, place, content) = (row.get(0)?, read_place(row)?, row.get(5)?);
            let is_free = !tagged.contains(&media) && !known.0.contains(&media);
            if is_free && contents.contains(&content) {
                let same = candidates.by_content.entry((content, place.part.clone())).or_default();
                same.push((media, place.path.clone()));
            }
            if places.contains(&place) {
                candidates.by_place.insert(place, media);
            }
            Ok::<_, QueryError>(())
        })?;
        Ok(candidates)
    }

    /// Pairs lost tags with media items that have the same content. Returns the media items by the number of the lost
    /// tags. Several files with the same content may have been moved together. In this case, the ends of their paths
    /// decide.
    fn pair_by_content(&mut self, lost: &[LostTags]) -> HashMap<usize, Uuid> {
        let mut groups: HashMap<_, Vec<usize>> = HashMap::new();
        for (number, lost) in lost.iter().enumerate() {
            groups.entry((lost.content, lost.place.part.clone())).or_default().push(number);
        }
        let mut pairs = HashMap::new();
        for (key, group) in groups {
            let Some(mut free) = self.by_content.remove(&key) else { continue };
            free.sort_by(|a, b| a.1.cmp(&b.1));
            let paths: Vec<&[u8]> = group.iter().map(|number| &*lost[*number].place.path).collect();
            let free_paths: Vec<&[u8]> = free.iter().map(|(_, path)| &**path).collect();
            for (from, to) in pair_paths(&paths, &free_paths) {
                pairs.insert(group[from], free[to].0);
            }
        }
        pairs
    }
}

/// Pairs paths with other paths so that the longest equal ends come first. Paths without equal ends are paired in the
/// order in which they are given. Returns the positions of the pairs.
fn pair_paths(from: &[&[u8]], to: &[&[u8]]) -> Vec<(usize, usize)> {
    let depth = |path: &&[u8]| path.split(|byte| *byte == b'/').count();
    let deepest = from.iter().map(depth).max().unwrap_or_default();
    let mut pairs = Vec::new();
    let (mut open, mut free): (Vec<_>, Vec<_>) =
        ((0..from.len()).collect(), (0..to.len()).collect());
    for parts in (0..=deepest).rev() {
        let mut by_end: HashMap<&[u8], Vec<usize>> = HashMap::new();
        for position in free.iter().rev() {
            if let Some(end) = path_end(to[*position], parts) {
                by_end.entry(end).or_default().push(*position);
            }
        }
        open.retain(|position| {
            let same = path_end(from[*position], parts).and_then(|end| by_end.get_mut(end));
            let found = same.and_then(Vec::pop);
            pairs.extend(found.map(|found| (*position, found)));
            found.is_none()
        });
        let taken: HashSet<usize> = pairs.iter().map(|(_, taken)| *taken).collect();
        free.retain(|position| !taken.contains(position));
    }
    pairs
}

/// Returns the last parts of a path, or `None` if it has fewer parts.
fn path_end(path: &[u8], parts: usize) -> Option<&[u8]> {
    if parts == 0 {
        return Some(&[]);
    }
    let separators = path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/');
    let mut starts = separators.map(|(at, _)| at + 1).chain([0]);
    starts.nth(parts - 1).map(|start| &path[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(from: &[&str], to: &[&str]) -> Vec<(usize, usize)> {
        let [from, to] = [from, to].map(|paths| paths.iter().map(|path| path.as_bytes()).collect());
        let (from, to): (Vec<&[u8]>, Vec<&[u8]>) = (from, to);
        let mut pairs = pair_paths(&from, &to);
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn paths_are_paired_by_their_longest_equal_ends() {
        assert_eq!(pairs(&["a/x", "b/x"], &["s/b/x", "s/a/x"]), [(0, 1), (1, 0)]);
        assert_eq!(pairs(&["s/a/x", "s/b/x"], &["b/x", "a/x"]), [(0, 1), (1, 0)]);
        assert_eq!(pairs(&["a/x", "b/y"], &["c/y"]), [(1, 0)], "only one of them was moved");
        assert_eq!(pairs(&["a", "b"], &["c", "d", "e"]), [(0, 0), (1, 1)]);
        assert_eq!(pairs(&["a"], &[]), []);
        assert_eq!(path_end(b"a/bc/d", 2), Some(&b"bc/d"[..]));
        assert_eq!(path_end(b"a/bc/d", 3), Some(&b"a/bc/d"[..]));
        assert_eq!(path_end(b"a/bc/d", 4), None);
    }
}
