//! The conditions of a search as SQL on a search table that is called `t`, with their values.

use super::{
    member_search::{
        DistanceBound, IssueRange, MemberCondition, MemberSearch, MemberVector, VectorQuery,
    },
    registry::SearchTable,
};
use crate::{
    index::DIMENSION,
    store::{columns::encode_f16, engine::ToSql},
};
use tessera_model::vql::{IssueKind, LabelRule};

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

    fn value(&mut self, value: impl ToSql + 'static) -> String {
        self.values.push(Box::new(value));
        format!("?{}", self.values.len())
    }

    /// All conditions but those on distances.
    pub fn filters(&mut self, search: &MemberSearch) -> Vec<String> {
        let mut filters = vec![format!("t.version <= {}", self.table.version)];
        for condition in &search.conditions {
            filters.push(match condition {
                MemberCondition::Labels(rule, labels) => self.labels(*rule, labels),
                MemberCondition::Tags(tags) => {
                    self.contains_all("tags", tags.iter().map(|tag| tag.0.to_string()))
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
                MemberCondition::Never => "FALSE".to_owned(),
                MemberCondition::Distance(..) => continue,
            });
        }
        filters
    }

    /// The conditions on the distances from some vectors.
    pub fn distances(
        &mut self,
        search: &MemberSearch,
        includes: impl Fn(&VectorQuery) -> bool,
    ) -> Vec<String> {
        let mut filters = Vec::new();
        for condition in &search.conditions {
            let MemberCondition::Distance(query, bound) = condition else { continue };
            if !includes(query) {
                continue;
            }
            if !self.has_distance(query) {
                filters.push("FALSE".to_owned());
                continue;
            }
            filters.push(format!("t.{} IS NOT NULL", query.of.column()));
            if *bound != DistanceBound::Exists {
                let distance = Self::distance(&self.product(query));
                filters.extend(self.bound(*bound, &distance));
            }
        }
        filters
    }

    /// The conditions on the distance that is the score.
    pub fn cutoffs(&mut self, search: &MemberSearch, ranking: &VectorQuery) -> Vec<String> {
        let mut cutoffs = Vec::new();
        for condition in &search.conditions {
            if let MemberCondition::Distance(query, bound) = condition
                && query == ranking
            {
                cutoffs.extend(self.bound(*bound, "score"));
            }
        }
        cutoffs
    }

    /// The pictures whose captions match, with their scores, as a table `captions`.
    pub fn captions(&mut self, scores: &[(i64, f32)]) -> String {
        let rows = self.numbers(scores.iter().map(|(row, _)| row), "bigint");
        let scores = self.numbers(scores.iter().map(|(_, score)| score), "real");
        format!("unnest({rows}, {scores}) AS captions(picture, score)")
    }

    /// Vectors of another dimension have no distance.
    pub fn has_distance(&self, query: &VectorQuery) -> bool {
        let dimension = match query.of {
            MemberVector::Descriptor => DIMENSION,
            MemberVector::Embedding => self.table.dimension,
        };
        !query.vector.is_empty() && query.vector.len() == dimension
    }

    /// The negative scalar product that the index orders by. `<=>` would divide by lengths that are one, and round.
    pub fn product(&mut self, query: &VectorQuery) -> String {
        let vector = self.value(encode_f16(&query.vector));
        let schema = &self.table.vector_schema;
        format!("t.{} OPERATOR({schema}.<#>) {vector}", query.of.column())
    }

    /// Rounding can make the distance of equal vectors slightly negative.
    pub fn distance(product: &str) -> String {
        format!("CAST(greatest(1 + ({product}), 0) AS real)")
    }

    fn bound(&mut self, bound: DistanceBound, distance: &str) -> Option<String> {
        let distance = format!("CAST({distance} AS double precision)");
        Some(match bound {
            DistanceBound::Exists => return None,
            DistanceBound::Below(bound) => format!("{distance} < {}", self.value(bound)),
            DistanceBound::AtMost(bound) => format!("{distance} <= {}", self.value(bound)),
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

/// Names as JSON that PostgreSQL reads: its texts cannot contain NUL.
pub(super) fn json_names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names = names.into_iter().map(|name| name.replace('\0', "\u{fffd}"));
    names.collect::<serde_json::Value>().to_string()
}

pub(super) fn issue_column(kind: IssueKind) -> String {
    let position = IssueKind::ALL.iter().position(|other| *other == kind);
    format!("issue_{}", position.unwrap_or_default())
}
