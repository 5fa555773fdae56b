//! The areas of the pictures in the full-size view.

use ratatui::layout::{
    Constraint::{Fill, Length, Min},
    Layout, Rect,
};

use super::Arrangement;
use crate::app::App;
use tessera_model::Preview;

#[derive(Clone, Copy, Debug)]
pub enum PanelPicture<'a> {
    Preview(&'a Preview),
    /// Where two pictures differ.
    Difference(&'a Preview, &'a Preview),
}

impl<'a> PanelPicture<'a> {
    /// The picture whose size decides which part is shown.
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
    /// The row of its name, if several are shown.
    pub label: Option<Rect>,
    /// Whether it is the one that is kept.
    pub active: bool,
}

impl App {
    pub fn viewer_panels(&self) -> Vec<ViewerPanel<'_>> {
        let area = self.viewer_areas().pictures;
        let whole = |picture| ViewerPanel { picture, area, label: None, active: true };
        let Some(comparison) = self.comparison() else {
            let preview = self.viewed_preview().map(PanelPicture::Preview);
            return preview.map(whole).into_iter().collect();
        };
        let previews = self.compared_previews();
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

    pub fn compared_previews(&self) -> Vec<&Preview> {
        let pictures = self.comparison().map_or(&[][..], |comparison| &comparison.pictures);
        pictures.iter().filter_map(|media| self.results.loaded_preview(*media)).collect()
    }
}

/// Up to three areas side by side, or two rows of two.
fn panel_areas(area: Rect, count: usize) -> Vec<Rect> {
    let columns = |area: Rect, count: usize| {
        Layout::horizontal(vec![Fill(1); count]).spacing(1).split(area).to_vec()
    };
    if count < 4 {
        return columns(area, count);
    }
    let rows = Layout::vertical([Fill(1), Fill(1)]).split(area);
    rows.iter().flat_map(|row| columns(*row, 2)).collect()
}
