//! Acts on the originals of a local dataset, for commands and the interface: finds the files, carries plans out, and
//! reverts them. The files are those of this machine, so no service is asked to act.

use std::{collections::HashMap, path::PathBuf, time::SystemTime};

use tessera_curation::{
    self as curation, ActionId, FileAction, FileActionPreview, FoundOriginals, JournalFolder,
    LastAction, Outcome, Plan, Step,
    duplicates::{DuplicateGroup, SimilarImages},
};
use tessera_model::{
    DatasetId, EntityType, EntryContent, Failure, Granularity, MediaId, SafeText, Search,
    Selection, SelectionEntry, SelectionItem, text::grouped_with_noun,
};

/// Finds the originals of datasets whose folders are on this machine.
pub trait OriginalFinder: Send + Sync {
    fn selected(
        &self,
        dataset: DatasetId,
        items: &[SelectionItem],
    ) -> Result<FoundOriginals, Failure>;

    fn listed(&self, dataset: DatasetId, files: Vec<PathBuf>) -> Result<FoundOriginals, Failure>;

    fn similar(&self, dataset: DatasetId, min: f64) -> Result<Vec<SimilarImages>, Failure>;

    /// Chooses the images of a search that look least like each other.
    fn diverse(&self, search: &Search, count: usize) -> Result<Vec<(MediaId, PathBuf)>, Failure>;

    /// Returns the images that a search finds and a selection does not contain.
    fn rest(
        &self,
        search: &Search,
        selected: &[SelectionItem],
    ) -> Result<Vec<(MediaId, PathBuf)>, Failure>;

    /// Returns the media items that the dataset does not have.
    fn missing(&self, dataset: DatasetId, media: &[MediaId]) -> Result<Vec<MediaId>, Failure>;

    /// Returns the number of members of a selected cluster, or `None` if the dataset has no such cluster.
    fn cluster_size(
        &self,
        dataset: DatasetId,
        cluster: &SelectionItem,
    ) -> Result<Option<usize>, Failure>;

    /// Returns the pictures of the objects among media items.
    fn pictures(
        &self,
        dataset: DatasetId,
        media: &[MediaId],
    ) -> Result<HashMap<MediaId, MediaId>, Failure>;
}

/// The largest number of images that are selected one by one, because each of them is an entry of the basket.
const MAX_SINGLE_IMAGES: usize = 100_000;

/// Selects the images that a search finds and a selection does not contain.
pub fn select_rest(
    finder: &dyn OriginalFinder,
    search: &Search,
    selected: &[SelectionItem],
) -> Result<Selection, Failure> {
    let media = finder.rest(search, selected)?;
    if media.len() > MAX_SINGLE_IMAGES {
        let count = grouped_with_noun(media.len() as u64, "image", "images");
        return Err(Failure::local(format!(
            "the rest has {count}, too many to select one by one; E exports everything else"
        )));
    }
    Ok(selection_of_media(&media))
}

/// Returns a selection of images with their files.
pub fn selection_of_media(media: &[(MediaId, PathBuf)]) -> Selection {
    let entries = media.iter().map(|(media, file)| SelectionEntry {
        name: SafeText::file_name(&file.to_string_lossy()),
        entity: EntityType::Images,
        granularity: Granularity::default(),
        content: EntryContent::MediaItem(*media, None),
    });
    entries.collect()
}

/// Checks once that the files of an action can go to its folder, instead of omitting each of the files.
fn check_target(action: &FileAction) -> Result<(), Failure> {
    action
        .layout()
        .map_or(Ok(()), |to| curation::check_target_folder(&to.folder))
        .map_err(Failure::local)
}

/// Plans an action on selected images, and finds the annotation files that name them.
pub fn plan(
    finder: &dyn OriginalFinder,
    dataset: DatasetId,
    items: &[SelectionItem],
    action: FileAction,
) -> Result<FileActionPreview, Failure> {
    check_target(&action)?;
    Ok(FileActionPreview::new(action, finder.selected(dataset, items)?, false))
}

/// Plans an action on the images of groups that are not kept, and finds the annotation files that name them.
pub fn plan_duplicates(
    finder: &dyn OriginalFinder,
    dataset: DatasetId,
    groups: Vec<DuplicateGroup>,
    action: FileAction,
) -> Result<FileActionPreview, Failure> {
    check_target(&action)?;
    let mut preview = FileActionPreview::of_duplicates(action, groups);
    if matches!(preview.plan.action, FileAction::Replace(_)) {
        return Ok(preview);
    }
    let files = preview.plan.steps.iter().filter(|step| !step.is_companion);
    let files = files.map(|step| step.source.clone()).collect();
    preview.find_annotations(&finder.listed(dataset, files)?);
    Ok(preview)
}

fn journals() -> Result<JournalFolder, Failure> {
    let folder = tessera_config::file_actions_dir();
    folder.map(JournalFolder::new).ok_or_else(|| Failure::local(tessera_config::UNKNOWN_HOME))
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of `map_err`")]
fn failure(error: curation::Error) -> Failure {
    Failure::local(error.to_string())
}

/// Carries out a plan. Blocks on the disk.
pub fn carry_out(plan: &Plan, progress: curation::Progress<'_>) -> Result<Outcome, Failure> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    curation::run(&journals()?, plan, now.as_secs(), progress).map_err(failure)
}

/// Continues the interrupted action. Blocks on the disk.
pub fn resume(progress: curation::Progress<'_>) -> Result<Outcome, Failure> {
    curation::resume(&journals()?, progress).map_err(failure)
}

/// Reverts an action, if it is still the last one. Blocks on the disk.
pub fn undo(shown: ActionId, progress: curation::Progress<'_>) -> Result<Outcome, Failure> {
    curation::undo(&journals()?, shown, progress).map_err(failure)
}

/// Returns the steps that [`undo`] would revert, the last step first. Nothing is changed.
pub fn steps_to_undo() -> Result<Vec<Step>, Failure> {
    Ok(journals()?.last().map_err(failure)?.steps_to_undo())
}

/// Returns the steps that [`resume`] would carry out. Nothing is changed.
pub fn steps_to_resume() -> Result<Vec<Step>, Failure> {
    journals()?.last().and_then(|last| last.steps_to_resume()).map_err(failure)
}

/// Returns the last action that was not undone. Nothing is changed.
pub fn last_action() -> Result<LastAction, Failure> {
    Ok(LastAction::of(&journals()?.last().map_err(failure)?))
}

/// Returns how far an interrupted action came, if there is one.
pub fn interrupted() -> Option<Failure> {
    journals().ok()?.interrupted().map(failure)
}
