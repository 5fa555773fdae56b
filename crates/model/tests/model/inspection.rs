use tessera_model::{Inspection, export::NameSample};

#[test]
fn all_names_are_counted_and_the_first_200_kept() {
    let mut sample = NameSample::default();
    for number in 1..=Inspection::MAX_NAMED + 1 {
        sample.add(&format!("images/{number}.png"));
        let kept = number.min(200);
        assert_eq!((sample.count, sample.first.len()), (number as u64, kept));
    }
    assert_eq!(sample.first[0].as_str(), "images/1.png");
    assert_eq!(sample.first[199].as_str(), "images/200.png");
}

#[test]
fn names_of_an_archive_are_printable() {
    let mut sample = NameSample::default();
    sample.add("../\u{1b}[2J.png");
    assert_eq!(sample.first[0].as_str(), "../␛[2J.png");
}
