//! A log file of bounded size that only this user can read. When the file is full, it is renamed to `FILE.1`, the
//! previous `FILE.1` to `FILE.2`, and so on. The oldest part is removed.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use super::private::{FILE_MODE, private_file, restrict};

const MAX_FILE_BYTES: u64 = 10 << 20;
const MAX_FILES: usize = 5;

#[derive(Debug)]
pub struct RotatingFile {
    path: PathBuf,
    out: File,
    bytes: u64,
    max_bytes: u64,
}

impl RotatingFile {
    /// Starts a new file.
    ///
    /// # Errors
    /// The file or an older part of it exists, or the file cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::create_with_limit(path, MAX_FILE_BYTES)
    }

    fn create_with_limit(path: &Path, max_bytes: u64) -> io::Result<Self> {
        if (1..MAX_FILES).any(|number| numbered(path, number).exists()) {
            return Err(io::Error::new(ErrorKind::AlreadyExists, "an older part exists"));
        }
        Ok(Self {
            path: path.to_owned(),
            out: private_file().create_new(true).open(path)?,
            bytes: 0,
            max_bytes,
        })
    }

    /// Continues a file, or starts a new one. Other users lose access to the file.
    ///
    /// # Errors
    /// The file is not a regular file, or cannot be written.
    pub fn append(path: &Path) -> io::Result<Self> {
        Self::append_with_limit(path, MAX_FILE_BYTES)
    }

    fn append_with_limit(path: &Path, max_bytes: u64) -> io::Result<Self> {
        // Opening a pipe would block until a process reads from it.
        if fs::metadata(path).is_ok_and(|existing| !existing.is_file()) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file"));
        }
        let out = private_file().append(true).create(true).open(path)?;
        restrict(path, FILE_MODE)?;
        let bytes = out.metadata()?.len();
        Ok(Self { path: path.to_owned(), out, bytes, max_bytes })
    }

    /// Writes a line without buffering. The line must end with a line break.
    pub fn write_line(&mut self, line: &str) -> io::Result<()> {
        let length = line.len() as u64;
        if self.bytes > 0 && self.bytes + length > self.max_bytes {
            self.rotate()?;
        }
        self.bytes += length;
        self.out.write_all(line.as_bytes())
    }

    fn rotate(&mut self) -> io::Result<()> {
        for number in (0..MAX_FILES - 1).rev() {
            let part = numbered(&self.path, number);
            if part.exists() {
                fs::rename(part, numbered(&self.path, number + 1))?;
            }
        }
        (self.out, self.bytes) = (private_file().create_new(true).open(&self.path)?, 0);
        Ok(())
    }
}

fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 0 {
        return path.to_owned();
    }
    let mut name = OsString::from(path);
    name.push(format!(".{number}"));
    name.into()
}

#[cfg(test)]
mod tests {
    use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};

    use super::*;

    /// Returns the numbers in all parts of a file, the oldest first. Asserts that the parts are private and within the
    /// limit.
    fn numbers(path: &Path, max_bytes: u64) -> Vec<u64> {
        let mut numbers = Vec::new();
        for number in (0..MAX_FILES).rev() {
            let Ok(metadata) = fs::metadata(numbered(path, number)) else { continue };
            assert!(metadata.len() <= max_bytes, "{}", metadata.len());
            assert_eq!(metadata.permissions().mode() & 0o777, FILE_MODE);
            let text = fs::read_to_string(numbered(path, number)).unwrap();
            numbers.extend(text.lines().map(|line| line.parse::<u64>().unwrap()));
        }
        numbers
    }

    #[test]
    fn a_long_file_keeps_its_newest_parts_and_all_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut file = RotatingFile::create_with_limit(&path, 100).unwrap();
        for number in 0..1_000 {
            file.write_line(&format!("{number}\n")).unwrap();
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), MAX_FILES);
        let kept = numbers(&path, 100);
        assert!(kept.is_sorted() && kept.last() == Some(&999), "{kept:?}");
        assert!(RotatingFile::create(&path).is_err(), "nothing is overwritten");
        fs::remove_file(&path).unwrap();
        assert!(RotatingFile::create(&path).is_err(), "nor are its older parts");
    }

    #[test]
    fn a_continued_file_keeps_what_it_has_within_its_bounds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        fs::write(&path, "0\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        for number in 1..40 {
            let mut file = RotatingFile::append_with_limit(&path, 30).unwrap();
            file.write_line(&format!("{number}\n")).unwrap();
        }
        assert_eq!(numbers(&path, 30), (0..40).collect::<Vec<_>>());
    }

    #[test]
    fn only_regular_files_are_continued() {
        let folder = tempfile::tempdir().unwrap();
        assert!(RotatingFile::append(folder.path()).is_err());
        assert!(RotatingFile::append(Path::new("/dev/null")).is_err());
    }
}
