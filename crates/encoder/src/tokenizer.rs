//! A tokenizer.json: converts texts to token IDs, including special tokens.

use serde_json::Value;
use tokenizers::{PostProcessor as _, Tokenizer, TruncationParams};

use super::{
    model_config::{ModelConfig, ModelFamily},
    model_folder::{TOKENIZER, TOKENIZER_CONFIG},
};

/// Token limit if neither model nor files have one; that of CLIP.
const DEFAULT_MAX_TOKENS: usize = 77;

pub struct TextTokenizer {
    tokenizer: Tokenizer,
    /// `SigLIP` was trained with lower-case texts, which not all its tokenizers make.
    lowercases: bool,
    pub padding_id: i32,
    pub max_id: i32,
}

impl TextTokenizer {
    /// Reads a `tokenizer.json`, with `tokenizer_config.json` if there is one, and adds the defaults that were taken
    /// to `defaults`. `length` is the fixed number of tokens of the model, if it has one.
    pub fn read(
        json: &[u8],
        more: Option<&Value>,
        config: &ModelConfig,
        length: Option<usize>,
        defaults: &mut Vec<String>,
    ) -> Result<Self, String> {
        let mut tokenizer = Tokenizer::from_bytes(json).map_err(|cause| cause.to_string())?;
        let own_limit = tokenizer.get_truncation().map(|truncation| truncation.max_length);
        let max_tokens = length.or(own_limit).or(config.max_tokens).unwrap_or_else(|| {
            defaults
                .push(format!("{TOKENIZER} has no limit of tokens; taken: {DEFAULT_MAX_TOKENS}"));
            DEFAULT_MAX_TOKENS
        });
        let special = tokenizer.get_post_processor().map_or(0, |it| it.added_tokens(false));
        if max_tokens <= special {
            return Err(format!("{max_tokens} tokens leave no room for a text"));
        }
        let padding_id = padding_id(&tokenizer, more, defaults)?;
        let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
        tokenizer.with_padding(None);
        tokenizer.with_truncation(Some(truncation)).map_err(|cause| cause.to_string())?;
        let max_id = tokenizer.get_vocab(true).into_values().max().ok_or("it has no tokens")?;
        let lowercases = config.family == ModelFamily::Siglip;
        Ok(Self { tokenizer, lowercases, padding_id, max_id: to_id(max_id)? })
    }

    /// Returns the token IDs of a text, truncated to the limit.
    pub fn ids(&self, text: &str) -> Result<Vec<i32>, String> {
        let lower;
        let text = if self.lowercases {
            lower = text.to_lowercase();
            &lower
        } else {
            text
        };
        let encoded = self.tokenizer.encode_fast(text, true).map_err(|cause| cause.to_string())?;
        encoded.get_ids().iter().map(|&id| to_id(id)).collect()
    }
}

/// By either file, or else by the names that padding has: `SigLIP` 1 has `</s>`, `SigLIP` 2 `<pad>`, CLIP its last token.
fn padding_id(
    tokenizer: &Tokenizer,
    more: Option<&Value>,
    defaults: &mut Vec<String>,
) -> Result<i32, String> {
    if let Some(padding) = tokenizer.get_padding() {
        return to_id(padding.pad_id);
    }
    let named = more.map(|more| &more["pad_token"]);
    let named = named.and_then(|token| token.as_str().or_else(|| token["content"].as_str()));
    if let Some(id) = named.and_then(|token| tokenizer.token_to_id(token)) {
        return to_id(id);
    }
    let is_unigram = matches!(tokenizer.get_model(), tokenizers::ModelWrapper::Unigram(_));
    let usual: &[&str] =
        if is_unigram { &["</s>", "<pad>"] } else { &["<pad>", "[PAD]", "<|endoftext|>", "</s>"] };
    let found = usual.iter().find_map(|name| Some((*name, tokenizer.token_to_id(name)?)));
    let (name, id) = found.unwrap_or(("token 0", 0));
    defaults
        .push(format!("neither {TOKENIZER} nor {TOKENIZER_CONFIG} has a padding; taken: {name}"));
    to_id(id)
}

fn to_id(id: u32) -> Result<i32, String> {
    i32::try_from(id).map_err(|_| format!("{id} is not a token ID"))
}
