//! How each entry is spelled, and the name of its file.

use serde_json::{Value, json};

use super::{jobs, search, selection, views};
use tessera_model::{Book, Entry};

/// The file of a book; jobs have one for each copy of the program.
pub(super) fn file_name(book: &Book) -> Option<String> {
    match book {
        Book::Basket(dataset) => Some(format!("basket-{dataset}.json")),
        Book::Views => Some("views.json".to_owned()),
        Book::Jobs => None,
        Book::History => Some("history.json".to_owned()),
    }
}

/// An entry as a document with its schema.
pub(super) fn write(entry: &Entry) -> String {
    let document = match entry {
        Entry::Basket(dataset, marked) => selection::write(*dataset, marked),
        Entry::Jobs { ours, .. } => jobs::write(ours),
        Entry::Views(list) => views::write(list),
        Entry::History(searches) => json!({
            "schema": "tessera.history/1",
            "searches": searches.iter().map(search::write).collect::<Vec<Value>>(),
        }),
    };
    format!("{document:#}\n")
}

/// Reads a document back.
pub(super) fn read(book: &Book, source: &str) -> Result<Entry, String> {
    let document: Value = serde_json::from_str(source).map_err(|error| error.to_string())?;
    match book {
        Book::Basket(dataset) => {
            selection::read(*dataset, &document).map(|marked| Entry::Basket(*dataset, marked))
        }
        Book::Jobs => jobs::read(&document).map(|ours| Entry::Jobs { ours, elsewhere: Vec::new() }),
        Book::Views => views::read(&document).map(Entry::Views),
        Book::History => {
            let searches = document["searches"].as_array().ok_or("`searches` must be a list")?;
            let searches: Result<Vec<_>, String> = searches.iter().map(search::read).collect();
            searches.map(Entry::History)
        }
    }
}
