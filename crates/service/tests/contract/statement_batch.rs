//! Statements with many rows of parameters change the same as one run for each row.

use tessera_store::{Connection, StatementBatch, params, query};

use crate::support::Place;

/// More than a server gets at a time.
const ROWS: i64 = 1_201;

/// An empty table of names, beside those of a store.
fn database(place: &Place) -> Connection {
    drop(place.open());
    let database = place.database();
    let sql = "CREATE TABLE name (id bigint PRIMARY KEY, name text, bytes bytea, share real)";
    database.execute_batch(sql).unwrap();
    database
}

fn names(database: &Connection) -> Vec<(i64, Option<String>)> {
    let sql = "SELECT id, name FROM name ORDER BY id";
    query::all(database, sql, params![], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

#[test]
fn rows_of_a_batch_are_inserted_or_updated() {
    let place = Place::new(&[]);
    let database = database(&place);
    let upsert = "INSERT INTO name VALUES (?1, ?2, ?3, ?4)
                  ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING id, bytes";
    for word in ["first", "second"] {
        let mut batch = StatementBatch::returning(&database, upsert, |row| {
            Ok((row.get::<i64>(0)?, row.get::<Vec<u8>>(1)?.len()))
        });
        for id in 0..ROWS {
            let name = (id % 3 != 0).then(|| format!("{word} {id}, \"{{quoted}}\""));
            batch.add(params![id, name, vec![7_u8; 20], 0.5]).unwrap();
        }
        let mut returned = batch.finish().unwrap();
        returned.sort_unstable();
        assert_eq!(returned, (0..ROWS).map(|id| (id, 20)).collect::<Vec<_>>());
        let names = names(&database);
        assert_eq!(names.len(), 1_201);
        assert_eq!(names[0], (0, None));
        assert_eq!(names[1_001], (1_001, Some(format!("{word} 1001, \"{{quoted}}\""))));
    }
}

#[test]
fn other_statements_run_in_the_order_of_their_rows() {
    let place = Place::new(&[]);
    let database = database(&place);
    let mut inserts = StatementBatch::new(&database, "INSERT INTO name (id) VALUES (?1)");
    (0..3).try_for_each(|id| inserts.add(params![id])).unwrap();
    inserts.finish().unwrap();
    let update = "UPDATE name SET name = coalesce(name, '') || ?2 WHERE id = ?1 RETURNING name";
    let mut updates = StatementBatch::returning(&database, update, |row| row.get::<String>(0));
    for id in (0..ROWS).map(|number| number % 3) {
        updates.add(params![id, "abc"[..=usize::try_from(id).unwrap()].to_owned()]).unwrap();
    }
    let returned = updates.finish().unwrap();
    assert_eq!(returned[..6], ["a", "ab", "abc", "aa", "abab", "abcabc"]);
    assert_eq!(returned.len(), 1_201);
}

#[test]
fn a_failed_row_fails_its_batch() {
    let place = Place::new(&[]);
    let database = database(&place);
    for sql in ["INSERT INTO name (id) VALUES (?1)", "INSERT INTO name (id) SELECT 7 + 0 * ?1"] {
        let transaction = database.begin().unwrap();
        let mut batch = StatementBatch::new(&transaction, sql);
        let added = [7, 7].into_iter().try_for_each(|id| batch.add(params![id]));
        assert!(added.and_then(|()| batch.finish()).is_err(), "{sql}");
        transaction.rollback().unwrap();
        assert!(names(&database).is_empty(), "{sql}");
    }
}
