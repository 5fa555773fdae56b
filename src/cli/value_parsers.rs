//! Parsers for the values of options.

use std::{str::FromStr, time::Duration};

use tessera_model::Region;

/// Parses a polling interval. Too short an interval would burden the service.
pub fn parse_interval(raw: &str) -> Result<Duration, String> {
    let interval = humantime::parse_duration(raw).map_err(|error| error.to_string())?;
    if interval < Duration::from_millis(100) {
        return Err("the interval must be at least 100ms".to_owned());
    }
    Ok(interval)
}

pub fn parse_region(raw: &str) -> Result<Region, String> {
    let [x, y, width, height] = parse_four(raw)?;
    Region::new(x, y, width, height).ok_or_else(|| {
        "expected a non-empty area inside the picture: fractions from 0 to 1, with x + width and \
         y + height at most 1"
            .to_owned()
    })
}

pub fn parse_four<T: FromStr>(raw: &str) -> Result<[T; 4], String> {
    let numbers: Result<Vec<T>, _> = raw.split(',').map(|number| number.trim().parse()).collect();
    let four = numbers.ok().and_then(|numbers| numbers.try_into().ok());
    four.ok_or_else(|| "expected four comma-separated numbers: x,y,width,height".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_a_duration_of_at_least_100_ms() {
        assert_eq!(parse_interval("2s"), Ok(Duration::from_secs(2)));
        assert!(parse_interval("1ms").unwrap_err().contains("100ms"));
        assert!(parse_interval("soon").is_err());
    }

    #[test]
    fn invalid_regions_are_rejected_with_the_expected_format() {
        assert_eq!(parse_region("0.1, 0.2,0.5,0.6"), Ok(Region::new(0.1, 0.2, 0.5, 0.6).unwrap()));
        for bad in ["NaN,0,1,1", "inf,0,1,1", "-0.1,0,1,1", "0.5,0,0.6,1", "0,0,0,1", "0,0,1,1.1"] {
            assert!(parse_region(bad).unwrap_err().contains("x + width"), "{bad}");
        }
        for bad in ["", "0,0,1", "0,0,1,1,1", "a,b,c,d", "0;0;1;1"] {
            assert!(parse_region(bad).unwrap_err().contains("x,y,width,height"), "{bad}");
        }
        assert_eq!(parse_four("120,80,640,480"), Ok([120, 80, 640, 480]));
        assert!(parse_four::<u32>("1.5,0,2,2").is_err() && parse_four::<u32>("-1,0,2,2").is_err());
    }
}
