//! What lies over the panes: the help, the export form, the lines that ask for a search.

mod add_media;
mod caption;
mod export;
mod file;
mod filter;
mod help;
mod inspect;
mod pick;
mod picture_test;
mod pin;
mod region;
mod reindex;
mod selection;
mod sheet;
mod timeline;
mod views;

pub(super) use file::field;
use ratatui::{
    layout::Rect,
    widgets::{Clear, Widget},
};

use crate::{app::Overlay, ui::Screen};

/// Draws the overlay into its area.
pub(super) fn draw(screen: &mut Screen, area: Rect) {
    Clear.render(area, screen.buf);
    match &screen.app.overlay {
        Some(Overlay::Help(help)) => help::draw(screen, area, help),
        Some(Overlay::Palette(palette)) => pick::draw(screen, area, "Command", &palette.pick),
        Some(Overlay::Export(form)) => export::draw(screen, area, form),
        Some(Overlay::Caption(line)) => caption::draw(screen, area, line),
        Some(Overlay::File(picker)) => file::draw(screen, area, picker),
        Some(Overlay::Views(list)) => {
            let title = match screen.app.views_refusal() {
                Some(reason) => format!("Saved views: {reason}"),
                None => "Saved views; w in the query builder saves one".to_owned(),
            };
            pick::draw(screen, area, &title, &list.pick);
        }
        Some(Overlay::NameView(line)) => views::draw(screen, area, line),
        Some(Overlay::Kinds(pick)) => pick::draw(screen, area, "Add a filter", pick),
        Some(Overlay::Filter(asked)) => filter::draw(screen, area, asked),
        Some(Overlay::History(pick)) => pick::draw(screen, area, "Searches of the past", pick),
        Some(Overlay::Combine(pick)) => pick::draw(screen, area, "Of what is loaded", pick),
        Some(Overlay::Sort(pick)) => pick::draw(screen, area, "Order of what is loaded", pick),
        Some(Overlay::Selection(line)) => selection::draw(screen, area, line),
        Some(Overlay::Region(picker)) => region::draw(screen, area, picker),
        Some(Overlay::Menu(menu)) => pick::draw(screen, area, menu.title.as_str(), &menu.pick),
        Some(Overlay::Profiles(pick)) => pick::draw(screen, area, "Open another deployment", pick),
        Some(Overlay::Pin(line)) => pin::draw(screen, area, line),
        Some(Overlay::Log(pick)) => pick::draw(screen, area, "Log, newest first", pick),
        Some(Overlay::Sheet(sheet)) => sheet::draw(screen, area, sheet),
        Some(Overlay::Timeline(view)) => timeline::draw(screen, area, *view),
        Some(Overlay::AddMedia(form)) => add_media::draw(screen, area, form),
        Some(Overlay::Inside(layer)) => inspect::draw(screen, area, layer),
        Some(Overlay::Reindex(question)) => reindex::draw(screen, area, question),
        Some(Overlay::PictureTest(test)) => picture_test::draw(screen, area, test),
        None => {}
    }
}
