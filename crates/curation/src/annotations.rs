//! Changes the annotation files that name the files of an action among other files: entries of files that left are
//! removed, and entries of files that moved get the new name. The old file stays beside the new one.

use std::{
    collections::{HashMap, HashSet},
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Write as _},
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use tessera_files::{if_exists, parent_dir, synced};
use tessera_model::PictureName;

use crate::{
    FileContent, FoundOriginals, Operation, Step,
    annotation_text::{EditedText, EntryChange, edit},
    file_operations::{
        CopyKind, copy_file, discard, discard_new_file, exchange, fill_copy, hash_of, remove_copy,
        rename_new,
    },
    journal::StepState,
};

/// The largest annotation file that is rewritten, in bytes. The whole file is in memory.
const MAX_BYTES: u64 = 1 << 30;

/// An entry of an annotation file that names a file of the action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedEntry {
    /// The name as the annotation file has it.
    pub name: String,
    /// The number of the step that moves the file. If this step fails, the entry stays.
    pub step: usize,
    /// The new name, or `None` to remove the entry.
    pub new_name: Option<String>,
}

/// An annotation file that names files of an action.
#[derive(Clone, Debug, PartialEq)]
pub struct AnnotationFile {
    pub path: PathBuf,
    /// The step that rewrites the file, or why it cannot be rewritten.
    pub rewrite: Result<Step, String>,
}

/// Plans how annotation files follow the steps of an action. Files in which no entry changes are omitted, and files
/// that the action itself moves.
pub(crate) fn plan_rewrites(found: &FoundOriginals, steps: &[Step]) -> Vec<AnnotationFile> {
    let names = NamesOfFiles::new(found, steps);
    let moved: HashSet<&Path> = steps.iter().map(|step| &*step.source).collect();
    let mut annotations = Vec::new();
    for path in found.annotations.iter().filter(|path| !moved.contains(path.as_path())) {
        if let Some(rewrite) = names.plan_rewrite(path).transpose() {
            annotations.push(AnnotationFile { path: path.clone(), rewrite });
        }
    }
    annotations
}

/// The files of a dataset by their names, as far as names of the action are concerned.
struct NamesOfFiles<'a> {
    steps: &'a [Step],
    /// The folders of the dataset.
    folders: Vec<&'a Path>,
    /// The files by the last part of their paths, with the steps that move them.
    by_name: HashMap<&'a OsStr, Vec<(&'a Path, Option<usize>)>>,
}

impl<'a> NamesOfFiles<'a> {
    fn new(found: &'a FoundOriginals, steps: &'a [Step]) -> Self {
        let moved = steps.iter().enumerate().map(|(number, step)| (&*step.source, Some(number)));
        let others = found.namesakes.iter().map(|path| (&**path, None));
        let mut by_name: HashMap<_, Vec<_>> = HashMap::new();
        for (path, step) in moved.chain(others) {
            by_name.entry(path.file_name().unwrap_or_default()).or_default().push((path, step));
        }
        let mut folders: Vec<&Path> =
            found.originals.iter().map(|original| original.folder.as_path()).collect();
        folders.sort();
        folders.dedup();
        Self { steps, folders, by_name }
    }

    fn plan_rewrite(&self, path: &Path) -> Result<Option<Step>, String> {
        let content = FileContent::of(path).map_err(|error| error.to_string())?;
        let text = read_text(path).map_err(|error| error.to_string())?;
        let hash = Some(blake3::hash(text.as_bytes()).into());
        let mut best_fits: HashMap<&Path, usize> = HashMap::new();
        edit(path, &text, &mut |name| {
            let place = self.place(path, name)?;
            let best = best_fits.entry(place.old).or_default();
            *best = place.fit.max(*best);
            None
        })?;
        let mut entries: HashMap<String, NamedEntry> = HashMap::new();
        let mut refused = None;
        let edited = edit(path, &text, &mut |name| {
            if !entries.contains_key(name) {
                let place = self.place(path, name);
                // A file that another entry names better gets no entry of this name.
                let place = place.filter(|place| best_fits.get(place.old) == Some(&place.fit))?;
                match self.entry(path, name, place) {
                    Ok(entry) => drop(entries.insert(name.to_owned(), entry)),
                    Err(reason) => {
                        refused = Some(reason.to_owned());
                        return None;
                    }
                }
            }
            entries.get(name).map(change_of)
        })?;
        if let Some(reason) = refused {
            return Err(reason);
        }
        let EditedText { removed, renamed, .. } = edited;
        if removed + renamed == 0 {
            return Ok(None);
        }
        let mut entries: Vec<NamedEntry> = entries.into_values().collect();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        let content = FileContent { hash, ..content };
        let step = Step::new(Operation::Rewrite, path.to_owned(), free_name(path), content);
        let step = Step { checks_bytes: true, entries, ..step };
        Ok(Some(step))
    }

    /// Returns the file of the action that a name means, or `None` if it means another file, or several files.
    fn place(&self, annotation: &Path, name: &str) -> Option<Place<'a>> {
        let relative = PathBuf::from(name.replace('\\', "/"));
        let files = self.by_name.get(relative.file_name()?)?;
        let dataset = self.folders.iter().find(|folder| annotation.starts_with(folder))?;
        find(annotation, dataset, &relative, files)
    }

    /// Returns what becomes of the entry with the name of a file.
    fn entry(
        &self,
        annotation: &Path,
        name: &str,
        place: Place<'_>,
    ) -> Result<NamedEntry, &'static str> {
        let Place { old, step, base, .. } = place;
        let entry = |new_name| Ok(NamedEntry { name: name.to_owned(), step, new_name });
        let Step { operation, target, .. } = &self.steps[step];
        let is_of_both = |folder: &&Path| old.starts_with(folder) && target.starts_with(folder);
        if *operation == Operation::Trash || !self.folders.iter().any(is_of_both) {
            return entry(None);
        }
        let new = match base {
            None => target.clone(),
            Some((base, lead)) => match target.strip_prefix(&base) {
                Ok(below) => lead.join(below),
                Err(_) => relative(target, parent_dir(annotation)),
            },
        };
        let new = new.to_str().ok_or("a new name is not UTF-8")?;
        entry(Some(new.to_owned()))
    }
}

/// The file that a name means.
struct Place<'a> {
    old: &'a Path,
    step: usize,
    /// The folder from which the name leads to the file, and the beginning of the name that leads to this folder.
    /// `None` for an absolute name.
    base: Option<(PathBuf, PathBuf)>,
    /// The number of parts of the name. The path that leads to a file fits best.
    fit: usize,
}

/// Finds the file that a name means: the one at this path from the annotation file, or else the one whose path ends
/// like this, and which fits best.
fn find<'a>(
    annotation: &Path,
    dataset: &Path,
    name: &Path,
    files: &[(&'a Path, Option<usize>)],
) -> Option<Place<'a>> {
    let at = |wanted: &Path| files.iter().find(|(path, _)| *path == wanted);
    if name.is_absolute() {
        let (old, step) = *at(name)?;
        return Some(Place { old, step: step?, base: None, fit: usize::MAX });
    }
    let leads = |part: &Component| matches!(part, Component::CurDir | Component::ParentDir);
    let lead: PathBuf = name.components().take_while(leads).collect();
    let end: PathBuf = name.components().skip_while(leads).collect();
    let base = resolved(&annotation.parent()?.join(&lead));
    if let Some((old, step)) = at(&base.join(&end)) {
        return Some(Place { old, step: (*step)?, base: Some((base, lead)), fit: usize::MAX });
    }
    let below = |path: &'a Path| path.strip_prefix(dataset).ok();
    let sidecar = annotation.strip_prefix(dataset).ok()?;
    let name = PictureName { path: &end, sidecar, folder: None };
    let ending = files.iter().filter(|(path, _)| path.ends_with(&end));
    let mut ending: Vec<&Path> = ending.filter_map(|(path, _)| below(path)).collect();
    ending.retain(|path| !name.is_of_other_split(path));
    name.keep_best(&mut ending);
    let [path] = ending[..] else { return None };
    let (old, step) = at(&dataset.join(path))?;
    let fit = end.components().count();
    let base = old.ancestors().nth(fit)?;
    Some(Place { old, step: (*step)?, base: Some((base.to_owned(), lead)), fit })
}

/// Returns the path that leads from a folder to a file.
fn relative(file: &Path, folder: &Path) -> PathBuf {
    let common = file.iter().zip(folder).take_while(|(one, other)| one == other).count();
    let up = folder.iter().skip(common).map(|_| OsStr::new(".."));
    up.chain(file.iter().skip(common)).collect()
}

/// Returns a path without `.` and `..`.
fn resolved(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(resolved.pop()),
            part => resolved.push(part),
        }
    }
    resolved
}

/// Returns the name for the old annotation file.
fn free_name(path: &Path) -> PathBuf {
    let with = |end: &str| {
        let mut name: OsString = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let numbered = (2..).map(|number| with(&format!(".orig{number}")));
    let mut names = [with(".orig")].into_iter().chain(numbered);
    names.find(|name| fs::symlink_metadata(name).is_err()).unwrap_or_else(|| with(".orig"))
}

fn read_text(path: &Path) -> io::Result<String> {
    if fs::metadata(path)?.len() > MAX_BYTES {
        return Err(io::Error::other("it is larger than 1 GiB"));
    }
    String::from_utf8(fs::read(path)?).map_err(|_| io::Error::other("its text is not UTF-8"))
}

fn change_of(entry: &NamedEntry) -> EntryChange {
    entry.new_name.clone().map_or(EntryChange::Remove, EntryChange::Rename)
}

/// Returns the text of a file after the steps that were done, or `None` if no entry of it changes.
fn edited(step: &Step, states: &[StepState], path: &Path) -> io::Result<Option<String>> {
    let was_done = |entry: &&NamedEntry| {
        matches!(states.get(entry.step), Some(StepState::Done | StepState::Undone))
    };
    let done = step.entries.iter().filter(was_done);
    let changes: HashMap<&str, EntryChange> =
        done.map(|entry| (entry.name.as_str(), change_of(entry))).collect();
    let edited = edit(&step.source, &read_text(path)?, &mut |name| changes.get(name).cloned());
    let EditedText { text, removed, renamed } = edited.map_err(io::Error::other)?;
    Ok((removed + renamed > 0).then_some(text))
}

/// Writes the new annotation file, and keeps the old one under the name of the target.
pub(crate) fn rewrite(step: &Step, states: &[StepState], temporary: &Path) -> io::Result<()> {
    let Step { source, target, .. } = step;
    let Some(text) = edited(step, states, source)? else { return Ok(()) };
    copy_file(CopyKind::Bytes, source, target, temporary)?;
    put(step, &text, temporary)
}

/// Completes a rewrite that a crash interrupted. Returns whether it is done.
pub(crate) fn complete(step: &Step, states: &[StepState], temporary: &Path) -> io::Result<bool> {
    let Step { source, target, content, .. } = step;
    if if_exists(fs::symlink_metadata(target))?.is_none() {
        return Ok(false);
    }
    content.check_bytes(target)?;
    if content.check_bytes(source).is_ok()
        && let Some(text) = edited(step, states, source)?
    {
        put(step, &text, temporary)?;
    }
    Ok(true)
}

/// Puts the old annotation file back. Returns whether there was one.
pub(crate) fn revert(step: &Step, states: &[StepState], temporary: &Path) -> io::Result<bool> {
    let Step { source, target, content, .. } = step;
    if if_exists(fs::symlink_metadata(target))?.is_none() {
        return Ok(false);
    }
    content.check_bytes(target)?;
    if content.check_bytes(source).is_err() {
        let text = edited(step, states, target)?.unwrap_or_default();
        let hash = Some(blake3::hash(text.as_bytes()).into());
        let expected = FileContent { size: text.len() as u64, hash, ..*content };
        if expected.check_bytes(source).is_err() {
            let message =
                format!("it has changed since the action; the old file is {}", target.display());
            return Err(io::Error::other(message));
        }
        fill_copy(target, temporary, CopyKind::Bytes)?;
        exchange(source, temporary, &expected)?;
    }
    remove_copy(target, source)?;
    Ok(true)
}

/// Keeps what a crash left in the temporary file, if nothing else has these bytes.
pub(crate) fn remove_left(step: &Step, temporary: &Path) -> io::Result<()> {
    let is_old = hash_of(temporary).is_ok_and(|hash| Some(hash) == step.content.hash);
    if is_old && step.content.check_bytes(&step.source).is_err() {
        // The old bytes have their name beside the new file already, unless somebody has removed or changed it.
        return match rename_new(temporary, &step.target) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                remove_copy(temporary, &step.target).map_err(|_| {
                    let (target, kept) = (step.target.display(), temporary.display());
                    io::Error::other(format!("{target} has changed; the old file is {kept}"))
                })
            }
            renamed => renamed,
        };
    }
    if_exists(fs::remove_file(temporary)).map(drop)
}

/// Puts a text in the place of a file, with the permissions and attributes of this file. If this fails, the copy of the
/// file under the name of the target is removed.
fn put(step: &Step, text: &str, temporary: &Path) -> io::Result<()> {
    let Step { source, target, content, .. } = step;
    let write = || {
        fill_copy(source, temporary, CopyKind::Bytes)?;
        let mut file = File::options().write(true).truncate(true).open(temporary)?;
        file.write_all(text.as_bytes())?;
        synced(file.sync_all())
    };
    let put = write().inspect_err(|_| discard(temporary));
    put.and_then(|()| exchange(source, temporary, content))
        .map_err(|error| discard_new_file(error, target, source))
}
