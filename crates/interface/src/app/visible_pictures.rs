//! Finds the pictures on screen, in the order in which they are loaded.

use ratatui::layout::Rect;
use tessera_model::Preview;
use tessera_picture::Protocol;

use crate::app::prelude::*;
use crate::app::{
    areas::DetailLayout,
    overlay::selection_rows::BasketRows,
    view::pictures::{VisiblePicture, framed_picture, preview_picture},
};

/// Returns the pictures on screen in the order of loading: those of the overlay, then the detail, then the grid from
/// the cursor outwards.
pub(in crate::app) fn visible_pictures(app: &App) -> Vec<VisiblePicture> {
    let mut pictures = Vec::new();
    if app.screen.protocol == Protocol::None || app.screen.is_too_small() {
        return pictures;
    }
    if let Some(overlay) = app.overlays.current() {
        let shown = overlay.pictures(overlay.area(app), app);
        pictures.extend(shown.into_iter().map(|(_, picture)| picture));
    }
    if let Some(viewer) = &app.viewer {
        pictures.extend(app.viewer_pictures(viewer));
        return pictures;
    }
    let areas = app.areas();
    if let (Some(area), Some(preview)) = (areas.pane(Pane::Detail), app.results.preview()) {
        let layout = DetailLayout::new(app, area);
        let canvas = app.screen.canvas(layout.picture.width, layout.picture.height);
        pictures
            .extend(framed_picture(preview, canvas).or_else(|| preview_picture(preview, canvas)));
        let previews = app.results.cluster().map_or(&[][..], |cluster| &cluster.previews);
        pictures.extend(layout.strip.iter().filter_map(|(index, area)| {
            preview_picture(previews.get(*index)?, app.screen.canvas(area.width, area.height))
        }));
    }
    if let Some(area) = areas.pane(Pane::Basket) {
        pictures.extend(BasketRows::new(app, area).pictures(app).into_iter().map(|(_, it)| it));
    }
    let Some(grid) = app.grid().filter(|grid| !grid.is_list()) else {
        return pictures;
    };
    let (tiles, cursor) = (app.results.tiles(), app.results.tile_cursor());
    let mut indexes: Vec<usize> = grid.visible().filter(|index| *index < tiles.len()).collect();
    indexes.sort_by_key(|index| index.abs_diff(cursor.tile));
    let tile_areas = indexes
        .into_iter()
        .filter_map(|index| Some(grid.pictures(app, index, grid.tile_area(index)?, &tiles[index])));
    // The large pictures of all tiles come first.
    let collages: Vec<Vec<(&Preview, Rect)>> = tile_areas.collect();
    let large = collages.iter().filter_map(|collage| collage.first());
    let small = collages.iter().flat_map(|collage| collage.iter().skip(1));
    pictures.extend(large.chain(small).filter_map(|(preview, area)| {
        preview_picture(preview, app.screen.canvas(area.width, area.height))
    }));
    pictures
}
