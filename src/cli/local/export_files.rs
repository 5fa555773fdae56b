//! Gives the commands of exports the files of this machine behind an export.

use std::{path::PathBuf, sync::Arc};

use crate::cli::LocalService;
use tessera_client::OriginalLookup;
use tessera_model::ExportTaskId;

impl LocalService {
    /// Returns the file of a finished archive, if it is on this machine.
    pub fn archive_file(&self, export: ExportTaskId) -> Option<PathBuf> {
        self.deployment.archive_file(export)
    }

    /// Returns the function that finds the file of this machine that is or contains an original.
    pub fn original_paths(&self) -> OriginalLookup {
        let deployment = self.deployment.clone();
        Arc::new(move |id| deployment.original_path(id))
    }

    /// Returns the function that finds the original of a media item on this machine.
    pub fn originals(&self) -> OriginalLookup {
        let deployment = self.deployment.clone();
        Arc::new(move |id| deployment.original_file(id))
    }
}
