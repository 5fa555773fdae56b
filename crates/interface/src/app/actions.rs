//! Performs actions, with one line per action. Come here to change what an action does.

use tessera_config::input::Action;
use tessera_curation::FileAction;
use tessera_model::{Basket, ExportPart};

use crate::app::{
    App, Effect, Level, Pane, Tabs, availability,
    basket::select::{
        select_page, select_range, select_rest, toggle_preview_selected, toggle_selected,
    },
    copy::copy_to_clipboard,
    jobs::stop_watching,
    model_offer,
    overlay::{
        add_media::AddMediaForm,
        archive_inspector::ArchiveInspector,
        caption::CaptionSearchForm,
        check::QualityCheck,
        duplicate_review::DuplicateReview,
        export::ExportForm,
        facets::Facets,
        fact_sheet::FactSheet,
        file_actions,
        file_picker::FilePicker,
        get_model,
        graphics_check::GraphicsCheck,
        help::Help,
        log::open_log,
        login::LoginForm,
        manage_dataset::{self, ReindexConfirmation},
        map::MapView,
        palette::{open_action_menu, open_palette},
        prompt::{PromptPurpose, TextPrompt},
        region_picker::RegionPicker,
        saved_views::{ViewNameInput, open_saved_views},
        score_histogram::ScoreHistogram,
        sort_filter::{FilterInput, open_sort_list},
        split::SplitForm,
        tag_list::{open_tag_list, tag_or_ask},
    },
    pane::cycle,
    query::QueryDraft,
    quitting::stop_or_quit,
    service_data::KnownFolder,
    tagging,
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
            // These actions exist only in the full-size view.
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
            Action::NextTab => self.step_tab(1),
            Action::PreviousTab => self.step_tab(-1),
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
            Action::OpenExternally => self.results.open_externally(&mut self.outbox),
            Action::NextPage => self.results.go_to_page(self.results.page_number() + 1, 0),
            Action::PreviousPage => {
                self.results.go_to_page(self.results.requested_page().saturating_sub(1), 0);
            }
            Action::GoToPage => TextPrompt::open(&mut self.overlays, PromptPurpose::GoToPage),
            Action::PreviousFrame => self.results.step_frame(-1),
            Action::NextFrame => self.results.step_frame(1),
            Action::Similar => self.search_similar(),
            Action::SimilarToFile => {
                // An earlier listing may be out of date.
                self.service_data.folder = KnownFolder::default();
                self.overlays.open(FilePicker::of_query_image(&self.results));
            }
            Action::PickRegion => RegionPicker::open(&mut self.overlays, &self.results),
            Action::PickRegionOfQuery => {
                RegionPicker::open_on_query(&mut self.overlays, &self.results);
            }
            Action::Caption => CaptionSearchForm::open(&mut self.overlays, &self.results),
            Action::GetModel => get_model::open_list(self),
            Action::DismissOffer => model_offer::dismiss(self),
            Action::Relax => self.run_relaxed_search(),
            Action::Finer => self
                .results
                .change_search(|it| it.granularity = it.granularity.finer(), &mut self.outbox),
            Action::Coarser => self
                .results
                .change_search(|it| it.granularity = it.granularity.coarser(), &mut self.outbox),
            Action::Filter => FilterInput::open(self),
            Action::Sort => open_sort_list(self),
            Action::Fold => self.results.edit_view(|view| view.list_options.fold ^= true),
            Action::ScoreHistogram => ScoreHistogram::open(&mut self.overlays, &self.results),
            Action::Facets => Facets::open(self),
            Action::Check => QualityCheck::open(self),
            Action::Map => MapView::open(self),
            Action::History => self.open_history(),
            Action::Combine => self.open_combine_picker(),
            Action::ToggleEntity => {
                self.results.change_search(|it| it.entity = it.entity.toggled(), &mut self.outbox);
            }
            Action::Refresh => self.refresh(),

            Action::Select => toggle_selected(self),
            Action::SelectRange => select_range(self),
            Action::SelectPage => select_page(self),
            Action::SelectAll => self.baskets.select_all_pages(false, &self.results),
            Action::SelectRest => select_rest(self),
            Action::SelectDiverse => {
                TextPrompt::open(&mut self.overlays, PromptPurpose::SelectDiverse);
            }
            Action::Exclude => toggle_preview_selected(self),
            Action::Undo => _ = self.baskets.edit(Basket::undo, &self.results, &mut self.outbox),
            Action::Redo => _ = self.baskets.edit(Basket::redo, &self.results, &mut self.outbox),
            Action::Deselect => self.baskets.remove_selected_entry(&self.results, &mut self.outbox),
            Action::ClearBasket => self.baskets.clear(&self.results, &mut self.outbox),
            Action::MoveFiles | Action::CopyFiles | Action::LinkFiles => {
                TextPrompt::open(&mut self.overlays, PromptPurpose::TargetFolder(action));
            }
            Action::TrashFiles => file_actions::plan(self, FileAction::Trash),
            Action::UndoFileAction => file_actions::undo(self),
            Action::ReviewDuplicates => DuplicateReview::open(self),
            Action::Split => SplitForm::open(self),
            Action::SaveSelection => {
                TextPrompt::open_for_selection_file(self, PromptPurpose::SaveSelection);
            }
            Action::OpenSelection => {
                TextPrompt::open_for_selection_file(self, PromptPurpose::LoadSelection);
            }

            Action::TagMode => tagging::toggle_tagging(self),
            Action::TagWholeSearch => tagging::toggle_whole_search(self),
            Action::NewTag => TextPrompt::open(&mut self.overlays, PromptPurpose::NewTag),
            Action::ManageTags => open_tag_list(self),
            Action::UndoTags => tagging::undo_tags(self),
            Action::Pick
            | Action::Reject
            | Action::Tag1
            | Action::Tag2
            | Action::Tag3
            | Action::Tag4
            | Action::Tag5
            | Action::Tag6
            | Action::Tag7
            | Action::Tag8
            | Action::Tag9
            | Action::Rate0
            | Action::Rate1
            | Action::Rate2
            | Action::Rate3
            | Action::Rate4
            | Action::Rate5 => tag_or_ask(self, action),

            Action::RunQuery => self.run_query(),
            Action::AddFilter => self.open_filter_picker(),
            Action::ToggleFilter => self.query.edit_draft(QueryDraft::toggle, &self.results),
            Action::DeleteFilter => self.query.edit_draft(QueryDraft::delete, &self.results),
            Action::UndoQuery => self.query.undo(&self.results, &mut self.outbox),
            Action::SwitchJson => self.query.switch_json(&self.results, &mut self.outbox),
            Action::EditJson => self.query.edit_json(&self.results, &mut self.outbox),
            Action::QueryChecks => self.open_query_checks(),
            Action::SaveView => ViewNameInput::open(&mut self.overlays, None),
            Action::Views => {
                // Another window may have changed them.
                self.service_data.views.invalidate();
                open_saved_views(self);
            }

            Action::ExportBasket => ExportForm::open_for_basket(self, ExportPart::Selection),
            Action::Export => ExportForm::open(self),
            Action::Download => self.jobs.download_selected(self.panes.focus, &mut self.outbox),
            Action::AddMedia => AddMediaForm::open(self),
            Action::Reindex => ReindexConfirmation::open(self),
            Action::Rescan => manage_dataset::rescan(self),
            Action::CancelIndexing => manage_dataset::cancel_indexing(self),
            Action::ChooseFiles => manage_dataset::request_patterns(self),
            Action::RenameDataset => TextPrompt::open_for_rename(self),
            Action::RemoveDataset => manage_dataset::request_removal(self),
            Action::StopWatching => stop_watching(self),
            Action::CancelExport => self.jobs.cancel_export(&mut self.outbox),
            Action::Inspect => ArchiveInspector::open(self),
            Action::ForgetJob => self.jobs.remove_selected(),

            Action::Profiles => LoginForm::open_profile_list(self),
            Action::Login => LoginForm::open(self),
            Action::CopyId
            | Action::CopyLink
            | Action::CopyName
            | Action::CopyJson
            | Action::CopyCurl
            | Action::CopyCommand
            | Action::CopyProfiler => copy_to_clipboard(self, action),

            Action::LargerTiles => self.panes.tile_size = self.panes.tile_size.larger(),
            Action::SmallerTiles => self.panes.tile_size = self.panes.tile_size.smaller(),
            Action::Mosaic => self.panes.tile_layout = self.panes.tile_layout.other(),
            Action::WiderSides => self.panes.widen_sides(1),
            Action::NarrowerSides => self.panes.widen_sides(-1),
            Action::Status => self.toggle_status(),
            Action::Zoom => self.panes.zoomed = !self.panes.zoomed,
            Action::Menu => open_action_menu(self),
            Action::Palette => open_palette(self),
            Action::Help => self.overlays.open(Help::default()),
            Action::Jump => self.input.jump_mode = true,
            Action::OpenById => TextPrompt::open(&mut self.overlays, PromptPurpose::OpenDataset),
            Action::Log => open_log(self),
            Action::Record => FactSheet::request_record(self),
            Action::ToggleAutoRefresh => self.datasets.toggle_auto_refresh(&mut self.outbox),
            Action::Theme => self.panes.next_theme(&self.setup, &mut self.outbox),
            Action::TestPictures => GraphicsCheck::open(self),
            Action::Footer => self.panes.footer = !self.panes.footer,
            Action::Mouse => self.screen.toggle_mouse(&mut self.outbox),
            Action::Redraw => self.outbox.push(Effect::Redraw),
            Action::Suspend => self.outbox.push(Effect::Suspend),
            Action::Cancel => stop_or_quit(self),
            Action::Quit => self.jobs.leave(Effect::Quit, &mut self.outbox),
        }
    }
}
