//! Writes the conditions of a search as SQL with values. The search table is called `t` in the SQL.
//!
//! `tessera-retrieval` evaluates the same conditions in memory, in `filter_mask`. Each condition is written twice,
//! because the two forms have nothing in common: here, a condition is about a JSON column with an index; there, it is
//! about a list of name numbers. A common description could only name the condition, which `MemberCondition` already
//! does.

use super::{property_conditions::property_condition, registry::SearchTable};
use crate::{columns::encode_f16, engine::ToSql};
use serde_json::{Value, json};
use tessera_model::vql::{IssueKind, LabelRule};
use tessera_search::member_search::{
    CAPTION_LIMIT, DistanceBound, DistanceQuery, IssueRange, MODEL_SCALE, MODEL_SHARE,
    MemberCondition, MemberDistance, MemberSearch, MemberVector, MergeRule, VectorQuery,
};

/// A query from which no member has a distance.
const NO_VECTOR: DistanceQuery =
    DistanceQuery::Single(VectorQuery { of: MemberVector::Text, vector: Vec::new() });

pub(super) struct MatchConditions<'a> {
    table: &'a SearchTable,
    values: Vec<Box<dyn ToSql>>,
}

impl<'a> MatchConditions<'a> {
    pub fn new(table: &'a SearchTable) -> Self {
        Self { table, values: Vec::new() }
    }

    pub fn params(&self) -> Vec<&dyn ToSql> {
        self.values.iter().map(|value| &**value).collect()
    }

    pub(super) fn value(&mut self, value: impl ToSql + 'static) -> String {
        self.values.push(Box::new(value));
        format!("?{}", self.values.len())
    }

    /// Returns all conditions except those on distances.
    pub fn filters(&mut self, search: &MemberSearch) -> Vec<String> {
        let mut filters = vec![format!("t.version <= {}", self.table.version)];
        for condition in &search.conditions {
            filters.extend(self.condition(condition));
        }
        filters
    }

    /// Returns a condition that is not on a distance.
    fn condition(&mut self, condition: &MemberCondition) -> Option<String> {
        Some(match condition {
            MemberCondition::Labels(rule, labels) => self.labels(*rule, labels),
            MemberCondition::Tag { name, by_users } => {
                let of_sidecars = self.contains("tags", &name.0.to_string());
                if by_users.is_empty() {
                    of_sidecars
                } else {
                    let rows = self.numbers(by_users.iter(), "bigint");
                    format!("({of_sidecars} OR t.media = ANY ({rows}))")
                }
            }
            MemberCondition::Rows(rows) => {
                format!("t.media = ANY ({})", self.numbers(rows.iter(), "bigint"))
            }
            MemberCondition::Issue(range) => self.issue(range),
            MemberCondition::NearDuplicate(least) => {
                format!("CAST(t.twin AS double precision) >= {}", self.value(*least))
            }
            MemberCondition::Uniqueness(above) => {
                format!("CAST(t.uniqueness AS double precision) > {}", self.value(*above))
            }
            MemberCondition::Captions { pictures, matching } => {
                let rows = self.numbers(pictures.iter(), "bigint");
                let operator = if *matching { "= ANY" } else { "<> ALL" };
                format!("t.picture {operator} ({rows})")
            }
            MemberCondition::Property(filter) => property_condition(self, filter),
            MemberCondition::Any(each) => {
                let each: Vec<String> =
                    each.iter().filter_map(|condition| self.condition(condition)).collect();
                format!("({})", each.join(" OR "))
            }
            MemberCondition::Not(condition) => format!("NOT ({})", self.condition(condition)?),
            MemberCondition::Never => "FALSE".to_owned(),
            MemberCondition::Distance(..) => return None,
        })
    }

    /// Returns the conditions on the distances from vectors.
    pub fn distances(
        &mut self,
        search: &MemberSearch,
        includes: impl Fn(&MemberDistance) -> bool,
    ) -> Vec<String> {
        let mut filters = Vec::new();
        for condition in &search.conditions {
            let MemberCondition::Distance(distance, bound) = condition else { continue };
            if !includes(distance) {
                continue;
            }
            let Some(distance) = self.comparable(distance) else {
                filters.push("FALSE".to_owned());
                continue;
            };
            filters.push(self.exists(&distance));
            if *bound != DistanceBound::Exists {
                let score = self.score(&distance);
                filters.extend(self.bound(*bound, &score));
            }
        }
        filters
    }

    /// Returns the conditions on the distance that is the score.
    pub(crate) fn cutoffs(
        &mut self,
        search: &MemberSearch,
        ranking: &MemberDistance,
    ) -> Vec<String> {
        let mut cutoffs = Vec::new();
        for condition in &search.conditions {
            if let MemberCondition::Distance(distance, bound) = condition
                && distance == ranking
            {
                cutoffs.extend(self.bound(*bound, "score"));
            }
        }
        cutoffs
    }

    /// Returns a table `captions` of the pictures whose captions match, with their scores.
    pub fn caption_scores_table(&mut self, scores: &[(i64, f32)]) -> String {
        let rows = self.numbers(scores.iter().map(|(row, _)| row), "bigint");
        let scores = self.numbers(scores.iter().map(|(_, score)| score), "real");
        format!("unnest({rows}, {scores}) AS captions(picture, score)")
    }

    /// Returns the part of a query with which members can be compared, or `None` if there is none.
    pub fn comparable(&self, distance: &MemberDistance) -> Option<MemberDistance> {
        let query = self.comparable_query(&distance.query);
        // Without vectors to compare, members can still be found by their names.
        let query = if distance.names.is_empty() { query? } else { query.unwrap_or(NO_VECTOR) };
        Some(MemberDistance { query, ..distance.clone() })
    }

    fn comparable_query(&self, query: &DistanceQuery) -> Option<DistanceQuery> {
        let single = |query: &VectorQuery| {
            self.has_distance(query).then(|| DistanceQuery::Single(query.clone()))
        };
        match query {
            DistanceQuery::Single(query) => single(query),
            DistanceQuery::Merged { builtin, model, rule } => {
                match (single(builtin), single(model)) {
                    (Some(_), Some(_)) => Some(query.clone()),
                    (Some(builtin), None) => Some(builtin),
                    // The query stays merged, so that distances of the model keep their range among the merged scores.
                    (None, Some(_)) if *rule == MergeRule::BuiltinFirst => Some(query.clone()),
                    (None, _) => None,
                }
            }
        }
    }

    /// Whether the table has vectors to compare with the query. Vectors of different dimensions have no distance.
    pub(crate) fn has_distance(&self, query: &VectorQuery) -> bool {
        let dimension = self.table.dimensions.of(query.of);
        !query.vector.is_empty() && query.vector.len() == dimension
    }

    /// Returns the condition that a member has a distance: a vector of the query, or a name.
    pub fn exists(&mut self, distance: &MemberDistance) -> String {
        let vectors = match &distance.query {
            DistanceQuery::Single(query) => vec![query],
            DistanceQuery::Merged { builtin, rule: MergeRule::Weighted, .. } => vec![builtin],
            DistanceQuery::Merged { builtin, model, rule: MergeRule::BuiltinFirst } => {
                vec![builtin, model]
            }
        };
        let vectors = vectors.into_iter().filter(|query| self.has_distance(query));
        let mut each: Vec<String> = vectors.map(has_vector).collect();
        if !distance.names.is_empty() {
            each.push(self.is_named(distance));
        }
        format!("({})", each.join(" OR "))
    }

    /// Returns the condition that a member is found by its name.
    pub fn is_named(&mut self, distance: &MemberDistance) -> String {
        let rows = self.numbers(distance.names.iter().map(|(row, _)| row), "bigint");
        format!("t.picture = ANY ({rows})")
    }

    /// Returns the number that `by_picture` has for the picture of a member, or null. A JSON object is searched in
    /// logarithmic time, so that no join is needed.
    fn number_of_picture(&mut self, by_picture: &[(i64, f32)]) -> String {
        let numbers = by_picture.iter().map(|(row, number)| (row.to_string(), json!(number)));
        let object = self.value(numbers.collect::<Value>().to_string());
        format!("CAST(CAST(CAST({object} AS text) AS jsonb) ->> CAST(t.picture AS text) AS real)")
    }

    /// Returns the score of a member. The query must be comparable.
    pub fn score(&mut self, distance: &MemberDistance) -> String {
        let mut score = match &distance.query {
            DistanceQuery::Single(query) => self.distance_or_null(query),
            DistanceQuery::Merged { builtin, model, rule } => {
                let (builtin, model) =
                    (self.distance_or_null(builtin), self.distance_or_null(model));
                merged_score(*rule, &builtin, &model)
            }
        };
        if !distance.factors.is_empty() {
            let factor = self.number_of_picture(&distance.factors);
            score = format!("CAST({score} * coalesce({factor}, 1) AS real)");
        }
        // `least` ignores null values.
        if !distance.names.is_empty() {
            score = format!("least({score}, {})", self.number_of_picture(&distance.names));
        }
        if distance.copies.is_empty() {
            return score;
        }
        let known: Vec<String> = (distance.copies.iter())
            .map(|(row, score)| format!("WHEN {row} THEN CAST({score} AS real)"))
            .collect();
        format!("least({score}, CASE t.media {} END)", known.join(" "))
    }

    fn distance_or_null(&mut self, query: &VectorQuery) -> String {
        if !self.has_distance(query) {
            return "CAST(NULL AS real)".to_owned();
        }
        let vector = self.value(encode_f16(&query.vector));
        let distance = Self::distance(&self.product_with(query, &vector));
        let (schema, column) = (&self.table.vector_schema, column_of(query.of));
        // `greatest` ignores null values, so a missing vector needs a `CASE`. Equal vectors have the distance 0, which
        // the product only approximates.
        format!(
            "CASE WHEN t.{column} OPERATOR({schema}.=) {vector} THEN CAST(0 AS real)
                  WHEN {} THEN {distance} END",
            has_vector(query)
        )
    }

    /// Returns the vectors whose nearest members include the best results of a comparable query.
    pub fn candidates<'q>(&self, query: &'q DistanceQuery) -> Vec<&'q VectorQuery> {
        let candidates = query.candidates().into_iter();
        candidates.filter(|query| self.has_distance(query)).collect()
    }

    /// Returns the negative scalar product, by which the index orders. The operator `<=>` would divide by the lengths,
    /// which are one, and round.
    pub fn product(&mut self, query: &VectorQuery) -> String {
        let vector = self.value(encode_f16(&query.vector));
        self.product_with(query, &vector)
    }

    fn product_with(&self, query: &VectorQuery, vector: &str) -> String {
        let schema = &self.table.vector_schema;
        format!("t.{} OPERATOR({schema}.<#>) {vector}", column_of(query.of))
    }

    /// Converts a product to a distance. Rounding can make the distance of equal vectors slightly negative, so it is at
    /// least 0.
    fn distance(product: &str) -> String {
        format!("CAST(greatest(1 + ({product}), 0) AS real)")
    }

    fn bound(&mut self, bound: DistanceBound, distance: &str) -> Option<String> {
        let distance = format!("CAST({distance} AS double precision)");
        Some(match bound {
            DistanceBound::Exists => return None,
            DistanceBound::Below(bound) => format!("{distance} < {}", self.value(bound)),
            DistanceBound::SimilarityFrom(bound) => {
                format!("1 - {distance} >= {}", self.value(bound))
            }
        })
    }

    fn labels(&mut self, rule: LabelRule, labels: &[String]) -> String {
        let any = |conditions: &mut Self| {
            let each = labels.iter().map(|label| conditions.contains("labels", label));
            format!("({})", each.collect::<Vec<_>>().join(" OR "))
        };
        match rule {
            LabelRule::OneOf => any(self),
            LabelRule::NotOneOf => format!("NOT {}", any(self)),
            LabelRule::Is => self.contains_all("labels", labels.iter().cloned()),
            LabelRule::IsNot => {
                format!("NOT {}", self.contains_all("labels", labels.iter().cloned()))
            }
        }
    }

    fn contains_all(&mut self, column: &str, names: impl Iterator<Item = String>) -> String {
        let each = names.map(|name| self.contains(column, &name)).collect::<Vec<_>>();
        format!("({})", each.join(" AND "))
    }

    fn contains(&mut self, column: &str, name: &str) -> String {
        let list = self.value(json_names([name]));
        format!("t.{column} @> CAST(CAST({list} AS text) AS jsonb)")
    }

    fn issue(&mut self, range: &IssueRange) -> String {
        let (min, max) = (self.value(range.min), self.value(range.max));
        let negation = if range.within { "" } else { "NOT " };
        let column = issue_column(range.kind);
        format!("CAST(t.{column} AS double precision) {negation}BETWEEN {min} AND {max}")
    }

    fn numbers<T: ToString>(&mut self, numbers: impl Iterator<Item = T>, kind: &str) -> String {
        let list = numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        let list = self.value(list);
        format!("CAST(string_to_array(CAST({list} AS text), ',') AS {kind}[])")
    }
}

pub(super) fn has_vector(query: &VectorQuery) -> String {
    format!("t.{} IS NOT NULL", column_of(query.of))
}

/// Writes [`MergeRule::score`] for two SQL expressions, which are null if vectors are missing.
fn merged_score(rule: MergeRule, builtin: &str, model: &str) -> String {
    let score = match rule {
        MergeRule::Weighted => {
            let rest = 1.0 - MODEL_SHARE;
            format!("coalesce({MODEL_SHARE} * ({model}) + {rest} * ({builtin}), {builtin})")
        }
        MergeRule::BuiltinFirst => format!(
            "CASE WHEN {builtin} < {CAPTION_LIMIT} THEN {builtin}
                  ELSE coalesce({CAPTION_LIMIT} + {MODEL_SCALE} * ({model}), {builtin}) END"
        ),
    };
    format!("CAST({score} AS real)")
}

/// Returns the name of the column with a vector.
pub(super) fn column_of(vector: MemberVector) -> &'static str {
    match vector {
        MemberVector::Descriptor => "descriptor",
        MemberVector::Text => "text_vector",
        MemberVector::Model => "model_vector",
    }
}

/// Writes names as JSON that PostgreSQL can read. NUL is replaced, because PostgreSQL's texts cannot contain it.
pub(super) fn json_names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names = names.into_iter().map(|name| name.replace('\0', "\u{fffd}"));
    names.collect::<Value>().to_string()
}

pub(super) fn issue_column(kind: IssueKind) -> String {
    let position = IssueKind::ALL.iter().position(|other| *other == kind);
    format!("issue_{}", position.unwrap_or_default())
}
