//! Rows of a result, independent of the engine.

use rusqlite::types::{FromSql, ValueRef};

use super::{Result, column_types::ColumnValue};

/// One row of a result. Columns are numbered from 0.
#[derive(Clone, Copy, Debug)]
pub enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    pub fn get<T: FromSql>(&self, column: usize) -> Result<T> {
        Ok(T::column_result(self.get_ref(column)?)?)
    }

    /// The value of a column without a copy.
    pub fn get_ref(&self, column: usize) -> Result<ValueRef<'_>> {
        match self {
            Self::Sqlite(row) => Ok(row.get_ref(column)?),
            Self::Postgres(row) => {
                let ColumnValue(value) = row.try_get(column)?;
                Ok(value)
            }
        }
    }
}
