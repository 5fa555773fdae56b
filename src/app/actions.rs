//! What each action does: one line per action, in the order of `input/action.rs`.

use tessera_model::Basket;

use crate::{
    app::{
        App, Effect, Level, Pane, Tabs, availability,
        overlay::{help::Help, prompt::PromptPurpose},
        pane::cycle,
        query::QueryDraft,
    },
    input::Action,
};

impl App {
    #[expect(clippy::too_many_lines, reason = "a table: one line per action")]
    pub(super) fn perform(&mut self, action: Action) {
        if let Some(reason) = availability::unavailable_reason(self, action) {
            self.outbox.notify(Level::Warning, reason);
            return;
        }
        if self.viewer.is_some() && self.perform_in_viewer(action) {
            return;
        }
        match action {
            Action::Up | Action::Down | Action::Left | Action::Right => self.move_cursor(action),
            Action::ScreenUp | Action::ScreenDown | Action::First | Action::Last => {
                self.move_by_page(action);
            }
            Action::NextPane => self.panes.focus = cycle(&Pane::ALL, self.panes.focus, 1),
            Action::PreviousPane => self.panes.focus = cycle(&Pane::ALL, self.panes.focus, -1),
            Action::FocusDatasets => self.panes.focus = Pane::Datasets,
            Action::FocusResults => self.panes.focus = Pane::Results,
            Action::FocusDetail => self.panes.focus = Pane::Detail,
            Action::FocusQuery => self.panes.focus = Pane::Query,
            Action::FocusJobs => self.panes.focus = Pane::Jobs,
            Action::FocusBasket => self.panes.focus = Pane::Basket,
            Action::Forward => self.go_forward(),
            // Only the full-size view has them.
            Action::NextPicture
            | Action::PreviousPicture
            | Action::ZoomIn
            | Action::ZoomOut
            | Action::ActualSize
            | Action::FitScreen
            | Action::Boxes
            | Action::Play
            | Action::Blink
            | Action::Difference
            | Action::KeepPicture => {}
            Action::Compare => self.open_comparison(),
            Action::NewTab => self.open_tab(),
            Action::CloseTab => self.results.edit_tabs(Tabs::close),
            Action::Tab1 => self.go_to_tab(0),
            Action::Tab2 => self.go_to_tab(1),
            Action::Tab3 => self.go_to_tab(2),
            Action::Tab4 => self.go_to_tab(3),
            Action::Tab5 => self.go_to_tab(4),
            Action::Tab6 => self.go_to_tab(5),
            Action::Tab7 => self.go_to_tab(6),
            Action::Tab8 => self.go_to_tab(7),
            Action::Tab9 => self.go_to_tab(8),
            Action::Open => self.open_selected(),
            Action::Back => self.go_back(),

            Action::FullSize => self.open_viewer(),
            Action::OpenExternally => self.open_externally(),
            Action::NextPage => self.go_to_page(self.page_number() + 1, 0),
            Action::PreviousPage => self.go_to_page(self.requested_page().saturating_sub(1), 0),
            Action::GoToPage => self.open_prompt(PromptPurpose::GoToPage),
            Action::PreviousFrame => self.step_frame(-1),
            Action::NextFrame => self.step_frame(1),
            Action::Similar => self.search_similar(),
            Action::SimilarToFile => self.open_file_picker(),
            Action::PickRegion => self.open_region_picker(),
            Action::PickRegionOfQuery => self.open_region_picker_on_query(),
            Action::Caption => self.open_caption_search(),
            Action::Relax => self.run_relaxed_search(),
            Action::Finer => self.change_search(|it| it.granularity = it.granularity.finer()),
            Action::Coarser => self.change_search(|it| it.granularity = it.granularity.coarser()),
            Action::Filter => self.open_filter_input(),
            Action::Sort => self.open_sort_list(),
            Action::Fold => self.results.edit_view(|view| view.list_options.fold ^= true),
            Action::ScoreHistogram => self.open_score_histogram(),
            Action::Facets => self.open_facets(),
            Action::History => self.open_history(),
            Action::Combine => self.open_combine_picker(),
            Action::ToggleEntity => self.change_search(|it| it.entity = it.entity.toggled()),
            Action::Refresh => self.refresh(),

            Action::Select => self.toggle_selected(),
            Action::SelectRange => self.select_range(),
            Action::SelectPage => self.change_page(Basket::select),
            Action::SelectAll => self.select_all_pages(),
            Action::InvertSelection => self.change_page(Basket::invert),
            Action::Exclude => self.toggle_preview_selected(),
            Action::Undo => _ = self.edit_basket(Basket::undo),
            Action::Redo => _ = self.edit_basket(Basket::redo),
            Action::Deselect => self.remove_selected_entry(),
            Action::ClearBasket => self.clear_basket(),
            Action::SaveSelection => self.open_selection_file_prompt(PromptPurpose::SaveSelection),
            Action::OpenSelection => self.open_selection_file_prompt(PromptPurpose::LoadSelection),

            Action::RunQuery => self.run_query(),
            Action::AddFilter => self.open_filter_picker(),
            Action::ToggleFilter => self.edit_draft(QueryDraft::toggle),
            Action::DeleteFilter => self.edit_draft(QueryDraft::delete),
            Action::UndoQuery => self.undo_query_change(),
            Action::SwitchJson => self.switch_json(),
            Action::EditJson => self.edit_json(),
            Action::QueryChecks => self.open_query_checks(),
            Action::SaveView => self.open_view_name_input(None),
            Action::Views => self.open_saved_views(),

            Action::ExportBasket => self.open_basket_export_form(),
            Action::Export => self.open_export_form(),
            Action::Download => self.download_selected(),
            Action::AddMedia => self.open_add_media_form(),
            Action::Reindex => self.open_reindex_confirmation(),
            Action::StopWatching => self.stop_watching(),
            Action::Inspect => self.open_archive_inspector(),
            Action::ForgetJob => self.jobs.remove_selected(),

            Action::Profiles => self.open_profile_list(),
            Action::Login => self.open_login(),
            Action::CopyId
            | Action::CopyLink
            | Action::CopyName
            | Action::CopyJson
            | Action::CopyCurl
            | Action::CopyCommand
            | Action::CopyProfiler => self.copy_to_clipboard(action),

            Action::LargerTiles => self.panes.tile_size = self.panes.tile_size.larger(),
            Action::SmallerTiles => self.panes.tile_size = self.panes.tile_size.smaller(),
            Action::WiderSides => self.panes.widen_sides(1),
            Action::NarrowerSides => self.panes.widen_sides(-1),
            Action::Zoom => self.panes.zoomed = !self.panes.zoomed,
            Action::Menu => self.open_action_menu(),
            Action::Palette => self.open_palette(),
            Action::Help => self.overlays.open(Help::default()),
            Action::Jump => self.input.jump_mode = true,
            Action::OpenById => self.open_prompt(PromptPurpose::OpenDataset),
            Action::Log => self.open_log(),
            Action::Record => self.request_record(),
            Action::ToggleAutoRefresh => self.toggle_auto_refresh(),
            Action::Theme => self.next_theme(),
            Action::TestPictures => self.open_graphics_check(),
            Action::Footer => self.panes.footer = !self.panes.footer,
            Action::Mouse => self.toggle_mouse(),
            Action::Redraw => self.outbox.push(Effect::Redraw),
            Action::Suspend => self.outbox.push(Effect::Suspend),
            Action::Cancel => self.stop_or_quit(),
            Action::Quit => self.quit(),
        }
    }
}
