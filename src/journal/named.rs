//! Selections that a person gave a name: a file each, `selections/NAME.json` in the state folder of a
//! deployment, in the shape that anybody can write by hand.

use std::{fs, io, path::PathBuf};

use super::{Journal, failure, open_selection, selection};
use crate::config::file;
use tessera_model::{DatasetId, Failure, FailureKind, Selection};

impl Journal {
    /// The selection of this name; `None` when there is none.
    ///
    /// # Errors
    /// [`FailureKind::Local`]: the name is none, the file cannot be read, or is of another dataset.
    pub fn named(&self, name: &str, dataset: DatasetId) -> Result<Option<Selection>, Failure> {
        let path = self.named_path(name)?;
        if path.exists() { open_selection(&path, dataset).map(Some) } else { Ok(None) }
    }

    /// The selection of this name, whatever dataset it belongs to; that is `None` where its file does
    /// not say. `None` when there is no such selection.
    ///
    /// # Errors
    /// [`FailureKind::Local`]: the name is none, or the file cannot be read.
    pub fn named_anywhere(
        &self,
        name: &str,
    ) -> Result<Option<(Option<DatasetId>, Selection)>, Failure> {
        let path = self.named_path(name)?;
        let source = match fs::read_to_string(&path) {
            Ok(source) => source,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failure(&path, "read", &error)),
        };
        let read = || -> Result<_, String> {
            let document = serde_json::from_str(&source).map_err(|error| error.to_string())?;
            let place = selection::place(&document)?;
            let of = place.unwrap_or(DatasetId(uuid::Uuid::nil()));
            Ok((place, selection::read(of, &document)?))
        };
        read().map(Some).map_err(|reason| failure(&path, "understood", &reason))
    }

    /// Keeps a selection under a name, in the place of an older one of this name.
    ///
    /// # Errors
    /// [`FailureKind::Local`]: the name is none, or the file cannot be written.
    pub fn keep_named(
        &self,
        name: &str,
        dataset: DatasetId,
        marked: &Selection,
    ) -> Result<PathBuf, Failure> {
        let path = self.named_path(name)?;
        let text = format!("{:#}\n", selection::write(dataset, marked));
        let written = file::replace(&path, &text);
        written.map(|()| path.clone()).map_err(|error| failure(&path, "written", &error))
    }

    /// Names of the selections that are kept, in their order.
    ///
    /// # Errors
    /// [`FailureKind::Local`]: the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>, Failure> {
        let Some(folder) = self.folder.as_ref().map(|folder| folder.join(FOLDER)) else {
            return Ok(Vec::new());
        };
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failure(&folder, "read", &error)),
        };
        let paths = entries.flatten().map(|entry| entry.path());
        let mut names: Vec<String> = paths
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        Ok(names)
    }

    /// Removes the selection of this name; `false` when there was none.
    ///
    /// # Errors
    /// [`FailureKind::Local`]: the name is none, or the file cannot be removed.
    pub fn forget_named(&self, name: &str) -> Result<bool, Failure> {
        let path = self.named_path(name)?;
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failure(&path, "removed", &error)),
        }
    }

    fn named_path(&self, name: &str) -> Result<PathBuf, Failure> {
        let refused = |reason: &str| {
            let sentence = format!("`{name}` cannot name a selection: {reason}");
            Failure::new(FailureKind::Local, sentence)
        };
        let plain = |c: char| c.is_alphanumeric() || "-_ ".contains(c);
        if name.trim().is_empty() || name.len() > 100 || !name.chars().all(plain) {
            return Err(refused("letters, digits, - and _ can, up to 100"));
        }
        let folder = self.folder.as_ref().ok_or_else(|| refused("there is no folder for state"))?;
        Ok(folder.join(FOLDER).join(format!("{name}.json")))
    }
}

const FOLDER: &str = "selections";

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use tessera_model::{EntityType, Granularity, Mark, Marked, MediaId, SafeText};

    #[test]
    fn p38_a_named_selection_comes_back_is_replaced_and_goes() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::in_folder(folder.path().to_owned());
        let dataset = DatasetId(Uuid::nil());
        let mark = |id| Mark {
            name: SafeText::file("a.jpg"),
            entity: EntityType::Images,
            granularity: Granularity::DEFAULT,
            what: Marked::Medium(MediaId(Uuid::from_u128(id)), None),
        };
        assert_eq!(journal.named("vans", dataset), Ok(None));
        for id in [1, 2] {
            let marked: Selection = [mark(id)].into_iter().collect();
            journal.keep_named("vans", dataset, &marked).unwrap();
            assert_eq!(journal.named("vans", dataset), Ok(Some(marked)));
        }
        assert_eq!(journal.names(), Ok(vec!["vans".to_owned()]));
        let (place, _) = journal.named_anywhere("vans").unwrap().unwrap();
        assert_eq!((place, journal.named_anywhere("cars")), (Some(dataset), Ok(None)));
        assert!(journal.named("vans", DatasetId(Uuid::from_u128(9))).is_err());
        assert_eq!(journal.forget_named("vans"), Ok(true));
        assert_eq!(journal.forget_named("vans"), Ok(false));
        for bad in ["", "../up", "a/b", ".", "x\u{1b}"] {
            assert!(journal.named(bad, dataset).is_err(), "{bad:?}");
        }
    }
}
