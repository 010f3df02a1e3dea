//! One run over all that there is: documents of a folder read, a command that sums, a table written, a date in a real
//! calendar server, and the table opened in the editor on the screen. Taken back, all is as it was.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use outside::fake_model::{Asked, FakeModel, Mind, MindTurn};
use outside::miki::{self, Miki, check_file};
use outside::stage::Stage;
use outside::{LONG, Process, wait_for};
use protocol::command::{AnswerApproval, RunOverrides, StartRun, StartedRun};
use protocol::event::RunEnd;
use protocol::tool::Answer;
use serde_json::json;

use crate::beyond::files;

const PDF: &[u8] = include_bytes!("../../../src-tauri/crates/space/src/files/tests/data/letter.pdf");
const XLSX: &[u8] = include_bytes!("../../../src-tauri/crates/space/src/files/tests/data/table.xlsx");
const USER: &str = "anna";
const PASSWORD: &str = "canary-Pass-1";
const TABLE: &str = "invoice,amount\nletter.pdf,42.50\nmarch.txt,7.25\ntable.xlsx,42.50\ntotal,92.25\n";

/// A real calendar server with one calendar, `work`. It ends with the test.
struct Radicale {
    url: String,
    folder: PathBuf,
    _process: Process,
}

impl Radicale {
    fn start(stage: &Stage) -> Self {
        let folder = stage.path("radicale");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("users"), format!("{USER}:{PASSWORD}\n")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "[server]\nhosts = 127.0.0.1:{port}\n[auth]\ntype = htpasswd\nhtpasswd_filename = {0}/users\n\
             htpasswd_encryption = plain\ndelay = 0\n[storage]\nfilesystem_folder = {0}/collections\n",
            folder.display()
        );
        fs::write(folder.join("config"), config).unwrap();
        // Where set-up puts it; `RADICALE_PYTHON` names another.
        let ours = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools").join("radicale/bin/python");
        let python = std::env::var_os("RADICALE_PYTHON").map_or(ours, PathBuf::from);
        let mut command = stage.command(&python);
        command.args(["-m", "radicale", "--config"]).arg(folder.join("config"));
        let process = stage.launch("radicale", "radicale (run: cargo xtask setup)", command).unwrap();
        let radicale = Self { url: format!("http://127.0.0.1:{port}"), folder, _process: process };
        wait_for("Radicale", LONG, || TcpStream::connect(("127.0.0.1", port)).ok()).unwrap();
        let made = radicale.ask(port, "MKCALENDAR", &format!("/{USER}/office/"));
        assert!(made.starts_with("HTTP/1.1 201") || made.starts_with("HTTP/1.0 201"), "{made}");
        radicale
    }

    /// As another program of the same person's.
    fn ask(&self, port: u16, method: &str, path: &str) -> String {
        let body = r#"<C:mkcalendar xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><set><prop>
<displayname>Work</displayname></prop></set></C:mkcalendar>"#;
        let key = BASE64_STANDARD.encode(format!("{USER}:{PASSWORD}"));
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nAuthorization: Basic {key}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// What the server has on its disk.
    fn events(&self) -> Vec<String> {
        let calendar = self.folder.join("collections/collection-root").join(USER).join("office");
        let entries = fs::read_dir(calendar).unwrap().map(|entry| entry.unwrap().path());
        let objects = entries.filter(|path| path.extension().is_some_and(|ending| ending == "ics"));
        objects.map(|path| fs::read_to_string(path).unwrap()).collect()
    }
}

/// Reads what the documents say, and goes by that.
#[derive(Default)]
struct Clerk {
    step: usize,
    amounts: Vec<(String, Vec<f64>)>,
    deadline: String,
    looked: u32,
}

impl Clerk {
    fn call(&mut self, tool: &str, arguments: serde_json::Value) -> MindTurn {
        self.step += 1;
        MindTurn::call("", tool, arguments)
    }

    /// The amounts of a document: what stands last in a line that begins with a name.
    fn read(&mut self, name: &str, text: &str) {
        let lines = text.split("--- sheet Notes").next().unwrap_or_default().lines();
        let amount = |line: &str| {
            let named = line.chars().next().is_some_and(char::is_alphabetic);
            line.split_whitespace().last().filter(|_| named)?.parse::<f64>().ok()
        };
        // A year is no amount.
        let amounts = lines.filter_map(amount).filter(|amount| *amount < 1_000.0).collect();
        self.amounts.push((name.to_owned(), amounts));
        if let Some((_, date)) = text.split_once("Deadline: 24 December 2026").map(|_| ((), "2026-12-24")) {
            self.deadline = date.into();
        }
    }

    fn look(&mut self) -> MindTurn {
        self.looked += 1;
        assert!(self.looked < 20, "the editor never showed the table");
        MindTurn::call("", "elementsJson", json!({ "app": "Mousepad" }))
    }
}

impl Mind for Clerk {
    fn turn(&mut self, asked: &Asked) -> MindTurn {
        let results = asked.results();
        match self.step {
            0 => self.call("useTools", json!({ "groups": ["files", "terminal", "agenda"] })),
            1 => self.call("listFiles", json!({})),
            2 => {
                self.step += 1;
                let names = results[0].field("entries");
                let named = |name: &str| format!("{names}{:?}", results[0].response).contains(name);
                let all = ["letter.pdf", "march.txt", "table.xlsx"];
                assert!(all.into_iter().all(named), "{:?}", results[0].response);
                let calls = all.map(|name| ("readFile".to_owned(), json!({ "path": name })));
                MindTurn { calls: calls.to_vec(), ..MindTurn::default() }
            }
            3 => {
                for result in results {
                    let (path, text) = (result.field("path"), result.field("text"));
                    self.read(path.as_str().unwrap(), text.as_str().unwrap());
                }
                let all: Vec<String> =
                    self.amounts.iter().flat_map(|(_, amounts)| amounts).map(ToString::to_string).collect();
                let sum = format!(
                    "printf '%s\\n' {} | awk '{{ sum += $1 }} END {{ printf \"%.2f\", sum }}'",
                    all.join(" ")
                );
                self.call("runCommand", json!({ "command": sum }))
            }
            4 => {
                let told = format!("{:?}", results[0].response);
                let total = if told.contains("92.25") { "92.25" } else { panic!("{told}") };
                let of = |(name, amounts): &(String, Vec<f64>)| {
                    format!("{name},{:.2}\n", amounts.iter().sum::<f64>())
                };
                let lines: String = self.amounts.iter().map(of).collect();
                let text = format!("invoice,amount\n{lines}total,{total}\n");
                self.call("writeFile", json!({ "path": "table.csv", "text": text }))
            }
            5 => {
                let deadline = self.deadline.clone();
                self.call("createEvent", json!({ "title": "Invoices are due", "start": deadline }))
            }
            6 => self.call("elementsJson", json!({ "app": "Mousepad" })),
            7 => {
                let elements = asked.elements();
                let area = |e: &&outside::fake_model::SentElement| e.width * e.height;
                let texts = elements.iter().filter(|element| element.role.contains("text"));
                let Some(text) = texts.max_by(|a, b| area(a).total_cmp(&area(b))) else { return self.look() };
                let (x, y) = text.center();
                self.call("click", json!({ "x": x, "y": y, "reason": "the editor is meant" }))
            }
            8 => self.call("hotkey", json!({ "keys": ["ctrl", "o"] })),
            9 if !asked.elements().iter().any(|one| one.role.contains("button") && one.name == "Open") => {
                self.look()
            }
            // A slash opens the dialog's field for a path.
            9 => self.call("type", json!({ "text": "/" })),
            10 => {
                let place = asked.heard.messages.first().map(|said| format!("{said:?}")).unwrap_or_default();
                let (_, rest) = place.split_once("folder /").unwrap();
                let folder = rest.split(|c: char| c.is_whitespace() || c == '"' || c == ':').next().unwrap();
                self.call("type", json!({ "text": format!("{folder}/table.csv") }))
            }
            11 => self.call("press", json!({ "key": "Enter" })),
            _ if results.last().is_some_and(|result| result.window().contains("table.csv")) => {
                MindTurn::done("92.25 in all, due on 24 December", true)
            }
            _ => self.look(),
        }
    }
}

#[test]
fn invoices_become_a_table_a_date_in_the_calendar_and_an_open_editor_in_one_run_that_is_taken_back_to_the_byte()
 {
    let stage = Stage::full().unwrap();
    let radicale = Radicale::start(&stage);
    let folder = stage.path("home").join("Invoices");
    fs::create_dir_all(folder.join("old")).unwrap();
    fs::write(folder.join("letter.pdf"), PDF).unwrap();
    fs::write(folder.join("table.xlsx"), XLSX).unwrap();
    fs::write(folder.join("march.txt"), "Invoice of March\nAmount: 7.25\n").unwrap();
    fs::write(folder.join("old/note.txt"), "paid").unwrap();
    let before = files(&folder);
    let editor = stage.open_editor(None).unwrap();
    let screen = stage.screen().unwrap();
    let model = FakeModel::start(Clerk::default()).unwrap();
    let settings = json!({ "calendarUrl": radicale.url, "calendarUser": USER, "calendar": "Work" });
    let miki =
        Miki::with_model(&stage, "miki", &model.url(), settings).unwrap().env("MIKI_KEY_CALDAV", PASSWORD);
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
    screen.activate(&editor.window).unwrap();
    let space = folder.to_string_lossy().into_owned();
    let goal = format!(
        "sum the amounts in the invoices of the folder {space} into a table, put the deadline into the calendar, \
         and open the table in the editor"
    );
    let overrides = RunOverrides { space: Some(space), ..RunOverrides::default() };
    let started = client.call(StartRun { goal, session: None, overrides }.into()).unwrap();
    let StartedRun { session, run } = serde_json::from_value(started).unwrap();
    let history = wait_for("the run's end", 2 * LONG, || {
        // What the documents say is untrusted: what leaves the machine after that asks, even so.
        for question in client.overview().ok()?.questions {
            let (approval, digest) = (question.approval.id, question.approval.digest);
            client.call(AnswerApproval { approval, digest, answer: Answer::Once }.into()).unwrap();
        }
        let history = client.history(&session).ok()?;
        miki::end(&history).is_some().then_some(history)
    })
    .unwrap();
    assert!(matches!(miki::end(&history), Some(RunEnd::Completed { .. })), "{history:#?}");
    check_file(&folder.join("table.csv"), TABLE).unwrap();
    let events = radicale.events();
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(events[0].contains("SUMMARY:Invoices are due"), "{events:?}");
    assert!(events[0].contains("DTSTART;VALUE=DATE:20261224"), "{events:?}");
    let titles: Vec<String> = screen.windows().unwrap().into_iter().map(|window| window.title).collect();
    assert!(
        titles.iter().any(|title| title.contains("table.csv") && title.contains("Mousepad")),
        "{titles:?}"
    );

    let undone = miki.run(&stage, &["undo", run.as_str()]).unwrap();
    assert_eq!(undone.code(), 0, "{} {}", undone.stdout, undone.stderr);
    assert_eq!(files(&folder), before, "byte for byte as before");
    assert_eq!(radicale.events(), Vec::<String>::new());
    drop(editor);
}
