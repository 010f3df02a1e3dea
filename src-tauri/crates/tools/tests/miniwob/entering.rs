//! Tasks in which something is to be entered: texts, passwords, dates, forms, commands.

use anyhow::{Context as _, Result, bail};
use browser::WebElement;

use crate::mind::{Mind, PATIENCE, See, has, in_order, tasks};
use crate::words::{between, colour, first_quoted, quoted};

tasks! {
    "enter-text" => a_text,
    "enter-text-dynamic" => a_text,
    "enter-text-2" => a_text_in_upper_or_lower_case,
    "enter-password" => a_password_twice,
    "enter-date" => a_date,
    "enter-time" => a_time,
    "login-user" => a_login,
    "login-user-popup" => a_login_behind_a_popup,
    "multi-layouts" => a_search_form,
    "multi-orderings" => a_search_form,
    "use-autocomplete" => what_completes,
    "use-autocomplete-nodelay" => what_completes,
    "use-colorwheel" => a_colour,
    "use-colorwheel-2" => the_colour_shown,
    "copy-paste" => by_the_clipboard,
    "copy-paste-2" => by_the_clipboard,
    "guess-number" => guesses,
    "generate-number" => numbers_until_one_fits,
    "terminal" => a_command,
}

async fn a_text(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    mind.fill(&mind.nth("textbox", 0).await?, first_quoted(&task)?).await?;
    mind.click_named("Submit").await
}

async fn a_text_in_upper_or_lower_case(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let text = first_quoted(&task)?;
    let text = if task.contains("upper case") { text.to_uppercase() } else { text.to_lowercase() };
    // By the real keyboard.
    mind.click(&mind.nth("textbox", 0).await?).await?;
    mind.call("type", serde_json::json!({ "text": text })).await?;
    mind.click(&mind.named("Submit").await?).await
}

async fn a_password_twice(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    for field in mind.of_role("textbox").await? {
        mind.fill(&field, first_quoted(&task)?).await?;
    }
    mind.click_named("Submit").await
}

async fn a_date(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let date: Vec<&str> = between(&task, "Enter ", " as the date")?.split('/').collect();
    let [month, day, year] = date[..] else { bail!("{task:?} has no date") };
    mind.fill(&mind.nth("textbox", 0).await?, &format!("{year}-{month}-{day}")).await?;
    mind.click_named("Submit").await
}

async fn a_time(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let time = between(&task, "Enter ", " as the time")?;
    let (hours, rest) = time.split_once(':').context("no time")?;
    let (minutes, half) = rest.split_at(2);
    let hours = hours.parse::<u32>()? % 12 + if half.contains('P') { 12 } else { 0 };
    mind.fill(&mind.nth("textbox", 0).await?, &format!("{hours:02}:{minutes}")).await?;
    mind.click_named("Submit").await
}

async fn a_login(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    for (index, text) in quoted(&task).into_iter().enumerate() {
        mind.fill(&mind.nth("textbox", index).await?, text).await?;
    }
    mind.click_named("Login").await
}

/// A popup that comes in between is sent away, and what it has kept from being typed is typed again.
async fn a_login_behind_a_popup(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    for (index, text) in quoted(&task).into_iter().enumerate() {
        mind.web_click(&mind.nth("textbox", index).await?).await?;
        if let Some(cancel) = mind.elements(See::Active).await?.iter().find(|one| one.name == "Cancel") {
            mind.click(cancel).await?;
        }
        mind.fill(&mind.nth("textbox", index).await?, text).await?;
    }
    mind.click_named("OK").await
}

/// The fields have no names: they stand in the order of their labels, wherever these are.
async fn a_search_form(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let (genre, name) =
        (between(&task, "Search for ", " movies")?, between(&task, "directed by ", " from year")?);
    let year = between(&task, "from year ", ".")?;
    let seen = mind.elements(See::All).await?;
    let value = |label: &str| match label.trim_end_matches(':') {
        "Genre" | "Movie Genre" => Some(genre),
        "Director" | "Director Name" => Some(name),
        "Year" | "Released Date" => Some(year),
        _ => None,
    };
    let labels = in_order(seen.iter().filter(|one| value(&one.name).is_some()).cloned().collect());
    let fields = in_order(seen.iter().filter(|one| one.role == "textbox").cloned().collect());
    for (label, field) in labels.iter().zip(&fields) {
        mind.fill(field, value(&label.name).unwrap_or_default()).await?;
    }
    let button = mind
        .seek("button", See::Active, |seen| {
            seen.iter().find(|one| ["Submit", "Search", "Go!"].contains(&one.name.as_str())).cloned()
        })
        .await?;
    mind.click(&button).await
}

async fn what_completes(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let words = quoted(&task);
    let start = words.first().copied().context("no beginning is named")?;
    let end = words.get(1).copied().unwrap_or_default();
    let field = mind.nth("textbox", 0).await?;
    complete(mind, &field, start, |name| name.starts_with(start) && name.ends_with(end)).await?;
    mind.click_named("Submit").await
}

/// Types the beginning, and clicks what fits of what is offered below the field.
pub async fn complete(
    mind: &Mind,
    field: &WebElement,
    start: &str,
    fits: impl Fn(&str) -> bool,
) -> Result<()> {
    let fitting = |seen: &[WebElement]| {
        seen.iter().find(|one| one.bounds.y > field.bounds.y && fits(&one.name)).cloned()
    };
    let mut tries = 0;
    loop {
        mind.fill(field, start).await?;
        tries += 1;
        // A field that was filled before may take the keyboard back late, which closes this one's list.
        match mind.seek_for(PATIENCE / 4, "item that fits", See::Page, fitting).await {
            Ok(item) => return mind.click(&item).await,
            Err(error) if tries == 4 => return Err(error),
            Err(_) => {}
        }
    }
}

async fn a_colour(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let name = between(&task, "Select ", " with the color picker")?;
    let code = colour(name).with_context(|| format!("{name:?} is no known colour"))?;
    pick_colour(mind, code).await
}

async fn the_colour_shown(mind: &Mind) -> Result<()> {
    let shown = mind
        .seek("colour", See::All, |seen| {
            let swatch = seen.iter().find(|one| crate::mind::hinted(one, "cc"))?;
            crate::words::colour_in(&swatch.hint).map(str::to_owned)
        })
        .await?;
    pick_colour(mind, &shown).await
}

async fn pick_colour(mind: &Mind, code: &str) -> Result<()> {
    mind.fill(&mind.nth("textbox", 0).await?, code.trim_start_matches('#')).await?;
    // The picker lies over the button until the field is left.
    mind.press("Tab", 1).await?;
    mind.click_named("Submit").await
}

/// With the real keys for it.
async fn by_the_clipboard(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let seen = mind.of_role("textbox").await?;
    let long = |one: &&WebElement| has(one, "multiline");
    let index = crate::words::ordinals(&task).first().copied().unwrap_or(0);
    let source = seen.iter().filter(long).nth(index).context("no such text")?;
    let target = seen.iter().find(|one| !long(one)).context("no field")?;
    mind.click(source).await?;
    mind.hotkey(&["ctrl", "a"]).await?;
    mind.hotkey(&["ctrl", "c"]).await?;
    mind.click(target).await?;
    mind.hotkey(&["ctrl", "v"]).await?;
    mind.click_named("Submit").await
}

async fn guesses(mind: &Mind) -> Result<()> {
    let (mut least, mut most) = (0, 9);
    let field = mind.nth("spinbutton", 0).await?;
    while least <= most {
        let guess = (least + most) / 2;
        mind.fill(&field, &guess.to_string()).await?;
        mind.web_click(&mind.named("Submit").await?).await?;
        let (_, said) = mind.read().await?;
        let says = |word: &str| said.iter().any(|line| line.contains(&format!("{word} than {guess}")));
        if says("higher") {
            least = guess + 1;
        } else if says("lower") {
            most = guess - 1;
        } else {
            return Ok(());
        }
    }
    bail!("no number is left")
}

async fn numbers_until_one_fits(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let bound = crate::words::number(&task).unwrap_or_default();
    let fits = |number: i64| {
        if task.contains("less than") {
            number < bound
        } else if task.contains("greater than") {
            number > bound
        } else {
            (number % 2 == 0) == task.contains("even")
        }
    };
    loop {
        mind.web_click(&mind.named("Generate").await?).await?;
        let (_, lines) = mind.read().await?;
        let number = lines.iter().find_map(|line| line.parse().ok()).context("no number was made")?;
        if fits(number) {
            return mind.click_named("Submit").await;
        }
    }
}

/// By the real keyboard: the page takes keys, not texts.
async fn a_command(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let terminal =
        mind.seek("terminal", See::All, |seen| seen.iter().find(|one| one.name == "user$").cloned()).await?;
    mind.click(&terminal).await?;
    mind.call("type", serde_json::json!({ "text": "ls\n" })).await?;
    let ending = task.split_once("extension .").map(|(_, ending)| ending.trim());
    let fits = |name: &&str| match ending {
        Some(ending) => name.ends_with(&format!(".{ending}")),
        None => !name.contains('.'),
    };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    loop {
        let (_, lines) = mind.read().await?;
        // What was typed last has one line of files below it.
        let listed = lines.iter().skip_while(|line| !line.ends_with("ls")).nth(1);
        if let Some(name) = listed.and_then(|line| line.split_whitespace().find(fits)) {
            mind.call("type", serde_json::json!({ "text": format!("rm {name}\n") })).await?;
            return Ok(());
        }
        if std::time::Instant::now() >= end {
            bail!("no file fits in {lines:?}");
        }
    }
}
