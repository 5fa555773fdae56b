//! The size of result thumbnails: `ui.tile`, and the same words in the command palette.

use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TileSize {
    Small,
    #[default]
    Medium,
    Large,
}

impl TileSize {
    pub const ALL: [Self; 3] = [Self::Small, Self::Medium, Self::Large];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }

    /// Width of the picture in columns.
    pub fn columns(self) -> u16 {
        match self {
            Self::Small => 12,
            Self::Medium => 18,
            Self::Large => 28,
        }
    }

    pub fn larger(self) -> Self {
        match self {
            Self::Small => Self::Medium,
            Self::Medium | Self::Large => Self::Large,
        }
    }

    pub fn smaller(self) -> Self {
        match self {
            Self::Large => Self::Medium,
            Self::Medium | Self::Small => Self::Small,
        }
    }
}
