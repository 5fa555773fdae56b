//! Pictures for a terminal: decoded with limits, fitted into cells, and encoded for its protocol.

mod animation;
mod camera_raw;
mod canvas;
mod cmyk;
mod cmyk_jpeg;
mod coded_colors;
mod color_profile;
mod crop;
pub mod decode;
mod difference;
mod embedded_metadata;
mod encode_jpeg;
mod error;
pub mod fit;
mod format;
mod heif;
mod high_dynamic_range;
mod iso_boxes;
mod jpeg;
mod jpeg_xl;
mod jpeg_xl_container;
mod orientation;
mod palette;
mod png_colors;
mod raster;
mod resample;
mod sixel;
mod thumbnail;
mod tiff;
mod tiff_samples;
mod tiff_structure;
mod time_limit;
mod tone_map;
mod view;

pub use animation::{AnimationFrame, visit_frames};
pub use camera_raw::RawFormat;
pub use canvas::{Canvas, Protocol};
pub use difference::difference;
pub use embedded_metadata::EmbeddedMetadata;
pub use encode_jpeg::encode_jpeg;
pub use format::PictureFormat;
pub use orientation::to_common_jpeg;
pub use palette::{nearest_of_256, squared_distance};
pub use resample::{PicturePart, ResampleFilter, resample};
pub use thumbnail::{
    Encoded, FittedPicture, Thumbnail, encode, fit_picture, thumbnail, thumbnail_of,
};
pub use tiff_structure::{TiffDirectory, TiffStructure};
pub use view::{Crop, PictureSubject, PictureView};
