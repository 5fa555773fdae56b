//! Runs the user's own model, which maps pictures to vectors. A pair of encoders also maps texts to vectors, so that a
//! text is close to the pictures that it describes. Start at [`Encoder`].
//!
//! A model is a folder in the layout of public model hubs: ONNX files in `onnx`, next to `config.json`,
//! `preprocessor_config.json` and `tokenizer.json`. Settings that the files do not contain get defaults, which are
//! reported. A model that cannot be used is refused when it is loaded.

mod class_names;
mod classifier;
mod depthwise;
mod encoder;
mod error;
mod image_encoder;
mod model_folder;
mod onnx_model;
mod preprocessing;
mod staged_run;
mod text_encoder;
mod tool_settings;

pub use encoder::{Encoder, ModelDescription, ModelKind, SelfTest};
pub use error::LoadError;
pub use model_folder::{
    HashedFile, SEARCHED_PATHS, files_of_repository, fingerprint, has_model, hash_file,
};
pub use onnx_model::named_external_files;
