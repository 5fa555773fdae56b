//! Tests the first run: required fields, errors at their fields, and that no output contains a
//! secret.

use std::path::Path;

use ratatui::{
    buffer::{Buffer, Cell},
    layout::Rect,
    style::Color,
};
use tessera_config::{
    DeploymentConfig, Destination,
    input::{Chord, Key},
};
use tessera_interface::{
    app::{
        Event, Mouse, MouseKind,
        welcome::{
            CandidateProfile, ConnectionAttempt, SecretInput, SecretPlace, Welcome, WelcomeAction,
            WelcomeField, WelcomeOption,
        },
    },
    drawing::{MouseTargets, Theme, picture_layer::ColorDepth, theme::ThemeName},
    ui::welcome_screen::WelcomeScreen,
};
use tessera_model::{Cover, FolderEntry, FolderListing, Place, RecentPlace, SafeText};

use super::mouse::find;

fn home() -> &'static Path {
    Path::new("/home/me")
}

fn press(welcome: &mut Welcome, keys: &str) -> WelcomeAction {
    let mut last = WelcomeAction::Continue;
    for key in keys.split(' ') {
        last = welcome.handle_key(key.parse().unwrap(), Some(home()));
    }
    last
}

fn type_in(welcome: &mut Welcome, text: &str) {
    for c in text.chars() {
        let _ = welcome.handle_key(Chord::plain(Key::Char(c)), None);
    }
}

fn screen(state: &Welcome, depth: Option<ColorDepth>) -> WelcomeScreen<'_> {
    WelcomeScreen { state, home: Some(home()), depth }
}

/// Draws the screen and returns what can be clicked.
fn drawn(welcome: &Welcome) -> (MouseTargets, Buffer) {
    drawn_in(welcome, (120, 30))
}

fn drawn_in(welcome: &Welcome, (width, height): (u16, u16)) -> (MouseTargets, Buffer) {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    let theme = Theme::built_in(ThemeName::Dark, ColorDepth::Palette16).unwrap();
    let mut mouse = MouseTargets::default();
    screen(welcome, None).draw(&theme, &mut buffer, &mut mouse);
    (mouse, buffer)
}

/// Clicks where a text begins on the screen.
fn click(welcome: &mut Welcome, words: &str) -> WelcomeAction {
    let (mouse, buffer) = drawn(welcome);
    let (column, row) = find(&buffer, words);
    match mouse.clicked(Event::Mouse(Mouse { column, row, kind: MouseKind::Click })) {
        Event::Key(chord) => welcome.handle_key(chord, Some(home())),
        Event::Item(index) => {
            welcome.select_item(index, Some(home()));
            WelcomeAction::Continue
        }
        other => panic!("`{words}` cannot be clicked: {other:?}"),
    }
}

fn list(welcome: &mut Welcome, folder: &str, names: &[&str]) {
    let query = welcome.folder_to_list(Some(home())).unwrap();
    assert_eq!(query.folder, Path::new(folder));
    let entry = |name: &&str| FolderEntry {
        name: SafeText::file_name(name.trim_end_matches('/')),
        file_name: name.trim_end_matches('/').into(),
        is_folder: name.ends_with('/'),
        bytes: 1,
    };
    let entries = names.iter().map(entry).collect();
    let listing = FolderListing { path: folder.into(), entries, omitted: 0 };
    welcome.folder_listed(query, Ok(listing), Some(home()));
}

#[test]
fn every_row_field_and_hint_can_be_clicked() {
    let mut welcome = Welcome::new(None);
    click(&mut welcome, "A hosted service");
    assert_eq!((welcome.cursor, welcome.option), (2, None), "the first click selects");
    click(&mut welcome, "needs its address, an api_key");
    assert_eq!(welcome.option, Some(WelcomeOption::Hosted), "the second one opens");
    click(&mut welcome, "profile name");
    assert_eq!(welcome.field, 4);
    click(&mut welcome, "store secret");
    assert!(welcome.stores(), "the keyring needs no consent");
    click(&mut welcome, "store secret");
    assert!(!welcome.stores());
    click(&mut welcome, "secret from");
    click(&mut welcome, "secret from");
    assert_eq!(welcome.secret, SecretInput::File);
    click(&mut welcome, "Esc back");
    assert_eq!(welcome.option, None);
    assert!(matches!(click(&mut welcome, "q quit"), WelcomeAction::Quit));
}

#[test]
fn the_folder_is_completed_and_picked_like_in_every_form() {
    let mut welcome = Welcome::new(None);
    press(&mut welcome, "2");
    type_in(&mut welcome, "~/ph");
    press(&mut welcome, "tab");
    list(&mut welcome, "/home/me/", &["photos/", "phone.zip"]);
    assert_eq!(welcome.text(WelcomeField::Folder).value(), "~/photos/");
    click(&mut welcome, "Ctrl-F browse");
    list(&mut welcome, "/home/me/photos/", &["2023/", "2024/", "a.jpg"]);
    click(&mut welcome, "2024/");
    click(&mut welcome, "2024/");
    assert_eq!(welcome.text(WelcomeField::Folder).value(), "~/photos/2024");
    assert!(welcome.picker.is_none());
    press(&mut welcome, "tab");
    list(&mut welcome, "/home/me/photos/", &["2023/", "2024/"]);
    assert_eq!(welcome.field, 1, "nothing continues the path");
    press(&mut welcome, "shift-tab backspace tab");
    list(&mut welcome, "/home/me/photos/", &["2023/", "2024/"]);
    assert!(welcome.picker.is_some(), "several folders continue the path");
    press(&mut welcome, "esc ctrl-c");
}

fn tried(step: WelcomeAction) -> CandidateProfile {
    match step {
        WelcomeAction::Connect(candidate) => *candidate,
        other => panic!("nothing is tried: {other:?}"),
    }
}

#[test]
fn a_folder_needs_only_its_path() {
    let mut welcome = Welcome::new(None);
    press(&mut welcome, "2");
    assert_eq!(welcome.option, Some(WelcomeOption::Folder));
    type_in(&mut welcome, "~/my photos");
    press(&mut welcome, "enter");
    let candidate = tried(press(&mut welcome, "enter"));
    assert_eq!(
        candidate.profile.deployment,
        DeploymentConfig::Local { folder: "/home/me/my photos".into(), model: None }
    );
    assert_eq!(candidate.profile.name, "my-photos");
    assert_eq!(welcome.attempt, ConnectionAttempt::Connecting);
}

#[test]
fn each_form_has_its_own_texts_and_defaults() {
    let mut welcome = Welcome::new(None);
    press(&mut welcome, "2 down");
    assert_eq!(welcome.placeholder(WelcomeField::Name), "default: the name of the folder");
    type_in(&mut welcome, "holidays");
    press(&mut welcome, "esc 3");
    type_in(&mut welcome, "https://media.example");
    press(&mut welcome, "esc 4");
    for field in WelcomeField::ALL {
        assert_eq!(welcome.text(field).value(), "", "{field:?}");
    }
    assert_eq!(welcome.placeholder(WelcomeField::Name), "default: from the address");
    press(&mut welcome, "esc 2");
    assert_eq!(welcome.text(WelcomeField::Name).value(), "holidays");
}

#[test]
fn a_folder_that_cannot_be_opened_is_focused() {
    let mut welcome = Welcome::new(None);
    press(&mut welcome, "2");
    type_in(&mut welcome, "/none");
    tried(press(&mut welcome, "enter enter"));
    welcome.connection_failed("/none: no such folder".to_owned());
    assert_eq!(welcome.field, 0);
}

#[test]
fn a_missing_field_of_a_hosted_service_is_focused() {
    let mut welcome = Welcome::new(None);
    press(&mut welcome, "3");
    type_in(&mut welcome, "https://media.example");
    press(&mut welcome, "enter");
    type_in(&mut welcome, "ak_1");
    press(&mut welcome, "enter enter enter enter enter enter");
    assert_eq!(welcome.attempt, ConnectionAttempt::Failed("api_secret is required".to_owned()));
    assert_eq!(welcome.field, 3);
    type_in(&mut welcome, "s3cret-canary");
    let candidate = tried(press(&mut welcome, "tab tab tab enter"));
    assert!(candidate.store_secret);
    assert_eq!(candidate.profile.name, "media-example");
    assert!(!format!("{welcome:?}{candidate:?}").contains("canary"));
}

/// Fills the form of a hosted service up to the choice where its secret comes from.
fn hosted(needs_consent: bool) -> Welcome {
    let mut welcome = Welcome::new(None);
    welcome.secret_place = SecretPlace { name: "/secrets.toml".to_owned(), needs_consent };
    press(&mut welcome, "3");
    type_in(&mut welcome, "https://media.example");
    press(&mut welcome, "enter");
    type_in(&mut welcome, "ak_1");
    press(&mut welcome, "enter");
    welcome
}

fn shows(welcome: &Welcome, words: &str) -> bool {
    let (_, buffer) = drawn(welcome);
    let symbols: String = buffer.content().iter().map(Cell::symbol).collect();
    symbols.split_whitespace().collect::<Vec<_>>().join(" ").contains(words)
}

#[test]
fn a_secret_comes_from_a_file_that_is_picked_like_every_path() {
    let mut welcome = hosted(true);
    press(&mut welcome, "right enter ctrl-f");
    list(&mut welcome, "/home/me/", &["key.txt"]);
    press(&mut welcome, "down enter");
    assert_eq!(welcome.text(WelcomeField::SecretFile).value(), "~/key.txt");
    assert!(shows(&welcome, "not saved; set TESSERA_PROFILE and TESSERA_API_SECRET_FILE"));
    let candidate = tried(press(&mut welcome, "enter enter enter enter"));
    assert_eq!(candidate.secret_file, Some("/home/me/key.txt".into()));
    assert!(candidate.secret.is_none() && !candidate.store_secret, "a file needs consent");
}

#[test]
fn a_secret_of_the_environment_or_the_keyring_is_not_asked_for() {
    let mut welcome = hosted(false);
    press(&mut welcome, "left");
    assert_eq!(welcome.secret, SecretInput::Existing);
    assert!(!welcome.fields().contains(&WelcomeField::ApiSecret));
    assert!(!welcome.fields().contains(&WelcomeField::Store));
    assert!(shows(&welcome, "TESSERA_API_SECRET_FILE or TESSERA_API_SECRET"));
    let candidate = tried(press(&mut welcome, "enter enter enter"));
    assert!(candidate.secret.is_none() && candidate.secret_file.is_none());
}

#[test]
fn certificates_are_named_for_services_of_both_kinds() {
    let mut welcome = hosted(false);
    press(&mut welcome, "enter");
    type_in(&mut welcome, "s3cret");
    press(&mut welcome, "enter enter");
    type_in(&mut welcome, "~/ca.pem");
    let candidate = tried(press(&mut welcome, "enter enter"));
    assert_eq!(candidate.profile.options.ca_file, Some("/home/me/ca.pem".into()));
    assert!(candidate.store_secret, "the keyring needs no consent");
    let mut onprem = Welcome::new(None);
    press(&mut onprem, "4");
    type_in(&mut onprem, "https://media.lab");
    press(&mut onprem, "enter enter enter");
    assert_eq!(tried(press(&mut onprem, "enter")).profile.options.ca_file, None);
    onprem.connection_failed("no answer".to_owned());
    assert_eq!(onprem.field, 0, "only the address can be wrong");
}

#[test]
fn quitting_at_any_step_connects_to_nothing() {
    let mut welcome = Welcome::new(Some("it broke".to_owned()));
    assert_eq!(welcome.attempt, ConnectionAttempt::Failed("it broke".to_owned()));
    assert!(matches!(press(&mut welcome, "q"), WelcomeAction::Quit));
    assert!(matches!(press(&mut welcome, "4 ctrl-c"), WelcomeAction::Quit));
    assert!(matches!(
        press(&mut Welcome::new(None), "1"),
        WelcomeAction::Open(Destination::Sample)
    ));
}

#[test]
fn what_was_opened_last_is_opened_again_by_enter() {
    let opened = |place, opened_at| RecentPlace {
        place,
        media: Some(3),
        opened_at,
        cover: Cover::default(),
    };
    let places = vec![
        opened(Place::Folder("/photos".into()), 90),
        opened(Place::Profile("team".to_owned()), 10),
    ];
    let start = || Welcome::new(None).with_recent(places.clone(), 100);
    let destination = |keys| match press(&mut start(), keys) {
        WelcomeAction::Open(destination) => destination,
        other => panic!("nothing is opened: {other:?}"),
    };
    assert_eq!(destination("enter"), Destination::Folder("/photos".into()));
    assert_eq!(destination("down enter"), Destination::Profile("team".to_owned()));
    assert_eq!(destination("1"), Destination::Sample, "the numbers stay those of the options");
    let mut folder = start();
    press(&mut folder, "down down down enter");
    assert_eq!(folder.option, Some(WelcomeOption::Folder));
    assert_eq!(start().recent[0].1.as_secs(), 10);
    let WelcomeAction::Review(Destination::Profile(name)) = press(&mut start(), "j d") else {
        panic!("the second place is reviewed");
    };
    assert_eq!(name, "team");
    assert!(
        matches!(press(&mut start(), "j j d"), WelcomeAction::Continue),
        "no place is selected"
    );
}

#[test]
fn the_cover_of_the_selected_place_is_beside_the_box_where_there_is_room() {
    let cover = Cover::new(&[[200, 10, 20], [1, 2, 3]], 1);
    let place = Place::Folder("/photos".into());
    let places = vec![RecentPlace { place, media: None, opened_at: 0, cover }];
    let depth = ColorDepth::TrueColor;
    let theme = Theme::built_in(ThemeName::Dark, depth).unwrap();
    let shows_cover = |columns, key| {
        let mut welcome = Welcome::new(None).with_recent(places.clone(), 100);
        press(&mut welcome, key);
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, 30));
        screen(&welcome, Some(depth)).draw(&theme, &mut buffer, &mut MouseTargets::default());
        let half_block = (Color::Rgb(200, 10, 20), Color::Rgb(1, 2, 3));
        buffer.content().iter().any(|cell| (cell.fg, cell.bg) == half_block)
    };
    assert!(shows_cover(118, "up"));
    assert!(!shows_cover(117, "up"), "the box keeps its width");
    assert!(!shows_cover(118, "down"), "no place is selected");
    let mut buffer = Buffer::empty(Rect::new(0, 0, 118, 30));
    let welcome = Welcome::new(None).with_recent(places.clone(), 100);
    screen(&welcome, None).draw(&theme, &mut buffer, &mut MouseTargets::default());
    let left = buffer.area.positions().find(|at| buffer[*at].symbol() == "╭").unwrap();
    assert_eq!(left.x, (118 - 84) / 2, "without pictures, the box is in the middle");
}

#[test]
fn a_small_terminal_shows_what_is_selected_and_the_hints_or_what_is_needed() {
    let mut welcome = Welcome::new(None);
    for (option, key) in WelcomeOption::ALL.into_iter().zip(["up", "down", "down", "down"]) {
        press(&mut welcome, key);
        let word = option.title().split(' ').nth(1).unwrap();
        for size in [(30, 8), (40, 12)] {
            let (mouse, buffer) = drawn_in(&welcome, size);
            let (column, row) = find(&buffer, word);
            let clicked =
                mouse.clicked(Event::Mouse(Mouse { column, row, kind: MouseKind::Click }));
            assert_eq!(clicked, Event::Key(Chord::plain(Key::Enter)), "{option:?} {size:?}");
            assert_eq!(find(&buffer, "Enter select").1, size.1 - 1);
        }
    }
    let (_, buffer) = drawn_in(&welcome, (60, 7));
    find(&buffer, "tessera needs 30x8 cells; this terminal has 60x7");
}
