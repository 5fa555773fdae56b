//! Parses XML from outside. Documents with a DTD are refused, so that custom entities are impossible, and limits apply to
//! what costs the parser much time or memory.

use roxmltree::{Document, Error};

#[derive(Clone, Copy, Debug)]
pub(crate) struct XmlLimits {
    /// Limit on the attributes of an element, because each is compared with all others.
    pub attributes: usize,
    /// Limit on namespaces, because nested ones need quadratic memory.
    pub namespaces: usize,
}

/// Parses a document. The error is a reason for users, without the name of the file.
pub(crate) fn parse_xml(text: &str, limits: XmlLimits) -> Result<Document<'_>, String> {
    let namespaces = text.matches("xmlns").count();
    let attributes = text.split('<').map(|tag| tag.matches('=').count()).max();
    if namespaces > limits.namespaces || attributes.is_some_and(|count| count > limits.attributes) {
        return Err("it has too many attributes or namespaces".to_owned());
    }
    Document::parse(text).map_err(|cause| match cause {
        Error::DtdDetected => "it has a DTD, which is not supported".to_owned(),
        cause => format!("line {}: invalid XML", cause.pos().row),
    })
}
