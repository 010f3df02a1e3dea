//! What a command cannot do.

use crate::common::here;

#[tokio::test]
async fn the_confinement_is_in_force() {
    let here = here();
    let status = here.says("grep -E '^(NoNewPrivs|Seccomp|CapEff):' /proc/self/status | tr -d '\\t'").await;
    assert_eq!(status, "CapEff:0000000000000000\nNoNewPrivs:1\nSeccomp:2");
}
