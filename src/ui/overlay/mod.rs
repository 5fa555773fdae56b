//! What lies over the panes: the help, the export form, the lines that ask for a search.

mod add_media;
mod archive_inspector;
mod caption;
mod dataset_id_input;
mod export;
mod fact_sheet;
mod file_picker;
mod filter_input;
mod help;
mod job_detail;
mod pick_list;
mod picture_test;
mod region_picker;
mod reindex;
mod saved_views;
mod selection_file;

pub(super) use file_picker::text_field;
use ratatui::{
    layout::Rect,
    widgets::{Clear, Widget},
};

use crate::{app::Overlay, ui::DrawContext};

/// Draws the overlay into its area.
pub(super) fn draw(screen: &mut DrawContext, area: Rect) {
    Clear.render(area, screen.buf);
    match &screen.app.overlay {
        Some(Overlay::Help(help)) => help::draw(screen, area, help),
        Some(Overlay::Palette(palette)) => pick_list::draw(screen, area, "Command", &palette.list),
        Some(Overlay::Export(form)) => export::draw(screen, area, form),
        Some(Overlay::CaptionSearch(line)) => caption::draw(screen, area, line),
        Some(Overlay::FilePicker(picker)) => file_picker::draw(screen, area, picker),
        Some(Overlay::SavedViews(list)) => {
            let title = match screen.app.saved_views_unavailable() {
                Some(reason) => format!("Saved views: {reason}"),
                None => "Saved views; w in the query builder saves one".to_owned(),
            };
            pick_list::draw(screen, area, &title, &list.list);
        }
        Some(Overlay::NameView(line)) => saved_views::draw(screen, area, line),
        Some(Overlay::FilterKinds(pick)) => pick_list::draw(screen, area, "Add a filter", pick),
        Some(Overlay::Filter(asked)) => filter_input::draw(screen, area, asked),
        Some(Overlay::History(pick)) => pick_list::draw(screen, area, "Searches of the past", pick),
        Some(Overlay::Combine(pick)) => pick_list::draw(screen, area, "Of what is loaded", pick),
        Some(Overlay::Sort(pick)) => pick_list::draw(screen, area, "Order of what is loaded", pick),
        Some(Overlay::SelectionFile(line)) => selection_file::draw(screen, area, line),
        Some(Overlay::RegionPicker(picker)) => region_picker::draw(screen, area, picker),
        Some(Overlay::Menu(menu)) => pick_list::draw(screen, area, menu.title.as_str(), &menu.list),
        Some(Overlay::Profiles(pick)) => {
            pick_list::draw(screen, area, "Open another deployment", pick)
        }
        Some(Overlay::DatasetId(line)) => dataset_id_input::draw(screen, area, line),
        Some(Overlay::Log(pick)) => pick_list::draw(screen, area, "Log, newest first", pick),
        Some(Overlay::Facts(sheet)) => fact_sheet::draw(screen, area, sheet),
        Some(Overlay::JobDetail(view)) => job_detail::draw(screen, area, *view),
        Some(Overlay::AddMedia(form)) => add_media::draw(screen, area, form),
        Some(Overlay::ArchiveInspector(layer)) => archive_inspector::draw(screen, area, layer),
        Some(Overlay::Reindex(question)) => reindex::draw(screen, area, question),
        Some(Overlay::PictureTest(test)) => picture_test::draw(screen, area, test),
        None => {}
    }
}
