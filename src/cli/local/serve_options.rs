//! The options of `tessera serve`.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use super::{InjectedFailure, LanguageChoice};
use crate::cli::{ModelOptions, store_options::SharedStorage};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is independent")]
pub struct ServeOptions {
    /// Folders to serve; one dataset each. A folder may be in object storage: <s3://bucket/folder>.
    /// With a store on a server, none are needed: all its datasets are served.
    #[arg(required_unless_present_any = ["explain", "store"])]
    pub folders: Vec<PathBuf>,
    /// Language of the captions in the folders, as a code such as de; auto detects it in them. Kept for later
    /// starts. Default: auto.
    #[arg(long, value_name = "CODE")]
    pub caption_language: Option<LanguageChoice>,
    /// Address and port; port 0 picks a free one.
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Another name of this service, with its scheme if a proxy terminates TLS; repeatable.
    #[arg(long, value_name = "[https://]NAME[:PORT]")]
    pub allow_host: Vec<String>,
    /// Write a line of JSON for each request to a file, or to standard output with -.
    #[arg(long, value_name = "FILE")]
    pub access_log: Option<PathBuf>,
    /// Serve metrics for Prometheus at another address, without login.
    #[arg(long, value_name = "ADDR:PORT")]
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
    /// Leave operations and exports to `tessera work`; needs a store on a server.
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
    /// Minimum duration of operations and exports, to test intermediate states.
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
