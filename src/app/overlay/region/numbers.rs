//! The four numbers of a region, typed as fractions of the picture.

use tui_input::Input;

use crate::{
    app::overlay::{Press, field::edit},
    input::{Chord, Key},
};
use tessera_model::Region;

/// A number of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Left edge.
    X,
    /// Top edge.
    Y,
    /// Width.
    Width,
    /// Height.
    Height,
}

impl Side {
    /// All of them in the order of the Tab key.
    pub const ALL: [Self; 4] = [Self::X, Self::Y, Self::Width, Self::Height];

    /// What stands before it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::Y => "y",
            Self::Width => "width",
            Self::Height => "height",
        }
    }

    /// It in a region.
    #[must_use]
    pub fn of(self, region: Region) -> f64 {
        match self {
            Self::X => region.x,
            Self::Y => region.y,
            Self::Width => region.width,
            Self::Height => region.height,
        }
    }

    /// The region with another number here, if that lies inside the picture.
    fn set(self, region: Region, value: f64) -> Option<Region> {
        let Region { x, y, width, height } = region;
        match self {
            Self::X => Region::new(value, y, width, height),
            Self::Y => Region::new(x, value, width, height),
            Self::Width => Region::new(x, y, value, height),
            Self::Height => Region::new(x, y, width, value),
        }
        // As few decimals as are sent.
        .map(|region| Region::between(region.near(), region.far(), (0.0, 0.0)))
    }
}

/// The number that is being typed.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// Which of them.
    pub side: Side,
    /// What is typed.
    pub typed: Input,
    /// Why it is not taken, if it is not.
    pub complaint: Option<&'static str>,
    /// Whether the numbers are done with.
    pub(super) left: bool,
}

impl Numbers {
    /// Typing begins, at the first number or at the last.
    pub(super) fn new(region: Region, last: bool) -> Self {
        Self::at(if last { Side::Height } else { Side::X }, region)
    }

    fn at(side: Side, region: Region) -> Self {
        let typed = side.of(region).to_string().into();
        Self { side, typed, complaint: None, left: false }
    }

    /// Takes a key; a number that can be is in the region at once.
    pub(super) fn key(&mut self, chord: Chord, region: &mut Region) -> Press {
        match chord.key {
            Key::Esc => self.left = true,
            Key::Enter if self.complaint.is_none() => return Press::Accept,
            Key::Tab if chord.shift => self.go(3, *region),
            Key::Up => self.go(3, *region),
            Key::Tab | Key::Down => self.go(1, *region),
            Key::Enter => {}
            _ => {
                edit(&mut self.typed, chord);
                self.take(region);
            }
        }
        Press::Stay
    }

    fn go(&mut self, by: usize, region: Region) {
        let place = Side::ALL.iter().position(|side| *side == self.side).unwrap_or(0);
        *self = Self::at(Side::ALL[(place + by) % Side::ALL.len()], region);
    }

    fn take(&mut self, region: &mut Region) {
        let value = self.typed.value().trim().parse::<f64>();
        self.complaint = match value.map(|value| self.side.set(*region, value)) {
            Err(_) => Some("a number from 0 to 1"),
            Ok(None) => Some("outside the picture"),
            Ok(Some(changed)) => {
                *region = changed;
                None
            }
        };
    }
}
