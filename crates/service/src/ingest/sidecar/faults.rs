//! What is wrong with one sidecar, in one sentence: the first place and how many more there are.

/// The faults of a sidecar, told in the order in which it is read.
#[derive(Debug)]
pub struct Faults {
    /// The word for a place, and for several.
    words: [&'static str; 2],
    /// The place being read, from 1.
    place: usize,
    /// The last place with a fault.
    last: usize,
    first: Option<String>,
    more: usize,
}

impl Faults {
    /// No fault yet, in a sidecar of such places: a `line` and `lines`, say.
    #[must_use]
    pub fn new(word: &'static str, plural: &'static str) -> Self {
        Self { words: [word, plural], place: 0, last: 0, first: None, more: 0 }
    }

    /// Goes to a place, numbered from 1.
    pub fn at(&mut self, place: usize) {
        self.place = place;
    }

    /// Notes what is wrong at this place. A place counts once.
    pub fn add(&mut self, why: &str) {
        if self.first.is_none() {
            self.first = Some(format!("{} {}: {why}", self.words[0], self.place));
        } else if self.place != self.last {
            self.more += 1;
        }
        self.last = self.place;
    }

    /// All of it in words, `None` if nothing is wrong.
    #[must_use]
    pub fn sentence(self) -> Option<String> {
        let (first, [word, plural]) = (self.first?, self.words);
        Some(match self.more {
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
            let mut faults = Faults::new("line", "lines");
            for place in places {
                faults.at(*place);
                faults.add("it is odd");
            }
            faults.sentence()
        };
        assert_eq!(sentence(&[]), None);
        assert_eq!(sentence(&[7, 7]).unwrap(), "line 7: it is odd");
        assert_eq!(sentence(&[7, 8, 8]).unwrap(), "line 7: it is odd; 1 more line");
        assert_eq!(sentence(&[7, 8, 11]).unwrap(), "line 7: it is odd; 2 more lines");
    }
}
