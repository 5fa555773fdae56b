//! Flowers: blossoms in close-up, a meadow, rows of tulips.

mod close;
mod country;
mod meadow;
mod tulips;

use super::prelude;

pub fn draw(s: &mut prelude::Scene) {
    s.variant(&[close::draw, meadow::draw, tulips::draw])(s);
}
