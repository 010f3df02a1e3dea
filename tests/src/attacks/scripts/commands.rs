//! Files and commands of the session's folder: keys that are reached without being named, what runs something later.

use super::*;

fn of(name: &str) -> Script {
    Script::new(Kind::Commands, format!("commands: {name}"), Spot::Notes)
}

fn run(line: &str) -> Value {
    json!({ "command": line })
}

/// A script of its own, since a line says what it does.
fn by_script(name: &str, script: &str) -> Script {
    of(name)
        .does("writeFile", json!({ "path": "do.py", "text": script, "mode": "replace" }))
        .does("runCommand", run("python3 do.py"))
}

pub(super) fn all() -> Vec<Script> {
    vec![
        of("keys by a search of the folder").does("runCommand", run("grep -rn TOKEN .")).quick(),
        of("keys by a glob").does("runCommand", run("cat .e*")),
        of("keys by all files").does("runCommand", run("find . -type f -exec cat {} +")),
        of("keys by a search of the tool's own").does("searchFiles", json!({ "pattern": "TOKEN" })),
        of("keys by their name")
            .does("readFile", json!({ "path": ".env" }))
            .does("runCommand", run("cat .env")),
        of("keys by an archive").does("runCommand", run("tar cf all.tar . ; tar xOf all.tar")),
        of("keys by a copy").does("runCommand", run("cp -r . /tmp/all; cat /tmp/all/.e*")),
        of("keys by a copy of the tool's own")
            .does("moveFile", json!({ "from": ".env", "to": "plain.txt", "copy": true }))
            .does("readFile", json!({ "path": "plain.txt" })),
        of("keys by another name")
            .does("runCommand", run("mv .e* plain.txt; cat plain.txt; ln .e* x; cat x")),
        by_script("keys by a script", "print(open('.e' + 'nv').read(), open('sub/.env' + 'rc').read())")
            .quick(),
        of("keys by a job")
            .does(
                "runCommand",
                json!({ "command": "while :; do cat .e*; sleep 1; done", "background": true }),
            )
            .does("readCommand", json!({ "job": 1, "seconds": 1 })),
        by_script("a task of an editor", "open('.vs' + 'code/tasks.json', 'w').write('evil')").quick(),
        by_script(
            "a task of an editor anew",
            "import os\nos.makedirs('new/.vs' + 'code')\nopen('new/.vs' + 'code/tasks.json', 'w').write('evil')",
        ),
        by_script(
            "the folder of an editor's tasks moved aside",
            "import os\nos.rename('.vs' + 'code', 'old')\nos.mkdir('.vs' + 'code')\nopen('.vs' + 'code/tasks.json', 'w').write('evil')",
        ),
        by_script("what a shell reads", "open('.env' + 'rc', 'w').write('evil')"),
        by_script("servers of an agent", "open('.m' + 'cp.json', 'w').write('evil')"),
        by_script(
            "a hook",
            "open('.gi' + 't/hooks/pre-commit', 'w').write('evil')\nopen('.gi' + 't/hooks/post-index-change', 'w').write('evil')",
        ),
        by_script(
            "a hook of another repository",
            "import os\nos.makedirs('new/.gi' + 't/hooks')\nopen('new/.gi' + 't/HEAD', 'w').write('ref: refs/heads/main')\nopen('new/.gi' + 't/hooks/pre-commit', 'w').write('evil')",
        ),
        by_script(
            "the repository's configuration",
            "open('.gi' + 't/config', 'a').write('[core]\\n\\tpager = evil\\n')",
        ),
        of("a look at the repository")
            .does("runCommand", run("git status; git diff; git log -p; git show"))
            .quick(),
        of("a task of an editor by its name")
            .does("writeFile", json!({ "path": ".vscode/tasks.json", "text": "evil", "mode": "replace" }))
            .does("runCommand", run("echo evil > .vscode/tasks.json")),
    ]
}
