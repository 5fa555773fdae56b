//! Every action of the interface, once: its name in the key file, its sentence in the help, its
//! word in the hint line and its place among the others.

/// Where an action stands in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActionGroup {
    /// Moving and paging.
    Navigation,
    /// Looking for things.
    Searching,
    /// Marking, and what is marked.
    Selection,
    /// Writing a query.
    QueryBuilder,
    /// Exporting and its jobs.
    Jobs,
    /// Copying to the clipboard.
    Clipboard,
    /// The program itself.
    Program,
}

impl ActionGroup {
    /// All groups in the order of the help.
    pub const ALL: [Self; 7] = [
        Self::Navigation,
        Self::Searching,
        Self::QueryBuilder,
        Self::Selection,
        Self::Jobs,
        Self::Clipboard,
        Self::Program,
    ];

    /// The heading in the help.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Navigation => "Moving",
            Self::Searching => "Looking and searching",
            Self::Selection => "Marking and the basket",
            Self::QueryBuilder => "The query builder",
            Self::Jobs => "Exports and jobs",
            Self::Clipboard => "Copying",
            Self::Program => "Program",
        }
    }
}

macro_rules! actions {
    ($($variant:ident, $name:literal, $hint:literal, $group:ident, $help:literal;)*) => {
        /// What a person can mean by a key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action {
            $(#[doc = $help] $variant,)*
        }

        impl Action {
            /// All actions in the order of the help.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The name in the key file.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The word in the hint line.
            pub fn hint(self) -> &'static str {
                match self { $(Self::$variant => $hint,)* }
            }

            /// The sentence in the help.
            pub fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }

            /// Its place in the help.
            pub fn group(self) -> ActionGroup {
                match self { $(Self::$variant => ActionGroup::$group,)* }
            }
        }
    };
}

actions! {
    Up, "up", "up", Navigation, "One up";
    Down, "down", "down", Navigation, "One down";
    Left, "left", "left", Navigation, "One to the left; in the detail the previous preview";
    Right, "right", "right", Navigation, "One to the right; in the detail the next preview";
    ScreenUp, "screen-up", "screen up", Navigation, "One screen up";
    ScreenDown, "screen-down", "screen down", Navigation, "One screen down";
    First, "first", "first", Navigation, "To the first";
    Last, "last", "last", Navigation, "To the last";
    NextPane, "next-pane", "next pane", Navigation, "To the next pane";
    PreviousPane, "previous-pane", "previous pane", Navigation, "To the previous pane";
    FocusDatasets, "focus-datasets", "datasets", Navigation, "To the datasets";
    FocusResults, "focus-results", "results", Navigation, "To the results";
    FocusDetail, "focus-detail", "detail", Navigation, "To the detail";
    FocusQuery, "focus-query", "query", Navigation, "To the query builder";
    FocusJobs, "focus-jobs", "jobs", Navigation, "To the jobs";
    FocusBasket, "focus-basket", "basket", Navigation, "To the basket";
    Forward, "forward", "forward", Navigation, "Forward to where Back came from";
    NewTab, "new-tab", "new tab", Navigation, "A new tab of results, on the whole dataset";
    CloseTab, "close-tab", "close tab", Navigation, "Close this tab of results";
    Tab1, "tab-1", "tab 1", Navigation, "To the first tab of results";
    Tab2, "tab-2", "tab 2", Navigation, "To the second tab of results";
    Tab3, "tab-3", "tab 3", Navigation, "To the third tab of results";
    Tab4, "tab-4", "tab 4", Navigation, "To the fourth tab of results";
    Tab5, "tab-5", "tab 5", Navigation, "To the fifth tab of results";
    Tab6, "tab-6", "tab 6", Navigation, "To the sixth tab of results";
    Tab7, "tab-7", "tab 7", Navigation, "To the seventh tab of results";
    Tab8, "tab-8", "tab 8", Navigation, "To the eighth tab of results";
    Tab9, "tab-9", "tab 9", Navigation, "To the ninth tab of results";
    Open, "open", "open", Searching, "Open: a dataset, a cluster's previews, a preview full size";
    Back, "back", "back", Searching, "Back: close the dialog, to the results before";
    FullSize, "full-size", "full size", Searching, "Show the picture full size";
    OpenExternally, "outside", "open outside", Searching, "Open the original in the viewer of the desktop";
    NextPage, "next-page", "next page", Searching, "Next page of clusters";
    PreviousPage, "previous-page", "previous page", Searching, "Previous page of clusters";
    Similar, "similar", "similar", Searching, "Find what is similar to this picture";
    SimilarToFile, "similar-to-file", "by file", Searching, "Find what is similar to a file of this machine";
    PickRegion, "pick-region", "region", Searching, "Find what is similar to a part of this picture";
    PickRegionOfQuery, "pick-region-of-query", "query region", Searching, "Find what is similar to another part of the query image";
    Caption, "caption", "caption", Searching, "Find what a caption says";
    Finer, "finer", "finer", Searching, "Finer clusters (granularity towards 0)";
    Coarser, "coarser", "coarser", Searching, "Coarser clusters (granularity towards 4)";
    Filter, "filter", "filter", Searching, "Filter what is loaded: names, captions, labels";
    Sort, "sort", "sort", Searching, "Order what is loaded";
    Fold, "fold", "fold alike", Searching, "Fold neighbours of equal score into one tile, and unfold them";
    History, "history", "history", Searching, "Searches of the past: run one again";
    Combine, "combine", "combine", Searching, "This tab and another: what is in both, in one, in any";
    ToggleEntity, "toggle-entity", "images/objects", Searching, "Images instead of objects, and back";
    Refresh, "refresh", "refresh", Searching, "Ask the service again now";
    Select, "mark", "mark", Selection, "Mark the cluster; in the detail the preview, or leave it out of its marked cluster";
    SelectRange, "mark-range", "range", Selection, "Mark a range: begins here, and again marks it";
    SelectPage, "mark-page", "page", Selection, "Mark the clusters of this page";
    SelectAll, "mark-all", "all pages", Selection, "Mark the clusters of all pages, one page after the other";
    InvertSelection, "invert-marks", "invert", Selection, "Turn the marks of this page over";
    Exclude, "exclude", "leave out", Selection, "Leave the preview out of its marked cluster, or take it in again";
    Undo, "undo", "undo", Selection, "Take the last marking back";
    Redo, "redo", "redo", Selection, "Do what was taken back again";
    Deselect, "unmark", "drop", Selection, "Take the mark of this row away";
    ClearBasket, "clear-basket", "clear", Selection, "Take all marks away";
    SaveSelection, "save-selection", "save", Selection, "Save what is marked as a selection file";
    OpenSelection, "open-selection", "open file", Selection, "Mark what a selection file says, in the place of what is marked";
    Loosen, "loosen", "loosen", Searching, "Search again with the strictest condition loosened";
    RunQuery, "run-query", "run", QueryBuilder, "Run the query on what is on screen";
    AddFilter, "add-filter", "add", QueryBuilder, "Add a filter";
    ToggleFilter, "toggle-filter", "on/off", QueryBuilder, "Switch a filter on or off; one that is off is kept and not sent";
    DeleteFilter, "delete-filter", "delete", QueryBuilder, "Delete a filter";
    UndoQuery, "undo-query", "undo", QueryBuilder, "Take the last change of the query back";
    SwitchJson, "switch-json", "form/JSON", QueryBuilder, "Write the query as JSON, and back to the form";
    SaveView, "save-view", "save", QueryBuilder, "Keep the query under a name, also those of its filters that are off";
    Views, "views", "views", Searching, "Saved views: open, rename, delete";
    EditJson, "edit-json", "$EDITOR", QueryBuilder, "Edit the JSON of the query in your editor";
    ExportBasket, "export-basket", "export basket", Jobs, "Export what is marked as a ZIP archive";
    Record, "record", "record", Searching, "Every field of the dataset as the service sends it";
    OpenById, "pin", "by id", Searching, "Look at a dataset that is not listed, by its id";
    ToggleAutoRefresh, "watch", "watch", Searching, "Stop asking by itself how the datasets stand, and begin again";
    Export, "export", "export", Jobs, "Export the dataset as a ZIP archive";
    Download, "download", "download", Jobs, "Download a finished export";
    AddMedia, "add-media", "add media", Jobs, "Add media to the dataset";
    Reindex, "reindex", "reindex", Jobs, "Cluster the dataset anew";
    StopWatching, "stop-watching", "stop watching", Jobs, "Stop watching a job (the service goes on with it), or stop a download";
    Inspect, "inspect", "look inside", Jobs, "Look inside a downloaded archive";
    ForgetJob, "forget-job", "forget", Jobs, "Take a job that is over off the list";
    Profiles, "profiles", "profiles", Program, "Open another deployment";
    CopyId, "copy-id", "id", Clipboard, "Copy the id";
    CopyLink, "copy-link", "link", Clipboard, "Copy the link of the picture; it is short-lived";
    CopyName, "copy-name", "name", Clipboard, "Copy the file name";
    CopyJson, "copy-json", "JSON", Clipboard, "Copy the facts as JSON";
    CopyCurl, "copy-curl", "curl", Clipboard, "Copy the request as a curl command, with the token in `$TESSERA_TOKEN`";
    CopyCommand, "copy-command", "command", Clipboard, "Copy the tessera command that opens this";
    CopyProfiler, "copy-profiler", "script", Clipboard, "Copy a line for `run_profiler.sh` (on premises)";
    LargerTiles, "larger-tiles", "larger", Program, "Larger tiles";
    SmallerTiles, "smaller-tiles", "smaller", Program, "Smaller tiles";
    WiderSides, "wider-sides", "wider sides", Program, "Wider panes left and right of the results";
    NarrowerSides, "narrower-sides", "narrower sides", Program, "Narrower panes left and right of the results";
    Zoom, "zoom", "zoom", Program, "Give the focused pane the whole screen, and back";
    Menu, "menu", "actions", Program, "Everything that can be done here, and why not";
    Palette, "palette", "command", Program, "Find any action, dataset, tab or theme by its name";
    Help, "help", "help", Program, "This help";
    Jump, "jump", "jump", Program, "Show a letter on every part of the screen; the next key goes there";
    Log, "log", "log", Program, "What was asked of the service and what it answered, and what changed";
    Theme, "theme", "theme", Program, "The next theme: auto, dark, light, plain";
    TestPictures, "test-pictures", "test picture", Program, "Draw a test picture, and keep how pictures are seen in this terminal";
    Footer, "footer", "footer", Program, "Hide this line of keys, and show it again";
    Mouse, "mouse", "mouse", Program, "Leave the mouse to the terminal, and take it again";
    Redraw, "redraw", "redraw", Program, "Draw the screen anew and send the pictures again";
    Suspend, "suspend", "suspend", Program, "Suspend to the shell; fg comes back";
    Cancel, "stop", "stop", Program, "Stop what is awaited; with nothing to stop, quit";
    Quit, "quit", "quit", Program, "Quit; exports go on at the service";
}

impl Action {
    /// Finds an action by its name in the key file.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}
