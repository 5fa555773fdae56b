//! Reads, parses and prints values that several commands share: files and standard input, IDs and their beginnings,
//! intervals, regions and times.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    ffi::OsStr,
    fmt, fs,
    io::{self, Read as _},
    str::FromStr,
    time::SystemTime,
};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use secrecy::zeroize::Zeroizing;
use tessera_client::ExistingFile;
use tessera_config::is_storage_uri;
use tessera_model::{Region, Status, Timestamp};
use tessera_wire::text_encoding::decode_text;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::cli::keyboard;
use crate::cli::prelude::*;
use crate::{process_signals::blocking_read, usecase::require_source};

/// Parses a polling interval. A very short interval is rejected, because it would burden the
/// service.
pub fn parse_interval(raw: &str) -> Result<Duration, String> {
    let interval = humantime::parse_duration(raw).map_err(|error| error.to_string())?;
    if interval < Duration::from_millis(100) {
        return Err("the interval must be at least 100ms".to_owned());
    }
    Ok(interval)
}

/// Parses a status. A misspelled status is refused, because a command would wait for it forever.
pub fn status_parser() -> impl TypedValueParser<Value = Status> {
    let statuses = [
        PossibleValue::new("READY"),
        PossibleValue::new("PARTIAL_INDEX").alias("PARTIAL INDEX"),
        PossibleValue::new("READ_ONLY").alias("READ ONLY"),
        PossibleValue::new("INDEXING"),
        PossibleValue::new("ERROR"),
    ];
    PossibleValuesParser::new(statuses).map(|status| Status::parse(&status))
}

pub fn parse_region(raw: &str) -> Result<Region, String> {
    let [x, y, width, height] = parse_four(raw)?;
    Region::new(x, y, width, height).ok_or_else(|| {
        "expected fractions of the picture from 0 to 1, with x + width and y + height at most 1, for \
         example 0.25,0.1,0.5,0.8"
            .to_owned()
    })
}

pub fn parse_four<T: FromStr>(raw: &str) -> Result<[T; 4], String> {
    let numbers: Result<Vec<T>, _> = raw.split(',').map(|number| number.trim().parse()).collect();
    let four = numbers.ok().and_then(|numbers| numbers.try_into().ok());
    four.ok_or_else(|| "expected four comma-separated numbers: x,y,width,height".to_owned())
}

/// The length of a short ID, unless IDs of the same table have a longer common beginning.
const MIN_LENGTH: usize = 8;

/// A whole ID, or its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdPrefix(String);

impl IdPrefix {
    pub fn matches(&self, id: impl fmt::Display) -> bool {
        id.to_string().starts_with(&self.0)
    }
}

impl fmt::Display for IdPrefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for IdPrefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.to_ascii_lowercase();
        let is_id = text.chars().all(|character| character.is_ascii_hexdigit() || character == '-');
        if is_id && text.len() >= MIN_LENGTH {
            Ok(Self(text))
        } else {
            Err(format!("expected an ID, or at least the first {MIN_LENGTH} characters of one"))
        }
    }
}

/// Returns the number of characters at which these IDs differ, at least [`MIN_LENGTH`].
pub fn distinct_length<'a>(ids: impl IntoIterator<Item = &'a str>) -> usize {
    let ids: BTreeSet<&str> = ids.into_iter().collect();
    // In a sorted list, neighbors have the longest common beginnings.
    let common = |(one, other): (&&str, &&str)| {
        one.bytes().zip(other.bytes()).take_while(|(left, right)| left == right).count()
    };
    let longest = ids.iter().zip(ids.iter().skip(1)).map(common).max();
    longest.map_or(MIN_LENGTH, |longest| MIN_LENGTH.max(longest + 1))
}

/// Returns the current time as RFC 3339, in UTC to the second.
pub fn now_rfc3339() -> String {
    // Formatting fails only for years beyond 9999.
    format_timestamp(timestamp_now()).unwrap_or_default()
}

/// Formats a timestamp as RFC 3339, in UTC to the second. Returns `None` beyond the year 9999.
pub fn format_timestamp(stamp: Timestamp) -> Option<String> {
    let seconds = i64::try_from(stamp.as_secs()).ok()?;
    OffsetDateTime::from_unix_timestamp(seconds).ok()?.format(&Rfc3339).ok()
}

pub fn timestamp_now() -> Timestamp {
    // A clock before 1970 counts as 1970.
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Makes a path from the command line absolute, so that it stays valid after the working directory
/// has changed.
pub fn absolute_path(path: &Path) -> CliResult<PathBuf> {
    if is_storage_uri(path) {
        return Ok(path.to_owned());
    }
    let absolute = std::path::absolute(path);
    absolute.map_err(|error| CliError::io(format_args!("resolve {}", path.display()), &error))
}

/// The lowest similarity of names that are probably meant to be the same.
const MIN_NAME_SIMILARITY: f64 = 0.85;
/// The largest number of files and folders among which a similar name is searched.
const MAX_COMPARED_NAMES: usize = 10_000;

/// Returns the existing folder that was probably meant by the path of a missing one.
pub fn similar_folder(missing: &Path) -> Option<PathBuf> {
    let typed = missing.file_name()?.to_str()?.to_lowercase();
    let parent = missing.parent()?;
    let listed = if parent == Path::new("") { Path::new(".") } else { parent };
    let entries = fs::read_dir(listed).ok()?.take(MAX_COMPARED_NAMES).flatten();
    let similar = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let similarity = strsim::jaro_winkler(&typed, &name.to_lowercase());
        let is_similar = similarity >= MIN_NAME_SIMILARITY && entry.path().is_dir();
        is_similar.then_some((similarity, name))
    });
    let best = similar.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    Some(parent.join(best.1))
}

/// Returns the end of a sentence about a missing folder, which asks for a similar one.
pub fn did_you_mean(missing: &Path) -> Option<String> {
    similar_folder(missing).map(|it| format!("; did you mean {}?", it.display()))
}

/// Whether a word in the place of a dataset cannot be the name of one.
pub fn is_path(word: impl AsRef<OsStr>) -> bool {
    let word = word.as_ref();
    word.as_encoded_bytes().contains(&b'/') || word == "." || word == ".."
}

/// Whether there is a folder or an archive at a path.
pub fn is_source(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    is_storage_uri(path) || require_source(path).is_ok()
}

/// Whether two paths or addresses refer to the same folder or archive.
pub fn is_same_source(a: &Path, b: &Path) -> bool {
    let identity =
        |path: &Path| path.canonicalize().unwrap_or_else(|_| path.components().collect());
    identity(a) == identity(b)
}

/// Returns the error of a folder of this machine that does not exist.
pub fn missing_folder(folder: &Path) -> Option<CliError> {
    if is_storage_uri(folder) || folder.exists() {
        return None;
    }
    let similar = did_you_mean(folder).unwrap_or_else(|| "; check the path".to_owned());
    Some(CliError::usage(format!("the folder {} does not exist{similar}", folder.display())))
}

/// Reads the text in the file at a path from the command line. The path `-` is standard input. Text with a byte-order
/// mark may be UTF-16, as programs on Windows write it.
pub fn read_file_or_stdin(path: &Path) -> CliResult<String> {
    if path.as_os_str() == "-" {
        return keyboard::read_text();
    }
    // The text may be a secret, so its bytes are erased.
    let bytes = blocking_read(|| fs::read(path)).map(Zeroizing::new);
    let bytes = bytes.map_err(|error| input_error(path, &error))?;
    decode_text(&bytes).map(Cow::into_owned).map_err(|reason| input_error(path, &reason))
}

pub fn read_bytes_or_stdin(path: &Path) -> CliResult<Vec<u8>> {
    if path.as_os_str() == "-" {
        return keyboard::read_bytes();
    }
    blocking_read(|| fs::read(path)).map_err(|error| input_error(path, &error))
}

/// Whether a path from the command line stands for standard output.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The number of bytes of an existing file that show whether it is a text.
const BEGIN_BYTES: u64 = 8 << 10;

/// Checks that a new file can be written. If `--force` would replace the file that is there, the error says so.
pub fn check_new_file(path: &Path, existing: ExistingFile) -> CliResult<()> {
    tessera_client::check_target(path, existing).map_err(|failure| {
        let is_replaceable = existing == ExistingFile::Keep && path.is_file();
        let error = CliError::from(failure);
        if is_replaceable { error.with_remedy("repeat the command with --force") } else { error }
    })
}

/// Returns what `--force` says about an existing file.
pub fn existing_file(force: bool) -> ExistingFile {
    if force { ExistingFile::Replace } else { ExistingFile::Keep }
}

/// Writes a result into a file that the user named. An earlier result can be replaced, but no picture or archive, which
/// the user may have named by mistake. Devices and pipes are only written to.
pub fn write_result(
    path: &Path,
    content: impl AsRef<[u8]>,
    existing: ExistingFile,
) -> CliResult<()> {
    if existing == ExistingFile::Keep {
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        let written = folder.and_then(|()| tessera_files::write_new_file(path, content));
        return written.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                let message = format!("{} already exists; --force replaces it", path.display());
                CliError::failed(message)
            }
            _ => CliError::io(format_args!("write {}", path.display()), &error),
        });
    }
    let mut begin = Vec::new();
    if path.is_file()
        && let Ok(existing) = fs::File::open(path)
        && existing.take(BEGIN_BYTES).read_to_end(&mut begin).is_ok()
        && begin.contains(&0)
    {
        let message =
            format!("{} exists and is not a text file; name another file", path.display());
        return Err(CliError::usage(message));
    }
    match tessera_files::write_result_file(path, content) {
        // The reader has closed the pipe, because it has what it needs.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => {
            written.map_err(|error| CliError::io(format_args!("write {}", path.display()), &error))
        }
    }
}

fn input_error(path: &Path, reason: &dyn fmt::Display) -> CliError {
    CliError::usage(format!("{}: {reason}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_a_duration_of_at_least_100_ms() {
        assert_eq!(parse_interval("2s"), Ok(Duration::from_secs(2)));
        assert!(parse_interval("1ms").unwrap_err().contains("100ms"));
        assert!(parse_interval("soon").is_err());
    }

    #[test]
    fn invalid_regions_are_rejected_with_the_expected_format() {
        assert_eq!(parse_region("0.1, 0.2,0.5,0.6"), Ok(Region::new(0.1, 0.2, 0.5, 0.6).unwrap()));
        for bad in ["NaN,0,1,1", "inf,0,1,1", "-0.1,0,1,1", "0.5,0,0.6,1", "0,0,0,1", "0,0,1,1.1"] {
            assert!(parse_region(bad).unwrap_err().contains("x + width"), "{bad}");
        }
        for bad in ["", "0,0,1", "0,0,1,1,1", "a,b,c,d", "0;0;1;1"] {
            assert!(parse_region(bad).unwrap_err().contains("x,y,width,height"), "{bad}");
        }
        assert_eq!(parse_four("120,80,640,480"), Ok([120, 80, 640, 480]));
        assert!(parse_four::<u32>("1.5,0,2,2").is_err() && parse_four::<u32>("-1,0,2,2").is_err());
    }

    #[test]
    fn a_result_replaces_an_earlier_one_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/report.md");
        write_result(&path, "first", existing_file(false)).unwrap();
        let refused = write_result(&path, "second", existing_file(false)).unwrap_err();
        assert!(refused.message.contains("--force replaces it"), "{}", refused.message);
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        write_result(&path, "third", existing_file(true)).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "third");
    }

    #[test]
    fn a_short_id_is_as_long_as_it_has_to_be() {
        let ids = ["0a1b2c3d-0000", "1a1b2c3d-0000", "0a1b2c3d-0000"];
        assert_eq!(distinct_length(ids), 8);
        assert_eq!(distinct_length(["0a1b2c3d-0000", "0a1b2c3d-0100"]), 11);
        assert_eq!(distinct_length([]), 8);
    }

    #[test]
    fn a_missing_folder_has_a_similar_one() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("Photos")).unwrap();
        fs::write(home.path().join("phots"), "a file").unwrap();
        let found = |name: &str| similar_folder(&home.path().join(name));
        assert_eq!(found("photso"), Some(home.path().join("Photos")));
        assert_eq!(found("music"), None);
        assert_eq!(found("nowhere/photos"), None);
    }

    #[test]
    fn the_beginning_of_an_id_is_accepted() {
        let prefix: IdPrefix = "0A1B2C3D-00".parse().unwrap();
        assert!(prefix.matches("0a1b2c3d-0000") && !prefix.matches("0a1b2c3d-0100"));
        assert!(
            "0a1b2c3".parse::<IdPrefix>().is_err() && "my-dataset".parse::<IdPrefix>().is_err()
        );
    }

    #[test]
    fn times_beyond_the_calendar_are_not_formatted() {
        assert_eq!(format_timestamp(Timestamp::ZERO).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(
            format_timestamp(Timestamp::from_secs(253_402_300_799)).as_deref(),
            Some("9999-12-31T23:59:59Z")
        );
        for seconds in [253_402_300_800, u64::from(u32::MAX) << 20, u64::MAX] {
            assert_eq!(format_timestamp(Timestamp::from_secs(seconds)), None);
        }
    }
}
