//! What a line of a shell is weighed as.

use proptest::prelude::*;

use super::{Effect, weigh};

fn effect(command: &str) -> Effect {
    weigh(command).effect
}

#[test]
fn programs_that_only_read_are_known() {
    for command in [
        "ls -la",
        "cat a b",
        "head -5 a",
        "wc -l < a",
        "grep -rn x src | sort | uniq -c",
        "git status",
        "git log -3 --oneline",
        "git diff HEAD~1 -- src",
        "git --no-pager show HEAD",
        "find . -name '*.rs'",
        "cd src && ls",
        "/bin/ls",
        "time ls",
        "timeout 5 ls",
        "nice -n 5 ls",
        "env ls",
        "find . -exec cat {} +",
        "ls | xargs cat",
        "bash -c 'ls; cat a'",
        "for f in *.txt; do cat \"$f\"; done",
        "if [ -f a ]; then cat a; fi",
        "echo $(date)",
        "echo `ls`",
        "ls 2>/dev/null",
        "cat a 2>&1 | tail",
        "diff <(sort a) <(sort b)",
        "cat <<'E'\n$(rm x)\nE\n",
        "LC_ALL=C sort a",
        "! grep x a",
        "(ls)",
        "{ ls; }",
        "command -v git",
        "sort -k2 -t, a",
        "git branch -a",
        "r''eadlink a",
        "x=1; ls \"$x\"",
        "ls # rm -rf /",
        "date +%F",
    ] {
        let weighed = weigh(command);
        assert_eq!(weighed.effect, Effect::Reads, "{command}: {weighed:?}");
        assert!(weighed.is_covered_by::<String>(&[]), "{command}");
    }
}

#[test]
fn what_writes_or_runs_something_is_no_reading() {
    for command in [
        "test -v 'a[$(touch b)]'",
        "x='a[$(touch b)]'; [[ x -eq 0 ]]",
        "x='a[$(touch b)]'; [[ -f c || ! ( 1 -lt x ) ]]",
        "[[ -v 'a[$(touch b)]' ]]",
        "[[ -R x ]]",
        "echo ${a[$(touch b)]}",
        "echo \"${a[x]}\"",
        "[ -v 'a[$(touch b)]' ]",
        "[ $x ]",
        "wait -p 'a[$(touch b)]'",
        "printf -v 'a[$(touch b)]' x",
        "touch a",
        "ls > a",
        "ls >> a",
        "ls &> a",
        "cat a >| b",
        "ls; touch a",
        "ls && touch a",
        "ls || touch a",
        "ls | tee a",
        "ls & touch a",
        "ls\ntouch a",
        "echo $(touch a)",
        "echo `touch a`",
        "echo \"$(touch a)\"",
        "cat <(touch a)",
        "ls > >(tee a)",
        "(touch a)",
        "{ touch a; }",
        "if ls; then touch a; fi",
        "while touch a; do ls; done",
        "for i in $(touch a); do ls; done",
        "case $(touch a) in x) ls;; esac",
        "case x in x) touch a;; esac",
        "find . -exec touch {} +",
        "find . -delete",
        "find . -fprintf a x",
        "ls | xargs touch",
        "env touch a",
        "time touch a",
        "nohup touch a",
        "timeout 5 touch a",
        "nice touch a",
        "command touch a",
        "exec touch a",
        "bash -c 'touch a'",
        "sh -ec 'touch a'",
        "bash -c 'bash -c \"touch a\"'",
        "sort -o a b",
        "sort -ro a b",
        "sort --outp=a b",
        "sort --compress-program=x b",
        "tree -o a",
        "fd -x touch",
        "rg --pre x y",
        "date -s 2020-01-01",
        "git commit",
        "git branch -D x",
        "git diff --output=a",
        "git diff --outp a",
        "git log --ext-diff",
        "git -c core.pager=x log",
        "git --exec-path=. status",
        "git -C /x status",
        "git grep -O x",
        "git remote add x y",
        "git tag v1",
        "git stash",
        "./ls",
        "src/ls",
        "/tmp/ls",
        "python3 -c 1",
        "awk 1",
        "sed -n p a",
        "PATH=. ls",
        "LD_PRELOAD=x ls",
        "GIT_DIR=x git status",
        "export PATH=.; ls",
        "for PATH in .; do ls; done",
        "set -a; ls",
        "read PATH; ls",
        "sort $x",
        "sort *",
        "find $x",
        "git log $x",
        "git diff *",
        "uniq a b",
        "sort {-o,a} b",
        "cat a <> b",
        "> a",
        "{ ls; } > a",
        "xargs -I{} ls",
    ] {
        assert!(effect(command) >= Effect::Changes, "{command}: {:?}", weigh(command));
    }
}

// bar: C20
#[test]
fn what_cannot_be_told_asks_each_time() {
    for command in [
        "",
        "ls (",
        "ls 'a",
        "echo $(",
        "ls |",
        "if ls",
        "$x",
        "$(echo ls)",
        "`echo ls`",
        "${x}",
        "l$x",
        "\"$x\" a",
        "{rm,-rf,a}",
        "l*",
        "eval ls",
        "source a",
        ". a",
        "alias ls=rm; ls",
        "ls() { rm a; }; ls",
        "function ls { rm a; }",
        "trap 'rm a' EXIT",
        "sudo ls",
        "su -c ls",
        "ssh h ls",
        "bash",
        "sh",
        "bash -s < a",
        "bash -c $x",
        "bash -c \"$x\"",
        "bash -i -c ls",
        "bash --rcfile a -c ls",
        "env -S 'touch a'",
        "env -i ls",
        "env X=1 ls",
        "xargs -I{} sh -c {}",
        "xargs --arg-file=a ls",
        "cat a | sh",
        "cat a | bash",
        "echo ${x:-$(touch a)}",
        "echo ${x:=a}",
        "echo ${!x}",
        "echo ${x@P}",
        "echo $((a[$(touch a)]))",
        "((a[$(touch a)]))",
        "a[$(touch a)]=1",
        "[[ -v a[$(touch a)] ]]",
        "[[ $x -eq 1 ]]",
        "cat <<E\n$(touch a)\nE\n",
        "cat < /dev/tcp/1.1.1.1/80",
        "echo x > /dev/udp/1.1.1.1/1",
        "cat < $x",
        "exec 3<>/dev/tcp/1.1.1.1/80",
        "ls\rtouch a",
        "ls \u{202e}a",
        "ls\u{200b} a",
        "ls \0",
        "$'\\x72m' a",
        "enable -f x y",
        "hash -p /tmp/x ls",
        "coproc touch a",
        "let a=1",
        "find . -exec touch {} \\; -exec ls {} +",
        "nice -19 ls",
        "timeout -k 1 5 ls",
        "command -p ls",
        "exec -a x ls",
        "setsid ls",
        "watch ls",
        "parallel ls",
        "nc -e sh",
        "busybox ls",
        "select x in a; do ls; done",
    ] {
        let weighed = weigh(command);
        let strict = weighed.effect == Effect::Unclear
            || weighed.effect == Effect::Changes && weighed.grants.is_empty();
        assert!(strict, "{command}: {weighed:?}");
        assert!(!weighed.is_covered_by(&["ls", "git commit", "touch"]), "{command}: {weighed:?}");
    }
    let long = format!("echo {}", "a".repeat(20_000));
    assert_eq!(effect(&long), Effect::Unclear);
    for deep in ["(", "$(", "{ ", "((", "`", "if ", "[[ ", "<(", "${x:-", "$((", "\"$(", "case x in "] {
        assert_eq!(effect(&deep.repeat(2_000)), Effect::Unclear, "{deep}");
        assert_eq!(effect(&deep.repeat(20)), Effect::Unclear, "{deep}");
    }
}

// bar: C21
#[test]
fn a_yes_for_one_command_covers_no_other() {
    let grants = |command: &str| weigh(command).grants;
    assert_eq!(grants("git commit -m x"), ["git commit"]);
    assert_eq!(grants("git add . && git commit -m 'a b'"), ["git add", "git commit"]);
    assert_eq!(grants("cargo test -p space"), ["cargo test"]);
    assert_eq!(grants("mkdir -p a/b; touch a/b/c"), ["mkdir", "touch"]);
    let granted =
        ["git commit", "git push", "cargo test", "touch", "git status", "mkdir", "git fetch", "npm test"];
    assert!(weigh("git commit -m y").is_covered_by(&granted));
    assert!(weigh("git status; cargo test | tail").is_covered_by(&granted));
    for other in [
        "git -c core.editor=x commit",
        "git --exec-path=. commit",
        "git commit; rm a",
        "git commit -m \"$(rm a)\"",
        "git commit -m $x",
        "git commit > a",
        "git commit && ./x",
        "git commit & x",
        "git commit -m x --template=y",
        "git commit --no-verify",
        "git commit --edit",
        "git push --force",
        "git push -f",
        "git push origin +main",
        "git push origin :main",
        "git push --receive-pack=x",
        "git push --rec=x",
        "git fetch --upload-pack=x y",
        "git fetch ext::sh",
        "git fetch -uf x",
        "GIT_SSH_COMMAND=x git fetch",
        "GIT_EDITOR=x git commit",
        "export GIT_EDITOR=x; git commit",
        "cargo test --config x",
        "cargo test --manifest-path=../x",
        "cargo +nightly test",
        "cargo test --target-dir /x",
        "RUSTC_WRAPPER=x cargo test",
        "cargo run",
        "cargo test $x",
        "cargo test *",
        "npm test --prefix x",
        "npm test --script-shell=x",
        "sudo git commit",
        "sh -c 'git commit; rm a'",
        "xargs git commit",
        "find . -exec git commit {} +",
        "./git commit",
        "/tmp/git commit",
        "env GIT_DIR=x git commit",
        "git commit\nrm a",
        "git commit #\nrm a",
        "touch a b > c",
        "rm a",
        "mv a b",
        "git status -c x; git -c alias.status='!rm a' status",
        "PATH=. touch a",
        "cd x && ./touch a",
        "touch {a,$(rm b)}",
        "touch a; touch() { rm a; }",
    ] {
        assert!(!weigh(other).is_covered_by(&granted), "{other}: {:?}", weigh(other));
    }
}

// bar: C22
#[test]
fn destruction_is_seen_and_daily_work_is_not_called_that() {
    let bad: Vec<&str> = include_str!("bad.txt").lines().collect();
    let benign: Vec<&str> = include_str!("benign.txt").lines().collect();
    assert!(bad.len() >= 150 && benign.len() >= 300, "{} {}", bad.len(), benign.len());
    let is_bad = |command: &&&str| !weigh(command).destructive.is_empty();
    let missed: Vec<_> = bad.iter().filter(|command| !is_bad(command)).collect();
    let alarms: Vec<_> = benign.iter().filter(is_bad).collect();
    let recall = 1.0 - missed.len() as f64 / bad.len() as f64;
    let false_alarms = alarms.len() as f64 / benign.len() as f64;
    assert!(recall >= 0.98, "{recall} of {}: {missed:#?}", bad.len());
    assert!(false_alarms <= 0.03, "{false_alarms} of {}: {alarms:#?}", benign.len());
}

/// Ways of putting a command into another; the whole is never milder than the part.
fn compositions(part: &str, other: &str) -> Vec<String> {
    let quoted = part.replace('\'', "'\\''");
    vec![
        format!("{other}; {part}"),
        format!("{part}; {other}"),
        format!("{other} && {part}"),
        format!("{other} || {part}"),
        format!("{other} | {part}"),
        format!("{part} | {other}"),
        format!("{other} & {part}"),
        format!("{other}\n{part}"),
        format!("{part} &"),
        format!("({part})"),
        format!("{{ {part}; }}"),
        format!("{other} $({part})"),
        format!("{other} \"$({part})\""),
        // Backquotes are no brackets: what stands in two of them is a word.
        if part.contains('`') { format!("{other} $({part})") } else { format!("{other} `{part}`") },
        format!("{other} <({part})"),
        format!("{other} > >({part})"),
        format!("if {other}; then {part}; fi"),
        format!("if {part}; then {other}; fi"),
        format!("while {part}; do {other}; done"),
        format!("until {other}; do {part}; done"),
        format!("for i in 1 2; do {part}; done"),
        format!("case x in x) {part};; esac"),
        format!("! {part}"),
        format!("time {part}"),
        format!("f() {{ {part}; }}; f"),
        format!("bash -c '{quoted}'"),
        format!("sh -ec '{quoted}'"),
        format!("eval '{quoted}'"),
        format!("sudo {part}"),
        format!("env {part}"),
        format!("nohup {part}"),
        format!("timeout 5 {part}"),
        format!("nice -n 3 {part}"),
        format!("xargs {part}"),
        format!("find . -exec {part} \\;"),
        format!("X=1 {part}"),
        format!("x=$({part})"),
        format!("cat <<E\n$({part})\nE\n"),
        format!("cat <<< $({part})"),
        format!("{other} ${{x:-$({part})}}"),
        format!("{part} # {other}"),
        format!("{part}${{IFS}}a"),
        format!("{{ {other}; {part}; }} 2>&1"),
        format!("command {part}"),
        format!("exec {part}"),
        format!("coproc {part}"),
        format!("trap '{quoted}' EXIT"),
        format!("echo $(({other} $({part})))"),
        format!("{part} >/dev/null 2>&1"),
    ]
}

/// Whether bash can parse it. What it cannot runs nothing.
fn is_shell(line: &str) -> bool {
    let parsed = std::process::Command::new("bash").args(["-n", "-c", line]).output().unwrap();
    parsed.status.success()
}

const PARTS: &[&str] = &[
    "ls -la",
    "git status",
    "cat a",
    "touch a",
    "git commit -m x",
    "rm -rf a",
    "./x",
    "sudo ls",
    "eval ls",
    "$x",
    "python3 x.py",
    "sort -o a b",
    "find . -delete",
    "git -c a=b status",
    "bash x.sh",
    "curl http://x",
    "mkdir a",
    "cargo test",
    "echo hi > a",
    "a=1",
    "PATH=. ls",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    // bar: C20
    #[test]
    fn composing_never_weakens(part in 0..PARTS.len(), other in 0..PARTS.len(), first in any::<prop::sample::Index>(), second in any::<prop::sample::Index>()) {
        let (part, other) = (PARTS[part], PARTS[other]);
        let once = first.get(&compositions(part, other)).clone();
        let twice = second.get(&compositions(&once, other)).clone();
        let granted = ["git commit", "touch", "mkdir", "cargo test", "git status"];
        for whole in [&once, &twice] {
            // A comment is no part, and neither is what a shell cannot parse.
            let (part, weighed) = (weigh(part), weigh(whole));
            prop_assert!(weighed.effect >= part.effect, "{once:?} {twice:?} {part:?} {weighed:?}");
            prop_assert!(part.is_covered_by(&granted) || !weighed.is_covered_by(&granted), "{once:?} {twice:?}");
            let is_named = part.destructive.is_empty() || !weighed.destructive.is_empty();
            prop_assert!(is_named || !is_shell(whole), "{once:?} {twice:?}");
        }
    }

    #[test]
    fn any_text_is_weighed_in_bounded_time(text in "[ -~\n]{0,120}") {
        weigh(&text);
    }

    #[test]
    fn any_shell_like_text_is_weighed(parts in prop::collection::vec(prop::sample::select(vec![
        "ls", " ", "$(", ")", "`", "\"", "'", "${", "}", ";", "|", "&", "\n", "<<E", "E", "<(", ">", "((", "))", "[[", "]]", "if", "then", "fi", "do", "done", "case", "in", "esac", "{", "a=", "$x", "\\", "#", "*", "~",
    ]), 0..40)) {
        weigh(&parts.concat());
    }
}
