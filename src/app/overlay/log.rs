//! The log: what went between the program and the service, what was told in the notice line, and
//! how datasets changed; newest first, each with a sheet of its own. Secrets never get here: they
//! are left out where an exchange is made.

use crate::app::{
    App, Level, Notification, Overlay, Uptime,
    dataset_history::{StatusTransition, format_age},
    overlay::{FactSheet, PickItem, PickList},
};
use tessera_model::{RequestOutcome, RequestRecord, SafeText};

impl App {
    /// Opens the log.
    pub(in crate::app) fn open_log(&mut self) {
        let exchanges = self.log.newest_first().map(|(at, each)| (*at, exchange_item(each)));
        let notices = self.notifications.history().map(|(at, each)| (*at, notification_item(each)));
        let changes = self.store.dataset_list().iter().flat_map(|dataset| {
            let past = self.store.observed.get(dataset.id);
            past.into_iter()
                .flat_map(|past| &past.changes)
                .map(|change| (change.seen_at, status_change_item(&dataset.name, change)))
        });
        let mut lines: Vec<(Uptime, PickItem<FactSheet>)> =
            exchanges.chain(notices).chain(changes).collect();
        // Stable: what came in one event stays in its order.
        lines.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let dated = lines.into_iter().map(|(at, mut line)| {
            let when = format_age(self.now.saturating_sub(at));
            line.value.facts.insert(0, (SafeText::name("when"), SafeText::name(&when)));
            line.prefix(when)
        });
        self.overlay = Some(Overlay::Log(PickList::new(dated.collect())));
    }
}

fn exchange_item(exchange: &RequestRecord) -> PickItem<FactSheet> {
    let RequestRecord {
        method,
        target,
        attempt,
        duration: took,
        bytes_sent: sent,
        outcome,
        retry_in: again_in,
    } = exchange;
    let result = match outcome {
        RequestOutcome::Succeeded { status, .. } | RequestOutcome::Rejected { status, .. } => {
            status.to_string()
        }
        RequestOutcome::Failed(_) => "no answer".to_owned(),
    };
    let took = format!("{} ms", took.as_millis());
    let sheet = FactSheet::new(format!("{method} {target}"))
        .fact("result", &result)
        .fact("took", &took)
        .fact("attempt", attempt.to_string())
        .fact("bytes sent", sent.to_string());
    let mut sheet = match outcome {
        RequestOutcome::Succeeded { bytes, .. } => sheet.fact("bytes received", bytes.to_string()),
        RequestOutcome::Rejected { message: Some(words), .. } => sheet.fact("its words", words),
        RequestOutcome::Rejected { message: None, .. } => sheet.fact("its words", "none"),
        RequestOutcome::Failed(reason) => sheet.fact("reason", reason),
    };
    if let Some(again) = again_in {
        sheet = sheet.fact("sent again", format!("after {} s", again.as_secs()));
    }
    let path = SafeText::new(target.as_str(), 90);
    PickItem::new(sheet, format!("{result:<9} {took:>8}  {method} {path}"))
        .disabled(matches!(outcome, RequestOutcome::Succeeded { .. }))
}

fn notification_item(notice: &Notification) -> PickItem<FactSheet> {
    let level = match notice.level {
        Level::Success => "done",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    let sheet = FactSheet::new("What was told").fact("level", level).fact("words", &notice.text);
    PickItem::new(sheet, format!("{level:<9} {}", notice.text))
}

fn status_change_item(name: &SafeText, change: &StatusTransition) -> PickItem<FactSheet> {
    let words = format!("{} → {}", change.from.word(), change.to.word());
    let sheet = FactSheet::new(format!("{name} changed")).fact("status", &words);
    PickItem::new(sheet, format!("{:<9} {name}: {words}", "status"))
}
