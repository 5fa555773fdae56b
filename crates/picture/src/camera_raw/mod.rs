//! The raw files of cameras, which contain the data of the sensor, and the same picture as JPEG, developed by the camera.

mod cr3;
mod preview;
mod raw_format;
mod tiff_previews;

pub use cr3::Cr3;
pub use preview::{RawPreview, raf_preview};
pub use raw_format::RawFormat;
