//! Problems of one sidecar in one sentence: the first, and the number of further positions.

#[derive(Debug, Default)]
pub struct SidecarDiagnostics {
    /// The word for a position (a line, say), singular and plural.
    nouns: [&'static str; 2],
    /// The current position, from 1.
    position: usize,
    last_reported: usize,
    first_message: Option<String>,
    further_positions: usize,
}

impl SidecarDiagnostics {
    pub fn new(noun: &'static str, plural: &'static str) -> Self {
        Self { nouns: [noun, plural], ..Self::default() }
    }

    /// Moves to a position, numbered from 1.
    pub fn set_position(&mut self, position: usize) {
        self.position = position;
    }

    pub fn next_position(&mut self) {
        self.position += 1;
    }

    pub fn check(&mut self, result: Result<(), &str>) {
        if let Err(why) = result {
            self.report(why);
        }
    }

    /// Each position counts once.
    pub fn report(&mut self, why: &str) {
        if self.first_message.is_none() {
            self.first_message = Some(format!("{} {}: {why}", self.nouns[0], self.position));
        } else if self.position != self.last_reported {
            self.further_positions += 1;
        }
        self.last_reported = self.position;
    }

    pub fn summary(self) -> Option<String> {
        let (first, [noun, plural]) = (self.first_message?, self.nouns);
        Some(match self.further_positions {
            0 => first,
            1 => format!("{first}; 1 more {noun}"),
            more => format!("{first}; {more} more {plural}"),
        })
    }
}
