//! Removes parts of an encoded sixel picture. A sixel is six pixels high, so a sixel that is partly covered is removed as
//! a whole.

use std::ops::Range;

use crate::sixel::write_run;

/// The number of pixel rows of a sixel.
const SIXEL_ROWS: usize = 6;
/// The sixel that paints no pixel.
const BLANK: char = '?';

/// Returns a picture without the sixels that are at least partly in covered parts of it.
pub fn without_covered_sixels(sequence: &str, covered: Vec<CoveredPart>) -> String {
    let Some((head, data)) = sequence.split_once('q') else { return sequence.to_owned() };
    let mut cropper = SixelCropper { out: format!("{head}q"), covered, x: 0, y: 0 };
    cropper.read(data);
    cropper.out
}

/// A covered part of the picture, in pixels.
pub struct CoveredPart {
    pub columns: Range<usize>,
    pub rows: Range<usize>,
}

struct SixelCropper {
    out: String,
    covered: Vec<CoveredPart>,
    /// The position of the next sixel, in pixels.
    x: usize,
    y: usize,
}

impl SixelCropper {
    fn read(&mut self, data: &str) {
        let mut chars = data.chars();
        while let Some(c) = chars.next() {
            match c {
                '!' => {
                    let rest = chars.as_str();
                    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                    chars = rest[digits..].chars();
                    let count = rest[..digits].parse().unwrap_or(1);
                    self.repeat(chars.next().unwrap_or(BLANK), count);
                }
                '?'..='~' => self.repeat(c, 1),
                // The rest is the end of the sequence.
                '\x1b' => {
                    self.out.push(c);
                    return self.out.push_str(chars.as_str());
                }
                '$' | '-' => {
                    self.x = 0;
                    self.y += if c == '-' { SIXEL_ROWS } else { 0 };
                    self.out.push(c);
                }
                _ => self.out.push(c),
            }
        }
    }

    /// Writes a sixel several times. Those that are covered become blank.
    fn repeat(&mut self, sixel: char, count: usize) {
        let end = self.x + count;
        while self.x < end {
            let is_covered = self.is_covered(self.x);
            let next = (self.x..end).find(|x| self.is_covered(*x) != is_covered).unwrap_or(end);
            let (sixel, count) = (if is_covered { BLANK } else { sixel }, next - self.x);
            write_run(&mut self.out, sixel, count);
            self.x = next;
        }
    }

    fn is_covered(&self, x: usize) -> bool {
        let in_rows = |rows: &Range<usize>| self.y < rows.end && rows.start < self.y + SIXEL_ROWS;
        self.covered.iter().any(|part| part.columns.contains(&x) && in_rows(&part.rows))
    }
}
