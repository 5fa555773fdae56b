//! Re-exports what many files of the core need: its parts, what it sends, keys and actions, and the types of datasets
//! and results.

pub(super) use ratatui::layout::Rect;
pub(super) use tessera_model::{
    Cluster, DatasetId, Failure, Page, Preview, Query, SafeText, Search,
};

pub(super) use crate::{
    app::{App, Level, Outbox, Pane, Remote, Results, Setup, Uptime, View},
    message::{Lane, Request},
};
pub(super) use tessera_config::{
    DeploymentKind,
    input::{Action, Chord, Key},
};
