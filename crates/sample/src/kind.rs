//! The kinds of scenes there are, each with its word, its folder and its painter.
//! A new kind is a scene file and one line here.

use super::{easel::Easel, scenes};

macro_rules! kinds {
    ($($name:ident, $theme:literal, $word:literal, $scene:ident;)*) => {
        /// What a picture shows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kind { $($name),* }

        impl Kind {
            /// Every kind, in the order they are painted.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The word for the kind: its first label, and the beginning of its file names.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word),* }
            }

            /// The folder its pictures are in.
            #[must_use]
            pub fn theme(self) -> &'static str {
                match self { $(Self::$name => $theme),* }
            }

            /// How its file names begin.
            pub(super) fn stem(self) -> String {
                self.word().replace(' ', "-")
            }

            /// Paints a scene of this kind.
            pub(super) fn paint(self, easel: &mut Easel) {
                match self { $(Self::$name => scenes::$scene::paint(easel)),* }
            }
        }
    };
}

kinds! {
    Balloons, "sky", "balloon", balloons;
    City, "town", "city", city;
    Flowers, "land", "flower", flowers;
    Planets, "sky", "planet", planets;
    Lighthouse, "water", "lighthouse", lighthouse;
    Desert, "land", "desert", desert;
    Sailing, "water", "sailing boat", sailing;
}
