//! What is wrong with one sidecar, in one sentence: the first place and how many more there are.

/// The faults of a sidecar, told in the order in which it is read.
#[derive(Debug)]
pub struct SidecarDiagnostics {
    /// The word for a place, and for several.
    nouns: [&'static str; 2],
    /// The place being read, from 1.
    position: usize,
    /// The last place with a fault.
    last_reported: usize,
    first_message: Option<String>,
    further_positions: usize,
}

impl SidecarDiagnostics {
    /// No fault yet, in a sidecar of such places: a `line` and `lines`, say.
    #[must_use]
    pub fn new(word: &'static str, plural: &'static str) -> Self {
        Self {
            nouns: [word, plural],
            position: 0,
            last_reported: 0,
            first_message: None,
            further_positions: 0,
        }
    }

    /// Goes to a place, numbered from 1.
    pub fn set_position(&mut self, place: usize) {
        self.position = place;
    }

    /// Notes what is wrong at this place. A place counts once.
    pub fn report(&mut self, why: &str) {
        if self.first_message.is_none() {
            self.first_message = Some(format!("{} {}: {why}", self.nouns[0], self.position));
        } else if self.position != self.last_reported {
            self.further_positions += 1;
        }
        self.last_reported = self.position;
    }

    /// All of it in words, `None` if nothing is wrong.
    #[must_use]
    pub fn summary(self) -> Option<String> {
        let (first, [word, plural]) = (self.first_message?, self.nouns);
        Some(match self.further_positions {
            0 => first,
            1 => format!("{first}; 1 more {word}"),
            more => format!("{first}; {more} more {plural}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_is_told_and_the_others_counted() {
        let sentence = |places: &[usize]| {
            let mut faults = SidecarDiagnostics::new("line", "lines");
            for place in places {
                faults.set_position(*place);
                faults.report("it is odd");
            }
            faults.summary()
        };
        assert_eq!(sentence(&[]), None);
        assert_eq!(sentence(&[7, 7]).unwrap(), "line 7: it is odd");
        assert_eq!(sentence(&[7, 8, 8]).unwrap(), "line 7: it is odd; 1 more line");
        assert_eq!(sentence(&[7, 8, 11]).unwrap(), "line 7: it is odd; 2 more lines");
    }
}
