//! Finds the files of a model folder, and reads its `config.json`. This file defines what a folder may contain, and
//! which families of models get special treatment.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, ErrorKind, Read as _},
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use tessera_model::composed;

use crate::{
    error::{LoadError, cannot_read, short_reason},
    onnx_model::external_files,
    timm,
};

pub const CONFIG: &str = "config.json";
pub const PREPROCESSOR: &str = "preprocessor_config.json";
pub const TOKENIZER: &str = "tokenizer.json";
pub const TOKENIZER_CONFIG: &str = "tokenizer_config.json";

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

impl ModelFolder {
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let refuse = |reason: &str| LoadError::new("model", path, reason);
        if path.is_file() {
            return Err(refuse("is a file; give the folder it is in, with its config.json"));
        }
        for folder in [path.join("onnx"), path.to_owned()] {
            let files = match onnx_files(&folder) {
                Ok(files) => files,
                Err(cause) if cause.kind() == ErrorKind::NotFound => continue,
                Err(cause) => return Err(cannot_read("model folder", &folder, &cause)),
            };
            let names = files.iter().filter_map(|name| name.to_str());
            if let Some((image, text)) = best_models(&names) {
                let image_model = folder.join(image);
                let text_model = text.map(|name| folder.join(name));
                return Ok(Self { path: path.to_owned(), image_model, text_model });
            }
        }
        if !path.exists() {
            return Err(refuse("does not exist; check the path"));
        }
        Err(refuse(
            "has neither onnx/vision_model.onnx nor onnx/model.onnx; give a folder in the layout of a model hub",
        ))
    }

    /// Reads a JSON file of the folder. Returns `None` if it does not exist.
    pub fn json(&self, name: &str) -> Result<Option<Value>, LoadError> {
        let Some(bytes) = self.bytes(name)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|cause| {
            let reason = format!("is not JSON ({}); download it again", short_reason(&cause));
            LoadError::new("file", &self.path.join(name), &reason)
        })
    }

    /// Reads a file of the folder. Returns `None` if it does not exist.
    pub fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, LoadError> {
        let path = self.path.join(name);
        let file = match File::open(&path) {
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|cause| cannot_read("file", &path, &cause))?,
        };
        let mut bytes = Vec::new();
        let read = file.take(MAX_JSON_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|cause| cannot_read("file", &path, &cause))?;
        if bytes.len() as u64 > MAX_JSON_BYTES {
            return Err(LoadError::new("file", &path, "is larger than 256 MiB; download it again"));
        }
        // Editors put a byte order mark in front of a text.
        if bytes.starts_with(b"\xEF\xBB\xBF") {
            bytes.drain(..3);
        }
        Ok(Some(bytes))
    }

    /// Returns all files that change the vectors.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> =
            [CONFIG, PREPROCESSOR, TOKENIZER, TOKENIZER_CONFIG].map(|it| self.path.join(it)).into();
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

    /// Returns the name of the folder. A folder in the cache of a model hub is named after a commit, so its name is that
    /// of the repository.
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

fn onnx_files(folder: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

/// Chooses the model for pictures among the names of files, and the one for texts if it is a separate file.
fn best_models<'a>(
    names: &(impl Iterator<Item = &'a str> + Clone),
) -> Option<(&'a str, Option<&'a str>)> {
    let find = |stem| best_variant(names.clone(), stem);
    match find("vision_model") {
        Some(image) => Some((image, find("text_model"))),
        None => find("model").map(|image| (image, None)),
    }
}

/// Returns the most exact variant of a model: the one without a suffix, otherwise `_fp16`, otherwise the first one by
/// name.
fn best_variant<'a>(names: impl Iterator<Item = &'a str>, stem: &str) -> Option<&'a str> {
    let variant = |name: &'a str| {
        let suffix = name.strip_suffix(".onnx")?.strip_prefix(stem)?;
        let rank = match suffix {
            "" => 0,
            "_fp16" => 1,
            other if other.starts_with('_') => 2,
            _ => return None,
        };
        Some((rank, name))
    };
    names.filter_map(variant).min().map(|(_, name)| name)
}

/// The paths at which a repository may have its models.
pub const SEARCHED_PATHS: &str = "onnx/vision_model.onnx, onnx/model.onnx, vision_model.onnx, model.onnx, and their variants such as _fp16";

/// Chooses the files of a model among the paths of a repository: its ONNX files, files with external weights that are
/// named after them, and its configuration. Returns `None` if the repository has no model that can be used.
pub fn files_of_repository<'a>(paths: &[&'a str]) -> Option<Vec<&'a str>> {
    for folder in ["onnx/", ""] {
        let inside = paths.iter().filter_map(|path| path.strip_prefix(folder));
        let inside = inside.filter(|name| !name.contains('/'));
        let Some((image, text)) = best_models(&inside) else { continue };
        let models = [Some(image), text].map(|name| name.map(|name| format!("{folder}{name}")));
        let is_wanted = |path: &&&str| {
            let belongs = |model: &String| {
                let rest = path.strip_prefix(model.as_str());
                rest.is_some_and(|rest| {
                    rest.is_empty() || rest.starts_with(".data") || rest.starts_with("_data")
                })
            };
            [CONFIG, PREPROCESSOR, TOKENIZER, TOKENIZER_CONFIG].contains(*path)
                || models.iter().flatten().any(belongs)
        };
        return Some(paths.iter().filter(is_wanted).copied().collect());
    }
    None
}

/// The number of tokens of a text in `SigLIP`, whose configuration usually omits this number.
const SIGLIP_TOKENS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelFamily {
    Clip,
    Siglip,
    Other,
}

pub struct ModelConfig {
    pub family: ModelFamily,
    /// The names of the classes, by number.
    pub labels: Vec<String>,
    /// The maximum number of tokens of a text.
    pub max_tokens: Option<usize>,
    /// The settings of a model of `timm`, in the form of a `preprocessor_config.json`.
    pub preprocessor: Option<Value>,
}

impl ModelConfig {
    /// Reads the file, and adds the defaults used to `defaults`.
    pub fn read(folder: &ModelFolder, defaults: &mut Vec<String>) -> Result<Self, LoadError> {
        let Some(json) = folder.json(CONFIG)? else {
            // Public pairs of encoders without a configuration belong to the CLIP family.
            let family =
                if folder.text_model.is_some() { ModelFamily::Clip } else { ModelFamily::Other };
            let taken = match family {
                ModelFamily::Clip => "a pair of encoders like CLIP",
                _ => "no labels, and no kind of model",
            };
            defaults.push(format!("{CONFIG} is missing; assumed: {taken}"));
            return Ok(Self { family, labels: Vec::new(), max_tokens: None, preprocessor: None });
        };
        let family = match json["model_type"].as_str() {
            Some(kind) if kind.starts_with("siglip") => ModelFamily::Siglip,
            Some(kind) if kind.contains("clip") => ModelFamily::Clip,
            _ => ModelFamily::Other,
        };
        let positions = json["text_config"]["max_position_embeddings"].as_u64();
        let max_tokens = positions.and_then(|count| usize::try_from(count).ok());
        let max_tokens = match family {
            ModelFamily::Siglip => Some(max_tokens.unwrap_or(SIGLIP_TOKENS)),
            ModelFamily::Clip | ModelFamily::Other => max_tokens,
        };
        let names = timm::class_names(&json).unwrap_or(&json["id2label"]);
        let labels = class_names(names, &folder.path.join(CONFIG))?;
        Ok(Self { family, labels, max_tokens, preprocessor: timm::preprocessor(&json) })
    }
}

/// Reads the names of classes, such as `{"0": "cat", "1": "dog"}` or `["cat", "dog"]`, in the order of their numbers.
fn class_names(names: &Value, path: &Path) -> Result<Vec<String>, LoadError> {
    let names: Map<String, Value> = match names {
        Value::Object(names) => names.clone(),
        Value::Array(names) => (0..)
            .zip(names)
            .map(|(number, name): (usize, _)| (number.to_string(), name.clone()))
            .collect(),
        _ => return Ok(Vec::new()),
    };
    // Filters match labels in NFC, in which keyboards write them.
    let by_number = |number: usize| {
        let name = names.get(&number.to_string())?.as_str()?;
        Some(composed(name).into_owned())
    };
    (0..names.len()).map(by_number).collect::<Option<_>>().ok_or_else(|| {
        let reason = "has class names without a name for each number from 0; download it again";
        LoadError::new("file", path, reason)
    })
}
