//! What an answer in words comes to, and several choices in one line. Pure.

use protocol::elicitation::LEFT_OUT;

/// Between choices of which several may be taken.
const BETWEEN: &str = ", ";

/// What is sent for what is written; `None` while it would be no answer. What may be left out is left out by an empty field.
pub fn answer_of(may_be_left_out: bool, written: &str) -> Option<String> {
    match written.trim() {
        "" if may_be_left_out => Some(LEFT_OUT.to_owned()),
        "" => None,
        written => Some(written.to_owned()),
    }
}

/// Whether a choice is among those that are taken.
pub fn chosen_in(all: &str, name: &str) -> bool {
    all.split(BETWEEN).any(|one| one == name)
}

/// Those that are taken after one more press on this.
pub fn toggled(all: &str, name: &str) -> String {
    let mut taken: Vec<&str> = all.split(BETWEEN).filter(|one| !one.is_empty()).collect();
    match taken.iter().position(|one| *one == name) {
        Some(at) => _ = taken.remove(at),
        None => taken.push(name),
    }
    taken.join(BETWEEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_field_is_an_answer_only_where_it_may_be_left_out() {
        assert_eq!(answer_of(false, "  "), None);
        assert_eq!(answer_of(true, " ").as_deref(), Some("."));
        assert_eq!(answer_of(false, " Rome "), Some("Rome".to_owned()));
    }

    #[test]
    fn a_choice_is_taken_by_a_press_and_given_back_by_another() {
        let one = toggled("", "red");
        let both = toggled(&one, "dark red");
        assert_eq!(both, "red, dark red");
        assert!(chosen_in(&both, "dark red") && !chosen_in(&both, "dark"));
        assert_eq!(toggled(&both, "red"), "dark red");
    }
}
