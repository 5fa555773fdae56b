//! Why an action is unavailable: one function behind dimmed hints, help, menu and warnings, so that
//! they always agree.

mod conditions;
mod drawing;
mod jobs;
mod reason;
mod search;
mod selection;

pub(in crate::app) use conditions::status_denial;
pub use drawing::drawing_reason;
pub(in crate::app) use reason::suggested_action;
pub use reason::unavailable_reason;
