//! Runs further processes with a store on a server: services and workers.

use std::{
    env,
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
};

use tessera_service::{AccessMode, Deployment, DeploymentSettings};
use tokio::{net::TcpListener, runtime::Runtime};

use super::bench_store::{BenchStore, text};

const WORKERS: usize = 3;

/// The processes, which are killed when this is dropped.
pub struct OtherProcesses {
    children: Vec<Child>,
    /// The address of a second service.
    pub base: String,
}

impl OtherProcesses {
    /// Starts a service and three workers.
    pub fn start(store: &BenchStore) -> Self {
        let mut service = spawn("serve", store);
        let mut base = String::new();
        BufReader::new(service.stdout.take().unwrap()).read_line(&mut base).unwrap();
        let mut children = vec![service];
        children.extend((0..WORKERS).map(|_| spawn("work", store)));
        Self { children, base: base.trim().to_owned() }
    }
}

impl Drop for OtherProcesses {
    fn drop(&mut self) {
        for child in &mut self.children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

fn spawn(role: &str, store: &BenchStore) -> Child {
    Command::new(env::current_exe().unwrap())
        .args([role, &text(&store.data), &store.argument, "--bench"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Serves until this process is killed.
pub fn serve(store: &BenchStore) {
    let runtime = Runtime::new().unwrap();
    let deployment = Deployment::open(&store.data, store.settings()).unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    println!("http://{}/api/v1", listener.local_addr().unwrap());
    std::io::stdout().flush().unwrap();
    let serving = deployment.serve(listener, AccessMode::Open, std::future::pending());
    runtime.block_on(serving).unwrap();
}

/// Works until this process is killed.
pub fn work(store: &BenchStore) {
    let settings = DeploymentSettings { jobs: 1, prepare_indexes: false, ..store.settings() };
    let _deployment = Deployment::open(&store.data, settings).unwrap();
    loop {
        std::thread::park();
    }
}
