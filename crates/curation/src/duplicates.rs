//! Decides which of several near-duplicates to keep. Every file that is not kept is a near-duplicate of a kept one, so
//! that no picture is lost. The decision depends only on the images and the rule.

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
    fmt,
    fs::{self, Metadata},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    str::FromStr,
};

use glob::{MatchOptions, Pattern};

use tessera_model::{
    Region, UserTags,
    tag::{PICKED, REJECTED},
    text::composed,
    vql::ExtraColumns,
};

use crate::{
    FileAction, FileActionPreview, FoundOriginals, Original, Plan, Replacement, Skipped,
    file_operations::{entry_of, is_same_entry, is_same_file},
    plan::{KeptFile, LinkKind},
};

/// An image that has near-duplicates.
#[derive(Clone, Debug, PartialEq)]
pub struct DuplicateImage {
    /// The ID of the media item.
    pub media: String,
    pub original: Original,
    /// Width and height in pixels.
    pub size: (u32, u32),
    pub pixels: u64,
    /// How blurred the image is, 0-100. In whole percent, images of the same sharpness are equal.
    pub blur_percent: u8,
    /// The rating, and the tags of sidecars and users.
    pub given: UserTags,
    pub caption: Option<String>,
    /// The labels that the dataset has of the image. Those of a model do not count.
    pub labels: Vec<String>,
    pub objects: Vec<ObjectInImage>,
    pub extra_columns: ExtraColumns,
}

/// An object of an image, as far as the objects of near-duplicates are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectInImage {
    pub label: String,
    pub region: Region,
    /// Whether the object has polygons, whether it has a mask, and whether it has keypoints.
    pub outlines: [bool; 3],
}

impl ObjectInImage {
    /// Whether the object of a near-duplicate is the same one. Copies of other sizes have rounded boxes.
    fn is_in(&self, other: &DuplicateImage) -> bool {
        const TOLERANCE: f64 = 0.02;
        let near = |one: (f64, f64), other: (f64, f64)| {
            (one.0 - other.0).abs() < TOLERANCE && (one.1 - other.1).abs() < TOLERANCE
        };
        let has_outlines_of_self =
            |it: &Self| it.outlines.iter().zip(self.outlines).all(|(has, wanted)| *has || !wanted);
        other.objects.iter().any(|it| {
            it.label == self.label
                && has_outlines_of_self(it)
                && near(it.region.top_left(), self.region.top_left())
                && near(it.region.bottom_right(), self.region.bottom_right())
        })
    }
}

impl DuplicateImage {
    fn has_tag(&self, tag: &str) -> bool {
        self.given.tags.iter().any(|name| name == tag)
    }

    /// Returns the marks of the image as tiles show them, and whether the image has a caption, labels, objects or
    /// columns.
    pub fn marks(&self) -> String {
        self.marks_beyond(&[])
    }

    /// Returns the marks for what this image has and none of the other images has.
    fn marks_beyond(&self, others: &[Self]) -> String {
        let is_new = |tag: &&String| !others.iter().any(|other| other.has_tag(tag));
        let has_new_label = self
            .labels
            .iter()
            .any(|label| !others.iter().any(|other| other.labels.contains(label)));
        let has_new_object =
            self.objects.iter().any(|object| !others.iter().any(|other| object.is_in(other)));
        // The values of some columns, such as an id, are different in every copy.
        let has_new_column = self
            .extra_columns
            .keys()
            .any(|name| !others.iter().any(|other| other.extra_columns.contains_key(name)));
        let new_tags: Vec<&String> = self.given.tags.iter().filter(is_new).collect();
        let named = |name: &str, mark: &str| {
            new_tags.iter().any(|tag| *tag == name).then(|| mark.to_owned())
        };
        let further =
            new_tags.iter().filter(|tag| ![PICKED, REJECTED].contains(&tag.as_str())).count();
        let rating = self.given.rating;
        let marks = [
            named(PICKED, "✔"),
            named(REJECTED, "✖"),
            (rating > 0 && others.iter().all(|it| it.given.rating < rating))
                .then(|| format!("★{rating}")),
            (further > 0).then(|| format!("#{further}")),
            (self.caption.is_some() && others.iter().all(|it| it.caption != self.caption))
                .then(|| "caption".to_owned()),
            has_new_label.then(|| "labels".to_owned()),
            has_new_object.then(|| "objects".to_owned()),
            has_new_column.then(|| "columns".to_owned()),
        ];
        marks.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// Whether both files have the same bytes.
    pub fn has_bytes_of(&self, other: &Self) -> bool {
        let hash = self.original.content.hash;
        hash.is_some() && hash == other.original.content.hash
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimilarPair {
    /// The positions of two images, the lower one first.
    pub images: (usize, usize),
    /// 1.0 for identical pictures.
    pub similarity: f32,
}

/// Images with the pairs of near-duplicates among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimilarImages {
    pub images: Vec<DuplicateImage>,
    pub pairs: Vec<SimilarPair>,
    /// Near-duplicates that no action can be about, because they are not files of the user's own folders.
    pub left_out: Vec<Skipped>,
}

/// Which image of a group to keep.
#[derive(Clone, Debug, PartialEq)]
pub enum KeepRule {
    /// The image with the most pixels.
    Largest,
    /// The file that was changed first.
    Oldest,
    /// The image with the most pixels that are not blurred.
    BestQuality,
    ShortestName,
    /// All images in a folder.
    InFolder(PathBuf),
    /// All images whose path below the folder of the dataset matches.
    Path(Pattern),
}

impl KeepRule {
    pub const NAMES: &str =
        "largest, oldest, best-quality, shortest-name, in:FOLDER or path:PATTERN";
    /// What a rule begins with, for completion.
    pub const COMPLETIONS: [&str; 6] =
        ["largest", "oldest", "best-quality", "shortest-name", "in:", "path:"];
}

impl fmt::Display for KeepRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Largest => f.write_str("largest"),
            Self::Oldest => f.write_str("oldest"),
            Self::BestQuality => f.write_str("best-quality"),
            Self::ShortestName => f.write_str("shortest-name"),
            Self::InFolder(folder) => write!(f, "in:{}", folder.display()),
            Self::Path(pattern) => write!(f, "path:{pattern}"),
        }
    }
}

impl FromStr for KeepRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text.split_once(':') {
            Some(("in", folder)) if !folder.is_empty() => Self::InFolder(folder.into()),
            Some(("path", pattern)) if !pattern.is_empty() => {
                let pattern = &*composed(pattern);
                Self::Path(Pattern::new(pattern).map_err(|error| format!("`{pattern}`: {error}"))?)
            }
            _ => match text {
                "largest" => Self::Largest,
                "oldest" => Self::Oldest,
                "best-quality" => Self::BestQuality,
                "shortest-name" => Self::ShortestName,
                _ => return Err(format!("expected {}", Self::NAMES)),
            },
        })
    }
}

/// A group with the decision about it.
#[derive(Clone, Debug, PartialEq)]
pub struct DuplicateGroup {
    /// The image that stays, or all images of a group that the rule does not decide, the best one first.
    pub kept: Vec<DuplicateImage>,
    /// The other images, each a near-duplicate of a kept one. Empty if no image matches the rule.
    pub others: Vec<OtherImage>,
}

/// An image that need not be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherImage {
    pub image: DuplicateImage,
    /// The path of the most similar kept image.
    pub kept: PathBuf,
    pub similarity: f32,
    /// Whether both files have the same bytes.
    pub is_identical: bool,
}

impl OtherImage {
    /// Whether its file is another name of the kept file, so that removing it frees nothing.
    pub fn is_linked(&self) -> bool {
        is_same_file(&self.image.original.path, &self.kept).unwrap_or(false)
    }
}

/// Returns the bytes that become free when the other images are removed. A file becomes free with its last name, and a
/// symbolic link has no bytes of its own.
pub fn freed_bytes(groups: &[DuplicateGroup]) -> u64 {
    let mut names: HashMap<(u64, u64), u64> = HashMap::new();
    let removed = groups.iter().flat_map(|group| &group.others);
    let size = |other: &OtherImage| {
        let file =
            fs::symlink_metadata(&other.image.original.path).ok().filter(Metadata::is_file)?;
        let removed = names.entry((file.dev(), file.ino())).or_default();
        *removed += 1;
        (*removed == file.nlink()).then_some(file.len())
    };
    removed.filter_map(size).sum()
}

/// Divides images into groups by a rule. Each image is in one group at most.
pub fn decide(
    sets: &[SimilarImages],
    rule: &KeepRule,
    only_identical: bool,
) -> Vec<DuplicateGroup> {
    let mut groups: Vec<DuplicateGroup> =
        sets.iter().flat_map(|set| Decision::new(set, rule, only_identical).groups()).collect();
    groups.sort_by(|one, other| one.kept[0].original.path.cmp(&other.kept[0].original.path));
    groups
}

/// Removes the images that are links to a kept file already, because another link would free nothing.
pub fn without_linked(groups: Vec<DuplicateGroup>) -> Vec<DuplicateGroup> {
    let remaining = |mut group: DuplicateGroup| {
        let is_undecided = group.others.is_empty();
        group.others.retain(|other| !other.is_linked());
        (is_undecided || !group.others.is_empty()).then_some(group)
    };
    groups.into_iter().filter_map(remaining).collect()
}

/// The decision about the images of one set.
struct Decision<'a> {
    images: &'a [DuplicateImage],
    rule: &'a KeepRule,
    /// The near-duplicates of each image with their similarity, the most similar one first.
    partners: Vec<Vec<(usize, f32)>>,
    /// Whether each image is in a group already.
    is_known: Vec<bool>,
}

impl<'a> Decision<'a> {
    fn new(set: &'a SimilarImages, rule: &'a KeepRule, only_identical: bool) -> Self {
        let images = &set.images;
        let mut partners: Vec<HashMap<usize, f32>> = vec![HashMap::new(); images.len()];
        let pairs = set.pairs.iter().filter(|_| !only_identical);
        for SimilarPair { images: (one, other), similarity } in pairs {
            partners[*one].insert(*other, *similarity);
            partners[*other].insert(*one, *similarity);
        }
        let mut by_hash: HashMap<[u8; 32], Vec<usize>> = HashMap::new();
        for (at, image) in images.iter().enumerate() {
            let Some(hash) = image.original.content.hash else { continue };
            by_hash.entry(hash).or_default().push(at);
        }
        for same in by_hash.values() {
            for &one in same {
                partners[one].extend(same.iter().filter(|at| **at != one).map(|at| (*at, 1.0)));
            }
        }
        let sorted = |partners: HashMap<usize, f32>| {
            let mut partners: Vec<(usize, f32)> = partners.into_iter().collect();
            partners.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            partners
        };
        let partners = partners.into_iter().map(sorted).collect();
        Self { images, rule, partners, is_known: vec![false; images.len()] }
    }

    fn groups(mut self) -> Vec<DuplicateGroup> {
        let mut order: Vec<usize> = (0..self.images.len()).collect();
        order.sort_by_cached_key(|&at| preference(&self.images[at], self.rule));
        self.leave_out_second_paths(&order);
        let mut groups = Vec::new();
        for &at in &order {
            if !self.is_known[at] && self.matches(at) {
                groups.extend(self.group_of(at));
            }
        }
        groups.extend(self.undecided(&order));
        groups
    }

    /// Omits all paths but one of a file whose folder is mounted twice.
    fn leave_out_second_paths(&mut self, order: &[usize]) {
        let mut entries = HashSet::new();
        let (matching, others): (Vec<usize>, _) = order.iter().partition(|at| self.matches(**at));
        for at in matching.into_iter().chain(others) {
            let entry = entry_of(&self.images[at].original.path);
            self.is_known[at] = entry.is_ok_and(|entry| !entries.insert(entry));
        }
    }

    fn matches(&self, at: usize) -> bool {
        matches_rule(&self.images[at].original, self.rule)
    }

    /// Returns the group of an image that is kept.
    fn group_of(&mut self, at: usize) -> Option<DuplicateGroup> {
        let keeps_all = matches!(self.rule, KeepRule::InFolder(_) | KeepRule::Path(_));
        let best = &self.images[at];
        self.is_known[at] = true;
        let mut group = DuplicateGroup { kept: vec![best.clone()], others: Vec::new() };
        for (other, similarity) in std::mem::take(&mut self.partners[at]) {
            // Each image that matches such a rule is kept in a group of its own.
            if self.is_known[other] || keeps_all && self.matches(other) {
                continue;
            }
            self.is_known[other] = true;
            let image = self.images[other].clone();
            let is_identical = image.has_bytes_of(best);
            let kept = best.original.path.clone();
            group.others.push(OtherImage { image, kept, similarity, is_identical });
        }
        (!group.others.is_empty()).then_some(group)
    }

    /// Returns the near-duplicates that the rule does not decide, as one group that stays whole.
    fn undecided(&self, order: &[usize]) -> Option<DuplicateGroup> {
        let is_open = |at: &usize| {
            let mut partners = self.partners[*at].iter();
            !self.is_known[*at] && partners.any(|(other, _)| !self.is_known[*other])
        };
        let open = order.iter().copied().filter(is_open);
        let kept: Vec<DuplicateImage> = open.map(|at| self.images[at].clone()).collect();
        (!kept.is_empty()).then_some(DuplicateGroup { kept, others: Vec::new() })
    }
}

fn matches_rule(original: &Original, rule: &KeepRule) -> bool {
    match rule {
        KeepRule::InFolder(folder) => {
            let in_nfc = |path: &Path| PathBuf::from(&*composed(&path.to_string_lossy()));
            in_nfc(&original.path).starts_with(in_nfc(&original.folder.join(folder)))
        }
        KeepRule::Path(pattern) => {
            let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
            let below = original.path.strip_prefix(&original.folder).unwrap_or(Path::new(""));
            pattern.matches_with(&composed(&below.to_string_lossy()), options)
        }
        _ => true,
    }
}

/// Returns the order in which images are preferred. Images that are equal by the rule are ordered by what users have
/// given to them, and then by their pixels, bytes, age, and path.
fn preference(image: &DuplicateImage, rule: &KeepRule) -> impl Ord + use<> {
    let content = &image.original.content;
    let name = image.original.path.file_name().map_or(0, std::ffi::OsStr::len);
    // Compression alone changes the blur by a few percent, so only its tenths count.
    let sharp_pixels = |image: &DuplicateImage| {
        image.pixels.saturating_mul(u64::from(10 - image.blur_percent.min(100) / 10))
    };
    let by_rule = match rule {
        KeepRule::BestQuality => i128::from(u64::MAX - sharp_pixels(image)),
        KeepRule::Oldest => i128::from(content.modified),
        KeepRule::ShortestName => name as i128,
        KeepRule::Largest => i128::from(u64::MAX - image.pixels),
        KeepRule::InFolder(_) | KeepRule::Path(_) => 0,
    };
    let described = [
        image.caption.is_some(),
        !image.labels.is_empty(),
        !image.given.tags.is_empty(),
        !image.objects.is_empty(),
        !image.extra_columns.is_empty(),
    ];
    let descriptions = described.into_iter().filter(|is_given| *is_given).count();
    let by_users = (
        image.has_tag(REJECTED),
        !image.has_tag(PICKED),
        Reverse(image.given.rating),
        Reverse(descriptions),
    );
    let ties = (Reverse(image.pixels), Reverse(content.size), content.modified);
    (by_rule, by_users, ties, image.original.path.as_os_str().len(), image.original.path.clone())
}

impl FileActionPreview {
    /// Plans an action on the images that are not kept. Every byte of their files is compared with the indexed one. If
    /// a kept image has changed since it was indexed, the images of its group stay.
    pub fn of_duplicates(action: FileAction, groups: Vec<DuplicateGroup>) -> Self {
        let mut found = FoundOriginals::default();
        let mut decided = Vec::new();
        for mut group in groups {
            let others = std::mem::take(&mut group.others);
            for other in others {
                match reason_to_stay(&other, &group.kept) {
                    None => group.others.push(other),
                    Some(reason) => {
                        found.refused.push(Skipped::new(other.image.original.path, reason));
                    }
                }
            }
            decided.push(group);
        }
        if let FileAction::Replace(kind) = action {
            let mut plan = Plan::linking_duplicates(kind, &decided);
            let others = decided.into_iter().flat_map(|group| group.others);
            plan.skipped = found.refused;
            plan.skipped.extend(others.filter(|other| !other.is_identical).map(|other| {
                let reason = "its bytes are not those of the kept image";
                Skipped::new(other.image.original.path, reason)
            }));
            return Self::of_plan(plan);
        }
        let marked = decided.iter().flat_map(|group| {
            let of_group = group.others.iter().map(|other| &other.image);
            of_group.filter(|image| !image.has_tag(REJECTED)).filter_map(|image| {
                let marks = image.marks_beyond(&group.kept);
                let path = image.original.path.display();
                (!marks.is_empty()).then(|| format!("{path} ({marks})"))
            })
        });
        let marked = marked.collect();
        let mut kept = HashMap::new();
        for DuplicateGroup { kept: images, others } in decided {
            for other in others {
                let original = images.iter().find(|it| it.original.path == other.kept);
                let original = original.map(|image| &image.original);
                let file =
                    original.map(|it| KeptFile { path: it.path.clone(), content: it.content });
                kept.insert(other.image.original.path.clone(), file);
                found.originals.push(other.image.original);
            }
        }
        let mut preview = Self::new(action, found, false);
        for step in &mut preview.plan.steps {
            step.kept = kept.remove(&step.source).flatten();
        }
        Self { plan: preview.plan.checking_bytes(), marked, ..preview }
    }
}

/// Returns why an image must not be acted on.
fn reason_to_stay(other: &OtherImage, kept: &[DuplicateImage]) -> Option<&'static str> {
    let is_changed = |kept: &DuplicateImage| {
        let Original { content, path, .. } = &kept.original;
        content.check(path).is_err()
    };
    let path = &other.image.original.path;
    let is_other =
        |kept: &DuplicateImage| is_same_entry(path, &kept.original.path).unwrap_or(false);
    if kept.iter().any(|kept| kept.original.path.is_symlink()) {
        return Some("the image to keep is a symbolic link");
    }
    if kept.iter().any(is_changed) {
        return Some("the image to keep has changed since it was indexed");
    }
    kept.iter().any(is_other).then_some("it is the file of the image to keep")
}

impl Plan {
    /// Plans to replace identical files by links to the kept ones. Files that are not identical stay.
    pub fn linking_duplicates(kind: LinkKind, groups: &[DuplicateGroup]) -> Self {
        let others = groups.iter().flat_map(|group| &group.others).filter(|it| it.is_identical);
        let replacement = |other: &OtherImage| Replacement {
            copy: other.image.original.clone(),
            kept: other.kept.clone(),
        };
        Self::replacing(kind, others.map(replacement).collect())
    }
}
