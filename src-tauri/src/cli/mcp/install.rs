//! `miki mcp install`: writes what Miki serves into the configuration of a client.

use ::mcp::desk::Role;
use protocol::{ErrorCode, ErrorView};

use crate::cli::text::plain;
use crate::cli::{do_tool, say, tell};
use crate::exit::Exit;

/// Shows the difference, asks, and leaves a copy of the old file.
pub async fn install(client: &str, role: Role, consent: bool) -> Result<Exit, ErrorView> {
    let bad = |message: String| ErrorView::new(ErrorCode::BadRequest, message);
    let file = ::mcp::import::file_of(client).ok_or_else(|| {
        bad(format!("{client:?} is no client that is known"))
            .with_hint("clients are claude-desktop, vscode, cursor and gemini-cli")
    })?;
    let program = std::env::current_exe().ok().and_then(|path| path.into_os_string().into_string().ok());
    let program = program.ok_or_else(|| bad("where this program is cannot be told".into()))?;
    let before = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(bad(format!("{} cannot be read: {error}", file.display()))),
    };
    let serves = match role {
        Role::Desktop => "desktop",
        Role::Agent => "agent",
    };
    let after = ::mcp::import::with_server(client, &before, role.name(), &program, &["mcp", serves])
        .map_err(|why| bad(format!("{}: {why}", file.display())))?;
    if after == before {
        tell(&format!("{} has it already", plain(&file.display().to_string())));
        return Ok(Exit::Done);
    }
    tell(&format!("{}:", plain(&file.display().to_string())));
    let diff = similar::TextDiff::from_lines(&before, &after).unified_diff().context_radius(2).to_string();
    diff.lines().for_each(|line| say(&format!("  {}", plain(line))));
    if !do_tool::wants("write it? [y]es; anything else is no: ", consent).await {
        tell("nothing was written");
        return Ok(Exit::NeedsApproval);
    }
    let failed = |error: std::io::Error| {
        ErrorView::new(ErrorCode::Storage, format!("{} cannot be written: {error}", file.display()))
    };
    let folder = file.parent().ok_or_else(|| bad("it has no folder".into()))?;
    std::fs::create_dir_all(folder).map_err(failed)?;
    if before.is_empty() {
        crate::atomic_file::replace(&file, after.as_bytes()).map_err(failed)?;
    } else {
        // One each: the second is no reason to lose the first.
        let copy = file.with_extension(format!("before-{}.json", role.name()));
        std::fs::copy(&file, &copy).map_err(failed)?;
        crate::atomic_file::rewrite(&file, after.as_bytes()).map_err(failed)?;
        tell(&format!("the old one is {}", plain(&copy.display().to_string())));
    }
    tell("written; start the client anew, and keep Miki running: it asks there");
    Ok(Exit::Done)
}
