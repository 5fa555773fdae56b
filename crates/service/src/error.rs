//! The errors of the local deployment, with messages for the terminal. The messages contain local paths, so they must
//! not be sent in HTTP responses.

use std::{
    fmt, io,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use tessera_media::{
    ingest::{PATTERNS_FILE, file_names::printable_path},
    object_storage::StorageError,
};
use tessera_model::{Failure, FailureKind, FileKind};
use tessera_picture::PictureFormat;
use tessera_store::{StoreError, postgres::StoreAddress};

#[derive(Debug)]
pub enum LocalError {
    NoSuchFolder(PathBuf),
    NotAFolder(PathBuf),
    /// The folder exists but cannot be listed.
    Unreadable(PathBuf, io::Error),
    /// A dataset or a media item does not exist. The message says which.
    NotFound(String),
    /// The user must give something else: a folder or archive that can be read, other patterns, or another model. The
    /// message says why.
    Unusable(String),
    /// A file cannot be written, or a folder in object storage cannot be opened. The message says why.
    Failed(String),
    EmptyFolder(PathBuf),
    /// Patterns exclude the pictures of the folder. The second path is the first that is excluded.
    AllExcluded(PathBuf, PathBuf),
    /// The folder contains only links, apart from hidden files.
    OnlyLinks(PathBuf),
    /// The folder, the number of its files, and what one of them is.
    NoPictures(PathBuf, usize, String),
    /// Serving without login was requested at an address that is not loopback.
    OpenOnNetwork(SocketAddr),
    Socket(io::Error),
    /// The file with the login of the service cannot be used.
    Login(PathBuf, io::Error),
    Store(StoreError),
    /// Another process of the store has a different bucket or model.
    OtherSetting {
        address: StoreAddress,
        option: &'static str,
        given: String,
        recorded: String,
    },
    /// The bucket of the deployment cannot be used.
    Bucket(StorageError),
}

impl fmt::Display for LocalError {
    #[expect(clippy::too_many_lines, reason = "one sentence for each error")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchFolder(path) => {
                write!(f, "the folder {} does not exist; check the path", printable_path(path))
            }
            Self::NotAFolder(path) if is_archive(path) => write!(
                f,
                "{} is an archive in a format that is not read; unpack it and give the folder, rename a .tgz \
                 to .tar.gz, or give a .zip, .tar, .tar.gz, .tar.xz or .tar.zst",
                printable_path(path)
            ),
            Self::NotAFolder(path) => {
                write!(f, "{} is not a folder; give the one it is in", printable_path(path))
            }
            Self::Unreadable(path, cause) => write!(
                f,
                "the folder {} cannot be read ({cause}); check its permissions",
                printable_path(path)
            ),
            Self::EmptyFolder(path) => {
                write!(f, "the folder {} is empty; give one with pictures", printable_path(path))
            }
            Self::AllExcluded(path, first) => write!(
                f,
                "patterns leave no picture of the folder {}: they exclude {}; open it once with --all-files or with \
                 other patterns, or change the patterns in its {PATTERNS_FILE}",
                printable_path(path),
                printable_path(first)
            ),
            Self::OnlyLinks(path) => write!(
                f,
                "the folder {} contains only symbolic links, which lead out of it or to folders; \
                 give the folder that they lead to",
                printable_path(path)
            ),
            Self::NoPictures(path, files, example) => {
                let path = printable_path(path);
                match files {
                    1 => write!(f, "the only file in {path} is not a picture")?,
                    _ => write!(f, "none of the {files} files in {path} is a picture")?,
                }
                write!(f, " ({example}); add {} files", PictureFormat::DECODABLE)
            }
            Self::OpenOnNetwork(address) => write!(
                f,
                "serving without login at {address} would give other machines access; \
                 listen on 127.0.0.1 or use a login"
            ),
            Self::Socket(cause) => {
                write!(f, "the listening socket failed ({cause}); choose another address or port")
            }
            Self::Login(path, cause) => {
                let remedy = if cause.raw_os_error().is_some() {
                    "check free space and permissions"
                } else {
                    "remove the file to create a new login"
                };
                let path = printable_path(path);
                write!(f, "the login in {path} cannot be used ({cause}); {remedy}")
            }
            Self::Store(cause) => cause.fmt(f),
            Self::OtherSetting { address, option, given, recorded } => write!(
                f,
                "the store {address} is used with {recorded}, and this process was given {given}; give all \
                 processes the same {option}, or stop them and run `tessera store init --reset-settings`"
            ),
            Self::NotFound(why) | Self::Unusable(why) | Self::Failed(why) => f.write_str(why),
            Self::Bucket(cause) => write!(f, "the bucket cannot be used: {cause}"),
        }
    }
}

impl LocalError {
    /// Whether the user must give a different folder or address.
    pub fn is_usage_error(&self) -> bool {
        !matches!(
            self,
            Self::Socket(_)
                | Self::Login(..)
                | Self::Store(_)
                | Self::Bucket(_)
                | Self::NotFound(_)
                | Self::Failed(_)
        )
    }
}

impl std::error::Error for LocalError {}

impl From<LocalError> for Failure {
    fn from(error: LocalError) -> Self {
        let kind = match error {
            LocalError::NotFound(_) => FailureKind::NotFound,
            _ => FailureKind::Local,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<StoreError> for LocalError {
    fn from(cause: StoreError) -> Self {
        Self::Store(cause)
    }
}

fn is_archive(path: &Path) -> bool {
    FileKind::from_name(&path.to_string_lossy()) == FileKind::Archive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_damaged_login_is_to_be_removed() {
        let text = |cause| LocalError::Login("login.json".into(), cause).to_string();
        assert!(text(io::Error::other("it is damaged")).contains("; remove the file"));
        let full = text(io::Error::from_raw_os_error(28));
        assert!(full.ends_with("; check free space and permissions"), "{full}");
    }
}
