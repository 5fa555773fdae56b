//! How the dates and sizes of media items are distributed: counts in ranges that follow one another, in their order.

use std::collections::BTreeMap;

use time::{Date, macros::format_description};

use crate::{
    Filter,
    vql::{ColumnValue, FileProperty, InvalidField, Operator, Property},
};

/// The number of days up to which a timeline has a bar for each day, and up to which it has one for each month.
const MAX_DAYS: i64 = 60;
const MAX_DAYS_OF_MONTHS: i64 = 60 * 31;
/// The number of bars from which bars without media items are omitted.
const MAX_BARS_WITH_GAPS: i32 = 200;

/// How many media items have a property in each of some ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    pub property: FileProperty,
    pub bars: Vec<DistributionBar>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DistributionBar {
    /// The first and the last value of the range. Both are the same for a period of time.
    pub from: ColumnValue,
    pub to: ColumnValue,
    pub count: u64,
}

impl Distribution {
    /// Counts dates like `2024-05-17` by day, month or year, whichever fits their range. Other texts are not counted.
    pub fn of_days<'a>(days: impl Iterator<Item = (&'a str, u64)>) -> Self {
        let format = format_description!("[year]-[month]-[day]");
        let mut counts: BTreeMap<Date, u64> = BTreeMap::new();
        for (day, count) in days.filter_map(|(day, it)| Some((Date::parse(day, &format).ok()?, it)))
        {
            *counts.entry(day).or_default() += count;
        }
        let range = counts.first_key_value().zip(counts.last_key_value());
        let days = range.map_or(0, |((first, _), (last, _))| (*last - *first).whole_days());
        let periods = [(MAX_DAYS, PeriodUnit::Day), (MAX_DAYS_OF_MONTHS, PeriodUnit::Month)];
        let fitting = periods.into_iter().find(|(most, _)| days < *most);
        let period = fitting.map_or(PeriodUnit::Year, |(_, period)| period);
        let mut bars: BTreeMap<i32, u64> = BTreeMap::new();
        for (day, count) in counts {
            *bars.entry(period.number(day)).or_default() += count;
        }
        if let Some(((&first, _), (&last, _))) = bars.first_key_value().zip(bars.last_key_value())
            && last - first < MAX_BARS_WITH_GAPS
        {
            for number in first..=last {
                bars.entry(number).or_default();
            }
        }
        let bar = |(number, count)| {
            let name = ColumnValue::Text(period.name(number));
            DistributionBar { from: name.clone(), to: name, count }
        };
        Self { property: FileProperty::Date, bars: bars.into_iter().map(bar).collect() }
    }

    /// Counts numbers in ranges that begin at powers of two.
    #[expect(clippy::cast_precision_loss, reason = "sizes of files and pictures")]
    pub fn of_numbers(property: FileProperty, numbers: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for (number, count) in numbers {
            *counts.entry(number.max(1).ilog2()).or_default() += count;
        }
        let exponents = counts.keys().next().copied().zip(counts.keys().next_back().copied());
        let exponents = exponents.into_iter().flat_map(|(first, last)| first..=last);
        let bar = |exponent: u32| DistributionBar {
            from: ColumnValue::Number((1_u64 << exponent) as f64),
            to: ColumnValue::Number(((1_u128 << (exponent + 1)) - 1) as f64),
            count: counts.get(&exponent).copied().unwrap_or(0),
        };
        Self { property, bars: exponents.map(bar).collect() }
    }
}

/// The length of time of a bar of a timeline.
#[derive(Clone, Copy)]
enum PeriodUnit {
    Day,
    Month,
    Year,
}

impl PeriodUnit {
    /// Returns the number of the period of a day. The next period has the next number.
    fn number(self, day: Date) -> i32 {
        match self {
            Self::Day => day.to_julian_day(),
            Self::Month => 12 * day.year() + i32::from(u8::from(day.month())) - 1,
            Self::Year => day.year(),
        }
    }

    /// Returns a text like `2024-05-17`, `2024-05` or `2024`.
    fn name(self, number: i32) -> String {
        match self {
            Self::Day => {
                Date::from_julian_day(number).map_or_else(|_| String::new(), |day| day.to_string())
            }
            Self::Month => {
                format!("{:04}-{:02}", number.div_euclid(12), number.rem_euclid(12) + 1)
            }
            Self::Year => format!("{number:04}"),
        }
    }
}

impl DistributionBar {
    /// Returns the filters that find the media items of the bar, or all others.
    pub fn filters(
        &self,
        property: FileProperty,
        excludes: bool,
    ) -> Result<Vec<Filter>, InvalidField> {
        let filter = |operator, value: &ColumnValue| {
            Filter::property(Property::File(property), operator, std::slice::from_ref(value))
        };
        let filters = if self.from == self.to {
            vec![filter(Operator::Is, &self.from)?]
        } else {
            vec![filter(Operator::AtLeast, &self.from)?, filter(Operator::AtMost, &self.to)?]
        };
        if !excludes {
            return Ok(filters);
        }
        let negated: Vec<Filter> =
            filters.into_iter().map(Filter::negated).collect::<Result<_, _>>()?;
        match <[Filter; 1]>::try_from(negated) {
            Ok(single) => Ok(single.into()),
            Err(several) => Ok(vec![Filter::any_of(several)?]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn periods(days: &[&str]) -> Vec<(String, u64)> {
        let distribution = Distribution::of_days(days.iter().map(|day| (*day, 2)));
        distribution.bars.iter().map(|bar| (bar.from.to_string(), bar.count)).collect()
    }

    #[test]
    fn a_timeline_has_days_months_or_years() {
        let bar = |period: &str, count| (period.to_owned(), count);
        let days = ["2024-02-28", "2024-03-01", "2024-03-01", "no day"];
        let expected = [bar("2024-02-28", 2), bar("2024-02-29", 0), bar("2024-03-01", 4)];
        assert_eq!(periods(&days), expected);
        assert_eq!(periods(&["2023-11-30", "2024-03-01"]).len(), 5);
        assert_eq!(periods(&["2023-11-30", "2024-03-01"])[0], bar("2023-11", 2));
        assert_eq!(periods(&["1999-01-01", "2024-03-01"]).len(), 26);
        assert_eq!(periods(&["0001-01-01", "2024-03-01"]), [bar("0001", 2), bar("2024", 2)]);
        assert_eq!(periods(&[]), []);
    }

    #[test]
    fn numbers_are_counted_between_powers_of_two() {
        let numbers = [(0, 1), (640, 3), (1023, 1), (4096, 2)].into_iter();
        let widths = Distribution::of_numbers(FileProperty::Width, numbers);
        assert_eq!(widths.bars.len(), 13);
        let bar = &widths.bars[9];
        assert_eq!(
            (&bar.from, &bar.to, bar.count),
            (&ColumnValue::Number(512.0), &ColumnValue::Number(1023.0), 4)
        );
        assert!(Distribution::of_numbers(FileProperty::Width, [].into_iter()).bars.is_empty());
    }

    #[test]
    fn a_bar_is_found_or_excluded_by_filters() {
        let sizes = Distribution::of_numbers(FileProperty::Size, [(700, 1)].into_iter());
        let included = sizes.bars[0].filters(FileProperty::Size, false).unwrap();
        assert_eq!(included.len(), 2);
        let excluded = sizes.bars[0].filters(FileProperty::Size, true).unwrap();
        assert!(matches!(excluded[..], [Filter::AnyOf(_)]), "{excluded:?}");
        let days = Distribution::of_days([("2024-05-17", 1)].into_iter());
        let excluded = days.bars[0].filters(FileProperty::Date, true).unwrap();
        assert!(matches!(excluded[..], [Filter::Not(_)]), "{excluded:?}");
    }
}
