//! The flash line: what just happened, for a while; errors stay until they are dismissed.

use std::{collections::VecDeque, time::Duration};

use crate::app::Moment;
use tessera_model::{Failure, SafeText};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Done as asked.
    Success,
    /// Refused, or worth knowing.
    Warning,
    /// Went wrong.
    Error,
}

/// One line for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How bad it is.
    pub level: Level,
    /// The line.
    pub text: SafeText,
    expires: Option<Moment>,
}

/// The notices that wait to be read, oldest first.
#[derive(Debug, Default)]
pub struct Notices {
    waiting: VecDeque<Notice>,
    /// What was told, oldest first, for the log.
    told: VecDeque<(Moment, Notice)>,
}

impl Notices {
    /// Most notices kept: older ones have been overtaken by events.
    const KEPT: usize = 8;
    /// Most notices kept for the log.
    const TOLD: usize = 200;

    /// Adds a line; the same line again only lives longer.
    pub fn add(&mut self, now: Moment, level: Level, text: impl AsRef<str>) {
        let life = match level {
            Level::Success => Some(Duration::from_secs(4)),
            Level::Warning => Some(Duration::from_secs(8)),
            Level::Error => None,
        };
        let text = SafeText::detail(text.as_ref());
        self.waiting.retain(|notice| notice.text != text);
        let notice = Notice { level, text, expires: life.map(|life| now + life) };
        self.told.push_back((now, notice.clone()));
        if self.told.len() > Self::TOLD {
            self.told.pop_front();
        }
        self.waiting.push_back(notice);
        if self.waiting.len() > Self::KEPT {
            self.waiting.pop_front();
        }
    }

    /// Adds a failure as an error.
    pub fn fail(&mut self, now: Moment, failure: &Failure) {
        self.add(now, Level::Error, failure.to_string());
    }

    /// Drops what has been shown long enough.
    pub fn expire(&mut self, now: Moment) {
        self.waiting.retain(|notice| notice.expires.is_none_or(|end| end > now));
    }

    /// Drops the one on screen if it is an error, which would stay otherwise. `true` if it was.
    pub fn dismiss(&mut self) -> bool {
        let stays = self.current().is_some_and(|notice| notice.expires.is_none());
        stays && self.waiting.pop_back().is_some()
    }

    /// The one on screen, the newest.
    #[must_use]
    pub fn current(&self) -> Option<&Notice> {
        self.waiting.back()
    }

    /// What was told so far with its time, newest first.
    pub fn told(&self) -> impl Iterator<Item = &(Moment, Notice)> {
        self.told.iter().rev()
    }

    /// How many wait.
    #[must_use]
    pub fn count(&self) -> usize {
        self.waiting.len()
    }

    /// When the next one ends.
    #[must_use]
    pub fn next_end(&self) -> Option<Moment> {
        self.waiting.iter().filter_map(|notice| notice.expires).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_stay_and_the_rest_passes() {
        let mut notices = Notices::default();
        notices.add(Moment::ZERO, Level::Error, "broken");
        notices.add(Moment::ZERO, Level::Success, "done");
        assert_eq!(notices.next_end(), Some(Moment::from_secs(4)));
        notices.expire(Moment::from_secs(4));
        assert_eq!(notices.current().unwrap().text.as_str(), "broken");
        assert!(notices.dismiss() && !notices.dismiss());
    }

    #[test]
    fn m75_the_same_line_is_told_once() {
        let mut notices = Notices::default();
        for second in 0..3 {
            notices.add(Moment::from_secs(second), Level::Warning, "needs READY");
        }
        assert_eq!(notices.count(), 1);
    }
}
