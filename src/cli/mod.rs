//! The command line: what can be typed, and the commands that need no terminal interface.
//!
//! What was asked for goes to standard output, what is told beside it to standard error.

mod compose;
mod demo;
mod encoding;
mod exit;
mod explain;
mod serve;

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use compose::{Local, client_of, remote};
pub use demo::{paint, tell};
pub use encoding::Encoding;
pub use exit::{Ended, Exit};
pub use explain::EXPLANATION;
pub use serve::{serve, tell_skipped};

use crate::{
    config::{GraphicsChoice, Overrides, ThemeChoice},
    local::Failing,
};

/// See, search and curate image and video datasets from a terminal.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Line {
    /// Which deployment, when it is none of this machine.
    #[command(flatten)]
    pub deployment: Deployment,

    /// The dataset that is opened first: its id or its name.
    #[arg(long, short, env = "TESSERA_DATASET", value_name = "ID|NAME")]
    pub dataset: Option<String>,

    /// Offer nothing that changes a dataset.
    #[arg(long, env = "TESSERA_READ_ONLY")]
    pub read_only: bool,

    /// The deployment of this name in the user's file.
    #[arg(long, short, env = "TESSERA_PROFILE", value_name = "NAME", conflicts_with = "base_url")]
    pub profile: Option<String>,

    /// auto, dark, light, plain, or the name of a theme of your own.
    #[arg(long, global = true, env = "TESSERA_THEME", value_name = "THEME")]
    pub theme: Option<ThemeChoice>,

    /// auto, half, kitty, sixel, iterm or none: how pictures are drawn.
    #[arg(long, global = true, env = "TESSERA_GRAPHICS", value_name = "PROTOCOL")]
    pub graphics: Option<GraphicsChoice>,

    /// Sentences and numbered questions for screen readers and pipes, instead of a drawn screen.
    #[arg(long, global = true, env = "TESSERA_ACCESSIBLE", value_name = "BOOL", num_args = 0..=1,
          require_equals = true, default_missing_value = "true")]
    pub accessible: Option<bool>,

    /// Write what happens and how long it takes into this new file, as JSON lines without secrets.
    #[arg(long, global = true, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  tessera                         ask what to open, or open the default profile
  tessera demo                    paint a sample dataset and open it
  tessera open ~/photos           open a folder of pictures
  tessera serve ~/photos          serve it to other programs
  tessera --base-url https://media.example --kind hosted
                                  open a service; TESSERA_API_KEY and TESSERA_API_SECRET log in

Exit codes: 0 done, 1 failed, 2 wrong use, 3 network or server, 4 login or permission,
5 not found, 6 state conflict, 7 remote work failed, 8 refused as invalid, 130 interrupted.";

/// A deployment of the service.
#[derive(Debug, Args)]
pub struct Deployment {
    /// Address of the service, for example `https://media.example`.
    #[arg(long, env = "TESSERA_BASE_URL", value_name = "URL", requires = "kind")]
    pub base_url: Option<String>,

    /// Address of the pipeline that adds media at an on-premises deployment.
    #[arg(long, env = "TESSERA_PIPELINE_URL", value_name = "URL", requires = "base_url")]
    pub pipeline_url: Option<String>,

    /// hosted (with login) or onprem (without).
    #[arg(long, env = "TESSERA_KIND")]
    pub kind: Option<Kind>,
}

/// The kind of a deployment: stated, never guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Every request carries a token.
    Hosted,
    /// No login, and no Authorization header at all.
    Onprem,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Paint a sample dataset and open it; without a terminal, tell the same as text.
    Demo {
        /// How many images are painted.
        #[arg(long, default_value_t = 240, value_parser = clap::value_parser!(u32).range(12..=100_000))]
        images: u32,
        /// Folder for the images and their index.
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
    },
    /// Open a folder of pictures: index it and browse it.
    Open {
        /// The folder.
        folder: PathBuf,
        /// Folder for the index.
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// A person's own encoders.
        #[command(flatten)]
        encoding: Encoding,
    },
    /// Serve folders of pictures over HTTP, in the words of the interface.
    Serve(Serve),
}

/// The options of `serve`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that stands alone")]
pub struct Serve {
    /// The folders; one dataset each.
    #[arg(required_unless_present = "explain")]
    pub folders: Vec<PathBuf>,
    /// Address and port; port 0 takes a free one.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Folder for the index.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Without login, as an on-premises deployment; on this machine only.
    #[arg(long)]
    pub no_auth: bool,
    /// Accept and answer what public clients send beyond the interface; --explain lists it.
    #[arg(long)]
    pub compat: bool,
    /// Nobody may change a dataset: adding media and reindexing answer 403.
    #[arg(long)]
    pub read_only: bool,
    /// Switch off the feature of adding media.
    #[arg(long)]
    pub no_add_media: bool,
    /// A folder below which `process/add_media` may read, beside those served; repeatable.
    #[arg(long, value_name = "DIR")]
    pub allow_path: Vec<PathBuf>,
    /// Let every operation and export take at least so long, to look at passing states.
    #[arg(long, value_name = "SECONDS", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub slow_progress: u64,
    /// Let a part fail, to look at rare states; repeatable.
    #[arg(long, value_name = "WHAT", value_parser = failing)]
    pub fail: Vec<Failing>,
    /// A person's own encoders.
    #[command(flatten)]
    pub encoding: Encoding,
    /// Tell what the interface leaves open and what is done here, and end.
    #[arg(long)]
    pub explain: bool,
}

fn failing(raw: &str) -> Result<Failing, String> {
    Failing::parse(raw).ok_or_else(|| {
        let words = Failing::ALL.map(Failing::word).join(", ");
        format!("there are {words}")
    })
}

impl Line {
    /// What the command line and the environment say about settings.
    #[must_use]
    pub fn overrides(&self) -> Overrides {
        let asks = |value: std::ffi::OsString| !value.is_empty() && value != "0";
        Overrides {
            theme: self.theme.clone(),
            graphics: self.graphics,
            accessible: self.accessible,
            everywhere_accessible: std::env::var_os("ACCESSIBLE").is_some_and(asks),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Line::command().debug_assert();
    }
}
