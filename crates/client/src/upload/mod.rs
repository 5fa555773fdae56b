//! Local media on their way into an upload: collected, checked, and encoded as a form.

mod archive_check;
mod local_files;
mod media_form;
mod preflight;

pub(super) use media_form::MediaForm;
pub use preflight::{files_to_send, preflight};
