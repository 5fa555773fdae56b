//! Lists every action of the interface: its name in the key file, its hint, its help text and its group. Come here to
//! add an action.

use crate::{tables::text_of, text_enum};

text_enum! {
    /// The groups of the actions, in the order of the help text.
    pub enum ActionGroup: heading {
        Navigation = "Navigation",
        Searching = "Browsing and searching",
        Viewer = "Full-size view",
        QueryBuilder = "Query builder",
        Selection = "Selection and basket",
        Tagging = "Tags and ratings",
        Jobs = "Exports and jobs",
        Clipboard = "Copying",
        Program = "Program",
    }
}

macro_rules! actions {
    ($($variant:ident, $name:literal, $hint:literal, $group:ident, $help:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action {
            $(#[doc = $help] $variant,)*
        }

        impl Action {
            /// All actions in the order of the help text.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the name in the key file.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            pub fn hint(self) -> &'static str {
                match self { $(Self::$variant => $hint,)* }
            }

            pub fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }

            pub fn group(self) -> ActionGroup {
                match self { $(Self::$variant => ActionGroup::$group,)* }
            }
        }
    };
}

actions! {
    Up, "up", "up", Navigation, "Move up";
    Down, "down", "down", Navigation, "Move down";
    Left, "left", "left", Navigation, "Move left (detail: previous preview)";
    Right, "right", "right", Navigation, "Move right (detail: next preview)";
    ScreenUp, "screen-up", "screen up", Navigation, "Scroll up one screen";
    ScreenDown, "screen-down", "screen down", Navigation, "Scroll down one screen";
    First, "first", "first", Navigation, "Go to the first item";
    Last, "last", "last", Navigation, "Go to the last item";
    NextPane, "next-pane", "next pane", Navigation, "Go to the next pane";
    PreviousPane, "previous-pane", "previous pane", Navigation, "Go to the previous pane";
    FocusDatasets, "focus-datasets", "datasets", Navigation, "Go to the datasets";
    FocusResults, "focus-results", "results", Navigation, "Go to the results";
    FocusDetail, "focus-detail", "detail", Navigation, "Go to the detail";
    FocusQuery, "focus-query", "query", Navigation, "Go to the query builder";
    FocusJobs, "focus-jobs", "jobs", Navigation, "Go to the jobs";
    FocusBasket, "focus-basket", "basket", Navigation, "Go to the basket";
    Forward, "forward", "forward", Navigation, "Go forward";
    NewTab, "new-tab", "new tab", Navigation, "Open a results tab on the whole dataset";
    CloseTab, "close-tab", "close tab", Navigation, "Close this results tab";
    NextTab, "next-tab", "next tab", Navigation, "Go to the next results tab";
    PreviousTab, "previous-tab", "previous tab", Navigation, "Go to the previous results tab";
    Tab1, "tab-1", "tab 1", Navigation, "Go to results tab 1";
    Tab2, "tab-2", "tab 2", Navigation, "Go to results tab 2";
    Tab3, "tab-3", "tab 3", Navigation, "Go to results tab 3";
    Tab4, "tab-4", "tab 4", Navigation, "Go to results tab 4";
    Tab5, "tab-5", "tab 5", Navigation, "Go to results tab 5";
    Tab6, "tab-6", "tab 6", Navigation, "Go to results tab 6";
    Tab7, "tab-7", "tab 7", Navigation, "Go to results tab 7";
    Tab8, "tab-8", "tab 8", Navigation, "Go to results tab 8";
    Tab9, "tab-9", "tab 9", Navigation, "Go to results tab 9";
    Open, "open", "open", Searching, "Open a dataset, a cluster's previews, or a preview at full size";
    Back, "back", "back", Searching, "Close the dialog, or go back to the previous results";
    FullSize, "full-size", "full size", Searching, "Show the picture as large as the screen";
    OpenExternally, "open-externally", "open externally", Searching, "Open the original in the desktop's image viewer";
    NextPicture, "next-picture", "next", Viewer, "Go to the next picture of the list";
    PreviousPicture, "previous-picture", "previous", Viewer, "Go to the previous picture of the list";
    ZoomIn, "zoom-in", "zoom in", Viewer, "Zoom in; arrows then move the visible part";
    ZoomOut, "zoom-out", "zoom out", Viewer, "Zoom out";
    ActualSize, "actual-size", "1:1", Viewer, "Show each pixel of the picture as one pixel (toggle)";
    FitScreen, "fit-screen", "fit", Viewer, "Show the whole picture";
    Boxes, "boxes", "boxes", Viewer, "Show or hide the boxes of objects";
    Play, "play", "play", Viewer, "Play the loaded frames of this video, or stop";
    Compare, "compare", "compare", Viewer, "Compare the selected pictures (two to four), or a cluster's in pairs";
    Blink, "blink", "blink", Viewer, "Show the compared pictures in turn at the same place";
    Difference, "difference", "difference", Viewer, "Show where two compared pictures differ (toggle)";
    KeepPicture, "keep", "keep", Viewer, "Keep this picture, select the others, and go to the next pair";
    NextPage, "next-page", "next page", Searching, "Go to the next page of clusters";
    PreviousPage, "previous-page", "previous page", Searching, "Go to the previous page of clusters";
    GoToPage, "go-to-page", "go to page", Searching, "Go to a page of clusters by its number";
    PreviousFrame, "previous-frame", "earlier frame", Searching, "Go to the previous frame of this video on this page";
    NextFrame, "next-frame", "later frame", Searching, "Go to the next frame of this video on this page";
    Similar, "similar", "similar", Searching, "Search by this picture";
    SimilarToFile, "similar-to-file", "by file", Searching, "Search by a local image file";
    PickRegion, "pick-region", "region", Searching, "Search by a region of this picture";
    PickRegionOfQuery, "pick-region-of-query", "query region", Searching, "Search by another region of the query image";
    Caption, "caption", "caption", Searching, "Search in captions";
    Finer, "finer", "finer", Searching, "Finer clusters (granularity toward 0)";
    Coarser, "coarser", "coarser", Searching, "Coarser clusters (granularity toward 4)";
    GetModel, "get-model", "get a model", Searching, "Get a model, which finds pictures by what they show (local folders)";
    DismissOffer, "dismiss-offer", "dismiss", Searching, "Stop offering a model below the results, for good";
    Filter, "filter", "filter", Searching, "Filter the loaded results by name, caption or label; Tab searches all names";
    Sort, "sort", "sort", Searching, "Sort the loaded results (local folders: also the whole result)";
    Fold, "fold", "fold similar", Searching, "Fold neighbors with equal scores into one tile (toggle)";
    ScoreHistogram, "score-histogram", "scores", Searching, "Show a histogram of the loaded scores, to limit the search";
    Facets, "facets", "facets", Searching, "Count the media by label, tag, caption word, date and size; list quality issues";
    Check, "check", "check", Searching, "Check the dataset: limits for duplicates, blur, leaks and other problems";
    Map, "map", "map", Searching, "Show the media of the search as points; similar media are near each other (local folders)";
    History, "history", "history", Searching, "Show the search history, and run a search again";
    Combine, "combine", "combine", Searching, "Combine this tab with another: intersection, difference or union";
    ToggleEntity, "toggle-entity", "images/objects", Searching, "Switch between images and objects";
    Refresh, "refresh", "refresh", Searching, "Refresh now";
    Select, "select", "select", Selection, "Select the cluster (detail: the preview, or exclude it from its selected cluster)";
    SelectRange, "select-range", "range", Selection, "Start a range; press again to select it";
    SelectPage, "select-page", "page", Selection, "Select the clusters on this page";
    SelectAll, "select-all", "all pages", Selection, "Select the clusters on all pages";
    SelectRest, "select-rest", "the rest", Selection, "Select what this search finds and is not selected, instead of the selection (invert)";
    SelectDiverse, "select-diverse", "diverse", Selection, "Select the media of the search that differ most from each other (local folders)";
    Exclude, "exclude", "exclude", Selection, "Exclude this item from its selected cluster (toggle)";
    Undo, "undo", "undo", Selection, "Undo the last selection change";
    Redo, "redo", "redo", Selection, "Redo";
    Deselect, "deselect", "remove", Selection, "Remove this row from the selection";
    ClearBasket, "clear-basket", "clear", Selection, "Clear the selection";
    MoveFiles, "move-files", "move files", Selection, "Move the original files of the selection to a folder (local folders)";
    CopyFiles, "copy-files", "copy files", Selection, "Copy the original files of the selection to a folder (local folders)";
    LinkFiles, "link-files", "link files", Selection, "Create hard links to the original files of the selection in a folder (local folders)";
    TrashFiles, "trash-files", "trash files", Selection, "Put the original files of the selection into the trash (local folders)";
    UndoFileAction, "undo-file-action", "undo files", Selection, "Revert the last action on original files";
    ReviewDuplicates, "review-duplicates", "duplicates", Selection, "Review near-duplicates: compare them in groups, and decide which ones go (local folders)";
    Split, "split", "split", Selection, "Divide the dataset into sets such as train, val and test, each saved as a selection";
    SaveSelection, "save-selection", "save", Selection, "Save the selection to a file";
    OpenSelection, "open-selection", "open file", Selection, "Replace the selection with one loaded from a file";
    TagMode, "tag-mode", "tag", Tagging, "Tag, pick and rate with a key each (toggle)";
    Pick, "pick", "pick", Tagging, "Pick: keep this, or take the pick back";
    Reject, "reject", "reject", Tagging, "Reject: leave this out, or take the rejection back";
    Tag1, "tag-1", "1", Tagging, "Add tag 1 of the dataset, or remove it";
    Tag2, "tag-2", "2", Tagging, "Add tag 2 of the dataset, or remove it";
    Tag3, "tag-3", "3", Tagging, "Add tag 3 of the dataset, or remove it";
    Tag4, "tag-4", "4", Tagging, "Add tag 4 of the dataset, or remove it";
    Tag5, "tag-5", "5", Tagging, "Add tag 5 of the dataset, or remove it";
    Tag6, "tag-6", "6", Tagging, "Add tag 6 of the dataset, or remove it";
    Tag7, "tag-7", "7", Tagging, "Add tag 7 of the dataset, or remove it";
    Tag8, "tag-8", "8", Tagging, "Add tag 8 of the dataset, or remove it";
    Tag9, "tag-9", "9", Tagging, "Add tag 9 of the dataset, or remove it";
    Rate0, "rate-0", "unrate", Tagging, "Remove the rating";
    Rate1, "rate-1", "rate 1", Tagging, "Rate with 1 of 5";
    Rate2, "rate-2", "rate 2", Tagging, "Rate with 2 of 5";
    Rate3, "rate-3", "rate 3", Tagging, "Rate with 3 of 5";
    Rate4, "rate-4", "rate 4", Tagging, "Rate with 4 of 5";
    Rate5, "rate-5", "rate 5", Tagging, "Rate with 5 of 5";
    TagWholeSearch, "tag-whole-search", "whole search", Tagging, "Let the next key change everything that the search finds (toggle)";
    NewTag, "new-tag", "new tag", Tagging, "Create a tag of the dataset";
    ManageTags, "manage-tags", "tags", Tagging, "Show the tags of the dataset: rename, recolor, delete";
    UndoTags, "undo-tags", "undo", Tagging, "Undo the last change of tags and ratings";
    Relax, "relax", "relax", Searching, "Relax the strictest condition and search again";
    RunQuery, "run-query", "run", QueryBuilder, "Run the query";
    AddFilter, "add-filter", "add", QueryBuilder, "Add a filter";
    ToggleFilter, "toggle-filter", "on/off", QueryBuilder, "Turn a filter on or off; filters that are off are kept but not sent";
    DeleteFilter, "delete-filter", "delete", QueryBuilder, "Delete the filter";
    UndoQuery, "undo-query", "undo", QueryBuilder, "Undo the last change to the query";
    SwitchJson, "switch-json", "form/JSON", QueryBuilder, "Switch between the form and JSON";
    SaveView, "save-view", "save", QueryBuilder, "Save the query as a view, including filters that are off";
    Views, "views", "views", Searching, "Show the saved views: open, rename, delete";
    QueryChecks, "query-checks", "checks", QueryBuilder, "Show the checks of the query in full";
    EditJson, "edit-json", "$EDITOR", QueryBuilder, "Edit the query's JSON in your editor";
    ExportBasket, "export-basket", "export basket", Jobs, "Export the selection as a ZIP archive";
    Record, "record", "record", Searching, "Show every field of the dataset as the service sends it";
    OpenById, "pin", "by id", Searching, "Open an unlisted dataset by its ID";
    ToggleAutoRefresh, "watch", "auto-refresh", Searching, "Pause or resume automatic refresh";
    Export, "export", "export", Jobs, "Export the dataset as a ZIP archive";
    Download, "download", "download", Jobs, "Download a finished export";
    AddMedia, "add-media", "add media", Jobs, "Add media to the dataset";
    Reindex, "reindex", "reindex", Jobs, "Cluster the dataset again (reindex)";
    Rescan, "rescan", "rescan", Jobs, "Find what has changed in the folder of a local dataset, and index it";
    CancelIndexing, "cancel-indexing", "cancel indexing", Jobs, "Cancel the indexing of a local dataset; a rescan continues it";
    ChooseFiles, "choose-files", "files", Jobs, "Choose which files of a local folder belong to the dataset, by patterns";
    RenameDataset, "rename-dataset", "rename", Jobs, "Rename a local dataset";
    RemoveDataset, "remove-dataset", "remove", Jobs, "Remove a local dataset from the index; its files are not touched";
    StopWatching, "stop-watching", "stop watching", Jobs, "Stop watching a job (it continues at the service), or cancel a download";
    CancelExport, "cancel-export", "cancel export", Jobs, "Cancel an export of a local service, whose archive is then not written";
    Inspect, "inspect", "inspect", Jobs, "Inspect a downloaded archive";
    ForgetJob, "forget-job", "remove", Jobs, "Remove a finished job from the list";
    Profiles, "profiles", "profiles", Program, "Open another deployment";
    Login, "login", "login", Program, "Show the login: check it, replace it, or open another deployment";
    CopyId, "copy-id", "ID", Clipboard, "Copy the ID";
    CopyLink, "copy-link", "link", Clipboard, "Copy the picture's link (expires soon)";
    CopyName, "copy-name", "name", Clipboard, "Copy the file name";
    CopyJson, "copy-json", "JSON", Clipboard, "Copy the details as JSON";
    CopyCurl, "copy-curl", "curl", Clipboard, "Copy the request as a curl command, with the token in `$TESSERA_TOKEN`";
    CopyCommand, "copy-command", "command", Clipboard, "Copy the tessera command that opens this";
    CopyProfiler, "copy-profiler", "script", Clipboard, "Copy the `run_profiler.sh` command (on-premises)";
    LargerTiles, "larger-tiles", "larger", Program, "Larger tiles";
    SmallerTiles, "smaller-tiles", "smaller", Program, "Smaller tiles";
    Mosaic, "mosaic", "mosaic", Program, "Show results in rows of pictures with the same height (toggle)";
    WiderSides, "wider-sides", "wider sides", Program, "Widen the side panes";
    NarrowerSides, "narrower-sides", "narrower sides", Program, "Narrow the side panes";
    Status, "status", "status", Program, "Show or hide the status of the dataset and the connection beside the results";
    Zoom, "zoom", "zoom", Program, "Maximize the focused pane (toggle)";
    Menu, "menu", "actions", Program, "Show all actions, and why some are unavailable";
    Palette, "palette", "command", Program, "Find any action, dataset, tab or theme by name";
    Help, "help", "help", Program, "Show this help";
    Jump, "jump", "jump", Program, "Show jump labels; press one to go there";
    Log, "log", "log", Program, "Show the request log";
    Theme, "theme", "theme", Program, "Switch to the next readable theme: auto, dark, light, plain, your own";
    TestPictures, "test-pictures", "test picture", Program, "Draw a test picture, and save how this terminal shows it";
    Footer, "footer", "footer", Program, "Show or hide the key hints";
    Mouse, "mouse", "mouse", Program, "Turn mouse capture on or off";
    Redraw, "redraw", "redraw", Program, "Redraw the screen and send the pictures again";
    Suspend, "suspend", "suspend", Program, "Suspend to the shell; `fg` resumes";
    Cancel, "stop", "cancel", Program, "Cancel the pending requests; quit if there are none";
    Quit, "quit", "quit", Program, "Quit; exports continue at the service, or when the local folder is opened again";
}

impl Action {
    /// Returns the index of the tab that the action goes to. The actions of the tabs are consecutive variants.
    pub fn tab_index(self) -> Option<usize> {
        let index = (self as usize).checked_sub(Self::Tab1 as usize)?;
        (index <= Self::Tab9 as usize - Self::Tab1 as usize).then_some(index)
    }

    /// Returns the action that goes to the tab at this index, if it has one.
    pub fn of_tab(index: usize) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.tab_index() == Some(index))
    }

    /// Returns the index of the tag that the action adds. The actions of the tags are consecutive variants.
    pub fn tag_key(self) -> Option<usize> {
        let index = (self as usize).checked_sub(Self::Tag1 as usize)?;
        (index <= Self::Tag9 as usize - Self::Tag1 as usize).then_some(index)
    }

    /// Returns the rating that the action gives.
    pub fn rating(self) -> Option<u8> {
        let rating = (self as usize).checked_sub(Self::Rate0 as usize)?;
        u8::try_from(rating).ok().filter(|rating| *rating <= 5)
    }

    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }
}

const SYNONYMS: &str = include_str!("../../../../assets/synonyms.txt");

impl Action {
    /// Returns the other words for the action, separated by spaces.
    pub fn synonyms(self) -> &'static str {
        text_of(SYNONYMS, self.name()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::tables::rows;

    #[test]
    fn an_action_has_one_row_and_a_word_once() {
        let names: Vec<&str> = rows(SYNONYMS).flat_map(|(names, _)| names.split(' ')).collect();
        let actions: BTreeSet<Action> =
            names.iter().filter_map(|name| Action::by_name(name)).collect();
        assert_eq!(actions.len(), names.len());
        for (names, words) in rows(SYNONYMS) {
            let words: Vec<&str> = words.split(' ').collect();
            assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len(), "{names}");
        }
    }
}
