//! Recognizes the columns of tables whose names other programs write in another way: `File Name` or `path` for
//! `file_name`.

use super::own_columns::is_known;

pub(crate) const FILE_NAME: &str = "file_name";

/// Other names of the column `file_name`, in the order in which they are tried.
const FILE_ALIASES: [&str; 15] = [
    "filename",
    "image_path",
    "img_path",
    "image_file",
    "image_filename",
    "image_name",
    "img_name",
    "image_file_path",
    "file_path",
    "filepath",
    "path",
    "image",
    "img",
    "file",
    "picture",
];

/// Other names of a column of captions, in the order in which they are tried. Such a column is a column of the user's
/// own, too.
pub(crate) const CAPTION_ALIASES: [&str; 6] =
    ["captions", "description", "prompt", "alt_text", "sentence", "sentences"];

/// Other names of the column `label` in tables of other programs, in the order in which they are tried.
const LABEL_ALIASES: [&str; 4] = ["class", "class_name", "category", "label_name"];

/// Returns the name in the spelling of this program: lower case, and an underscore instead of a space.
fn normalized(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '-'], "_")
}

/// Returns the name of a column, which for a known column is the one of this program.
pub(crate) fn known_name(name: &str) -> String {
    let normalized = normalized(name);
    if is_known(&normalized) { normalized } else { name.trim().to_owned() }
}

/// Returns the column with the best name for a file among those that are not called `file_name`.
pub(crate) fn file_alias<'a>(names: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    let rank = |name: &String| {
        let name = normalized(name);
        FILE_ALIASES.iter().position(|alias| *alias == name)
    };
    let ranked = names.filter_map(|name| Some((rank(name)?, name)));
    ranked.min_by_key(|(rank, _)| *rank).map(|(_, name)| name)
}

/// Returns the name of the column of files: `file_name`, or the column with the best name for a file.
pub(crate) fn file_column(names: &[String]) -> Option<String> {
    if names.iter().any(|name| name == FILE_NAME) {
        return Some(FILE_NAME.to_owned());
    }
    file_alias(names.iter()).cloned()
}

/// Renames the column with the best name for a file to `file_name`. Returns the position of this column, or `None` if
/// there is none.
pub(crate) fn name_file_column(names: &mut [String]) -> Option<usize> {
    let file = file_column(names)?;
    let at = names.iter().position(|name| *name == file)?;
    FILE_NAME.clone_into(&mut names[at]);
    Some(at)
}

/// Renames the column with the best name for a label to `label`, if there are no labels.
pub(crate) fn name_label_column(names: &mut [String]) {
    if names.iter().any(|name| name == "label" || name == "labels") {
        return;
    }
    let position = |alias: &&str| names.iter().position(|name| normalized(name) == **alias);
    if let Some(at) = LABEL_ALIASES.iter().find_map(position) {
        "label".clone_into(&mut names[at]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(columns: &[&str]) -> (Vec<String>, Option<usize>) {
        let mut names: Vec<String> = columns.iter().map(|name| known_name(name)).collect();
        let file = name_file_column(&mut names);
        (names, file)
    }

    #[test]
    fn known_columns_have_one_spelling() {
        let (names, file) = names(&["Caption ", " File Name", "User-Tags", "Weather"]);
        assert_eq!(names, ["caption", "file_name", "user_tags", "Weather"]);
        assert_eq!(file, Some(1));
    }

    #[test]
    fn the_best_name_of_a_file_wins() {
        let strings = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let best = (strings(&["path", "file_name", "image"]), Some(1));
        assert_eq!(names(&["path", "Image Path", "image"]), best);
        assert_eq!(names(&["path", "FILE_NAME"]), (strings(&["path", "file_name"]), Some(1)));
        assert_eq!(names(&["name", "text"]), (strings(&["name", "text"]), None));
    }
}
