//! A named thread that runs tasks in order.

use std::{
    sync::{
        Arc,
        mpsc::{self, RecvTimeoutError},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::sync::watch;

/// Tasks of one kind. Dropping the queue runs what is queued (a stopped task returns at once) and
/// waits for the thread.
pub struct TaskQueue<T> {
    sender: Option<mpsc::Sender<T>>,
    thread: Option<JoinHandle<()>>,
    outstanding: Arc<watch::Sender<usize>>,
}

impl<T: Send + 'static> TaskQueue<T> {
    /// Starts the thread, which performs each task, and `None` after each `pause` without one.
    /// `outstanding` counts queued and running tasks of all queues.
    pub fn start(
        name: &str,
        outstanding: Arc<watch::Sender<usize>>,
        pause: Duration,
        mut perform: impl FnMut(Option<T>) + Send + 'static,
    ) -> Self {
        let (sender, tasks) = mpsc::channel();
        let count = outstanding.clone();
        let body = move || {
            loop {
                match tasks.recv_timeout(pause) {
                    Ok(task) => {
                        perform(Some(task));
                        count.send_modify(|left| *left -= 1);
                    }
                    Err(RecvTimeoutError::Timeout) => perform(None),
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        };
        // If the thread cannot start, `push` fails and the tasks stay in the store.
        let thread = thread::Builder::new().name(name.to_owned()).spawn(body).ok();
        Self { sender: Some(sender), thread, outstanding }
    }

    pub fn push(&self, task: T) {
        self.outstanding.send_modify(|left| *left += 1);
        let is_queued = self.sender.as_ref().is_some_and(|sender| sender.send(task).is_ok());
        if !is_queued {
            self.outstanding.send_modify(|left| *left -= 1);
        }
    }
}

impl<T> Drop for TaskQueue<T> {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // The panic hook has already reported a panic of the thread.
            let _ = thread.join();
        }
    }
}
