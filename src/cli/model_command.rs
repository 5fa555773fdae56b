//! The commands for models.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Check a model, and copy its files to the data folder, so that --model takes its name.
    Add {
        /// The folder, in the layout of a model hub.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Default: the name of the folder.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Load a model and run it with generated pictures. Show its kind, its preprocessing, the defaults that were taken,
    /// and its speed.
    Check {
        /// The folder, in the layout of a model hub, with onnx/model.onnx.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Pictures to encode as well; `-` for standard input. A classifier shows the label that it is confident of.
        #[arg(value_name = "PICTURE")]
        pictures: Vec<PathBuf>,
    },
    /// List the models that were added.
    List,
    /// Remove a model that was added. Its original stays.
    Remove {
        #[arg(value_name = "NAME")]
        name: String,
    },
}
