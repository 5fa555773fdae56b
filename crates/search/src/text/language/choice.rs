//! What is chosen for a dataset: a language, or that it is detected.

use std::str::FromStr;

use super::Language;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanguageChoice {
    Detected,
    Language(Language),
}

impl LanguageChoice {
    pub const DETECTED: &str = "auto";

    pub fn language(self) -> Option<Language> {
        match self {
            Self::Detected => None,
            Self::Language(language) => Some(language),
        }
    }
}

impl FromStr for LanguageChoice {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        if raw == Self::DETECTED {
            return Ok(Self::Detected);
        }
        Language::from_code(raw).map(Self::Language).ok_or_else(|| {
            let codes: Vec<&str> = Language::all().map(Language::code).collect();
            format!("expected {} or one of {}", Self::DETECTED, codes.join(", "))
        })
    }
}
