//! The first run: what to look at, how to get in, a try, and a profile. Nothing is written before
//! the try has succeeded, and leaving at any point writes nothing.

use std::{fmt, path::Path};

use secrecy::SecretString;
use tui_input::Input;

use crate::{
    app::overlay::field::{edit, paste, path},
    config::{
        Destination, Place, Profile,
        profile::{check_name, suggested_name},
    },
    input::{Chord, Key},
};

/// What a person can want to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The painted sample.
    Sample,
    /// A folder of this machine.
    Folder,
    /// A service with login.
    Hosted,
    /// A service without.
    OnPrem,
}

impl Subject {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Sample, Self::Folder, Self::Hosted, Self::OnPrem];

    /// What it is called.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Sample => "A sample that is painted for you",
            Self::Folder => "A folder of pictures on this machine",
            Self::Hosted => "A hosted service",
            Self::OnPrem => "An on-premises service",
        }
    }

    /// What it needs and does.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Sample => {
                "240 pictures with captions, labels and objects; no account, no network"
            }
            Self::Folder => {
                "indexed here and opened; no account, no network, nothing is changed in it"
            }
            Self::Hosted => "needs its address, an api_key and its api_secret",
            Self::OnPrem => "needs its address; no login",
        }
    }

    /// The fields of its step.
    fn fields(self) -> &'static [Field] {
        match self {
            Self::Sample => &[],
            Self::Folder => &[Field::Folder, Field::Name],
            Self::Hosted => {
                &[Field::BaseUrl, Field::ApiKey, Field::ApiSecret, Field::Name, Field::Store]
            }
            Self::OnPrem => &[Field::BaseUrl, Field::PipelineUrl, Field::Name],
        }
    }
}

/// A field of the second step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Folder of pictures.
    Folder,
    /// Address of the service.
    BaseUrl,
    /// Address of its pipeline; may stay empty.
    PipelineUrl,
    /// Names the secret.
    ApiKey,
    /// The secret; never shown.
    ApiSecret,
    /// Name of the profile.
    Name,
    /// Whether the secret is stored.
    Store,
}

impl Field {
    /// What stands before it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::BaseUrl => "base URL",
            Self::PipelineUrl => "pipeline URL",
            Self::ApiKey => "api_key",
            Self::ApiSecret => "api_secret",
            Self::Name => "profile name",
            Self::Store => "store secret",
        }
    }
}

/// Typed text whose `Debug` shows nothing.
#[derive(Clone, Default)]
pub struct Typed(pub Input);

impl fmt::Debug for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Typed")
    }
}

/// What was entered and is to be tried.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The deployment with its name.
    pub profile: Profile,
    /// The secret, for a hosted one.
    pub secret: Option<SecretString>,
    /// Whether the secret is stored.
    pub store: bool,
}

/// What a key asks of the shell.
#[derive(Debug)]
pub enum Step {
    /// Nothing.
    Stay,
    /// Leave; nothing is written.
    Leave,
    /// Open this, which needs no profile.
    Open(Destination),
    /// Try to reach it.
    Try(Candidate),
}

/// Where the try stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing is tried.
    None,
    /// It is being asked.
    Asking,
    /// Why it cannot be opened.
    Failed(String),
}

/// The state of the first run.
#[derive(Clone, Debug)]
pub struct Welcome {
    /// The line under the cursor of the first step.
    pub cursor: usize,
    /// What was chosen, in the second step.
    pub subject: Option<Subject>,
    /// The field that takes the keys.
    pub field: usize,
    typed: [Typed; 6],
    /// Whether the secret is stored.
    pub store: bool,
    /// How the last try ended.
    pub outcome: Outcome,
}

impl Welcome {
    /// The first step; `trouble` tells why the person is here again.
    #[must_use]
    pub fn new(trouble: Option<String>) -> Self {
        let outcome = trouble.map_or(Outcome::None, Outcome::Failed);
        Self {
            cursor: 0,
            subject: None,
            field: 0,
            typed: Default::default(),
            store: false,
            outcome,
        }
    }

    /// The fields of the second step.
    #[must_use]
    pub fn fields(&self) -> &'static [Field] {
        self.subject.map_or(&[], Subject::fields)
    }

    /// The text of a field.
    #[must_use]
    pub fn text(&self, field: Field) -> &Input {
        &self.typed[place(field)].0
    }

    /// Takes a key; `home` is what `~/` means.
    pub fn key(&mut self, chord: Chord, home: Option<&Path>) -> Step {
        if chord.ctrl && chord.key == Key::Char('c') {
            return Step::Leave;
        }
        if self.outcome == Outcome::Asking {
            // Esc gives up the try; the shell drops it.
            if chord.key == Key::Esc {
                self.outcome = Outcome::None;
            }
            return Step::Stay;
        }
        match self.subject {
            None => self.key_in_subjects(chord),
            Some(subject) => self.key_in_fields(subject, chord, home),
        }
    }

    fn key_in_subjects(&mut self, chord: Chord) -> Step {
        let last = Subject::ALL.len() - 1;
        match chord.key {
            Key::Esc | Key::Char('q') => return Step::Leave,
            Key::Up | Key::Char('k') => self.cursor = self.cursor.saturating_sub(1),
            Key::Down | Key::Char('j') | Key::Tab => self.cursor = (self.cursor + 1).min(last),
            Key::Char(digit @ '1'..='4') => {
                self.cursor = digit as usize - '1' as usize;
                return self.choose();
            }
            Key::Enter => return self.choose(),
            _ => {}
        }
        Step::Stay
    }

    fn choose(&mut self) -> Step {
        let subject = Subject::ALL[self.cursor];
        self.outcome = Outcome::None;
        if subject == Subject::Sample {
            return Step::Open(Destination::Sample);
        }
        (self.subject, self.field) = (Some(subject), 0);
        Step::Stay
    }

    fn key_in_fields(&mut self, subject: Subject, chord: Chord, home: Option<&Path>) -> Step {
        let count = subject.fields().len();
        match chord.key {
            Key::Esc => (self.subject, self.outcome) = (None, Outcome::None),
            Key::Tab if chord.shift => self.field = (self.field + count - 1) % count,
            Key::Up => self.field = (self.field + count - 1) % count,
            Key::Tab | Key::Down => self.field = (self.field + 1) % count,
            Key::Enter if self.field + 1 < count => self.field += 1,
            Key::Enter => return self.try_out(subject, home),
            _ => self.type_in(subject.fields()[self.field], chord),
        }
        Step::Stay
    }

    fn type_in(&mut self, field: Field, chord: Chord) {
        self.outcome = Outcome::None;
        if field != Field::Store {
            edit(&mut self.typed[place(field)].0, chord);
        } else if matches!(chord.key, Key::Char(' ') | Key::Left | Key::Right) {
            self.store = !self.store;
        }
    }

    /// Pasted text goes into the field that takes the keys.
    pub fn paste(&mut self, text: &str) {
        match self.fields().get(self.field) {
            None | Some(Field::Store) => {}
            Some(&field) => paste(&mut self.typed[place(field)].0, text),
        }
    }

    fn try_out(&mut self, subject: Subject, home: Option<&Path>) -> Step {
        match self.candidate(subject, home) {
            Ok(candidate) => {
                self.outcome = Outcome::Asking;
                Step::Try(candidate)
            }
            Err((field, reason)) => {
                let wrong = subject.fields().iter().position(|each| *each == field);
                self.field = wrong.unwrap_or(self.field);
                self.outcome = Outcome::Failed(reason);
                Step::Stay
            }
        }
    }

    /// What was entered, or the field that is wrong and why.
    fn candidate(
        &self,
        subject: Subject,
        home: Option<&Path>,
    ) -> Result<Candidate, (Field, String)> {
        let typed = |field| self.text(field).value().trim().to_owned();
        let needed = |field: Field| match typed(field) {
            text if text.is_empty() => Err((field, format!("{} is needed", field.label()))),
            text => Ok(text),
        };
        let (place, secret) = match subject {
            Subject::Sample | Subject::Folder => {
                (Place::Local { folder: path(&needed(Field::Folder)?, home) }, None)
            }
            Subject::Hosted => {
                let (base_url, api_key) = (needed(Field::BaseUrl)?, needed(Field::ApiKey)?);
                let secret = SecretString::from(needed(Field::ApiSecret)?);
                (Place::Hosted { base_url, api_key }, Some(secret))
            }
            Subject::OnPrem => {
                let pipeline_url = Some(typed(Field::PipelineUrl)).filter(|url| !url.is_empty());
                (Place::OnPrem { base_url: needed(Field::BaseUrl)?, pipeline_url }, None)
            }
        };
        let name = match typed(Field::Name) {
            name if name.is_empty() => suggested_name(&place),
            name => name,
        };
        check_name(&name).map_err(|reason| (Field::Name, reason))?;
        Ok(Candidate { profile: Profile::new(name, place), secret, store: self.store })
    }

    /// The try has failed.
    pub fn failed(&mut self, reason: String) {
        self.outcome = Outcome::Failed(reason);
    }
}

fn place(field: Field) -> usize {
    match field {
        Field::Folder => 0,
        Field::BaseUrl => 1,
        Field::PipelineUrl => 2,
        Field::ApiKey => 3,
        Field::ApiSecret => 4,
        Field::Name | Field::Store => 5,
    }
}
