//! Writes conditions on the properties of files as SQL, and finds the tags and the columns of the user's own that a
//! table has. The rules are those of [`PropertyFilter::matches`].

use super::{match_conditions::MatchConditions, registry::SearchTable};
use crate::prelude::*;
use tessera_model::{
    TagId,
    text::search_form,
    vql::{FileProperty, Operator, Property, PropertyFilter, PropertyValue},
};

/// The name of the file of a row.
pub(super) const FILE_NAME: &str = "substring(t.file_path from '[^/]*$')";

pub(super) fn property_condition(
    conditions: &mut MatchConditions<'_>,
    filter: &PropertyFilter,
) -> String {
    let each: Vec<String> =
        filter.values().iter().map(|value| compare(conditions, filter, value)).collect();
    let negation = if filter.operator().is_negated() { "NOT " } else { "" };
    // A missing value is null, which no value equals.
    format!("{negation}coalesce({}, FALSE)", each.join(" OR "))
}

/// Returns SQL for the [`search_form`] of a composed text. The collation of paths knows the case of ASCII letters alone.
pub(super) fn search_form_of(text: &str) -> String {
    format!("lower({text} COLLATE \"default\")")
}

fn compare(
    conditions: &mut MatchConditions<'_>,
    filter: &PropertyFilter,
    value: &PropertyValue,
) -> String {
    let item = item(conditions, filter.property(), value);
    let is_path = matches!(filter.property(), Property::File(FileProperty::Path));
    let operator = match filter.operator() {
        Operator::AtLeast => ">=",
        Operator::AtMost => "<=",
        _ => "=",
    };
    match value {
        PropertyValue::Pattern(pattern) => {
            let regex = if is_path { pattern.path_regex() } else { pattern.name_regex() };
            format!("{item} ~ {}", text(conditions, &regex))
        }
        PropertyValue::Text(wanted) if filter.operator() == Operator::Contains => {
            let wanted = text(conditions, &search_form(wanted));
            format!("strpos({}, {wanted}) > 0", search_form_of(&item))
        }
        PropertyValue::Text(wanted) => format!("{item} = {}", text(conditions, wanted)),
        PropertyValue::Number(number) => {
            format!("{item} {operator} {}", conditions.value(number.value()))
        }
        PropertyValue::Flag(flag) => format!("{item} = {}", conditions.value(*flag)),
        PropertyValue::Date(date) => match filter.operator() {
            Operator::AtLeast => format!("{item} >= {}", conditions.value(date.start)),
            Operator::AtMost => format!("{item} < {}", conditions.value(date.end)),
            _ => {
                let (start, end) = (conditions.value(date.start), conditions.value(date.end));
                format!("({item} >= {start} AND {item} < {end})")
            }
        },
    }
}

fn text(conditions: &mut MatchConditions<'_>, text: &str) -> String {
    // PostgreSQL's texts cannot contain NUL.
    format!("CAST({} AS text)", conditions.value(text.replace('\0', "\u{fffd}")))
}

/// Returns the value of a member that has the type of `value`, or null.
fn item(
    conditions: &mut MatchConditions<'_>,
    property: &Property,
    value: &PropertyValue,
) -> String {
    let property = match property {
        Property::File(property) => *property,
        Property::Column(name) => {
            let name = text(conditions, name.as_str());
            let typed = |json: &str, sql: &str| {
                format!(
                    "CASE jsonb_typeof(t.extra_columns -> {name}) WHEN '{json}'
                       THEN CAST(t.extra_columns ->> {name} AS {sql}) END"
                )
            };
            return match value {
                PropertyValue::Number(_) => typed("number", "double precision"),
                PropertyValue::Flag(_) => typed("boolean", "boolean"),
                PropertyValue::Date(_) => {
                    format!("CAST(t.extra_columns -> {name} ->> 'at' AS bigint)")
                }
                PropertyValue::Text(_) | PropertyValue::Pattern(_) => typed("string", "text"),
            };
        }
    };
    match property {
        FileProperty::Path => "t.file_path",
        FileProperty::Name => FILE_NAME,
        FileProperty::Size => "CAST(t.size AS double precision)",
        FileProperty::Width => "CAST(t.width AS double precision)",
        FileProperty::Height => "CAST(t.height AS double precision)",
        FileProperty::Aspect => {
            "CAST(t.width AS double precision) / CAST(greatest(t.height, 1) AS double precision)"
        }
        FileProperty::Format => "t.format",
        FileProperty::Date => "t.date",
        // Ratings are compared before, and become rows.
        FileProperty::Rating => "CAST(NULL AS double precision)",
    }
    .to_owned()
}

/// Whether a member of the table has a column of the user's own.
pub fn has_column(connection: &Connection, table: &SearchTable, name: &str) -> Result<bool> {
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM {} AS t WHERE t.version <= ?1 AND jsonb_exists(t.extra_columns, ?2))",
        table.name()
    );
    query::one(connection, &sql, params![table.version, name], |row| row.get(0))
}

/// Whether a member of the table has a tag from a sidecar, given by the identifier of its name.
pub fn has_tag(connection: &Connection, table: &SearchTable, name: TagId) -> Result<bool> {
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM {} AS t WHERE t.version <= ?1 AND t.tags @> CAST(?2 AS jsonb))",
        table.name()
    );
    let tags = format!("[\"{name}\"]");
    query::one(connection, &sql, params![table.version, tags], |row| row.get(0))
}

/// Returns the names of all columns of the user's own.
pub fn column_names(connection: &Connection, table: &SearchTable) -> Result<Vec<String>> {
    let sql = format!(
        "SELECT DISTINCT jsonb_object_keys(t.extra_columns) AS name FROM {} AS t WHERE t.version <= ?1 ORDER BY name",
        table.name()
    );
    query::all(connection, &sql, params![table.version], |row| row.get(0))
}
