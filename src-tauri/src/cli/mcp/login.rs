//! `miki mcp login`: the user signs in at a server, in their browser. The engine holds the flow and the tokens; here its address
//! is shown and opened.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use protocol::ErrorView;
use protocol::command::{BeginSignIn, FinishSignIn, SignOut, TestServer};
use protocol::mcp::ServerState;

use crate::cli::text::plain;
use crate::cli::{say, tell};
use crate::exit::Exit;
use crate::link::Link;

/// Signs in, then says what the server offers.
pub async fn login(
    link: &Link,
    name: String,
    client: Option<String>,
    scopes: Vec<String>,
) -> Result<Exit, ErrorView> {
    // Whoever answers says which address is opened, and with it where a password is typed.
    link.check_is_miki()?;
    let open = link.call(BeginSignIn { server: name.clone(), client, scopes }).await?;
    tell(&format!("sign in at {} in your browser:", plain(&name)));
    say(&format!("  {}", plain(&open)));
    if !opens(&open) {
        tell("no browser could be started here; open that address in one on this machine");
    }
    link.call(FinishSignIn { server: name.clone() }).await?;
    tell(&format!("{}: signed in; the tokens are in the keychain", plain(&name)));
    let view = link.call(TestServer { server: name.clone() }).await?;
    super::show(&view);
    if matches!(view.state, ServerState::Connected) {
        tell(&format!("  agree to its tools: miki mcp agree {}", plain(&name)));
    }
    Ok(super::exit_of(&view))
}

pub async fn logout(link: &Link, name: String) -> Result<Exit, ErrorView> {
    link.call(SignOut { server: name.clone() }).await?;
    tell(&format!("{}: the tokens are forgotten; its own side may still know of them", plain(&name)));
    Ok(Exit::Done)
}

/// Opens an address in the user's browser, by the system's own opener; whether one comes is not known. Only what the engine
/// has found fit comes here: it begins with `http`, and is no option of a program.
fn opens(address: &str) -> bool {
    let (program, before): (PathBuf, &[&str]) = if cfg!(target_os = "macos") {
        ("/usr/bin/open".into(), &["-u"])
    } else if cfg!(windows) {
        let root = std::env::var_os("SystemRoot").unwrap_or_else(|| r"C:\Windows".into());
        (PathBuf::from(root).join("System32").join("rundll32.exe"), &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open".into(), &[])
    };
    if !address.starts_with("http") {
        return false;
    }
    let mut command = Command::new(program);
    command.args(before).arg(address);
    // What it opens gets its environment, and lives on.
    command.env_clear().envs(desktop::environment::for_children());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut started) = command.spawn() else { return false };
    // Someone has to take its exit code.
    std::thread::spawn(move || started.wait());
    true
}
