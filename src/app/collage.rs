//! A cluster as a collage: its first preview large, and up to three others small beside or below it.

use ratatui::layout::Rect;
use tessera_picture::{Canvas, Protocol};

use crate::app::tile_arrangement::{rows_of_picture, tile_length};

/// How many previews are small.
const MAX_SMALL: u16 = 3;
/// The least width of a small preview: in pixels, or in columns of half-blocks.
const MIN_SMALL_PIXELS: u16 = 48;
const MIN_SMALL_COLUMNS: u16 = 8;

/// The areas of the large preview and of the small ones in the picture of a tile, as its canvas describes it.
/// Where a small one would have too few pixels, there is only the large one.
pub(in crate::app) fn collage_areas(picture: Rect, canvas: Canvas, previews: usize) -> Vec<Rect> {
    let small_ones = u16::try_from(previews.saturating_sub(1)).unwrap_or(MAX_SMALL).min(MAX_SMALL);
    let all = [below(picture, canvas.cell), beside(picture, canvas.cell)];
    let usable = all.into_iter().filter(|[large, small]| {
        let least = match canvas.protocol {
            Protocol::HalfBlock => MIN_SMALL_COLUMNS,
            _ => MIN_SMALL_PIXELS.div_ceil(canvas.cell.0.max(1)),
        };
        small.width >= least && small.height > 0 && large.height > small.height
    });
    let best = usable.max_by_key(|[large, _]| {
        let by_height = u32::from(large.height) * u32::from(canvas.cell.1.max(1)) * 4 / 3;
        by_height.min(u32::from(large.width) * u32::from(canvas.cell.0.max(1)))
    });
    let Some([large, small]) = best.filter(|_| small_ones > 0) else { return vec![picture] };
    let is_below = small.y > large.y;
    let smalls = (0..small_ones).map(|index| {
        if is_below {
            Rect { x: small.x + index * (small.width + 1), ..small }
        } else {
            Rect { y: small.y + index * small.height, ..small }
        }
    });
    std::iter::once(large).chain(smalls).collect()
}

/// The large preview above a row of three, of which the first is returned.
fn below(picture: Rect, cell: (u16, u16)) -> [Rect; 2] {
    // Margins only between the previews: those at the ends are the tile's.
    let width = tile_length(picture.width.saturating_add(2), MAX_SMALL);
    let height = rows_of_picture(width, cell, (4, 3)).min(picture.height / 3);
    let y = picture.y + picture.height - height;
    let large = Rect { height: picture.height - height, ..picture };
    [large, Rect { y, width, height, ..picture }]
}

/// The large preview at the left of a column of three, of which the first is returned.
fn beside(picture: Rect, cell: (u16, u16)) -> [Rect; 2] {
    let height = picture.height / MAX_SMALL;
    let pixels = u32::from(height) * u32::from(cell.1.max(1)) * 4 / 3;
    let width = u16::try_from(pixels / u32::from(cell.0.max(1))).unwrap_or(u16::MAX);
    let width = width.min(picture.width / 3);
    let large =
        Rect { width: picture.width - width.saturating_add(1).min(picture.width), ..picture };
    let x = picture.x + picture.width - width;
    // Also where the picture is not a multiple of three rows high, the small ones end with it.
    [large, Rect { x, width, height, ..picture }]
}
