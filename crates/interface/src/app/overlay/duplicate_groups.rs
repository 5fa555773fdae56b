//! Keeps the decisions about groups of near-duplicates: which images stay and which go, what speaks for each image, and
//! how to undo a decision. Come here to change what a review decides; the dialog is in `duplicate_review`.

use std::{cmp::Reverse, collections::BTreeMap};

use tessera_curation::duplicates::{DuplicateGroup, DuplicateImage, OtherImage};
use tessera_model::{
    EntityType, EntryContent, Granularity, MediaId, SafeText, Selection, SelectionEntry,
    text::{format_bytes, format_day},
};

/// The images that the user has decided about. The value is whether the image goes.
pub type Decisions = BTreeMap<MediaId, bool>;

const NANOSECONDS_OF_DAY: i64 = 86_400_000_000_000;

/// Why the last image of a group cannot go.
const LAST_KEPT: &str = "this is the last image of its group that stays; keep another one first";

#[derive(Clone, Debug)]
pub struct ReviewImage {
    pub media: MediaId,
    pub image: DuplicateImage,
    /// How similar the image is to the first one of its group, or `None` for the first one.
    pub similarity: Option<f32>,
    /// Whether the file has the same bytes as the first one of its group.
    pub is_identical: bool,
    /// Whether the rule suggests that the image goes.
    is_suggested_to_go: bool,
}

impl ReviewImage {
    fn new(image: &DuplicateImage) -> Option<Self> {
        Some(Self {
            media: image.media.parse().ok()?,
            image: image.clone(),
            similarity: None,
            is_identical: false,
            is_suggested_to_go: false,
        })
    }

    pub fn bytes(&self) -> u64 {
        self.image.original.content.size
    }

    /// Returns the path below the folder of the dataset.
    pub fn path(&self) -> SafeText {
        let original = &self.image.original;
        let path = original.path.strip_prefix(&original.folder).unwrap_or(&original.path);
        SafeText::detail(&path.to_string_lossy())
    }

    /// Returns the format by the file name, in capitals.
    pub fn format(&self) -> SafeText {
        let extension = self.image.original.path.extension().unwrap_or_default();
        SafeText::name(&extension.to_string_lossy().to_uppercase())
    }
}

/// A property by which images of a group are compared. A larger value is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merit {
    Pixels,
    Bytes,
    Age,
    Sharpness,
}

impl Merit {
    pub(super) const ALL: [Self; 4] = [Self::Pixels, Self::Bytes, Self::Age, Self::Sharpness];

    pub(super) fn text(self, image: &ReviewImage) -> String {
        let DuplicateImage { size: (columns, rows), original, blur_percent, .. } = &image.image;
        match self {
            Self::Pixels => format!("{columns}×{rows}"),
            Self::Bytes => format_bytes(original.content.size),
            Self::Age => {
                let milliseconds = original.content.modified.div_euclid(1_000_000);
                format_day(milliseconds).unwrap_or_default()
            }
            Self::Sharpness => format!("blur {blur_percent} %"),
        }
    }

    fn value(self, image: &ReviewImage) -> i128 {
        let DuplicateImage { pixels, original, blur_percent, .. } = &image.image;
        match self {
            Self::Pixels => i128::from(*pixels),
            Self::Bytes => i128::from(original.content.size),
            // Only the day is shown, so only the day counts.
            Self::Age => -i128::from(original.content.modified.div_euclid(NANOSECONDS_OF_DAY)),
            Self::Sharpness => -i128::from(*blur_percent),
        }
    }
}

#[derive(Clone, Debug)]
pub struct ReviewGroup {
    /// The images, first those that the rule suggests to keep.
    pub images: Vec<ReviewImage>,
}

impl ReviewGroup {
    fn new(group: &DuplicateGroup) -> Self {
        let kept = group.kept.iter().filter_map(ReviewImage::new);
        let others = group.others.iter().filter_map(|other| {
            Some(ReviewImage {
                similarity: Some(other.similarity),
                is_identical: other.is_identical,
                is_suggested_to_go: true,
                ..ReviewImage::new(&other.image)?
            })
        });
        Self { images: kept.chain(others).collect() }
    }

    /// Returns the path of the first image.
    pub fn name(&self) -> SafeText {
        self.images.first().map(ReviewImage::path).unwrap_or_default()
    }

    /// Returns whether an image has the best value of the group, and another image has a worse one.
    pub fn is_better(&self, image: usize, merit: Merit) -> bool {
        let values = || self.images.iter().map(|image| merit.value(image));
        let (best, worst) = (values().max(), values().min());
        best != worst && self.images.get(image).map(|image| merit.value(image)) == best
    }
}

/// How many images of a list of groups stay, how many go, and how many bytes that frees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReviewTotals {
    pub kept: usize,
    pub going: usize,
    pub freed_bytes: u64,
}

/// What was decided about the images of a group before a change.
type Change = Vec<(MediaId, Option<bool>)>;

/// The groups with the decisions about them.
#[derive(Clone, Debug, Default)]
pub struct DuplicateGroups {
    pub groups: Vec<ReviewGroup>,
    decisions: Decisions,
    /// The changes, the latest one last.
    history: Vec<Change>,
}

impl DuplicateGroups {
    /// Continues with the decisions of an earlier review.
    pub fn with_decisions(decisions: Decisions) -> Self {
        Self { decisions, ..Self::default() }
    }

    pub fn decisions(&self) -> &Decisions {
        &self.decisions
    }

    /// Replaces the groups, for example by those of another rule. The group that frees the most bytes comes first. The
    /// user's decisions stay and can be undone, except in groups of which they would keep nothing.
    pub fn replace(&mut self, found: &[DuplicateGroup]) {
        let groups = found.iter().map(ReviewGroup::new);
        self.groups = groups.filter(|group| group.images.len() > 1).collect();
        for group in &self.groups {
            if group.images.iter().all(|image| self.goes(image)) {
                for image in &group.images {
                    self.decisions.remove(&image.media);
                }
            }
        }
        let mut groups = std::mem::take(&mut self.groups);
        groups.sort_by_key(|group| Reverse(self.totals(std::slice::from_ref(group)).freed_bytes));
        self.groups = groups;
    }

    /// Returns whether the user has decided about an image of the group.
    pub fn is_decided(&self, group: &ReviewGroup) -> bool {
        group.images.iter().any(|image| self.decisions.contains_key(&image.media))
    }

    /// Returns whether the rule keeps no image of the group and the user has not decided either, so that nothing goes.
    pub fn is_undecided(&self, group: &ReviewGroup) -> bool {
        !self.is_decided(group) && group.images.iter().all(|image| !image.is_suggested_to_go)
    }

    /// Returns the position of the group that contains an image.
    pub fn position_of(&self, media: MediaId) -> Option<usize> {
        self.groups.iter().position(|group| group.images.iter().any(|it| it.media == media))
    }

    pub fn goes(&self, image: &ReviewImage) -> bool {
        self.decisions.get(&image.media).copied().unwrap_or(image.is_suggested_to_go)
    }

    pub fn totals(&self, groups: &[ReviewGroup]) -> ReviewTotals {
        let images = groups.iter().flat_map(|group| &group.images);
        images.fold(ReviewTotals::default(), |totals, image| {
            if self.goes(image) {
                let freed_bytes = totals.freed_bytes + image.bytes();
                ReviewTotals { going: totals.going + 1, freed_bytes, ..totals }
            } else {
                ReviewTotals { kept: totals.kept + 1, ..totals }
            }
        })
    }

    /// Lets an image go, or keeps it after all.
    pub fn toggle(&mut self, group: usize, image: usize) -> Result<(), &'static str> {
        let Some(images) = self.groups.get(group).map(|group| &group.images) else { return Ok(()) };
        let Some(toggled) = images.get(image) else { return Ok(()) };
        let goes = !self.goes(toggled);
        let others = images.iter().filter(|other| other.media != toggled.media);
        if goes && others.clone().all(|other| self.goes(other)) {
            return Err(LAST_KEPT);
        }
        self.decide(&[(toggled.media, goes)]);
        Ok(())
    }

    /// Keeps one image of a group, and lets the others go.
    pub fn keep_only(&mut self, group: usize, image: usize) {
        self.decide_all(group, |index| index != image);
    }

    /// Keeps all images of a group.
    pub fn keep_all(&mut self, group: usize) {
        self.decide_all(group, |_| false);
    }

    fn decide_all(&mut self, group: usize, goes: impl Fn(usize) -> bool) {
        let Some(found) = self.groups.get(group) else { return };
        let decided = found.images.iter().enumerate().map(|(index, it)| (it.media, goes(index)));
        self.decide(&decided.collect::<Vec<_>>());
    }

    fn decide(&mut self, decided: &[(MediaId, bool)]) {
        let before =
            decided.iter().map(|(media, goes)| (*media, self.decisions.insert(*media, *goes)));
        self.history.push(before.collect());
    }

    /// Undoes the last change in a group that is still there. Returns the group.
    pub fn undo(&mut self) -> Option<usize> {
        let change = self.history.pop()?;
        let Some(group) = self.position_of(change.first()?.0) else { return self.undo() };
        for (media, decision) in change {
            match decision {
                Some(goes) => self.decisions.insert(media, goes),
                None => self.decisions.remove(&media),
            };
        }
        Some(group)
    }

    /// Returns the images that go, in the order of the groups.
    pub fn going(&self) -> impl Iterator<Item = &ReviewImage> {
        self.groups.iter().flat_map(|group| &group.images).filter(|image| self.goes(image))
    }

    /// Returns the groups of which images go, with the decisions of the user.
    pub fn decided(&self) -> Vec<DuplicateGroup> {
        let decided = |group: &ReviewGroup| {
            let (going, kept): (Vec<&ReviewImage>, Vec<&ReviewImage>) =
                group.images.iter().partition(|image| self.goes(image));
            let first = &kept.first()?.image;
            let other = |image: &&ReviewImage| OtherImage {
                image: image.image.clone(),
                kept: first.original.path.clone(),
                similarity: image.similarity.unwrap_or(1.0),
                is_identical: image.image.has_bytes_of(first),
            };
            let others: Vec<OtherImage> = going.iter().map(other).collect();
            let kept = kept.into_iter().map(|image| image.image.clone()).collect();
            (!others.is_empty()).then_some(DuplicateGroup { kept, others })
        };
        self.groups.iter().filter_map(decided).collect()
    }

    /// Returns the images that go as a selection.
    pub fn selection(&self) -> Selection {
        let entry = |image: &ReviewImage| SelectionEntry {
            name: SafeText::file_name(
                &image.image.original.path.file_name().unwrap_or_default().to_string_lossy(),
            ),
            entity: EntityType::Images,
            granularity: Granularity::default(),
            content: EntryContent::MediaItem(image.media, None),
        };
        self.going().map(entry).collect()
    }
}
