//! The users' own models, which datasets are searched and indexed with. A model is loaded when it is first needed.

use std::{
    collections::HashMap,
    fs,
    path::{self, Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use parking_lot::Mutex;
use tessera_encoder::{Encoder, LoadError};
use tessera_store::dataset::DatasetRecord;

/// The model for the datasets whose folders are opened.
#[derive(Clone, Debug, Default)]
pub enum ModelChoice {
    /// A dataset keeps its model. A new dataset has none.
    #[default]
    Keep,
    None,
    Own(Arc<Encoder>),
}

impl ModelChoice {
    /// Returns the folder of the model that is chosen, as an absolute path.
    pub fn folder(&self) -> Option<PathBuf> {
        let folder = self.encoder()?.folder();
        // Without a current folder, the path stays as it was given.
        Some(path::absolute(folder).unwrap_or_else(|_| folder.to_owned()))
    }

    pub fn encoder(&self) -> Option<&Arc<Encoder>> {
        if let Self::Own(encoder) = self { Some(encoder) } else { None }
    }
}

/// The models of all datasets of a deployment.
pub struct Models {
    /// The model of all datasets, if the store is on a server. If it is in a file, each dataset has a model of its own.
    common: Option<ModelChoice>,
    /// The models by their folders. Only searches with the same model wait while it is loaded.
    loaded: Mutex<HashMap<PathBuf, Arc<Mutex<Option<LoadedModel>>>>>,
}

/// A failed load is repeated only after this time, because it can take minutes and leave a thread.
const RETRY_AFTER: Duration = Duration::from_mins(30);

/// A model, or why it cannot be used.
struct LoadedModel {
    encoder: Result<Arc<Encoder>, LoadError>,
    /// The files when the load began. If they have changed, the model is loaded again.
    files: Vec<FileState>,
    /// When the load ended.
    loaded_at: Instant,
}

impl LoadedModel {
    fn is_current(&self, files: &[FileState], now: Instant) -> bool {
        match &self.encoder {
            // A loaded model stays when the disk with its folder is no longer connected.
            Ok(_) => files.is_empty() || self.files == files,
            Err(_) => self.files == files && now.duration_since(self.loaded_at) < RETRY_AFTER,
        }
    }
}

/// The path, size and time of a file.
type FileState = (PathBuf, u64, Option<SystemTime>);

impl Models {
    /// Creates the models of a deployment. The chosen model does not need to be loaded again.
    pub fn new(choice: &ModelChoice, is_common: bool) -> Self {
        let loaded = choice.folder().zip(choice.encoder()).map(|(folder, encoder)| {
            let (encoder, files) = (Ok(Arc::clone(encoder)), states_of_files(&folder));
            let loaded = LoadedModel { encoder, files, loaded_at: Instant::now() };
            (folder, Arc::new(Mutex::new(Some(loaded))))
        });
        Self {
            common: is_common.then(|| choice.clone()),
            loaded: Mutex::new(loaded.into_iter().collect()),
        }
    }

    /// Returns the model of a dataset, if it has one.
    ///
    /// # Errors
    /// The files of the model cannot be read.
    pub fn of(&self, dataset: &DatasetRecord) -> Result<Option<Arc<Encoder>>, LoadError> {
        if let Some(common) = &self.common {
            return Ok(common.encoder().cloned());
        }
        dataset.model.as_deref().map(|folder| self.in_folder(folder)).transpose()
    }

    fn in_folder(&self, folder: &Path) -> Result<Arc<Encoder>, LoadError> {
        let slot = Arc::clone(self.loaded.lock().entry(folder.to_owned()).or_default());
        let mut slot = slot.lock();
        let files = states_of_files(folder);
        match &*slot {
            Some(loaded) if loaded.is_current(&files, Instant::now()) => loaded.encoder.clone(),
            _ => {
                let encoder = Encoder::load(folder).map(Arc::new);
                let loaded_at = Instant::now();
                slot.insert(LoadedModel { encoder, files, loaded_at }).encoder.clone()
            }
        }
    }
}

/// Returns the states of the files in a folder and in its folders, sorted.
fn states_of_files(folder: &Path) -> Vec<FileState> {
    let files_in = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let outer: Vec<PathBuf> = files_in(folder).map(|entry| entry.path()).collect();
    let inner = outer.iter().flat_map(|folder| files_in(folder)).map(|entry| entry.path());
    let state = |path: PathBuf| {
        let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some((path, metadata.len(), metadata.modified().ok()))
    };
    let mut states: Vec<FileState> = inner.chain(outer.iter().cloned()).filter_map(state).collect();
    states.sort();
    states
}

#[cfg(test)]
mod tests {
    use tessera_testing::tiny_model::ModelFolder;

    use super::*;

    #[test]
    fn a_model_is_loaded_again_when_its_files_have_changed() {
        let model = ModelFolder::clip();
        let models = Models::new(&ModelChoice::Keep, false);
        let load = || models.in_folder(model.path());
        let first = load().unwrap();
        assert!(Arc::ptr_eq(&first, &load().unwrap()));
        let image_model = model.path().join("onnx/vision_model.onnx");
        let kept = fs::read(&image_model).unwrap();
        fs::write(&image_model, "no model").unwrap();
        let refused = load().unwrap_err();
        assert_eq!(load().unwrap_err(), refused);
        fs::write(&image_model, kept).unwrap();
        let again = load().unwrap();
        assert!(!Arc::ptr_eq(&first, &again) && first.fingerprint() == again.fingerprint());
    }

    #[test]
    fn only_a_failed_load_is_repeated_after_a_while() {
        let model = ModelFolder::clip();
        let loaded_at = Instant::now();
        for (folder, stays) in [(model.path(), true), (Path::new("/no model"), false)] {
            let encoder = Encoder::load(folder).map(Arc::new);
            assert_eq!(encoder.is_ok(), stays);
            let loaded = LoadedModel { encoder, files: Vec::new(), loaded_at };
            let is_current =
                |minutes| loaded.is_current(&[], loaded_at + Duration::from_mins(minutes));
            assert_eq!([is_current(29), is_current(30)], [true, stays]);
        }
    }
}
