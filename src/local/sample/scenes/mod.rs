//! The scenes, one kind to a file. Each paints on an easel and notes what it painted.

pub mod balloons;
pub mod fish;
pub mod mountains;
pub mod parts;
pub mod planets;
pub mod sea;
