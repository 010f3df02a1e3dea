//! The engine's most frequent sentences in the language of the windows. The engine speaks English; what is not known here is
//! shown as it came.

use protocol::settings::Language;

/// English, and the same in Japanese; `{}` stands for what is others' or a number.
const SENTENCES: &[(&str, &str)] = &[
    // what a run does
    ("waiting for the model", "モデルの応答を待っています"),
    ("paused", "一時停止中"),
    ("paused after this: {} goes on until it ends", "この操作が終わると一時停止します：{}"),
    ("waits for the desktop: {}", "デスクトップが空くのを待っています：{}"),
    ("the model did not answer; trying again in {} s", "モデルの応答がありません。{} 秒後に再試行します"),
    ("proposes a plan", "計画を提案しています"),
    ("asks whether it is done", "完了してよいか確認しています"),
    ("asks you something", "質問があります"),
    ("waits for an agent that waits for you", "あなたを待っているエージェントを待っています"),
    ("the server {} asks you something", "サーバー「{}」からの質問があります"),
    ("asks whether it may: {}", "実行してよいか確認しています：{}"),
    // who stopped or paused it
    ("by the user, in the dashboard", "あなたがダッシュボードで操作しました"),
    ("by the user, in the chat widget", "あなたがチャットで操作しました"),
    ("by the user, in the overlay", "あなたがオーバーレイで操作しました"),
    ("by the user, in the tray menu", "あなたがトレイメニューで操作しました"),
    ("by the user, on the command line", "あなたがコマンドラインで操作しました"),
    (
        "went on by itself: Miki had ended in the middle of it, and was started again",
        "Miki の終了で中断されましたが、再起動後に自動で再開しました",
    ),
    // what came of a call
    ("started an agent: {}", "エージェントを開始しました：{}"),
    ("stopped an agent", "エージェントを停止しました"),
    ("answered an agent", "エージェントに回答しました"),
    // why it asks
    (
        "within a plan that you allow nothing is asked; what leaves it asks as before",
        "計画を許可すると、その範囲内では確認しません。範囲外の操作はこれまでどおり確認します",
    ),
    (
        "one of these actions can do what cannot be undone, or send something out",
        "元に戻せない操作、または外部への送信が含まれる可能性があります",
    ),
    (
        "one of these actions can change something on this computer",
        "このコンピューターの何かを変更する操作が含まれます",
    ),
    (
        "{} can do what cannot be undone, or send something out",
        "{}：元に戻せない操作、または外部への送信になる可能性があります",
    ),
    ("{} can change something on this computer", "{}：このコンピューターの何かを変更する可能性があります"),
];

/// Between what Miki says of a question and what the model says.
const THE_MODEL_SAYS: (&str, &str) = ("; the model says: ", "。モデルの説明：");
/// Between why it asks at all and what it asks about in particular.
const NAMELY: (&str, &str) = (": ", "。");

/// A sentence of the engine.
pub fn told(language: Language, text: &str) -> String {
    match language {
        Language::English => text.to_owned(),
        Language::Japanese => whole(text).unwrap_or_else(|| text.to_owned()),
    }
}

/// Why a question is asked: its lead, what it is about in particular, and what the model says, which stays as it is.
pub fn why(language: Language, text: &str) -> String {
    if language == Language::English {
        return text.to_owned();
    }
    let (ours, theirs) = match text.split_once(THE_MODEL_SAYS.0) {
        Some((ours, theirs)) => (ours, format!("{}{theirs}", THE_MODEL_SAYS.1)),
        None => (text, String::new()),
    };
    let ours = match ours.split_once(NAMELY.0) {
        _ if whole(ours).is_some() => whole(ours),
        Some((lead, rest)) => whole(lead).map(|lead| format!("{lead}{}{rest}", NAMELY.1)),
        None => None,
    };
    ours.map_or_else(|| text.to_owned(), |ours| ours + &theirs)
}

fn whole(text: &str) -> Option<String> {
    SENTENCES.iter().find_map(|(english, japanese)| match english.split_once("{}") {
        None => (text == *english).then(|| (*japanese).to_owned()),
        Some((before, after)) => {
            let of = text.strip_prefix(before)?.strip_suffix(after)?;
            Some(japanese.replace("{}", of))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the engine says them.
    const SOURCES: [&str; 4] = [
        include_str!("../../src-tauri/crates/agent/src/engine.rs"),
        include_str!("../../src-tauri/crates/agent/src/run/status.rs"),
        include_str!("../../src-tauri/crates/tools/src/router.rs"),
        include_str!("../../src-tauri/crates/tools/src/tool/agents.rs"),
    ];

    #[test]
    fn each_sentence_is_one_that_the_engine_says() {
        for (english, japanese) in SENTENCES {
            assert_eq!(english.contains("{}"), japanese.contains("{}"), "{english}");
            let parts = english.split("{}").flat_map(|part| part.split("one of these actions "));
            for part in parts.flat_map(|part| part.split("by the user, ")) {
                let part = part.trim_matches([' ', ':']);
                assert!(SOURCES.iter().any(|source| source.contains(part)), "the engine never says: {part}");
            }
        }
    }

    #[test]
    fn what_is_others_stays_as_it_is_and_so_does_what_is_not_known() {
        let told = |text| told(Language::Japanese, text);
        assert_eq!(told("asks whether it may: click"), "実行してよいか確認しています：click");
        assert_eq!(told("the moon is full"), "the moon is full");
        let why = |text| why(Language::Japanese, text);
        assert_eq!(
            why("type can change something on this computer; the model says: paused"),
            "type：このコンピューターの何かを変更する可能性があります。モデルの説明：paused"
        );
        assert_eq!(
            why("click can do what cannot be undone, or send something out: it says Send"),
            "click：元に戻せない操作、または外部への送信になる可能性があります。it says Send"
        );
        assert_eq!(why("a: b; the model says: c"), "a: b; the model says: c");
    }
}
