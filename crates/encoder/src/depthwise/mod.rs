//! Depthwise convolutions, in which each channel of a picture is filtered by itself: half of the work of the runtime in
//! small models, although they have a tenth of the multiplications.
//!
//! Each channel is copied into a padded plane, so that the loop over the picture knows no borders, with the
//! columns of a stride apart, so that it reads them in a row.

mod convolution;
mod filter_geometry;
mod operators;
mod padded_plane;
mod plane_filter;

pub use convolution::DepthwiseConvolution;
pub use operators::{ConvolutionOperator, OperatorReader};
