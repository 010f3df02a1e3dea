// Loads the windows' wasm; in a file of its own, since the content security policy allows no inline script.
import init from './ui.js';

await init({ module_or_path: './ui_bg.wasm' });
