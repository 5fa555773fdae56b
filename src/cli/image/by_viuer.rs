//! Draws pictures with `viuer`, for terminals that misdraw our own encoding. Each row of pictures is drawn as one
//! image.
//!
//! `viuer` queries the terminal again before it uses a protocol, and waits for the response without a deadline. It
//! therefore gets only protocols that our own probe has confirmed. Sixels would need a second encoder, so terminals
//! with sixels get half-blocks.

use image::{DynamicImage, Rgba, RgbaImage, imageops};
use viuer::Config;

use super::draw::TILE_GAP;
use crate::cli::{CliError, Context, TerminalInfo};
use tessera_picture::{Canvas, FittedPicture, Protocol, fit};

pub(super) fn print_row(
    context: &Context,
    screen: &TerminalInfo,
    pictures: &[FittedPicture],
    canvas: Canvas,
) -> Result<(), CliError> {
    let (strip, columns, rows) = join(pictures, canvas, gap_color(context.out.is_terminal()));
    let config = Config {
        transparent: true,
        absolute_offset: false,
        width: Some(columns),
        height: Some(rows),
        truecolor: screen.truecolor,
        use_kitty: canvas.protocol == Protocol::Kitty,
        use_iterm: canvas.protocol == Protocol::Iterm,
        ..Config::default()
    };
    match viuer::print(&DynamicImage::ImageRgba8(strip), &config) {
        Ok(_) => Ok(()),
        Err(viuer::ViuError::Io(error)) => Err(CliError::output(&error)),
        Err(error) => Err(CliError::failed(error.to_string())),
    }
}

/// Joins pictures into one image, and returns the image with its columns and rows.
fn join(pictures: &[FittedPicture], canvas: Canvas, gap: Rgba<u8>) -> (RgbaImage, u32, u32) {
    let count = u32::try_from(pictures.len()).unwrap_or(u32::MAX);
    let rows = u32::from(pictures.iter().map(|picture| picture.fit.cells.1).max().unwrap_or(1));
    let last = u32::from(pictures.last().map_or(1, |picture| picture.fit.cells.0));
    let step = u32::from(canvas.columns + TILE_GAP);
    let columns = step * (count - 1) + last;
    let per_cell = fit::pixels_per_cell(canvas);
    let mut strip = RgbaImage::from_pixel(columns * per_cell.0, rows * per_cell.1, gap);
    for (position, picture) in (0_i64..).zip(pictures) {
        let pixels = DynamicImage::ImageRgb8(picture.picture.clone()).into_rgba8();
        imageops::replace(&mut strip, &pixels, position * i64::from(step * per_cell.0), 0);
    }
    (strip, columns, rows)
}

/// Returns the color between pictures. It is transparent, or black in a pipe, where nothing moves a
/// cursor.
fn gap_color(is_terminal: bool) -> Rgba<u8> {
    Rgba([0, 0, 0, if is_terminal { 0 } else { u8::MAX }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_is_transparent_in_a_terminal_and_black_in_a_pipe() {
        assert_eq!(gap_color(true).0, [0; 4]);
        assert_eq!(gap_color(false).0, [0, 0, 0, 255]);
    }
}
