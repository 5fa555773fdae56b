//! Explains what decides how the terminal is used, for `doctor`: pictures, colors, the width of ambiguous characters
//! and the encoding.

use tessera_interface::drawing::{picture_layer::ColorDepth, theme::ThemeName};
use tessera_picture::Protocol;

use crate::runtime::probe::capabilities::{Capabilities, Environment};

/// Why something is used.
pub struct Explanation {
    pub text: String,
    /// Whether something looks worse than it could, or wrong.
    pub is_warning: bool,
}

impl Explanation {
    fn fact(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_warning: false }
    }

    fn warning(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_warning: true }
    }
}

impl Capabilities {
    /// Explains the decision about each subject. `locale` is the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set,
    /// with its value.
    pub fn explanations(
        &self,
        environment: &Environment,
        locale: Option<(&str, &str)>,
    ) -> [(&'static str, Explanation); 4] {
        [
            ("pictures", self.explain_pictures(environment)),
            ("colors", self.explain_colors(environment)),
            ("width", self.explain_width()),
            ("encoding", explain_encoding(locale)),
        ]
    }

    fn explain_pictures(&self, environment: &Environment) -> Explanation {
        let name = self.replies.version.as_deref().unwrap_or("the terminal");
        match self.protocol {
            Protocol::Kitty if environment.in_tmux => Explanation::fact(format!(
                "kitty graphics, which tmux passes on to {}",
                self.outer_name()
            )),
            Protocol::Kitty => Explanation::fact(format!("kitty graphics, which {name} confirms")),
            Protocol::Iterm => {
                Explanation::fact(format!("iTerm2 pictures, because {name} is known for them"))
            }
            Protocol::Sixel => Explanation::fact("sixel pictures, which the terminal reports"),
            Protocol::HalfBlock | Protocol::None => self.explain_half_blocks(environment),
        }
    }

    /// Explains why there are only half-blocks, and what to do about it.
    fn explain_half_blocks(&self, environment: &Environment) -> Explanation {
        let blocked = self.outer.as_ref().is_some_and(|outer| !outer.passes_sequences);
        let name = self.replies.version.as_deref().unwrap_or("the terminal");
        if environment.in_tmux && blocked {
            let text = format!(
                "half-blocks, because tmux passes no pictures on to {}; `tmux set -g allow-passthrough on` \
                 turns them on if it is kitty 0.28 or Ghostty",
                self.outer_name()
            );
            Explanation::warning(text)
        } else if environment.in_tmux {
            Explanation::fact(format!(
                "half-blocks, because {} draws no pictures in tmux",
                self.outer_name()
            ))
        } else if environment.is_multiplexed() {
            Explanation::fact("half-blocks, because the multiplexer passes no pictures on")
        } else if !environment.can_be_queried() {
            Explanation::fact("half-blocks, because this terminal would print queries")
        } else if !self.replies.has_ended() {
            Explanation::warning("half-blocks, because the terminal did not reply to queries")
        } else if self.replies.kitty || self.sixel {
            let stay = "would stay where text is written later";
            Explanation::fact(format!("half-blocks, because pictures of {name} {stay}"))
        } else {
            let text = "half-blocks, because it reports neither kitty, iTerm2 nor sixel pictures";
            Explanation::fact(text.replace("it reports", &format!("{name} reports")))
        }
    }

    /// Returns the name of the terminal that shows tmux.
    pub fn outer_name(&self) -> &str {
        let outer = self.outer.as_ref().map(|outer| outer.name.as_str());
        outer.filter(|name| !name.is_empty()).unwrap_or("the outer terminal")
    }

    fn explain_colors(&self, environment: &Environment) -> Explanation {
        let depth = match self.color_depth {
            ColorDepth::TrueColor if environment.claims_truecolor() => {
                format!("true color, because COLORTERM is {}", environment.colorterm)
            }
            ColorDepth::TrueColor if environment.in_tmux => {
                format!("true color, which tmux sends to {}", self.outer_name())
            }
            ColorDepth::TrueColor => {
                "true color, because the terminal is not an old one".to_owned()
            }
            ColorDepth::Palette256 => format!("256 colors, because TERM is {}", environment.term),
            ColorDepth::Palette16 => format!("16 colors, because TERM is {}", environment.term),
        };
        let reason = match (self.theme, self.replies.background) {
            (ThemeName::Plain, _) => "NO_COLOR is set".to_owned(),
            (_, Some([red, green, blue])) => {
                format!("the background is #{red:02x}{green:02x}{blue:02x}")
            }
            (_, None) if !environment.colorfgbg.is_empty() => {
                format!("COLORFGBG is {}", environment.colorfgbg)
            }
            (_, None) => "the background is unknown; `ui.theme` sets another one".to_owned(),
        };
        Explanation::fact(format!("{depth}; theme {}, because {reason}", self.theme.as_str()))
    }

    fn explain_width(&self) -> Explanation {
        match self.replies.ambiguous_width {
            Some(1) => {
                Explanation::fact("ambiguous characters fill one column, as tessera expects")
            }
            Some(columns) => {
                let text = format!(
                    "the terminal draws ambiguous characters in {columns} columns, but tessera expects \
                     one; set the ambiguous width to narrow in the settings of the terminal"
                );
                Explanation::warning(text)
            }
            None => {
                let text = "unknown, because the terminal did not report its cursor; tessera expects one \
                            column for ambiguous characters";
                Explanation::fact(text)
            }
        }
    }
}

fn explain_encoding(locale: Option<(&str, &str)>) -> Explanation {
    let is_utf8 = |value: &str| {
        let value = value.to_ascii_lowercase();
        value.contains("utf-8") || value.contains("utf8")
    };
    match locale {
        Some((name, value)) if is_utf8(value) => {
            Explanation::fact(format!("UTF-8, because {name} is {value}"))
        }
        Some((name, value)) => {
            let text = format!(
                "tessera writes UTF-8, but {name} is {value}; if letters look wrong, set {name} to a \
                 UTF-8 locale such as C.UTF-8"
            );
            Explanation::warning(text)
        }
        None => {
            let text = "tessera writes UTF-8, and neither LC_ALL, LC_CTYPE nor LANG is set; if letters \
                        look wrong, set LANG to a UTF-8 locale such as C.UTF-8";
            Explanation::warning(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::probe::{
        OuterTerminal, TerminalReplies, capabilities::decide_capabilities,
    };

    fn explained(
        environment: &Environment,
        replies: &[&str],
        outer: Option<OuterTerminal>,
    ) -> Vec<String> {
        let mut read = TerminalReplies::default();
        for reply in replies {
            read.read(reply.as_bytes());
        }
        let capabilities = decide_capabilities(environment, &read, (10, 20), None, outer);
        let facts = capabilities.explanations(environment, Some(("LANG", "C.UTF-8")));
        facts.into_iter().map(|(subject, it)| format!("{subject} {}", it.text)).collect()
    }

    fn xterm() -> Environment {
        Environment { term: "xterm-256color".into(), ..Environment::default() }
    }

    #[test]
    fn each_fact_has_its_reason() {
        let replies = ["P>|XTerm(380)", "[9;2R", "]11;rgb:fd/f6/e3", "[?64;1;2c"];
        let facts = explained(&xterm(), &replies, None);
        assert_eq!(
            facts,
            [
                "pictures half-blocks, because XTerm(380) reports neither kitty, iTerm2 nor sixel pictures",
                "colors true color, because the terminal is not an old one; theme light, because the \
                 background is #fdf6e3",
                "width ambiguous characters fill one column, as tessera expects",
                "encoding UTF-8, because LANG is C.UTF-8",
            ]
        );
        let wide = explained(&xterm(), &["[9;3R", "[?64;4c"], None);
        assert!(wide[0].contains("sixel pictures") && wide[2].contains("in 2 columns"), "{wide:?}");
        let konsole = explained(&xterm(), &["P>|Konsole 22.12.3", "_Gi=31;OK", "[?62;1;4c"], None);
        assert!(konsole[0].contains("pictures of Konsole 22.12.3 would stay"), "{konsole:?}");
        let silent = explained(&xterm(), &[], None);
        assert!(silent[0].contains("did not reply"), "{silent:?}");
    }

    #[test]
    fn the_remedy_in_tmux_is_its_option() {
        let tmux = Environment { in_tmux: true, term: "tmux-256color".into(), ..xterm() };
        let outer = |passes_sequences| {
            Some(OuterTerminal {
                name: "kitty(0.36.4)".to_owned(),
                passes_sequences,
                true_color: true,
            })
        };
        let off = explained(&tmux, &["[?1;2c"], outer(false));
        assert!(off[0].contains("`tmux set -g allow-passthrough on`"), "{off:?}");
        let on = explained(&tmux, &["[?1;2c", "_Gi=31;OK"], outer(true));
        assert!(on[0].contains("passes on to kitty(0.36.4)"), "{on:?}");
    }

    #[test]
    fn a_locale_without_utf8_is_a_warning() {
        for (locale, is_warning) in [
            (Some(("LC_ALL", "C")), true),
            (Some(("LANG", "ja_JP.eucJP")), true),
            (None, true),
            (Some(("LANG", "en_US.utf8")), false),
        ] {
            assert_eq!(explain_encoding(locale).is_warning, is_warning, "{locale:?}");
        }
    }
}
