//! Pictures for terminals. This crate decodes pictures with limits, fits them into cells, and encodes them for the
//! protocol of the terminal.

mod animation;
mod camera_raw;
mod cmyk;
pub mod decode;
mod embedded_metadata;
mod encode_jpeg;
pub mod fit;
mod format;
mod heif;
mod iso_boxes;
mod jpeg;
mod jpeg_xl;
mod limits;
mod palette;
mod raster;
mod resample;
mod sixel;
mod source_colors;
mod thumbnail;
mod tiff;
mod tiff_structure;
mod tone_map;
mod view;

pub use animation::{AnimationFrame, visit_frames};
pub use camera_raw::RawFormat;
pub use embedded_metadata::EmbeddedMetadata;
pub use encode_jpeg::{encode_jpeg, to_common_jpeg};
pub use fit::{Canvas, Protocol};
pub use format::PictureFormat;
pub use palette::{nearest_of_256, squared_distance};
pub use resample::{PicturePart, ResampleFilter, resample, resize};
pub use thumbnail::{
    Encoded, FittedPicture, Thumbnail, difference, encode, fit_picture, thumbnail, thumbnail_of,
};
pub use tiff_structure::{TiffDirectory, TiffStructure};
pub use view::{Crop, PictureSubject, PictureView};
