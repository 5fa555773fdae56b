//! Removes what a dialog covers from a sixel picture. A sixel is six pixels high, so a covered sixel is removed as a
//! whole. The picture keeps its place, because pixels that are not painted stay as they are on the screen.

use std::ops::Range;

use ratatui::layout::Rect;

/// The number of pixel rows of a sixel.
const SIXEL_ROWS: usize = 6;
/// The sixel that paints no pixel.
const BLANK: char = '?';

/// Returns the sequence without the sixels that are at least partly in these cells of the picture's area.
pub(super) fn crop(sequence: &str, area: Rect, covered: &[Rect], cell: (u16, u16)) -> String {
    let Some((head, data)) = sequence.split_once('q') else { return sequence.to_owned() };
    let pixels = |cells: Range<u16>, start: u16, side: u16| {
        let side = usize::from(side);
        usize::from(cells.start - start) * side..usize::from(cells.end - start) * side
    };
    let covered = covered.iter().map(|it| Covered {
        columns: pixels(it.left()..it.right(), area.x, cell.0),
        rows: pixels(it.top()..it.bottom(), area.y, cell.1),
    });
    let mut cropped = Cropped { out: format!("{head}q"), covered: covered.collect(), x: 0, y: 0 };
    cropped.read(data);
    cropped.out
}

/// A covered part of the picture, in pixels.
struct Covered {
    columns: Range<usize>,
    rows: Range<usize>,
}

struct Cropped {
    out: String,
    covered: Vec<Covered>,
    /// The position of the next sixel, in pixels.
    x: usize,
    y: usize,
}

impl Cropped {
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
            if count > 3 {
                self.out.push('!');
                self.out.push_str(&count.to_string());
                self.out.push(sixel);
            } else {
                self.out.extend(std::iter::repeat_n(sixel, count));
            }
            self.x = next;
        }
    }

    fn is_covered(&self, x: usize) -> bool {
        let in_rows = |rows: &Range<usize>| self.y < rows.end && rows.start < self.y + SIXEL_ROWS;
        self.covered.iter().any(|part| part.columns.contains(&x) && in_rows(&part.rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covered_sixels_are_blank_and_the_others_stay_in_place() {
        // Two cells of 4x6 pixels in a row, and three rows.
        let picture = "\x1bP0;1;0q\"1;1;8;18#0;2;0;0;0!8~$#1;2;9;9;9!8N-#0!8~-#1~~~!5N\x1b\\";
        let area = Rect::new(10, 5, 2, 3);
        let crop = |covered: &[Rect]| crop(picture, area, covered, (4, 6));
        assert_eq!(crop(&[]), picture);
        assert_eq!(
            crop(&[Rect::new(11, 6, 1, 2)]),
            "\x1bP0;1;0q\"1;1;8;18#0;2;0;0;0!8~$#1;2;9;9;9!8N-#0!4~!4?-#1~~~N!4?\x1b\\"
        );
        assert_eq!(
            crop(&[Rect::new(10, 5, 2, 1), Rect::new(10, 7, 1, 1)]),
            "\x1bP0;1;0q\"1;1;8;18#0;2;0;0;0!8?$#1;2;9;9;9!8?-#0!8~-#1????!4N\x1b\\"
        );
    }

    #[test]
    fn a_sixel_that_is_partly_covered_is_removed_as_a_whole() {
        // A cell of 4x5 pixels: its second row begins within the first sixel.
        let picture = "\x1bP0;1;0q#0~~~~-~~~~\x1b\\";
        let area = Rect::new(0, 0, 1, 2);
        assert_eq!(
            crop(picture, area, &[Rect::new(0, 1, 1, 1)], (4, 5)),
            "\x1bP0;1;0q#0????-????\x1b\\"
        );
    }
}
