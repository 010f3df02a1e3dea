//! Tests of `apps`.

use super::*;

#[test]
fn an_unknown_application_is_answered_with_the_nearest_names() {
    let names = ["Mousepad", "Galculator", "Chromium", "Mouse settings"];
    let said = unknown("mosepad", names.into_iter()).to_string();
    let place = |name: &str| said.find(name).unwrap();
    assert!(place("Mousepad") < place("Galculator"), "{said}");
}

#[test]
fn a_launchable_is_known_by_its_name_its_file_its_program_and_its_class() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("org.example.Writer.desktop");
    let text = "[Desktop Entry]\nType=Application\nName=Fine Writer\nExec=/opt/x/fwriter --new %F\nStartupWMClass=Fwr\n";
    std::fs::write(&file, text).unwrap();
    let entry = DesktopEntry::from_path(file, None::<&[&str]>).unwrap();
    let one = Launchable { name: "Fine Writer".into(), entry };
    for name in ["fine writer", "org.example.Writer", "writer", "fwriter", "fwr"] {
        assert!(one.is_called(name), "{name}");
    }
    assert!(!one.is_called("fine") && !one.is_called(""));
    assert_eq!(one.entry.parse_exec().unwrap(), ["/opt/x/fwriter", "--new"]);
}

#[test]
fn an_application_of_a_name_comes_before_another_that_starts_its_program() {
    let folder = tempfile::tempdir().unwrap();
    let launchable = |name: &str| {
        let file = folder.path().join(format!("{name}.desktop"));
        let text = format!("[Desktop Entry]\nType=Application\nName={name}\nExec=xterm\n");
        std::fs::write(&file, text).unwrap();
        Launchable { name: name.into(), entry: DesktopEntry::from_path(file, None::<&[&str]>).unwrap() }
    };
    let file = folder.path().join("notary.desktop");
    std::fs::write(&file, "[Desktop Entry]\nType=Application\nName=Papers\nExec=notary %U\n").unwrap();
    let papers = DesktopEntry::from_path(file, None::<&[&str]>).unwrap();
    let file = folder.path().join("notary-bulk.desktop");
    std::fs::write(&file, "[Desktop Entry]\nType=Application\nName=Bulk\nExec=notary --bulk\n").unwrap();
    let bulk = DesktopEntry::from_path(file, None::<&[&str]>).unwrap();
    let named_so = [
        Launchable { name: "Bulk".into(), entry: bulk },
        Launchable { name: "Papers".into(), entry: papers },
    ];
    assert_eq!(named(&named_so, "Notary").map(|one| one.name.as_str()), Some("Papers"));
    let all = [launchable("Notes"), launchable("XTerm")];
    let found = |app: &str| named(&all, app).map(|one| one.name.as_str());
    assert_eq!(
        (found("xterm"), found("notes"), found("note")),
        (Some("XTerm"), Some("Notes"), Some("Notes"))
    );
}

#[test]
fn what_lies_in_the_users_own_folders_is_not_the_systems_whatever_it_is_called() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("usr");
    std::fs::write(&own, "").unwrap();
    assert!(is_systems(Path::new("/usr/bin/env")) && is_systems(Path::new("/usr/bin/../bin/env")));
    let out = Path::new("/usr").join("..").join(own.strip_prefix("/").unwrap());
    for other in [own.as_path(), &out, Path::new("/usr/bin/none such"), Path::new("env"), Path::new("")] {
        assert!(!is_systems(other), "{}", other.display());
    }
    assert!(program_file("env").is_some_and(|file| is_systems(&file)));
    assert_eq!(program_file(&own.to_string_lossy()), Some(own));
}
