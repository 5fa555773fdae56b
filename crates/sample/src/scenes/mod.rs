//! The scenes, one kind to a file. Each paints on an easel and notes what it painted.
//! A scene asks the easel for its mood, its light and its chances, so one seed is one picture.

pub mod balloons;
pub mod city;
pub mod desert;
pub mod flowers;
pub mod lighthouse;
mod parts;
pub mod planets;
pub mod sailing;
