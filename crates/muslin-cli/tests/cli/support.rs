//! Starts the `muslin` binary in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder that is removed when the test is over.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty folder named after the test.
    pub fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("muslin-{test}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("a file in the temporary folder");
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Reads a file as JSON.
    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&self.read(name)).expect("JSON")
    }

    /// Names of the files in it.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("the temporary folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The binary, to be started here with these words.
    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_muslin"));
        command.current_dir(&self.0).args(words.split_whitespace());
        command
    }

    /// Runs the binary to its end.
    pub fn muslin(&self, words: &str) -> Output {
        self.command(words).output().expect("the binary starts")
    }

    /// Runs the binary and expects success.
    pub fn succeed(&self, words: &str) -> String {
        let output = self.muslin(words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "muslin {words}: {error}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs the binary and expects it to refuse: exit code 2, one line, nothing written.
    pub fn refuse(&self, words: &str) -> String {
        let before = self.names();
        let output = self.muslin(words);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "muslin {words}: {error}");
        assert_eq!(error.trim_end().lines().count(), 1, "muslin {words}: {error}");
        assert_eq!(self.names(), before, "muslin {words} wrote something");
        error
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Shape of a NumPy file, checked against its size.
pub fn npy_shape(bytes: &[u8]) -> Vec<usize> {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length]).expect("a header of text");
    assert!(header.contains("'descr': '<f4'") && header.ends_with('\n'), "{header}");
    let shape = header.split(['(', ')']).nth(1).expect("a shape");
    let shape: Vec<usize> = shape.split(',').map(|n| n.trim().parse().expect("a number")).collect();
    assert_eq!(bytes.len() - 10 - length, 4 * shape.iter().product::<usize>(), "{header}");
    shape
}
