//! An addition on its way: each part is sent once, and waited for before the next. Whatever stops it,
//! what was accepted is told, and what was not can be sent with one command.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;
use tokio::time::timeout;

use super::{
    Add,
    plan::{Part, Plan, left_out},
};
use crate::{
    cli::{
        Column, Connection, Context, Document, Ended, Exit, Record, context::LAST_LOOK,
        follow::Follow, note::amount, reindex,
    },
    config,
};
use tessera_model::{
    Addition, Dataset, Operation, Preflight, SafeText, Standing, Status, Work, cadence::Watch,
    course::Course, shell::quote,
};

/// An addition that is being carried out.
pub struct Adding<'a> {
    context: &'a Context,
    connection: &'a Connection,
    add: &'a Add,
    plan: &'a Plan,
    /// As it was seen last.
    dataset: Dataset,
    /// Parts that the service has taken on.
    accepted: usize,
    /// The part that is being sent, written down.
    sending: Option<Record<'a>>,
    /// Bytes of it that were handed over.
    sent: AtomicU64,
    /// What could not be read when its turn came, although it could before.
    late: Preflight,
    reindexed: bool,
}

const SUMMARY: &[Column] = &[
    Column::new("id", "id"),
    Column::new("name", "display_name"),
    Column::new("status", "status_new"),
    Column::new("files", "_files"),
    Column::new("parts", "_parts_accepted"),
    Column::new("left out", "_n_left_out"),
];

impl<'a> Adding<'a> {
    pub fn new(
        context: &'a Context,
        connection: &'a Connection,
        add: &'a Add,
        plan: &'a Plan,
        dataset: Dataset,
    ) -> Self {
        Self {
            context,
            connection,
            add,
            plan,
            dataset,
            accepted: 0,
            sending: None,
            sent: AtomicU64::new(0),
            late: Preflight::default(),
            reindexed: false,
        }
    }

    /// Sends everything, or tells how far it came.
    ///
    /// # Errors
    /// A part was refused or lost, or the work at the service ended badly.
    pub async fn run(mut self) -> Result<Exit, Ended> {
        if self.context.is_rehearsal() {
            return self.rehearse().await;
        }
        let last_words = self.context.last_words();
        let outcome = tokio::select! {
            outcome = self.carry_out() => outcome,
            () = last_words.wanted() => Err(self.interrupted().await),
        };
        if self.accepted > 0 {
            self.context.answer(&self.summary())?;
        }
        outcome.map_err(|ended| self.stopped(ended))?;
        let left_out = self.plan.found.unreadable + self.late.unreadable;
        Ok(if left_out > 0 { Exit::Partly } else { Exit::Done })
    }

    async fn carry_out(&mut self) -> Result<(), Ended> {
        self.wait_turn().await?;
        for part in &self.plan.parts {
            self.context.allow(&self.dataset, Operation::AddMedia, self.add.force)?;
            self.send(part).await?;
        }
        if self.add.then_reindex { self.reindex().await } else { Ok(()) }
    }

    /// Waits until the dataset is free, if that is asked for (M38).
    async fn wait_turn(&mut self) -> Result<(), Ended> {
        let busy = |status: &Status| matches!(status, Status::ReadOnly | Status::Indexing);
        if !self.add.queue || self.context.allow_changes().is_err() || !busy(&self.dataset.status) {
            return Ok(());
        }
        let mut follow = Follow::new(self.context, None);
        let (id, word) = (self.dataset.id, self.dataset.status.word().to_owned());
        let words = format!("{} is {word}: this waits here until it is free", self.dataset.name);
        follow.tell("queued", json!({ "dataset_id": id, "status_new": word }), &words)?;
        while busy(&self.dataset.status) {
            follow.pause(Watch::MovingDatasets).await?;
            if let Some(seen) = follow.bear(self.connection.client.dataset(id).await)? {
                self.dataset = seen;
            }
        }
        Ok(())
    }

    /// Sends one part, and waits for it when something comes after it.
    async fn send(&mut self, part: &Part) -> Result<(), Ended> {
        let id = self.dataset.id;
        let course = Course::from(Some(&self.dataset));
        self.sent.store(0, Ordering::Relaxed);
        self.sending =
            Some(Record::begin(self.context, self.connection, &self.dataset, self.work()));
        let mut bar = self.context.note.progress(self.label());
        let sent = &self.sent;
        let mut report = |done, all| {
            sent.store(done, Ordering::Relaxed);
            bar.bytes(done, all);
        };
        let answer = self.connection.client.add_media(id, &part.addition, &mut report).await;
        drop(bar);
        // Whoever was interrupted has taken it for the last words, and never comes here.
        let Some(mut record) = self.sending.take() else { return Err(Ended::interrupted()) };
        match answer {
            Ok(found) => self.was_accepted(part, found),
            Err(failure) => {
                record.failed(&failure);
                return Err(failure.into());
            }
        }
        record.stands(Standing::Accepted);
        let last = self.accepted == self.plan.parts.len();
        if last && !self.add.wait && !self.add.then_reindex {
            return Ok(());
        }
        record.follow(course).await?;
        self.dataset = self.connection.client.dataset(id).await?;
        Ok(())
    }

    fn was_accepted(&mut self, part: &Part, found: Preflight) {
        let what = match part.files {
            0 => self.plan.words.clone(),
            files => format!("{} files, {}", files - found.unreadable, amount(part.bytes)),
        };
        self.context.note.say(format!("{}: accepted ({what})", self.label()));
        for file in &found.named {
            self.context.note.warn(format!("left out: {}: {}", file.name, file.reason));
        }
        self.late.unreadable += found.unreadable;
        self.late.named.extend(found.named);
        self.accepted += 1;
    }

    /// The one reindex after all parts.
    async fn reindex(&mut self) -> Result<(), Ended> {
        if self.dataset.status == Status::Ready {
            self.context.note.say("READY already: nothing to reindex");
            return Ok(());
        }
        let id = self.dataset.id;
        self.context.allow(&self.dataset, Operation::Reindex, self.add.force)?;
        let mut record = reindex::send(self.context, self.connection, &self.dataset).await?;
        self.reindexed = true;
        self.context.note.say("reindex: accepted");
        if self.add.wait {
            record.follow(Course::from(Some(&self.dataset))).await?;
            self.dataset = self.connection.client.dataset(id).await?;
        }
        Ok(())
    }

    /// Prints what would be sent, and whether the status of the dataset would refuse it.
    async fn rehearse(&self) -> Result<Exit, Ended> {
        let Some(first) = self.plan.parts.first() else { return Ok(Exit::Done) };
        let gate = self.context.allow(&self.dataset, Operation::AddMedia, self.add.force);
        // Only what the gate says is of interest here: the request itself is written down.
        let forced = tessera_model::AddMedia { force: true, ..first.addition.clone() };
        let id = self.dataset.id;
        let failure = self.connection.client.add_media(id, &forced, &mut |_, _| {}).await.err();
        if self.context.global.print.is_some() {
            // Ending the connection prints it.
            return gate.map(|()| Exit::Done);
        }
        let Some(request) = self.connection.take_rehearsed() else {
            return Err(
                failure.map_or_else(|| Ended::new(Exit::Failed, "it was sent"), Ended::from)
            );
        };
        self.context.note.say(self.plan.sentence(&self.dataset));
        self.context.note.say(format!("{} {}", request.method, request.url));
        let refusal = gate.as_ref().err().map(|ended| ended.sentence.as_str());
        self.context.answer(&self.plan.document(&self.dataset, &request, refusal))?;
        self.context.note.say("nothing was sent");
        gate.map(|()| if self.plan.found.unreadable > 0 { Exit::Partly } else { Exit::Done })
    }

    /// What is being sent, in the words of the journal.
    fn work(&self) -> Work {
        let source = match self.plan.parts.len() {
            1 => self.plan.words.clone(),
            _ => format!("{} ({})", self.plan.words, self.label()),
        };
        Work::AddMedia(Addition {
            source: SafeText::file(&source),
            option: SafeText::file(&self.plan.option),
            auto_reindex: self.add.reindex,
        })
    }

    /// The part that comes next, or is being sent.
    fn label(&self) -> String {
        match self.plan.parts.len() {
            1 => "add media".to_owned(),
            all => format!("part {} of {all}", self.accepted + 1),
        }
    }

    /// What an interrupt means for a part that was being sent (U10).
    async fn interrupted(&mut self) -> Ended {
        let Some(mut record) = self.sending.take() else {
            return Ended::interrupted();
        };
        let bytes = self.plan.parts.get(self.accepted).map_or(0, |part| part.bytes);
        let sent = self.sent.load(Ordering::Relaxed);
        let look = timeout(LAST_LOOK, self.connection.client.dataset(self.dataset.id)).await;
        let status = match look {
            Ok(Ok(seen)) => format!("{} is {}", seen.name, seen.status.word()),
            Ok(Err(_)) | Err(_) => "the dataset could not be read in time".to_owned(),
        };
        let what = if sent < bytes {
            let words = format!(
                "interrupted after {} of {}: nothing of this upload was added",
                amount(sent),
                amount(bytes)
            );
            record.stands(Standing::Failed(SafeText::detail(&words)));
            words
        } else {
            let words = "interrupted when everything was sent: it may have been accepted";
            record.stands(Standing::Uncertain(SafeText::detail(words)));
            words.to_owned()
        };
        Ended::new(Exit::Interrupted, format!("{what}; {status}"))
    }

    /// The end of an addition in parts, with what is left to do.
    fn stopped(&self, ended: Ended) -> Ended {
        let all = self.plan.parts.len();
        let rest = self.plan.parts.get(self.accepted..).unwrap_or_default();
        // Before the first part, the same command again does it.
        if self.accepted == 0 || rest.is_empty() {
            return ended;
        }
        let ended = ended.after(&format!(
            "{} of {all} parts were accepted, {} files are not",
            self.accepted,
            Plan::files(rest)
        ));
        match self.keep_list(rest) {
            Ok(list) => ended.remedy(self.command(&list)),
            Err(reason) => {
                self.context.note.warn(format!("the list of the rest is not kept: {reason}"));
                ended
            }
        }
    }

    /// Writes down the files that are left, to be given to `--files-from`.
    fn keep_list(&self, rest: &[Part]) -> Result<String, String> {
        let list = Plan::list(rest).map_err(|error| error.to_string())?;
        let folder = config::state_folder(&self.connection.place);
        let folder = folder.ok_or_else(|| "there is no folder for it".to_owned())?;
        let path = folder.join(format!("rest-{}.list", self.dataset.id));
        std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(&path, list))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path.display().to_string())
    }

    /// The command that sends the rest.
    fn command(&self, list: &str) -> String {
        let Add { split, wait, then_reindex, .. } = self.add;
        let split = split.map(|split| format!(" --split {split}")).unwrap_or_default();
        let flags = [(*then_reindex, " --then-reindex"), (*wait, " --wait")];
        let flags: String = flags.iter().filter_map(|(on, flag)| on.then_some(*flag)).collect();
        let list = quote(list);
        format!("tessera media add {} --files-from {list}{split}{flags}", self.dataset.id)
    }

    fn summary(&self) -> Document {
        let accepted = self.plan.parts.get(..self.accepted).unwrap_or_default();
        let found = &self.plan.found;
        let mut left = found.clone();
        left.named.extend(self.late.named.iter().cloned());
        let waited = self.add.wait || self.add.then_reindex;
        let summary = json!({
            "id": self.dataset.id,
            "display_name": self.dataset.name.as_str(),
            // Without waiting, the status that was seen is the one from before.
            "status_new": waited.then(|| self.dataset.status.word()),
            "_source": self.plan.words,
            "_files": Plan::files(accepted) - self.late.unreadable,
            "_bytes": accepted.iter().map(|part| part.bytes).sum::<u64>(),
            "_parts": self.plan.parts.len(),
            "_parts_accepted": self.accepted,
            "_reindex_accepted": self.reindexed,
            "_left_out": left_out(&left),
            "_n_left_out": found.unreadable + self.late.unreadable,
        });
        Document::one("tessera.media_add/1", summary, SUMMARY)
    }
}
