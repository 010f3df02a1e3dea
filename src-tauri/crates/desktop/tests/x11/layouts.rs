//! Text in many scripts on many keyboard layouts, into a real editor, read back.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use desktop::{Action, Evidence};

use crate::screen::{Screen, token};
use crate::typing::editor;

const TEXTS: [(&str, &str); 14] = [
    (
        "Latin",
        "The quick brown fox, 42 times: {a[0]} @ ~/home ^ `x` \"y\" 'z' | \\ # $ % & * _ + = < > ? ! ;",
    ),
    ("Latin with accents", "Čeština, Français, Türkçe: ß ø ñ ő ı"),
    ("Greek", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία"),
    ("Cyrillic", "Съешь ещё этих мягких французских булок"),
    ("Arabic, right to left", "نص حكيم له سر قاطع وذو شأن عظيم"),
    ("Hebrew, right to left", "דג סקרן שט בים מאוכזב"),
    ("Devanagari", "ऋषियों को सताने वाले दुष्ट राक्षसों"),
    ("Thai", "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า"),
    ("Chinese", "視野無限廣,窗外有藍天"),
    ("Japanese", "いろはにほへと チリヌルヲ 色は匂へど"),
    ("Korean", "다람쥐 헌 쳇바퀴에 타고파"),
    ("emoji joined", "👩🏽‍🚀 👨‍👩‍👧‍👦 🏳️‍🌈 🇯🇵 ✍️"),
    ("combining marks", "e\u{301} n\u{303} a\u{308}\u{304} ก\u{0e34}\u{0e48}"),
    ("both directions", "abc עברית 123 عربي xyz"),
];

fn use_layout(screen: &Screen, layout: &str) {
    let mut command = Command::new("setxkbmap");
    command.args(["-display", &screen.display, "-layout", layout]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success(), "setxkbmap {layout}");
}

/// Texts that were typed again, on all layouts.
static AGAIN: AtomicUsize = AtomicUsize::new(0);

async fn all_texts_read_back_equal_on(layout: &str) {
    let (screen, desktop) = editor().await;
    use_layout(&screen, layout);
    for (script, text) in TEXTS {
        // Where the editor is too slow to be read, nothing is known of the text: it is typed again behind it.
        let mut acted = Vec::new();
        while acted.len() < 3 && acted.last() != Some(&Evidence::ReadBack) {
            let typed = desktop.act(Action::Type { text: text.into() }, token()).await;
            let typed = typed.unwrap_or_else(|error| panic!("{script} on {layout}: {error}"));
            assert!(!typed.evidence.falls_short(), "{script} on {layout}: {}", typed.note);
            acted.push(typed.evidence);
        }
        assert_eq!(acted.last(), Some(&Evidence::ReadBack), "{script} on {layout}: {acted:?}");
        let again = AGAIN.fetch_add(acted.len() - 1, Ordering::Relaxed) + acted.len() - 1;
        assert!(again <= 5, "{again} texts were typed again");
    }
}

// bar: C79
#[tokio::test]
async fn text_in_ten_scripts_reads_back_equal_on_an_american_layout() {
    all_texts_read_back_equal_on("us").await;
}

#[tokio::test]
async fn text_in_ten_scripts_reads_back_equal_on_a_german_layout() {
    all_texts_read_back_equal_on("de").await;
}

#[tokio::test]
async fn text_in_ten_scripts_reads_back_equal_on_a_french_layout() {
    all_texts_read_back_equal_on("fr").await;
}

#[tokio::test]
async fn text_in_ten_scripts_reads_back_equal_on_a_russian_layout() {
    all_texts_read_back_equal_on("ru").await;
}

#[tokio::test]
async fn text_in_ten_scripts_reads_back_equal_on_a_japanese_layout() {
    all_texts_read_back_equal_on("jp").await;
}
