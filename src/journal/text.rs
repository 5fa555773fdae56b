//! How each entry is spelled. A basket is the body of a selective export with its place beside it,
//! so a person can write one by hand, and the command line takes it.

use serde_json::{Value, json};

use crate::{
    model::{Book, Entry, SelectionItem},
    wire::selection,
};

/// The file of a book.
pub(super) fn file_name(book: &Book) -> String {
    match book {
        Book::Basket(dataset) => format!("basket-{dataset}.json"),
    }
}

/// An entry as a document with its schema.
pub(super) fn write(entry: &Entry) -> String {
    let document = match entry {
        Entry::Basket(dataset, items) => json!({
            "schema": "tessera.selection/1",
            "dataset_id": dataset,
            "media_selection": selection::write(items)["media_selection"],
        }),
    };
    format!("{document:#}\n")
}

/// Reads a document back.
pub(super) fn read(book: &Book, source: &str) -> Result<Entry, String> {
    let document: Value = serde_json::from_str(source).map_err(|error| error.to_string())?;
    match book {
        Book::Basket(dataset) => basket(&document).map(|items| Entry::Basket(*dataset, items)),
    }
}

fn basket(document: &Value) -> Result<Vec<SelectionItem>, String> {
    if document["media_selection"].as_array().is_some_and(Vec::is_empty) {
        return Ok(Vec::new());
    }
    selection::read(document).map_err(|problem| problem.to_string())
}
