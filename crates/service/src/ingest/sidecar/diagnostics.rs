//! Problems of one sidecar, summarized in one sentence: the first one and the number of further
//! positions.

/// The problems of a sidecar, in reading order.
#[derive(Debug)]
pub struct SidecarDiagnostics {
    /// The word for a position (a line, say), singular and plural.
    nouns: [&'static str; 2],
    /// The current position, from 1.
    position: usize,
    /// The last position with a problem.
    last_reported: usize,
    first_message: Option<String>,
    further_positions: usize,
}

impl SidecarDiagnostics {
    /// No problems yet, before the first position; `noun` and `plural` name a position.
    pub fn new(noun: &'static str, plural: &'static str) -> Self {
        Self {
            nouns: [noun, plural],
            position: 0,
            last_reported: 0,
            first_message: None,
            further_positions: 0,
        }
    }

    /// Moves to a position, numbered from 1.
    pub fn set_position(&mut self, position: usize) {
        self.position = position;
    }

    pub fn next_position(&mut self) {
        self.position += 1;
    }

    /// Reports an error as a problem at the current position.
    pub fn check(&mut self, result: Result<(), &str>) {
        if let Err(why) = result {
            self.report(why);
        }
    }

    /// Reports a problem at the current position. Each position counts once.
    pub fn report(&mut self, why: &str) {
        if self.first_message.is_none() {
            self.first_message = Some(format!("{} {}: {why}", self.nouns[0], self.position));
        } else if self.position != self.last_reported {
            self.further_positions += 1;
        }
        self.last_reported = self.position;
    }

    /// One sentence about all problems; `None` if there are none.
    pub fn summary(self) -> Option<String> {
        let (first, [noun, plural]) = (self.first_message?, self.nouns);
        Some(match self.further_positions {
            0 => first,
            1 => format!("{first}; 1 more {noun}"),
            more => format!("{first}; {more} more {plural}"),
        })
    }
}
