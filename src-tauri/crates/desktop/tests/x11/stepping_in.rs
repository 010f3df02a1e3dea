//! How the user stops our hands: the corner, Escape, the user's own mouse and keys; and what is no stepping in.

use std::sync::Arc;
use std::time::{Duration, Instant};

use desktop::{Action, Desktop, Interruption, Key};

use crate::prompt::assert_prompt;
use crate::screen::{HEIGHT, Screen, Target, WIDTH, at, click, token};
use crate::user::{A, ESCAPE, User};

/// Longer than it takes before a hand's moves count.
const AWAY: Duration = Duration::from_secs(1);
const BOUND: Duration = Duration::from_millis(100);
/// Longer than a press elsewhere may take to bring our window to the front.
const COMING: Duration = Duration::from_millis(1500);
/// Between two things that hands do: where the pointer and the focus are is looked at a moment after an event.
const HANDS: Duration = Duration::from_millis(300);
/// For so long Escape is held to stop us.
const HELD: Duration = Duration::from_secs(1);

/// Waits in the background for the next interruption, and tells when it came.
fn listen(desktop: &Arc<dyn Desktop>) -> tokio::task::JoinHandle<(Interruption, Instant)> {
    let desktop = Arc::clone(desktop);
    tokio::spawn(async move { (desktop.interrupted().await, Instant::now()) })
}

async fn within(listening: tokio::task::JoinHandle<(Interruption, Instant)>) -> (Interruption, Instant) {
    tokio::time::timeout(Duration::from_secs(20), listening).await.expect("no interruption").unwrap()
}

/// A screen with a window on it, the pointer in the middle, and a listener who has been there for a while.
async fn scene() -> (Screen, Target, Arc<dyn Desktop>, User) {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), 0x0020_b040);
    target.focus();
    let (desktop, user) = (screen.desktop(), User::new(&screen));
    desktop.act(Action::Move { display: 0, to: at(600.0, 400.0) }, token()).await.unwrap();
    (screen, target, desktop, user)
}

// bar: C78
#[tokio::test(flavor = "multi_thread")]
async fn the_users_mouse_button_and_keys_are_told_within_100_ms() {
    let (_screen, _target, desktop, user) = scene().await;
    let there = std::cell::Cell::new(false);
    let uses: [(&str, &dyn Fn()); 4] = [
        ("a push", &|| user.push(30, 10)),
        ("a click", &|| user.click()),
        ("a key", &|| {
            user.key_down(A);
            user.key_up(A);
        }),
        ("a pointing", &|| user.point(if there.replace(!there.get()) { 300 } else { 500 }, 300)),
    ];
    for (name, use_input) in uses {
        let trial = async || {
            let listening = listen(&desktop);
            tokio::time::sleep(AWAY).await;
            let done = Instant::now();
            use_input();
            let (how, told) = within(listening).await;
            assert_eq!(how, Interruption::UserInput, "{name}");
            told - done
        };
        assert_prompt(name, BOUND, trial).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_acts_and_a_shaken_table_are_no_stepping_in() {
    let (_screen, _target, desktop, user) = scene().await;
    let mut listening = listen(&desktop);
    tokio::time::sleep(AWAY).await;
    for action in [
        click(200.0, 200.0),
        Action::Move { display: 0, to: at(700.0, 500.0) },
        Action::Press { key: Key::Char('a'), times: 3 },
        Action::Type { text: "text".into() },
        Action::Hold { keys: vec![Key::Escape], time: Duration::from_millis(1500) },
        Action::Scroll { display: 0, at: at(300.0, 300.0), down: 2, right: 0, held: vec![] },
    ] {
        desktop.act(action, token()).await.unwrap();
    }
    for _ in 0..20 {
        user.push(1, 0);
        user.push(-1, 0);
    }
    let early = tokio::time::timeout(Duration::from_millis(300), &mut listening).await;
    assert!(early.is_err(), "{early:?}");
    listening.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_does_on_our_own_windows_is_no_stepping_in() {
    let (screen, _target, desktop, user) = scene().await;
    let ours = Target::ours(&screen, (200, 150, 400, 300), 0x0010_30d0);
    ours.focus();
    user.point(300, 200);
    let mut listening = listen(&desktop);
    tokio::time::sleep(AWAY).await;
    user.push(10, 10);
    user.click();
    user.key_down(A);
    user.key_up(A);
    let early = tokio::time::timeout(Duration::from_millis(300), &mut listening).await;
    assert!(early.is_err(), "{early:?}");
    // Once the hand is off our window, it counts again.
    tokio::time::sleep(AWAY).await;
    user.point(900, 600);
    assert_eq!(within(listening).await.0, Interruption::UserInput);
}

/// Whoever is told listens again a moment later, and nothing of that moment is lost.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_presses_before_the_next_one_listens_is_counted() {
    let (_screen, target, desktop, user) = scene().await;
    target.focus();
    user.point(900, 600);
    let listening = listen(&desktop);
    tokio::time::sleep(AWAY).await;
    user.push(-40, -40);
    within(listening).await;
    user.click();
    // The server has told of it by then.
    target.focus();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let listening = listen(&desktop);
    let until = Instant::now() + Duration::from_secs(20);
    while desktop.presses() == 0 && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(desktop.presses(), 1);
    listening.abort();
}

/// So that a yes is not taken for a screen that its user has changed since.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_presses_elsewhere_is_counted_but_for_what_brings_our_window_to_the_front() {
    let (screen, target, desktop, user) = scene().await;
    let ours = Target::ours(&screen, (200, 150, 400, 300), 0x0010_30d0);
    target.focus();
    user.point(900, 600);
    let listener = Arc::clone(&desktop);
    let listening = tokio::spawn(async move {
        loop {
            listener.interrupted().await;
        }
    });
    tokio::time::sleep(AWAY).await;
    let counted = async |wanted: u64| {
        let until = Instant::now() + Duration::from_secs(20);
        while desktop.presses() != wanted && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(desktop.presses(), wanted);
    };
    // The way to our window, and a click that shows it, as in a panel: none of it counts, and what is pressed there neither.
    user.push(-40, -40);
    user.click();
    ours.focus();
    tokio::time::sleep(COMING).await;
    user.point(300, 200);
    user.click();
    user.key_down(A);
    user.key_up(A);
    tokio::time::sleep(COMING).await;
    counted(0).await;
    // A click elsewhere that shows nothing of ours counts: after a while, or as soon as our window is clicked.
    target.focus();
    user.point(900, 600);
    user.click();
    counted(1).await;
    user.click();
    tokio::time::sleep(HANDS).await;
    user.point(300, 200);
    user.click();
    counted(2).await;
    // So does a key, also before the chord that brings ours.
    target.focus();
    user.point(900, 600);
    for code in [A, ESCAPE] {
        user.key_down(code);
        user.key_up(code);
        tokio::time::sleep(HANDS).await;
    }
    ours.focus();
    counted(3).await;
    user.point(300, 200);
    tokio::time::sleep(COMING).await;
    counted(3).await;
    listening.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn escape_held_for_a_second_stops_and_a_short_one_does_not() {
    let (_screen, target, desktop, user) = scene().await;
    let xtest = |kind: u8| {
        use x11rb::connection::Connection as _;
        use x11rb::protocol::xtest::ConnectionExt as _;
        use x11rb::wrapper::ConnectionExt as _;
        let root = user.conn.setup().roots[0].root;
        user.conn.xtest_fake_input(kind, ESCAPE, 0, root, 0, 0, 0).unwrap();
        // The server has done it before anyone asks again which keys are down.
        user.conn.sync().unwrap();
    };
    // By a program other than us (a remote desktop, say): no hand on this computer, but a wish to stop.
    let mut listening = listen(&desktop);
    tokio::time::sleep(Duration::from_millis(200)).await;
    xtest(2);
    tokio::time::sleep(Duration::from_millis(300)).await;
    xtest(3);
    let early = tokio::time::timeout(Duration::from_millis(1200), &mut listening).await;
    assert!(early.is_err(), "{early:?}");
    listening.abort();
    let trial = async || {
        let listening = listen(&desktop);
        tokio::time::sleep(Duration::from_millis(200)).await;
        let pressed = Instant::now();
        xtest(2);
        let (how, told) = within(listening).await;
        xtest(3);
        assert_eq!(how, Interruption::Escape);
        assert!(told - pressed >= HELD, "{:?}", told - pressed);
        told - pressed
    };
    assert_prompt("Escape held", HELD + Duration::from_millis(300), trial).await;
    // By the user: at once a stepping in, after the second a stop.
    let listening = listen(&desktop);
    tokio::time::sleep(AWAY).await;
    user.key_down(ESCAPE);
    assert_eq!(within(listening).await.0, Interruption::UserInput);
    assert_eq!(within(listen(&desktop)).await.0, Interruption::Escape);
    // Nobody has listened for a while, and the watch has closed its eyes: what is held is seen all the same.
    tokio::time::sleep(AWAY).await;
    assert_eq!(within(listen(&desktop)).await.0, Interruption::Escape);
    user.key_up(ESCAPE);
    target.events();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_users_pointer_in_the_corner_is_told_and_so_is_one_that_was_there_already() {
    let (_screen, _target, desktop, user) = scene().await;
    let trial = async || {
        user.point(600, 400);
        tokio::time::sleep(Duration::from_millis(300)).await;
        let listening = listen(&desktop);
        tokio::time::sleep(AWAY).await;
        let done = Instant::now();
        user.point(0, 0);
        let (how, told) = within(listening).await;
        assert_eq!(how, Interruption::Corner);
        told - done
    };
    assert_prompt("the corner", BOUND, trial).await;
    assert_eq!(within(listen(&desktop)).await.0, Interruption::Corner);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_watched_while_nobody_listens_and_all_is_again_after_the_server_came_back() {
    let (mut screen, target, desktop, user) = scene().await;
    drop((target, user));
    drop(desktop.interrupted());
    screen.restart();
    let _target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), 0x0020_b040);
    let user = User::new(&screen);
    let mut listening = listen(&desktop);
    // Until it is connected again, nothing is seen.
    let told = async {
        loop {
            tokio::time::sleep(AWAY).await;
            user.click();
            if listening.is_finished() {
                return (&mut listening).await.unwrap().0;
            }
        }
    };
    let told = tokio::time::timeout(Duration::from_secs(20), told).await.expect("no interruption");
    assert_eq!(told, Interruption::UserInput);
}
