//! Shows one picture on the whole screen with `viuer`.
//!
//! `viuer` writes to standard output, queries the terminal again without a timeout, prints a line
//! break, and never deletes a picture. So no input reader may run meanwhile, the last row stays
//! free, only a terminal that has replied before is queried, and the picture is deleted afterwards.

use std::io::{self, Write};

use crossterm::{
    cursor::MoveTo,
    execute,
    terminal::{Clear, ClearType, size},
};
use image::DynamicImage;
use viuer::Config;

use super::probe::Capabilities;
use crate::ui::picture_layer::ColorDepth;
use tessera_model::{Failure, FailureKind};
use tessera_picture::{
    Canvas, Protocol,
    decode::{DecodeError, decode_for},
    fit::{self, Fit},
};

/// Clears the screen and draws the picture as large as possible, centered above an empty last row.
/// Blocks. The terminal must be in raw mode, and nothing else may read from it.
pub fn show(bytes: &[u8], capabilities: &Capabilities) -> Result<(), Failure> {
    let picture_failure =
        |error| Failure::new(FailureKind::Local, format!("cannot show the picture: {error}"));
    let terminal_failure =
        |error| Failure::new(FailureKind::Local, format!("cannot write to the terminal: {error}"));
    let (columns, rows) = size().map_err(terminal_failure)?;
    let canvas = Canvas {
        columns: columns.max(1),
        rows: rows.saturating_sub(1).max(1),
        cell: capabilities.cell,
        protocol: capabilities.viewer_protocol(),
    };
    let (picture, config) = prepare_viuer(bytes, canvas, capabilities).map_err(picture_failure)?;
    execute!(io::stdout(), Clear(ClearType::All), MoveTo(0, 0)).map_err(terminal_failure)?;
    viuer::print(&picture, &config).map_err(io::Error::other).map_err(terminal_failure)?;
    Ok(())
}

pub fn clear(capabilities: &Capabilities) -> io::Result<()> {
    let mut out = io::stdout();
    if capabilities.viewer_protocol() == Protocol::Kitty {
        // The pictures of `viuer` have no id; this deletes all visible ones.
        out.write_all(b"\x1b_Ga=d,d=A,q=2\x1b\\")?;
    }
    execute!(out, Clear(ClearType::All), MoveTo(0, 0))
}

/// Returns the pixels and the configuration with which `viuer` fills exactly the fitted cells.
fn prepare_viuer(
    bytes: &[u8],
    canvas: Canvas,
    capabilities: &Capabilities,
) -> Result<(DynamicImage, Config), DecodeError> {
    let decoded = decode_for(bytes, |original| {
        Fit::new(original, canvas).min_decoded_side(original, original)
    })?;
    let fit = Fit::new(decoded.original, canvas);
    let (cells, pixels) = match canvas.protocol {
        Protocol::Sixel => fit::viuer_sixel_size(fit.pixels),
        _ => ((u32::from(fit.cells.0), u32::from(fit.cells.1)), fit.pixels),
    };
    let picture = fit::resize(&decoded.pixels, pixels)?;
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
