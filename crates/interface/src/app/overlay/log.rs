//! Shows the log, which lists requests, notifications and status changes, newest first. Picking an entry opens a fact
//! sheet. Secrets never reach the log, because they are removed where a request is recorded.

use std::cmp::Reverse;

use tessera_model::{RequestOutcome, RequestRecord, SafeText, text::format_age};

use crate::app::{
    App, Level, Notification, Uptime,
    overlay::{
        command_list::{CommandList, ListKind},
        fact_sheet::FactSheet,
        pick_list::{Command, PickItem},
    },
    pane::StatusTransition,
};

struct LogEntry {
    line: String,
    sheet: FactSheet,
    dimmed: bool,
}

pub(in crate::app) fn open_log(app: &mut App) {
    let items = log_entries(app, usize::MAX, |_| true).into_iter().map(|(at, entry)| {
        let LogEntry { line, mut sheet, dimmed } = entry;
        let age = format_age(app.outbox.now.saturating_sub(at));
        sheet.facts.insert(0, (SafeText::name("when"), SafeText::name(&age)));
        PickItem::new(Command::ShowFacts(sheet), line).prefix(age).disabled(dimmed)
    });
    let items = items.collect();
    CommandList::open(app, ListKind::Log, "Log, newest first", items);
}

/// Returns the newest entries with their ages, without the requests that succeeded.
pub fn latest_events(app: &App, count: usize) -> impl Iterator<Item = String> {
    let failed =
        |request: &RequestRecord| !matches!(request.outcome, RequestOutcome::Succeeded { .. });
    let entries = log_entries(app, count, failed).into_iter().take(count);
    entries.map(|(at, entry)| {
        format!("{}  {}", format_age(app.outbox.now.saturating_sub(at)), entry.line)
    })
}

/// Returns the entries, newest first. At most `limit` notifications, `limit` requests for which `is_wanted` is true,
/// and `limit` changes of each dataset are returned.
fn log_entries(
    app: &App,
    limit: usize,
    is_wanted: impl Fn(&RequestRecord) -> bool,
) -> Vec<(Uptime, LogEntry)> {
    let wanted = app.log.newest_first().filter(|(_, request)| is_wanted(request));
    let requests = wanted.take(limit).map(|(at, each)| (*at, request_entry(each)));
    let notifications = app.outbox.notifications.history();
    let notifications = notifications.take(limit).map(|(at, each)| (*at, notification_entry(each)));
    let changes = app.service_data.dataset_list().iter().flat_map(|dataset| {
        let past = app.service_data.observed.get(dataset.id);
        past.into_iter()
            .flat_map(|past| past.changes.iter().rev().take(limit))
            .map(|change| (change.seen_at, status_change_entry(&dataset.name, change)))
    });
    let mut entries: Vec<(Uptime, LogEntry)> =
        requests.chain(notifications).chain(changes).collect();
    // The sort is stable, so entries of one event keep their order.
    entries.sort_by_key(|(at, _)| Reverse(*at));
    entries
}

fn request_entry(request: &RequestRecord) -> LogEntry {
    let RequestRecord { method, target, attempt, duration, bytes_sent, outcome, retry_in, .. } =
        request;
    let (result, name, detail) = match outcome {
        RequestOutcome::Succeeded { status, bytes } => {
            (status.to_string(), "bytes received", bytes.to_string())
        }
        RequestOutcome::Rejected { status, message } => {
            let message = message.as_ref().map_or("none", SafeText::as_str);
            (status.to_string(), "message", message.to_owned())
        }
        RequestOutcome::Failed(reason) => ("failed".to_owned(), "reason", reason.to_string()),
    };
    let duration = format!("{} ms", duration.as_millis());
    let mut sheet = FactSheet::new(format!("{method} {target}"))
        .fact("result", &result)
        .fact("duration", &duration)
        .fact("attempt", attempt.to_string())
        .fact("bytes sent", bytes_sent.to_string())
        .fact(name, detail);
    if let Some(retry_in) = retry_in {
        sheet = sheet.fact("retried", format!("after {} s", retry_in.as_secs()));
    }
    let path = SafeText::new(target.as_str(), 90);
    let line = format!("{result:<9} {duration:>8}  {method} {path}");
    LogEntry { line, sheet, dimmed: matches!(outcome, RequestOutcome::Succeeded { .. }) }
}

fn notification_entry(notification: &Notification) -> LogEntry {
    let level = match notification.level {
        Level::Success => "done",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    let text = &notification.text;
    let sheet = FactSheet::new("Notification").fact("level", level).fact("text", text);
    LogEntry { line: format!("{level:<9} {text}"), sheet, dimmed: false }
}

fn status_change_entry(name: &SafeText, change: &StatusTransition) -> LogEntry {
    let statuses = format!("{} → {}", change.from.as_str(), change.to.as_str());
    let sheet = FactSheet::new(format!("{name}: status changed")).fact("status", &statuses);
    LogEntry { line: format!("{:<9} {name}: {statuses}", "status"), sheet, dimmed: false }
}
