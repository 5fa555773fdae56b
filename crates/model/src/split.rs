//! What divides a dataset into sets such as training, validation and test.

use std::{collections::HashSet, str::FromStr};

use crate::text::grouped_with_noun;

/// The name and the share of a set. The shares are divided by their sum.
#[derive(Clone, Debug, PartialEq)]
pub struct SplitSet {
    pub name: String,
    pub share: f64,
}

/// What all sets have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balance {
    Size,
    /// Each label has the same share in each set.
    Labels,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SplitPlan {
    pub sets: Vec<SplitSet>,
    pub balance: Balance,
    /// Media with one of these tags are in no set.
    pub without: Vec<String>,
    pub seed: u64,
}

impl SplitPlan {
    /// Returns the sizes of the sets if each media item could be in any set. The media items that are left over after
    /// the whole parts of the shares go to the sets with the largest remainders, and to the first of equal ones.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "positive, and there are far fewer media items than 2^52"
    )]
    pub fn sizes(&self, media: u64) -> Vec<u64> {
        let total: f64 = self.sets.iter().map(|set| set.share).sum();
        let exact: Vec<f64> =
            self.sets.iter().map(|set| set.share / total * media as f64).collect();
        let mut sizes: Vec<u64> = exact.iter().map(|size| *size as u64).collect();
        let left_over = media.saturating_sub(sizes.iter().sum());
        let mut sets: Vec<usize> = (0..sizes.len()).collect();
        sets.sort_by(|a, b| exact[*b].fract().total_cmp(&exact[*a].fract()));
        for (set, _) in sets.into_iter().zip(0..left_over) {
            sizes[set] += 1;
        }
        sizes
    }

    /// Says why a set is empty after this number of media items was divided.
    #[expect(clippy::cast_precision_loss, reason = "there are far fewer media items than 2^52")]
    pub fn why_empty(&self, name: &str, media: usize) -> String {
        let total: f64 = self.sets.iter().map(|set| set.share).sum();
        let set = self.sets.iter().find(|set| set.name == name);
        let share = set.map_or(0.0, |set| set.share / total * media as f64);
        let reason = if share < 1.0 {
            let media = grouped_with_noun(media as u64, "media item", "media items");
            format!("its share of {media} is less than one")
        } else {
            "near-duplicates and the frames of a video are not divided".to_owned()
        };
        format!("the set `{name}` is empty, because {reason}")
    }
}

/// Shares such as `80/10/10`.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares(Vec<f64>);

impl FromStr for Shares {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        let shares: Result<Vec<f64>, _> = raw.split('/').map(|part| part.trim().parse()).collect();
        match shares {
            Ok(shares) if shares.len() < 2 => {
                Err("give at least two shares, such as 80/20".to_owned())
            }
            Ok(shares) if shares.iter().all(|share| share.is_finite() && *share > 0.0) => {
                Ok(Self(shares))
            }
            _ => Err("expected numbers above 0, such as 80/10/10".to_owned()),
        }
    }
}

impl Shares {
    /// Returns the usual names of this number of sets, if there are any.
    pub fn usual_names(&self) -> &'static [&'static str] {
        match self.0.len() {
            2 => &["train", "test"],
            3 => &["train", "val", "test"],
            _ => &[],
        }
    }

    /// Gives each share its name. Without names, the sets have the usual ones.
    ///
    /// # Errors
    /// There are more or fewer names than shares, or two equal ones.
    pub fn named<'a>(
        self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<SplitSet>, String> {
        let mut names: Vec<&str> = names.into_iter().map(str::trim).collect();
        if names.is_empty() {
            names.extend(self.usual_names());
        }
        let different: HashSet<&str> = names.iter().copied().collect();
        if names.len() != self.0.len() || different.len() != names.len() {
            return Err(format!("give {} different names", self.0.len()));
        }
        let set = |(name, share): (&str, f64)| SplitSet { name: name.to_owned(), share };
        Ok(names.into_iter().zip(self.0).map(set).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sizes_of_the_sets_add_up_to_the_number_of_media_items() {
        for (shares, media, sizes) in [
            ("80/10/10", 676, &[541, 68, 67][..]),
            ("10/10/80", 676, &[68, 67, 541]),
            ("1/1/1", 100, &[34, 33, 33]),
            ("29/71", 100, &[29, 71]),
            ("80/20", 0, &[0, 0]),
        ] {
            let sets = shares.parse::<Shares>().unwrap().0.into_iter();
            let sets = sets.map(|share| SplitSet { name: String::new(), share }).collect();
            let plan = SplitPlan { sets, balance: Balance::Size, without: Vec::new(), seed: 0 };
            assert_eq!(plan.sizes(media), sizes, "{shares} of {media}");
        }
    }

    #[test]
    fn an_empty_set_has_a_true_reason() {
        let sets = "80/10/10".parse::<Shares>().unwrap().named([]).unwrap();
        let plan = SplitPlan { sets, balance: Balance::Size, without: Vec::new(), seed: 0 };
        assert_eq!(
            plan.why_empty("val", 9),
            "the set `val` is empty, because its share of 9 media items is less than one"
        );
        assert!(plan.why_empty("val", 10).ends_with("frames of a video are not divided"));
    }

    #[test]
    fn shares_have_the_usual_names_or_different_ones() {
        let named = |shares: &str, names: &[&str]| {
            let sets = shares.parse::<Shares>()?.named(names.iter().copied())?;
            Ok::<_, String>(sets.into_iter().map(|set| (set.name, set.share)).collect::<Vec<_>>())
        };
        let set = |name: &str, share| (name.to_owned(), share);
        assert_eq!(named("4/1", &[]).unwrap(), [set("train", 4.0), set("test", 1.0)]);
        assert_eq!(named("1 / 0.5", &[" a", "b "]).unwrap(), [set("a", 1.0), set("b", 0.5)]);
        for (shares, names) in [("1/1/1/1", &[][..]), ("1/1", &["a", "a"]), ("1/1", &["a"])] {
            assert!(named(shares, names).unwrap_err().ends_with("different names"), "{shares}");
        }
        for wrong in ["", "80", "80/0", "80/-1", "80/x", "80/inf", "NaN/1"] {
            assert!(wrong.parse::<Shares>().is_err(), "{wrong}");
        }
    }
}
