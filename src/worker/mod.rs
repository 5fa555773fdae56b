//! The background task that does the API calls.
