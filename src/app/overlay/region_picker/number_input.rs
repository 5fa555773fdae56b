//! The four numbers of a region, typed as fractions of the picture.

use tui_input::Input;

use crate::{
    app::overlay::{KeyResult, text_field::edit},
    input::{Chord, Key},
};
use tessera_model::Region;

/// A number of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionField {
    /// Left edge.
    X,
    /// Top edge.
    Y,
    /// Width.
    Width,
    /// Height.
    Height,
}

impl RegionField {
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
    pub fn value_in(self, region: Region) -> f64 {
        match self {
            Self::X => region.x,
            Self::Y => region.y,
            Self::Width => region.width,
            Self::Height => region.height,
        }
    }

    /// The region with another number here, if that lies inside the picture.
    fn with_value(self, region: Region, value: f64) -> Option<Region> {
        let Region { x, y, width, height } = region;
        match self {
            Self::X => Region::new(value, y, width, height),
            Self::Y => Region::new(x, value, width, height),
            Self::Width => Region::new(x, y, value, height),
            Self::Height => Region::new(x, y, width, value),
        }
        // As few decimals as are sent.
        .map(|region| Region::from_corners(region.top_left(), region.bottom_right(), (0.0, 0.0)))
    }
}

/// The number that is being typed.
#[derive(Clone, Debug)]
pub struct RegionNumberInput {
    /// Which of them.
    pub field: RegionField,
    /// What is typed.
    pub text: Input,
    /// Why it is not taken, if it is not.
    pub error: Option<&'static str>,
    /// Whether the numbers are done with.
    pub(super) done: bool,
}

impl RegionNumberInput {
    /// Typing begins, at the first number or at the last.
    pub(super) fn new(region: Region, last: bool) -> Self {
        Self::at(if last { RegionField::Height } else { RegionField::X }, region)
    }

    fn at(field: RegionField, region: Region) -> Self {
        let text = field.value_in(region).to_string().into();
        Self { field, text, error: None, done: false }
    }

    /// Takes a key; a number that can be is in the region at once.
    pub(super) fn handle_key(&mut self, chord: Chord, region: &mut Region) -> KeyResult {
        match chord.key {
            Key::Esc => self.done = true,
            Key::Enter if self.error.is_none() => return KeyResult::Accept,
            Key::Tab if chord.shift => self.move_field(3, *region),
            Key::Up => self.move_field(3, *region),
            Key::Tab | Key::Down => self.move_field(1, *region),
            Key::Enter => {}
            _ => {
                edit(&mut self.text, chord);
                self.apply(region);
            }
        }
        KeyResult::Stay
    }

    fn move_field(&mut self, by: usize, region: Region) {
        let place = RegionField::ALL.iter().position(|side| *side == self.field).unwrap_or(0);
        *self = Self::at(RegionField::ALL[(place + by) % RegionField::ALL.len()], region);
    }

    fn apply(&mut self, region: &mut Region) {
        let value = self.text.value().trim().parse::<f64>();
        self.error = match value.map(|value| self.field.with_value(*region, value)) {
            Err(_) => Some("a number from 0 to 1"),
            Ok(None) => Some("outside the picture"),
            Ok(Some(changed)) => {
                *region = changed;
                None
            }
        };
    }
}
