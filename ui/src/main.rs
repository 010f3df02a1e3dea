//! The wasm's entry: opens the window it was loaded into.

fn main() {
    #[cfg(target_arch = "wasm32")]
    ui::open();
    #[cfg(not(target_arch = "wasm32"))]
    eprintln!("these are Miki's windows: build them with --target wasm32-unknown-unknown");
}
