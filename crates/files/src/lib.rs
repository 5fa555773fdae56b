//! Atomic, private and durable files. Everything that tessera keeps on disk is created, replaced, locked and staged by
//! the functions of this crate.

mod atomic_write;
mod private;
mod rotating_file;
pub mod staging;

pub use atomic_write::{
    TEMPORARY_PREFIX, parent_dir, sync_dir, sync_tree, write_atomically, write_durably,
    write_new_file, write_user_file,
};
pub use private::{
    close_to_others, create_private_dir, create_private_dir_durably, ensure_own_private_dir,
    ensure_private_dir, is_locked, open_locked, private_file, read_if_own, restrict,
};
pub use rotating_file::RotatingFile;

use std::io;

/// Turns the error for a missing file into `None`.
pub fn if_exists<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}
