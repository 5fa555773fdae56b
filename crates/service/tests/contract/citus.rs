//! The script that distributes a store: its SQL fits the tables of a plain server. What Citus does with it is
//! not tested.

use crate::support::{Place, pictures};

const SCRIPT: &str = include_str!("../../../../docs/citus.sql");
/// In place of the function of Citus.
const STAND_IN: &str = "
    CREATE FUNCTION create_distributed_table(relation regclass, col text, colocate_with text DEFAULT '')
    RETURNS void LANGUAGE plpgsql AS $$ BEGIN
      ASSERT EXISTS (SELECT FROM pg_attribute WHERE attrelid = relation AND attname = col);
    END $$";
/// Tables with a row for each media item of the test.
const DISTRIBUTED: [&str; 2] = ["look", "thumbnail"];

#[tokio::test]
async fn distributed_rows_of_removed_media_are_removed() {
    let place = Place::new(&pictures(4));
    if place.store.address().is_none() {
        return;
    }
    place.change(STAND_IN);
    place.change(SCRIPT);
    let deployment = place.open();
    place.add(&deployment);
    deployment.wait_until_idle().await;
    assert_eq!(DISTRIBUTED.map(|table| place.count(table)), [4, 4]);
    std::fs::remove_file(place.picture("p000.png")).unwrap();
    place.add(&deployment);
    deployment.wait_until_idle().await;
    assert_eq!(place.count("media"), 3);
    assert_eq!(DISTRIBUTED.map(|table| place.count(table)), [3, 3]);
    place.change("DELETE FROM dataset");
    assert_eq!(DISTRIBUTED.map(|table| place.count(table)), [0, 0]);
}
