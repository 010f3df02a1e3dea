//! Marks of shapes, on a form of a toolkit that tells nothing: what is found of what is there, and clicks on it.

use std::fs;
use std::time::{Duration, Instant};

use desktop::{Action, Desktop, DesktopError, ElementAction, ElementQuery, Options, Snapshot, Target};
use desktop::{Evidence, PictureMark};

use crate::reading::{CLICK, models};
use crate::screen::{HEIGHT, Screen, Target as Window, WIDTH, token, wait_for};

/// What the form says it shows without a text, in pixels of the screen.
struct DrawnShape {
    name: String,
    kind: String,
    at: [f64; 4],
}

struct Form {
    screen: Screen,
    desktop: std::sync::Arc<dyn Desktop>,
}

impl Form {
    fn open() -> Self {
        let mut screen = Screen::new().with_bus().with_window_manager();
        let program = format!("{}/../../../tests/truth/tk.py", env!("CARGO_MANIFEST_DIR"));
        let log = screen.home().join("log");
        fs::write(&log, "").unwrap();
        screen.run("/usr/bin/python3", &["-B", &program, log.to_str().unwrap()]);
        let desktop = desktop::open(Options { ocr_models: Some(models()), ..screen.options() });
        let form = Self { screen, desktop };
        form.wait_for("@ready=1");
        form
    }

    /// Where it says it shows them now.
    fn places(&self) -> Vec<DrawnShape> {
        let mut places: Vec<DrawnShape> = Vec::new();
        for place in self.logged().iter().filter_map(|line| place(line)) {
            places.retain(|other| other.name != place.name);
            places.push(place);
        }
        places
    }

    fn logged(&self) -> Vec<String> {
        let log = fs::read_to_string(self.screen.home().join("log")).unwrap();
        log.lines().map(str::to_owned).collect()
    }

    fn wait_for(&self, line: &str) {
        wait_for(line, || self.logged().contains(&line.to_owned()).then_some(()));
    }

    /// A look at the form, once all its labels were read.
    async fn look(&self) -> Snapshot {
        let end = Instant::now() + Duration::from_secs(120);
        loop {
            let query =
                ElementQuery { app: Some("form".into()), limit: 200, marks: true, ..Default::default() };
            let look = self.desktop.elements(query).await;
            let is_read = |text: &&str| {
                look.as_ref().is_ok_and(|look| look.marks.iter().any(|mark| mark.text == **text))
            };
            let labels =
                ["Name", "Street", "Agree", "Deliver", "Small", "Large", "Notes", "Cherry", "Send", "Cancel"];
            let is_whole = look.as_ref().is_ok_and(|look| look.cut.len() == 2);
            match &look {
                Ok(whole) if is_whole && labels.iter().all(is_read) => return whole.clone(),
                look => assert!(Instant::now() < end, "{look:?}"),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn operate(&self, mark: &PictureMark, action: ElementAction) -> Result<Evidence, DesktopError> {
        let target = Target::Ref(mark.reference.clone());
        Ok(self.desktop.operate(target, action, token()).await?.acted.evidence)
    }
}

fn place(line: &str) -> Option<DrawnShape> {
    let words: Vec<&str> = line.strip_prefix("@place=")?.split(' ').collect();
    let at = [2, 3, 4, 5].map(|word| words[word].parse().unwrap());
    Some(DrawnShape { name: words[0].into(), kind: words[1].into(), at })
}

fn shape<'a>(look: &'a Snapshot, looks_like: &str, beside: &str) -> &'a PictureMark {
    let is_it = |mark: &&PictureMark| mark.looks_like == looks_like && mark.beside == beside;
    look.marks
        .iter()
        .find(is_it)
        .unwrap_or_else(|| panic!("no {looks_like} beside {beside}: {:#?}", look.marks))
}

/// In pixels of the screen: left, top, width, height.
fn pixels(mark: &PictureMark) -> [f64; 4] {
    let (width, height) = (f64::from(WIDTH) / 1000.0, f64::from(HEIGHT) / 1000.0);
    let at = &mark.bounds;
    [at.x * width, at.y * height, at.width * width, at.height * height]
}

/// A click on the mark is one on what is there, and the mark is not of a part of it.
fn meets(mark: &PictureMark, place: &DrawnShape) -> bool {
    let [x, y, width, height] = pixels(mark);
    let [left, top, wide, high] = place.at;
    let (x, y) = (x + width / 2.0, y + height / 2.0);
    let is_in = (left..left + wide).contains(&x) && (top..top + high).contains(&y);
    // A check box is told with the ground around it.
    is_in && width * height * 8.0 > wide * high
}

#[tokio::test]
async fn the_fields_check_boxes_and_icons_of_a_form_that_tells_nothing_are_marked() {
    let form = Form::open();
    let look = form.look().await;
    let [told, seen] = look.cut.as_slice() else { panic!("{:?}", look.cut) };
    assert!(
        told.starts_with("not told:") && seen.contains("texts and shapes that are seen in the picture"),
        "{seen}"
    );
    let shapes: Vec<&PictureMark> = look.marks.iter().filter(|mark| mark.text.is_empty()).collect();
    // What is read as a letter is a mark, too.
    let places = form.places();
    let is_found = |place: &&DrawnShape| look.marks.iter().any(|mark| meets(mark, place));
    let (found, missed): (Vec<&DrawnShape>, Vec<&DrawnShape>) = places.iter().partition(is_found);
    let is_there = |mark: &&PictureMark| places.iter().any(|place| meets(mark, place));
    let (right, wrong): (Vec<&PictureMark>, Vec<&PictureMark>) = shapes.iter().copied().partition(is_there);
    let missed: Vec<String> = missed.iter().map(|place| format!("{} {}", place.kind, place.name)).collect();
    println!(
        "found {} of {} shapes, {} of {} marks are of one; missed {missed:?}, of none {wrong:?}",
        found.len(),
        places.len(),
        right.len(),
        shapes.len()
    );
    assert_eq!(places.len(), 15);
    assert!(missed.len() <= 1 && wrong.len() <= 1, "{shapes:#?}");
    // A box around a text is one mark with it.
    let send = look.marks.iter().find(|mark| mark.text == "Send").unwrap();
    let button = places.iter().find(|place| place.name == "Send").unwrap();
    let is_as_large = pixels(send).iter().zip(button.at).all(|(one, other)| (one - other).abs() < 10.0);
    assert!(is_as_large, "{send:?} {:?}", button.at);
}

#[tokio::test]
async fn a_shape_is_clicked_as_what_it_is_and_refused_once_it_looks_different() {
    let form = Form::open();
    let look = form.look().await;
    let name = shape(&look, "empty field", "Name");
    let error = form.operate(name, ElementAction::SetValue("x".into())).await.unwrap_err();
    assert!(matches!(&error, DesktopError::BadInput(words) if words.contains("clickElement")), "{error}");
    assert_eq!(form.operate(name, CLICK).await, Ok(Evidence::Sent));
    form.desktop.act(Action::Type { text: "Ada".into() }, token()).await.unwrap();
    form.wait_for("@Name=Ada");
    let agree = shape(&look, "small box", "Agree");
    form.operate(agree, CLICK).await.unwrap();
    form.wait_for("@Agree=on");
    let error = form.operate(agree, CLICK).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotFound(words) if words.contains("nothing was done")), "{error}");
    let listed = form.desktop.listed(agree.reference.clone()).await.unwrap();
    assert_eq!(
        (listed.role.as_str(), listed.name.as_str()),
        ("small box beside", "Agree"),
        "it is asked about"
    );
    let info = form.places().into_iter().find(|place| place.name == "info").unwrap();
    let icon = look.marks.iter().find(|mark| meets(mark, &info)).unwrap();
    form.operate(icon, CLICK).await.unwrap();
    form.wait_for("@pressed=info");
    assert!(!form.logged().contains(&"@Agree=off".to_owned()), "{:?}", form.logged());
}

#[tokio::test]
async fn where_a_picture_shows_nothing_to_mark_the_answer_leads_to_a_screenshot() {
    let screen = Screen::new().with_bus().with_window_manager();
    let _blank = Window::new(&screen, "blank", (100, 100, 300, 200), 0x20_40_60);
    let desktop = desktop::open(Options { ocr_models: Some(models()), ..screen.options() });
    let query = ElementQuery { app: Some("blank".into()), limit: 200, marks: true, ..Default::default() };
    let look = desktop.elements(query).await.unwrap();
    assert_eq!((look.elements.len(), look.marks.len()), (0, 0), "{look:?}");
    let [told, seen] = look.cut.as_slice() else { panic!("{:?}", look.cut) };
    assert!(told.contains("no accessibility tree has it"), "{told}");
    assert!(
        seen.contains("no text and no shape is seen in the picture") && seen.contains("screenshot"),
        "{seen}"
    );
}
