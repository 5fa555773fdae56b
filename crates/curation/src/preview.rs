//! Describes a plan to the user before it is carried out: what happens to how many files, and what is left alone and
//! why.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use tessera_model::{
    SafeText,
    text::{count_with_noun, format_bytes, grouped_with_noun},
};

use crate::{
    ActionId, AnnotationFile, FileAction, FoundOriginals, Journal, NameRule, NamedEntry, Operation,
    Plan, Skipped, annotations::plan_rewrites, name_rule,
};

/// A plan, with everything that the user should know before it is carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct FileActionPreview {
    pub plan: Plan,
    /// The annotation files that name some of the files among others, and are not rewritten.
    pub annotations: Vec<AnnotationFile>,
    /// The class names, and for a copy the annotation files, that describe the files and stay where they are.
    pub left_behind: Vec<PathBuf>,
    /// The links that are left alone although the files that they lead to leave their places.
    pub broken_links: Vec<PathBuf>,
    /// The near-duplicates that leave although they have marks that no kept image of their group has, with these marks.
    pub marked: Vec<String>,
}

impl FileActionPreview {
    pub(crate) fn of_plan(plan: Plan) -> Self {
        Self {
            plan,
            annotations: Vec::new(),
            left_behind: Vec::new(),
            broken_links: Vec::new(),
            marked: Vec::new(),
        }
    }

    pub fn new(action: FileAction, mut found: FoundOriginals, with_pairs: bool) -> Self {
        let rule = match &action {
            FileAction::Move(to) | FileAction::Copy(to) | FileAction::Link(_, to) => {
                name_rule(&to.folder)
            }
            FileAction::Trash | FileAction::Replace(_) => NameRule::Exact,
        };
        let exists = |target: &Path| std::fs::symlink_metadata(target).is_ok();
        let plan = Plan::new(action, &found.originals, with_pairs, rule, exists);
        let mut preview = Self::of_plan(plan);
        preview.plan.skipped.append(&mut found.refused);
        preview.find_annotations(&found);
        preview
    }

    /// Finds out which annotation files name files that leave their places, and which files describe them in the new
    /// place no longer.
    pub fn find_annotations(&mut self, found: &FoundOriginals) {
        let removes = self.plan.action.removes();
        if removes {
            self.annotations = plan_rewrites(found, &self.plan.steps);
            self.broken_links = self.find_broken_links();
        }
        if let Some(layout) = self.plan.action.layout() {
            let is_above = |file: &&PathBuf| {
                file.parent().is_some_and(|folder| layout.folder.starts_with(folder))
            };
            let class_names = found.class_names.iter().filter(|file| !is_above(file));
            let named_in = found.annotations.iter().filter(|_| !removes);
            self.left_behind = class_names.chain(named_in).cloned().collect();
        }
    }

    /// Plans to rewrite the annotation files, too, after the other steps. Files that cannot be rewritten are left
    /// alone.
    pub fn rewrite_annotations(&mut self) {
        for AnnotationFile { path, rewrite } in self.annotations.drain(..) {
            match rewrite {
                Ok(step) => self.plan.steps.push(step),
                Err(reason) => self.plan.skipped.push(Skipped::new(path, reason)),
            }
        }
    }

    /// Whether one of the annotation files can be rewritten.
    pub fn can_rewrite_annotations(&self) -> bool {
        self.annotations.iter().any(|annotations| annotations.rewrite.is_ok())
    }

    /// Describes the plan in a sentence: `move 8 files with 4 sidecars (34.0 MiB) to /photos/best`.
    pub fn summary(&self) -> String {
        let plan = &self.plan;
        let (pictures, all) = (plan.pictures(), plan.files().count());
        let rewritten = match plan.steps.len() - all {
            0 => String::new(),
            count => {
                let files = count_with_noun(count, "annotation file", "annotation files");
                format!(", and rewrite {files}")
            }
        };
        let files = grouped_with_noun(pictures as u64, "file", "files");
        let companions = match all - pictures {
            0 => String::new(),
            others => format!(" with {}", count_with_noun(others, "sidecar", "sidecars")),
        };
        let bytes = format_bytes(plan.bytes());
        let to = match &plan.action {
            FileAction::Move(layout) | FileAction::Copy(layout) | FileAction::Link(_, layout) => {
                format!(" to {}", layout.folder.display())
            }
            FileAction::Trash => String::new(),
            FileAction::Replace(_) => " by links to the kept files".to_owned(),
        };
        format!("{} {files}{companions} ({bytes}){to}{rewritten}", plan.action.name())
    }

    /// Names the first files that are acted on.
    pub fn first_files(&self) -> Vec<String> {
        let paths = self.plan.files().map(|step| step.source.display().to_string());
        with_rest(paths, self.plan.files().count())
    }

    /// Describes what the user may not expect, in one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.marked.is_empty() {
            let files = count_with_noun(self.marked.len(), "file has", "files have");
            let named = first_names(&self.marked);
            warnings.push(format!("{files} marks or texts that no kept copy has: {named}"));
        }
        let kept = &self.plan.kept_sidecars;
        if !kept.is_empty() {
            let (verb, pronoun) = if kept.len() == 1 { ("stays", "it") } else { ("stay", "them") };
            let sidecars = count_with_noun(kept.len(), "sidecar", "sidecars");
            let named = first_paths(kept);
            warnings.push(format!(
                "{sidecars} {verb}, because files that need {pronoun} stay: {named}"
            ));
        }
        warnings.extend(self.warning_of_links());
        warnings.extend(self.places_of_sidecars());
        if !self.annotations.is_empty() {
            let files = count_with_noun(
                self.annotations.len(),
                "annotation file names",
                "annotation files name",
            );
            let paths: Vec<PathBuf> = self.annotations.iter().map(|it| it.path.clone()).collect();
            let named = first_paths(&paths);
            warnings.push(format!("{files} these files and will not be changed: {named}"));
        }
        warnings.extend(self.warning_of_files_left_behind());
        for step in self.plan.steps.iter().filter(|step| step.operation == Operation::Rewrite) {
            let is_removed = |entry: &&NamedEntry| entry.new_name.is_none();
            let removed = step.entries.iter().filter(is_removed).count();
            warnings.push(format!(
                "{}: {} to remove, and {} to change; the old file stays as {}",
                step.source.display(),
                count_with_noun(removed, "name", "names"),
                step.entries.len() - removed,
                step.target.display()
            ));
        }
        warnings
    }

    fn warning_of_links(&self) -> Option<String> {
        let links = Some(&self.broken_links).filter(|links| !links.is_empty())?;
        let links_lead = count_with_noun(links.len(), "symbolic link leads", "symbolic links lead");
        let named = first_paths(links);
        Some(format!("{links_lead} to files that leave, and will be broken: {named}"))
    }

    fn warning_of_files_left_behind(&self) -> Option<String> {
        let left_behind = Some(&self.left_behind).filter(|files| !files.is_empty())?;
        let files = count_with_noun(
            left_behind.len(),
            "file with annotations or class names of these files stays",
            "files with annotations or class names of these files stay",
        );
        Some(format!("{files}: {}", first_paths(left_behind)))
    }

    fn find_broken_links(&self) -> Vec<PathBuf> {
        let links = self.plan.skipped.iter().map(|it| &it.path).filter(|path| path.is_symlink());
        let links: Vec<_> = links.filter_map(|it| Some((it, it.canonicalize().ok()?))).collect();
        let leaving: HashSet<&Path> = self.plan.files().map(|step| &*step.source).collect();
        let broken = links.iter().filter(|(_, target)| leaving.contains(target.as_path()));
        broken.map(|(link, _)| (*link).clone()).collect()
    }

    /// Says which sidecars of parallel folders go to a folder other than the target, and which go beside their
    /// pictures.
    fn places_of_sidecars(&self) -> Vec<String> {
        let layout = self.plan.action.layout().filter(|layout| !layout.keeps_folders);
        let Some(folder) = layout.map(|layout| &layout.folder) else { return Vec::new() };
        let target = folder.display();
        let mut places = Vec::new();
        let (folders, count) = self.plan.parallel_targets(folder);
        if count > 0 {
            let sidecars = count_with_noun(count, "sidecar goes", "sidecars go");
            let named = first_paths(&folders);
            places.push(format!("{sidecars} to {named}, parallel to {target}"));
        }
        let beside = self.plan.sidecars_put_beside(folder);
        if !beside.is_empty() {
            let sidecars = count_with_noun(
                beside.len(),
                "sidecar goes beside its picture",
                "sidecars go beside their pictures",
            );
            let named = first_paths(&beside);
            places.push(format!(
                "{sidecars}, because {target} has no parallel folder for sidecars: {named}"
            ));
        }
        places
    }
}

/// The last action that was not undone, as it is shown to the user before it is undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastAction {
    pub id: ActionId,
    /// Such as `trash of 3 files, the first of which was /photos/a.jpg`.
    pub text: SafeText,
    /// The number of files that go back.
    pub files_to_undo: usize,
}

impl LastAction {
    pub fn of(journal: &Journal) -> Self {
        let files_to_undo = journal.steps_to_undo().len();
        let mut files = count_with_noun(journal.steps.len(), "file", "files");
        if files_to_undo < journal.steps.len() {
            files = format!("{files_to_undo} of {files}");
        }
        let first = journal.steps.first().map(|step| step.source.display().to_string());
        let first = SafeText::file_name(&first.unwrap_or_default());
        let text = format!("{} of {files}, the first of which was {first}", journal.header.action);
        Self { id: journal.header.id, text: SafeText::detail(&text), files_to_undo }
    }
}

/// Names the first paths of a list.
fn first_paths(paths: &[PathBuf]) -> String {
    first_names(&paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>())
}

fn first_names(names: &[String]) -> String {
    let rest = if names.len() > NAMED_IN_SENTENCE { ", …" } else { "" };
    format!("{}{rest}", names[..names.len().min(NAMED_IN_SENTENCE)].join(", "))
}

/// The number of names in a sentence.
const NAMED_IN_SENTENCE: usize = 3;
/// The number of files that a message lists.
const MAX_LISTED: usize = 10;

/// Names the first skipped files with their reasons.
pub fn first_skipped(skipped: &[Skipped]) -> Vec<String> {
    let sentence = |skipped: &Skipped| format!("{}: {}", skipped.path.display(), skipped.reason);
    with_rest(skipped.iter().map(sentence), skipped.len())
}

/// Returns the first sentences, and how many more there are.
fn with_rest(sentences: impl Iterator<Item = String>, count: usize) -> Vec<String> {
    let rest = count.saturating_sub(MAX_LISTED);
    let rest = (rest > 0).then(|| format!("and {rest} more"));
    sentences.take(MAX_LISTED).chain(rest).collect()
}
