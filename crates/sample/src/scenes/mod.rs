//! The scenes, one kind to a file. Each has several variants; light, counts and colors vary by seed.

pub mod balloons;
pub mod city;
pub mod desert;
mod elements;
pub mod flowers;
pub mod lighthouse;
pub mod planets;
pub mod sailing;

use super::prelude;
