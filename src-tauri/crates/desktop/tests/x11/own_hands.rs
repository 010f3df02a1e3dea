//! A pointer and a keyboard of an agent's own: what they do in a window, and that its user notices nothing.

use desktop::{
    Action, Button, Desktop, DesktopError, Evidence, Fence, Key, Taker, WindowChange, WindowId, WindowView,
};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{
    ChangeMode, ConnectionExt as _, Device, HierarchyChange, HierarchyChangeData,
    HierarchyChangeDataAddMaster, HierarchyChangeDataRemoveMaster,
};
use x11rb::protocol::xkb::ConnectionExt as _;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask, InputFocus,
    KEY_PRESS_EVENT, KEY_RELEASE_EVENT, MOTION_NOTIFY_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;
use x11rb::x11_utils::Serialize as _;

use protocol::geometry::NormPoint;

use crate::screen::{Screen, Target, at, token, wait_for};
use crate::typing::{clipboard, copy, editor, write};

const GREEN: u32 = 0x0020_b040;
const BLUE: u32 = 0x0010_30d0;

/// The devices that there are, by name.
fn devices(conn: &RustConnection) -> Vec<String> {
    conn.xinput_xi_query_version(2, 2).unwrap().reply().unwrap();
    let known = conn.xinput_xi_query_device(Device::ALL).unwrap().reply().unwrap().infos;
    known.iter().map(|device| String::from_utf8_lossy(&device.name).into_owned()).collect()
}

fn ours(conn: &RustConnection) -> usize {
    devices(conn).iter().filter(|name| name.starts_with("Miki ")).count()
}

fn change(conn: &RustConnection, data: HierarchyChangeData) {
    conn.xinput_xi_query_version(2, 2).unwrap().reply().unwrap();
    let mut change = HierarchyChange { len: 0, data };
    change.len = u16::try_from(change.serialize().len() / 4).unwrap();
    conn.xinput_xi_change_hierarchy(&[change]).unwrap().check().unwrap();
}

/// What a user would notice: the active window, the stacking, the focus, the pointer.
fn noticed(conn: &RustConnection) -> (Vec<u32>, Vec<u32>, u32, (i16, i16)) {
    let root = conn.setup().roots[0].root;
    let windows = |name: &[u8]| {
        let name = conn.intern_atom(false, name).unwrap().reply().unwrap().atom;
        let told = conn.get_property(false, root, name, AtomEnum::WINDOW, 0, 64).unwrap().reply().unwrap();
        told.value32().map(Iterator::collect::<Vec<u32>>).unwrap_or_default()
    };
    let pointer = conn.query_pointer(root).unwrap().reply().unwrap();
    let focus = conn.get_input_focus().unwrap().reply().unwrap().focus;
    (
        windows(b"_NET_ACTIVE_WINDOW"),
        windows(b"_NET_CLIENT_LIST_STACKING"),
        focus,
        (pointer.root_x, pointer.root_y),
    )
}

fn keys(target: &Target) -> Vec<(u8, bool)> {
    let pressed = |event: &Event| match event {
        Event::KeyPress(key) => Some((key.detail, u16::from(key.state) & 1 == 1)),
        _ => None,
    };
    target.events().iter().filter_map(pressed).collect()
}

/// A point of a window, which its window manager may have placed elsewhere.
fn within(target: &Target, x: f64, y: f64) -> (f64, f64) {
    let root = target.conn.setup().roots[0].root;
    let origin = target.conn.translate_coordinates(target.window, root, 0, 0).unwrap().reply().unwrap();
    (f64::from(origin.dst_x) + x, f64::from(origin.dst_y) + y)
}

/// The user's hand: a key of the core keyboard.
fn user_types(conn: &RustConnection, code: u8) {
    let root = conn.setup().roots[0].root;
    for kind in [KEY_PRESS_EVENT, KEY_RELEASE_EVENT] {
        conn.xtest_fake_input(kind, code, 0, root, 0, 0, 0).unwrap();
    }
    conn.flush().unwrap();
}

fn click_at(at: NormPoint) -> Action {
    Action::Click { display: 0, at, button: Button::Left, count: 1, held: vec![] }
}

async fn with_hands(desktop: &dyn Desktop, agent: &str) -> std::sync::Arc<dyn Desktop> {
    desktop.with_own_hands(agent.into()).await.unwrap()
}

#[tokio::test]
async fn an_agent_clicks_and_types_in_one_window_while_its_user_types_in_another() {
    let screen = Screen::new().with_window_manager();
    let its = Target::new(&screen, "its", (100, 100, 300, 200), GREEN);
    let users = Target::new(&screen, "users", (600, 100, 300, 200), BLUE);
    // As every toolkit does; to others the server tells the modifiers of the user's keyboard.
    its.conn.xkb_use_extension(1, 0).unwrap().reply().unwrap();
    let user = screen.connect();
    let root = user.setup().roots[0].root;
    user.xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, root, 700, 500, 0).unwrap();
    user.set_input_focus(InputFocus::PARENT, users.window, 0u32).unwrap();
    wait_for("the user's window to be active", || (noticed(&user).0 == [users.window]).then_some(()));
    let before = noticed(&user);
    let desktop = screen.desktop();
    let agent = with_hands(&*desktop, "one").await;
    assert_eq!(ours(&user), 4, "{:?}", devices(&user));
    its.events();
    users.events();
    let point = |x: f64, y: f64| {
        let (x, y) = within(&its, x, y);
        at(x, y)
    };

    const A: u8 = 38;
    for round in 0..20 {
        user_types(&user, A);
        let clicked = agent.act(click_at(point(100.0, 80.0)), token()).await.unwrap();
        assert_eq!(clicked.evidence, Evidence::Sent, "{}", clicked.note);
        user_types(&user, A);
        agent.act(Action::Type { text: "Bo".into() }, token()).await.unwrap();
        assert_eq!(noticed(&user), before, "round {round}");
    }
    let right =
        Action::Click { display: 0, at: point(120.0, 90.0), button: Button::Right, count: 3, held: vec![] };
    agent.act(right, token()).await.unwrap();
    agent
        .act(Action::Scroll { display: 0, at: point(120.0, 90.0), down: 2, right: 0, held: vec![] }, token())
        .await
        .unwrap();
    let path = vec![point(50.0, 50.0), point(150.0, 120.0)];
    agent.act(Action::Drag { display: 0, path, button: Button::Left, held: vec![] }, token()).await.unwrap();
    let moved = agent.act(Action::Move { display: 0, to: point(80.0, 70.0) }, token()).await.unwrap();
    assert_eq!(moved.evidence, Evidence::ReadBack, "{}", moved.note);
    // Of a key that a window manager has for itself, the user's window would be closed.
    agent.act(Action::Hotkey { keys: vec![Key::Alt, Key::F(4)] }, token()).await.unwrap();
    assert_eq!(noticed(&user), before);

    let events = its.events();
    let count = |button: u8| {
        let is_it = |event: &&Event| matches!(event, Event::ButtonPress(press) if press.detail == button);
        events.iter().filter(is_it).count()
    };
    assert_eq!((count(1), count(3), count(5)), (21, 3, 2));
    let typed = |event: &Event| match event {
        Event::KeyPress(key) => Some((key.detail, u16::from(key.state) & 1 == 1)),
        _ => None,
    };
    let typed: Vec<(u8, bool)> = events.iter().filter_map(typed).collect();
    // Shift and B, o, twenty times; then Alt and F4.
    assert_eq!(typed.len(), 62, "{typed:?}");
    assert_eq!(&typed[1..3], &[(56, true), (32, false)]);
    assert_eq!(keys(&users), vec![(A, false); 40]);

    drop(agent);
    assert_eq!(ours(&user), 0, "{:?}", devices(&user));
}

#[tokio::test]
async fn two_agents_hold_what_is_theirs_and_a_stop_lets_go_of_one_alone() {
    let screen = Screen::new().with_window_manager();
    let first = Target::new(&screen, "first", (100, 100, 300, 200), GREEN);
    let second = Target::new(&screen, "second", (600, 100, 300, 200), BLUE);
    let desktop = screen.desktop();
    let (one, other) = (with_hands(&*desktop, "one").await, with_hands(&*desktop, "other").await);
    let button = Button::Left;
    for (agent, target) in [(&one, &first), (&other, &second)] {
        let (x, y) = within(target, 100.0, 50.0);
        agent.act(Action::ButtonDown { display: 0, at: at(x, y), button }, token()).await.unwrap();
    }
    assert!(one.is_holding() && other.is_holding() && !desktop.is_holding());
    one.release_all();
    first.event("the first's release", |event| matches!(event, Event::ButtonRelease(_)).then_some(()));
    assert!(!one.is_holding() && other.is_holding());
    let is_up = |event: &Event| matches!(event, Event::ButtonRelease(_));
    assert!(!second.events().iter().any(is_up), "the second's came up with it");
    // Gone with its hands, and so is what they held.
    drop(other);
    second.event("the second's release", |event| is_up(event).then_some(()));
}

/// Whoever removes them, a core request of ours would mean the user's own from then on.
#[tokio::test]
async fn once_they_are_taken_away_nothing_is_done_with_the_users_own() {
    let screen = Screen::new().with_window_manager();
    let target = Target::new(&screen, "target", (100, 100, 300, 200), GREEN);
    let conn = screen.connect();
    let desktop = screen.desktop();
    let agent = with_hands(&*desktop, "one").await;
    let (x, y) = within(&target, 100.0, 50.0);
    agent.act(click_at(at(x, y)), token()).await.unwrap();
    let before = noticed(&conn);
    conn.xinput_xi_query_version(2, 2).unwrap().reply().unwrap();
    let known = conn.xinput_xi_query_device(Device::ALL_MASTER).unwrap().reply().unwrap().infos;
    let ours = known.iter().find(|one| one.name.starts_with(b"Miki ") && one.name.ends_with(b" pointer"));
    let remove = HierarchyChangeDataRemoveMaster {
        deviceid: ours.unwrap().deviceid,
        return_mode: ChangeMode::FLOAT,
        return_pointer: 0,
        return_keyboard: 0,
    };
    change(&conn, HierarchyChangeData::RemoveMaster(remove));
    target.events();
    let path = vec![at(x, y), at(x + 50.0, y + 50.0)];
    let (button, held) = (Button::Left, Vec::new());
    for act in [
        click_at(at(x, y)),
        Action::Move { display: 0, to: at(x, y) },
        Action::Drag { display: 0, path, button, held },
        Action::ButtonDown { display: 0, at: at(x, y), button },
        Action::Type { text: "for nobody".into() },
        Action::Hotkey { keys: vec![Key::Ctrl, Key::Char('a')] },
    ] {
        let error = agent.act(act.clone(), token()).await.unwrap_err();
        assert!(
            matches!(&error, DesktopError::NotAvailable(why) if why.contains("removed")),
            "{act:?} {error}"
        );
    }
    assert_eq!(noticed(&conn), before);
    let met = target.events();
    assert!(!met.iter().any(|event| matches!(event, Event::ButtonPress(_) | Event::KeyPress(_))), "{met:?}");
    assert!(!agent.is_holding());
}

#[tokio::test]
async fn what_a_dead_program_left_is_removed_by_the_next() {
    let screen = Screen::new();
    let conn = screen.connect();
    let desktop = screen.desktop();
    let agent = with_hands(&*desktop, "one").await;
    // Of a process that there is not, and of one that is not ours.
    let dead = ["Miki 2147483000.0 of a dead one", "Miki 1.7 of another program", "of somebody else"];
    for name in dead {
        let add = HierarchyChangeDataAddMaster { send_core: true, enable: true, name: name.into() };
        change(&conn, HierarchyChangeData::AddMaster(add));
    }
    assert_eq!(devices(&conn).iter().filter(|name| name.contains(" dead one")).count(), 4);
    let next = with_hands(&*desktop, "two").await;
    let left = devices(&conn);
    assert!(
        !left.iter().any(|name| name.contains("dead one") || name.contains("another program")),
        "{left:?}"
    );
    assert_eq!(left.iter().filter(|name| name.contains("somebody else")).count(), 4, "{left:?}");
    assert_eq!(ours(&conn), 8, "{left:?}");
    drop((agent, next));
}

#[tokio::test]
async fn what_an_agent_types_into_an_editor_arrives_while_its_user_works_elsewhere() {
    let (screen, desktop) = editor().await;
    let users = Target::new(&screen, "users", (700, 500, 300, 200), BLUE);
    let user = screen.connect();
    wait_for("the user's window to be active", || {
        users.focus();
        (noticed(&user).0 == [users.window]).then_some(())
    });
    let before = noticed(&user);
    let agent = with_hands(&*desktop, "one").await;
    let windows = agent.windows().await.unwrap();
    let editor = windows.iter().find(|window| window.app.to_lowercase().contains("mousepad")).unwrap();
    let has_keys = |windows: &[WindowView]| {
        let focused = windows.iter().find(|one| one.states.iter().any(|state| state == "focused"));
        focused.map(|one| one.title.clone())
    };
    let stepped = agent.change_window(editor.id, WindowChange::Focus).await.unwrap();
    assert_eq!(stepped.evidence, Evidence::ReadBack, "{}", stepped.note);
    // Each has an active window of its own.
    assert_eq!(has_keys(&agent.windows().await.unwrap()), Some(editor.title.clone()));
    assert_eq!(has_keys(&desktop.windows().await.unwrap()), Some("users".to_owned()));
    assert_eq!(agent.taker(None).await, Taker::Window(editor.id));
    // A toolkit tells of no focus in a window that is not the user's active one.
    assert_eq!((agent.field().await, desktop.field().await), (None, None));

    copy(&screen, "what the user had copied");
    for text in ["Typed by its own keys.\n", "枯枝に烏のとまりけり秋の暮 🍁"] {
        let typed = write(&*agent, text).await;
        assert_eq!(typed.evidence, Evidence::Sent, "{}", typed.note);
        assert_eq!(noticed(&user), before, "{}", typed.note);
    }
    assert_eq!(clipboard(&screen), "what the user had copied");
    // The fence is its own, too.
    agent.fence(Fence { apps: vec!["other".into()], ..Fence::default() });
    let error = agent.act(Action::Type { text: "no".into() }, token()).await.unwrap_err();
    assert!(matches!(error, DesktopError::Forbidden(_)), "{error}");
    assert!(desktop.fenced().apps.is_empty());
    assert!(keys(&users).is_empty());
    desktop.change_window(editor.id, WindowChange::Focus).await.unwrap();
    let text = desktop.field().await.unwrap().text;
    assert_eq!(text, "Typed by its own keys.\n枯枝に烏のとまりけり秋の暮 🍁");
}

#[tokio::test]
async fn a_covered_window_does_not_come_up_for_an_agent() {
    let screen = Screen::new();
    let covered = Target::new(&screen, "covered", (100, 100, 300, 200), GREEN);
    let above = Target::new(&screen, "above", (50, 50, 500, 400), BLUE);
    above.focus();
    let conn = screen.connect();
    let before = noticed(&conn);
    let agent = with_hands(&*screen.desktop(), "one").await;
    let error =
        agent.change_window(WindowId(u64::from(covered.window)), WindowChange::Focus).await.unwrap_err();
    assert!(
        matches!(&error, DesktopError::BadInput(why) if why.contains("covered by other windows")),
        "{error}"
    );
    assert_eq!(noticed(&conn), before);
}

/// As GTK 3 and Chromium do when an element of theirs is to have the focus, and as Qt does when it is clicked.
#[tokio::test]
async fn a_window_that_comes_to_the_front_by_itself_while_an_agent_acts_gives_the_keyboard_back() {
    let screen = Screen::new().with_window_manager();
    let its = Target::new(&screen, "its", (100, 100, 300, 200), GREEN);
    let users = Target::new(&screen, "users", (600, 100, 300, 200), BLUE);
    let user = screen.connect();
    let root = user.setup().roots[0].root;
    let active = user.intern_atom(false, b"_NET_ACTIVE_WINDOW").unwrap().reply().unwrap().atom;
    let wish = |window: u32, source: u32| {
        let event = ClientMessageEvent::new(32, window, active, [source, 0, 0, 0, 0]);
        let read_by = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        user.send_event(false, root, read_by, event).unwrap().check().unwrap();
    };
    let focus = |window: u32| {
        user.set_input_focus(InputFocus::PARENT, window, 0u32).unwrap().check().unwrap();
    };
    let is_active = |window: u32| (noticed(&user).0 == [window]).then_some(());
    let go_to = |target: &Target| {
        let (x, y) = within(target, 50.0, 50.0);
        user.xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, root, x as i16, y as i16, 0).unwrap();
    };
    go_to(&users);
    wish(users.window, 2);
    wait_for("the user's window to be active", || is_active(users.window));
    let before = noticed(&user);
    let seen = ChangeWindowAttributesAux::new().event_mask(EventMask::FOCUS_CHANGE);
    user.change_window_attributes(its.window, &seen).unwrap().check().unwrap();
    let desktop = screen.desktop();
    let agent = with_hands(&*desktop, "one").await;
    let click = || {
        let (x, y) = within(&its, 100.0, 80.0);
        click_at(at(x, y))
    };
    let takes: [&dyn Fn(); 2] = [&|| wish(its.window, 1), &|| focus(its.window)];
    for (round, take) in takes.into_iter().enumerate() {
        agent.act(click(), token()).await.unwrap();
        while user.poll_for_event().unwrap().is_some() {}
        take();
        wait_for("the window to have the keyboard", || {
            let event = user.poll_for_event().unwrap()?;
            matches!(event, Event::FocusIn(_)).then_some(())
        });
        wait_for("the user's window to be active again", || is_active(users.window));
        wait_for("its keyboard", || (noticed(&user).2 == before.2).then_some(()));
        assert_eq!(noticed(&user), before, "round {round}");
    }
    // What the user wants stands: through a panel, or with their pointer in it.
    agent.act(click(), token()).await.unwrap();
    wish(its.window, 2);
    wait_for("the window that the user has chosen", || is_active(its.window));
    agent.act(click(), token()).await.unwrap();
    assert_eq!(noticed(&user).0, [its.window]);
    wish(users.window, 2);
    wait_for("the user's window to be active", || is_active(users.window));
    go_to(&its);
    agent.act(click(), token()).await.unwrap();
    focus(its.window);
    wait_for("the window that the user has gone into", || is_active(its.window));
    agent.act(click(), token()).await.unwrap();
    assert_eq!(noticed(&user).0, [its.window]);
}
