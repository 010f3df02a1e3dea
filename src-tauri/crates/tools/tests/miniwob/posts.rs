//! Tasks of mail and of social media: rows with icons that have no names, told by what their hints say.

use anyhow::{Context as _, Result};
use browser::WebElement;

use crate::mind::{Mind, See, hinted, in_order, tasks};
use crate::words::{between, first_quoted, number, quoted};

tasks! {
    "email-inbox" => a_mail,
    "email-inbox-noscroll" => a_mail,
    "email-inbox-delete" => a_mail,
    "email-inbox-important" => a_mail,
    "email-inbox-reply" => a_mail,
    "email-inbox-star-reply" => a_mail,
    "email-inbox-forward" => a_mail,
    "email-inbox-forward-nl" => a_mail_to_be_sent_on,
    "social-media" => one_post,
    "social-media-all" => posts_of_one_user,
    "social-media-some" => posts_of_one_user,
}

async fn a_mail(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let icon = |name: &str| task.contains(&format!("click the {name} icon"));
    if icon("trash") || icon("star") {
        let class = if icon("trash") { "trash" } else { "star" };
        let sender = between(&task, "Find the email by ", " and click")?;
        let icon = mind
            .seek("icon in the row of that mail", See::Page, |seen| {
                let row = row_of(seen, sender)?;
                let (top, end) = (row.bounds.y, row.bounds.y + row.bounds.height);
                let within = |one: &&WebElement| hinted(one, class) && (top..end).contains(&one.bounds.y);
                seen.iter().find(within).cloned()
            })
            .await?;
        return mind.web_click(&icon).await;
    }
    if let Ok(sender) = between(&task, "Find the email by ", " and reply") {
        open(mind, sender).await?;
        click_text(mind, "Reply").await?;
        mind.fill(&mind.nth("textbox", 0).await?, first_quoted(&task)?).await?;
        return click_hinted(mind, "send-reply").await;
    }
    let sender = between(&task, "Find the email by ", " and forward")?;
    send_on(mind, sender, between(&task, "forward that email to ", ".")?).await
}

async fn send_on(mind: &Mind, sender: &str, to: &str) -> Result<()> {
    open(mind, sender).await?;
    click_text(mind, "Forward").await?;
    mind.fill(&mind.nth("textbox", 0).await?, to).await?;
    click_hinted(mind, "send-forward").await
}

/// The list's row of a sender: it can be clicked, and begins with the name.
fn row_of<'a>(seen: &'a [WebElement], sender: &str) -> Option<&'a WebElement> {
    let begins = format!("{sender} ");
    seen.iter().find(|one| one.role == "generic" && one.name.starts_with(&begins))
}

async fn open(mind: &Mind, sender: &str) -> Result<()> {
    let row = mind.seek(sender, See::Page, |seen| row_of(seen, sender).cloned()).await?;
    mind.web_click(&row).await
}

async fn click_text(mind: &Mind, text: &str) -> Result<()> {
    let found = mind.seek(text, See::Page, |seen| seen.iter().find(|one| one.name == text).cloned()).await?;
    mind.web_click(&found).await
}

async fn click_hinted(mind: &Mind, word: &str) -> Result<()> {
    let found = mind.seek(word, See::Page, |seen| seen.iter().find(|one| hinted(one, word)).cloned()).await?;
    mind.web_click(&found).await
}

/// The task is said in many ways; two of the senders are named, one of them as the writer.
async fn a_mail_to_be_sent_on(mind: &Mind) -> Result<()> {
    let (task, lines) = mind.read().await?;
    let words: Vec<&str> = task.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(['.', ',']).to_owned();
    let named: Vec<(usize, String)> = words
        .iter()
        .enumerate()
        .map(|(index, word)| (index, bare(word)))
        .filter(|(_, word)| lines.contains(word))
        .collect();
    let wrote = |index: usize| {
        let before = index.checked_sub(1).map(|before| words[before]).unwrap_or_default();
        let after = words.get(index + 1..).unwrap_or_default();
        ["by", "from"].contains(&before)
            || after.starts_with(&["sent"])
            || after.starts_with(&["wants", "his"])
    };
    let writer = named.iter().find(|(index, _)| wrote(*index)).context("no writer is named")?;
    let reader = named.iter().find(|(_, name)| *name != writer.1).context("no reader is named")?;
    send_on(mind, &writer.1, &reader.1).await
}

/// The icons of this kind in a user's posts: each the first one below the name. The task itself names the user first.
/// Pictures may come later than the posts.
async fn icons(mind: &Mind, user: &str, class: &str) -> Result<Vec<WebElement>> {
    mind.seek("icons in the posts of that user", See::Page, |seen| {
        let names = in_order(seen.iter().filter(|one| one.name == user).cloned().collect());
        let below = |name: &WebElement| {
            let icons = seen.iter().filter(|one| hinted(one, class) && one.bounds.y > name.bounds.y);
            icons.min_by(|one, other| one.bounds.y.partial_cmp(&other.bounds.y).unwrap()).cloned()
        };
        let posts = names.get(1..).filter(|posts| !posts.is_empty())?;
        posts.iter().map(below).collect()
    })
    .await
}

async fn one_post(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let user = between(&task, "For the user ", ",")?;
    let wanted = first_quoted(&task)?;
    let class = match wanted {
        "Reply" => "reply",
        "Retweet" => "retweet",
        "Like" => "like",
        _ => "more",
    };
    mind.web_click(&icons(mind, user, class).await?[0]).await?;
    if class != "more" {
        return Ok(());
    }
    let item = mind
        .seek(wanted, See::Page, |seen| {
            let is_it = |one: &&WebElement| one.role == "listitem" && one.name.starts_with(wanted);
            seen.iter().find(is_it).cloned()
        })
        .await?;
    mind.web_click(&item).await
}

async fn posts_of_one_user(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let user = between(&task, "by ", " and then click")?;
    let class = quoted(&task).first().context("no button is named")?.to_lowercase();
    let many = if task.contains("on all posts") { usize::MAX } else { usize::try_from(number(&task)?)? };
    for icon in icons(mind, user, &class).await?.iter().take(many) {
        mind.web_click(icon).await?;
    }
    click_text(mind, "Submit").await
}
