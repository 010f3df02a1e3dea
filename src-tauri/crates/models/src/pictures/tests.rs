//! The sizes of pictures that models get.

use super::*;
use crate::catalogue::catalogue;

const SCREENS: [(u32, u32); 12] = [
    (1280, 720),
    (1280, 800),
    (1366, 768),
    (1440, 900),
    (1920, 1080),
    (1920, 1200),
    (2560, 1440),
    (2560, 1600),
    (3024, 1964),
    (3440, 1440),
    (3840, 2160),
    (5120, 2880),
];

fn size((width, height): (u32, u32)) -> PixelSize {
    PixelSize { width, height }
}

fn of(model: &str) -> &'static Family {
    family(&ModelId(model.into()))
}

/// All known models, and some that nobody knows.
fn models() -> Vec<ModelId> {
    let known = ["gemini", "anthropic", "openai", "xai", "openrouter"]
        .into_iter()
        .flat_map(|provider| catalogue().of(provider).iter().map(move |one| (provider, one.id.as_str())));
    let others = [("ollama", "qwen3-vl:8b"), ("custom", "x"), ("", "")];
    known.chain(others).map(|(provider, name)| ModelId(format!("{provider}/{name}"))).collect()
}

#[test]
fn for_each_model_every_screen_is_within_its_limits_upright_as_well_and_as_large_as_is_best() {
    let models = models();
    assert!(models.len() > 300, "{} models", models.len());
    for model in &models {
        let family = family(model);
        let shapes = SCREENS.into_iter().flat_map(|(width, height)| [(width, height), (height, width)]);
        for screen in shapes.map(size) {
            let picture = family.best().fit(screen);
            assert!(family.limit().holds(picture), "{model}: {screen:?} as {picture:?}");
            assert!(picture.width <= screen.width && picture.height <= screen.height);
            let shape = |size: PixelSize| f64::from(size.width) / f64::from(size.height);
            assert!((shape(picture) / shape(screen) - 1.0).abs() < 0.01, "{model}: {picture:?}");
            // Words of 1280x720 can be read.
            let pixels = picture.width * picture.height;
            assert!(
                pixels > 800_000 || picture == screen || shape(screen) > 2.0 || shape(screen) < 0.5,
                "{model}: {screen:?} as {picture:?}"
            );
        }
    }
}

#[test]
fn a_model_is_in_the_family_that_its_maker_says() {
    for (model, name) in [
        ("anthropic/claude-opus-5-5", "Claude 4.7 and later"),
        ("anthropic/claude-opus-4-8", "Claude 4.7 and later"),
        ("anthropic/claude-sonnet-4-6", "Claude before 4.7"),
        ("openrouter/anthropic/claude-opus-4.6", "Claude before 4.7"),
        ("openrouter/anthropic/claude-opus-5.5", "Claude 4.7 and later"),
        ("openai/gpt-6.1-terra", "GPT-5.4 and later"),
        ("openai/gpt-5.4-mini", "GPT-5.4 and later"),
        ("openai/gpt-5.2", "GPT-5 to 5.3"),
        ("openai/gpt-4o", "GPT-4o, 4.1 and 4.5"),
        ("openai/gpt-4.1-mini", "OpenAI's small ones before 5.4"),
        ("openai/o4-mini", "o4-mini"),
        ("gemini/gemini-3-flash-preview", "Gemini 3 and later"),
        ("gemini/gemini-2.5-flash", "Gemini before 3, Gemma"),
        ("openrouter/google/gemini-3.8-flash", "Gemini 3 and later"),
        ("openrouter/x-ai/grok-4.7", "Grok"),
        ("ollama/qwen3-vl:8b", "any other"),
        ("openrouter/meta-llama/llama-4", "any other"),
    ] {
        assert_eq!(of(model).name, name, "{model}");
    }
}

#[test]
fn a_full_hd_screen_goes_to_the_newest_claude_as_it_is() {
    let full = size((1920, 1080));
    assert_eq!(of("anthropic/claude-opus-5-5").best().fit(full), full);
    assert_eq!(of("openai/gpt-6.1-sol").best().fit(full), size((1600, 900)));
    assert_eq!(of("openai/gpt-4o").best().fit(full), size((1365, 768)));
}

#[test]
fn a_picture_weighs_what_its_provider_counts() {
    let whole = |model: &str| of(model).tokens(of(model).best().fit(size((1920, 1080))), Detail::Whole);
    // 69 x 39 squares of 28 px, 50 x 29 of 32 px, 6 tiles of 512 px.
    assert_eq!(whole("anthropic/claude-opus-5-5"), 2_691);
    assert_eq!(whole("openai/gpt-6.1-sol"), 1_740);
    assert_eq!(whole("openai/gpt-4o"), 85 + 6 * 170);
    assert_eq!(whole("gemini/gemini-3-flash-preview"), 1_120);
    assert_eq!(whole("gemini/gemini-2.5-flash"), 4 * 258);
    let part = |model: &str, detail| of(model).tokens(size((400, 300)), detail);
    assert_eq!(part("gemini/gemini-3-flash-preview", Detail::Quarter), 280);
    assert_eq!(part("gemini/gemini-3-flash-preview", Detail::Whole), 1_120);
    assert_eq!(part("anthropic/claude-opus-5-5", Detail::Quarter), 15 * 11);
    // What is larger than the limit is counted as it is made smaller.
    assert_eq!(
        of("openai/o4-mini").tokens(size((9_000, 9_000)), Detail::Whole),
        (1_521.0_f64 * 1.72).ceil() as u64
    );
}

#[test]
fn the_size_of_a_picture_is_read_from_its_header() {
    let red = include_bytes!("../../data/red.png");
    assert!(size_of(red).is_some_and(|size| size.width > 0 && size.height > 0));
    let jpeg =
        [0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 17, 8, 0x04, 0x38, 0x07, 0x80, 3, 1, 0x22, 0];
    assert_eq!(size_of(&jpeg), Some(size((1920, 1080))));
    assert_eq!(size_of(&jpeg[..12]), None);
    assert_eq!(size_of(b"no picture"), None);
    assert_eq!(size_of(&[]), None);
}
