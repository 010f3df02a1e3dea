//! Makes a permission of every command, takes in the capability files, and lays down a page where the windows were
//! not built yet, so that a fresh clone compiles.

use std::path::Path;

use tauri_build::{AppManifest, Attributes};

const CAPABILITIES: &str = "capabilities";
const PAGE: &str = "ui/dist/index.html";
const PLACEHOLDER: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<title>Miki</title>
<p>The windows are not built. Build them with <code>cargo xtask ui</code>, then build <code>miki</code> again.</p>
</html>
";

fn main() {
    println!("cargo:rerun-if-changed={CAPABILITIES}");
    if !Path::new(PAGE).exists()
        && let Err(error) =
            std::fs::create_dir_all("ui/dist").and_then(|()| std::fs::write(PAGE, PLACEHOLDER))
    {
        fail(&format!("cannot write the placeholder {PAGE}: {error}"));
    }
    // Functions of the same code become one, and the table of addresses to be set at the start is packed (1 MB of it; read by
    // glibc 2.36 and later). Only where the linker that the toolchain brings knows how (lld).
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|is| is == value);
    if is("PROFILE", "release") && is("TARGET", "x86_64-unknown-linux-gnu") {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all,-z,pack-relative-relocs");
    }
    let attributes = Attributes::new().app_manifest(AppManifest::new().commands(protocol::command::COMMANDS));
    if let Err(error) = tauri_build::try_build(attributes) {
        fail(&format!("{error:#}"));
    }
}

fn fail(message: &str) -> ! {
    eprintln!("error: {message}");
    std::process::exit(1);
}
