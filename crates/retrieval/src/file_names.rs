//! The index of the words of folders and file names: which pictures have a word in their path.

use crate::{
    caption_index::{CaptionIndex, CaptionIndexBuilder},
    member_columns::MemberColumns,
};
use tessera_search::text::{
    full_text_query::{FullTextQuery, TextExpression},
    language::Language,
    name_words::{NameQuery, name_words},
};

/// The index of captions also indexes names, which are short captions.
#[derive(Debug, Default)]
pub struct FileNames(pub CaptionIndex);

impl FileNames {
    /// Indexes the paths of the pictures that are members or contain members.
    pub fn new(members: &MemberColumns, language: Language) -> Self {
        let mut pictures: Vec<(i64, usize)> =
            members.picture_rows.iter().copied().zip(0..).collect();
        pictures.sort_unstable();
        pictures.dedup_by_key(|(row, _)| *row);
        let mut builder = CaptionIndexBuilder::new(language);
        let mut path = String::new();
        for (row, member) in pictures {
            members.properties.path(member, &mut path);
            builder.push(row, &name_words(&path));
        }
        Self(builder.finish())
    }

    /// Returns the rows of the pictures whose names contain enough words of a query, in increasing order, with their
    /// distances.
    pub fn find(&self, query: &NameQuery) -> Vec<(i64, f32)> {
        let rows_with = |word: &String| {
            let phrases = vec![word.clone()];
            let expression = TextExpression::Phrase(0);
            self.0.search(&FullTextQuery { phrases, expression, is_negated: false })
        };
        let mut rows: Vec<i64> =
            query.words.iter().flat_map(rows_with).map(|(row, _)| row).collect();
        rows.sort_unstable();
        let equal = rows.chunk_by(|one, other| one == other);
        equal.filter_map(|rows| Some((rows[0], query.distance(rows.len())?))).collect()
    }
}
