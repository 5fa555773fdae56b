//! Leaves out of selections what their dataset no longer has, such as a picture that was put into the trash after a
//! split. A service refuses a request that names a missing media item, so commands and the interface ask first.

use std::collections::HashSet;

use tessera_model::{
    DatasetId, Failure, FailureKind, MediaId, Omission, SafeText, SelectionItem,
    text::{group_digits, grouped_with_noun},
};

use super::file_actions::OriginalFinder;

/// Removes the media items that the dataset no longer has from a selection, and returns them.
///
/// # Errors
/// Nothing is left, or the dataset is unknown.
pub fn leave_out_missing(
    finder: &dyn OriginalFinder,
    dataset: DatasetId,
    items: &mut Vec<SelectionItem>,
) -> Result<HashSet<MediaId>, Failure> {
    let media = items.iter().filter_map(|item| match item {
        SelectionItem::Media(media) => Some(media),
        SelectionItem::Cluster { .. } => None,
    });
    let media: Vec<MediaId> = media.flatten().copied().collect();
    let missing: HashSet<MediaId> = finder.missing(dataset, &media)?.into_iter().collect();
    items.retain_mut(|item| match item {
        SelectionItem::Media(media) => {
            media.retain(|id| !missing.contains(id));
            !media.is_empty()
        }
        SelectionItem::Cluster { .. } => true,
    });
    if items.is_empty() && !missing.is_empty() {
        let sentence = "the dataset no longer has any media item of this selection";
        return Err(Failure::new(FailureKind::NotFound, sentence));
    }
    Ok(missing)
}

/// Says how many media items were left out, and names the first of them.
pub fn describe_missing<'a>(count: usize, names: impl Iterator<Item = &'a str>) -> String {
    let items = grouped_with_noun(count as u64, "media item", "media items");
    let example = names.min().map(|name| format!(", such as {name}")).unwrap_or_default();
    format!("left out {items} that the dataset no longer has{example}")
}

/// Describes the media items that an export will skip, in the form of the other omissions of a preview.
pub fn omission_of_missing(count: usize) -> Omission {
    let count = count as u64;
    let text = format!("media items that the dataset no longer has: {}", group_digits(count));
    Omission { count, text: SafeText::detail(&text) }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, path::PathBuf};

    use tessera_curation::{FoundOriginals, duplicates::SimilarImages};
    use tessera_model::Search;

    use super::*;

    /// A dataset that has only the media item 1.
    struct OnlyFirst;

    impl OriginalFinder for OnlyFirst {
        fn selected(&self, _: DatasetId, _: &[SelectionItem]) -> Result<FoundOriginals, Failure> {
            unreachable!()
        }

        fn listed(&self, _: DatasetId, _: Vec<PathBuf>) -> Result<FoundOriginals, Failure> {
            unreachable!()
        }

        fn similar(&self, _: DatasetId, _: f64) -> Result<Vec<SimilarImages>, Failure> {
            unreachable!()
        }

        fn diverse(&self, _: &Search, _: usize) -> Result<Vec<(MediaId, PathBuf)>, Failure> {
            unreachable!()
        }

        fn rest(
            &self,
            _: &Search,
            _: &[SelectionItem],
        ) -> Result<Vec<(MediaId, PathBuf)>, Failure> {
            unreachable!()
        }

        fn pictures(
            &self,
            _: DatasetId,
            _: &[MediaId],
        ) -> Result<HashMap<MediaId, MediaId>, Failure> {
            unreachable!()
        }

        fn missing(&self, _: DatasetId, media: &[MediaId]) -> Result<Vec<MediaId>, Failure> {
            Ok(media.iter().copied().filter(|id| *id != media_id(1)).collect())
        }
    }

    fn media_id(id: u128) -> MediaId {
        MediaId(uuid::Uuid::from_u128(id))
    }

    #[test]
    fn missing_media_are_left_out_as_long_as_something_is_left() {
        let dataset = DatasetId(uuid::Uuid::nil());
        let left = |ids: &[u128]| {
            let mut items = vec![SelectionItem::Media(ids.iter().copied().map(media_id).collect())];
            let missing = leave_out_missing(&OnlyFirst, dataset, &mut items)?;
            Ok::<_, Failure>((items, missing.len()))
        };
        let first = vec![SelectionItem::Media(vec![media_id(1)])];
        assert_eq!(left(&[1]).unwrap(), (first.clone(), 0));
        assert_eq!(left(&[2, 1, 3]).unwrap(), (first, 2));
        assert_eq!(left(&[2, 3]).unwrap_err().kind, FailureKind::NotFound);
        let sentence = describe_missing(2, ["b.png", "a.png"].into_iter());
        assert_eq!(
            sentence,
            "left out 2 media items that the dataset no longer has, such as a.png"
        );
        let omission = omission_of_missing(1_200).text;
        assert_eq!(omission.as_str(), "media items that the dataset no longer has: 1 200");
    }
}
