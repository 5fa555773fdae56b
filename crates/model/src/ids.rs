//! Identifiers, parsed once at the boundary. An identifier is a UUID, so a path built from identifiers cannot contain
//! `../`, a query or another host.

use std::{error::Error, fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A text that is not a whole identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidId;

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a whole ID, for example ad48d250-0000-11f1-bfca-000000000001")
    }
}

impl Error for InvalidId {}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// Returns the first eight hexadecimal digits, for display.
            pub fn short(self) -> String {
                self.0.simple().to_string()[..8].to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.short())
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::try_parse(text.trim()).map(Self).map_err(|_| InvalidId)
            }
        }
    };
}

id!(DatasetId);
id!(ClusterId);
id!(MediaId);
id!(ExportTaskId);
id!(TagId);
id!(TagChangeId);
