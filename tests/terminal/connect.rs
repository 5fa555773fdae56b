//! Tests the two ways to connect from the README, exactly as they are printed: from an account, and
//! to an on-premises deployment, each up to the first grid of thumbnails.

use std::{fs, io::Write as _, path::Path, process::Command};

use super::{Program, assert_given_back, serving::Serving};

const README: &str = include_str!("../../README.md");

/// Returns the README block between the markers of this name.
fn block(name: &str) -> &'static str {
    let begin = format!("<!-- {name}: begin -->\n```bash\n");
    let (_, rest) = README.split_once(&begin).unwrap();
    rest.split_once("```\n").unwrap().0
}

fn serve(home: &Path, options: &[&str]) -> Serving {
    let pictures = home.join("pictures");
    tessera_testing::pictures::write_noise(&pictures, 12);
    let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
    command.arg("serve").arg(&pictures).arg("--data").arg(home.join("index")).args(options);
    Serving::start(&mut command)
}

/// Opens the dataset and checks its first grid of thumbnails.
fn looks_at_the_grid(program: &mut Program) {
    program.wait_for("● READY");
    program.press("\r");
    program.wait_for("▀");
    program.press("q");
    assert_eq!(program.wait(), 0);
    assert_given_back(program, "connect");
}

#[test]
fn from_a_hosted_account_to_the_first_grid() {
    let home = tempfile::tempdir().unwrap();
    let serving = serve(home.path(), &[]);
    let script = block("hosted").replace("https://media.example", serving.field("base_url"));
    let mut program = Program::script(&script, home);
    program.wait_for("Keep the secret unencrypted");
    program.press("y\r");
    program.wait_for("SESSION");
    let cookie = serving.field("session");
    program.press(&format!("{cookie}\r"));
    program.wait_for("accepted");
    looks_at_the_grid(&mut program);
    let kept = std::fs::read_to_string(program.home().join("tessera/secrets.toml")).unwrap();
    let secret = kept.lines().find_map(|line| line.strip_prefix("api_secret = ")).unwrap();
    let output = program.output();
    assert!(!output.contains(cookie), "the cookie is not echoed");
    assert!(!output.contains(secret.trim_matches('"')), "the secret is not shown");
    assert!(!kept.contains(cookie), "the cookie is not kept");
}

#[test]
fn a_profile_without_a_secret_is_logged_in_from_the_interface() {
    let home = tempfile::tempdir().unwrap();
    let serving = serve(home.path(), &[]);
    let add = "tessera profile add prod --kind hosted --base-url";
    let script = format!("{add} {}\ntessera --profile prod", serving.field("base_url"));
    let mut program = Program::script(&script, home);
    program.wait_for("Login of prod");
    let cookie = serving.field("session");
    // The keyring was looked for by now. The keys import with the cookie, agree to the file, and
    // submit the form.
    program.wait_for("secrets.toml");
    for keys in ["\t", cookie, "\t", " ", "\r"] {
        program.press(keys);
    }
    program.wait_for("logged in with the key");
    looks_at_the_grid(&mut program);
    let kept = std::fs::read_to_string(program.home().join("tessera/secrets.toml")).unwrap();
    let settings = std::fs::read_to_string(program.home().join("tessera/config.toml")).unwrap();
    let line = |text: &str, name: &str| {
        text.lines().find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned())).unwrap()
    };
    assert_eq!(line(&settings, "api_key = "), line(&kept, "api_key = "));
    let (output, secret) = (program.output(), line(&kept, "api_secret = "));
    assert!(!output.contains(cookie), "the cookie is masked");
    assert!(!output.contains(secret.trim_matches('"')), "the secret is not shown");
    assert!(!kept.contains(cookie), "the cookie is not kept");
}

#[test]
fn from_an_on_premises_deployment_to_the_first_grid() {
    let home = tempfile::tempdir().unwrap();
    let serving = serve(home.path(), &["--no-auth"]);
    let script = block("onprem")
        .replace("http://media.lab.example", serving.field("base_url"))
        .replace("http://pipeline.lab.example", serving.field("base_url"));
    let mut program = Program::script(&script, home);
    looks_at_the_grid(&mut program);
}

#[test]
fn the_first_profile_is_saved_in_the_settings_file_that_the_command_names() {
    let home = tempfile::tempdir().unwrap();
    let serving = serve(home.path(), &["--no-auth"]);
    let mut program = Program::script("tessera init --config own.toml", home);
    program.wait_for("An on-premises service");
    // The keys choose the fourth option, enter its address, leave pipeline and certificates empty,
    // and accept the suggested name.
    for keys in ["4", serving.field("base_url"), "\r", "\r", "\r", "\r"] {
        program.press(keys);
    }
    looks_at_the_grid(&mut program);
    let saved = std::fs::read_to_string(program.home().join("own.toml")).unwrap();
    assert!(saved.contains(serving.field("base_url")), "{saved}");
    assert!(!program.home().join("tessera/config.toml").exists());
}

#[test]
fn the_first_profile_takes_its_secret_from_a_file_and_stores_it_only_with_consent() {
    let home = tempfile::tempdir().unwrap();
    let serving = serve(home.path(), &[]);
    let secret = serving.field("api_secret");
    let script = format!("umask 077; echo {secret} > key; tessera");
    let mut program = Program::script(&script, home);
    program.wait_for("A hosted service");
    // The keys choose the third option, enter address and key, choose the file, accept the suggested
    // name, leave the certificates empty, and agree to the file of stored secrets.
    let [address, key] = ["base_url", "api_key"].map(|name| serving.field(name));
    for keys in ["3", address, "\r", key, "\r", " ", "\r", "key", "\r", "\r", "\r", " ", "\r"] {
        program.press(keys);
    }
    looks_at_the_grid(&mut program);
    let read = |name: &str| std::fs::read_to_string(program.home().join(name)).unwrap();
    assert!(read("tessera/secrets.toml").contains(secret));
    assert!(!read("tessera/config.toml").contains(secret));
    assert!(!program.output().contains(secret), "the secret is not shown");
}

#[test]
fn a_secret_that_cannot_be_stored_is_shown_once_and_leaves_the_screen() {
    let home = tempfile::tempdir().unwrap();
    // Other users can write in the folder, so the secrets file is refused.
    let script = "mkdir -m 777 tessera; echo only-once > secret; echo before
        cat > tessera/config.toml <<< $'[profiles.prod]\\nkind = \"hosted\"\\nbase_url = \"https://media.example\"'
        tessera auth import -p prod --insecure-storage --secret-stdin --api-key $'ak\\e[2J' < secret || true
        echo finished";
    let mut program = Program::script(script, home);
    program.wait_for("Press Enter to clear it.");
    program.wait_for("api_secret=only-once");
    program.press("\r");
    program.wait_for("finished");
    program.wait_until_gone("only-once");
    // The rest of the screen is as before, and the secret was only ever on the alternate screen.
    program.wait_for("before");
    program.wait_for("shown on the terminal, once");
    assert_eq!(program.wait(), 0);
    let output = program.output();
    let [enter, leave] = ["\x1b[?1049h", "\x1b[?1049l"].map(|switch| output.find(switch).unwrap());
    let shown = output.find("only-once").unwrap();
    assert!(enter < shown && shown < leave, "{output}");
    assert_eq!(output.matches("only-once").count(), 1);
    assert!(output[..leave].matches("\x1b[2J").count() == 2, "the key is printed, not obeyed");
    assert!(output.contains(r"--api-key $'ak\033[2J'"), "{output}");
}

#[test]
fn the_lifetime_of_a_token_that_was_signed_elsewhere_is_not_guessed() {
    let script = "TESSERA_TOKEN=ey.from.elsewhere \\
        tessera --base-url https://media.example --kind hosted auth token";
    let mut program = Program::script(script, tempfile::tempdir().unwrap());
    program.wait_for("ey.from.elsewhere");
    assert_eq!(program.wait(), 0);
    let output = program.output();
    assert!(output.contains("can do what you can, until it expires"), "{output}");
}

#[test]
fn several_folders_are_opened_at_once() {
    let home = tempfile::tempdir().unwrap();
    for (name, count) in [("harbor", 3), ("market", 5)] {
        tessera_testing::pictures::write_noise(&home.path().join(name), count);
    }
    let mut program = Program::script("tessera open harbor market", home);
    program.wait_for("harbor");
    program.wait_for("market");
    program.wait_for("3 images");
    program.press("1j\r");
    program.wait_for("5 images");
    program.wait_for("▀");
    program.press("q");
    assert_eq!(program.wait(), 0);
    assert_given_back(&program, "open");
}

#[test]
fn a_profile_whose_folder_is_gone_is_explained_on_the_welcome_screen() {
    let home = tempfile::tempdir().unwrap();
    tessera_testing::pictures::write_noise(&home.path().join("harbor"), 3);
    let script = "mkdir -m 700 tessera
        tessera profile add gone --kind local --folder harbor
        sed -i.bak s/harbor/missing/ tessera/config.toml
        tessera open harbor";
    let mut program = Program::script(script, home);
    program.wait_for("3 images");
    program.press("P");
    program.wait_for("gone");
    program.press("\r");
    program.wait_for("missing does not exist");
    program.wait_for("A hosted service");
    program.press("\x1b");
    assert_eq!(program.wait(), 0);
}

/// A lock holds up the save of the history. The settings are read before another deployment is opened, so a pipe in
/// their place holds the program until the terminal is gone.
#[test]
fn what_was_not_saved_is_reported_if_the_next_screen_fails() {
    let home = tempfile::tempdir().unwrap();
    tessera_testing::pictures::write_noise(&home.path().join("harbor"), 3);
    let state = home.path().join("state/tessera/local_folders");
    fs::create_dir_all(&state).unwrap();
    let state = state.canonicalize().unwrap();
    let lock_file = state.join(".history.json.tessera-lock");
    let lock = fs::File::create(&lock_file).unwrap();
    lock.lock().unwrap();
    let script = "mkdir -m 700 tessera
        tessera profile add remote --kind onprem --base-url http://127.0.0.1:9
        export XDG_STATE_HOME=$PWD/state
        exec tessera open harbor 2> errors";
    let mut program = Program::script(script, home);
    program.wait_for("READY");
    program.wait_for("▀");
    program.press("f");
    program.wait_for("similar to");
    program.wait_until_open(&lock_file);
    program.press("P");
    program.wait_for("remote");
    let [config, errors] = ["tessera/config.toml", "errors"].map(|name| program.home().join(name));
    let settings = fs::read(&config).unwrap();
    fs::remove_file(&config).unwrap();
    assert!(Command::new("mkfifo").arg(&config).status().unwrap().success());
    program.press("\r");
    let mut pipe = fs::OpenOptions::new().write(true).open(&config).unwrap();
    lock.unlock().unwrap();
    program.vanish();
    pipe.write_all(&settings).unwrap();
    drop(pipe);
    assert_eq!(program.wait(), 1);
    let errors = fs::read_to_string(errors).unwrap();
    assert!(errors.contains("ended before this was finished: saving the state"), "{errors}");
}

#[test]
fn a_mistake_in_a_profile_that_was_named_ends_the_program() {
    let script = "mkdir -m 700 tessera
        tessera profile add lab --kind onprem --base-url http://lab.example --pipeline-url http://lab.example
        printf 'ca_file = \"/nonexistent/ca.pem\"\n' >> tessera/config.toml
        tessera --profile lab";
    let mut program = Program::script(script, tempfile::tempdir().unwrap());
    assert_eq!(program.wait(), 2);
    assert!(program.output().contains("/nonexistent/ca.pem"), "{}", program.output());
}
