//! The output of a command: a JSON document with a schema name, and the columns of its table.

use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug)]
pub struct Column {
    pub title: &'static str,
    /// The field of a row; nested fields are separated by dots, and numbers are list indexes.
    pub field: &'static str,
    /// Whether commands accept the beginning of its IDs, so that tables need not show more.
    has_short_ids: bool,
}

impl Column {
    pub const fn new(title: &'static str, field: &'static str) -> Self {
        Self { title, field, has_short_ids: false }
    }

    /// A column of IDs whose beginnings commands accept.
    pub const fn short_id(title: &'static str, field: &'static str) -> Self {
        Self { title, field, has_short_ids: true }
    }

    pub fn has_short_ids(&self) -> bool {
        self.has_short_ids
    }

    /// Whether the column contains IDs, which must not be truncated.
    pub fn is_id(&self) -> bool {
        self.field == "id" || self.field.ends_with("_id")
    }

    pub fn value<'a>(&self, row: &'a Value) -> &'a Value {
        self.field.split('.').fold(row, |value, part| {
            let item = part.parse::<usize>().ok().and_then(|index| value.get(index));
            item.or_else(|| value.get(part)).unwrap_or(&Value::Null)
        })
    }
}

#[derive(Clone, Debug)]
pub struct Document {
    root: Value,
    list: Option<&'static str>,
    columns: &'static [Column],
}

impl Document {
    /// A single object. Its table has one line per column.
    pub fn one(schema: &str, fields: Value, columns: &'static [Column]) -> Self {
        Self { root: with_schema(schema, fields), list: None, columns }
    }

    /// A list: the array `list` of the object `fields` contains the rows.
    pub fn list(
        schema: &str,
        fields: Value,
        list: &'static str,
        columns: &'static [Column],
    ) -> Self {
        Self { root: with_schema(schema, fields), list: Some(list), columns }
    }

    pub fn root(&self) -> &Value {
        &self.root
    }

    pub fn is_list(&self) -> bool {
        self.list.is_some()
    }

    /// The rows; a single object is its only row.
    pub fn rows(&self) -> impl Iterator<Item = &Value> {
        let listed = self.list.and_then(|list| self.root.get(list)).and_then(Value::as_array);
        let single = self.list.is_none().then_some(&self.root);
        listed.into_iter().flatten().chain(single)
    }

    pub fn columns(&self) -> &'static [Column] {
        self.columns
    }

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

/// Puts the schema name first.
fn with_schema(schema: &str, fields: Value) -> Value {
    let mut whole = Map::new();
    whole.insert("schema".to_owned(), schema.into());
    if let Value::Object(fields) = fields {
        whole.extend(fields);
    }
    Value::Object(whole)
}
