//! Decides which pictures the full-size view shows, where they are on the screen, which ones are loaded, and what is
//! drawn until then. A frame of a video has a strip with the loaded frames around it below the picture.

use std::sync::Arc;

use ratatui::layout::{
    Constraint::{Length, Min},
    Layout, Position, Rect,
};
use tessera_model::{
    Cluster, MediaId, PictureSource, Preview, Region, SelectionEntry, region::Vec2,
};
use tessera_picture::{Canvas, Crop, PictureSubject, PictureView, Thumbnail, fit::pixels_per_cell};

use crate::{
    app::{
        App, PictureCache, Results, ServiceData, Uptime,
        view::{
            full_size_link,
            pictures::{VisiblePicture, preview_picture},
            tiles::FrameLocation,
        },
        viewer::{
            Arrangement, Comparison, PictureList, Viewer, ViewerAreas, ZoomPosition, actual_zoom,
            comparison::of_media,
        },
    },
    drawing::equal_columns,
    message::Lane,
};

impl Results {
    /// Returns the picture of an entry of the basket, if it is on a loaded page.
    pub(in crate::app) fn loaded_entry(&self, entry: &SelectionEntry) -> Option<&Preview> {
        let tile = entry.cluster().and_then(|selected| {
            self.clusters_of_dataset().find(|cluster| cluster.id == selected.id)?.previews.first()
        });
        tile.or_else(|| self.loaded_preview(entry.representative()?))
    }

    /// Returns a media item of the open page, or of another loaded page of this dataset.
    pub fn loaded_preview(&self, media: MediaId) -> Option<&Preview> {
        self.loaded_member(media).map(|(_, preview)| preview)
    }

    /// Returns a media item with its cluster, from the open page or another loaded page of this dataset.
    pub fn loaded_member(&self, media: MediaId) -> Option<(&Cluster, &Preview)> {
        self.clusters_of_dataset().find_map(|cluster| {
            let preview = cluster.previews.iter().find(|preview| preview.media == media)?;
            Some((cluster, preview))
        })
    }

    /// Returns the clusters of the open page, then the clusters of the other loaded pages of its
    /// dataset.
    pub(in crate::app) fn clusters_of_dataset(&self) -> impl Iterator<Item = &Cluster> {
        let dataset = self.view().map(|view| view.search.dataset);
        let other = dataset.into_iter().flat_map(|dataset| self.pages.loaded(dataset));
        self.page().into_iter().chain(other).flat_map(|page| &page.clusters)
    }

    /// Returns the regions of the objects of a picture on the open page.
    pub fn boxes_in(&self, preview: &Preview) -> Vec<Region> {
        let Some(link) = &preview.original else { return Vec::new() };
        let clusters = self.page().map_or(&[][..], |page| &page.clusters);
        let previews = clusters.iter().flat_map(|cluster| &cluster.previews);
        let same = previews.filter(|other| {
            other.original.as_ref().is_some_and(|other| other.resource() == link.resource())
        });
        let mut boxes: Vec<Region> = same.filter_map(|preview| preview.region).collect();
        boxes.sort();
        boxes.dedup();
        boxes
    }
}

impl ServiceData {
    /// Returns the size of a picture in pixels. The size of the loaded picture takes precedence
    /// over the size that the service states.
    pub fn viewed_size(&self, preview: &Preview) -> Option<(u32, u32)> {
        let subject = PictureSubject::Media(preview.media);
        let loaded = self.pictures.newest(|view, _| is_zoomed(view, &subject));
        loaded.map(|(_, _, picture)| picture.original).or(preview.dimensions)
    }
}

fn subject_of(picture: PanelPicture) -> PictureSubject {
    match picture {
        PanelPicture::Preview(preview) => PictureSubject::Media(preview.media),
        PanelPicture::Difference(one, other) => PictureSubject::Difference(one.media, other.media),
    }
}

fn is_zoomed(view: &PictureView, subject: &PictureSubject) -> bool {
    view.subject == *subject && matches!(view.crop, Crop::Zoomed(..))
}

fn centered_cells(area: Rect, picture: &Thumbnail) -> Rect {
    let (width, height) = (picture.cells.0.min(area.width), picture.cells.1.min(area.height));
    let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 2);
    Rect { x, y, width, height }
}

/// Returns an upper bound of the bytes of a picture that fills the canvas.
fn encoded_bytes(canvas: Canvas) -> usize {
    let (width, height) = pixels_per_cell(canvas);
    let pixels = |cells: u16, side: u32| usize::from(cells) * side as usize;
    // The size is that of Base64 with three bytes per pixel.
    4 * pixels(canvas.columns, width) * pixels(canvas.rows, height)
}

#[derive(Clone, Copy, Debug)]
pub enum PanelPicture<'a> {
    Preview(&'a Preview),
    /// Where two pictures differ.
    Difference(&'a Preview, &'a Preview),
}

impl<'a> PanelPicture<'a> {
    /// Returns the picture whose size decides which part is shown.
    pub fn preview(self) -> &'a Preview {
        let (Self::Preview(preview) | Self::Difference(preview, _)) = self;
        preview
    }
}

/// One picture of the view and its area.
#[derive(Clone, Copy, Debug)]
pub struct ViewerPanel<'a> {
    pub picture: PanelPicture<'a>,
    pub area: Rect,
    /// The row of the picture's name, if several pictures are shown.
    pub label: Option<Rect>,
    /// Whether this is the picture that is kept.
    pub active: bool,
}

/// Returns up to three areas side by side, or two rows of two areas. All have the same size.
fn panel_areas(area: Rect, count: usize) -> Vec<Rect> {
    if count < 4 {
        return equal_columns(area, u16::try_from(count).unwrap_or_default());
    }
    let height = area.height / 2;
    let row = |y| Rect { y, height, ..area };
    [area.y, area.y + height].into_iter().flat_map(|y| equal_columns(row(y), 2)).collect()
}

/// The rows of the smallest screen with a strip.
const MIN_SCREEN_ROWS: u16 = 20;
/// The cells of a frame (columns, rows), without its time below it and the gap beside it.
const FRAME_CELLS: (u16, u16) = (14, 4);

#[derive(Clone, Copy, Debug)]
pub struct StripFrame<'a> {
    pub preview: &'a Preview,
    /// The area of the picture. The row below it shows the time.
    pub area: Rect,
    pub current: bool,
}

impl App {
    pub fn comparison(&self) -> Option<&Comparison> {
        self.viewer.as_ref()?.comparison.as_ref()
    }

    /// Returns the picture at full size. Among compared pictures, this is the active one.
    pub fn viewed_preview(&self) -> Option<&Preview> {
        if let Some(comparison) = self.comparison() {
            return self.results.loaded_preview(comparison.pictures[comparison.active]);
        }
        match self.viewer.as_ref()?.list {
            PictureList::Results | PictureList::Members => self.results.preview(),
            PictureList::Basket => {
                self.results.loaded_entry(self.baskets.selected_entry(&self.results)?)
            }
        }
    }

    /// Returns the position in the list, counted from 0, and the length of the list.
    pub fn viewer_position(&self) -> Option<(usize, usize)> {
        let view = self.results.view()?;
        Some(match self.viewer.as_ref()?.list {
            PictureList::Results => (view.cursor, self.results.visible_clusters().len()),
            PictureList::Members => {
                (self.results.preview_index(), self.results.cluster()?.previews.len())
            }
            PictureList::Basket => {
                let rows = self.baskets.rows(&self.results);
                (self.baskets.cursor().min(rows.len().saturating_sub(1)), rows.len())
            }
        })
    }

    /// Returns the picture `by` places further in the list, if it is on a loaded page.
    fn preview_beside(&self, by: isize) -> Option<&Preview> {
        let place = self.viewer_position()?.0.checked_add_signed(by)?;
        match self.viewer.as_ref()?.list {
            PictureList::Results => self.results.tiles().get(place)?.preview,
            PictureList::Members => self.results.cluster()?.previews.get(place),
            PictureList::Basket => {
                self.results.loaded_entry(self.baskets.rows(&self.results).get(place)?)
            }
        }
    }

    /// Returns the size of the picture and its canvas, which zooming and panning need.
    pub(super) fn viewed_dimensions(&self) -> Option<((u32, u32), Canvas)> {
        let panels = self.viewer_panels();
        let panel = panels.iter().find(|panel| panel.active)?;
        Some((
            self.service_data.viewed_size(panel.picture.preview())?,
            self.screen.canvas(panel.area.width, panel.area.height),
        ))
    }

    /// Returns how large the picture is shown. 1 is a pixel of the picture per pixel of the canvas.
    pub fn viewer_scale(&self) -> Option<f64> {
        let (size, canvas) = self.viewed_dimensions()?;
        Some(self.viewer.as_ref()?.position.zoom / actual_zoom(size, canvas))
    }

    pub(in crate::app) fn zoomed_picture(
        &self,
        picture: PanelPicture,
        area: Rect,
        position: ZoomPosition,
    ) -> (PictureView, Canvas) {
        /// The assumed size of a picture that is not loaded yet. The assumption has no effect at
        /// the fitting size.
        const ASSUMED_PIXELS: (u32, u32) = (1000, 1000);
        let preview = picture.preview();
        let size = self.service_data.viewed_size(preview).unwrap_or(ASSUMED_PIXELS);
        let (part, canvas) = position.part(size, self.screen.canvas(area.width, area.height));
        let has_boxes = self.viewer.as_ref().is_some_and(|viewer| viewer.boxes);
        let boxes = if has_boxes { self.results.boxes_in(preview) } else { Vec::new() };
        let subject = subject_of(picture);
        (PictureView { subject, crop: Crop::Zoomed(part, Arc::from(boxes)) }, canvas)
    }

    /// Returns the picture to draw: the requested one, or otherwise the newest one of the same media item that fits.
    /// Something is therefore always shown while a sharper picture loads.
    pub fn displayed_in_viewer(&self, panel: &ViewerPanel) -> Option<(PictureView, Canvas)> {
        let position = self.viewer.as_ref()?.position;
        let (view, canvas) = self.zoomed_picture(panel.picture, panel.area, position);
        if self.service_data.pictures.get(&view, canvas).is_some() {
            return Some((view, canvas));
        }
        let subject = subject_of(panel.picture);
        let fits = |canvas: Canvas| {
            canvas.protocol == self.screen.protocol
                && canvas.columns <= panel.area.width
                && canvas.rows <= panel.area.height
        };
        let pictures = &self.service_data.pictures;
        let former = pictures.newest(|view, canvas| is_zoomed(view, &subject) && fits(canvas));
        let of_tile = |view: &PictureView| view.subject == subject;
        let former = former.or_else(|| pictures.newest(|view, at| of_tile(view) && fits(at)));
        former.map_or(Some((view, canvas)), |(view, canvas, _)| Some((view.clone(), canvas)))
    }

    /// Returns the cells that the displayed picture covers, and the part of the picture that they
    /// show.
    pub(in crate::app) fn viewed_cells(&self, panel: &ViewerPanel) -> Option<(Rect, Region)> {
        let (view, canvas) = self.displayed_in_viewer(panel)?;
        let picture = self.service_data.pictures.get(&view, canvas)?.as_ref().ok()?;
        let Crop::Zoomed(part, _) = view.crop else { return None };
        Some((centered_cells(panel.area, picture), part))
    }

    pub(super) fn panel_at(&self, (column, row): (u16, u16)) -> Option<ViewerPanel<'_>> {
        let position = Position::new(column, row);
        let panels = self.viewer_panels();
        panels.iter().find(|panel| panel.area.contains(position)).or(panels.first()).copied()
    }

    /// Converts a cell to a point of the picture, in fractions of the picture.
    pub(super) fn point_in_picture(&self, cell: (u16, u16)) -> Option<Vec2> {
        let panel = self.panel_at(cell)?;
        let (cells, part) = self.viewed_cells(&panel)?;
        let fraction = |at: u16, start: u16, side: u16| {
            ((f64::from(at) + 0.5 - f64::from(start)) / f64::from(side.max(1))).clamp(0.0, 1.0)
        };
        let x = part.x + part.width * fraction(cell.0, cells.x, cells.width);
        let y = part.y + part.height * fraction(cell.1, cells.y, cells.height);
        Some((x, y))
    }

    /// Returns the pictures of the view: the pictures on screen, then the pictures that a key would show. The latter
    /// are returned only if all of them fit into the cache.
    pub(in crate::app) fn viewer_pictures(&self, viewer: &Viewer) -> Vec<VisiblePicture> {
        let area = self.viewer_areas().pictures;
        let mut pictures: Vec<VisiblePicture> = self
            .viewer_panels()
            .iter()
            .filter_map(|panel| self.viewer_picture(panel.picture, panel.area, viewer.position))
            .collect();
        let room =
            PictureCache::BUDGET / encoded_bytes(self.screen.canvas(area.width, area.height));
        let next = self.upcoming_pictures(viewer).into_iter().filter_map(|(preview, position)| {
            self.viewer_picture(PanelPicture::Preview(preview), area, position)
        });
        pictures.extend(self.strip_pictures());
        pictures.extend(next.take(room.saturating_sub(1)));
        pictures
    }

    fn upcoming_pictures(&self, viewer: &Viewer) -> Vec<(&Preview, ZoomPosition)> {
        let active = self.viewed_preview().map(|preview| preview.media);
        match viewer.comparison.as_ref().map(|comparison| comparison.arrangement) {
            None if viewer.is_playing() => {
                let frames = self.results.frames_ahead().into_iter();
                frames.map(|preview| (preview, viewer.position)).collect()
            }
            None => {
                let neighbors = [1, -1].into_iter().filter_map(|by| self.preview_beside(by));
                neighbors.map(|preview| (preview, ZoomPosition::default())).collect()
            }
            Some(Arrangement::InTurn) => {
                let others = self
                    .comparison()
                    .map(|it| it.previews(&self.results))
                    .unwrap_or_default()
                    .into_iter();
                let others = others.filter(|preview| Some(preview.media) != active);
                others.map(|preview| (preview, viewer.position)).collect()
            }
            Some(Arrangement::SideBySide | Arrangement::Difference) => Vec::new(),
        }
    }

    /// Returns the request for a picture. A picture that is already being made is finished first, so that zooming and
    /// panning never request pictures faster than they are made.
    fn viewer_picture(
        &self,
        picture: PanelPicture,
        area: Rect,
        position: ZoomPosition,
    ) -> Option<VisiblePicture> {
        let link = |preview| full_size_link(preview).map(PictureSource::Link);
        let source = link(picture.preview())?;
        let compared_with = match picture {
            PanelPicture::Preview(_) => None,
            PanelPicture::Difference(_, other) => Some(link(other)?),
        };
        let (view, canvas) = self.zoomed_picture(picture, area, position);
        let in_progress = self.outbox.tickets.lanes().find_map(|lane| match lane {
            Lane::Picture(other, at)
                if other.differs_only_in_region(&view) && at.protocol == canvas.protocol =>
            {
                Some((other.clone(), *at))
            }
            _ => None,
        });
        let (view, canvas) = in_progress.unwrap_or((view, canvas));
        Some(VisiblePicture { view, source, compared_with, canvas })
    }

    pub fn viewer_panels(&self) -> Vec<ViewerPanel<'_>> {
        let area = self.viewer_areas().pictures;
        let whole = |picture| ViewerPanel { picture, area, label: None, active: true };
        let Some(comparison) = self.comparison() else {
            let preview = self.viewed_preview().map(PanelPicture::Preview);
            return preview.map(whole).into_iter().collect();
        };
        let previews = comparison.previews(&self.results);
        match (comparison.arrangement, previews.as_slice()) {
            (Arrangement::Difference, [one, other, ..]) => {
                vec![whole(PanelPicture::Difference(one, other))]
            }
            (Arrangement::SideBySide, _) => {
                let areas = panel_areas(area, previews.len()).into_iter();
                let areas = areas.map(|area| Layout::vertical([Length(1), Min(0)]).areas(area));
                let panels = previews.iter().zip(areas).map(|(preview, [label, area])| {
                    let active = preview.media == comparison.pictures[comparison.active];
                    let picture = PanelPicture::Preview(preview);
                    ViewerPanel { picture, area, label: Some(label), active }
                });
                panels.collect()
            }
            (Arrangement::InTurn | Arrangement::Difference, _) => {
                let preview = self.viewed_preview().map(PanelPicture::Preview);
                preview.map(whole).into_iter().collect()
            }
        }
    }

    pub fn viewer_areas(&self) -> ViewerAreas {
        let has_strip = self.screen.size.1 >= MIN_SCREEN_ROWS && self.shows_one_of_several_frames();
        ViewerAreas::new(self.screen.size, if has_strip { FRAME_CELLS.1 + 1 } else { 0 })
    }

    /// Returns whether other frames of the video are loaded, so that there is something to play.
    pub(in crate::app) fn shows_one_of_several_frames(&self) -> bool {
        self.comparison().is_none()
            && self.viewed_preview().map(of_media) == self.results.preview().map(of_media)
            && self.results.frame_position().is_some_and(|(_, count)| count > 1)
    }

    /// Returns the frames of the strip in the order of time. The current frame is as near to the
    /// middle as possible.
    pub fn strip_frames(&self) -> Vec<StripFrame<'_>> {
        let Some((area, (frames, current))) =
            self.viewer_areas().strip.zip(self.results.frames_of_video())
        else {
            return Vec::new();
        };
        let (columns, rows) = FRAME_CELLS;
        let most = usize::from((area.width + 1) / (columns + 1)).max(1).min(frames.len());
        let first = current.saturating_sub(most / 2).min(frames.len() - most);
        let xs = (area.x..).step_by(usize::from(columns) + 1);
        let shown = frames.iter().enumerate().skip(first).take(most).zip(xs);
        let frame = |((place, frame), x): ((usize, &FrameLocation), u16)| {
            let area = Rect { x, y: area.y, width: columns.min(area.width), height: rows };
            let preview = self.results.loaded_preview(frame.media)?;
            Some(StripFrame { preview, area, current: place == current })
        };
        shown.filter_map(frame).collect()
    }

    pub fn strip_canvas(&self) -> Canvas {
        self.screen.canvas(FRAME_CELLS.0, FRAME_CELLS.1)
    }

    pub(in crate::app) fn strip_pictures(&self) -> impl Iterator<Item = VisiblePicture> {
        let canvas = self.strip_canvas();
        self.strip_frames().into_iter().filter_map(move |it| preview_picture(it.preview, canvas))
    }

    /// Returns when playback continues. A missing frame needs no time, because its response
    /// continues playback.
    pub(in crate::app) fn next_frame_due(&self) -> Option<Uptime> {
        let due = self.viewer.as_ref()?.next_frame_due?;
        self.has_loaded_next_frame().then_some(due)
    }

    /// Returns whether playback can continue. A frame that cannot be loaded counts as loaded, so that playback skips
    /// it. If there is no next frame, this also returns `true`, and playback ends.
    pub(super) fn has_loaded_next_frame(&self) -> bool {
        let (Some(viewer), Some(next)) =
            (&self.viewer, self.results.frames_ahead().first().copied())
        else {
            return true;
        };
        let area = self.viewer_areas().pictures;
        let (view, canvas) =
            self.zoomed_picture(PanelPicture::Preview(next), area, viewer.position);
        self.service_data.pictures.get(&view, canvas).is_some()
    }

    /// Returns whether the next or previous picture of the results is on another page.
    pub(super) fn viewer_crosses_pages(&self, by: isize) -> bool {
        let in_results =
            self.viewer.as_ref().is_some_and(|viewer| viewer.list == PictureList::Results);
        in_results
            && if by > 0 {
                self.results.may_have_next_page()
            } else {
                self.results.page_number() > 0
            }
    }
}
