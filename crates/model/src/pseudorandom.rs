//! `SplitMix64`, a generator of pseudorandom numbers that are the same on every machine (Steele, Lea and Flood, "Fast
//! splittable pseudorandom number generators", 2014). The numbers are not fit for secrets.

/// The amount by which the state grows with each number.
pub const SPLITMIX64_INCREMENT: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the number that follows a state. The next state is the current state plus [`SPLITMIX64_INCREMENT`].
pub const fn splitmix64(state: u64) -> u64 {
    mix64(state.wrapping_add(SPLITMIX64_INCREMENT))
}

/// Maps a number to another one whose 64 bits all depend on the input. The mapping is one to one.
pub const fn mix64(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequences_are_the_published_ones() {
        let sequence = |seed: u64| {
            let states =
                (0..3).map(move |n| seed.wrapping_add(SPLITMIX64_INCREMENT.wrapping_mul(n)));
            states.map(splitmix64).collect::<Vec<_>>()
        };
        let of_zero = [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4, 0x06C4_5D18_8009_454F];
        assert_eq!(sequence(0), of_zero);
        let of_1234567 =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(sequence(1_234_567), of_1234567);
    }
}
