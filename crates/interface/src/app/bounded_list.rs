//! Adds to lists of bounded length, so that a day of work does not let them grow.

/// Adds an element. If there are more than `limit` elements then, the oldest one is removed.
pub(in crate::app) fn push_bounded<T>(list: &mut Vec<T>, element: T, limit: usize) {
    list.push(element);
    if list.len() > limit {
        list.remove(0);
    }
}
