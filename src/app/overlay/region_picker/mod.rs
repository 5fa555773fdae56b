//! The region picker: a box on a query image, changed by keys, numbers and the mouse.

mod dialog;
mod keys;
mod layout;
mod mouse;
mod number_input;

pub use keys::{KeyHint, key_rows, preset_rows};
pub use layout::{RegionPickerAreas, StepSize};
pub use number_input::{RegionField, RegionNumberInput};

use tessera_model::Region;

use crate::app::QueryImage;
use mouse::Drag;

#[derive(Clone, Debug)]
pub struct RegionPicker {
    pub image: QueryImage,
    pub region: Region,
    pub step: StepSize,
    pub number_input: Option<RegionNumberInput>,
    /// Whether the region alone is shown, enlarged.
    pub zoomed: bool,
    /// Earlier regions, oldest first.
    undo_stack: Vec<Region>,
    /// What the mouse drags, and the region when the drag began.
    drag: Option<(Drag, Region)>,
}

impl RegionPicker {
    /// Starts with the region of the last search by this picture, or with its inner half.
    fn new(image: QueryImage, last: Option<Region>) -> Self {
        Self {
            image,
            region: last.unwrap_or(Region::INNER_HALF),
            step: StepSize::Cell,
            number_input: None,
            zoomed: false,
            undo_stack: Vec::new(),
            drag: None,
        }
    }
}
