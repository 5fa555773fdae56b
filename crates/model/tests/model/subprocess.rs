use tessera_model::subprocess::*;

#[test]
fn a_program_is_started_without_our_secrets() {
    let command = command("printenv");
    let removed: Vec<_> = command.get_envs().filter(|(_, value)| value.is_none()).collect();
    for variable in [SECRET_VARIABLE, SECRET_FILE_VARIABLE, TOKEN_VARIABLE] {
        assert!(removed.iter().any(|(name, _)| *name == variable), "{variable}");
    }
}
