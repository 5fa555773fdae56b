//! Dialogs, pickers and menus that lie over the panes and take the keys.
//!
//! One file per overlay holds its state, keys, size and hints (`Dialog`) and what happens when it
//! is accepted; the file of the same name in `ui/overlay` draws it. A new overlay is added to
//! [`Overlay`] and `with_dialog!` below.

pub mod action_menu;
pub mod add_media;
pub mod archive_inspector;
pub mod caption;
pub mod command_list;
pub mod dialog;
pub mod export;
pub mod facets;
pub mod fact_sheet;
pub mod file_picker;
pub mod filter_input;
mod form;
pub mod graphics_check;
pub mod help;
pub mod job_detail;
pub mod log;
pub mod login;
pub mod palette;
pub mod path_input;
pub mod pick_list;
pub mod profiles;
pub mod prompt;
pub mod region_picker;
pub mod reindex;
pub mod saved_views;
pub mod score_histogram;
pub mod scroll;
pub mod sort;
pub mod text_field;

pub use add_media::{AddMediaField, AddMediaForm, SourceCheck, SourceTab};
pub use archive_inspector::ArchiveInspector;
pub use caption::CaptionSearchForm;
pub use command_list::{Command, CommandList, ListKind};
pub(in crate::app) use dialog::{Dialog, KeyResult};
pub use export::{ExportField, ExportForm};
pub use facets::{FacetSection, FacetValue, Facets};
pub use fact_sheet::FactSheet;
pub use file_picker::FilePicker;
pub use filter_input::FilterInput;
pub use graphics_check::GraphicsCheck;
pub use help::Help;
pub use job_detail::JobDetail;
pub use login::LoginForm;
pub use palette::Palette;
pub use path_input::PathInput;
pub use pick_list::{PickItem, PickList};
pub use prompt::{PromptPurpose, TextPrompt};
pub use region_picker::RegionPicker;
pub use reindex::ReindexConfirmation;
pub use saved_views::ViewNameInput;
pub use score_histogram::{HistogramAreas, ScoreHistogram};
pub use scroll::ScrollState;

use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub enum Overlay {
    AddMedia(Box<AddMediaForm>),
    ArchiveInspector(Box<ArchiveInspector>),
    CaptionSearch(CaptionSearchForm),
    Export(ExportForm),
    Facets(Facets),
    Facts(FactSheet),
    FilePicker(FilePicker),
    Filter(FilterInput),
    GraphicsCheck(Box<GraphicsCheck>),
    Help(Help),
    JobDetail(JobDetail),
    List(CommandList),
    Login(Box<LoginForm>),
    NameView(ViewNameInput),
    Palette(Palette),
    Prompt(TextPrompt),
    RegionPicker(RegionPicker),
    Reindex(ReindexConfirmation),
    ScoreHistogram(ScoreHistogram),
}

/// The open overlay, and what overlays remember.
#[derive(Debug, Default)]
pub struct Overlays {
    open: Option<Overlay>,
    /// What was typed in the palette, newest first.
    pub(in crate::app) palette_history: Vec<String>,
    /// How often each action was picked from the menu or the palette, by its name.
    pub(in crate::app) picked_actions: BTreeMap<String, u32>,
    /// Whether the form on top waits for the status of its dataset.
    pub(in crate::app) submit_pending: bool,
}

impl Overlays {
    pub(in crate::app) fn new(picked_actions: BTreeMap<String, u32>) -> Self {
        Self { picked_actions, ..Self::default() }
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub fn current(&self) -> Option<&Overlay> {
        self.open.as_ref()
    }

    pub fn submit_pending(&self) -> bool {
        self.submit_pending
    }

    pub(in crate::app) fn current_mut(&mut self) -> Option<&mut Overlay> {
        self.open.as_mut()
    }

    pub(in crate::app) fn open(&mut self, overlay: Overlay) {
        self.open = Some(overlay);
    }

    pub(in crate::app) fn close(&mut self) {
        self.open = None;
    }

    pub(in crate::app) fn take(&mut self) -> Option<Overlay> {
        self.open.take()
    }
}

/// Evaluates an expression with the dialog of an overlay, whichever it is.
macro_rules! with_dialog {
    ($overlay:expr, $dialog:ident => $body:expr) => {
        match $overlay {
            Overlay::AddMedia($dialog) => $body,
            Overlay::ArchiveInspector($dialog) => $body,
            Overlay::CaptionSearch($dialog) => $body,
            Overlay::Export($dialog) => $body,
            Overlay::Facets($dialog) => $body,
            Overlay::Facts($dialog) => $body,
            Overlay::FilePicker($dialog) => $body,
            Overlay::Filter($dialog) => $body,
            Overlay::GraphicsCheck($dialog) => $body,
            Overlay::Help($dialog) => $body,
            Overlay::JobDetail($dialog) => $body,
            Overlay::List($dialog) => $body,
            Overlay::Login($dialog) => $body,
            Overlay::NameView($dialog) => $body,
            Overlay::Palette($dialog) => $body,
            Overlay::Prompt($dialog) => $body,
            Overlay::RegionPicker($dialog) => $body,
            Overlay::Reindex($dialog) => $body,
            Overlay::ScoreHistogram($dialog) => $body,
        }
    };
}
pub(crate) use with_dialog;
