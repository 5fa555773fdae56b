//! Facets: the labels, tags and words of captions that loaded clusters have, with counts.

use std::collections::{BTreeMap, BTreeSet};

use unicode_segmentation::UnicodeSegmentation as _;

use crate::{Cluster, SafeText, TagId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FacetKind {
    Label,
    Tag,
    CaptionWord,
}

impl FacetKind {
    pub const ALL: [Self; 3] = [Self::Label, Self::Tag, Self::CaptionWord];

    pub fn label(self) -> &'static str {
        match self {
            Self::Label => "labels",
            Self::Tag => "tags",
            Self::CaptionWord => "words in captions",
        }
    }
}

/// A value, and in how many clusters it occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facet {
    pub name: SafeText,
    /// The identifier of a tag, if the service sends it.
    pub tag: Option<TagId>,
    pub clusters: usize,
}

/// Words that say nothing about a picture.
const STOP_WORDS: [&str; 32] = [
    "about", "above", "and", "are", "behind", "below", "for", "from", "front", "has", "have",
    "her", "his", "into", "its", "near", "next", "off", "onto", "out", "over", "seen", "some",
    "that", "the", "their", "there", "this", "two", "under", "which", "with",
];
const MIN_WORD_CHARS: usize = 3;

/// The facets of a kind, most frequent first, then by name.
pub fn count_facets<'a>(
    clusters: impl IntoIterator<Item = &'a Cluster>,
    kind: FacetKind,
) -> Vec<Facet> {
    let mut counts: BTreeMap<(SafeText, Option<TagId>), usize> = BTreeMap::new();
    for cluster in clusters {
        for value in values(cluster, kind) {
            *counts.entry(value).or_default() += 1;
        }
    }
    let facet = |((name, tag), clusters)| Facet { name, tag, clusters };
    let mut facets: Vec<Facet> = counts.into_iter().map(facet).collect();
    // The sort is stable: equal counts stay in the order of their names.
    facets.sort_by_key(|facet| std::cmp::Reverse(facet.clusters));
    facets
}

fn values(cluster: &Cluster, kind: FacetKind) -> BTreeSet<(SafeText, Option<TagId>)> {
    match kind {
        FacetKind::Label => cluster.labels.iter().map(|label| (label.clone(), None)).collect(),
        FacetKind::Tag => cluster.tags.iter().map(|tag| (tag.name.clone(), tag.id)).collect(),
        FacetKind::CaptionWord => {
            let of_previews =
                cluster.previews.iter().filter_map(|preview| preview.caption.as_ref());
            let captions = cluster.captions.iter().chain(of_previews);
            captions.flat_map(words).map(|word| (SafeText::name(&word), None)).collect()
        }
    }
}

fn words(caption: &SafeText) -> Vec<String> {
    let text = caption.as_str().to_lowercase();
    // A vowel sign, as in Devanagari, is in a grapheme with the letter before it.
    let graphemes: Vec<&str> = text.graphemes(true).collect();
    let words = graphemes.split(|grapheme| !grapheme.starts_with(char::is_alphanumeric));
    words
        .map(<[&str]>::concat)
        .filter(|word| {
            word.chars().count() >= MIN_WORD_CHARS && !STOP_WORDS.contains(&word.as_str())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_without_meaning_are_left_out() {
        let caption = SafeText::caption("Two red-brick houses, with the sea behind; a RED van");
        assert_eq!(words(&caption), ["red", "brick", "houses", "sea", "red", "van"]);
    }

    #[test]
    fn words_contain_their_vowel_signs() {
        let caption = SafeText::caption("बिल्ली खिड़की पर। பூனைகள்");
        assert_eq!(words(&caption), ["बिल्ली", "खिड़की", "பூனைகள்"]);
    }
}
