//! Selection files: at a path of the user, or named, as `selections/NAME.json` in the state folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use uuid::Uuid;

use super::{StateStore, selection_json, state_files::file_failure};
use tessera_model::{DatasetId, Failure, Selection};

const SELECTIONS_DIR: &str = "selections";

/// Saves a selection to a new file; never overwrites.
pub fn save_selection(
    path: PathBuf,
    dataset: DatasetId,
    selection: &Selection,
) -> Result<PathBuf, Failure> {
    let text = format!("{:#}\n", selection_json::write(dataset, selection));
    match tessera_files::write_new_file(&path, &text) {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let sentence = format!("{} already exists", path.display());
            Err(Failure::local(sentence).with_remedy("Choose another name"))
        }
        Err(error) => {
            let sentence = format!("{} cannot be written: {error}", path.display());
            Err(Failure::local(sentence).with_remedy("Choose another folder"))
        }
    }
}

pub fn open_selection(path: &Path, dataset: DatasetId) -> Result<Selection, Failure> {
    let source = fs::read_to_string(path).map_err(|error| error.to_string());
    source
        .and_then(|source| read_selection(&source, dataset))
        .map_err(|reason| Failure::local(format!("{} cannot be opened: {reason}", path.display())))
}

pub fn read_selection(source: &str, dataset: DatasetId) -> Result<Selection, String> {
    let document = serde_json::from_str(source).map_err(|error| error.to_string())?;
    selection_json::read(dataset, &document)
}

impl StateStore {
    /// `None` for an unknown name.
    pub fn load_named_selection(
        &self,
        name: &str,
        dataset: DatasetId,
    ) -> Result<Option<Selection>, Failure> {
        let path = self.named_selection_path(name)?;
        path.exists().then(|| open_selection(&path, dataset)).transpose()
    }

    /// The selection and its dataset, if the file names one. `None` for an unknown name.
    pub fn load_named_selection_of_any_dataset(
        &self,
        name: &str,
    ) -> Result<Option<(Option<DatasetId>, Selection)>, Failure> {
        let path = self.named_selection_path(name)?;
        let source = tessera_files::if_exists(fs::read_to_string(&path))
            .map_err(file_failure(&path, "read"))?;
        let read = |source: String| -> Result<_, String> {
            let document = serde_json::from_str(&source).map_err(|error| error.to_string())?;
            let dataset = selection_json::dataset_of(&document)?;
            let selection =
                selection_json::read(dataset.unwrap_or(DatasetId(Uuid::nil())), &document)?;
            Ok((dataset, selection))
        };
        source.map(read).transpose().map_err(file_failure(&path, "parsed"))
    }

    pub fn save_named_selection(
        &self,
        name: &str,
        dataset: DatasetId,
        selection: &Selection,
    ) -> Result<PathBuf, Failure> {
        let path = self.named_selection_path(name)?;
        let text = format!("{:#}\n", selection_json::write(dataset, selection));
        tessera_files::write_user_file(&path, &text).map_err(file_failure(&path, "written"))?;
        Ok(path)
    }

    /// Sorted.
    pub fn selection_names(&self) -> Result<Vec<String>, Failure> {
        let Some(folder) = self.dir.as_ref().map(|folder| folder.join(SELECTIONS_DIR)) else {
            return Ok(Vec::new());
        };
        let entries = tessera_files::if_exists(fs::read_dir(&folder))
            .map_err(file_failure(&folder, "read"))?;
        let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
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
        let removed = tessera_files::if_exists(fs::remove_file(&path))
            .map_err(file_failure(&path, "removed"))?;
        Ok(removed.is_some())
    }

    fn named_selection_path(&self, name: &str) -> Result<PathBuf, Failure> {
        let error =
            |reason: &str| Failure::local(format!("`{name}` cannot name a selection: {reason}"));
        let plain = |c: char| c.is_alphanumeric() || "-_ ".contains(c);
        if name.trim().is_empty() || name.len() > 100 || !name.chars().all(plain) {
            return Err(error("use up to 100 letters, digits, spaces, - and _"));
        }
        let folder = self.dir.as_ref().ok_or_else(|| error("this system has no state folder"))?;
        Ok(folder.join(SELECTIONS_DIR).join(format!("{name}.json")))
    }
}
