//! The core contains all state, with one entry (`update`) and one exit (`Effect`s).
//!
//! The core is pure and synchronous: the same state and event give the same state and effects. Time, the size of the
//! screen, responses and keys enter as events. Nothing here knows about a terminal, a network or a clock. `reads`
//! schedules reads, and actions send writes. This file has the state and its parts. The open dialog is one of the
//! parts, so the trait of all dialogs is also defined here.

mod actions;
pub mod areas;
pub mod availability;
pub mod basket;
mod bounded_list;
mod cluster_members;
mod copy;
mod custom_commands;
mod event;
mod input;
pub mod jobs;
mod kept_tags;
pub mod model_offer;
mod mosaic;
mod navigation;
mod notifications;
mod outbox;
pub mod overlay;
pub mod pane;
mod prelude;
pub mod query;
mod quitting;
mod reads;
mod responses;
pub mod results_header;
pub mod screen;
mod search;
mod service_data;
mod session;
mod setup;
mod tagging;
pub mod tile_grid;
mod tile_rows;
mod update;
pub mod view;
pub mod viewer;
mod visible_pictures;
mod waiting;
pub mod welcome;

pub use crate::{
    job::{Job, JobHistory, JobState, Transition},
    remote::{Remote, Uptime},
};
pub use basket::Baskets;
pub use cluster_members::{MemberList, MissingMembers};
pub use event::{Event, Mouse, MouseKind};
pub use jobs::Jobs;
pub use model_offer::ModelOffer;
pub use notifications::{Level, Notification, Notifications, RequestLog};
pub use outbox::{Activity, CopyOutcome, Effect, JobAlert, Outbox, Tickets};
pub use pane::{Datasets, PageCache, PageRange, Pane, QueryBuilder, Results};
pub use quitting::unfinished_writes;
pub use screen::{Panes, Screen};
pub use search::RelaxedSearch;
pub use service_data::{LoginState, PictureCache, PictureResult, ServiceData};
pub use setup::{LoginSetup, ReopenCommand, Setup, StartView};
pub use tagging::{Tagging, tag_of_key};
pub use view::{
    Computed, QueryImage, RecentImages, SearchHistory, Tab, Tabs, Tile, View, detail_picture_view,
    full_size_link,
};
pub use viewer::Viewer;
pub use waiting::{Outage, loading_text, outage};

use std::{any::Any, collections::BTreeMap, fmt::Debug};

use ratatui::layout::Rect;
use tessera_config::{
    DeploymentKind,
    input::{Chord, Key},
};
use tessera_curation::duplicates::KeepRule;
use tessera_model::{DatasetId, Failure, FailureKind, Operation, SafeText, Timestamp};
use tui_input::Input;

use crate::{
    app::{
        overlay::{
            duplicate_groups::Decisions,
            fields::{self, KeyResult, PathField},
        },
        screen::InputState,
        session::SessionState,
        view::pictures::VisiblePicture,
    },
    drawing::Painter,
    job::JobId,
};

/// The core. Each field is a part that owns its state.
#[derive(Debug)]
pub struct App {
    setup: Setup,
    outbox: Outbox,
    screen: Screen,
    panes: Panes,
    input: InputState,
    service_data: ServiceData,
    log: RequestLog,
    login: LoginState,
    overlays: Overlays,
    /// The picture at full size, which replaces the panes.
    viewer: Option<Viewer>,
    datasets: Datasets,
    results: Results,
    query: QueryBuilder,
    history: SearchHistory,
    jobs: Jobs,
    model_offer: ModelOffer,
    baskets: Baskets,
    tagging: Tagging,
    session: SessionState,
}

/// Defines a function for each of these parts, by which code outside of the core reads it.
macro_rules! readable_parts {
    ($($part:ident: $type:ty),*) => {
        $(pub fn $part(&self) -> &$type {
            &self.$part
        })*
    };
}

/// Access to the state for code that draws or reads it.
impl App {
    readable_parts! {
        setup: Setup,
        outbox: Outbox,
        screen: Screen,
        panes: Panes,
        service_data: ServiceData,
        log: RequestLog,
        login: LoginState,
        overlays: Overlays,
        datasets: Datasets,
        results: Results,
        query: QueryBuilder,
        jobs: Jobs,
        baskets: Baskets,
        tagging: Tagging
    }

    /// Returns whether the service is a local one. It is part of this program, or it is at an address, such as that of
    /// `tessera serve`. Only a local service tags media, manages datasets and cancels exports, and it has more filters.
    pub fn has_local_service(&self) -> bool {
        let mut known = self.service_data.local_datasets.values();
        self.setup.deployment == DeploymentKind::Local || known.any(|it| it.value().is_some())
    }

    /// Returns whether the service has not answered yet, so that the program does not know whether it is a local one.
    pub(in crate::app) fn awaits_kind_of_service(&self) -> bool {
        let is_lost = |failure: &Failure| {
            matches!(failure.kind, FailureKind::Unreachable | FailureKind::NoResponse)
        };
        let mut known = self.service_data.local_datasets.values();
        !self.has_local_service() && known.all(|it| it.failure().is_none_or(is_lost))
    }

    /// Returns the settings, so that tests can change them between two events.
    pub fn setup_mut(&mut self) -> &mut Setup {
        &mut self.setup
    }

    /// The time of the last event.
    pub fn now(&self) -> Uptime {
        self.outbox.now
    }

    /// The time of day of the last event.
    pub fn clock(&self) -> Timestamp {
        self.outbox.clock()
    }

    pub fn tickets(&self) -> &Tickets {
        &self.outbox.tickets
    }

    pub fn notifications(&self) -> &Notifications {
        &self.outbox.notifications
    }

    pub fn pending_keys(&self) -> &[Chord] {
        &self.input.pending_keys
    }

    pub fn jump_mode(&self) -> bool {
        self.input.jump_mode
    }

    pub fn hover(&self) -> Option<&SafeText> {
        self.input.hover.as_ref()
    }

    pub fn overlay(&self) -> Option<&dyn Dialog> {
        self.overlays.current()
    }

    /// Returns the open dialog, if it is of this type.
    pub fn dialog<D: Dialog>(&self) -> Option<&D> {
        self.overlays.dialog()
    }

    pub fn viewer(&self) -> Option<&Viewer> {
        self.viewer.as_ref()
    }
}

/// What dialogs and panes draw with: the state of the program, which drawing only reads, and the cells.
pub type DrawContext<'a> = Painter<'a, App>;

/// A dialog: a plain value that handles keys and draws itself.
pub trait Dialog: Any + Debug + CloneDialog {
    /// Handles a key, and does what the key says. `app` has no open dialog while this runs, so a key that opens another
    /// dialog closes this one.
    fn handle_key(&mut self, chord: Chord, app: &mut App) -> KeyResult;

    /// Returns the columns and rows that the dialog needs with its frame, which is the whole screen for some dialogs. A
    /// larger dialog is clipped to the screen.
    fn preferred_size(&self, screen: (u16, u16)) -> (u16, u16) {
        screen
    }

    /// Returns the keys of the dialog, for the last line of the screen.
    fn hints(&self) -> &'static str;

    /// Returns the keys with what they do, for the help of a dialog whose hints do not say enough.
    fn keys(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn draw(&self, ctx: &mut DrawContext, area: Rect);

    /// Returns the area on the screen.
    fn area(&self, app: &App) -> Rect {
        area_of_size(self.preferred_size(app.screen.size), app.screen.size)
    }

    /// Returns the text field that takes pasted text.
    fn text_input(&mut self) -> Option<&mut Input> {
        None
    }

    /// Returns the text of the focused field, also if it is a default that pasted text replaces.
    fn field_text(&self) -> Option<String> {
        self.clone_dialog().text_input().map(|input| input.value().to_owned())
    }

    /// Moves the cursor of a dialog with items to one of them.
    fn select_item(&mut self, _index: usize, _app: &App) {}

    fn paste(&mut self, text: &str) {
        let paste = if self.path_field().is_some() { fields::paste_path } else { fields::paste };
        if let Some(input) = self.text_input() {
            paste(input, text);
        }
    }

    fn handle_mouse(&mut self, mouse: Mouse, app: &mut App) {
        self.turn_wheel(mouse, app);
    }

    /// Moves the cursor with the wheel, or scrolls.
    fn turn_wheel(&mut self, mouse: Mouse, app: &mut App) {
        let key = match mouse.kind {
            MouseKind::WheelUp => Key::Up,
            MouseKind::WheelDown => Key::Down,
            _ => return,
        };
        self.handle_key(Chord::plain(key), app);
    }

    /// Returns the path in the focused field, if that field contains a path of this machine.
    fn path_field(&self) -> Option<PathField> {
        None
    }

    /// Replaces the path in the focused field.
    fn set_path(&mut self, _path: &str) {}

    /// Returns the form that is shown again when this dialog closes.
    fn form_below(&mut self) -> Option<&mut Box<dyn Dialog>> {
        None
    }

    /// Returns the pictures in an area of the dialog, with the areas for them.
    fn pictures(&self, _area: Rect, _app: &App) -> Vec<(Rect, VisiblePicture)> {
        Vec::new()
    }

    /// Returns whether the panes stay laid out for whole lists while the dialog filters one of them.
    fn filters_a_pane(&self) -> bool {
        false
    }

    /// Returns the operation that the dialog starts. The status of its dataset must be up to date before the operation
    /// starts.
    fn operation(&self) -> Option<(DatasetId, Operation)> {
        None
    }

    /// Does what the dialog was opened for. A dialog with invalid input opens itself again.
    fn accept(self: Box<Self>, _app: &mut App) {}
}

/// Returns the area of a dialog of this size. A third of the free rows is above the dialog, and the notification and the
/// hints are below it.
fn area_of_size((columns, rows): (u16, u16), screen: (u16, u16)) -> Rect {
    const LINES_BELOW: u16 = 2;
    let height = rows.min(screen.1.saturating_sub(LINES_BELOW));
    let width = screen.0.min(columns);
    Rect { x: (screen.0 - width) / 2, y: (screen.1 - height) / 3, width, height }
}

/// Copies a dialog whose type is not known.
pub trait CloneDialog {
    fn clone_dialog(&self) -> Box<dyn Dialog>;
}

impl<D: Dialog + Clone> CloneDialog for D {
    fn clone_dialog(&self) -> Box<dyn Dialog> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Dialog> {
    fn clone(&self) -> Self {
        (**self).clone_dialog()
    }
}

impl dyn Dialog {
    /// Returns whether typed text goes into a field of the dialog.
    pub fn takes_text(&self) -> bool {
        self.clone_dialog().text_input().is_some()
    }
}

/// The open dialog, and what dialogs remember when they close.
#[derive(Debug, Default)]
pub struct Overlays {
    open: Option<Box<dyn Dialog>>,
    /// Earlier input in the palette, newest first.
    pub(in crate::app) palette_history: Vec<String>,
    /// How often each action was picked from the menu or the palette, by its name.
    pub(in crate::app) picked_actions: BTreeMap<String, u32>,
    /// The rule of the last review of duplicates of each dataset, and what the user has decided there.
    pub(in crate::app) duplicate_reviews: BTreeMap<DatasetId, (KeepRule, Decisions)>,
    /// Whether the open form waits for the status of its dataset.
    submit_pending: bool,
    /// Whether the user has changed the path in the focused field, so that Tab completes it.
    path_is_typed: bool,
    /// The path in the open form whose completion waits for its folder.
    completion: Option<PathField>,
    /// The form of the newest addition, so that the user can correct it if the service rejects it.
    sent_form: Option<(JobId, Box<dyn Dialog>)>,
}

impl Overlays {
    pub(in crate::app) fn new(picked_actions: BTreeMap<String, u32>) -> Self {
        Self { picked_actions, ..Self::default() }
    }

    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    pub fn current(&self) -> Option<&dyn Dialog> {
        self.open.as_deref()
    }

    /// Returns the open dialog, if it is of this type.
    pub fn dialog<D: Dialog>(&self) -> Option<&D> {
        let dialog: &dyn Any = self.open.as_deref()?;
        dialog.downcast_ref()
    }

    /// Returns the open dialog, or the form below it, if it is of this type.
    pub(in crate::app) fn dialog_mut<D: Dialog>(&mut self) -> Option<&mut D> {
        let open = self.open.as_deref_mut()?;
        let is_open = (&*open as &dyn Any).is::<D>();
        let dialog: &mut dyn Any = if is_open { open } else { open.form_below()?.as_mut() };
        dialog.downcast_mut()
    }

    pub fn submit_pending(&self) -> bool {
        self.submit_pending
    }

    pub(in crate::app) fn open(&mut self, dialog: impl Dialog) {
        self.open = Some(Box::new(dialog));
        self.path_is_typed = false;
    }

    /// Opens a dialog that was requested, unless the user has opened another one since. A notification then says what
    /// is not shown.
    fn open_or_notify(&mut self, dialog: impl Dialog, name: &str, outbox: &mut Outbox) {
        if !self.is_open() {
            return self.open(dialog);
        }
        let text = format!("{name} is ready, but another dialog is open; close it and ask again");
        outbox.notify(Level::Warning, text);
    }

    /// Opens the form of this addition again, unless another dialog is open. Returns whether it is open.
    fn reopen_sent_form(&mut self, addition: JobId) -> bool {
        let form = self.sent_form.take().filter(|(id, _)| *id == addition);
        let Some((_, form)) = form.filter(|_| self.open.is_none()) else { return false };
        self.open = Some(form);
        true
    }

    /// Notes whether the user types the path of the focused field. When another field gets the focus, the note is
    /// removed.
    fn note_typed_path(&mut self, before: Option<&str>, after: Option<&str>) {
        let is_same_field = before.is_some() && after.is_some();
        self.path_is_typed = is_same_field && (self.path_is_typed || before != after);
    }

    pub(in crate::app) fn close(&mut self) {
        self.open = None;
    }
}
