//! Defines the options of the commands that serve datasets from this machine: models, the store on a server, and the
//! address. These options also exist without the local service, so that a client can report what it lacks.

use std::net::{Ipv4Addr, SocketAddr};

use clap::builder::{StringValueParser, TypedValueParser as _};
use secrecy::SecretString;
use tessera_model::PatternLists;

use tessera_config::Settings;
#[cfg(feature = "local")]
use tessera_search::text::language::LanguageChoice;
#[cfg(feature = "local")]
use tessera_service::InjectedFailure;
#[cfg(not(feature = "local"))]
use unavailable_values::{InjectedFailure, LanguageChoice};

use crate::cli::prelude::*;
use crate::cli::{GlobalOptions, global_options::TrimmedVariable};

#[derive(Debug, Args)]
pub struct StoreOptions {
    /// Store on a PostgreSQL server rather than in the index folder.
    #[arg(
        long,
        value_name = "postgres://USER@HOST/DATABASE",
        env = "TESSERA_STORE",
        hide_env_values = true,
        value_parser = TrimmedVariable(StringValueParser::new().map(SecretString::from))
    )]
    pub store: Option<SecretString>,
}

/// What the processes of one service share.
#[derive(Debug, Args)]
pub struct SharedStorage {
    #[command(flatten)]
    pub store: StoreOptions,
    /// Keep uploads, thumbnails and the archives of exports in object storage (S3, Google Cloud or Azure).
    #[arg(long, env = "TESSERA_BUCKET", value_name = "URI",
          value_parser = TrimmedVariable(StringValueParser::new()))]
    pub bucket: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Create the tables of a store, or update them to this version.
    Init {
        #[command(flatten)]
        store: StoreOptions,
        /// Let the next process choose the bucket and the model that all processes of the store must have.
        #[arg(long)]
        reset_settings: bool,
    },
    /// Show the versions and the size of a store.
    Status(StoreOptions),
    /// Replace the login of a service, and revoke the links that it has given out.
    ///
    /// Services that are running refuse the former login and links within a second. The new login is printed.
    Revoke {
        #[command(flatten)]
        store: StoreOptions,
        /// Folder of the index [default: the one of `serve`].
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
    },
}

#[derive(Debug, Default, Args)]
pub struct ModelOptions {
    /// Folder of your own model, in the layout of a model hub, or the name of one that was added or downloaded. Similar
    /// images are ranked by it, and a model that takes texts also finds images without captions. `none` takes the model
    /// away from a dataset. Default: the setting `model`, or else the model that the dataset has.
    #[arg(long, value_name = "DIR")]
    pub model: Option<PathBuf>,
}

impl ModelOptions {
    /// Returns the given folder, or the folder in the settings if none is given.
    pub fn or_from(self, settings: &Settings) -> Option<PathBuf> {
        self.model.or_else(|| settings.model.clone())
    }

    /// Returns the given folder, or reads the settings if none is given.
    pub fn or_load(self, global: &GlobalOptions) -> CliResult<Option<PathBuf>> {
        if self.model.is_some() {
            return Ok(self.model);
        }
        Ok(self.or_from(&global.load_settings()?))
    }
}

#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Download a model from a model hub, and check it, so that --model takes its name.
    ///
    /// `starter` is made from published packages instead. The sizes are shown first, and nothing is downloaded without
    /// a confirmation.
    ///
    /// The cache and the variables are those of the hub's own tools: `HF_HOME`, `HF_HUB_CACHE`, `HF_ENDPOINT`,
    /// `HF_TOKEN`, `HF_TOKEN_PATH` and `HF_HUB_OFFLINE`.
    Get {
        /// `starter`, or the name of a repository, such as Xenova/clip-vit-base-patch32.
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Check a model, and copy its files to the data folder, so that --model takes its name.
    Add {
        /// The folder, in the layout of a model hub.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Default: the name of the folder.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Load a model and run it with generated pictures.
    ///
    /// Show its kind, its preprocessing, the defaults that were taken, and its speed.
    Check {
        /// The folder, in the layout of a model hub, with onnx/model.onnx.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Pictures to encode as well; `-` for standard input. A classifier shows the label that it is confident of.
        #[arg(value_name = "PICTURE")]
        pictures: Vec<PathBuf>,
    },
    /// List the models that were added.
    List {
        /// List models that `tessera model get` can get instead.
        #[arg(long)]
        available: bool,
    },
    /// Remove a model that was added.
    ///
    /// Its original stays.
    Remove {
        /// Name of the model.
        #[arg(value_name = "NAME")]
        name: String,
    },
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is independent")]
pub struct ServeOptions {
    /// Folders to serve; one dataset each. A folder may be in object storage: <s3://bucket/folder>.
    /// With a store on a server, none are needed: all its datasets are served.
    #[arg(required_unless_present_any = ["explain", "store"])]
    pub folders: Vec<PathBuf>,
    /// Compare the folders again whenever files in them change.
    #[arg(long, conflicts_with = "read_only")]
    pub watch: bool,
    #[command(flatten)]
    pub patterns: PatternOptions,
    /// Language of the captions in the folders, as a code such as de; auto detects it in them. Kept for later
    /// starts. Default: auto.
    #[arg(long, value_name = "CODE")]
    pub caption_language: Option<LanguageChoice>,
    /// Address and port, or a port of 127.0.0.1; port 0 picks a free one [default: a port of the index folder on
    /// 127.0.0.1].
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = parse_listening_address)]
    pub listen: Option<SocketAddr>,
    /// Another name of this service, with its scheme if a proxy terminates TLS; repeatable. A name alone is allowed
    /// with any port.
    #[arg(long, value_name = "[https://]NAME[:PORT]")]
    pub allow_host: Vec<String>,
    /// Write a line of JSON for each request to a file, or to standard output with -.
    #[arg(long, value_name = "FILE")]
    pub access_log: Option<PathBuf>,
    /// Serve metrics for Prometheus at another address, without login.
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = parse_listening_address)]
    pub metrics: Option<SocketAddr>,
    /// After a stop signal, report not ready and keep serving for this time, for load balancers.
    #[arg(long, value_name = "SECONDS", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub drain: u64,
    /// Folder for the index.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub shared: SharedStorage,
    /// Leave indexing tasks and exports to `tessera work`; needs a store on a server.
    #[arg(long, requires = "store")]
    pub no_work: bool,
    /// Serve without login, like an on-premises deployment; this machine only.
    #[arg(long)]
    pub no_auth: bool,
    /// Accept what public clients send beyond the API; --explain lists it.
    #[arg(long)]
    pub compat: bool,
    /// Reject changes: adding media and reindexing respond with 403.
    #[arg(long)]
    pub read_only: bool,
    /// Disable adding media.
    #[arg(long)]
    pub no_add_media: bool,
    /// A folder that `process/add_media` may read, in addition to the served ones; repeatable.
    #[arg(long, value_name = "DIR")]
    pub allow_path: Vec<PathBuf>,
    /// Minimum duration of indexing tasks and exports, to test intermediate states.
    #[arg(long, value_name = "SECONDS", default_value_t = 0,
          value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub slow_progress: u64,
    /// Make a component fail, to test error states; repeatable.
    #[arg(long, value_name = "WHAT")]
    pub fail: Vec<InjectedFailure>,
    #[command(flatten)]
    pub model: ModelOptions,
    /// Explain what the API leaves open and what this service does, and exit.
    #[arg(long)]
    pub explain: bool,
}

/// Parses the address at which a service listens. A port alone is one that only this machine can reach.
fn parse_listening_address(raw: &str) -> Result<SocketAddr, String> {
    let port = raw.strip_prefix("localhost:").unwrap_or(raw);
    let local = port.parse().map(|port: u16| (Ipv4Addr::LOCALHOST, port).into());
    local.or_else(|_| raw.parse()).map_err(|_| {
        "expected an address and a port, for example 127.0.0.1:8123, or a port alone".to_owned()
    })
}

#[derive(Debug, Args)]
pub struct WorkOptions {
    #[command(flatten)]
    pub shared: SharedStorage,
    /// Indexing tasks that run at a time, beside one export.
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
    /// Exit when no task waits for a worker.
    #[arg(long)]
    pub once: bool,
    /// Folder for files in progress; workers and services of one machine share it.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub model: ModelOptions,
}

/// Option values of the local service for builds without it. No text can be parsed as such a value.
#[cfg(not(feature = "local"))]
mod unavailable_values {
    pub type InjectedFailure = UnavailableValue;
    pub type LanguageChoice = UnavailableValue;

    #[derive(Clone, Copy, Debug)]
    pub enum UnavailableValue {}

    impl std::str::FromStr for UnavailableValue {
        type Err = String;

        fn from_str(_: &str) -> Result<Self, String> {
            Err("this build has no local deployment".to_owned())
        }
    }
}

/// Which files of a folder belong to its dataset. The patterns are kept with the dataset.
#[derive(Debug, Args)]
pub struct PatternOptions {
    /// Only pictures and videos that match a pattern belong to the dataset, in the syntax of .gitignore; repeatable.
    /// Replaces the patterns that were given before, and is kept for later starts.
    #[arg(long, value_name = "PATTERN")]
    pub include: Vec<String>,
    /// Skip files and folders that match a pattern, in the syntax of .gitignore; repeatable. Replaces the patterns
    /// that were given before, and is kept for later starts.
    #[arg(long, value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Forget the patterns that were given before.
    #[arg(long, conflicts_with_all = ["include", "exclude"])]
    pub all_files: bool,
}

impl PatternOptions {
    /// Returns the patterns that replace those of the dataset, or `None` if it keeps them.
    pub fn chosen(&self) -> Option<PatternLists> {
        let patterns =
            PatternLists { include: self.include.clone(), exclude: self.exclude.clone() };
        (self.all_files || patterns != PatternLists::default()).then_some(patterns)
    }
}

/// How a command opens the folder of a local profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderOpening {
    /// Reads what has changed in the folder first.
    Update,
    /// Uses the index as it is. Only a folder that is not in the index yet is read.
    AsIndexed,
    /// Reads what has changed in the folder first, and again whenever files in it change.
    Watch,
}

impl FolderOpening {
    pub fn watching_if(watch: bool) -> Self {
        if watch { Self::Watch } else { Self::Update }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_listens_on_an_address_or_on_a_port_of_this_machine() {
        let local = Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, 8123)));
        for address in ["8123", "localhost:8123", "127.0.0.1:8123"] {
            assert_eq!(parse_listening_address(address), local, "{address}");
        }
        assert_eq!(
            parse_listening_address("[::1]:0").map(|it| it.to_string()),
            Ok("[::1]:0".to_owned())
        );
        for address in ["", ":8123", "127.0.0.1", "65536", "host:8123"] {
            assert!(parse_listening_address(address).unwrap_err().contains("127.0.0.1:8123"));
        }
    }
}
