//! The kinds of scenes. A new kind is a file in `scenes` and one line here.

use super::{scene::Scene, scenes};

macro_rules! kinds {
    ($($name:ident, $folder:literal, $label:literal, $module:ident;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SceneKind { $($name),* }

        impl SceneKind {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The label of the kind, with which its file names begin as well.
            pub fn label(self) -> &'static str {
                match self { $(Self::$name => $label),* }
            }

            pub fn folder(self) -> &'static str {
                match self { $(Self::$name => $folder),* }
            }

            pub(super) fn draw(self, scene: &mut Scene) {
                match self { $(Self::$name => scenes::$module::draw(scene)),* }
            }
        }
    };
}

impl SceneKind {
    pub(super) fn file_stem(self) -> String {
        self.label().replace(' ', "-")
    }
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
