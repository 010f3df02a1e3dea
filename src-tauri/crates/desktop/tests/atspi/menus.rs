//! Menus by their path, in GTK and Qt.

use desktop::{ActionMethod, DesktopError};

use super::stage::{Stage, elements, menu};

#[tokio::test(flavor = "multi_thread")]
async fn an_editors_menu_is_pressed_by_its_path_without_being_opened() {
    let mut stage = Stage::open();
    let file = stage.write("pond.txt", "old pond\n");
    for (program, arguments, new) in [
        ("mousepad", ["--disable-server", &file], ["File", "New"]),
        ("featherpad", ["--standalone", &file], ["File", "New"]),
    ] {
        stage.start(program, &arguments);
        let desktop = stage.desktop();
        elements(&desktop, program, |seen| seen.iter().any(|one| one.value.starts_with("old pond"))).await;

        let error = menu(&desktop, program, &["File", "No such thing"]).await.unwrap_err();
        let DesktopError::NotFound(why) = &error else { panic!("{error:?}") };
        assert!(why.contains("\"No such thing\" in \"File\"") && why.contains("\"New\""), "{why}");
        let error = menu(&desktop, program, &["Fish"]).await.unwrap_err();
        assert!(error.to_string().contains("\"File\", \"Edit\""), "{error}");
        let error = menu(&desktop, program, &["File"]).await.unwrap_err();
        assert!(matches!(&error, DesktopError::BadInput(why) if why.contains("opens a menu")), "{error:?}");
        let error = menu(&desktop, program, &[]).await.unwrap_err();
        assert!(matches!(&error, DesktopError::BadInput(_)), "{error:?}");

        let done = menu(&desktop, program, &new).await.unwrap();
        assert_eq!(done.by, ActionMethod::Accessibility);
        assert_eq!(done.called, "menu item \"File > New\"");
        assert!(done.acted.note.contains("its shortcut is Ctrl+N"), "{program}: {done:?}");
        // A new document: a second tab or window, empty.
        elements(&desktop, program, |seen| {
            seen.iter().filter(|one| one.role == "page tab").count() > 1
                || seen.iter().any(|one| one.role == "text" && one.value.is_empty())
        })
        .await;
    }
}
