//! Shows one picture on the whole screen with `viuer`.
//!
//! `viuer` writes to standard output, queries the terminal again without a timeout, prints a line
//! break, and never deletes a picture. So no input reader may run meanwhile, the last row stays
//! free, only a terminal that has replied before is queried, and the picture is deleted afterwards.

use std::{
    fmt,
    io::{self, Write},
};

use crossterm::{
    cursor::MoveTo,
    execute,
    terminal::{Clear, ClearType, size},
};
use image::{DynamicImage, RgbImage};
use viuer::Config;

use super::probe::Capabilities;
use crate::ui::picture_layer::ColorDepth;
use tessera_picture::{
    Canvas, Protocol,
    decode::{DecodeError, decode_for},
    fit::{self, Fit},
};

#[derive(Debug)]
pub enum ShowError {
    Picture(DecodeError),
    Terminal(io::Error),
}

impl fmt::Display for ShowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Picture(error) => write!(f, "cannot show the picture: {error}"),
            Self::Terminal(error) => write!(f, "cannot write to the terminal: {error}"),
        }
    }
}

impl std::error::Error for ShowError {}

impl From<DecodeError> for ShowError {
    fn from(error: DecodeError) -> Self {
        Self::Picture(error)
    }
}

impl From<io::Error> for ShowError {
    fn from(error: io::Error) -> Self {
        Self::Terminal(error)
    }
}

/// Clears the screen and draws the picture as large as possible, centered above an empty last row.
/// Blocks. The terminal must be in raw mode, and nothing else may read from it.
pub fn show(bytes: &[u8], capabilities: &Capabilities) -> Result<(), ShowError> {
    let (columns, rows) = size()?;
    let protocol = capabilities.viewer_protocol();
    let canvas = Canvas {
        columns: columns.max(1),
        rows: rows.saturating_sub(1).max(1),
        cell: capabilities.cell,
        protocol,
    };
    let decoded = decode_for(bytes, |original| {
        Fit::new(original, canvas).min_decoded_side(original, original)
    })?;
    let fit = Fit::new(decoded.original, canvas);
    let (picture, config) = prepare_viuer(&decoded.pixels, fit, canvas, capabilities)?;
    execute!(io::stdout(), Clear(ClearType::All), MoveTo(0, 0))?;
    viuer::print(&picture, &config).map_err(io::Error::other)?;
    Ok(())
}

/// Clears the screen and deletes the picture.
pub fn clear(capabilities: &Capabilities) -> io::Result<()> {
    let mut out = io::stdout();
    if capabilities.viewer_protocol() == Protocol::Kitty {
        // The pictures of `viuer` have no id; this deletes all visible ones.
        out.write_all(b"\x1b_Ga=d,d=A,q=2\x1b\\")?;
    }
    execute!(out, Clear(ClearType::All), MoveTo(0, 0))
}

/// Returns the pixels and the configuration with which `viuer` fills exactly the cells of `fit`.
fn prepare_viuer(
    picture: &RgbImage,
    fit: Fit,
    canvas: Canvas,
    capabilities: &Capabilities,
) -> Result<(DynamicImage, Config), DecodeError> {
    let (cells, pixels) = match canvas.protocol {
        Protocol::Sixel => fit::viuer_sixel_size(fit.pixels),
        _ => ((u32::from(fit.cells.0), u32::from(fit.cells.1)), fit.pixels),
    };
    let rgb = fit::resize(picture, pixels)?;
    let picture = RgbImage::from_raw(pixels.0, pixels.1, rgb)
        .ok_or_else(|| DecodeError("the resampler returned too few pixels".to_owned()))?;
    let config = Config {
        x: (canvas.columns - fit.cells.0) / 2,
        y: i16::try_from((canvas.rows - fit.cells.1) / 2).unwrap_or(0),
        width: Some(cells.0),
        height: Some(cells.1),
        truecolor: capabilities.color_depth == ColorDepth::TrueColor,
        use_kitty: canvas.protocol == Protocol::Kitty,
        use_iterm: canvas.protocol == Protocol::Iterm,
        use_sixel: canvas.protocol == Protocol::Sixel,
        ..Config::default()
    };
    Ok((DynamicImage::ImageRgb8(picture), config))
}
