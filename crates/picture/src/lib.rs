//! Pictures for terminals. This crate decodes pictures with limits, fits them into cells, and encodes them for the
//! protocol of the terminal. It also recognizes videos, which it does not decode.

mod adaptive_palette;
mod animation;
mod camera_raw;
mod cmyk;
pub mod decode;
mod embedded_metadata;
pub mod fit;
mod format;
mod heif;
mod iso_boxes;
mod jpeg;
mod jpeg_xl;
mod limits;
mod png_chunks;
mod raster;
mod sixel;
mod sixel_cropper;
mod source_colors;
mod thumbnail;
mod tiff;
mod tiff_chunks;
mod tiff_samples;
mod tiff_structure;
mod tone_map;
mod video_container;
mod view;
mod webp_frames;

pub use animation::{AnimationFrame, gray_square, visit_frames};
pub use camera_raw::RawFormat;
pub use embedded_metadata::EmbeddedMetadata;
pub use fit::{Canvas, PicturePart, Protocol, ResampleFilter, resample, resize};
pub use format::PictureFormat;
pub use heif::{ImageSequence, VisiblePart};
pub use sixel_cropper::{CoveredPart, without_covered_sixels};
pub use thumbnail::{
    DifferingPixels, Encoded, FittedPicture, Thumbnail, coded_jpeg_to_srgb, difference, encode,
    encode_jpeg, fit_picture, nearest_of_256, squared_distance, thumbnail, thumbnail_of,
    to_common_jpeg,
};
pub use tiff_structure::{TiffDirectory, TiffStructure};
pub use video_container::{VideoContainer, audio_format, file_kind, is_quicktime, media_kind};
pub use view::{Crop, PictureSubject, PictureView};
