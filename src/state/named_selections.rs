//! Named selections: a file each, `selections/NAME.json` in the state folder of a deployment.

use std::{fs, io, path::PathBuf};

use super::{StateStore, file_failure, open_selection, selection_json};
use crate::config::file;
use tessera_model::{DatasetId, Failure, Selection};

impl StateStore {
    /// `None` if there is no selection of this name.
    pub fn load_named_selection(
        &self,
        name: &str,
        dataset: DatasetId,
    ) -> Result<Option<Selection>, Failure> {
        let path = self.named_selection_path(name)?;
        if path.exists() { open_selection(&path, dataset).map(Some) } else { Ok(None) }
    }

    /// The selection and its dataset, if the file names one. `None` if there is no such selection.
    pub fn load_named_selection_of_any_dataset(
        &self,
        name: &str,
    ) -> Result<Option<(Option<DatasetId>, Selection)>, Failure> {
        let path = self.named_selection_path(name)?;
        let source = match fs::read_to_string(&path) {
            Ok(source) => source,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(file_failure(&path, "read", &error)),
        };
        let read = || -> Result<_, String> {
            let document = serde_json::from_str(&source).map_err(|error| error.to_string())?;
            let place = selection_json::dataset_of(&document)?;
            let of = place.unwrap_or(DatasetId(uuid::Uuid::nil()));
            Ok((place, selection_json::read(of, &document)?))
        };
        read().map(Some).map_err(|reason| file_failure(&path, "parsed", &reason))
    }

    /// Saves a selection, replacing one of the same name.
    pub fn save_named_selection(
        &self,
        name: &str,
        dataset: DatasetId,
        selection: &Selection,
    ) -> Result<PathBuf, Failure> {
        let path = self.named_selection_path(name)?;
        let text = format!("{:#}\n", selection_json::write(dataset, selection));
        let written = file::write_atomically(&path, &text);
        written.map(|()| path.clone()).map_err(|error| file_failure(&path, "written", &error))
    }

    /// Sorted.
    pub fn selection_names(&self) -> Result<Vec<String>, Failure> {
        let Some(folder) = self.dir.as_ref().map(|folder| folder.join(SELECTIONS_DIR)) else {
            return Ok(Vec::new());
        };
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(file_failure(&folder, "read", &error)),
        };
        let paths = entries.flatten().map(|entry| entry.path());
        let mut names: Vec<String> = paths
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        Ok(names)
    }

    /// Returns `false` if there was none.
    pub fn delete_named_selection(&self, name: &str) -> Result<bool, Failure> {
        let path = self.named_selection_path(name)?;
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(file_failure(&path, "removed", &error)),
        }
    }

    fn named_selection_path(&self, name: &str) -> Result<PathBuf, Failure> {
        let error = |reason: &str| {
            let sentence = format!("`{name}` cannot name a selection: {reason}");
            Failure::local(sentence)
        };
        let plain = |c: char| c.is_alphanumeric() || "-_ ".contains(c);
        if name.trim().is_empty() || name.len() > 100 || !name.chars().all(plain) {
            return Err(error("use up to 100 letters, digits, spaces, - and _"));
        }
        let folder = self.dir.as_ref().ok_or_else(|| error("this system has no state folder"))?;
        Ok(folder.join(SELECTIONS_DIR).join(format!("{name}.json")))
    }
}

const SELECTIONS_DIR: &str = "selections";
