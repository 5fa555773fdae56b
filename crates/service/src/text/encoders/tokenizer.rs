//! A Hugging Face tokenizer.json: converts texts to token ids, including special tokens.

use std::{
    sync::mpsc::{Sender, channel},
    thread,
};

use rten_text::{
    Tokenizer,
    tokenizer::{Encoded, TokenId},
};
use serde_json::Value;

/// Token limit if neither model nor tokenizer has one; that of CLIP.
const DEFAULT_MAX_TOKENS: usize = 77;

pub struct TextTokenizer {
    worker: TokenizerThread,
    /// Special tokens before and after every text.
    prefix: Vec<i32>,
    suffix: Vec<i32>,
    /// Token limit, including special tokens.
    max_tokens: usize,
    pub padding_id: i32,
    pub max_id: i32,
}

impl TextTokenizer {
    /// Fails for invalid files and unsupported types (Unigram).
    pub fn from_json(json: &str) -> Result<Self, String> {
        let mut json: Value = serde_json::from_str(json).map_err(|cause| cause.to_string())?;
        add_missing_fields(&mut json);
        let worker = TokenizerThread::start(json.to_string())?;
        let (prefix, suffix) = special_tokens(&json);
        let padding_id = to_id(&json["padding"]["pad_id"]).or(suffix.last().copied()).unwrap_or(0);
        let max_tokens = json["truncation"]["max_length"].as_u64();
        let max_tokens = max_tokens.and_then(|longest| usize::try_from(longest).ok());
        let max_tokens = max_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
        let max_id = highest_id(&json).ok_or("it has no tokens")?;
        let mut tokens = Self { worker, prefix, suffix, max_tokens, padding_id, max_id };
        tokens.set_max_tokens(max_tokens)?;
        Ok(tokens)
    }

    /// Fails if the limit leaves no room besides the special tokens.
    pub fn set_max_tokens(&mut self, longest: usize) -> Result<(), String> {
        if longest <= self.prefix.len() + self.suffix.len() {
            return Err(format!("{longest} tokens leave no room for a text"));
        }
        self.max_tokens = longest;
        Ok(())
    }

    /// Returns the token ids of a text, truncated to the limit.
    pub fn ids(&self, text: &str) -> Result<Vec<i32>, String> {
        let ids = to_ids(&self.worker.tokenize(text)?)?;
        // BERT tokenizers include the special tokens, others do not.
        let ids = ids.strip_prefix(&self.prefix[..]).unwrap_or(&ids);
        let ids = ids.strip_suffix(&self.suffix[..]).unwrap_or(ids);
        let room = self.max_tokens - self.prefix.len() - self.suffix.len();
        Ok([&self.prefix, &ids[..ids.len().min(room)], &self.suffix].concat())
    }
}

/// The library's tokenizer is not `Send`, so it runs in its own thread, which ends when this is
/// dropped.
struct TokenizerThread(Sender<TokenizeRequest>);

/// A text, and the channel for its token ids.
type TokenizeRequest = (String, Sender<Result<Vec<TokenId>, String>>);

impl TokenizerThread {
    fn start(json: String) -> Result<Self, String> {
        let (requests, received) = channel::<TokenizeRequest>();
        let (ready, started) = channel();
        let work = move || match Tokenizer::from_json(&json) {
            Ok(tokenizer) => {
                // The requester may be gone by now.
                let _ = ready.send(Ok(()));
                for (text, reply) in received {
                    let encoded = tokenizer.encode(text.as_str(), None);
                    let ids = encoded.map(Encoded::into_token_ids);
                    let _ = reply.send(ids.map_err(|cause| cause.to_string()));
                }
            }
            Err(cause) => drop(ready.send(Err(cause.to_string()))),
        };
        let thread = thread::Builder::new().name("tokenizer".to_owned());
        thread.spawn(work).map_err(|cause| cause.to_string())?;
        started.recv().map_err(|_| "it cannot be opened".to_owned())??;
        Ok(Self(requests))
    }

    fn tokenize(&self, text: &str) -> Result<Vec<TokenId>, String> {
        let (reply, response) = channel();
        let stopped = || "the tokenizer has stopped".to_owned();
        self.0.send((text.to_owned(), reply)).map_err(|_| stopped())?;
        response.recv().map_err(|_| stopped())?
    }
}

/// Older files lack two fields that the library requires; these are their defaults.
fn add_missing_fields(json: &mut Value) {
    if let Some(model) = json.get_mut("model").and_then(Value::as_object_mut) {
        model.entry("ignore_merges").or_insert(false.into());
    }
    let Some(splitter) = json.get_mut("pre_tokenizer") else {
        return;
    };
    let splitters = match splitter.get_mut("pretokenizers").and_then(Value::as_array_mut) {
        Some(several) => several.as_mut_slice(),
        None => std::slice::from_mut(splitter),
    };
    let splitters = splitters.iter_mut().filter_map(Value::as_object_mut);
    for splitter in splitters.filter(|one| one.get("type") == Some(&"ByteLevel".into())) {
        splitter.entry("use_regex").or_insert(true.into());
    }
}

/// Special tokens before and after a text: fixed for BERT, else of either kind of post-processor.
fn special_tokens(json: &Value) -> (Vec<i32>, Vec<i32>) {
    let one = |value: &Value| to_id(value).into_iter().collect();
    if json["model"]["type"] == "WordPiece" {
        let vocabulary = &json["model"]["vocab"];
        return (one(&vocabulary["[CLS]"]), one(&vocabulary["[SEP]"]));
    }
    let processor = &json["post_processor"];
    let Some(template) = processor["single"].as_array() else {
        return (one(&processor["cls"][1]), one(&processor["sep"][1]));
    };
    let ids = |piece: &Value| -> Vec<i32> {
        let name = piece["SpecialToken"]["id"].as_str().unwrap_or("");
        let ids = processor["special_tokens"][name]["ids"].as_array();
        ids.into_iter().flatten().filter_map(to_id).collect()
    };
    let mut sides = template.splitn(2, |piece| piece.get("Sequence").is_some());
    let mut side = || sides.next().into_iter().flatten().flat_map(ids).collect();
    (side(), side())
}

fn highest_id(json: &Value) -> Option<i32> {
    let vocabulary = json["model"]["vocab"].as_object().into_iter().flat_map(|all| all.values());
    let added = json["added_tokens"].as_array().into_iter().flatten().map(|token| &token["id"]);
    vocabulary.chain(added).filter_map(to_id).max()
}

fn to_id(value: &Value) -> Option<i32> {
    value.as_i64().and_then(|number| i32::try_from(number).ok())
}

fn to_ids(ids: &[TokenId]) -> Result<Vec<i32>, String> {
    let number = |&id: &TokenId| i32::try_from(id).map_err(|_| format!("{id} is not a token id"));
    ids.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tokenizer(processor: Value) -> Value {
        let mut json: Value =
            serde_json::from_str(include_str!("../../../tests/encoders/clip.json")).unwrap();
        json["post_processor"] = processor;
        json
    }

    #[test]
    fn special_tokens_come_from_either_form_of_post_processor() {
        let template = json!({
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "<s>", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "</s>", "type_id": 0}},
            ],
            "special_tokens": {"<s>": {"ids": [7]}, "</s>": {"ids": [8, 9]}},
        });
        let pair = json!({"type": "RobertaProcessing", "cls": ["<s>", 7], "sep": ["</s>", 8]});
        let none = json!({"type": "ByteLevel"});
        for (processor, before, after) in [
            (template, &[7][..], &[8, 9][..]),
            (pair, &[7], &[8]),
            (none, &[], &[]),
            (Value::Null, &[], &[]),
        ] {
            let tokens = TextTokenizer::from_json(&tokenizer(processor).to_string()).unwrap();
            let ids = tokens.ids("red").unwrap();
            assert_eq!(ids.len(), before.len() + 1 + after.len());
            assert!(ids.starts_with(before) && ids.ends_with(after), "{ids:?}");
        }
    }

    #[test]
    fn long_texts_are_truncated_between_special_tokens() {
        let processor = json!({"cls": ["<s>", 7], "sep": ["</s>", 8]});
        let mut tokens = TextTokenizer::from_json(&tokenizer(processor).to_string()).unwrap();
        assert_eq!(tokens.ids(&"red ".repeat(100)).unwrap().len(), DEFAULT_MAX_TOKENS);
        tokens.set_max_tokens(4).unwrap();
        let red = tokens.ids("red").unwrap()[1];
        assert_eq!(tokens.ids("red red red red").unwrap(), [7, red, red, 8]);
        assert!(tokens.set_max_tokens(2).is_err());
    }

    #[test]
    fn invalid_tokenizers_are_rejected() {
        for text in ["", "[]", "3", "{}", r#"{"model":[]}"#, r#"{"pre_tokenizer":[1]}"#] {
            assert!(TextTokenizer::from_json(text).is_err(), "{text}");
        }
        let unigram = json!({"model": {"type": "Unigram", "vocab": []}});
        assert!(TextTokenizer::from_json(&unigram.to_string()).err().unwrap().contains("Unigram"));
    }
}
