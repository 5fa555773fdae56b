//! Finds and reads the files of a model folder. This file defines what a folder may contain.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read as _},
    path::{Path, PathBuf},
};

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tessera_wire::{text_encoding::decode_marked, tolerant_json};

use crate::{
    class_names::LABEL_FILES,
    error::{LoadError, cannot_read, check_pointer, short_reason},
    onnx_model::external_files,
};

pub const CONFIG: &str = "config.json";
pub const PREPROCESSOR: &str = "preprocessor_config.json";
pub const PROCESSOR: &str = "processor_config.json";
pub const OPEN_CLIP_CONFIG: &str = "open_clip_config.json";
pub const VISUAL_CONFIG: &str = "preprocess_cfg.json";
pub const TOKENIZER: &str = "tokenizer.json";
pub const TOKENIZER_CONFIG: &str = "tokenizer_config.json";
const CONFIGS: [&str; 7] =
    [CONFIG, PREPROCESSOR, PROCESSOR, OPEN_CLIP_CONFIG, VISUAL_CONFIG, TOKENIZER, TOKENIZER_CONFIG];

/// The maximum size of a JSON file. A tokenizer of a quarter of a million tokens takes 35 MB.
const MAX_JSON_BYTES: u64 = 1 << 28;

const HASHED_AT_A_TIME: usize = 1 << 16;

/// A file of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashedFile {
    /// The path relative to the folder.
    pub path: String,
    /// The hash in hexadecimal digits.
    pub sha256: String,
}

pub struct ModelFolder {
    pub path: PathBuf,
    /// The model for pictures, or for pictures and texts.
    pub image_model: PathBuf,
    /// The model for texts, if it is a separate file.
    pub text_model: Option<PathBuf>,
}

/// Whether a folder has the files of a model. They are not read.
pub fn has_model(folder: &Path) -> bool {
    ModelFolder::open(folder).is_ok()
}

impl ModelFolder {
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let refuse = |reason: &str| LoadError::new("model", path, reason);
        if path.is_file() {
            return Err(refuse("is a file; give the folder it is in, with its config.json"));
        }
        let mut files = Vec::new();
        for folder in MODEL_FOLDERS {
            let listed = files_in(&path.join(folder));
            match listed {
                Ok(names) => files.extend(names.into_iter().map(|name| format!("{folder}{name}"))),
                Err(cause) if cause.kind() == ErrorKind::NotFound => {}
                Err(cause) => return Err(cannot_read("model folder", &path.join(folder), &cause)),
            }
        }
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        if let Some((image, text)) = best_models(&files) {
            let text_model = text.map(|text| path.join(text));
            return Ok(Self { path: path.to_owned(), image_model: path.join(image), text_model });
        }
        if !path.exists() {
            return Err(refuse("does not exist; check the path"));
        }
        Err(refuse(
            "has neither onnx/vision_model.onnx nor onnx/model.onnx; give a folder in the layout of a model hub",
        ))
    }

    /// Returns the path of a file, which is in the folder or beside a model.
    pub fn find(&self, name: &str) -> PathBuf {
        let models = [Some(&self.image_model), self.text_model.as_ref()];
        let beside = models.into_iter().flatten().map(|model| parent_of(model).join(name));
        let path = self.path.join(name);
        if path.exists() { path } else { beside.into_iter().find(|it| it.exists()).unwrap_or(path) }
    }

    /// Reads a JSON file of the folder. Returns `None` if it does not exist.
    pub fn json(&self, name: &str) -> Result<Option<Value>, LoadError> {
        let Some(bytes) = self.bytes(name)? else { return Ok(None) };
        let limit = usize::try_from(MAX_JSON_BYTES).unwrap_or(usize::MAX);
        let refused = |reason: &str| {
            let reason = format!("{reason}; download it again");
            LoadError::new("file", &self.find(name), &reason)
        };
        let (json, _) = tolerant_json::parse(&bytes, None, limit)
            .map_err(|cause| refused(&format!("is not JSON ({})", short_reason(&cause))))?;
        if json.is_object() { Ok(Some(json)) } else { Err(refused("is not a JSON object")) }
    }

    /// Reads a file of the folder, which may be UTF-16 with a byte-order mark. Returns `None` if it does not exist.
    pub fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, LoadError> {
        let path = self.find(name);
        let file = match File::open(&path) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|cause| cannot_read("file", &path, &cause))?,
        };
        check_pointer("file", &path)?;
        let mut bytes = Vec::new();
        let read = file.take(MAX_JSON_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|cause| cannot_read("file", &path, &cause))?;
        if bytes.len() as u64 > MAX_JSON_BYTES {
            return Err(LoadError::new("file", &path, "is larger than 256 MiB; download it again"));
        }
        let text = decode_marked(&bytes).map_err(|cause| {
            LoadError::new("file", &path, &format!("cannot be read ({cause}); download it again"))
        })?;
        Ok(Some(text.into_owned()))
    }

    /// Returns all files that change the vectors or labels.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> =
            CONFIGS.iter().chain(&LABEL_FILES).map(|name| self.find(name)).collect();
        for model in [Some(&self.image_model), self.text_model.as_ref()].into_iter().flatten() {
            paths.push(model.clone());
            // A file that cannot be read is reported when the model is loaded.
            let external = external_files(model).unwrap_or_default();
            paths.extend(external.into_iter().map(|name| parent_of(model).join(name)));
        }
        paths.retain(|path| path.is_file());
        paths
    }

    /// Returns the files with their hashes.
    pub fn hashed_files(&self) -> Result<Vec<HashedFile>, LoadError> {
        let hashed = |path: PathBuf| {
            let sha256 = hash_file(&path).map_err(|cause| cannot_read("file", &path, &cause))?;
            let relative = path.strip_prefix(&self.path).unwrap_or(&path);
            Ok(HashedFile { path: relative.to_string_lossy().into_owned(), sha256 })
        };
        self.files().into_iter().map(hashed).collect()
    }

    /// Returns the name of the folder. A folder in the cache of a model hub is named after a commit, so its name is
    /// that of the repository.
    pub fn name(&self) -> String {
        let absolute = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let repository = absolute.parent().filter(|it| it.ends_with("snapshots"));
        let repository = repository.and_then(|it| it.parent()?.file_name()?.to_str());
        if let Some(name) = repository.and_then(|name| name.strip_prefix("models--")) {
            return name.replacen("--", "/", 1);
        }
        absolute.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

fn parent_of(model: &Path) -> &Path {
    model.parent().unwrap_or(model)
}

/// Returns a hash of files, which changes with their paths and contents.
pub fn fingerprint(files: &[HashedFile]) -> [u8; 32] {
    let mut whole = Sha256::new();
    for HashedFile { path, sha256 } in files {
        whole.update(path);
        whole.update([0]);
        whole.update(sha256);
    }
    whole.finalize().into()
}

/// Returns the SHA-256 of a file in hexadecimal digits.
pub fn hash_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; HASHED_AT_A_TIME];
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(&buffer[..length]);
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16);
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(digit).collect()
}

fn files_in(folder: &Path) -> io::Result<Vec<String>> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().into_string().ok()));
    names.filter_map(io::Result::transpose).collect()
}

/// The folders that may have models.
const MODEL_FOLDERS: [&str; 4] = ["onnx/", "", "visual/", "textual/"];
/// The names that tools give to the model for pictures and, if it is a separate file, to the model for texts.
const MODEL_NAMES: [(&str, Option<&str>); 5] = [
    ("onnx/vision_model", Some("onnx/text_model")),
    ("onnx/model", None),
    ("vision_model", Some("text_model")),
    ("model", None),
    ("visual/model", Some("textual/model")),
];

/// Chooses the model for pictures among the paths of files, and the one for texts if it is a separate file. If no name
/// is known, the only ONNX file of a folder is the model for pictures, beside one with `text` in its name.
fn best_models<'a>(paths: &[&'a str]) -> Option<(&'a str, Option<&'a str>)> {
    let named = MODEL_NAMES.iter().find_map(|(image, text)| {
        Some((best_variant(paths, image)?, text.and_then(|text| best_variant(paths, text))))
    });
    named.or_else(|| MODEL_FOLDERS[..2].iter().find_map(|folder| only_models(paths, folder)))
}

fn only_models<'a>(paths: &[&'a str], folder: &str) -> Option<(&'a str, Option<&'a str>)> {
    let name = |path: &&'a str| path.strip_prefix(folder)?.strip_suffix(".onnx");
    let models = paths.iter().copied();
    let models = models.filter(|path| name(path).is_some_and(|name| !name.contains('/')));
    let is_text = |path: &&str| path.contains("text");
    let (texts, images): (Vec<&str>, Vec<&str>) = models.partition(is_text);
    match (&images[..], &texts[..]) {
        ([image], []) => Some((image, None)),
        ([image], [text]) => Some((image, Some(text))),
        _ => None,
    }
}

/// Returns the most exact variant of a model: the one without a suffix, otherwise `_fp16`, otherwise the first one by
/// name.
fn best_variant<'a>(paths: &[&'a str], stem: &str) -> Option<&'a str> {
    let variant = |path: &&'a str| {
        let suffix = path.strip_suffix(".onnx")?.strip_prefix(stem)?;
        let rank = match suffix {
            "" => 0,
            "_fp16" => 1,
            other if other.starts_with('_') && !other.contains('/') => 2,
            _ => return None,
        };
        Some((rank, *path))
    };
    paths.iter().filter_map(variant).min().map(|(_, path)| path)
}

/// The paths at which a repository may have its models.
pub const SEARCHED_PATHS: &str = "onnx/vision_model.onnx, onnx/model.onnx, vision_model.onnx, model.onnx, their variants \
    such as _fp16, visual/model.onnx with textual/model.onnx, and a single ONNX file of any name";

/// Chooses the files of a model among the paths of a repository: its ONNX files, files with external weights that are
/// named after them, and its configuration. Returns `None` if the repository has no model that can be used.
pub fn files_of_repository<'a>(paths: &[&'a str]) -> Option<Vec<&'a str>> {
    let (image, text) = best_models(paths)?;
    let models = [Some(image), text];
    let is_wanted = |path: &&&str| {
        let belongs = |model: &&str| {
            let rest = path.strip_prefix(model);
            rest.is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(".data") || rest.starts_with("_data")
            })
        };
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_near =
            |model: &&str| folder.is_empty() || parent_of(Path::new(model)) == Path::new(folder);
        let is_config = CONFIGS.contains(&name) || LABEL_FILES.contains(&name);
        models.iter().flatten().any(belongs) || is_config && models.iter().flatten().any(is_near)
    };
    Some(paths.iter().filter(is_wanted).copied().collect())
}
