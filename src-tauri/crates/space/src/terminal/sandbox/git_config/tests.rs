//! What is usual stays; what names a program goes.

use super::*;

const USUAL: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
                     [remote \"origin\"]\n\turl = git@example.org:me/it.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                     [branch \"main\"] # mine\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = \"A; B\"\n";

#[test]
fn what_is_usual_stays_as_it_is() {
    assert_eq!(disarmed(USUAL), None);
    assert_eq!(disarmed(""), None);
}

#[test]
fn what_runs_a_program_or_reads_another_file_goes_and_the_rest_stays() {
    for grave in [
        "[core]\n\tfsmonitor = ./evil",
        "[core] fsmonitor = ./evil",
        "[CORE]\n\tFsMonitor=./evil",
        "[core]\n\thooksPath = .hooks",
        "[core]\n\tsshCommand = evil",
        "[core]\n\teditor = evil\n\tpager = evil\n\taskpass = evil\n\tattributesFile = evil\n\talternateRefsCommand = evil",
        "[diff \"x\"]\n\ttextconv = ./evil",
        "[diff.x]\n\tcommand = ./evil",
        "[diff]\n\texternal = ./evil",
        "[filter \"x\"]\n\tclean = ./evil\n\tsmudge = ./evil\n\tprocess = ./evil",
        "[gpg]\n\tprogram = ./evil",
        "[gpg \"ssh\"]\n\tprogram = ./evil\n\tdefaultKeyCommand = ./evil",
        "[merge \"x\"]\n\tdriver = ./evil",
        "[mergetool \"x\"]\n\tcmd = ./evil",
        "[difftool \"x\"]\n\tcmd = ./evil",
        "[include]\n\tpath = ../evil",
        "[includeIf \"gitdir:.\"]\n\tpath = ../evil",
        "[alias]\n\tst = !./evil",
        "[credential]\n\thelper = !./evil",
        "[interactive]\n\tdiffFilter = ./evil",
        "[sequence]\n\teditor = ./evil",
        "[uploadpack]\n\tpackObjectsHook = ./evil",
        "[remote \"x\"]\n\tuploadpack = ./evil\n\tvcs = evil",
        "[submodule \"x\"]\n\tupdate = !./evil",
        "[trailer \"x\"]\n\tcommand = ./evil",
        "[core]\n\tbare = false \\\n\n\tfsmonitor = ./evil",
        "[gc]\n\trecentObjectsHook = ./evil",
        "[init]\n\ttemplateDir = evil",
        "[protocol \"ext\"]\n\tallow = always",
    ] {
        let left = disarmed(&format!("{USUAL}{grave}\n")).unwrap_or_else(|| panic!("{grave}"));
        assert!(!left.contains("evil") && !left.contains("always"), "{grave}: {left}");
        assert!(left.contains("[remote \"origin\"]\n\turl = git@example.org:me/it.git\n"), "{left}");
        assert_eq!(disarmed(&left), None, "{left}");
    }
}

#[test]
fn what_cannot_be_read_to_its_end_is_replaced_and_passwords_go() {
    for broken in [
        "[core",
        "[core]\n\tx = \"a\nb\"",
        "fsmonitor = evil",
        "[a b]\nx",
        "[core]\n= evil",
        "[core]\nx evil",
    ] {
        assert_eq!(disarmed(broken).as_deref(), Some(LEAST), "{broken:?}");
    }
    let left = disarmed("[remote \"o\"]\n\turl = https://me:pass@example.org/x@y\n").unwrap();
    assert_eq!(left, "[remote \"o\"]\n\turl = https://example.org/x@y\n");
    let left = disarmed("[filter \"crypt\"]\n\tclean = crypt clean\n\trequired\n").unwrap();
    assert_eq!(left, "[filter \"crypt\"]\n\trequired\n");
}
