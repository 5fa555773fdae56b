//! Defines what the worker reads and writes on this machine, and what it may do there.

use std::{pin::Pin, sync::Arc};

use tessera_model::SafeText;

use crate::{
    usecase::{KeyPairOwner, file_actions::OriginalFinder, models::ModelProvider},
    worker::disk_cache::DiskCacheOptions,
};

/// Resolves to a warning that is only known later, or to none.
pub type LaterWarning = Pin<Box<dyn Future<Output = Option<SafeText>> + Send>>;

#[derive(Default)]
pub struct WorkerOptions {
    /// Where thumbnails are stored. `None` stores none.
    pub disk_cache: Option<DiskCacheOptions>,
    /// How a new login is stored. `None` if the login cannot be replaced.
    pub key_pair_owner: Option<Arc<KeyPairOwner>>,
    pub later_warning: Option<LaterWarning>,
    /// Finds the originals of datasets whose folders are on this machine. `None` for other deployments.
    pub originals: Option<Arc<dyn OriginalFinder>>,
    /// Gets models for datasets of this machine. `None` for other deployments.
    pub models: Option<Arc<dyn ModelProvider>>,
}
