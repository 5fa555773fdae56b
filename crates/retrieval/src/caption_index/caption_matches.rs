//! Combines the captions that match the parts of a query.

use std::cmp::Ordering;

/// Captions in increasing order, with their scores; higher is better.
pub struct CaptionMatches(pub Vec<(u32, f64)>);

impl CaptionMatches {
    /// Returns the captions in both, with the sum of the scores.
    pub fn intersection(mut self, other: &Self) -> Self {
        let mut others = Sorted(&other.0);
        self.0.retain_mut(|(caption, score)| match others.find(*caption) {
            Some(more) => {
                *score += more;
                true
            }
            None => false,
        });
        self
    }

    /// Returns the captions in at least one of both, with the sum of the scores.
    pub fn union(self, other: Self) -> Self {
        let (mut one, mut two) = (self.0.into_iter().peekable(), other.0.into_iter().peekable());
        let mut all = Vec::with_capacity(one.len().max(two.len()));
        while let (Some((first, score)), Some((second, more))) = (one.peek(), two.peek()) {
            match first.cmp(second) {
                Ordering::Less => all.extend(one.next()),
                Ordering::Greater => all.extend(two.next()),
                Ordering::Equal => {
                    all.push((*first, score + more));
                    one.next();
                    two.next();
                }
            }
        }
        all.extend(one.chain(two));
        Self(all)
    }

    /// Returns the captions that are not in the other.
    pub fn difference(mut self, other: &Self) -> Self {
        let mut others = Sorted(&other.0);
        self.0.retain(|(caption, _)| others.find(*caption).is_none());
        self
    }
}

/// Matches that are searched for increasing captions.
struct Sorted<'a>(&'a [(u32, f64)]);

impl Sorted<'_> {
    fn find(&mut self, caption: u32) -> Option<f64> {
        let below = self.0.iter().take_while(|(other, _)| *other < caption).count();
        self.0 = &self.0[below..];
        self.0.first().filter(|(other, _)| *other == caption).map(|(_, score)| *score)
    }
}
