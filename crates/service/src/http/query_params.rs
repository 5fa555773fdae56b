//! Query parameters, checked one by one. Errors are 422 in the list form of hosted services.

use std::{collections::HashMap, str::FromStr};

use axum::{
    extract::{FromRequestParts, Query},
    http::request::Parts,
};

use super::problem::Problem;
use tessera_model::{EntityType, Granularity, text::parse_boolean};
use tessera_wire::paths::query;

pub const BOOLEAN_HINT: &str = "Input should be a valid boolean";

/// The query; the last value of a repeated name counts.
pub struct QueryParams(HashMap<String, String>);

impl<S: Send + Sync> FromRequestParts<S> for QueryParams {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::from_request_parts(parts, state).await;
        let invalid = |_| Problem::invalid_query("query", "The query cannot be read");
        query.map(|Query(pairs)| Self(pairs)).map_err(invalid)
    }
}

impl QueryParams {
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// A parameter that must be present and not empty.
    pub fn required(&self, name: &'static str) -> Result<&str, Problem> {
        let text = self.text(name).filter(|text| !text.is_empty());
        text.ok_or_else(|| Problem::invalid("query", name, "missing", "Field required", None))
    }

    /// A parameter read by `parse`; `expected` describes valid input.
    pub fn parse<T>(
        &self,
        name: &'static str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let Some(raw) = self.text(name) else { return Ok(None) };
        let invalid =
            || Problem::invalid("query", name, "value_error", expected, Some(raw.to_owned()));
        parse(raw.trim()).map(Some).ok_or_else(invalid)
    }

    pub fn id<T: FromStr>(&self, name: &'static str) -> Result<T, Problem> {
        let raw = self.required(name)?;
        raw.parse().map_err(|_| Problem::invalid_id("query", name, raw))
    }

    pub fn entity(&self) -> Result<Option<EntityType>, Problem> {
        self.parse(query::ENTITY_TYPE, "Input should be 'IMAGES' or 'OBJECTS'", |raw| {
            raw.parse().ok()
        })
    }

    pub fn granularity(&self) -> Result<Option<Granularity>, Problem> {
        self.parse(query::THRESHOLD, "Input should be an integer from 0 to 4", |raw| {
            Granularity::new(raw.parse().ok()?)
        })
    }

    /// `page_number`, 0-based.
    pub fn page(&self) -> Result<u64, Problem> {
        let expected = "Input should be an integer from 0 to 9223372036854775807";
        let read = |raw: &str| u64::try_from(raw.parse::<i64>().ok()?).ok();
        Ok(self.parse(query::PAGE_NUMBER, expected, read)?.unwrap_or(0))
    }

    pub fn boolean(&self, name: &'static str) -> Result<Option<bool>, Problem> {
        self.parse(name, BOOLEAN_HINT, parse_boolean)
    }
}
