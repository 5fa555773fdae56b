//! Decides what an action does to each file, before anything is changed. A picture and its sidecars are one unit: if
//! one of them cannot get its new name, none of them is touched.

use std::{
    collections::{HashMap, HashSet},
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use tessera_files::parent_dir;

use crate::{
    annotations::NamedEntry,
    file_attributes::FileAttributes,
    file_operations::{FileContent, check_removable},
    stored_path,
    trash_can::check_trash,
};

/// A file to act on, as the index knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Original {
    pub path: PathBuf,
    /// The folder of the dataset that contains the file.
    pub folder: PathBuf,
    pub content: FileContent,
    /// The files that describe only this picture.
    pub sidecars: Vec<PathBuf>,
    /// The files that describe this picture and others, such as `a.xmp` of `a.jpg` and `a.nef`.
    pub shared_sidecars: Vec<SharedSidecar>,
    /// The other pictures and videos with the same name and another extension, and the sidecars of each of these alone.
    pub pair: Vec<PathBuf>,
}

/// A sidecar of several pictures.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedSidecar {
    pub path: PathBuf,
    /// All pictures that the sidecar describes.
    pub pictures: Arc<[PathBuf]>,
}

impl Original {
    /// Returns the sidecars of the picture, with those that it shares with others.
    pub fn all_sidecars(&self) -> impl Iterator<Item = &Path> {
        let shared = self.shared_sidecars.iter().map(|sidecar| &sidecar.path);
        self.sidecars.iter().chain(shared).map(PathBuf::as_path)
    }

    /// Returns the pictures that an action on this one acts on.
    fn pictures(&self, with_pair: bool) -> impl Iterator<Item = &Path> {
        let pair = self.pair.iter().filter(move |_| with_pair);
        std::iter::once(&self.path).chain(pair).map(PathBuf::as_path)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetLayout {
    /// The folder for the files, absolute.
    pub folder: PathBuf,
    /// Whether files keep their path below the folder of the dataset.
    pub keeps_folders: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAction {
    Move(TargetLayout),
    Copy(TargetLayout),
    Link(LinkKind, TargetLayout),
    Trash,
    /// Replaces copies by links to a kept file.
    Replace(LinkKind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    Hard,
    Symbolic,
    /// A file of its own that shares its blocks.
    Reflink,
}

impl FileAction {
    pub fn name(&self) -> &'static str {
        self.operation().name()
    }

    fn operation(&self) -> Operation {
        match self {
            Self::Move(_) => Operation::Move,
            Self::Copy(_) => Operation::Copy,
            Self::Link(kind, _) => Operation::Link(*kind),
            Self::Trash => Operation::Trash,
            Self::Replace(kind) => Operation::Replace(*kind),
        }
    }

    /// Returns where the files go, or `None` if the action leaves them in their folders or in the trash.
    pub fn layout(&self) -> Option<&TargetLayout> {
        match self {
            Self::Move(layout) | Self::Copy(layout) | Self::Link(_, layout) => Some(layout),
            Self::Trash | Self::Replace(_) => None,
        }
    }

    /// Returns whether the action only adds files.
    pub fn keeps_originals(&self) -> bool {
        matches!(self, Self::Copy(_) | Self::Link(..))
    }

    /// Whether the files leave their places, so that a file that others need has to stay.
    pub fn removes(&self) -> bool {
        matches!(self, Self::Move(_) | Self::Trash)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    Move,
    Copy,
    Link(LinkKind),
    Trash,
    Replace(LinkKind),
    /// Writes an annotation file that follows the other steps.
    Rewrite,
}

impl Operation {
    pub fn name(self) -> &'static str {
        match self {
            Self::Move => "move",
            Self::Copy => "copy",
            Self::Link(_) => "link",
            Self::Trash => "trash",
            Self::Replace(_) => "replace",
            Self::Rewrite => "rewrite",
        }
    }
}

/// What happens to one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub operation: Operation,
    #[serde(with = "stored_path")]
    pub source: PathBuf,
    /// The new name, for [`Operation::Replace`] the kept file, or for [`Operation::Rewrite`] the name of the old file.
    /// Empty for [`Operation::Trash`].
    #[serde(with = "stored_path")]
    pub target: PathBuf,
    pub content: FileContent,
    /// Whether the file goes with the picture of an earlier step, and stays if that step fails.
    pub is_companion: bool,
    /// Whether every byte is compared before the step, instead of the size and time.
    pub checks_bytes: bool,
    /// What changes in an annotation file, for [`Operation::Rewrite`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<NamedEntry>,
    /// The inode of the file before [`Operation::Trash`], by which it is found in the trash of a system that keeps no
    /// original names there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inode: Option<u64>,
    /// The attributes of the file before [`Operation::Replace`], and its permissions and owner before
    /// [`Operation::Move`].
    #[serde(flatten)]
    pub(crate) attributes: FileAttributes,
    /// The file that is kept in place of this one. Without it, the step is not done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptFile>,
}

/// A file that must still be there before its near-duplicate goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptFile {
    #[serde(with = "stored_path")]
    pub path: PathBuf,
    pub content: FileContent,
}

impl Step {
    pub(crate) fn new(
        operation: Operation,
        source: PathBuf,
        target: PathBuf,
        content: FileContent,
    ) -> Self {
        Self {
            operation,
            source,
            target,
            content,
            is_companion: false,
            checks_bytes: false,
            entries: Vec::new(),
            inode: None,
            attributes: FileAttributes::default(),
            kept: None,
        }
    }

    /// Returns the step with what the journal has to keep about a file that leaves its place or is replaced.
    pub(crate) fn for_journal(&self) -> Self {
        let mut step = self.clone();
        let metadata = fs::symlink_metadata(&self.source).ok();
        match self.operation {
            Operation::Trash => step.inode = metadata.map(|it| it.ino()),
            Operation::Move => {
                step.attributes = metadata.as_ref().map(Into::into).unwrap_or_default();
            }
            Operation::Replace(_) => {
                step.attributes = FileAttributes::recorded(&self.source).unwrap_or_default();
            }
            _ => {}
        }
        step
    }
}

/// A file that the action leaves alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub path: PathBuf,
    pub reason: String,
}

impl Skipped {
    pub fn new(path: PathBuf, reason: impl Into<String>) -> Self {
        Self { path, reason: reason.into() }
    }
}

/// The originals that an action is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundOriginals {
    pub originals: Vec<Original>,
    /// What has no file of its own on this machine.
    pub refused: Vec<Skipped>,
    /// The annotation files of the dataset that name one of the originals among others.
    pub annotations: Vec<PathBuf>,
    /// The class names of the dataset, if an original has a text that may be labels with numbers.
    pub class_names: Vec<PathBuf>,
    /// The other media of the dataset whose files have the name of an original. Empty without annotation files.
    pub namesakes: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub action: FileAction,
    /// The steps of each picture, directly followed by those of its sidecars.
    pub steps: Vec<Step>,
    pub skipped: Vec<Skipped>,
    /// The sidecars that stay, because a picture that stays needs them.
    pub kept_sidecars: Vec<PathBuf>,
}

/// Whether names that differ only in case are one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    Exact,
    IgnoresCase,
}

/// Finds out how the disk of a folder compares names, by looking up an existing name in another case. The name is in
/// the folder, or else in a folder above it on the same disk. Nothing is written. If there is no name to look up, the
/// disk is assumed to ignore case, which is stricter.
pub fn name_rule(folder: &Path) -> NameRule {
    let device = |folder: &Path| fs::metadata(folder).map(|it| it.dev()).ok();
    let mut existing = folder.ancestors().filter(|folder| folder.is_dir()).peekable();
    let Some(first) = existing.peek().map(|folder| device(folder)) else { return NameRule::Exact };
    let same_disk = existing.take_while(|folder| device(folder) == first);
    same_disk.into_iter().find_map(rule_of_names).unwrap_or(NameRule::IgnoresCase)
}

/// Compares the first names of a folder with themselves in other case. Returns `None` if no name has letters.
fn rule_of_names(folder: &Path) -> Option<NameRule> {
    let swapped = |name: &str| -> String {
        name.chars()
            .map(|c| {
                if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
            })
            .collect()
    };
    let file = |name: &str| fs::symlink_metadata(folder.join(name)).map(|it| (it.dev(), it.ino()));
    let names = fs::read_dir(folder).into_iter().flatten().flatten().take(100);
    let mut names = names.filter_map(|entry| entry.file_name().into_string().ok());
    let name = names.find(|name| swapped(name) != *name)?;
    Some(match (file(&name), file(&swapped(&name))) {
        (Ok(one), Ok(other)) if one == other => NameRule::IgnoresCase,
        _ => NameRule::Exact,
    })
}

/// A copy, and the file that takes its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Replacement {
    pub copy: Original,
    pub kept: PathBuf,
}

impl Plan {
    /// Plans an action. `with_pairs` includes the pairs of pictures. `exists` returns whether a target is taken.
    pub fn new(
        action: FileAction,
        originals: &[Original],
        with_pairs: bool,
        rule: NameRule,
        exists: impl Fn(&Path) -> bool,
    ) -> Self {
        let mut planner = Planner {
            plan: Self {
                action,
                steps: Vec::new(),
                skipped: Vec::new(),
                kept_sidecars: Vec::new(),
            },
            acted_on: originals.iter().flat_map(|it| it.pictures(with_pairs)).collect(),
            with_pairs,
            rule,
            taken: HashMap::new(),
            known: HashSet::new(),
            needed: HashMap::new(),
            originals: originals.iter().map(|it| (&*it.path, it)).collect(),
            exists,
        };
        planner.add_all(originals);
        let mut plan = planner.plan;
        plan.kept_sidecars.sort();
        plan.kept_sidecars.dedup();
        plan
    }

    /// Plans to replace copies by links. Sidecars of copies stay, because they are files of their own.
    pub fn replacing(kind: LinkKind, replacements: Vec<Replacement>) -> Self {
        let step = |Replacement { copy, kept }| Step {
            checks_bytes: true,
            ..Step::new(Operation::Replace(kind), copy.path, kept, copy.content)
        };
        Self {
            action: FileAction::Replace(kind),
            steps: replacements.into_iter().map(step).collect(),
            skipped: Vec::new(),
            kept_sidecars: Vec::new(),
        }
    }

    /// Compares every byte of the indexed files before they are acted on.
    pub fn checking_bytes(mut self) -> Self {
        for step in &mut self.steps {
            step.checks_bytes = step.content.hash.is_some();
        }
        self
    }

    /// Returns the bytes of the files, without annotation files.
    pub fn bytes(&self) -> u64 {
        self.files().map(|step| step.content.size).sum()
    }

    /// Returns the number of pictures and videos, without their sidecars.
    pub fn pictures(&self) -> usize {
        self.files().filter(|step| !step.is_companion).count()
    }

    /// Returns the sidecars that go from a parallel folder to `folder`, to which their pictures go.
    pub(crate) fn sidecars_put_beside(&self, folder: &Path) -> Vec<PathBuf> {
        let (mut pictures, mut sidecars) = (Path::new(""), Vec::new());
        for Step { source, target, is_companion, .. } in self.files() {
            if !is_companion {
                pictures = parent_dir(source);
            } else if parent_dir(source) != pictures && parent_dir(target) == folder {
                sidecars.push(source.clone());
            }
        }
        sidecars
    }

    /// Returns the folders other than `target`, to which the pictures go, and the number of sidecars that go there.
    pub(crate) fn parallel_targets(&self, target: &Path) -> (Vec<PathBuf>, usize) {
        let folders = self.files().map(|step| parent_dir(&step.target));
        let mut folders: Vec<_> = folders.filter(|folder| *folder != target).collect();
        let count = folders.len();
        folders.sort();
        folders.dedup();
        (folders.into_iter().map(Path::to_owned).collect(), count)
    }

    /// Returns the steps of pictures, videos and sidecars.
    pub fn files(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.operation != Operation::Rewrite)
    }
}

struct Planner<'a, E> {
    plan: Plan,
    /// The pictures of the action that are not refused.
    acted_on: HashSet<&'a Path>,
    with_pairs: bool,
    rule: NameRule,
    /// The new names of earlier files, with the folders that the files are in.
    taken: HashMap<PathBuf, PathBuf>,
    /// The sources of earlier steps.
    known: HashSet<PathBuf>,
    /// Whether a picture that stays needs a shared sidecar. Thousands of pictures can share one.
    needed: HashMap<&'a Path, bool>,
    /// The pictures of the action.
    originals: HashMap<&'a Path, &'a Original>,
    exists: E,
}

impl<'a, E: Fn(&Path) -> bool> Planner<'a, E> {
    fn add_all(&mut self, originals: &'a [Original]) {
        for original in originals {
            self.add(original);
        }
        // The sidecars that a refused picture shares stay with it, so the other pictures are planned again.
        let refused: HashSet<&Path> = self.plan.skipped.iter().map(|it| &*it.path).collect();
        let (stay, leave): (Vec<&Original>, Vec<_>) =
            originals.iter().partition(|original| refused.contains(&*original.path));
        let leaving: HashSet<&Path> =
            leave.iter().flat_map(|it| it.pictures(self.with_pairs)).collect();
        let shared = stay.iter().flat_map(|it| &it.shared_sidecars);
        if self.plan.action.removes() && is_of_any(shared, |picture| leaving.contains(picture)) {
            self.acted_on = leaving;
            self.plan.steps.clear();
            self.needed.clear();
            self.taken.clear();
            self.known.clear();
            for original in leave {
                self.add(original);
            }
        }
    }

    fn add(&mut self, original: &'a Original) {
        if self.known.contains(&original.path) {
            return;
        }
        match self.unit(original) {
            Ok(steps) => {
                self.known.extend(steps.iter().map(|step| step.source.clone()));
                let folder = |step: &Step| parent_dir(&step.source).to_owned();
                let names: Vec<_> =
                    steps.iter().map(|step| (self.name_of(&step.target), folder(step))).collect();
                self.taken.extend(names);
                self.plan.steps.extend(steps);
            }
            Err(reason) => {
                self.plan.skipped.push(Skipped::new(original.path.clone(), reason));
            }
        }
    }

    /// Returns the steps of a picture and its sidecars.
    fn unit(&mut self, original: &'a Original) -> Result<Vec<Step>, String> {
        let mut content = self.content(&original.path)?;
        let operation = self.plan.action.operation();
        let mut steps: Vec<Step> = Vec::new();
        for (position, path) in self.files(original).into_iter().enumerate() {
            let is_companion = position > 0;
            if self.known.contains(&path) {
                continue;
            }
            let named = |reason: String| {
                if is_companion { format!("{}: {reason}", path.display()) } else { reason }
            };
            if is_companion {
                content = self.content(&path).map_err(named)?;
            }
            let target = self.target(original, &path)?;
            let name = self.name_of(&target);
            let of_unit = steps.iter().find(|step| self.name_of(&step.target) == name);
            let taken_from = of_unit.map(|step| parent_dir(&step.source));
            let taken_from = taken_from.or(self.taken.get(&name).map(PathBuf::as_path));
            if operation != Operation::Trash && (taken_from.is_some() || (self.exists)(&target)) {
                return Err(self.name_conflict(&path, &target, taken_from));
            }
            if self.plan.action.removes() {
                check_removable(&path).map_err(named)?;
            }
            if operation == Operation::Trash {
                check_trash(&path)?;
            }
            steps.push(Step { is_companion, ..Step::new(operation, path, target, content) });
        }
        Ok(steps)
    }

    /// Returns the content of a file of a unit. A picture of the action must be the indexed one, also if it goes with
    /// another picture as its pair.
    fn content(&self, path: &Path) -> Result<FileContent, String> {
        let Some(original) = self.originals.get(path) else {
            return FileContent::of(path).map_err(|error| error.to_string());
        };
        check_place(original)?;
        original.content.check(path).map_err(|error| error.to_string())?;
        Ok(original.content)
    }

    /// Says which file has the new name. `taken_from` is the folder of the other file, if that is a file of the action,
    /// too. Files of one name in several folders can keep their folders.
    fn name_conflict(&self, path: &Path, target: &Path, taken_from: Option<&Path>) -> String {
        let keeps_folders = self.plan.action.layout().is_some_and(|layout| layout.keeps_folders);
        let by = taken_from.map_or("an existing file", |_| "another file of this action");
        let remedy = match taken_from {
            Some(folder) if !keeps_folders && folder != parent_dir(path) => {
                let command = self.plan.action.name();
                format!("; `tessera media {command} --keep-folders` keeps their folders")
            }
            _ => String::new(),
        };
        format!("{} is the name of {by}{remedy}", target.display())
    }

    /// Returns the picture and the files that go with it.
    fn files(&mut self, original: &'a Original) -> Vec<PathBuf> {
        let mut files = vec![original.path.clone()];
        files.extend(original.sidecars.iter().cloned());
        if self.with_pairs {
            files.extend(original.pair.iter().cloned());
        }
        for SharedSidecar { path, pictures } in &original.shared_sidecars {
            let stays = |picture: &PathBuf| !self.acted_on.contains(picture.as_path());
            let is_needed = self.needed.entry(path).or_insert_with(|| pictures.iter().any(stays));
            let stays = *is_needed && self.plan.action.removes();
            let list = if stays { &mut self.plan.kept_sidecars } else { &mut files };
            list.push(path.clone());
        }
        files
    }

    fn target(&self, original: &Original, path: &Path) -> Result<PathBuf, String> {
        let Some(layout) = self.plan.action.layout() else { return Ok(PathBuf::new()) };
        if layout.keeps_folders {
            let below = path.strip_prefix(&original.folder);
            let below = below.map_err(|_| "it is outside the folder of its dataset")?;
            return Ok(layout.folder.join(below));
        }
        let folder = parallel_target(original, parent_dir(path), &layout.folder);
        let folder = folder.unwrap_or_else(|| layout.folder.clone());
        Ok(folder.join(path.file_name().unwrap_or_default()))
    }

    /// Returns the form in which names are compared.
    fn name_of(&self, target: &Path) -> PathBuf {
        match self.rule {
            NameRule::Exact => target.to_owned(),
            NameRule::IgnoresCase => target.to_string_lossy().to_lowercase().into(),
        }
    }
}

/// Whether one of the pictures that these sidecars describe fits. Each list of pictures is searched only once, because
/// thousands of pictures can share it.
fn is_of_any<'a>(
    sidecars: impl Iterator<Item = &'a SharedSidecar>,
    fits: impl Fn(&Path) -> bool,
) -> bool {
    let mut known = HashSet::new();
    let mut sidecars = sidecars.filter(|sidecar| known.insert(sidecar.pictures.as_ptr()));
    sidecars.any(|sidecar| sidecar.pictures.iter().any(|picture| fits(picture)))
}

/// Returns the folder that is to `target` as the folder of a sidecar is to the folder of its picture: `labels/val` for
/// `images/val`, as `labels/train` for `images/train`. Programs that train models look for labels only there.
fn parallel_target(picture: &Original, sidecars: &Path, target: &Path) -> Option<PathBuf> {
    let mut pair = parent_dir(&picture.path).iter().zip(sidecars);
    let (images, labels) = pair.find(|(one, other)| one != other)?;
    let mut parts: Vec<_> = target.iter().collect();
    let position = parts.iter().rposition(|part| *part == images)?;
    parts[position] = labels;
    let root: PathBuf = parts[..=position].iter().collect();
    let is_accepted = if target.starts_with(&picture.folder) {
        // The folder of the dataset can itself be in a folder `images`.
        root.starts_with(&picture.folder)
    } else {
        // Any folder can be called `images`, and training programs find labels beside it only if there is such a
        // folder.
        root.is_dir()
    };
    is_accepted.then(|| parts.into_iter().collect())
}

/// Fails if a folder on the way to a file has become a symbolic link, which could lead to files of another dataset.
fn check_place(original: &Original) -> Result<(), String> {
    let folder = original.path.parent().unwrap_or(Path::new("/"));
    match fs::canonicalize(folder) {
        Ok(real) if real == folder => Ok(()),
        Ok(_) => Err("its folder is reached through a symbolic link".to_owned()),
        Err(error) => Err(format!("its folder cannot be opened: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_pictures_of_a_shared_sidecar_are_searched_only_once() {
        let pictures: Arc<[PathBuf]> = (0..100).map(|number| number.to_string().into()).collect();
        let sidecars = vec![SharedSidecar { path: "scene.txt".into(), pictures }; 100];
        let searched = Cell::new(0);
        let fits = |_: &Path| {
            searched.set(searched.get() + 1);
            false
        };
        assert!(!is_of_any(sidecars.iter(), fits));
        assert_eq!(searched.get(), 100);
        assert!(is_of_any(sidecars.iter(), |picture| picture == Path::new("99")));
    }
}
