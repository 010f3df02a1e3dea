//! Whether what Miki says of its acts is true, on the light toolkits; `cargo xtask bench truth` asks all of them.

use outside::truth::{self, Counts, Runner, Surprises};

#[test]
fn what_is_said_of_an_act_is_what_the_application_did() {
    let mut runner = Runner::open().unwrap();
    let quick = truth::all().into_iter().filter(|task| task.quick);
    let verdicts: Vec<_> = quick.map(|task| runner.run(&task).unwrap()).collect();
    println!("{}", Counts::of(&verdicts));
    let Surprises { new, mended } = Surprises::of(&verdicts);
    assert_eq!(new, Vec::<String>::new(), "what is new, and not as it should be");
    assert_eq!(mended, Vec::<String>::new(), "mended: to be taken out of tests/truth/known.txt");
}
