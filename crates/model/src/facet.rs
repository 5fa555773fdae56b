//! Counts what occurs in a dataset, or in the loaded clusters of a service without an overview. Facets are labels, tags
//! and words of captions, and histograms show the distribution of scores.

use std::collections::{BTreeMap, BTreeSet};

use unicode_segmentation::UnicodeSegmentation as _;

use crate::{
    Cluster, Distribution, Preview, SafeText, TagId,
    keyword::text_enum,
    tag::MAX_RATING,
    vql::{ColumnName, ColumnValue, FileProperty},
};

text_enum! {
    pub enum FacetKind: label {
        Label = "labels",
        Tag = "tags",
        CaptionWord = "words in captions",
        Folder = "folders",
    }
}

/// The facets of all images or all objects of a dataset, each kind with the most frequent facet first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overview {
    /// The number of media items that were counted, if the service sends it.
    pub media: Option<u64>,
    pub labels: Vec<Facet>,
    pub tags: Vec<Facet>,
    /// The most frequent words in captions.
    pub words: Vec<Facet>,
    /// The folders, which contain the files in the folders in them.
    pub folders: Vec<Facet>,
    pub columns: Vec<ColumnFacets>,
    /// The dates and sizes, each in their order.
    pub distributions: Vec<Distribution>,
}

/// A column of the user's own, and how many media items have each of its values. A column with many values has none
/// here.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnFacets {
    pub name: ColumnName,
    /// The values, which are not sanitized.
    pub values: Vec<(ColumnValue, u64)>,
}

impl Overview {
    pub fn facets(&self, kind: FacetKind) -> &[Facet] {
        match kind {
            FacetKind::Label => &self.labels,
            FacetKind::Tag => &self.tags,
            FacetKind::CaptionWord => &self.words,
            FacetKind::Folder => &self.folders,
        }
    }
}

/// A value, and the number of media items or clusters in which the value occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facet {
    pub name: SafeText,
    /// The identifier of a tag, if the service sends it.
    pub tag: Option<TagId>,
    pub count: u64,
}

/// Counts the dates and sizes of the previews of clusters, for a service that does not count them.
pub fn count_distributions<'a>(
    clusters: impl IntoIterator<Item = &'a Cluster>,
) -> Vec<Distribution> {
    let previews: Vec<&Preview> =
        clusters.into_iter().flat_map(|cluster| &cluster.previews).collect();
    let dates = previews.iter().filter_map(|preview| preview.file.date.as_ref());
    let bytes = previews.iter().filter_map(|preview| preview.file.bytes);
    let widths = previews.iter().filter_map(|preview| preview.dimensions);
    let all = [
        Distribution::of_days(dates.map(|date| (date.as_str(), 1))),
        Distribution::of_numbers(FileProperty::Size, bytes.map(|bytes| (bytes, 1))),
        Distribution::of_numbers(
            FileProperty::Width,
            widths.map(|(width, _)| (u64::from(width), 1)),
        ),
    ];
    all.into_iter().filter(|distribution| !distribution.bars.is_empty()).collect()
}

/// Words that say nothing about a picture.
const STOP_WORDS: [&str; 32] = [
    "about", "above", "and", "are", "behind", "below", "for", "from", "front", "has", "have",
    "her", "his", "into", "its", "near", "next", "off", "onto", "out", "over", "seen", "some",
    "that", "the", "their", "there", "this", "two", "under", "which", "with",
];
const MIN_WORD_CHARS: usize = 3;

/// Counts in how many clusters each facet of a kind occurs, the most frequent first. Equally frequent facets are sorted
/// by name.
pub fn count_facets<'a>(
    clusters: impl IntoIterator<Item = &'a Cluster>,
    kind: FacetKind,
) -> Vec<Facet> {
    let mut counts: BTreeMap<(SafeText, Option<TagId>), u64> = BTreeMap::new();
    for cluster in clusters {
        for value in values(cluster, kind) {
            *counts.entry(value).or_default() += 1;
        }
    }
    let facet = |((name, tag), count)| Facet { name, tag, count };
    let mut facets: Vec<Facet> = counts.into_iter().map(facet).collect();
    // The sort is stable, so that facets with equal counts stay sorted by name.
    facets.sort_by_key(|facet| std::cmp::Reverse(facet.count));
    facets
}

fn values(cluster: &Cluster, kind: FacetKind) -> BTreeSet<(SafeText, Option<TagId>)> {
    match kind {
        FacetKind::Folder => BTreeSet::new(),
        FacetKind::Label => cluster.labels.iter().map(|label| (label.clone(), None)).collect(),
        FacetKind::Tag => cluster.tags.iter().map(|tag| (tag.name.clone(), tag.id)).collect(),
        FacetKind::CaptionWord => {
            let of_previews =
                cluster.previews.iter().filter_map(|preview| preview.caption.as_ref());
            let captions = cluster.captions.iter().chain(of_previews);
            let words = captions.flat_map(|caption| caption_words(caption.as_str()));
            words.map(|word| (SafeText::name(&word), None)).collect()
        }
    }
}

/// Returns the different words of a caption, without words that say nothing about a picture.
pub fn caption_words(caption: &str) -> BTreeSet<String> {
    let text = caption.to_lowercase();
    // A vowel sign (in Devanagari, for example) is in one grapheme with the letter before it.
    let graphemes: Vec<&str> = text.graphemes(true).collect();
    let words = graphemes.split(|grapheme| !grapheme.starts_with(char::is_alphanumeric));
    words
        .map(<[&str]>::concat)
        .filter(|word| {
            word.chars().count() >= MIN_WORD_CHARS && !STOP_WORDS.contains(&word.as_str())
        })
        .collect()
}

/// Labels with one of these words before the colon are metadata.
const METADATA_LABEL_KINDS: [&str; 9] =
    ["year", "date", "camera", "lens", "exposure", "aperture", "iso", "focal-length", "gps"];

/// Whether a label says how a picture was made, or how many stars it has, rather than what it shows.
pub fn is_metadata_label(label: &str) -> bool {
    label.split_once(':').is_some_and(|(kind, value)| match kind {
        // A rating such as `rating:pg13` is a class.
        "rating" => value.parse().is_ok_and(|stars| (1..=MAX_RATING).contains(&stars)),
        _ => METADATA_LABEL_KINDS.contains(&kind),
    })
}

/// The bounds of a histogram are multiples of this step.
const BOUND: f64 = 0.05;

#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// The lower bound of the first interval, and the upper bound of the last interval.
    pub range: (f64, f64),
    pub counts: Vec<usize>,
}

impl Histogram {
    /// Counts `values` in `intervals` intervals. Returns `None` if no value is finite or `intervals` is 0.
    pub fn new(values: &[f64], intervals: usize) -> Option<Self> {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let (min, max) = (finite().reduce(f64::min)?, finite().reduce(f64::max)?);
        let start = (min / BOUND).floor() * BOUND;
        // The end is above every value.
        let end = ((max / BOUND).floor() + 1.0) * BOUND;
        let mut histogram = Self { range: (start, end), counts: vec![0; intervals] };
        for value in finite() {
            let index = histogram.index_of(value)?;
            histogram.counts[index] += 1;
        }
        (intervals > 0).then_some(histogram)
    }

    /// Returns the interval that contains a value. A value outside the range is in the first or the last interval.
    pub fn index_of(&self, value: f64) -> Option<usize> {
        let (start, end) = self.range;
        let last = self.counts.len().checked_sub(1)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index of a few hundred, which saturates"
        )]
        let index = ((value - start) / (end - start) * self.counts.len() as f64) as usize;
        Some(index.min(last))
    }

    pub fn largest_count(&self) -> usize {
        self.counts.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_without_meaning_are_left_out() {
        let words = caption_words("Two red-brick houses, with the sea behind; a RED van");
        assert_eq!(words.into_iter().collect::<Vec<_>>(), ["brick", "houses", "red", "sea", "van"]);
    }

    #[test]
    fn words_contain_their_vowel_signs() {
        let words = caption_words("बिल्ली खिड़की पर। பூனைகள்");
        assert_eq!(words.into_iter().collect::<Vec<_>>(), ["खिड़की", "बिल्ली", "பூனைகள்"]);
    }

    #[test]
    fn other_labels_with_a_colon_say_what_a_picture_shows() {
        let shown = ["dog", "animal:dog", "person:Ada", "years:2024", "rating:pg13", "rating:6"];
        assert!(!shown.into_iter().any(is_metadata_label));
        assert!(["year:2024", "camera:NIKON D90", "rating:4"].into_iter().all(is_metadata_label));
    }

    #[test]
    fn values_are_counted_in_equal_intervals() {
        let histogram = Histogram::new(&[0.11, 0.12, 0.19, 0.2], 4).unwrap();
        assert!((histogram.range.0 - 0.1).abs() < 1e-9 && (histogram.range.1 - 0.25).abs() < 1e-9);
        assert_eq!(histogram.counts, [2, 0, 2, 0]);
        assert_eq!(histogram.index_of(-1.0), Some(0));
        assert_eq!(histogram.index_of(9.0), Some(3));
    }

    #[test]
    fn equal_values_have_a_range_and_no_values_have_no_histogram() {
        assert_eq!(Histogram::new(&[0.0, 0.0], 3).unwrap().counts, [2, 0, 0]);
        assert_eq!(Histogram::new(&[f64::NAN], 3), None);
        assert_eq!(Histogram::new(&[0.5], 0), None);
    }
}
