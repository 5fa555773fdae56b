//! Parts of the service, tested through their public items.

pub mod archives;
mod clustering;
mod extraction;
mod features;
mod file_names;
mod folder;
mod full_text_query;
mod indexing_tasks;
mod languages;
mod leases;
mod model_refusals;
mod models;
pub mod near_duplicates;
mod neighbors;
pub mod object_storage;
mod shared_steps;
mod sidecars;
mod store;
mod text_space;
mod unpack;
mod unpack_bombs;
mod video_container;
