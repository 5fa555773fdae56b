use tessera_model::*;

#[test]
fn granularity_stays_between_0_and_4() {
    assert_eq!(Granularity::new(5), None);
    let coarsest = Granularity::new(4).unwrap();
    assert_eq!(coarsest.coarser(), coarsest);
    assert_eq!(Granularity::new(0).unwrap().finer().level(), 0);
}
