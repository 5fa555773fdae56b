//! The cloud role that a request can ask to assume; only its syntax is checked, for lack of an STS.

use std::fmt;

/// Length limit of the path and name of a role, in bytes.
const MAX_RESOURCE_BYTES: usize = 512;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleArn(String);

impl RoleArn {
    /// Parses `arn:<partition>:iam::<12-digit account>:role/<path and name>`.
    pub fn parse(raw: &str) -> Option<Self> {
        let mut parts = raw.splitn(6, ':');
        let mut is = |right: fn(&str) -> bool| parts.next().is_some_and(right);
        let right = is(|arn| arn == "arn")
            && is(|partition| {
                let rest = partition.strip_prefix("aws");
                rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
            })
            && is(|service| service == "iam")
            && is(str::is_empty)
            && is(|account| account.len() == 12 && account.bytes().all(|b| b.is_ascii_digit()))
            && is(|resource| resource.strip_prefix("role/").is_some_and(is_role_name));
        right.then(|| Self(raw.to_owned()))
    }
}

fn is_role_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_RESOURCE_BYTES
        && !name.ends_with('/')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_+=,.@-/".contains(c))
}

impl fmt::Display for RoleArn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
