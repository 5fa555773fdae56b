//! The log: what went between the program and the service, what was told in the notice line, and
//! how datasets changed; newest first, each with a sheet of its own. Secrets never get here: they
//! are left out where an exchange is made.

use crate::app::{
    App, Level, Moment, Notice, Overlay,
    overlay::{Choice, Pick, Sheet},
    seen::{Change, ago},
};
use tessera_model::{Exchange, Outcome, SafeText};

impl App {
    /// Opens the log.
    pub(in crate::app) fn open_log(&mut self) {
        let exchanges = self.log.newest_first().map(|(at, each)| (*at, exchange_line(each)));
        let notices = self.notices.told().map(|(at, each)| (*at, notice_line(each)));
        let changes = self.store.list().iter().flat_map(|dataset| {
            let past = self.store.seen.of(dataset.id);
            past.into_iter()
                .flat_map(|past| &past.changes)
                .map(|change| (change.at, change_line(&dataset.name, change)))
        });
        let mut lines: Vec<(Moment, Choice<Sheet>)> =
            exchanges.chain(notices).chain(changes).collect();
        // Stable: what came in one event stays in its order.
        lines.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let dated = lines.into_iter().map(|(at, mut line)| {
            let when = ago(self.now.saturating_sub(at));
            line.value.lines.insert(0, (SafeText::name("when"), SafeText::name(&when)));
            line.mark(when)
        });
        self.overlay = Some(Overlay::Log(Pick::new(dated.collect())));
    }
}

fn exchange_line(exchange: &Exchange) -> Choice<Sheet> {
    let Exchange { method, target, attempt, took, sent, outcome, again_in } = exchange;
    let result = match outcome {
        Outcome::Answered { status, .. } | Outcome::Refused { status, .. } => status.to_string(),
        Outcome::Lost(_) => "no answer".to_owned(),
    };
    let took = format!("{} ms", took.as_millis());
    let sheet = Sheet::about(format!("{method} {target}"))
        .line("result", &result)
        .line("took", &took)
        .line("attempt", attempt.to_string())
        .line("bytes sent", sent.to_string());
    let mut sheet = match outcome {
        Outcome::Answered { bytes, .. } => sheet.line("bytes received", bytes.to_string()),
        Outcome::Refused { words: Some(words), .. } => sheet.line("its words", words),
        Outcome::Refused { words: None, .. } => sheet.line("its words", "none"),
        Outcome::Lost(reason) => sheet.line("reason", reason),
    };
    if let Some(again) = again_in {
        sheet = sheet.line("sent again", format!("after {} s", again.as_secs()));
    }
    let path = SafeText::new(target.as_str(), 90);
    Choice::new(sheet, format!("{result:<9} {took:>8}  {method} {path}"))
        .refused(matches!(outcome, Outcome::Answered { .. }))
}

fn notice_line(notice: &Notice) -> Choice<Sheet> {
    let level = match notice.level {
        Level::Success => "done",
        Level::Warning => "warning",
        Level::Error => "error",
    };
    let sheet = Sheet::about("What was told").line("level", level).line("words", &notice.text);
    Choice::new(sheet, format!("{level:<9} {}", notice.text))
}

fn change_line(name: &SafeText, change: &Change) -> Choice<Sheet> {
    let words = format!("{} → {}", change.from.word(), change.to.word());
    let sheet = Sheet::about(format!("{name} changed")).line("status", &words);
    Choice::new(sheet, format!("{:<9} {name}: {words}", "status"))
}
