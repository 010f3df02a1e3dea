//! Ctrl-C, and the system's wish that the program end, as messages.

use protocol::{ErrorCode, ErrorView};
use tokio::sync::mpsc;

/// One message for each Ctrl-C, SIGTERM or closed console. Once a process.
///
/// # Errors
/// [`ErrorCode::Internal`] where the system takes no handler: better not to begin what could not be stopped.
pub fn listen() -> Result<mpsc::Receiver<()>, ErrorView> {
    let (sender, receiver) = mpsc::channel(4);
    ctrlc::set_handler(move || {
        // A full queue holds more wishes than are needed already.
        let _ = sender.try_send(());
    })
    .map_err(|error| ErrorView::new(ErrorCode::Internal, format!("ctrl-c cannot be heard: {error}")))?;
    Ok(receiver)
}
