//! Ctrl-C, and the system's wish that the program end, as messages.

use protocol::{ErrorCode, ErrorView};
use tokio::sync::mpsc;

/// What `work` comes to; `None` if the user wished the end before. The work is dropped then.
pub async fn unless<T>(interrupts: &mut mpsc::Receiver<()>, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        Some(()) = interrupts.recv() => None,
        done = work => Some(done),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_hangs_ends_with_the_wish_and_other_work_by_itself() {
        let (sender, mut interrupts) = mpsc::channel(1);
        assert_eq!(unless(&mut interrupts, async { 7 }).await, Some(7));
        sender.send(()).await.unwrap();
        assert_eq!(unless(&mut interrupts, std::future::pending::<u8>()).await, None);
        drop(sender);
        assert_eq!(unless(&mut interrupts, async { 7 }).await, Some(7));
    }
}
