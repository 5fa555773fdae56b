//! What each action does: one line each, in the order of `input/action.rs`.

use crate::{
    app::{
        App, Effect, Level, Overlay, Pane, gate,
        overlay::{Help, PinLine, SelectionFile},
    },
    input::Action,
};

impl App {
    /// Does what the person meant, or says why not.
    #[expect(clippy::too_many_lines, reason = "a table: one line per action")]
    pub(in crate::app) fn act(&mut self, action: Action, effects: &mut Vec<Effect>) {
        if let Some(reason) = gate::refusal(self, action) {
            self.notices.add(self.now, Level::Warning, reason);
            return;
        }
        match action {
            Action::Up | Action::Down | Action::Left | Action::Right => self.step(action),
            Action::ScreenUp | Action::ScreenDown | Action::First | Action::Last => {
                self.leap(action);
            }
            Action::NextPane => self.focus = self.focus.step(1),
            Action::PreviousPane => self.focus = self.focus.step(Pane::ALL.len() - 1),
            Action::FocusDatasets => self.focus = Pane::Datasets,
            Action::FocusResults => self.focus = Pane::Results,
            Action::FocusDetail => self.focus = Pane::Detail,
            Action::FocusQuery => self.focus = Pane::Query,
            Action::FocusJobs => self.focus = Pane::Jobs,
            Action::FocusBasket => self.focus = Pane::Basket,
            Action::Forward => self.forward(),
            Action::NewTab => self.open_tab(),
            Action::CloseTab => self.close_tab(),
            Action::Tab1 => self.go_to_tab(1),
            Action::Tab2 => self.go_to_tab(2),
            Action::Tab3 => self.go_to_tab(3),
            Action::Tab4 => self.go_to_tab(4),
            Action::Tab5 => self.go_to_tab(5),
            Action::Tab6 => self.go_to_tab(6),
            Action::Tab7 => self.go_to_tab(7),
            Action::Tab8 => self.go_to_tab(8),
            Action::Tab9 => self.go_to_tab(9),
            Action::Open => self.open(effects),
            Action::Back => self.back(),

            Action::FullSize => self.show_full_size(effects),
            Action::Outside => self.show_outside(effects),
            Action::NextPage => self.turn_page(self.page_number() + 1),
            Action::PreviousPage => self.turn_page(self.page_number().saturating_sub(1)),
            Action::Similar => self.search_similar(),
            Action::SimilarToFile => self.ask_for_file(),
            Action::PickRegion => self.pick_region(),
            Action::PickRegionOfQuery => self.pick_region_of_query(),
            Action::Caption => self.ask_for_caption(),
            Action::Loosen => self.loosen(),
            Action::Finer => self.regroup(self.granularity().finer(), effects),
            Action::Coarser => self.regroup(self.granularity().coarser(), effects),
            Action::Filter => self.ask_for_filter(),
            Action::Sort => self.ask_for_order(),
            Action::Fold => self.toggle_fold(),
            Action::History => self.open_history(),
            Action::Combine => self.ask_for_combination(),
            Action::ToggleEntity => self.toggle_entity(effects),
            Action::Refresh => self.refresh(),

            Action::Mark => self.mark(effects),
            Action::MarkRange => self.mark_range(effects),
            Action::MarkPage => self.mark_page(effects),
            Action::MarkAll => self.mark_all(),
            Action::InvertMarks => self.invert_marks(effects),
            Action::Exclude => self.mark_preview(effects),
            Action::Undo => self.undo(effects),
            Action::Redo => self.redo(effects),
            Action::Unmark => self.unmark(effects),
            Action::ClearBasket => self.clear_basket(effects),
            Action::SaveSelection => self.ask_for_selection(SelectionFile::Save),
            Action::OpenSelection => self.ask_for_selection(SelectionFile::Open),

            Action::RunQuery => self.run_query(),
            Action::AddFilter => self.offer_filters(),
            Action::ToggleFilter => self.toggle_filter(),
            Action::DeleteFilter => self.delete_filter(),
            Action::UndoQuery => self.undo_in_query(),
            Action::SwitchJson => self.switch_json(),
            Action::EditJson => self.edit_json(effects),
            Action::SaveView => self.ask_for_view_name(),
            Action::Views => self.list_views(),

            Action::ExportBasket => self.ask_for_basket_export(),
            Action::Export => self.ask_for_export(),
            Action::Download => self.download_chosen(effects),
            Action::AddMedia => self.ask_for_media(),
            Action::Reindex => self.ask_for_reindex(),
            Action::StopWatching => self.stop_watching(effects),
            Action::Inspect => self.inspect(effects),
            Action::ForgetJob => self.forget_job(),

            Action::Profiles => self.ask_for_profile(),
            Action::CopyId
            | Action::CopyLink
            | Action::CopyName
            | Action::CopyJson
            | Action::CopyCurl
            | Action::CopyCommand
            | Action::CopyProfiler => self.copy(action, effects),

            Action::Larger => self.tile = self.tile.larger(),
            Action::Smaller => self.tile = self.tile.smaller(),
            Action::WiderSides => self.widen_sides(1),
            Action::NarrowerSides => self.widen_sides(-1),
            Action::Zoom => self.zoomed = !self.zoomed,
            Action::Menu => self.open_menu(),
            Action::Palette => self.open_palette(),
            Action::Help => self.overlay = Some(Overlay::Help(Help::default())),
            Action::Jump => self.jumping = true,
            Action::Pin => self.overlay = Some(Overlay::Pin(PinLine::default())),
            Action::Log => self.open_log(),
            Action::Record => self.ask_for_record(effects),
            Action::Watch => self.toggle_watch(),
            Action::Theme => self.next_theme(),
            Action::TestPictures => self.test_pictures(),
            Action::Footer => self.footer = !self.footer,
            Action::Mouse => self.toggle_mouse(effects),
            Action::Redraw => effects.push(Effect::Redraw),
            Action::Suspend => effects.push(Effect::Suspend),
            Action::Stop => self.stop(effects),
            Action::Quit => effects.push(Effect::Quit),
        }
    }
}
