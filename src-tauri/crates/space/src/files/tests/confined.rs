//! Nothing outside of the Space is opened, whatever a path says.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{SECRET, Stage, go_on, picture, places};
use crate::files::{
    Case, Content, FileError, Kind, Names, NoSpace, PathError, Query, Range, Reading, Space, SpacePath, Why,
    WriteMode, protected,
};

fn query(pattern: &str, under: SpacePath) -> Query {
    Query {
        pattern: pattern.into(),
        literal: true,
        case: Case::Smart,
        under,
        globs: vec![],
        context: 0,
        limit: 100,
        ignored_too: true,
    }
}

/// Tries every operation on a path. Answers what was refused; whatever was not, happened within the Space.
fn try_all(stage: &Stage, path: &SpacePath) -> Vec<FileError> {
    let space = &stage.space;
    let changes = stage.changes();
    let mut errors = Vec::new();
    match space.read(path, Range::default(), &go_on) {
        Ok(reading) => assert!(!format!("{reading:?}").contains(SECRET), "{path} was read"),
        Err(e) => errors.push(e),
    }
    match space.search(&query(SECRET, path.clone()), &go_on) {
        Ok(found) => assert_eq!(found.matches, 0, "{path} was searched"),
        Err(e) => errors.push(e),
    }
    match space.list(path, None, 100, &go_on) {
        Ok(list) => assert!(list.entries.iter().all(|e| e.bytes != SECRET.len() as u64), "{path} was listed"),
        Err(e) => errors.push(e),
    }
    match space.preview(path, Content::Append(b"x"), WriteMode::Either) {
        Ok(diff) => assert!(!diff.text.contains(SECRET), "{path} was shown"),
        Err(e) => errors.push(e),
    }
    errors.extend(space.glob("*", path, true, 100, &go_on).err());
    errors.extend(changes.write(path, Content::Whole(b"taken"), WriteMode::Either).err());
    errors.extend(changes.write(path, Content::Append(b"taken"), WriteMode::Either).err());
    errors.extend(changes.write(&path.join("below"), Content::Whole(b"taken"), WriteMode::Either).err());
    errors.extend(changes.make_folder(&path.join("folder")).err());
    errors.extend(changes.copy(path, &stage.path("copied")).err());
    errors.extend(changes.move_to(path, &stage.path("moved")).err());
    errors
}

// bar: C1
#[test]
fn no_path_of_a_corpus_of_traversals_leads_out() {
    let stage = Stage::new();
    stage.write("inside.txt", "inside");
    let base = stage.dir.path().to_str().unwrap().to_owned();
    let targets = ["outside/secret.txt", "outside", "../../outside/secret.txt", "etc/passwd", ""];
    let ways = [
        "../",
        "../../",
        "../../../../../../../../../../",
        "./../../",
        ".//..//..//",
        "inside.txt/../../../",
        "a/../../../",
        "a/b/c/../../../../../",
        "..\\..\\",
        ".\\..\\..\\",
        "a\\..\\..\\..\\",
        "%2e%2e/%2e%2e/",
        "%2e%2e%2f%2e%2e%2f",
        "..%2f..%2f",
        "%252e%252e/",
        "..%c0%af..%c0%af",
        "..%00/../",
        "../\0/../",
        "..\0/",
        "～/",
        "~/",
        "~root/",
        "~/../",
        "$HOME/",
        "${HOME}/../",
        "file://",
        "file:///",
        "file:",
        "FILE://localhost/",
        "http://x/",
        "smb://server/",
        "\\\\server\\share\\",
        "//server/share/",
        "\\\\?\\C:\\",
        "\\\\.\\",
        "C:\\",
        "c:/",
        "/",
        "//",
        "///",
        "/./",
        "/../",
        concat!("/proc/self/ro", "ot/"),
        "/proc/self/cwd/../",
        "/dev/fd/../../",
        "．．/",
        "․․/",
        "‥/",
        "../\u{200b}",
        "..\u{200b}/../",
        "..\u{2215}..\u{2215}",
        "e\u{301}/../../../",
        "\u{e9}/../../../",
        ".. /",
        "../ ../",
        "... /",
        ".../...//",
        "..;/..;/",
        "..:/",
        "a:../../",
    ];
    let mut corpus: Vec<String> =
        ways.iter().flat_map(|way| targets.iter().map(move |t| format!("{way}{t}"))).collect();
    corpus.extend(targets.iter().map(|target| format!("{base}/{target}")));
    corpus.extend(targets.iter().map(|target| format!("{base}/home/mia-evil/../{target}")));
    corpus.extend(targets.iter().map(|target| format!("{base}/home/mia/../../{target}")));
    corpus.extend(targets.iter().map(|target| format!("/proc/self/root{base}/{target}")));
    corpus.push(format!("{}x", "../".repeat(3000)));
    corpus.push("a".repeat(100_000));
    assert!(corpus.len() > 200);
    let before = picture(&stage.outside(""));
    let (mut refused, mut within) = (0, 0);
    for text in &corpus {
        match stage.space.path(text) {
            Err(_) => refused += 1,
            Ok(path) => {
                within += 1;
                assert!(
                    path.parts().all(|part| part != ".." && part != "." && !part.contains('/')),
                    "{text:?}"
                );
                try_all(&stage, &path);
            }
        }
    }
    println!("{} paths: {refused} refused, {within} taken as names within the Space", corpus.len());
    assert!(refused > 200, "{refused}");
    assert_eq!(picture(&stage.outside("")), before);
    let in_base: Vec<_> =
        std::fs::read_dir(stage.dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(in_base.len(), 3, "{in_base:?}");
    let in_home: Vec<_> =
        std::fs::read_dir(stage.dir.path().join("home")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(in_home.len(), 2, "{in_home:?}");
}

// bar: C1
#[test]
fn a_path_is_parsed_as_what_it_says_and_refused_by_its_kind() {
    let root = Path::new("/home/mia/ws");
    let parse = |text: &str| SpacePath::parse(text, root, Names::Unix).map(String::from);
    let taken = [
        (".", ""),
        ("a", "a"),
        ("./a//b/", "a/b"),
        ("a/../b", "b"),
        ("/home/mia/ws", ""),
        ("/home/mia/ws/", ""),
        ("/home/mia/ws/a", "a"),
        ("//home/mia/ws/a", "a"),
        ("/home/mia/ws/a/..", ""),
        ("%2e%2e", "%2e%2e"),
        ("./~", "~"),
        ("a b.", "a b."),
        ("10:30 notes.txt", "10:30 notes.txt"),
        ("...", "..."),
        ("e\u{301}", "e\u{301}"),
        ("\u{e9}", "\u{e9}"),
        ("a\\b", "a\\b"),
        ("nul", "nul"),
    ];
    for (text, path) in taken {
        assert_eq!(parse(text).as_deref(), Ok(path), "{text:?}");
    }
    let refused = |text: &str| parse(text).unwrap_err();
    // bar: C2
    for text in [
        "..",
        "a/../..",
        "/home/mia/ws-evil/a",
        "/home/mia/ws/../ws-evil",
        "/home/mia/w",
        "/",
        "/home/mia",
        "/etc/passwd",
        "/HOME/u/ws/a",
    ] {
        assert!(matches!(refused(text), PathError::Outside { .. }), "{text:?}");
    }
    assert_eq!(refused(""), PathError::Empty);
    assert!(matches!(refused("~/a"), PathError::Home { .. }));
    assert!(matches!(refused("file:///home/mia/ws/a"), PathError::Address { .. }));
    assert!(matches!(refused("a\0b"), PathError::Character { .. }));
    assert!(matches!(refused("\\\\server\\share"), PathError::Windows { .. }));
    assert!(matches!(refused("C:\\a"), PathError::Windows { .. }));
    assert!(matches!(refused("a\\..\\b"), PathError::Windows { .. }));
    assert!(matches!(refused(&"a".repeat(256)), PathError::TooLong { .. }));
}

// bar: C1
#[test]
fn windows_names_that_mean_something_else_are_refused_there() {
    let root = Path::new("C:\\Users\\u\\ws");
    let parse = |text: &str| SpacePath::parse(text, root, Names::Windows).map(String::from);
    for (text, path) in [
        ("a\\b", "a/b"),
        ("c:/users/U/ws/a", "a"),
        ("C:\\Users\\u\\ws\\a\\..\\b", "b"),
        ("console.txt", "console.txt"),
    ] {
        assert_eq!(parse(text).as_deref(), Ok(path), "{text:?}");
    }
    let refused = [
        "..\\a",
        "C:\\Users\\u\\ws-evil\\a",
        "C:a",
        "D:\\a",
        "\\a",
        "\\\\server\\share\\a",
        "\\\\?\\C:\\a",
        "\\\\.\\pipe\\a",
        "a.txt:stream",
        "a.txt::$DATA",
        "a.",
        "a ",
        "a./b",
        "dir /b",
        "NUL",
        "nul.txt",
        "con",
        "COM1",
        "com9.log",
        "LPT¹",
        "aux .txt",
        "CONIN$",
        "a<b",
        "a|b",
        "a?",
        "a*",
        "a\u{1}",
        "...",
        ".. ",
    ];
    for text in refused {
        assert!(parse(text).is_err(), "{text:?}: {:?}", parse(text));
    }
}

#[test]
fn a_path_from_a_journal_is_parsed_again() {
    let parse = |text: &str| serde_json::from_value::<SpacePath>(serde_json::Value::from(text));
    assert_eq!(parse("a/b").unwrap().as_str(), "a/b");
    for text in ["..", "a/../b", "/a", "a//b", "a/", "a\0"] {
        assert!(parse(text).is_err(), "{text:?}");
    }
}

// bar: C2
#[test]
fn a_sibling_whose_name_begins_like_the_space_is_outside() {
    let stage = Stage::new();
    let evil = stage.dir.path().join("home/mia-evil");
    std::fs::create_dir(&evil).unwrap();
    std::fs::write(evil.join("a.txt"), SECRET).unwrap();
    let text = evil.join("a.txt");
    assert!(matches!(stage.space.path(text.to_str().unwrap()), Err(PathError::Outside { .. })));
    assert!(matches!(stage.space.path("../mia-evil/a.txt"), Err(PathError::Outside { .. })));
}

// bar: C3
#[test]
fn symbolic_links_are_followed_nowhere() {
    let stage = Stage::new();
    stage.write("real/deep/er/inside.txt", "inside");
    let outside = stage.outside("");
    symlink(stage.outside("secret.txt"), stage.at("leaf")).unwrap();
    symlink("../../outside/secret.txt", stage.at("leaf2")).unwrap();
    symlink(&outside, stage.at("one")).unwrap();
    symlink(&outside, stage.at("real/two")).unwrap();
    symlink(&outside, stage.at("real/deep/three")).unwrap();
    symlink(stage.outside("not-yet.txt"), stage.at("dangling")).unwrap();
    symlink("loop-b", stage.at("loop-a")).unwrap();
    symlink("loop-a", stage.at("loop-b")).unwrap();
    symlink("real", stage.at("within")).unwrap();
    symlink("/proc/self/root", stage.at("magic")).unwrap();
    symlink("/dev/zero", stage.at("zero")).unwrap();
    let out = outside.strip_prefix("/").unwrap().to_str().unwrap().to_owned();
    let paths = [
        "leaf",
        "leaf2",
        "one",
        "one/secret.txt",
        "real/two/secret.txt",
        "real/deep/three/secret.txt",
        "dangling",
        "loop-a",
        "loop-a/x",
        "within/deep/er/inside.txt",
        &format!("magic/{out}secret.txt"),
        "magic",
        "zero",
        "one/new/file.txt",
    ];
    for text in paths {
        let path = stage.path(text);
        let is_link_itself = !text.contains('/');
        let errors = try_all(&stage, &path);
        let links = errors.iter().filter(|e| matches!(e, FileError::Link { .. })).count();
        // A link itself may be moved (it is an entry of the folder), and is then where `moved` is.
        let all = if is_link_itself { 10 } else { 11 };
        assert!(links >= all - 1, "{text}: {links} of {errors:?}");
        if is_link_itself {
            std::fs::rename(stage.at("moved"), stage.at(text)).unwrap();
            std::fs::remove_file(stage.at("copied")).unwrap();
            let change = stage.changes().trash(&path).unwrap();
            assert!(stage.at(text).symlink_metadata().is_err());
            stage.changes().undo(&change).unwrap();
        } else {
            assert!(matches!(stage.changes().trash(&path), Err(FileError::Link { .. })), "{text}");
        }
        assert!(stage.at(text.split('/').next().unwrap()).symlink_metadata().is_ok());
        stage.assert_nothing_outside_changed();
    }
    let found = stage.space.search(&query("outside", SpacePath::root()), &go_on).unwrap();
    assert_eq!((found.matches, found.skipped.special), (0, 11));
}

// bar: C5
#[test]
fn proc_leads_nowhere_and_a_hard_link_asks() {
    let stage = Stage::new();
    let outside = stage.outside("secret.txt");
    for way in [
        "/proc/self/root",
        "/proc/self/cwd/../../../../../..",
        "/proc/thread-self/root",
        "/proc/self/fd/3",
        "/dev/fd/3",
    ] {
        let text = format!("{way}{}", outside.display());
        assert!(matches!(stage.space.path(&text), Err(PathError::Outside { .. })), "{text}");
    }
    for root in ["/proc/self/fd", "/proc/self/root", "/proc/self", "/dev/fd"] {
        assert!(
            matches!(
                Space::open(Path::new(root), &places(stage.dir.path())),
                Err(FileError::NotASpace { .. })
            ),
            "{root}"
        );
    }
    std::fs::hard_link(&outside, stage.at("hard.txt")).unwrap();
    let path = stage.path("hard.txt");
    assert!(stage.space.look(&path).unwrap().hard_linked);
    let errors = try_all(&stage, &path);
    let asked = errors.iter().filter(|e| matches!(e, FileError::HardLinked { .. })).count();
    assert_eq!(asked, 6, "read, search, preview, write, append, copy: {errors:?}");
    std::fs::rename(stage.at("moved"), stage.at("hard.txt")).unwrap();
    let found = stage.space.search(&query("outside", SpacePath::root()), &go_on).unwrap();
    assert_eq!((found.matches, found.skipped.hard_linked), (0, 1));
    // Allowed by the user: it is read, and writing leaves what it shares its bytes with alone.
    let allowed = stage.space.with_hard_links();
    assert!(
        matches!(allowed.read(&path, Range::default(), &go_on), Ok(Reading::Text(text)) if text.text == SECRET)
    );
    allowed.changes(&stage.keep, &go_on).write(&path, Content::Append(b"!"), WriteMode::Either).unwrap();
    assert_eq!(stage.text("hard.txt"), format!("{SECRET}!"));
    stage.assert_nothing_outside_changed();
}

// bar: C6
#[test]
fn pipes_sockets_and_devices_are_refused_within_a_second() {
    let stage = Stage::new();
    let make = |args: &[&str]| {
        let status =
            std::process::Command::new("mknod").args(args).current_dir(stage.at("")).status().unwrap();
        assert!(status.success(), "{args:?}");
    };
    make(&["pipe", "p"]);
    let _socket = std::os::unix::net::UnixListener::bind(stage.at("socket")).unwrap();
    let mut all = vec![("pipe", Kind::Pipe), ("socket", Kind::Socket)];
    if rustix::process::geteuid().is_root() {
        make(&["zero", "c", "1", "5"]); // nobody else could make one
        all.push(("zero", Kind::Device));
    }
    for (name, kind) in all {
        let path = stage.path(name);
        let began = Instant::now();
        let errors = try_all(&stage, &path);
        std::fs::rename(stage.at("moved"), stage.at(name)).unwrap();
        let refused = errors
            .iter()
            .filter(|e| matches!(e, FileError::NotAFile { kind: k, .. } | FileError::NotAFolder { kind: k, .. } if *k == kind))
            .count();
        assert_eq!(refused, 10, "{name}: {errors:?}");
        let found = stage.space.search(&query("x", SpacePath::root()), &go_on).unwrap();
        assert!(found.skipped.special >= 1);
        assert!(began.elapsed() < Duration::from_secs(1), "{name}: {:?}", began.elapsed());
    }
}

// bar: C7
#[test]
fn paths_that_run_something_later_or_hold_keys_are_protected_in_every_spelling() {
    let why = |text: &str| protected(&SpacePath::try_from(text.to_owned()).unwrap());
    let always = [
        (".git/hooks/pre-commit", Why::Git),
        (".git/hooks", Why::Git),
        (".git", Why::Git),
        (".git/config", Why::Git),
        (".GIT/config", Why::Git),
        (".Git/Hooks/post-checkout", Why::Git),
        (".git./config", Why::Git),
        (".git /config", Why::Git),
        (".gi\u{200c}t/config", Why::Git),
        ("git~1/config", Why::Git),
        ("sub/module/.git/config", Why::Git),
        (".git/modules/a/b/hooks/x", Why::Git),
        (".gitmodules", Why::Git),
        (".git::$INDEX_ALLOCATION/config", Why::Git),
        (".bashrc", Why::Startup),
        ("home/u/.zshrc", Why::Startup),
        (".profile", Why::Startup),
        (".config/fish/config.fish", Why::Startup),
        ("Documents/PowerShell/Microsoft.PowerShell_profile.ps1", Why::Startup),
        (".envrc", Why::Startup),
        (".ssh/authorized_keys", Why::Secret),
        (".ssh", Why::Secret),
        (".env", Why::Secret),
        (".env.production", Why::Secret),
        (".ENV", Why::Secret),
        (".netrc", Why::Secret),
        (".aws/credentials", Why::Secret),
        ("mcp.json", Why::AgentConfig),
        (".mcp.json", Why::AgentConfig),
        (".cursor/mcp.json", Why::AgentConfig),
        (".claude/settings.json", Why::AgentConfig),
        (".miki/settings.json", Why::AgentConfig),
        (".vscode/tasks.json", Why::EditorTask),
        (".vscode/settings.json", Why::EditorTask),
        (".idea/workspace.xml", Why::EditorTask),
        (".config/autostart/a.desktop", Why::Autostart),
        ("Library/LaunchAgents/a.plist", Why::Autostart),
        (".config/systemd/user/a.service", Why::Autostart),
        (".npmrc", Why::BuildHook),
        (".cargo/config.toml", Why::BuildHook),
        (".github/workflows/ci.yml", Why::BuildHook),
    ];
    for (path, expected) in always {
        assert_eq!(why(path), Some(expected), "{path:?}");
    }
    for path in [
        "a.txt",
        "git/config",
        "src/.gitignore",
        ".github/README.md",
        "hooks/pre-commit",
        ".env.example",
        "environment",
        "bashrc.md",
        "config.toml",
        ".gitattributes",
    ] {
        assert_eq!(why(path), None, "{path:?}");
    }
    assert_eq!(protected(&SpacePath::root()), None);
}

#[test]
fn folders_that_hold_settings_keys_or_the_system_are_no_space() {
    let stage = Stage::new();
    let base = stage.dir.path();
    std::fs::create_dir_all(base.join("home/.config/x")).unwrap();
    std::fs::create_dir_all(base.join("data/blobs")).unwrap();
    std::fs::write(base.join("home/file"), "").unwrap();
    symlink(base.join("home/.config"), base.join("home/looks-harmless")).unwrap();
    for folder in
        ["proj/.git/hooks", "proj/.vscode", "proj/.github/workflows", "proj/git/config", "repo.git/hooks"]
    {
        std::fs::create_dir_all(base.join("home").join(folder)).unwrap();
    }
    symlink(base.join("home/proj/.git"), base.join("home/innocent")).unwrap();
    std::fs::write(base.join("home/repo.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::create_dir_all(base.join("home/repo.git/objects")).unwrap();
    std::fs::create_dir_all(base.join("home/repo.git/refs")).unwrap();
    let refused = [
        ("/", NoSpace::Root),
        ("/etc", NoSpace::System),
        ("/usr/share", NoSpace::System),
        ("/home", NoSpace::System),
        ("/mnt", NoSpace::System),
        ("/proc/self", NoSpace::System),
        ("relative", NoSpace::NotAbsolute),
        ("/does/not/exist", NoSpace::NotAFolder),
    ];
    let of_ours = [
        ("home", NoSpace::Home),
        ("", NoSpace::Home),
        ("home/.config", NoSpace::Hidden),
        ("home/.config/x", NoSpace::Hidden),
        ("home/looks-harmless", NoSpace::Hidden),
        ("data", NoSpace::OwnData),
        ("data/blobs", NoSpace::OwnData),
        ("home/file", NoSpace::NotAFolder),
        // Its hooks would be told by no pattern, which begins at a project's folder.
        ("home/proj/.git", NoSpace::Guarded),
        ("home/proj/.git/hooks", NoSpace::Guarded),
        ("home/innocent", NoSpace::Guarded),
        ("home/proj/.vscode", NoSpace::Guarded),
        ("home/proj/.github", NoSpace::Guarded),
        ("home/proj/.github/workflows", NoSpace::Guarded),
        ("home/repo.git", NoSpace::Guarded),
        ("home/repo.git/hooks", NoSpace::Guarded),
    ];
    let refused = refused.iter().map(|(path, why)| (Path::new(path).to_path_buf(), *why));
    for (path, expected) in refused.chain(of_ours.iter().map(|(path, why)| (base.join(path), *why))) {
        let result = Space::open(&path, &places(base)).map(|_| ());
        assert!(
            matches!(&result, Err(FileError::NotASpace { why, .. }) if *why == expected),
            "{path:?}: {result:?}"
        );
    }
    let judge = |path: &str| {
        crate::files::places::judge(
            Path::new(path),
            Path::new("/home/mia"),
            Path::new("/home/mia/.local/share/miki"),
        )
    };
    assert_eq!(judge("/home/mia-else"), Some(NoSpace::Home));
    for path in ["/home/mia/a/.GIT/x", "/srv/www/.git", "/home/mia/a/.gi\u{200c}t", "/mnt/disk/.vscode"] {
        assert_eq!(judge(path), Some(NoSpace::Guarded), "{path}");
    }
    assert!(Space::open(&base.join("home/proj"), &places(base)).is_ok());
    assert!(Space::open(&base.join("home/proj/git/config"), &places(base)).is_ok());
    for path in ["/home/mia/work", "/tmp/x", "/run/media/u/disk", "/srv/www", "/mnt/disk", "/media/u/disk"] {
        assert_eq!(judge(path), None, "{path}");
    }
    let mut elsewhere = places(base);
    elsewhere.data = base.join("home/mia/data");
    // It need not be there yet.
    let result = Space::open(&base.join("home/mia"), &elsewhere);
    assert!(matches!(result, Err(FileError::NotASpace { why: NoSpace::OwnData, .. })));
}
