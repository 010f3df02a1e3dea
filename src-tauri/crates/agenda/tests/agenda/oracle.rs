//! Recurrence against python-dateutil, which comes with Radicale: hundreds of rules, the same occurrences.

use std::io::Write as _;
use std::process::{Command, Stdio};

use agenda::fake::Fake;
use agenda::{Agenda as _, CalendarId, MAX_LISTED, Range};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::radicale::python;
use crate::world::object;

/// DTSTART always counts, as with most calendars; where the rule does not take it, it takes one of `COUNT`.
const ORACLE: &str = r#"
import json, signal, sys, re
from datetime import datetime, timedelta
from dateutil.rrule import rrulestr
class Late(Exception):
    pass
def late(*_):
    raise Late
signal.signal(signal.SIGVTALRM, late)
def answer(first, rule, start, end, most):
    first, start, end = (datetime.fromisoformat(text) for text in (first, start, end))
    parsed = rrulestr(rule, dtstart=first)
    found = {first} if start <= first < end else set()
    count = re.search(r"COUNT=(\d+)", rule)
    left = int(count.group(1)) if count else None
    if left is not None and next(iter(parsed), None) != first:
        left -= 1
    for number, at in enumerate(parsed):
        if at >= end or (left is not None and number >= left):
            break
        if at >= start:
            found.add(at)
        if len(found) > most:
            break
    return [at.isoformat() for at in sorted(found)[:most]]
for line in sys.stdin:
    # It looks through eight thousand years for what never comes, or refuses it.
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.03)
    try:
        said = answer(*json.loads(line))
    except (Late, ValueError):
        said = None
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    print(json.dumps(said))
"#;

/// Numbers that are the same in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn often(&mut self, percent: u64) -> bool {
        self.roll(100) < percent
    }

    fn list(&mut self, most: u64, mut one: impl FnMut(&mut Self) -> String) -> String {
        let mut items: Vec<String> = (0..=self.roll(most)).map(|_| one(self)).collect();
        items.sort();
        items.dedup();
        items.join(",")
    }
}

fn signed(dice: &mut Dice, most: u64) -> String {
    let number = dice.roll(most) + 1;
    if dice.often(30) { format!("-{number}") } else { number.to_string() }
}

fn rule(dice: &mut Dice) -> String {
    let frequency = ["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"]
        [usize::try_from(dice.roll(6)).unwrap()];
    let mut rule = format!("FREQ={frequency}");
    let mut by = 0;
    let mut add = |part: String| {
        rule.push(';');
        rule.push_str(&part);
    };
    if dice.often(50) {
        add(format!("INTERVAL={}", dice.roll(5) + 1));
    }
    if dice.often(25) {
        add(format!("BYMONTH={}", dice.list(3, |dice| (dice.roll(12) + 1).to_string())));
    }
    let month_days = frequency != "WEEKLY" && dice.often(30);
    if month_days {
        by += 1;
        add(format!("BYMONTHDAY={}", dice.list(3, |dice| signed(dice, 31))));
    }
    if frequency == "YEARLY" && dice.often(15) {
        by += 1;
        add(format!("BYYEARDAY={}", dice.list(5, |dice| signed(dice, 366))));
    }
    let weeks = frequency == "YEARLY" && dice.often(15);
    if weeks {
        add(format!("BYWEEKNO={}", dice.list(2, |dice| signed(dice, 53))));
    }
    // dateutil takes all days of a week without BYDAY; RFC 5545 takes the first start's.
    if weeks || dice.often(40) {
        by += 1;
        let nth = matches!(frequency, "YEARLY" | "MONTHLY") && !weeks && dice.often(60);
        add(format!(
            "BYDAY={}",
            dice.list(3, |dice| {
                let day = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"][usize::try_from(dice.roll(7)).unwrap()];
                if nth { format!("{}{day}", signed(dice, 5)) } else { day.to_owned() }
            })
        ));
    }
    if dice.often(20) {
        by += 1;
        add(format!("BYHOUR={}", dice.list(2, |dice| dice.roll(24).to_string())));
    }
    if dice.often(15) {
        by += 1;
        add(format!("BYMINUTE={}", dice.list(2, |dice| dice.roll(60).to_string())));
    }
    // dateutil's first week begins with the first start, not with the week.
    if by > 0 && frequency != "WEEKLY" && dice.often(25) {
        add(format!("BYSETPOS={}", dice.list(2, |dice| signed(dice, 4))));
    }
    if dice.often(30) {
        add(format!("WKST={}", ["MO", "SU", "WE"][usize::try_from(dice.roll(3)).unwrap()]));
    }
    match dice.roll(3) {
        0 => add(format!("COUNT={}", dice.roll(40) + 1)),
        1 => add(format!("UNTIL=202{}0{}15T120000", 5 + dice.roll(4), dice.roll(9) + 1)),
        _ => {}
    }
    rule
}

#[tokio::test]
async fn each_rule_has_the_occurrences_that_dateutil_finds() {
    let mut dice = Dice(0x5eed_0013);
    let mut cases = Vec::new();
    for _ in 0..400 {
        let rule = rule(&mut dice);
        let first = format!(
            "202{}-{:02}-{:02}T{:02}:{:02}:00",
            dice.roll(7),
            dice.roll(12) + 1,
            dice.roll(28) + 1,
            dice.roll(24),
            dice.roll(60)
        );
        let (year, month) = (2024 + dice.roll(5), dice.roll(12) + 1);
        // Short where it comes often.
        let days = if rule.contains("FREQ=MINUTELY") {
            1
        } else if rule.contains("FREQ=HOURLY") {
            10
        } else {
            700
        };
        let start = format!("{year}-{month:02}-01T00:00:00");
        let end: DateTime = start.parse().unwrap();
        let end = end.checked_add(jiff::Span::new().days(days)).unwrap().to_string();
        cases.push((first, rule, start, end));
    }
    let asked: String = cases
        .iter()
        .map(|(first, rule, start, end)| {
            serde_json::json!([first, rule, start, end, MAX_LISTED]).to_string() + "\n"
        })
        .collect();
    let mut oracle = Command::new(python())
        .args(["-c", ORACLE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = oracle.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(asked.as_bytes()).unwrap());
    let said = oracle.wait_with_output().unwrap();
    writer.join().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let expected: Vec<Option<Vec<String>>> =
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(expected.len(), cases.len());
    let (mut wrong, mut some) = (Vec::new(), 0);
    for ((first, rule, start, end), expected) in cases.iter().zip(expected) {
        let Some(expected) = expected else { continue };
        let fake = Fake::new();
        let compact = first.replace(['-', ':'], "");
        let event = format!(
            "BEGIN:VEVENT\nUID:1\nDTSTAMP:20260101T000000Z\nDTSTART:{compact}\nRRULE:{rule}\nEND:VEVENT"
        );
        fake.set("/office/1.ics", &object(&event));
        let range = Range::between(&start.parse().unwrap(), &end.parse().unwrap(), TimeZone::UTC).unwrap();
        let events = fake.events(&range, Some(&CalendarId("/office/".into()))).await.unwrap();
        assert_eq!(events.unreadable, Vec::<String>::new(), "{rule}");
        let found: Vec<String> = events.events.iter().map(|event| event.start.to_string()).collect();
        some += usize::from(!found.is_empty());
        if found != expected {
            let first_wrong = found.iter().zip(&expected).position(|(one, other)| one != other);
            wrong.push(format!(
                "{first} {rule} from {start}: {} of {}, first at {first_wrong:?}",
                found.len(),
                expected.len()
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert!(some > 120, "{some} rules had something to compare");
}
