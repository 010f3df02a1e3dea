// Loads the windows' wasm; in a file of its own, since the content security policy allows no inline script.

// Before anything is drawn: the overlay and the chat are seen through, the dashboard is not.
const label = window.__TAURI_INTERNALS__?.metadata?.currentWindow?.label;
document.documentElement.dataset.window = label ?? 'dashboard';

const { default: init } = await import('./ui.js');
await init({ module_or_path: './ui_bg.wasm' });
