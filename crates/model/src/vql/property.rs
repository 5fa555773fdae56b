//! Filters by what a file is: its path, size, format and date, and columns of the user's own. The local deployment adds
//! these filters to the query language of the API document.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use time::{Date, Month, OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    InvalidField, PathPattern, ValueList,
    values::{non_blank, non_empty},
};
use crate::{
    keyword::keyword_enum,
    tag::MAX_RATING,
    text::{composed, search_form},
};

/// A condition on a property of a media item.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PropertyFilter {
    property: Property,
    operator: Operator,
    values: ValueList<PropertyValue>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Property {
    File(FileProperty),
    /// A column from a sidecar or a table.
    Column(ColumnName),
}

keyword_enum!(
    FileProperty {
        /// The path relative to the folder of the dataset.
        Path = "path",
        Name = "name",
        /// In bytes.
        Size = "size",
        /// In pixels. For an object, this is the width of its region.
        Width = "width",
        Height = "height",
        /// The width divided by the height.
        Aspect = "aspect",
        Format = "format",
        /// When the picture was taken, or else when its file was changed.
        Date = "date",
        /// What a user has given to the media item, 1 to 5.
        Rating = "rating",
    }
);

keyword_enum!(
    Operator {
        Is = "is",
        IsNot = "is_not",
        OneOf = "one_of",
        NotOneOf = "not_one_of",
        Contains = "contains",
        AtLeast = "at_least",
        AtMost = "at_most",
    }
);

impl Operator {
    pub fn takes_list(self) -> bool {
        matches!(self, Self::OneOf | Self::NotOneOf)
    }

    /// Whether the operator keeps the items that do not equal a value, including items without any value.
    pub fn is_negated(self) -> bool {
        matches!(self, Self::IsNot | Self::NotOneOf)
    }
}

const EQUALITY: [Operator; 4] =
    [Operator::Is, Operator::IsNot, Operator::OneOf, Operator::NotOneOf];

impl FileProperty {
    pub fn operators(self) -> Vec<Operator> {
        let further: &[Operator] = match self {
            Self::Path | Self::Name => &[Operator::Contains],
            Self::Format => &[],
            _ => &[Operator::AtLeast, Operator::AtMost],
        };
        EQUALITY.iter().chain(further).copied().collect()
    }

    /// Whether the values are numbers.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Size | Self::Width | Self::Height | Self::Aspect | Self::Rating)
    }
}

impl Property {
    /// Returns the key on the wire.
    pub fn keyword(&self) -> &'static str {
        match self {
            Self::File(property) => property.as_str(),
            Self::Column(_) => "column",
        }
    }

    pub fn operators(&self) -> Vec<Operator> {
        match self {
            Self::File(property) => property.operators(),
            Self::Column(_) => Operator::ALL.to_vec(),
        }
    }

    /// Reads a value as users type it: a text or a number if the property has only such values. A number of a file is
    /// never a code, so it may begin with a zero or a plus sign.
    pub fn from_typed(&self, typed: &str) -> ColumnValue {
        match self {
            Self::File(property) if property.is_number() => match typed.trim().parse() {
                Ok(number) => ColumnValue::Number(number),
                Err(_) => ColumnValue::Text(typed.to_owned()),
            },
            Self::File(_) => ColumnValue::Text(typed.to_owned()),
            Self::Column(_) => ColumnValue::from_typed(typed),
        }
    }

    fn value(&self, operator: Operator, raw: &ColumnValue) -> Result<PropertyValue, InvalidField> {
        use FileProperty::{Aspect, Date, Format, Height, Name, Path, Rating, Size, Width};
        let text = || match raw {
            ColumnValue::Text(text) => non_empty(&composed(text), PathPattern::MAX_CHARS, "a text"),
            _ => Err(InvalidField::new("value", "must be a text")),
        };
        match self {
            _ if operator == Operator::Contains => text().map(PropertyValue::Text),
            Self::File(Path | Name) => PathPattern::new(&text()?).map(PropertyValue::Pattern),
            Self::File(Format) => Ok(PropertyValue::Text(format_name(text()?.trim()))),
            Self::File(Date) => {
                let reason = "must be a date like 2024, 2024-05, 2024-05-17 or 2024-05-17T10:20:30";
                let date = Period::parse(&text()?);
                date.map(PropertyValue::Date).ok_or_else(|| InvalidField::new("value", reason))
            }
            Self::File(Size | Width | Height | Aspect | Rating) => {
                let number =
                    raw.number().ok_or_else(|| InvalidField::new("value", "must be a number"))?;
                let is_rating =
                    || number.fract() == 0.0 && (1.0..=f64::from(MAX_RATING)).contains(&number);
                if *self == Self::File(Rating) && !is_rating() {
                    let reason = format!("must be a rating from 1 to {MAX_RATING}");
                    return Err(InvalidField::new("value", reason));
                }
                Number::new(number).map(PropertyValue::Number)
            }
            Self::Column(_) => column_value(operator, raw),
        }
    }
}

fn column_value(operator: Operator, raw: &ColumnValue) -> Result<PropertyValue, InvalidField> {
    let orders = matches!(operator, Operator::AtLeast | Operator::AtMost);
    if orders && let Some(number) = raw.number() {
        return Number::new(number).map(PropertyValue::Number);
    }
    match raw {
        ColumnValue::Number(number) => Number::new(*number).map(PropertyValue::Number),
        ColumnValue::Text(text) => match Period::parse_exact(text) {
            Some(date) => Ok(PropertyValue::Date(date)),
            None if orders => {
                Err(InvalidField::new("value", "must be a number, or a date like 2024-05-17"))
            }
            None => non_blank(&composed(text), ColumnValue::MAX_CHARS, "a text")
                .map(PropertyValue::Text),
        },
        ColumnValue::Flag(_) if orders => {
            Err(InvalidField::new("value", "must be a number, or a date like 2024-05-17"))
        }
        ColumnValue::Flag(flag) => Ok(PropertyValue::Flag(*flag)),
    }
}

/// Returns the format of a file by its name: `jpeg` for `a.JPG`, and an empty text for a name without an extension.
pub fn format_of_file(name: &str) -> String {
    name.rsplit_once('.').map(|(_, extension)| format_name(extension)).unwrap_or_default()
}

fn format_name(extension: &str) -> String {
    let extension = extension.to_ascii_lowercase();
    match extension.as_str() {
        "jpg" | "jpe" | "jfif" => "jpeg".to_owned(),
        "tif" => "tiff".to_owned(),
        "heif" => "heic".to_owned(),
        _ => extension,
    }
}

impl PropertyFilter {
    /// Creates a filter. Operators that take no list have exactly one value.
    pub fn new(
        property: Property,
        operator: Operator,
        values: &[ColumnValue],
    ) -> Result<Self, InvalidField> {
        let operators = property.operators();
        if !operators.contains(&operator) {
            let names: Vec<&str> = operators.iter().map(|operator| operator.as_str()).collect();
            return Err(InvalidField::new("op", format!("must be one of {}", names.join(", "))));
        }
        if !operator.takes_list() && values.len() != 1 {
            return Err(InvalidField::new("value", "must be a single value"));
        }
        let values: Result<_, _> =
            values.iter().map(|value| property.value(operator, value)).collect();
        Ok(Self { values: ValueList::new(values?)?, property, operator })
    }

    pub fn property(&self) -> &Property {
        &self.property
    }

    pub fn operator(&self) -> Operator {
        self.operator
    }

    pub fn values(&self) -> &[PropertyValue] {
        self.values.as_slice()
    }

    /// Whether an item with this value matches. Patterns are not compared here.
    pub fn holds(&self, item: Option<ItemValue<'_>>) -> bool {
        let any = |test: fn(&PropertyValue, ItemValue<'_>) -> bool| {
            item.is_some_and(|item| self.values().iter().any(|value| test(value, item)))
        };
        match self.operator {
            Operator::Is | Operator::OneOf => any(PropertyValue::equals),
            Operator::IsNot | Operator::NotOneOf => !any(PropertyValue::equals),
            Operator::Contains => any(PropertyValue::is_in),
            Operator::AtLeast => any(PropertyValue::is_at_most),
            Operator::AtMost => any(PropertyValue::is_at_least),
        }
    }
}

/// A value of a filter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PropertyValue {
    Pattern(PathPattern),
    Text(String),
    Number(Number),
    Date(Period),
    Flag(bool),
}

/// A value of a media item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ItemValue<'a> {
    Text(&'a str),
    Number(f64),
    /// In milliseconds since 1970.
    Date(i64),
    Flag(bool),
}

impl PropertyValue {
    fn equals(&self, item: ItemValue<'_>) -> bool {
        match (self, item) {
            (Self::Text(text), ItemValue::Text(item)) => text == item,
            (Self::Number(number), ItemValue::Number(item)) => {
                number.value().total_cmp(&(item + 0.0)).is_eq()
            }
            (Self::Date(date), ItemValue::Date(item)) => (date.start..date.end).contains(&item),
            (Self::Flag(flag), ItemValue::Flag(item)) => *flag == item,
            _ => false,
        }
    }

    /// Returns whether the item contains the text, ignoring case.
    fn is_in(&self, item: ItemValue<'_>) -> bool {
        let (Self::Text(text), ItemValue::Text(item)) = (self, item) else { return false };
        search_form(item).contains(&search_form(text))
    }

    fn is_at_most(&self, item: ItemValue<'_>) -> bool {
        match (self, item) {
            (Self::Number(number), ItemValue::Number(item)) => item >= number.value(),
            (Self::Date(date), ItemValue::Date(item)) => item >= date.start,
            _ => false,
        }
    }

    fn is_at_least(&self, item: ItemValue<'_>) -> bool {
        match (self, item) {
            (Self::Number(number), ItemValue::Number(item)) => item <= number.value(),
            (Self::Date(date), ItemValue::Date(item)) => item < date.end,
            _ => false,
        }
    }

    /// Returns the value as it is written.
    pub fn to_scalar(&self) -> ColumnValue {
        match self {
            Self::Pattern(pattern) => ColumnValue::Text(pattern.as_str().to_owned()),
            Self::Text(text) => ColumnValue::Text(text.clone()),
            Self::Number(number) => ColumnValue::Number(number.value()),
            Self::Date(date) => ColumnValue::Text(date.as_str().to_owned()),
            Self::Flag(flag) => ColumnValue::Flag(*flag),
        }
    }
}

/// A finite number, which is stored as an integer that sorts like the number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Number(i64);

impl Number {
    pub fn new(value: f64) -> Result<Self, InvalidField> {
        if !value.is_finite() {
            return Err(InvalidField::new("value", "must be a finite number"));
        }
        // Adding 0.0 turns -0.0, which has different bits, into 0.0.
        Ok(Self(flip_negative((value + 0.0).to_bits().cast_signed())))
    }

    pub fn value(self) -> f64 {
        f64::from_bits(flip_negative(self.0).cast_unsigned())
    }
}

/// Flips the bits of negative numbers except the sign, because larger bits are smaller negative numbers.
fn flip_negative(bits: i64) -> i64 {
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

/// The name of a column of the user's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ColumnName(String);

impl ColumnName {
    pub const MAX_CHARS: usize = 64;

    pub fn new(raw: &str) -> Result<Self, InvalidField> {
        let name = non_blank(&composed(raw), Self::MAX_CHARS, "a column name");
        name.map(Self).map_err(|invalid| InvalidField { field: "name", ..invalid })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The values of a media item, by the names of their columns.
pub type ExtraColumns = BTreeMap<String, ColumnValue>;

/// A value in a column of the user's own. A text that is a day or a time counts as a date.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ColumnValue {
    Flag(bool),
    Number(f64),
    Text(String),
}

impl ColumnValue {
    pub const MAX_CHARS: usize = 1_000;

    /// The largest integer up to which a floating-point number is exact.
    const MAX_EXACT: u64 = 1 << 53;

    /// Whether a number keeps all its digits. A large whole number would lose some, so it stays a text.
    pub fn is_exact(number: &str) -> bool {
        let digits = number.trim_start_matches('-');
        !digits.bytes().all(|byte| byte.is_ascii_digit())
            || digits.parse::<u64>().is_ok_and(|number| number <= Self::MAX_EXACT)
    }

    /// Returns the number to compare by size, even if it is a text because it would lose digits.
    fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) if !Self::is_exact(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Reads a value as users type it, like a cell of a table of texts. A text in quotes stays a text.
    pub fn from_typed(typed: &str) -> Self {
        let typed = typed.trim();
        match typed.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::from_cell(typed),
        }
    }

    /// Reads a cell of a table of texts: a number, `true`, `false`, or a text. A number that is not exact stays a text,
    /// and so does one that begins with a zero or a plus sign, such as a postal code or a phone number.
    pub fn from_cell(cell: &str) -> Self {
        let digits = cell.trim_start_matches('-');
        let is_code =
            digits.starts_with('0') && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        let starts_like_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        match (cell, cell.parse::<f64>()) {
            ("true" | "True" | "TRUE", _) => Self::Flag(true),
            ("false" | "False" | "FALSE", _) => Self::Flag(false),
            (_, Ok(number))
                if starts_like_number && !is_code && Self::is_exact(cell) && number.is_finite() =>
            {
                Self::Number(number)
            }
            _ => Self::Text(cell.to_owned()),
        }
    }

    /// Writes the value so that [`Self::from_typed`] reads it again.
    pub fn to_typed(&self) -> String {
        match self {
            Self::Text(text) if Self::from_typed(text) != *self => format!("\"{text}\""),
            value => value.to_string(),
        }
    }

    pub fn item(&self) -> ItemValue<'_> {
        match self {
            Self::Flag(flag) => ItemValue::Flag(*flag),
            Self::Number(number) => ItemValue::Number(*number),
            Self::Text(text) => match Period::parse_exact(text) {
                Some(date) => ItemValue::Date(date.start),
                None => ItemValue::Text(text),
            },
        }
    }

    /// Returns the start of a day or a time in microseconds since 1970, which is more exact than [`Self::item`].
    pub fn microseconds(&self) -> Option<i64> {
        let Self::Text(text) = self else { return None };
        let (start, _) = Period::parse_day_or_time(text.trim())?;
        i64::try_from(start.unix_timestamp_nanos().div_euclid(1_000)).ok()
    }
}

impl fmt::Display for ColumnValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            // A number may have hundreds of digits, of which only the first 17 are significant.
            Self::Number(number) if is_long(*number) => write!(f, "{number:e}"),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "this limit is exact")]
fn is_long(number: f64) -> bool {
    number != 0.0 && !(1e-7..=ColumnValue::MAX_EXACT as f64).contains(&number.abs())
}

// Points in time as users write them: a year, a month, a day or a second, which is a period with a start and an end.

/// The milliseconds of a day.
const DAY: i64 = 86_400_000;

/// A year, a month, a day, a minute, a second or a fraction of a second, in UTC if no offset is given.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Period {
    /// The first millisecond since 1970.
    pub start: i64,
    /// The first millisecond after the period.
    pub end: i64,
    text: String,
}

impl Period {
    /// Parses `2024`, `2024-05`, `2024-05-17`, `2024-05-17T10:20` or `2024-05-17T10:20:30.5+02:00`.
    pub fn parse(raw: &str) -> Option<Self> {
        let text = raw.trim();
        let (start, end) = match text.len() {
            4 => {
                let year = digits(text)?;
                (day(year, 1, 1)?, day(year, 12, 31)? + DAY)
            }
            7 => {
                let (year, month) = (digits(text.get(..4)?)?, month_of(text)?);
                let last = Month::try_from(month).ok()?.length(year);
                (day(year, month, 1)?, day(year, month, last)? + DAY)
            }
            _ => {
                let (start, length) = Self::parse_day_or_time(text)?;
                let start = milliseconds(start)?;
                (start, start + length)
            }
        };
        Some(Self { start, end, text: text.to_owned() })
    }

    /// Like [`Self::parse`], but takes no text that could be a number or a month.
    pub fn parse_exact(raw: &str) -> Option<Self> {
        Self::parse(raw).filter(|period| period.text.len() > 7)
    }

    /// Returns the start of a day or a time, and its length in milliseconds.
    fn parse_day_or_time(text: &str) -> Option<(OffsetDateTime, i64)> {
        if text.len() == 10 {
            let number = text.get(8..).filter(|_| text.as_bytes()[7] == b'-').and_then(digits)?;
            let (year, month) = (digits(text.get(..4)?)?, month_of(text)?);
            return Some((midnight(year, month, u8::try_from(number).ok()?)?, DAY));
        }
        // Tables write `2024-05-17 10:20:30 +00:00`.
        let text = text.replacen(' ', "T", 1).replace(' ', "");
        let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
        // A fraction is as long as its last digit says: 0.5 is a tenth of a second.
        let length = match fraction.bytes().take_while(u8::is_ascii_digit).count() {
            0 => 1_000,
            1 => 100,
            2 => 10,
            _ => 1,
        };
        let candidates =
            [(text.clone(), length), (format!("{text}Z"), length), (format!("{text}:00Z"), 60_000)];
        candidates
            .iter()
            .find_map(|(text, length)| Some((OffsetDateTime::parse(text, &Rfc3339).ok()?, *length)))
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

fn digits(text: &str) -> Option<i32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Returns the month of a text like `2024-05`.
fn month_of(text: &str) -> Option<u8> {
    let month = text.get(5..7).filter(|_| text.as_bytes()[4] == b'-').and_then(digits)?;
    u8::try_from(month).ok()
}

/// Returns the first millisecond of a day. The end of a period is computed from its last day, because the day after
/// the year 9999 is no date.
fn day(year: i32, month: u8, day: u8) -> Option<i64> {
    milliseconds(midnight(year, month, day)?)
}

fn midnight(year: i32, month: u8, day: u8) -> Option<OffsetDateTime> {
    let date = Date::from_calendar_date(year, Month::try_from(month).ok()?, day).ok()?;
    Some(date.midnight().assume_utc())
}

fn milliseconds(at: OffsetDateTime) -> Option<i64> {
    i64::try_from(at.unix_timestamp_nanos().div_euclid(1_000_000)).ok()
}
