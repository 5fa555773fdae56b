//! Fits pictures into the cells of a terminal. A [`Canvas`] is the area for a picture; a [`Fit`] is the cells and
//! pixels that the picture covers on it.

use fast_image_resize::{
    FilterType, ResizeAlg, ResizeOptions, Resizer,
    images::{TypedImage, TypedImageRef},
    pixels::U8x3,
};
use image::RgbImage;

use super::limits::DecodeError;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Protocol {
    None,
    /// Two pixels per cell, drawn as text.
    #[default]
    HalfBlock,
    /// Kitty graphics with Unicode placeholders.
    Kitty,
    Sixel,
    Iterm,
}

/// The area for a picture, and the protocol that draws it. Equal canvases give equal encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Canvas {
    /// Width in cells, at least 1.
    pub columns: u16,
    /// Height in cells, at least 1.
    pub rows: u16,
    /// Size of one cell in pixels (width, height).
    pub cell: (u16, u16),
    pub protocol: Protocol,
}

/// The largest enlargement outside the full-size view: a 32-pixel icon fills a tile and is still recognizably small.
const MAX_ENLARGEMENT: f64 = 4.0;

/// The largest side of a sixel picture, in pixels, if the terminal does not report one. By default, xterm does not show
/// larger pictures (`maxGraphicSize`).
pub const DEFAULT_SIXEL_SIDE: u16 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// The number of covered cells (columns, rows): at least 1 and at most the size of the canvas.
    pub cells: (u16, u16),
    /// The size of the covered cells in pixels (width, height).
    pub pixels: (u32, u32),
}

impl Fit {
    /// Fits a picture of `original` pixels into `canvas`. The aspect ratio is kept as far as whole cells allow.
    pub fn new(original: (u32, u32), canvas: Canvas) -> Self {
        Self::limited(original, canvas, MAX_ENLARGEMENT)
    }

    /// Like [`Fit::new`], but as large as the canvas allows.
    pub(crate) fn enlarged(original: (u32, u32), canvas: Canvas) -> Self {
        Self::limited(original, canvas, f64::INFINITY)
    }

    fn limited(original: (u32, u32), canvas: Canvas, max_enlargement: f64) -> Self {
        let cell = clamped_cell(canvas);
        let per_cell = pixels_per_cell(canvas);
        let (columns, rows) = (canvas.columns, canvas.rows);
        let size = (f64::from(original.0.max(1)), f64::from(original.1.max(1)));
        let cell = (f64::from(cell.0), f64::from(cell.1));
        let shrink_to_fit =
            (f64::from(columns) * cell.0 / size.0).min(f64::from(rows) * cell.1 / size.1);
        let largest = max_enlargement * (cell.0 / f64::from(per_cell.0));
        let scale = shrink_to_fit.min(largest);
        let cells = (
            whole_cells(size.0 * scale / cell.0, columns),
            whole_cells(size.1 * scale / cell.1, rows),
        );
        Self { cells, pixels: (u32::from(cells.0) * per_cell.0, u32::from(cells.1) * per_cell.1) }
    }

    /// Returns the shorter side, in pixels, that a scaled decode of `original` must have so that fitting never enlarges
    /// the displayed `part`.
    pub fn min_decoded_side(self, part: (u32, u32), original: (u32, u32)) -> u32 {
        let share = (f64::from(self.pixels.0) / f64::from(part.0.max(1)))
            .max(f64::from(self.pixels.1) / f64::from(part.1.max(1)));
        let shorter = f64::from(original.0.min(original.1).max(1));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and a float cast saturates"
        )]
        let enough = (share * shorter).ceil() as u32;
        enough.max(1)
    }
}

fn clamped_cell(canvas: Canvas) -> (u16, u16) {
    (canvas.cell.0.clamp(1, 128), canvas.cell.1.clamp(1, 128))
}

pub fn pixels_per_cell(canvas: Canvas) -> (u32, u32) {
    match canvas.protocol {
        Protocol::None | Protocol::HalfBlock => (1, 2),
        Protocol::Kitty | Protocol::Sixel | Protocol::Iterm => {
            let (width, height) = clamped_cell(canvas);
            (width.into(), height.into())
        }
    }
}

/// Returns how many cells of `cell` pixels fit along a sixel picture of at most `side` pixels.
pub fn max_sixel_cells(side: u16, cell: u16) -> u16 {
    side / cell.max(1)
}

fn whole_cells(exact: f64, limit: u16) -> u16 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to 1..=limit"
    )]
    let cells = exact.round().clamp(1.0, f64::from(limit.max(1))) as u16;
    cells
}

// Scales pictures. Whole pictures are scaled for the terminal; parts of pictures are scaled to an exact size, with the
// filter with which learned models were trained.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResampleFilter {
    Nearest,
    Box,
    Bilinear,
    Hamming,
    Bicubic,
    Lanczos,
}

/// A part of a picture. The coordinates are in pixels and may be fractions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PicturePart {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

/// Resamples a part of a picture.
///
/// # Errors
/// The part is not inside the picture.
pub fn resample(
    picture: &RgbImage,
    part: PicturePart,
    size: (u32, u32),
    filter: ResampleFilter,
) -> Result<RgbImage, DecodeError> {
    let algorithm = match filter {
        ResampleFilter::Nearest => ResizeAlg::Nearest,
        ResampleFilter::Box => ResizeAlg::Convolution(FilterType::Box),
        ResampleFilter::Bilinear => ResizeAlg::Convolution(FilterType::Bilinear),
        ResampleFilter::Hamming => ResizeAlg::Convolution(FilterType::Hamming),
        ResampleFilter::Bicubic => ResizeAlg::Convolution(FilterType::CatmullRom),
        ResampleFilter::Lanczos => ResizeAlg::Convolution(FilterType::Lanczos3),
    };
    let PicturePart { left, top, width, height } = part;
    let options = ResizeOptions::new().resize_alg(algorithm).crop(left, top, width, height);
    resize_with(picture, size, &options)
}

/// Resizes a whole picture.
pub fn resize(picture: &RgbImage, size: (u32, u32)) -> Result<RgbImage, DecodeError> {
    if picture.dimensions() == size {
        return Ok(picture.clone());
    }
    // The Hamming filter keeps edges crisp in a small tile, without the ringing of a wider filter.
    let filter =
        if size.0 < picture.width() { FilterType::Hamming } else { FilterType::CatmullRom };
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(filter));
    resize_with(picture, size, &options)
}

fn resize_with(
    picture: &RgbImage,
    size: (u32, u32),
    options: &ResizeOptions,
) -> Result<RgbImage, DecodeError> {
    let describe = |error: &dyn std::fmt::Display| DecodeError(format!("cannot resize: {error}"));
    let (width, height) = picture.dimensions();
    // The pixel type is given explicitly, because `resize` would compile the filters for thirteen types.
    let from = TypedImageRef::<U8x3>::from_buffer(width, height, picture.as_raw())
        .map_err(|error| describe(&error))?;
    let mut resized = RgbImage::new(size.0, size.1);
    let mut to = TypedImage::<U8x3>::from_buffer(size.0, size.1, &mut resized)
        .map_err(|error| describe(&error))?;
    Resizer::new().resize_typed(&from, &mut to, options).map_err(|error| describe(&error))?;
    Ok(resized)
}
