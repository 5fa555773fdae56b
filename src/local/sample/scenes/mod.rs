//! The scenes, one kind to a file. Each paints on an easel and notes what it painted.

pub mod balloons;
pub mod city;
pub mod desert;
pub mod fish;
pub mod flowers;
pub mod forest;
pub mod mountains;
mod parts;
pub mod planets;
pub mod sea;
