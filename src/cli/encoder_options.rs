//! The options for custom encoders, shared by all commands with a local deployment.

use std::path::PathBuf;

use clap::Args;

/// Three files that belong together: all or none.
#[derive(Debug, Default, Args)]
pub struct EncoderOptions {
    /// Your own image encoder, an ONNX file. Text searches then also find images without captions.
    #[arg(long, value_name = "FILE", requires = "text_encoder", requires = "tokenizer")]
    pub image_encoder: Option<PathBuf>,
    /// The matching text encoder, an ONNX file.
    #[arg(long, value_name = "FILE", requires = "image_encoder")]
    pub text_encoder: Option<PathBuf>,
    /// The tokenizer of the text encoder, a tokenizer.json.
    #[arg(long, value_name = "FILE", requires = "image_encoder")]
    pub tokenizer: Option<PathBuf>,
}
