//! Filters by what a file is: its path, size, format and date, and columns of the user's own. The local deployment adds
//! these filters to the query language of the API document.

use super::{
    InvalidField, PathPattern, ValueList,
    column::{ColumnName, ColumnValue, ItemValue},
    period::Period,
    values::{Number, non_blank, non_empty},
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
    pub fn matches(&self, item: Option<ItemValue<'_>>) -> bool {
        let any = |test: fn(&PropertyValue, ItemValue<'_>) -> bool| {
            item.is_some_and(|item| self.values().iter().any(|value| test(value, item)))
        };
        match self.operator {
            Operator::Is | Operator::OneOf => any(PropertyValue::equals),
            Operator::IsNot | Operator::NotOneOf => !any(PropertyValue::equals),
            Operator::Contains => any(PropertyValue::is_in),
            Operator::AtLeast => any(PropertyValue::item_is_at_least),
            Operator::AtMost => any(PropertyValue::item_is_at_most),
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

    fn item_is_at_least(&self, item: ItemValue<'_>) -> bool {
        match (self, item) {
            (Self::Number(number), ItemValue::Number(item)) => item >= number.value(),
            (Self::Date(date), ItemValue::Date(item)) => item >= date.start,
            _ => false,
        }
    }

    fn item_is_at_most(&self, item: ItemValue<'_>) -> bool {
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
