//! Reads the list of the files of a repository.

use serde_json::Value;

use crate::HubError;

/// The files of one commit of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The commit, in hexadecimal digits.
    pub commit: String,
    pub files: Vec<HubFile>,
}

/// A file of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubFile {
    /// The path in the repository.
    pub path: String,
    pub bytes: u64,
    pub(crate) hash: FileHash,
}

/// The hash of a file, which is also its name in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileHash {
    /// The SHA-256 of a large file.
    Sha256(String),
    /// The SHA-1 of a small file, as Git computes it.
    Git(String),
}

impl FileHash {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Sha256(digits) | Self::Git(digits) => digits,
        }
    }
}

impl Listing {
    /// Reads the response to `GET api/models/NAME/revision/main?blobs=true`. Files without a size and a hash are
    /// ignored, because they could not be verified.
    pub(crate) fn read(body: &Value) -> Result<Self, HubError> {
        let commit = body["sha"].as_str().filter(|commit| is_hash(commit, 40));
        let commit = commit.ok_or_else(|| {
            HubError::new("the response of the hub is not a list of files; check HF_ENDPOINT")
        })?;
        let files = body["siblings"].as_array().into_iter().flatten().filter_map(read_file);
        Ok(Self { commit: commit.to_owned(), files: files.collect() })
    }

    pub fn file(&self, path: &str) -> Option<&HubFile> {
        self.files.iter().find(|file| file.path == path)
    }
}

fn read_file(file: &Value) -> Option<HubFile> {
    let path = file["rfilename"].as_str().filter(|path| is_path_inside(path))?;
    let sha256 = file["lfs"]["sha256"].as_str().filter(|digits| is_hash(digits, 64));
    let git = file["blobId"].as_str().filter(|digits| is_hash(digits, 40));
    let hash = match sha256 {
        Some(digits) => FileHash::Sha256(digits.to_owned()),
        None => FileHash::Git(git?.to_owned()),
    };
    let bytes = file["lfs"]["size"].as_u64().or_else(|| file["size"].as_u64())?;
    Some(HubFile { path: path.to_owned(), bytes, hash })
}

fn is_hash(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a path names a file below its folder.
fn is_path_inside(path: &str) -> bool {
    let is_name = |name: &str| {
        !matches!(name, "" | "." | "..") && !name.contains(['\\', '\0']) && name.len() <= 255
    };
    path.split('/').all(is_name) && path.split('/').count() <= 16
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_files_that_can_be_verified_are_listed() {
        let (sha1, sha256) = ("a".repeat(40), "b".repeat(64));
        let body = json!({"sha": sha1, "siblings": [
            {"rfilename": "config.json", "size": 5, "blobId": sha1},
            {"rfilename": "onnx/model.onnx", "size": 130, "blobId": sha1,
             "lfs": {"sha256": sha256, "size": 9_000_000_000_u64}},
            {"rfilename": "../etc/passwd", "size": 5, "blobId": sha1},
            {"rfilename": "/root", "size": 5, "blobId": sha1},
            {"rfilename": "no hash", "size": 5},
            {"rfilename": "bad hash", "size": 5, "blobId": "../../x"},
        ]});
        let listing = Listing::read(&body).unwrap();
        let paths: Vec<_> = listing.files.iter().map(|it| (it.path.as_str(), it.bytes)).collect();
        assert_eq!(paths, [("config.json", 5), ("onnx/model.onnx", 9_000_000_000)]);
        assert!(Listing::read(&json!({"sha": "../x"})).is_err());
        assert!(Listing::read(&json!([])).is_err());
    }
}
