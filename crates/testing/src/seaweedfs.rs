//! Runs a real S3 service, `SeaweedFS`, on loopback. `tools/seaweedfs.sh` installs it. If it is not installed, the
//! tests that need it report that they are skipped.

use std::{
    env,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

use tempfile::TempDir;

const KEY_ID: &str = "AKIAEXAMPLE";
pub const SECRET: &str = "s3cr3t/+=key";
/// How often the service is started with other ports.
const MAX_STARTS: usize = 5;

/// A running service with the bucket `photos`. The service ends when this is dropped.
pub struct SeaweedFs {
    process: Child,
    endpoint: String,
    _data: TempDir,
}

impl Drop for SeaweedFs {
    fn drop(&mut self) {
        // The service may already have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl SeaweedFs {
    /// Starts the service. Returns `None` if it is not installed.
    pub fn start() -> Option<Self> {
        let program = program()?;
        let started = (0..MAX_STARTS).find_map(|_| Self::start_on_free_ports(&program));
        assert!(started.is_some(), "it ended before it was ready");
        started
    }

    /// Returns `None` if the service ends before it is ready, for example because another process has taken a port.
    fn start_on_free_ports(program: &Path) -> Option<Self> {
        let data = tempfile::tempdir().unwrap();
        let names = ["master", "volume", "filer", "s3", "admin"];
        let ports = free_ports::<10>();
        let options = names.iter().zip(ports.chunks(2)).flat_map(|(name, ports)| {
            [format!("-{name}.port={}", ports[0]), format!("-{name}.port.grpc={}", ports[1])]
        });
        let mut process = Command::new(program)
            .arg("mini")
            .arg(format!("-dir={}", data.path().display()))
            .args(["-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-webdav=false", "-admin.ui=false"])
            .args(["-s3.port.iceberg=0", "-s3.port.lance=0", "-bucket=photos"])
            .args(options)
            .env("AWS_ACCESS_KEY_ID", KEY_ID)
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let ready = lines.any(|line| line.is_ok_and(|line| line.contains("ready to use")));
        // What the service prints later needs a reader.
        thread::spawn(move || lines.for_each(drop));
        let endpoint = format!("http://127.0.0.1:{}", ports[6]);
        let service = Self { process, endpoint, _data: data };
        ready.then_some(service)
    }

    /// Returns the environment variables for clients of the service.
    pub fn variables(&self, secret: &str) -> [(String, String); 3] {
        let variables = [
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", secret),
            ("AWS_ENDPOINT_URL_S3", &self.endpoint),
        ];
        variables.map(|(name, value)| (name.to_owned(), value.to_owned()))
    }
}

/// Returns the program of the service, or says that a test is skipped.
pub fn program() -> Option<PathBuf> {
    let named = env::var_os("TESSERA_WEED").map(PathBuf::from);
    let paths = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&paths).map(|folder| folder.join("weed"));
    let program = named.into_iter().chain(on_path).find(|program| program.is_file());
    if program.is_none() {
        let note = "SKIPPED: no real S3 service; run tools/seaweedfs.sh and set TESSERA_WEED";
        // A print macro is not used, because the output of passing tests is hidden.
        std::io::stderr().write_all(format!("{note}\n").as_bytes()).unwrap();
    }
    program
}

/// Returns ports that were free a moment ago.
fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}
