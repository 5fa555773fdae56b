//! The user's own pair of encoders (CLIP and similar): one maps images to vectors, the other texts,
//! so that a text is close to the images that show it.
//!
//! Consists of two .onnx files and the tokenizer.json of the text encoder. Input formats are read
//! from the files; an unusable pair is rejected when it is loaded.

mod error;
mod image_encoder;
mod onnx_model;
mod pair;
mod text_encoder;
mod tokenizer;

pub use error::LoadError;
pub use pair::Encoders;
