//! How large the thumbnails of the results are drawn: `ui.tile`, and the same words in the palette.

use serde::Deserialize;

/// How large the tiles are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TileSize {
    /// 12 columns.
    Small,
    /// 18 columns.
    #[default]
    Medium,
    /// 28 columns.
    Large,
}

impl TileSize {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Small, Self::Medium, Self::Large];

    /// As it is spelled in settings and on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }

    /// Columns of the picture.
    pub fn columns(self) -> u16 {
        match self {
            Self::Small => 12,
            Self::Medium => 18,
            Self::Large => 28,
        }
    }

    /// The next larger one.
    pub fn larger(self) -> Self {
        match self {
            Self::Small => Self::Medium,
            Self::Medium | Self::Large => Self::Large,
        }
    }

    /// The next smaller one.
    pub fn smaller(self) -> Self {
        match self {
            Self::Large => Self::Medium,
            Self::Medium | Self::Small => Self::Small,
        }
    }
}
