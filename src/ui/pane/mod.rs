//! The drawing of each pane. The state of a pane is in the file of the same name in `app/pane`.

pub(super) mod basket;
mod connection;
mod datasets;
mod detail;
mod frame;
mod jobs;
mod query;
mod results;
mod status;

pub(super) use connection::connection;
pub(super) use datasets::datasets;
pub(super) use detail::{detail, selection_text};
pub(super) use jobs::jobs;
pub(super) use query::query;
pub(super) use results::results;
pub(super) use status::{status, status_glyph, status_text};
