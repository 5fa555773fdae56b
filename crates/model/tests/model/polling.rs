use std::time::Duration;

use tessera_model::polling::*;

#[test]
fn intervals_by_state_age_and_failures() {
    let usual = PollingIntervals::default();
    let secs = |watch, failures| usual.interval(watch, failures).as_secs();
    assert_eq!(secs(PollTarget::IdleDatasets, 0), 15);
    assert_eq!(secs(PollTarget::BusyDatasets, 0), 1);
    assert_eq!(secs(PollTarget::Export(Duration::ZERO), 0), 1);
    assert_eq!(secs(PollTarget::Export(Duration::from_secs(40)), 0), 5);
    assert_eq!(secs(PollTarget::Export(Duration::from_secs(4_000)), 0), 15);
    let failing: Vec<u64> = (1..8).map(|n| secs(PollTarget::BusyDatasets, n)).collect();
    assert_eq!(failing, [2, 4, 8, 16, 30, 30, 30]);
}

#[test]
fn intervals_follow_the_settings_and_grow_without_focus() {
    let seconds = Duration::from_secs;
    let intervals = PollingIntervals { min: seconds(5), max: seconds(60), unfocused: seconds(90) };
    assert_eq!(intervals.interval(PollTarget::BusyDatasets, 0), seconds(5));
    assert_eq!(intervals.interval(PollTarget::Export(seconds(8)), 0), seconds(5));
    assert_eq!(intervals.interval(PollTarget::Export(seconds(4_000)), 0), seconds(60));
    assert_eq!(intervals.unfocused_interval(seconds(5)), seconds(15));
    assert_eq!(intervals.unfocused_interval(seconds(60)), seconds(90));
    assert_eq!(intervals.unfocused_interval(seconds(120)), seconds(120));
}
