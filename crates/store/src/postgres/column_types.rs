//! Converts values between PostgreSQL's types and those of `SQLite`: identifiers are blobs, truth values are integers,
//! and JSON is text.

use std::{borrow::Cow, error::Error};

use bytes::{BufMut as _, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::engine::{ToSqlOutput, ValueRef};

const UNKNOWN_KIND: &str = "this kind of parameter is only known to SQLite";

/// The pgvector type for vectors of half-precision numbers.
const VECTOR_TYPE: &str = "halfvec";

type ConversionError = Box<dyn Error + Send + Sync>;

/// A parameter, which is written in the type that the statement expects.
#[derive(Debug)]
pub(super) struct Parameter<'a>(pub ToSqlOutput<'a>);

impl Parameter<'_> {
    fn value(&self) -> Result<ValueRef<'_>, ConversionError> {
        match &self.0 {
            ToSqlOutput::Borrowed(value) => Ok(*value),
            ToSqlOutput::Owned(value) => Ok(value.into()),
            _ => Err(UNKNOWN_KIND.into()),
        }
    }
}

impl ToSql for Parameter<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, ConversionError> {
        match (self.value()?, ty) {
            (ValueRef::Null, _) => Ok(IsNull::Yes),
            (ValueRef::Integer(number), &Type::BOOL) => (number != 0).to_sql(ty, out),
            (ValueRef::Integer(number), &Type::INT2) => i16::try_from(number)?.to_sql(ty, out),
            (ValueRef::Integer(number), &Type::INT4) => i32::try_from(number)?.to_sql(ty, out),
            (ValueRef::Integer(number), &Type::INT8) => number.to_sql(ty, out),
            (ValueRef::Real(number), &Type::FLOAT8) => number.to_sql(ty, out),
            (ValueRef::Real(number), &Type::FLOAT4) => single(number).to_sql(ty, out),
            (ValueRef::Text(text), &Type::TEXT | &Type::VARCHAR) => {
                without_nul(text).as_ref().to_sql(&Type::BYTEA, out)
            }
            (ValueRef::Blob(bytes), &Type::BYTEA | &Type::UUID) => bytes.to_sql(&Type::BYTEA, out),
            // The first byte is the version of the JSONB format.
            (ValueRef::Text(text), &Type::JSONB) => {
                out.put_u8(1);
                without_nul(text).as_ref().to_sql(&Type::BYTEA, out)
            }
            (ValueRef::Blob(bytes), ty) if ty.name() == VECTOR_TYPE => write_vector(bytes, out),
            (value, ty) => Err(format!("{} is not a value of {ty}", value.data_type()).into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Writes a vector. The blob has half-precision numbers in little-endian order. pgvector expects the number of them,
/// two zero bytes, and the numbers in big-endian order.
fn write_vector(bytes: &[u8], out: &mut BytesMut) -> Result<IsNull, ConversionError> {
    let halves = bytes.as_chunks().0;
    out.put_u16(halves.len().try_into()?);
    out.put_u16(0);
    for &half in halves {
        out.put_u16(u16::from_le_bytes(half));
    }
    Ok(IsNull::No)
}

/// Converts a number to `f32`. The columns are `f32`, and their values became `f64` on the way.
#[expect(clippy::cast_possible_truncation, reason = "it was an f32")]
fn single(number: f64) -> f32 {
    number as f32
}

/// Replaces NUL, which PostgreSQL's texts cannot contain.
fn without_nul(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&0) {
        return Cow::Borrowed(text);
    }
    String::from_utf8_lossy(text).replace('\0', "\u{fffd}").into_bytes().into()
}

/// The value of a column, in the form in which `SQLite` would return it.
pub(super) struct ColumnValue<'a>(pub ValueRef<'a>);

impl<'a> FromSql<'a> for ColumnValue<'a> {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Self, ConversionError> {
        Ok(Self(match *ty {
            Type::BOOL => ValueRef::Integer(bool::from_sql(ty, raw)?.into()),
            Type::INT2 => ValueRef::Integer(i16::from_sql(ty, raw)?.into()),
            Type::INT4 => ValueRef::Integer(i32::from_sql(ty, raw)?.into()),
            Type::INT8 => ValueRef::Integer(i64::from_sql(ty, raw)?),
            Type::FLOAT4 => ValueRef::Real(f32::from_sql(ty, raw)?.into()),
            Type::FLOAT8 => ValueRef::Real(f64::from_sql(ty, raw)?),
            Type::TEXT | Type::VARCHAR | Type::NAME => ValueRef::Text(raw),
            Type::BYTEA | Type::UUID => ValueRef::Blob(raw),
            _ => return Err(format!("columns of type {ty} are not read").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, ConversionError> {
        Ok(Self(ValueRef::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
