// Runs in osascript as JavaScript for Automation, the other language of Apple events: one wish in and one answer out,
// both as JSON. Knows the dictionaries of Safari and of Chromium and its kin; decides nothing. Windows and tabs are
// taken by their place, since Arc cannot resolve what `windows()` and `tabs()` hand out.
function run(argv) {
  const wish = JSON.parse(argv[0]);
  try {
    return JSON.stringify({ value: ACTIONS[wish.action](wish) ?? null });
  } catch (error) {
    const number = typeof error.errorNumber === "number" ? error.errorNumber : 0;
    return JSON.stringify({ error: { number, message: String(error.message ?? error) } });
  }
}

const fail = (number, message) => { throw Object.assign(new Error(message), { errorNumber: number }); };
const isSafari = (wish) => wish.family === "safari";

// Asking whether an application runs neither starts it nor needs a permission.
const isRunning = (bundle) => {
  try { return Application(bundle).running(); } catch { return false; }
};
const running = (wish) => wish.bundles.filter(isRunning);

const application = (wish) => {
  if (!isRunning(wish.bundle)) fail(-600, "the application does not run");
  return Application(wish.bundle);
};

// Of every tab in one event where the application can, else one by one.
const each = (window, word) => {
  try {
    const all = window.tabs[word]();
    if (Array.isArray(all)) return all;
  } catch { /* one by one */ }
  const all = [];
  for (let at = 0; at < window.tabs.length; at += 1) all.push(window.tabs[at][word]());
  return all;
};

const bounds = (window) => {
  try {
    const { x, y, width, height } = window.bounds();
    return [x, y, width, height].every(Number.isFinite) ? [x, y, width, height] : null;
  } catch { return null; }
};

const current = (wish, window, ids) => {
  try {
    return isSafari(wish) ? window.currentTab.index() - 1 : ids.indexOf(String(window.activeTab.id()));
  } catch { return -1; }
};

// Front to back. Windows without tabs, such as settings, are no windows of pages.
const list = (wish) => {
  const app = application(wish);
  const windows = [];
  const count = app.windows.length;
  for (let at = 0; at < count; at += 1) {
    const window = app.windows[at];
    try {
      const urls = each(window, "url");
      const titles = each(window, isSafari(wish) ? "name" : "title");
      const ids = isSafari(wish) ? [] : each(window, "id").map(String);
      const tabs = urls.map((url, place) => ({ id: ids[place] ?? null, url: url ?? "", title: titles[place] ?? "" }));
      if (tabs.length) windows.push({ id: String(window.id()), bounds: bounds(window), current: current(wish, window, ids), tabs });
    } catch { /* not a window of pages */ }
  }
  return windows;
};

const found = (wish) => {
  const app = application(wish);
  for (let at = 0; at < app.windows.length; at += 1) {
    const window = app.windows[at];
    let id = null;
    try { id = String(window.id()); } catch { continue; }
    if (id !== wish.window) continue;
    const place = wish.id === null ? wish.place : each(window, "id").map(String).indexOf(wish.id);
    if (place >= 0 && place < window.tabs.length) return { app, window, tab: window.tabs[place], place };
  }
  return fail(-1728, "the tab is gone");
};

const evaluate = (wish, app, tab, code) =>
  isSafari(wish) ? app.doJavaScript(code, { in: tab }) : tab.execute({ javascript: code });

// The collector stays in its document under a name that is not listed; a document that was replaced has none.
const source = (wish, collector) => `(() => {
  const key = ${JSON.stringify(wish.key)};
  try {
    ${collector ? `if (!window[key]) Object.defineProperty(window, key, { value: ${collector} });` : ""}
    const room = window[key];
    if (!room) return '{"absent":true}';
    return JSON.stringify({ value: room[${JSON.stringify(wish.function)}](${JSON.stringify(wish.ask)}) ?? null });
  } catch (error) {
    return JSON.stringify({ failed: String(error) });
  }
})()`;

const call = (wish) => {
  const { app, tab } = found(wish);
  const ask = (collector) => {
    const text = evaluate(wish, app, tab, source(wish, collector));
    if (typeof text !== "string") return { mute: true };
    const told = JSON.parse(text);
    // Arc hands out a string as JSON once more.
    return typeof told === "string" ? JSON.parse(told) : told;
  };
  const told = ask(null);
  return told.absent && wish.collector ? ask(wish.collector) : told;
};

const go = (wish) => {
  const { app, tab } = found(wish);
  const inPage = { back: "history.back()", forward: "history.forward()", reload: "location.reload()" };
  const byTab = { back: () => tab.goBack(), forward: () => tab.goForward(), reload: () => tab.reload() };
  if (wish.way === "to") tab.url = wish.url;
  else if (isSafari(wish)) evaluate(wish, app, tab, `${inPage[wish.way]};1`);
  else byTab[wish.way]();
};

// The tab in front of its window; where it is raised, the window in front of all others too.
const show = (wish) => {
  const { app, window, tab, place } = found(wish);
  if (isSafari(wish)) window.currentTab = tab;
  else if (wish.family === "arc") tab.select();
  else window.activeTabIndex = place + 1;
  if (!wish.raise) return;
  // From here on the place of the window is another one.
  if (window.index() !== 1) window.index = 1;
  app.activate();
};

const open = (wish) => {
  const app = Application(wish.bundle);
  if (!app.running()) app.activate();
  const window = app.windows.length ? app.windows[0] : null;
  if (isSafari(wish) && !window) {
    app.Document({ url: wish.url }).make();
  } else if (!window) {
    app.Window().make();
    app.windows[0].activeTab.url = wish.url;
  } else {
    window.tabs.push(app.Tab({ url: wish.url }));
    if (isSafari(wish)) window.currentTab = window.tabs[window.tabs.length - 1];
  }
};

const close = (wish) => { found(wish).tab.close(); };

const ACTIONS = { running, list, call, go, show, open, close };
