//! Names that are most like a wished one. Pure: whose names they are is the caller's to know.

/// Names that are told.
const TOLD: usize = 3;
/// How alike two names must be, of 1.
const ALIKE: f64 = 0.75;
/// Parts of a name that are looked at: no vendor's has as many.
const PARTS: usize = 8;
/// How much less alike one is that has more behind it.
const LEFT_OUT: f64 = 0.001;

/// Those of `names` that are most like `wished`, the likest first; never `wished` itself.
pub(crate) fn near<'a>(wished: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut alike: Vec<(f64, &str)> = names
        .into_iter()
        .filter(|name| *name != wished)
        .map(|name| (how_alike(name, wished), name))
        .filter(|(how, _)| *how >= ALIKE)
        .collect();
    alike.sort_by(|one, other| other.0.total_cmp(&one.0).then_with(|| other.1.cmp(one.1)));
    alike.into_iter().take(TOLD).map(|(_, name)| name).collect()
}

fn how_alike(name: &str, wished: &str) -> f64 {
    let (name, wished) = (name.to_lowercase(), wished.to_lowercase());
    // Many servers say whose a model is before its name, and people leave that out.
    let name = match name.rsplit_once('/') {
        Some((_, bare)) if !wished.contains('/') => bare,
        _ => &name,
    };
    // What is behind a name, a date or how finished it is, is often left out; with a mistake in the name as well.
    let ends = name.char_indices().filter(|(_, c)| "-:@".contains(*c)).map(|(at, _)| at).take(PARTS);
    let shorter = ends.map(|end| strsim::jaro_winkler(&name[..end], &wished) - LEFT_OUT);
    shorter.fold(strsim::jaro_winkler(name, &wished), f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::catalogue;

    fn of_table(provider: &str, wished: &str) -> Vec<&'static str> {
        near(wished, catalogue().of(provider).iter().map(|model| model.id.as_str()))
    }

    #[test]
    fn a_name_that_is_not_there_is_answered_with_near_ones() {
        assert_eq!(of_table("gemini", "gemini-3-flash")[0], "gemini-3-flash-preview");
        assert_eq!(of_table("gemini", "gemini-3-flsh")[0], "gemini-3-flash-preview");
        assert!(of_table("anthropic", "claude-opus-5.5").contains(&"claude-opus-5-5"));
        assert!(of_table("openai", "zzz").is_empty());
        assert!(of_table("openai", "").is_empty());
    }

    #[test]
    fn the_name_itself_is_never_near_and_no_more_than_three_are() {
        let names = ["m-1", "m-2", "m-3", "m-4", "m-5"];
        assert_eq!(near("m-4", names), ["m-5", "m-3", "m-2"]);
    }

    #[test]
    fn what_is_left_out_or_written_large_is_near_all_the_same() {
        let names = ["qwen/qwen3-vl-8b", "qwen3-vl:8b", "llama-4-scout", "Qwen/Qwen3-VL-32B"];
        assert_eq!(near("qwen3-vl-8b", names)[0], "qwen/qwen3-vl-8b");
        assert_eq!(near("qwen3-vl", ["qwen3:8b", "qwen3-vl:8b"])[0], "qwen3-vl:8b");
        assert_eq!(near("qwen/qwen3-vl-32b", names)[0], "Qwen/Qwen3-VL-32B");
        assert_eq!(near("grok-4.8", ["x-ai/grok-4.7", "meta/llama"]), ["x-ai/grok-4.7"]);
    }
}
