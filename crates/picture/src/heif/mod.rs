//! AVIF and HEIC: the container is read here, and the coded pictures in it are decoded by `ffmpeg`, an optional program.

mod coded_picture;
mod ffmpeg;
mod item_table;
mod properties;

pub use coded_picture::CodedPicture;
pub use ffmpeg::{find_ffmpeg, to_rgb};
