//! Pictures for a terminal: decoded with limits, fitted into cells, and encoded for its protocol.

mod canvas;
mod crop;
pub mod decode;
mod difference;
mod encode_jpeg;
mod error;
pub mod fit;
mod jpeg;

mod orientation;
mod raster;
mod sixel;
mod thumbnail;
mod view;

pub use canvas::{Canvas, Protocol};
pub use difference::difference;
pub use encode_jpeg::encode_jpeg;
pub use orientation::to_upright_jpeg;
pub use thumbnail::{Encoded, FittedPicture, Thumbnail, fit_picture, thumbnail, thumbnail_of};
pub use view::{Crop, PictureSubject, PictureView};
