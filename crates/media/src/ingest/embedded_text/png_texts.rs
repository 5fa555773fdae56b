//! The texts of PNG, by the keywords of its specification, and the prompts that image generators write.

use super::{
    block_text::{BlockText, caption_of},
    metadata_label::date_labels_of_text,
};

/// Lines that follow the prompt of a generated picture.
const AFTER_PROMPT: [&str; 2] = ["\nNegative prompt:", "\nSteps:"];

pub fn read(texts: &[(String, String)]) -> BlockText {
    let find = |name: &str| {
        let found = texts.iter().find(|(keyword, _)| keyword.eq_ignore_ascii_case(name));
        found.map(|(_, text)| text.clone())
    };
    let prompt = find("parameters").map(|text| {
        let ends = AFTER_PROMPT.iter().filter_map(|line| text.find(line));
        text[..ends.min().unwrap_or(text.len())].to_owned()
    });
    let dates = find("Creation Time").map(|text| date_labels_of_text(&text));
    BlockText {
        caption: caption_of(find("Title"), find("Description").or(prompt)),
        keywords: Vec::new(),
        metadata_labels: dates.unwrap_or_default(),
    }
}
