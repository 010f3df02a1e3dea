//! Tasks that take several steps of which each depends on the one before: a game, an editor.

use anyhow::{Context as _, Result, bail};
use browser::WebElement;

use crate::mind::{Mind, See, hinted, tasks};
use crate::words::between;

tasks! {
    "tic-tac-toe" => a_game,
    "text-editor" => a_style,
}

const LINES: [[usize; 3]; 8] =
    [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];

/// A field of the game: whose it is, if anybody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Free,
    Ours,
    Theirs,
}

async fn a_game(mind: &Mind) -> Result<()> {
    for _ in 0..5 {
        let fields = mind
            .seek("nine fields", See::All, |seen| {
                let field = |at: usize| seen.iter().find(|one| hinted(one, &format!("ttt-{at}"))).cloned();
                (0..9).map(field).collect::<Option<Vec<WebElement>>>()
            })
            .await?;
        let mark = |one: &WebElement| match () {
            () if hinted(one, "mark-x") => Mark::Ours,
            () if hinted(one, "mark-o") => Mark::Theirs,
            () => Mark::Free,
        };
        let marks: Vec<Mark> = fields.iter().map(mark).collect();
        let Some(at) = best(&marks) else { return Ok(()) };
        mind.web_click(&fields[at]).await?;
        let won = |line: &[usize; 3]| line.iter().all(|one| *one == at || marks[*one] == Mark::Ours);
        if LINES.iter().any(won) {
            return Ok(());
        }
    }
    Ok(())
}

/// The field that wins, else the one that does not let the other win, else the one in most open lines.
fn best(marks: &[Mark]) -> Option<usize> {
    let completes = |at: usize, whose: Mark| {
        let others = |line: &[usize; 3]| line.iter().all(|one| *one == at || marks[*one] == whose);
        LINES.iter().any(|line| line.contains(&at) && others(line))
    };
    let free: Vec<usize> = (0..9).filter(|at| marks[*at] == Mark::Free).collect();
    let open = |at: usize| {
        let is =
            |line: &&[usize; 3]| line.contains(&at) && line.iter().all(|one| marks[*one] != Mark::Theirs);
        LINES.iter().filter(is).count()
    };
    [Mark::Ours, Mark::Theirs]
        .into_iter()
        .find_map(|whose| free.iter().copied().find(|at| completes(*at, whose)))
        .or_else(|| free.iter().copied().max_by_key(|at| open(*at)))
}

/// By the keys that every editor has; a colour by its palette.
async fn a_style(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let is_all = task.contains("everything");
    let seen = mind.elements(See::All).await?;
    let text = seen.iter().find(|one| one.hint.contains("ql-editor")).context("no editor")?;
    mind.click(text).await?;
    mind.hotkey(&["ctrl", "home"]).await?;
    if is_all {
        mind.hotkey(&["ctrl", "a"]).await?;
    } else {
        let word = between(&task, "give the text ", " the ")?;
        let (_, lines) = mind.read().await?;
        let line =
            lines.iter().find(|line| line.split(' ').any(|one| one == word)).context("no such word")?;
        let before: usize =
            line.split(' ').take_while(|one| *one != word).map(|one| one.chars().count() + 1).sum();
        if before > 0 {
            mind.press("right", u32::try_from(before)?).await?;
        }
        for _ in word.chars() {
            mind.hotkey(&["shift", "right"]).await?;
        }
    }
    let key =
        [("bold", "b"), ("italics", "i"), ("underlined", "u")].iter().find(|(style, _)| task.contains(style));
    match key {
        Some((_, key)) => mind.hotkey(&["ctrl", key]).await?,
        None => {
            let name = between(&task, "color ", " ").or_else(|_| between(&task, "color ", "."))?;
            let codes = [
                ("red", "#e60000"),
                ("orange", "#ff9900"),
                ("yellow", "#ffff00"),
                ("green", "#008a00"),
                ("blue", "#0066cc"),
                ("purple", "#9933ff"),
            ];
            let Some((_, code)) = codes.iter().find(|(known, _)| *known == name) else {
                bail!("{name:?} is no colour")
            };
            let picker = mind
                .seek("palette", See::All, |seen| {
                    seen.iter().find(|one| one.hint.contains("ql-picker-label")).cloned()
                })
                .await?;
            mind.click(&picker).await?;
            let swatch = mind
                .seek("colour", See::All, |seen| seen.iter().find(|one| one.hint.contains(code)).cloned())
                .await?;
            mind.click(&swatch).await?;
        }
    }
    mind.click_named("Submit").await
}
