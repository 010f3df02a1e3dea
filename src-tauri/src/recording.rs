//! Files of recordings: opened, and what is wrong with one said with its name. What is in them is `models::recording`'s.

use std::fs::OpenOptions;
use std::io;

use models::recording::{Recorder, Replay};
use models::{Model, Remote};
use protocol::{ErrorCode, ErrorView};

use crate::engine::blocking;

/// The model, with each turn written to a new file from now on. Nobody but its user may read it.
///
/// # Errors
/// `BadRequest` where the file is there already or cannot be written.
pub async fn record(file: String, model: Remote) -> Result<Remote, ErrorView> {
    blocking(move || {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let out = options.open(&file).map_err(|error| unwritable(&file, &error))?;
        let recorder = Recorder::begin(Box::new(out), model.id(), model.provider(), model.computer());
        recorder.map(|recorder| model.recorded_by(recorder)).map_err(|error| unwritable(&file, &error))
    })
    .await?
}

/// Bytes of a recording: what is read, is read whole.
const LONGEST: u64 = 256 * 1024 * 1024;

/// The model that a file plays.
///
/// # Errors
/// `NotFound` where there is none; `BadRequest` where it cannot be played.
pub async fn replay(file: String) -> Result<Replay, ErrorView> {
    blocking(move || {
        let kind = std::fs::metadata(&file).ok();
        if kind.is_some_and(|kind| !kind.is_file() || kind.len() > LONGEST) {
            let message = format!("cannot read the recording {file}: it is no file, or longer than 256 MB");
            return Err(ErrorView::new(ErrorCode::BadRequest, message));
        }
        let recording = std::fs::read(&file).map_err(|error| {
            let code = match error.kind() {
                io::ErrorKind::NotFound => ErrorCode::NotFound,
                _ => ErrorCode::BadRequest,
            };
            ErrorView::new(code, format!("cannot read the recording {file}: {error}"))
        })?;
        Replay::read(&recording).map_err(|error| {
            ErrorView::new(ErrorCode::BadRequest, format!("cannot replay {file}: {error}"))
                .with_hint("record the run again: miki run --record FILE \"GOAL\"")
        })
    })
    .await?
}

fn unwritable(file: &str, error: &io::Error) -> ErrorView {
    let view = ErrorView::new(ErrorCode::BadRequest, format!("cannot record to {file}: {error}"));
    match error.kind() {
        io::ErrorKind::AlreadyExists => view.with_hint("name a file that is not there yet"),
        _ => view.with_hint("name a file in a folder that you may write"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_cannot_be_replayed_is_named_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let missing = replay(path("missing")).await.unwrap_err();
        assert_eq!(missing.code, ErrorCode::NotFound);
        for (content, why) in [
            ("hello", "it is no recording of a run"),
            ("{\"kind\":\"miki recording\",\"version\":1}\n", "of version 1"),
            ("{\"kind\":\"miki recording\",\"version\":2}\n", "damaged or cut in line 1"),
        ] {
            std::fs::write(folder.path().join("recording"), content).unwrap();
            let error = replay(path("recording")).await.unwrap_err();
            assert_eq!(error.code, ErrorCode::BadRequest);
            assert!(error.message.contains(why) && error.message.contains(&path("recording")), "{error:?}");
        }
    }
}
