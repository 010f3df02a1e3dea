// Plays an application for `script.js`: the page it runs in is the first tab of its one window; the others are names
// that the page keeps, and answer as the page does. A property of an object of another application is called to be
// read, and set to be changed.
const played = (family, bundle, [left, top]) => {
  const kept = (globalThis.keptByThePlay ??= { others: [], current: 0, born: 11 });
  const property = (object, name, get, set) => Object.defineProperty(object, name, { get: () => get, set });
  const tab = (place, id, url, title) => {
    const one = {};
    property(one, "url", url, (to) => { location.href = to; });
    property(one, "title", title);
    property(one, "name", title);
    property(one, "index", () => place + 1);
    if (family !== "safari") property(one, "id", () => id);
    one.execute = ({ javascript }) => (0, eval)(javascript);
    one.select = () => { kept.current = place; };
    one.goBack = () => history.back();
    one.goForward = () => history.forward();
    one.reload = () => location.reload();
    one.close = () => { kept.others.splice(place - 1, 1); kept.current = 0; };
    return one;
  };
  const all = () => {
    const others = kept.others.map(({ id, url }, at) => tab(at + 1, id, () => url, () => url));
    const tabs = [tab(0, 11, () => location.href, () => document.title), ...others];
    for (const word of ["url", "title", "name", "id"]) tabs[word] = () => tabs.map((one) => one[word]());
    tabs.push = ({ url }) => {
      kept.others.push({ id: (kept.born += 1), url });
      if (family !== "safari") kept.current = kept.others.length;
    };
    return tabs;
  };
  const window = {
    get tabs() { return all(); },
    get activeTab() { return all()[kept.current]; },
    get currentTab() { return all()[kept.current]; },
    set currentTab(one) { kept.current = one.index() - 1; },
    set activeTabIndex(index) { kept.current = index - 1; },
  };
  property(window, "id", () => 7);
  property(window, "index", () => 1);
  property(window, "bounds", () => ({ x: left, y: top, width: outerWidth, height: outerHeight }));
  const settings = { get tabs() { throw new Error("no tabs"); }, id: () => 8 };
  const app = {
    running: () => true,
    activate: () => {},
    windows: [window, settings],
    Tab: (properties) => properties,
    doJavaScript: (code, { in: where }) => where.execute({ javascript: code }),
  };
  return (wanted) => {
    if (wanted !== bundle) throw new Error("Application can't be found.");
    return app;
  };
};
