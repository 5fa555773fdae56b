//! Measures how long light reads and probes take.

use std::{
    fmt,
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use crate::service::Service;

/// The maximum time for half of the requests, and for each of them.
const LIMITS: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(5));

/// The times of light reads and of probes, in ascending order.
pub(super) struct LightReads {
    reads: Vec<Duration>,
    probes: Vec<Duration>,
}

impl LightReads {
    /// Sends light reads and probes one after the other, with a connection for each.
    pub(super) fn measure(service: &Service, time: Duration) -> Self {
        let address = service.address;
        let read = format!("Authorization: Bearer {}\r\n", service.token());
        let [reads, probes] =
            [("/api/v1/datasets", read), ("/healthz", String::new())].map(|(path, headers)| {
                thread::spawn(move || request_times(address, path, &headers, time))
            });
        Self { reads: reads.join().unwrap(), probes: probes.join().unwrap() }
    }

    pub(super) fn assert_served(&self, figures: &str) {
        let (half, all) = LIMITS;
        for times in [&self.reads, &self.probes] {
            assert!(times[times.len() / 2] <= half, "{figures}");
            assert!(times[times.len() - 1] <= all, "{figures}");
        }
    }
}

fn request_times(address: SocketAddr, path: &str, headers: &str, time: Duration) -> Vec<Duration> {
    let begun = Instant::now();
    let mut times = Vec::new();
    while begun.elapsed() < time {
        let sent = Instant::now();
        let answered = request(address, path, headers).unwrap();
        assert!(answered.starts_with("HTTP/1.1 200"), "{path}: {answered}");
        times.push(sent.elapsed());
        thread::yield_now();
    }
    times.sort();
    times
}

fn request(address: SocketAddr, path: &str, headers: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let head =
        format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{headers}Connection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}

impl fmt::Display for LightReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, times) in [("light reads", &self.reads), ("probes", &self.probes)] {
            let millis = |number: usize| times[number.min(times.len() - 1)].as_millis();
            write!(
                f,
                "{} {name} (half within {} ms, 99 % within {} ms, all within {} ms) ",
                times.len(),
                millis(times.len() / 2),
                millis(times.len() * 99 / 100),
                millis(times.len() - 1)
            )?;
        }
        Ok(())
    }
}
