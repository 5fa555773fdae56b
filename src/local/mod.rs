//! The local deployment: the whole service over folders of this machine.

pub mod cluster;
pub mod index;
pub mod sample;
pub mod search;
