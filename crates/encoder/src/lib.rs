//! The user's own model: it maps pictures to vectors, and if it is a pair, also texts, so that a text is close to the
//! pictures that show it.
//!
//! A model is a folder in the layout of public model hubs: ONNX files in `onnx`, and beside it `config.json`,
//! `preprocessor_config.json` and `tokenizer.json`. What a file does not say is a default that is reported. A model
//! that cannot be used is refused when it is loaded.

mod class_labels;
mod classifier;
mod depthwise;
mod description;
mod error;
mod image_encoder;
mod model;
mod model_config;
mod model_folder;
mod onnx_graph;
mod onnx_model;
mod preprocessing;
mod self_test;
mod staged_run;
mod text_encoder;
mod tokenizer;

pub use description::{ModelDescription, ModelKind};
pub use error::LoadError;
pub use model::LearnedModel;
pub use model_folder::HashedFile;
pub use self_test::SelfTest;
