//! Finds what two parts of a dataset, such as `train` and `val`, have in common: the same media items, and
//! near-duplicates.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap, HashSet},
};

use tessera_model::{
    DatasetId, EntryContent, Failure, FailureKind, MediaId, SafeText, Selection, split_name,
};

use super::{
    media_rows::{MediaRow, groups},
    missing_media::describe_missing,
};
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
    /// Returns the media items in the first part, then those in the second one.
    pub fn media(&self) -> Vec<&'a MediaRow> {
        [&self.a[..], &self.b].concat()
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
    /// Reads the name of a part: a folder of the dataset, `tag:NAME` or `selection:NAME`.
    ///
    /// # Errors
    /// A saved selection is unknown, or contains clusters, whose members are not known here.
    pub fn read(state: &StateFolder, dataset: DatasetId, name: &str) -> Result<Self, Failure> {
        let content = if let Some(tag) = name.strip_prefix("tag:") {
            PartContent::Tag(tag.to_owned())
        } else if let Some(selection) = name.strip_prefix("selection:") {
            let found = state.named_selection(selection, dataset)?;
            PartContent::Media(media_of(&found).ok_or_else(|| {
                let sentence = format!(
                    "the selection `{selection}` contains clusters, whose members are not known here; select media \
                     items instead, or tag the members and name the part tag:NAME"
                );
                Failure::new(FailureKind::Invalid, sentence)
            })?)
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

    /// Says which media items of a selection the dataset no longer has, if there are any.
    pub fn missing(&self, rows: &[MediaRow]) -> Option<String> {
        let PartContent::Media(media) = &self.content else { return None };
        let known: HashSet<MediaId> = rows.iter().filter_map(|row| row.media).collect();
        let missing = media.iter().filter(|(id, _)| !known.contains(id));
        let names: Vec<&str> = missing.map(|(_, name)| name.as_str()).collect();
        let count = names.len();
        let sentence = || describe_missing(count, names.into_iter());
        (count > 0).then(|| format!("{}: {}", self.name, sentence()))
    }
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
/// is a leak even without near-duplicates.
///
/// # Errors
/// A part is empty, which is a mistake in its name, or the dataset no longer has any media item of a selection.
pub fn find_leaks<'a>(
    rows: &'a [MediaRow],
    parts: &[DatasetPart; 2],
) -> Result<Vec<Leak<'a>>, Failure> {
    for part in parts {
        if !rows.iter().any(|row| part.contains(row)) {
            let sentence = format!("`{}` contains no media of the dataset", part.name);
            return Err(Failure::new(FailureKind::NotFound, sentence));
        }
    }
    Ok(leaks_of_groups(&groups(rows), parts))
}

fn leaks_of_groups<'a>(groups: &[Vec<&'a MediaRow>], [a, b]: &[DatasetPart; 2]) -> Vec<Leak<'a>> {
    let leak = |group: &Vec<&'a MediaRow>| {
        let of =
            |part: &DatasetPart| group.iter().copied().filter(|row| part.contains(row)).collect();
        let leak = Leak { a: of(a), b: of(b) };
        (!leak.a.is_empty() && !leak.b.is_empty()).then_some(leak)
    };
    groups.iter().filter_map(leak).collect()
}

/// Returns the leaks between each two folders beside each other that are sets, such as `train` and `val` or
/// `images/train` and `images/val`. The pair with the most leaks comes first.
pub fn leaks_between_folders<'a>(
    rows: &'a [MediaRow],
    duplicates: &[Vec<&'a MediaRow>],
) -> Vec<FolderLeaks<'a>> {
    let folders: BTreeSet<SetFolder<'_>> = rows.iter().filter_map(SetFolder::of).collect();
    let pairs = folders.iter().enumerate().flat_map(|(number, a)| {
        let later = folders.iter().skip(number + 1).take_while(|b| b.parent == a.parent);
        later.filter(|b| b.split != a.split).map(move |b| [a, b])
    });
    let leaks = pairs.map(|pair| {
        let parts = pair.map(|set| {
            let name = set.path();
            DatasetPart { name: name.clone(), content: PartContent::Folder(name) }
        });
        let leaks = leaks_of_groups(duplicates, &parts);
        let folders = parts.map(|part| part.name);
        FolderLeaks { name: folders.join(" and "), folders, leaks }
    });
    let mut leaks: Vec<_> = leaks.collect();
    leaks.sort_by_key(|pair| Reverse(pair.leaks.len()));
    leaks
}

/// A folder that is named like a set. The fields are in the order of the sets.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct SetFolder<'a> {
    parent: Option<&'a str>,
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
        set(None, first).or_else(|| set(Some(first), rest.split_once('/')?.0))
    }

    fn path(&self) -> String {
        self.parent.map_or_else(|| self.name.to_owned(), |parent| format!("{parent}/{}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::media_rows::RowIssue;

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
        let part = |name| DatasetPart::read(&state, DatasetId(uuid::Uuid::nil()), name).unwrap();
        let leaks = find_leaks(&rows, &[part("tag:train"), part("tag:val")]).unwrap();
        let leaks: Vec<_> = leaks.iter().map(|it| (&*it.a[0].path, &*it.b[0].path)).collect();
        assert_eq!(leaks, [("both.png", "both.png"), ("group.png", "group.png")]);
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
        ];
        let rows = paths.map(|(path, group)| row(path, group));
        let found = leaks_between_folders(&rows, &groups(&rows));
        let found: Vec<(&str, usize)> =
            found.iter().map(|pair| (&*pair.name, pair.leaks.len())).collect();
        assert_eq!(
            found,
            [
                ("images/train2014 and images/Val2017", 1),
                ("images/train2017 and images/Val2017", 1),
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
        let folder = |name: &str| DatasetPart::read(&state, dataset, name).unwrap();
        let leaks = find_leaks(&rows, &[folder("train"), folder("val")]).unwrap();
        assert_eq!(leaks.len(), 1);
        assert_eq!(leaks[0].b[0].path, "val/a.png");
        let error = |part| find_leaks(&rows, &[folder("train"), part]).map(drop).unwrap_err();
        let nowhere = error(folder("nowhere")).message;
        assert_eq!(nowhere.as_str(), "`nowhere` contains no media of the dataset");
        let names = [(1, "val/a.png"), (2, "val/gone.png")];
        let names = names.map(|(id, name)| (media(id), SafeText::file_name(name)));
        let content = PartContent::Media(names.into_iter().collect());
        let selection = DatasetPart { name: "selection:val".to_owned(), content };
        assert_eq!(
            selection.missing(&rows).unwrap(),
            "selection:val: left out 1 media item that the dataset no longer has, such as val/gone.png"
        );
        assert_eq!(find_leaks(&rows, &[folder("train"), selection]).unwrap().len(), 1);
    }
}
