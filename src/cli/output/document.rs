//! One answer: a JSON document with the name of its schema, and which of its parts are the rows and
//! columns of a table.

use serde_json::{Map, Value};

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name above the table.
    pub title: &'static str,
    /// The field of a row that it shows; parts of parts with a point between, places in a list as
    /// numbers from 0.
    pub field: &'static str,
}

impl Column {
    /// The column `title` of the field `field`.
    #[must_use]
    pub const fn new(title: &'static str, field: &'static str) -> Self {
        Self { title, field }
    }

    /// Whether it holds identifiers: cut, they would be of no use.
    #[must_use]
    pub fn is_id(&self) -> bool {
        self.field == "id" || self.field.ends_with("_id")
    }

    /// What it shows of a row.
    #[must_use]
    pub fn value<'a>(&self, row: &'a Value) -> &'a Value {
        self.field.split('.').fold(row, |value, part| {
            let place = part.parse::<usize>().ok().and_then(|place| value.get(place));
            place.or_else(|| value.get(part)).unwrap_or(&Value::Null)
        })
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Document {
    root: Value,
    list: Option<&'static str>,
    columns: &'static [Column],
}

impl Document {
    /// A single object; `fields` is an object. A table of it has a line for each column.
    #[must_use]
    pub fn one(schema: &str, fields: Value, columns: &'static [Column]) -> Self {
        Self { root: with_schema(schema, fields), list: None, columns }
    }

    /// A list: the array `list` of the object `fields` holds its rows.
    #[must_use]
    pub fn list(
        schema: &str,
        fields: Value,
        list: &'static str,
        columns: &'static [Column],
    ) -> Self {
        Self { root: with_schema(schema, fields), list: Some(list), columns }
    }

    /// The document.
    #[must_use]
    pub fn root(&self) -> &Value {
        &self.root
    }

    /// Whether it is a list of rows.
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.list.is_some()
    }

    /// Its rows; of a single object itself.
    pub fn rows(&self) -> impl Iterator<Item = &Value> {
        let listed = self.list.and_then(|list| self.root.get(list)).and_then(Value::as_array);
        let single = self.list.is_none().then_some(&self.root);
        listed.into_iter().flatten().chain(single)
    }

    /// The columns of its table.
    #[must_use]
    pub fn columns(&self) -> &'static [Column] {
        self.columns
    }

    /// Names of the fields of its rows.
    #[must_use]
    pub fn fields(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.rows().filter_map(Value::as_object).flat_map(Map::keys) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }
}

/// The name of the schema before all else.
fn with_schema(schema: &str, fields: Value) -> Value {
    let mut whole = Map::new();
    whole.insert("schema".to_owned(), schema.into());
    if let Value::Object(fields) = fields {
        whole.extend(fields);
    }
    Value::Object(whole)
}
