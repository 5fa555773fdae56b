//! Draws pictures at the cursor with `viuer`: one image per row of pictures, with the names below.
//!
//! `viuer` queries the terminal again before it uses a protocol, and waits for the response without
//! a deadline. It therefore only gets protocols that our own probe has confirmed.

use image::{DynamicImage, RgbImage, Rgba, RgbaImage, imageops};
use unicode_width::UnicodeWidthStr as _;
use viuer::Config;

use crate::cli::{CliError, Context, Exit, TerminalInfo};
use tessera_model::{SafeText, text::truncate};
use tessera_picture::{Canvas, Crop, Protocol, fit, fit_picture};

#[derive(Clone, Debug)]
pub struct NamedPicture {
    pub bytes: Vec<u8>,
    pub crop: Crop,
    pub name: SafeText,
}

/// Height and width of a picture in a grid, as a ratio.
const TILE_SHAPE: (u32, u32) = (3, 4);
const TILE_GAP: u16 = 1;
/// The terminal of this process. Fails if there is none, unless half-blocks are requested.
pub fn terminal_info(context: &Context) -> Result<TerminalInfo, CliError> {
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

/// Draws pictures, `across` per row. Returns the error of the first that cannot be decoded.
pub fn draw_pictures(
    context: &Context,
    screen: &TerminalInfo,
    tiles: &[NamedPicture],
    across: u16,
    width: Option<u16>,
) -> Result<Option<CliError>, CliError> {
    let columns = width.unwrap_or(screen.size.0).max(1);
    let across = across.clamp(1, columns.div_ceil(2));
    let canvas = tile_canvas(screen, across, columns);
    let mut first_error = None;
    for row in tiles.chunks(usize::from(across)) {
        let mut pictures = Vec::new();
        for tile in row {
            match fit_picture(&tile.bytes, &tile.crop, canvas) {
                Ok(picture) => pictures.push((picture, &tile.name)),
                Err(error) => {
                    let message = format!("{}: {error}", tile.name);
                    context.messages.warn(&message);
                    first_error.get_or_insert(CliError::new(Exit::Invalid, message));
                }
            }
        }
        if !pictures.is_empty() {
            let strip: Vec<_> =
                pictures.iter().map(|(fitted, _)| (fitted.fit, &fitted.picture)).collect();
            let gap = gap_color(screen, canvas, context.out.is_terminal());
            print_row(&strip, canvas, screen.truecolor, gap)?;
            if canvas.protocol == Protocol::Sixel {
                // After sixels, the cursor is in the last row they cover.
                context.out.print_text("\n")?;
            }
            let names: Vec<&str> = pictures.iter().map(|(_, name)| name.as_str()).collect();
            context.out.print_text(&caption_line(&names, usize::from(canvas.columns)))?;
        }
    }
    Ok(first_error)
}

fn tile_canvas(screen: &TerminalInfo, across: u16, columns: u16) -> Canvas {
    let protocol = screen.protocols.first().copied().unwrap_or_default();
    // A wider row would be scaled down, and the names would no longer match.
    let columns = match protocol {
        Protocol::Sixel => columns.min(max_sixel_cells(screen.cell.0)).max(across * 2),
        _ => columns,
    };
    let wide = ((columns - TILE_GAP * (across - 1)) / across).max(1);
    let most = screen.size.1.saturating_sub(3).max(1);
    let (cell_width, cell_height) = (u32::from(screen.cell.0), u32::from(screen.cell.1).max(1));
    let high = u32::from(wide) * cell_width * TILE_SHAPE.0 / (TILE_SHAPE.1 * cell_height);
    let high = if across == 1 { most } else { u16::try_from(high).unwrap_or(most).min(most) };
    let high = match protocol {
        Protocol::Sixel => high.min(max_sixel_cells(screen.cell.1)),
        _ => high,
    };
    Canvas { columns: wide, rows: high.max(1), cell: screen.cell, protocol }
}

/// `viuer` draws sixels of the size that every terminal shows.
fn max_sixel_cells(cell: u16) -> u16 {
    fit::max_sixel_cells(fit::DEFAULT_SIXEL_SIDE, cell)
}

/// The color between pictures: transparent; black in a pipe, where nothing moves a cursor; the
/// background color for sixels, which cover the gap.
fn gap_color(screen: &TerminalInfo, canvas: Canvas, is_terminal: bool) -> Rgba<u8> {
    match (canvas.protocol, screen.background) {
        (Protocol::Sixel, Some([red, green, blue])) => Rgba([red, green, blue, u8::MAX]),
        _ if is_terminal => Rgba([0; 4]),
        _ => Rgba([0, 0, 0, u8::MAX]),
    }
}

fn print_row(
    pictures: &[(fit::Fit, &RgbImage)],
    canvas: Canvas,
    truecolor: bool,
    gap: Rgba<u8>,
) -> Result<(), CliError> {
    let count = u16::try_from(pictures.len()).unwrap_or(u16::MAX);
    let rows = pictures.iter().map(|(fit, _)| fit.cells.1).max().unwrap_or(1);
    let last = pictures.last().map_or(1, |(fit, _)| fit.cells.0);
    let columns = (canvas.columns + TILE_GAP) * (count - 1) + last;
    let per_cell = fit::pixels_per_cell(canvas);
    let size = (u32::from(columns) * per_cell.0, u32::from(rows) * per_cell.1);
    let mut strip = RgbaImage::from_pixel(size.0, size.1, gap);
    let step = i64::from(canvas.columns + TILE_GAP) * i64::from(per_cell.0);
    for (position, (_, picture)) in (0_i64..).zip(pictures) {
        let picture = DynamicImage::ImageRgb8((*picture).clone()).into_rgba8();
        imageops::replace(&mut strip, &picture, position * step, 0);
    }
    let cells = match canvas.protocol {
        Protocol::Sixel => fit::viuer_sixel_size(size).0,
        _ => (u32::from(columns), u32::from(rows)),
    };
    let config = Config {
        transparent: true,
        absolute_offset: false,
        width: Some(cells.0),
        height: Some(cells.1),
        truecolor,
        use_kitty: canvas.protocol == Protocol::Kitty,
        use_iterm: canvas.protocol == Protocol::Iterm,
        use_sixel: canvas.protocol == Protocol::Sixel,
        ..Config::default()
    };
    match viuer::print(&DynamicImage::ImageRgba8(strip), &config) {
        Ok(_) => Ok(()),
        Err(viuer::ViuError::Io(error)) => Err(CliError::output(&error)),
        Err(error) => Err(CliError::failed(error.to_string())),
    }
}

/// A line of names, each as wide as its picture.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(protocol: Protocol) -> TerminalInfo {
        let (size, cell) = ((80, 24), (9, 18));
        TerminalInfo { size, cell, protocols: vec![protocol], ..TerminalInfo::default() }
    }

    #[test]
    fn gaps_between_sixels_have_the_background_color() {
        let of = |protocol, background, is_terminal| {
            let screen = TerminalInfo { background, ..screen(protocol) };
            gap_color(&screen, tile_canvas(&screen, 2, 80), is_terminal).0
        };
        assert_eq!(of(Protocol::Sixel, Some([250, 240, 230]), true), [250, 240, 230, 255]);
        assert_eq!(of(Protocol::Sixel, None, true), [0; 4]);
        assert_eq!(of(Protocol::Kitty, Some([250, 240, 230]), true), [0; 4]);
        assert_eq!(of(Protocol::HalfBlock, None, false), [0, 0, 0, 255]);
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
}
