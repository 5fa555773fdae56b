//! Props: single things, drawn in coordinates of their own and put into a scene by a pose.
//! A prop is about one unit tall and knows nothing of light or place: the scene gives it colours.

pub mod building;
pub mod desert;
pub mod flower;
pub mod sky;
pub mod vessel;
