//! Suggests the most useful actions of each pane, in order, for the hints and the help.

use crate::{
    app::{App, Pane},
    input::Action::{
        self, ActualSize, AddFilter, AddMedia, Back, Blink, Boxes, Caption, ClearBasket,
        CopyCommand, CopyJson, CopyLink, CopyName, DeleteFilter, Deselect, Difference, Download,
        EditJson, Exclude, Export, ExportBasket, Facets, Filter, FocusQuery, ForgetJob, FullSize,
        Inspect, KeepPicture, NextFrame, NextPage, NextPane, NextPicture, Open, OpenById,
        OpenExternally, OpenSelection, PickRegion, Play, PreviousFrame, PreviousPicture, Record,
        Redo, Refresh, Reindex, Right, RunQuery, SaveSelection, SaveView, Select, Similar,
        SimilarToFile, Sort, StopWatching, SwitchJson, ToggleAutoRefresh, ToggleFilter, Undo,
        UndoQuery, Views, ZoomIn, ZoomOut,
    },
};

type SuggestedActions = [Action; 10];

const COMPARISON: SuggestedActions = [
    KeepPicture,
    NextPicture,
    Blink,
    Difference,
    ZoomIn,
    Back,
    PreviousPicture,
    ZoomOut,
    ActualSize,
    Boxes,
];
const VIEWER: SuggestedActions = [
    NextPicture,
    PreviousPicture,
    ZoomIn,
    ZoomOut,
    ActualSize,
    Back,
    Boxes,
    Select,
    Similar,
    OpenExternally,
];
const VIEWER_OF_FRAME: SuggestedActions = [
    Play,
    PreviousFrame,
    NextFrame,
    NextPicture,
    ZoomIn,
    Back,
    PreviousPicture,
    Select,
    Similar,
    OpenExternally,
];
const DATASETS: SuggestedActions =
    [Open, Export, AddMedia, Reindex, Record, ToggleAutoRefresh, Filter, Sort, OpenById, NextPane];
const RESULTS: SuggestedActions =
    [Open, Caption, Select, Similar, NextPage, Export, FocusQuery, SimilarToFile, Facets, Back];
const FRAME: SuggestedActions = [
    PreviousFrame,
    NextFrame,
    FullSize,
    Select,
    Similar,
    Back,
    PickRegion,
    OpenExternally,
    Exclude,
    CopyLink,
];
const DETAIL: SuggestedActions = [
    Right,
    FullSize,
    Select,
    Similar,
    OpenExternally,
    Back,
    PickRegion,
    Exclude,
    CopyName,
    CopyLink,
];
const BASKET: SuggestedActions = [
    ExportBasket,
    Deselect,
    Undo,
    SaveSelection,
    ClearBasket,
    Back,
    Open,
    Redo,
    OpenSelection,
    CopyJson,
];
const QUERY: SuggestedActions = [
    RunQuery,
    AddFilter,
    ToggleFilter,
    DeleteFilter,
    SaveView,
    Back,
    UndoQuery,
    SwitchJson,
    EditJson,
    Views,
];
const JOBS: SuggestedActions = [
    Open,
    Download,
    StopWatching,
    ForgetJob,
    Refresh,
    Back,
    Inspect,
    CopyCommand,
    Export,
    AddMedia,
];

/// Returns the most useful actions of the focused pane or of the full-size view.
pub(crate) fn suggested_actions(app: &App) -> SuggestedActions {
    match app.panes.focus {
        _ if app.comparison().is_some() => COMPARISON,
        _ if app.viewer.is_some() && app.results.frame_position().is_some() => VIEWER_OF_FRAME,
        _ if app.viewer.is_some() => VIEWER,
        Pane::Datasets => DATASETS,
        Pane::Results => RESULTS,
        Pane::Detail if app.results.frame_position().is_some() => FRAME,
        Pane::Detail => DETAIL,
        Pane::Basket => BASKET,
        Pane::Query => QUERY,
        Pane::Jobs => JOBS,
    }
}
