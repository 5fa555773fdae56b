//! The local deployment, seen from outside: plain requests over a socket, one test per documented
//! rule and code, named after the row of the reference it holds.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails where its world is not as said"
)]

mod captions;
mod dataset;
mod encoders;
mod explore;
mod export;
mod folder;
mod guard;
mod login;
mod media;
mod restart;
mod similarity;
mod slow;
mod support;
mod video;
