//! Draws pictures at the cursor, in rows with names below. The encoders are those of the interface, unless `by_viuer`
//! draws with the library of that name.

use std::fmt::Write as _;

use image::{DynamicImage, Rgba, RgbaImage, imageops};
use tessera_model::text::truncate;
use tessera_picture::{
    Canvas, Crop, Encoded, FittedPicture, Protocol, Thumbnail, encode, fit, fit_picture,
    nearest_of_256,
};
use unicode_width::UnicodeWidthStr as _;
use viuer::Config;

use crate::cli::prelude::*;
use crate::cli::{TerminalInfo, output::write_picture};

#[derive(Clone, Debug)]
pub struct NamedPicture {
    pub bytes: Vec<u8>,
    pub crop: Crop,
    pub name: SafeText,
}

#[derive(Clone, Copy, Debug)]
pub struct DrawOptions {
    /// The number of pictures per row.
    pub across: u16,
    /// The maximum width in columns.
    pub width: Option<u16>,
    pub by_viuer: bool,
}

/// The shape of a picture in a grid, as height to width.
const TILE_SHAPE: (u32, u32) = (3, 4);
pub(super) const TILE_GAP: u16 = 1;
/// The number of Base64 characters in a chunk, which the kitty graphics protocol limits.
const KITTY_CHUNK_SIZE: usize = 4096;

/// Returns what the terminal of this process can draw. Fails if there is no terminal, unless
/// half-blocks are requested.
pub fn terminal_info(context: &Context) -> CliResult<TerminalInfo> {
    let protocol = context.settings.ui.graphics.protocol();
    if protocol == Some(Protocol::None) {
        let message = "pictures are disabled in the settings; enable them with --graphics half";
        return Err(CliError::usage(message));
    }
    if !context.out.is_terminal() {
        if protocol != Some(Protocol::HalfBlock) {
            let message = "cannot draw pictures without a terminal; use --graphics half to draw with characters";
            return Err(CliError::usage(message));
        }
        return Ok(TerminalInfo {
            name: "a pipe".to_owned(),
            size: (80, 24),
            cell: (10, 20),
            truecolor: true,
            protocols: vec![Protocol::HalfBlock],
            ..TerminalInfo::default()
        });
    }
    let mut screen = (context.detect_terminal)();
    if let Some(protocol) = protocol {
        let is_supported = screen.protocols.contains(&protocol);
        if !is_supported {
            let message =
                format!("{} does not support this protocol; using half-blocks", screen.name);
            context.messages.warn(message);
        }
        screen.protocols = vec![if is_supported { protocol } else { Protocol::HalfBlock }];
    }
    Ok(screen)
}

/// Draws pictures row by row. Returns the error of the first picture that cannot be decoded.
pub fn draw_pictures(
    context: &Context,
    screen: &TerminalInfo,
    tiles: &[NamedPicture],
    options: DrawOptions,
) -> CliResult<Option<CliError>> {
    let columns = options.width.unwrap_or(screen.size.0).max(1);
    let across = options.across.clamp(1, columns.div_ceil(2));
    let mut canvas = tile_canvas(screen, across, columns);
    if options.by_viuer && canvas.protocol == Protocol::Sixel {
        canvas.protocol = Protocol::HalfBlock;
    }
    let mut first_error = None;
    for row in tiles.chunks(usize::from(across)) {
        let mut pictures = Vec::new();
        let mut names = Vec::new();
        for tile in row {
            match fit_picture(&tile.bytes, &tile.crop, canvas) {
                Ok(picture) => {
                    pictures.push(picture);
                    names.push(tile.name.as_str());
                }
                Err(error) => {
                    let message = format!("{}: {error}", tile.name);
                    context.messages.warn(&message);
                    first_error.get_or_insert(CliError::new(Exit::Invalid, message));
                }
            }
        }
        if pictures.is_empty() {
            continue;
        }
        if options.by_viuer {
            print_row_by_viuer(context, screen, &pictures, canvas)?;
        } else {
            write_picture(&encode_row(pictures, canvas, screen.truecolor)?)?;
        }
        context.out.print_text(&caption_line(&names, usize::from(canvas.columns)))?;
    }
    Ok(first_error)
}

fn tile_canvas(screen: &TerminalInfo, across: u16, columns: u16) -> Canvas {
    let protocol = screen.protocols.first().copied().unwrap_or_default();
    let wide = ((columns - TILE_GAP * (across - 1)) / across).max(1);
    let most = screen.size.1.saturating_sub(3).max(1);
    let (cell_width, cell_height) = (u32::from(screen.cell.0), u32::from(screen.cell.1).max(1));
    let high = u32::from(wide) * cell_width * TILE_SHAPE.0 / (TILE_SHAPE.1 * cell_height);
    let high = if across == 1 { most } else { u16::try_from(high).unwrap_or(most).min(most) };
    let (wide, high) = match protocol {
        Protocol::Sixel => {
            let limit = |cell| fit::max_sixel_cells(fit::DEFAULT_SIXEL_SIDE, cell).max(1);
            (wide.min(limit(screen.cell.0)), high.min(limit(screen.cell.1)))
        }
        _ => (wide, high),
    };
    Canvas { columns: wide, rows: high.max(1), cell: screen.cell, protocol }
}

/// Returns the characters and control sequences that draw pictures side by side and leave the cursor below them.
fn encode_row(pictures: Vec<FittedPicture>, canvas: Canvas, truecolor: bool) -> CliResult<String> {
    let encoded: Result<Vec<Thumbnail>, _> =
        pictures.into_iter().map(|picture| encode(picture, canvas)).collect();
    let pictures = encoded.map_err(|error| CliError::failed(error.to_string()))?;
    let rows = pictures.iter().map(|picture| picture.cells.1).max().unwrap_or(1);
    if matches!(canvas.protocol, Protocol::None | Protocol::HalfBlock) {
        return Ok((0..rows)
            .map(|row| half_block_line(&pictures, canvas, row, truecolor))
            .collect());
    }
    // The lines are created before anything is drawn, so that no picture scrolls the one beside it.
    let mut out = "\n".repeat(usize::from(rows));
    // Writing into a string cannot fail.
    let _ = write!(out, "\x1b[{rows}A");
    let step = canvas.columns + TILE_GAP;
    for (column, picture) in (0..).step_by(usize::from(step)).zip(&pictures) {
        // The cursor is saved and restored, because protocols leave it in different places.
        out.push_str("\x1b7");
        if column > 0 {
            let _ = write!(out, "\x1b[{column}C");
        }
        push_picture(&mut out, picture);
        out.push_str("\x1b8");
    }
    let _ = write!(out, "\x1b[{rows}B");
    Ok(out)
}

fn push_picture(out: &mut String, picture: &Thumbnail) {
    match &picture.encoded {
        // Half-blocks are not drawn here, because they are written line by line.
        Encoded::Pixels(_) => {}
        Encoded::Sequence(sequence) => out.push_str(sequence),
        Encoded::Kitty { payload, size } => {
            let (columns, rows) = picture.cells;
            let mut keys =
                format!("a=T,f=24,s={},v={},c={columns},r={rows},C=1,q=2,", size.0, size.1);
            let mut rest: &str = payload;
            while !rest.is_empty() {
                let (chunk, after) = rest.split_at(rest.len().min(KITTY_CHUNK_SIZE));
                let more = u8::from(!after.is_empty());
                let _ = write!(out, "\x1b_G{keys}m={more};{chunk}\x1b\\");
                keys.clear();
                rest = after;
            }
        }
    }
}

/// Returns one line of half-blocks. The upper pixel is the background, and the lower one the
/// foreground.
fn half_block_line(pictures: &[Thumbnail], canvas: Canvas, row: u16, truecolor: bool) -> String {
    let color = |[red, green, blue]: [u8; 3]| {
        if truecolor {
            format!("2;{red};{green};{blue}")
        } else {
            format!("5;{}", nearest_of_256([red, green, blue]))
        }
    };
    let mut line = String::new();
    let mut gap = 0;
    for picture in pictures {
        line.extend(std::iter::repeat_n(' ', gap));
        let width = usize::from(picture.cells.0);
        gap = usize::from(canvas.columns + TILE_GAP) - width;
        let Encoded::Pixels(pixels) = &picture.encoded else { continue };
        let Some(two_rows) = pixels.chunks_exact(2 * width).nth(usize::from(row)) else {
            gap += width;
            continue;
        };
        let (upper, lower) = two_rows.split_at(width);
        let mut last = None;
        for (top, bottom) in upper.iter().zip(lower) {
            if last != Some((top, bottom)) {
                let _ = write!(line, "\x1b[48;{};38;{}m", color(*top), color(*bottom));
                last = Some((top, bottom));
            }
            line.push('▄');
        }
        line.push_str("\x1b[0m");
    }
    line.push('\n');
    line
}

/// Returns a line of names, each as wide as its picture.
fn caption_line(names: &[&str], wide: usize) -> String {
    let mut line = String::new();
    for name in names {
        let kept = truncate(name, wide);
        line += &kept;
        line.extend(std::iter::repeat_n(' ', wide + usize::from(TILE_GAP) - kept.width()));
    }
    line.truncate(line.trim_end().len());
    line + "\n"
}

/// Draws a row of pictures with `viuer`, for terminals that misdraw our own encoding.
///
/// `viuer` queries the terminal again before it uses a protocol, and waits for the response without a deadline. It
/// therefore gets only protocols that our own probe has confirmed. Sixels would need a second encoder, so terminals
/// with sixels get half-blocks.
fn print_row_by_viuer(
    context: &Context,
    screen: &TerminalInfo,
    pictures: &[FittedPicture],
    canvas: Canvas,
) -> CliResult<()> {
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

    fn screen(protocol: Protocol) -> TerminalInfo {
        let (size, cell) = ((80, 24), (9, 18));
        TerminalInfo { size, cell, protocols: vec![protocol], ..TerminalInfo::default() }
    }

    fn picture(color: [u8; 3], canvas: Canvas) -> FittedPicture {
        let mut png = std::io::Cursor::new(Vec::new());
        let image = image::RgbImage::from_pixel(8, 8, image::Rgb(color));
        image.write_to(&mut png, image::ImageFormat::Png).unwrap();
        fit_picture(png.get_ref(), &Crop::Full, canvas).unwrap()
    }

    #[test]
    fn tiles_share_the_width_and_a_single_picture_has_all_of_it() {
        let half = screen(Protocol::HalfBlock);
        assert_eq!((tile_canvas(&half, 1, 80).columns, tile_canvas(&half, 1, 80).rows), (80, 21));
        let tile = tile_canvas(&half, 4, 80);
        assert_eq!((tile.columns, tile.rows), (19, 7));
        assert!(4 * tile.columns + 3 * TILE_GAP <= 80);
        assert_eq!(tile_canvas(&half, 4, 7).columns, 1);
    }

    #[test]
    fn names_are_truncated_to_their_tiles() {
        assert_eq!(caption_line(&["a.jpg", "long-name.jpg", "c"], 6), "a.jpg  long-… c\n");
        assert_eq!(caption_line(&["日本語.jpg"], 5), "日本…\n");
    }

    #[test]
    fn half_blocks_are_lines_of_cells_with_a_gap_between_pictures() {
        let canvas = Canvas { columns: 2, rows: 1, cell: (10, 20), protocol: Protocol::HalfBlock };
        let row = |truecolor| {
            let pictures = vec![picture([255, 0, 0], canvas), picture([0, 0, 255], canvas)];
            encode_row(pictures, canvas, truecolor).unwrap()
        };
        assert_eq!(
            row(true),
            "\x1b[48;2;255;0;0;38;2;255;0;0m▄▄\x1b[0m \x1b[48;2;0;0;255;38;2;0;0;255m▄▄\x1b[0m\n"
        );
        assert_eq!(row(false), "\x1b[48;5;196;38;5;196m▄▄\x1b[0m \x1b[48;5;21;38;5;21m▄▄\x1b[0m\n");
    }

    #[test]
    fn graphics_are_drawn_side_by_side_from_a_saved_cursor() {
        for (protocol, start) in [
            (Protocol::Kitty, "\x1b_Ga=T,"),
            (Protocol::Sixel, "\x1bP"),
            (Protocol::Iterm, "\x1b]1337;"),
        ] {
            let canvas = Canvas { columns: 4, rows: 2, cell: (10, 20), protocol };
            let pictures = vec![picture([255, 0, 0], canvas), picture([0, 0, 255], canvas)];
            let row = encode_row(pictures, canvas, true).unwrap();
            assert!(row.starts_with(&format!("\n\n\x1b[2A\x1b7{start}")), "{protocol:?}: {row:?}");
            assert!(row.contains(&format!("\x1b8\x1b7\x1b[5C{start}")), "{protocol:?}: {row:?}");
            assert!(row.ends_with("\x1b8\x1b[2B"), "{protocol:?}: {row:?}");
        }
    }

    #[test]
    fn the_gap_is_transparent_in_a_terminal_and_black_in_a_pipe() {
        assert_eq!(gap_color(true).0, [0; 4]);
        assert_eq!(gap_color(false).0, [0, 0, 0, 255]);
    }
}
