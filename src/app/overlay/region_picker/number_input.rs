//! Input of the four numbers of a region, as fractions of the picture.

use tui_input::Input;

use crate::{
    app::overlay::{KeyResult, form, text_field::edit},
    input::Chord,
};
use tessera_model::Region;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionField {
    X,
    Y,
    Width,
    Height,
}

impl RegionField {
    /// In the order of the Tab key.
    pub const ALL: [Self; 4] = [Self::X, Self::Y, Self::Width, Self::Height];

    pub fn name(self) -> &'static str {
        match self {
            Self::X => "x",
            Self::Y => "y",
            Self::Width => "width",
            Self::Height => "height",
        }
    }

    pub fn value_in(self, region: Region) -> f64 {
        values(region)[self as usize]
    }

    /// The region with this number changed; `None` if it would leave the picture.
    fn with_value(self, region: Region, value: f64) -> Option<Region> {
        let mut values = values(region);
        values[self as usize] = value;
        let [x, y, width, height] = values;
        let region = Region::new(x, y, width, height)?;
        // Rounds to the decimals that are sent.
        Some(Region::from_corners(region.top_left(), region.bottom_right(), (0.0, 0.0)))
    }
}

/// The numbers of a region in the order of [`RegionField::ALL`].
fn values(region: Region) -> [f64; 4] {
    [region.x, region.y, region.width, region.height]
}

#[derive(Clone, Debug)]
pub struct RegionNumberInput {
    pub field: RegionField,
    pub text: Input,
    pub error: Option<&'static str>,
    /// Whether Esc ended the input.
    pub(super) done: bool,
}

impl RegionNumberInput {
    pub(super) fn new(region: Region, last: bool) -> Self {
        Self::at(if last { RegionField::Height } else { RegionField::X }, region)
    }

    fn at(field: RegionField, region: Region) -> Self {
        let text = field.value_in(region).to_string().into();
        Self { field, text, error: None, done: false }
    }

    /// Handles a key; a valid number changes the region at once.
    pub(super) fn handle_key(&mut self, chord: Chord, region: &mut Region) -> KeyResult {
        match form::handle_key(&mut self.field, &RegionField::ALL, chord) {
            Some(KeyResult::Close) => self.done = true,
            Some(KeyResult::Accept) if self.error.is_none() => return KeyResult::Accept,
            Some(KeyResult::Accept) => {}
            Some(KeyResult::Stay) => *self = Self::at(self.field, *region),
            None => {
                edit(&mut self.text, chord);
                self.apply(region);
            }
        }
        KeyResult::Stay
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
