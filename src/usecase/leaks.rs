//! Finds what two parts of a dataset, such as `train` and `val`, have in common: the same media items, and
//! near-duplicates.

use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
    ops::Bound,
    ptr,
};

use tessera_model::{
    DatasetId, EntityType, EntryContent, Failure, FailureKind, MediaId, SafeText, Selection,
    composed, split_name,
};

use super::{file_actions::OriginalFinder, media_rows::MediaRow, missing_media::describe_missing};
use crate::state::StateFolder;

/// The members of a group of near-duplicates in each part. Neither list is empty. A media item that is in both parts is
/// in both lists.
pub struct Leak<'a> {
    pub a: Vec<&'a MediaRow>,
    pub b: Vec<&'a MediaRow>,
}

/// The leaks between two folders.
pub struct FolderLeaks<'a> {
    pub name: String,
    pub folders: [String; 2],
    pub leaks: Vec<Leak<'a>>,
}

impl<'a> Leak<'a> {
    /// Returns the media items in the first part, then those that are only in the second one.
    pub fn media(&self) -> Vec<&'a MediaRow> {
        let mut known = HashSet::new();
        let all = self.a.iter().chain(&self.b).copied();
        all.filter(|row| known.insert(ptr::from_ref(*row))).collect()
    }
}

/// A part of a dataset with its name.
pub struct DatasetPart {
    pub name: String,
    content: PartContent,
}

enum PartContent {
    Folder(String),
    Tag(String),
    /// The names of media items.
    Media(HashMap<MediaId, SafeText>),
}

impl DatasetPart {
    /// Reads the name of a part: a folder of the dataset, `tag:NAME` or `selection:NAME`. An object stands for its
    /// picture, which `finder` finds.
    ///
    /// # Errors
    /// A saved selection is unknown, or contains clusters, whose members are not known here, or objects without a
    /// `finder`.
    pub fn read(
        state: &StateFolder,
        dataset: DatasetId,
        name: &str,
        finder: Option<&dyn OriginalFinder>,
    ) -> Result<Self, Failure> {
        let content = if let Some(tag) = name.strip_prefix("tag:") {
            PartContent::Tag(tag.to_owned())
        } else if let Some(selection) = name.strip_prefix("selection:") {
            let found = state.named_selection(selection, dataset)?;
            let invalid = |what| {
                let sentence = format!(
                    "the selection `{selection}` contains {what} not known here; select images instead, or tag the \
                     images and name the part tag:NAME"
                );
                Failure::new(FailureKind::Invalid, sentence)
            };
            let media = media_of(&found);
            let mut media = media.ok_or_else(|| invalid("clusters, whose members are"))?;
            if let Some(finder) = finder {
                let ids: Vec<MediaId> = media.keys().copied().collect();
                for (object, picture) in finder.pictures(dataset, &ids)? {
                    if let Some(name) = media.remove(&object) {
                        media.insert(picture, name);
                    }
                }
            } else if found.ordered_entries().iter().any(|it| it.entity == EntityType::Objects) {
                return Err(invalid("objects, whose pictures are"));
            }
            PartContent::Media(media)
        } else {
            PartContent::Folder(name.to_owned())
        };
        Ok(Self { name: name.to_owned(), content })
    }

    fn contains(&self, row: &MediaRow) -> bool {
        match &self.content {
            PartContent::Folder(folder) => row.is_in_folder(folder),
            PartContent::Tag(tag) => row.tags.contains(tag),
            PartContent::Media(media) => row.media.is_some_and(|id| media.contains_key(&id)),
        }
    }
}

/// Says which media items of selections the dataset no longer has, with one sentence for each selection.
pub fn missing_media<'a>(
    parts: impl IntoIterator<Item = &'a DatasetPart>,
    rows: &[MediaRow],
) -> Vec<String> {
    let selections = parts.into_iter().filter_map(|part| match &part.content {
        PartContent::Media(media) => Some((part.name.as_str(), media)),
        PartContent::Folder(_) | PartContent::Tag(_) => None,
    });
    let selections: BTreeMap<&str, _> = selections.collect();
    let mut missing: HashSet<MediaId> =
        selections.values().flat_map(|media| media.keys()).copied().collect();
    for id in rows.iter().filter_map(|row| row.media) {
        missing.remove(&id);
    }
    let sentence = |(part, media): (&str, &HashMap<MediaId, SafeText>)| {
        let names = media.iter().filter(|(id, _)| missing.contains(id));
        let names: Vec<&str> = names.map(|(_, name)| name.as_str()).collect();
        let count = names.len();
        (count > 0).then(|| format!("{part}: {}", describe_missing(count, names.into_iter())))
    };
    selections.into_iter().filter_map(sentence).collect()
}

fn media_of(selection: &Selection) -> Option<HashMap<MediaId, SafeText>> {
    let entries = selection.ordered_entries().into_iter();
    let media = entries.map(|entry| match entry.content {
        EntryContent::MediaItem(media, _) => Some((media, entry.name.clone())),
        EntryContent::Cluster(_) => None,
    });
    media.collect()
}

/// Returns the groups of near-duplicates that are in both parts, the largest first. A media item that is in both parts
/// is a leak even without near-duplicates. `duplicates` are the groups of all rows.
///
/// # Errors
/// A part is empty, which is a mistake in its name, or the dataset no longer has any media item of a selection.
pub fn find_leaks<'a>(
    rows: &'a [MediaRow],
    duplicates: &[Vec<&'a MediaRow>],
    parts: &[DatasetPart; 2],
) -> Result<Vec<Leak<'a>>, Failure> {
    for part in parts {
        if !rows.iter().any(|row| part.contains(row)) {
            let sentence = format!("`{}` contains no media of the dataset", part.name);
            return Err(Failure::new(FailureKind::NotFound, sentence));
        }
    }
    let leak = |group: &Vec<&'a MediaRow>| {
        let [a, b] = parts
            .each_ref()
            .map(|part| group.iter().copied().filter(|row| part.contains(row)).collect::<Vec<_>>());
        (!a.is_empty() && !b.is_empty()).then_some(Leak { a, b })
    };
    let leaks = duplicates.iter().filter_map(leak);
    Ok(leaks.chain(single_leaks(rows, duplicates, parts)).collect())
}

/// Returns the media items without near-duplicates that are in both parts, in the order of their paths.
fn single_leaks<'a>(
    rows: &'a [MediaRow],
    duplicates: &[Vec<&'a MediaRow>],
    [a, b]: &[DatasetPart; 2],
) -> impl Iterator<Item = Leak<'a>> {
    let groups: HashSet<&str> =
        duplicates.iter().filter_map(|group| group[0].duplicate_group()).collect();
    let is_single =
        |row: &MediaRow| row.duplicate_group().is_none_or(|group| !groups.contains(group));
    let in_both = rows.iter().filter(|row| a.contains(row) && b.contains(row) && is_single(row));
    let mut in_both: Vec<&MediaRow> = in_both.collect();
    in_both.sort_by(|one, other| one.path.cmp(&other.path));
    in_both.into_iter().map(|row| Leak { a: vec![row], b: vec![row] })
}

/// Returns the leaks between each two folders beside each other that are sets, such as `train` and `val` or
/// `images/train` and `images/val`. The pair with the most leaks comes first.
pub fn leaks_between_folders<'a>(
    rows: &'a [MediaRow],
    duplicates: &[Vec<&'a MediaRow>],
) -> Vec<FolderLeaks<'a>> {
    let all = rows_of_sets(rows);
    let folders = pairs(&all).map(|pair| (pair.map(|(folder, _)| folder.clone()), Vec::new()));
    let mut leaks: BTreeMap<[SetFolder<'_>; 2], Vec<Leak<'_>>> = folders.collect();
    for group in duplicates {
        let group = rows_of_sets(group.iter().copied());
        for [(folder_a, a), (folder_b, b)] in pairs(&group) {
            let of_pair = leaks.entry([folder_a.clone(), folder_b.clone()]).or_default();
            of_pair.push(Leak { a: a.clone(), b: b.clone() });
        }
    }
    let leaks = leaks.into_iter().map(|(pair, leaks)| {
        let folders = pair.map(|folder| folder.path());
        FolderLeaks { name: folders.join(" and "), folders, leaks }
    });
    let mut leaks: Vec<_> = leaks.collect();
    leaks.sort_by_key(|pair| Reverse(pair.leaks.len()));
    leaks
}

type RowsOfSets<'a> = BTreeMap<SetFolder<'a>, Vec<&'a MediaRow>>;

fn rows_of_sets<'a>(rows: impl IntoIterator<Item = &'a MediaRow>) -> RowsOfSets<'a> {
    let mut sets = RowsOfSets::new();
    for row in rows {
        if let Some(folder) = SetFolder::of(row) {
            sets.entry(folder).or_default().push(row);
        }
    }
    sets
}

/// Returns each two folders beside each other that are different sets, with their rows.
fn pairs<'s, 'a>(
    sets: &'s RowsOfSets<'a>,
) -> impl Iterator<Item = [(&'s SetFolder<'a>, &'s Vec<&'a MediaRow>); 2]> {
    sets.iter().flat_map(|a| {
        let later = sets.range((Bound::Excluded(a.0), Bound::Unbounded));
        let beside = later.take_while(move |b| b.0.parent == a.0.parent);
        beside.filter(move |b| b.0.split != a.0.split).map(move |b| [a, b])
    })
}

/// A folder that is named like a set. The fields are in the order of the sets.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SetFolder<'a> {
    /// In NFC, so that both spellings of a name are the same folder.
    parent: Option<Cow<'a, str>>,
    split: usize,
    name: &'a str,
}

impl<'a> SetFolder<'a> {
    /// Returns the first or second folder of a path, if its name is that of a set.
    fn of(row: &'a MediaRow) -> Option<Self> {
        let (first, rest) = row.path.split_once('/')?;
        let set = |parent, name: &'a str| {
            let split = split_name(&name.to_lowercase())?;
            let split = ["train", "val", "test"].iter().position(|known| *known == split)?;
            Some(Self { parent, split, name })
        };
        set(None, first).or_else(|| set(Some(composed(first)), rest.split_once('/')?.0))
    }

    fn path(&self) -> String {
        self.parent
            .as_ref()
            .map_or_else(|| self.name.to_owned(), |parent| format!("{parent}/{}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::media_rows::{RowIssue, duplicate_groups};

    fn row(path: &str, group: &str) -> MediaRow {
        MediaRow {
            path: path.to_owned(),
            issues: vec![RowIssue {
                kind: "duplicates".to_owned(),
                confidence: Some(0.97),
                group: Some(group.to_owned()),
            }],
            ..MediaRow::default()
        }
    }

    #[test]
    fn a_media_item_in_both_parts_is_a_leak() {
        let tagged = |path: &str, tags: &[&str]| MediaRow {
            path: path.to_owned(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..MediaRow::default()
        };
        let rows = [
            tagged("both.png", &["train", "val"]),
            tagged("train.png", &["train"]),
            tagged("val.png", &["val"]),
            MediaRow { tags: vec!["val".to_owned(), "train".to_owned()], ..row("group.png", "1") },
        ];
        let state = StateFolder::default();
        let part =
            |name| DatasetPart::read(&state, DatasetId(uuid::Uuid::nil()), name, None).unwrap();
        let parts = [part("tag:train"), part("tag:val")];
        let leaks = find_leaks(&rows, &duplicate_groups(&rows), &parts).unwrap();
        let leaks: Vec<_> = leaks.iter().map(|it| (&*it.a[0].path, &*it.b[0].path)).collect();
        assert_eq!(leaks, [("both.png", "both.png"), ("group.png", "group.png")]);
    }

    #[test]
    fn a_media_item_in_both_parts_is_listed_once() {
        let rows = ["a.png", "b.png", "c.png"].map(|path| row(path, "1"));
        let [a, b, c] = rows.each_ref();
        let leak = Leak { a: vec![a, b], b: vec![b, c] };
        let paths: Vec<&str> = leak.media().iter().map(|row| row.path.as_str()).collect();
        assert_eq!(paths, ["a.png", "b.png", "c.png"]);
    }

    #[test]
    fn leaks_are_found_between_folders_that_are_sets() {
        let paths = [
            ("images/train2017/a.png", "1"),
            ("images/Val2017/a.png", "1"),
            ("images/train2014/a.png", "1"),
            ("images/test2017/b.png", "2"),
            ("test/c.png", "1"),
            ("city/c.png", "1"),
            ("e\u{301}/train/d.png", "3"),
            ("\u{e9}/val/d.png", "3"),
            ("\u{e9}/val/e.png", "3"),
        ];
        let rows = paths.map(|(path, group)| row(path, group));
        let found = leaks_between_folders(&rows, &duplicate_groups(&rows));
        let found: Vec<(&str, usize)> =
            found.iter().map(|pair| (&*pair.name, pair.leaks.len())).collect();
        assert_eq!(
            found,
            [
                ("images/train2014 and images/Val2017", 1),
                ("images/train2017 and images/Val2017", 1),
                ("\u{e9}/train and \u{e9}/val", 1),
                ("images/train2014 and images/test2017", 0),
                ("images/train2017 and images/test2017", 0),
                ("images/Val2017 and images/test2017", 0),
            ]
        );
    }

    #[test]
    fn a_leak_is_a_group_in_both_parts() {
        let media = |id| MediaId(uuid::Uuid::from_u128(id));
        let rows = [
            row("train/a.png", "1"),
            MediaRow { media: Some(media(1)), ..row("val/a.png", "1") },
            row("train/b.png", "2"),
            row("train/c.png", "2"),
            row("valid/d.png", "3"),
            row("train/d.png", "3"),
        ];
        let state = StateFolder::default();
        let dataset = DatasetId(uuid::Uuid::nil());
        let folder = |name: &str| DatasetPart::read(&state, dataset, name, None).unwrap();
        let find = |parts| find_leaks(&rows, &duplicate_groups(&rows), &parts);
        let leaks = find([folder("train"), folder("val")]).unwrap();
        assert_eq!(leaks.len(), 1);
        assert_eq!(leaks[0].b[0].path, "val/a.png");
        let error = |part| find([folder("train"), part]).map(drop).unwrap_err();
        let nowhere = error(folder("nowhere")).message;
        assert_eq!(nowhere.as_str(), "`nowhere` contains no media of the dataset");
        let names = [(1, "val/a.png"), (2, "val/gone.png")];
        let names = names.map(|(id, name)| (media(id), SafeText::file_name(name)));
        let content = PartContent::Media(names.into_iter().collect());
        let selection = DatasetPart { name: "selection:val".to_owned(), content };
        // A selection of several conditions has one sentence.
        assert_eq!(
            missing_media([&selection, &folder("train"), &selection], &rows),
            ["selection:val: omitted 1 entry that the dataset no longer has, such as val/gone.png"]
        );
        assert_eq!(find([folder("train"), selection]).unwrap().len(), 1);
    }
}
