// Runs in a world of its own in each frame: pages see nothing of it and cannot reach it. One expression, whose value
// is kept. Looks at elements, gives them numbers, readies them for an act and tells what became of it. Sends nothing.
(() => {
  "use strict";
  const TEXT = 200;
  const VALUE = 2000;
  const HIT = new Set(["button", "link", "checkbox", "radio", "switch", "tab", "menuitem", "menuitemcheckbox",
    "menuitemradio", "option", "treeitem", "slider", "spinbutton", "textbox", "searchbox", "combobox", "listbox"]);
  // Asked of every element of a page: few and simple, and the exceptions are asked of those that are found.
  const ACTIVE = "a,area,button,input,select,textarea,summary,video,audio,[onclick],[contenteditable],[tabindex],[role]";
  const FIELD = new Set(["button", "input", "select", "textarea", "summary"]);
  const IF_TOLD = { __proto__: null, a: "href", area: "href", video: "controls", audio: "controls" };
  const OTHER = "[tabindex]:not([tabindex^='-']),[onclick],[contenteditable]:not([contenteditable=false])";
  // Active by its markup. A role of another kind makes nothing active by itself.
  const isActive = (el) => {
    const tag = el.localName;
    if (FIELD.has(tag)) { if (tag !== "input" || el.type !== "hidden") return true; }
    else if (tag === "a" ? el.hasAttribute("href") || el.hasAttribute("class") || el.hasAttribute("title") :
      tag in IF_TOLD && el.hasAttribute(IF_TOLD[tag])) return true;
    const role = el.getAttribute("role");
    return (role !== null && (role === "" || HIT.has(role) || tag in IF_TOLD)) || el.matches(OTHER);
  };
  const SHAPES = "img,svg,canvas,circle,rect,ellipse,polygon,path,line,text,video";
  const SKIP = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "META", "LINK", "TITLE"]);
  const INPUT_ROLES = { checkbox: "checkbox", radio: "radio", button: "button", submit: "button", reset: "button",
    image: "button", range: "slider", number: "spinbutton", search: "searchbox", file: "file", color: "color" };
  const ROLES = { A: "link", AREA: "link", BUTTON: "button", TEXTAREA: "textbox", SUMMARY: "button", OPTION: "option",
    IMG: "image", SVG: "image", CANVAS: "canvas", LABEL: "label", VIDEO: "video", AUDIO: "audio", NAV: "navigation",
    LI: "listitem", TD: "cell", TH: "columnheader", P: "paragraph", DIALOG: "dialog" };

  const byId = new Map();
  const ids = new WeakMap();
  let watched = null;
  let prior = "";
  const pointers = [];
  // Where the page is on the screen is known from pointer events alone: screenX of the window leaves out its frame.
  addEventListener("mousemove", (event) => {
    if (!event.isTrusted || window !== top) return;
    pointers.push([event.screenX, event.screenY, event.clientX, event.clientY]);
    if (pointers.length > 2) pointers.shift();
  }, { capture: true, passive: true });

  const squeeze = (text, most) => {
    const plain = (text || "").slice(0, most * 20).replace(/\s+/g, " ").trim();
    return plain.length > most ? plain.slice(0, most - 1) + "…" : plain;
  };
  const shown = (el) => !el.checkVisibility ||
    el.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
  const type = (el) => (el.localName === "input" ? el.type : "");
  const roleOf = (el) => {
    const written = el.getAttribute("role"), said = written && written.trim().split(/\s+/)[0];
    if (said && said !== "presentation" && said !== "none") return said.toLowerCase();
    if (el.localName === "input") return INPUT_ROLES[el.type] || "textbox";
    if (el.localName === "select") return el.multiple || el.size > 1 ? "listbox" : "combobox";
    if (/^h[1-6]$/.test(el.localName)) return "heading";
    if (el.isContentEditable) return "textbox";
    return ROLES[el.nodeName.toUpperCase()] || (el.namespaceURI.endsWith("svg") ? el.localName : "generic");
  };
  const ownText = (el) => (el.childElementCount ? el.innerText ?? el.textContent : el.textContent);
  const nameOf = (el) => {
    const by = el.getAttribute("aria-labelledby"), root = by && el.getRootNode();
    if (by && root.getElementById) {
      const text = by.split(/\s+/).map((id) => root.getElementById(id)?.textContent || "").join(" ");
      if (text.trim()) return squeeze(text, TEXT);
    }
    const label = el.getAttribute("aria-label");
    if (label && label.trim()) return squeeze(label, TEXT);
    // A live list: reading it is counting it.
    const labels = el.labels;
    if (labels && labels.length) {
      const text = [...labels].map((one) => ownText(one)).join(" ");
      if (text.trim()) return squeeze(text, TEXT);
    }
    const field = /^(input|select|textarea)$/.test(el.localName);
    if (el.localName === "input" && /^(button|submit|reset)$/.test(el.type)) {
      return squeeze(el.value || (el.type === "submit" ? "Submit" : el.type === "reset" ? "Reset" : ""), TEXT);
    }
    for (const word of ["alt", "placeholder"]) {
      const text = el.getAttribute(word);
      if (text && text.trim() && (word === "alt" || field || el.isContentEditable)) return squeeze(text, TEXT);
    }
    if (!field && !el.isContentEditable) {
      const text = squeeze(ownText(el), TEXT);
      if (text) return text;
      const inner = el.querySelector("[aria-label],img[alt],svg title");
      const said = inner && (inner.getAttribute("aria-label") || inner.getAttribute("alt") || inner.textContent);
      if (said && said.trim()) return squeeze(said, TEXT);
    }
    return squeeze(el.getAttribute("title") || (field && el.getAttribute("name")) || "", TEXT);
  };
  const options = (el) => [...el.options].map((one) => squeeze(one.label || one.text, 80));
  const valueOf = (el) => {
    if (el.localName === "select") {
      return [...el.selectedOptions].map((one) => squeeze(one.label || one.text, 80)).join(", ");
    }
    if (el.localName === "input" && /^(password|checkbox|radio|button|submit|reset|image|file)$/.test(el.type)) return "";
    if (el.localName === "input" || el.localName === "textarea") return el.value.slice(0, VALUE);
    if (el.isContentEditable) return (el.innerText || "").trim().slice(0, VALUE);
    return el.getAttribute("aria-valuetext") || el.getAttribute("aria-valuenow") || "";
  };
  const deepFocus = (root) => {
    let at = root.activeElement;
    while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement;
    return at;
  };
  const disabled = (el) => el.matches(":disabled") || el.getAttribute("aria-disabled") === "true";
  const statesOf = (el, focus) => {
    const states = [];
    // Most elements have none of them, and each one asked for by itself costs.
    const told = el.getAttributeNames().some((name) => name.startsWith("aria-"));
    const aria = (name) => (told ? el.getAttribute(name) : null), checked = aria("aria-checked"), expanded = aria("aria-expanded"), current = aria("aria-current");
    if (el === focus) states.push("focused");
    if (disabled(el)) states.push("disabled");
    if (el.indeterminate || checked === "mixed") states.push("mixed");
    else if (el.checked || checked === "true") states.push("checked");
    if (el.selected || aria("aria-selected") === "true") states.push("selected");
    if (aria("aria-pressed") === "true") states.push("pressed");
    const details = el.localName === "summary" && el.parentElement?.localName === "details" ? el.parentElement : null;
    if (expanded === "true" || details?.open) states.push("expanded");
    else if (expanded === "false" || details) states.push("collapsed");
    if (el.required || aria("aria-required") === "true") states.push("required");
    if (el.readOnly && /^(input|textarea)$/.test(el.localName)) states.push("readonly");
    if (el.localName === "textarea" || aria("aria-multiline") === "true") states.push("multiline");
    if (aria("aria-invalid") === "true") states.push("invalid");
    if (type(el) === "password") states.push("password", ...(el.value ? ["filled"] : []));
    if (current && current !== "false") states.push("current");
    return states;
  };
  const hasText = (el) => { for (const node of el.childNodes) if (node.nodeType === 3 && node.data.trim()) return true; return false; };
  const hex = (colour) => {
    const parts = /^rgba?\((\d+), (\d+), (\d+)(, 0\))?/.exec(colour);
    return parts && !parts[4] ? "#" + parts.slice(1, 4).map((part) => Number(part).toString(16).padStart(2, "0")).join("") : "";
  };
  const PICTURE = /url\(["']?(?!data:)([^"')?#]+)/;
  const pictureOf = (el, style) => {
    const source = el.localName === "img" ? `url(${el.currentSrc || el.src})` : `${style.content} ${style.backgroundImage}`;
    const found = PICTURE.exec(source);
    return found ? found[1].split("/").pop() : "";
  };
  const isShape = (el) => el.localName !== "svg" && el.namespaceURI.endsWith("svg");
  // An empty box that can be seen.
  const painted = (el, style) => !el.firstElementChild && !hasText(el) && (hex(style.backgroundColor) !== "" ||
    style.backgroundImage !== "none" || style.content.includes("url(") || (parseFloat(style.borderTopWidth) > 0 && style.borderTopStyle !== "none"));
  const ICON = 48;
  const iconic = (el, style, where) => where.width <= ICON && where.height <= ICON && (el.localName === "svg" || el.localName === "img" ||
    (!el.firstElementChild && !hasText(el) && (style.backgroundImage !== "none" || style.content.includes("url("))));
  // What can be told of an element without a name: how the page's code calls it, its picture; and the colour of a shape.
  const hintOf = (el, name) => {
    if (name && !isShape(el)) return "";
    const style = getComputedStyle(el), parts = [];
    if (!name) {
      const classes = [...el.classList].slice(0, 3).join(" "), picture = pictureOf(el, style);
      if (el.id) parts.push("id " + el.id);
      if (classes) parts.push("class " + classes);
      if (picture) parts.push("picture " + picture);
    }
    const colour = /^(input|select|textarea)$/.test(el.localName) ? "" : hex(isShape(el) ? style.fill : style.backgroundColor);
    if (colour) parts.push("colour " + colour);
    return squeeze(parts.join(", "), 120);
  };
  const describe = (el) => {
    const name = squeeze(nameOf(el), 60);
    return name ? `${roleOf(el)} "${name}"` : `${roleOf(el)}${el.id ? " #" + el.id : ""}`;
  };

  // What a box is cut down to by the frames it is in, and how its place is told in the outermost of these.
  const innerDocument = (frame) => { try { return frame.contentDocument; } catch { return null; } };
  const frameBox = (frame) => {
    const box = frame.getBoundingClientRect();
    const scale = frame.offsetWidth ? box.width / frame.offsetWidth : 1;
    const style = getComputedStyle(frame);
    const pad = (side) => parseFloat(style["padding" + side]) || 0;
    return { x: box.x + (frame.clientLeft + pad("Left")) * scale, y: box.y + (frame.clientTop + pad("Top")) * scale, scale };
  };
  const toTop = (doc) => {
    let x = 0, y = 0, scale = 1;
    for (let win = doc.defaultView; win && win !== window; ) {
      const frame = win.frameElement;
      if (!frame) break;
      const box = frameBox(frame);
      x = box.x + x * box.scale; y = box.y + y * box.scale; scale *= box.scale;
      win = frame.ownerDocument.defaultView;
    }
    return { x, y, scale };
  };
  const hitAt = (doc, x, y) => {
    let hit = doc.elementFromPoint(x, y);
    while (hit && hit.shadowRoot) {
      const inner = hit.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    return hit;
  };
  const within = (el, ancestor) => {
    for (let at = el; at; at = at.assignedSlot || at.parentNode || at.host) if (at === ancestor) return true;
    return false;
  };
  // The box around an element that scrolls or cuts it, where it leaves this point out.
  const cutBy = (el, x, y, last) => {
    for (let at = el.parentElement; at && at !== last; at = at.parentElement) {
      const box = at.getBoundingClientRect();
      if ((x < box.left || x >= box.right || y < box.top || y >= box.bottom) && getComputedStyle(at).overflow !== "visible") return at;
    }
    return null;
  };
  const covering = (el, x, y) => {
    const hit = hitAt(el.ownerDocument, x, y);
    if (!hit || within(hit, el)) return null;
    if (within(el, hit)) return cutBy(el, x, y, hit);
    if (el.labels && [...el.labels].some((label) => within(hit, label))) return null;
    return hit;
  };

  const idOf = (el, counter) => {
    let id = ids.get(el);
    if (!id) {
      id = counter.next++;
      ids.set(el, id);
      byId.set(id, new WeakRef(el));
      // Elements that are gone leave nothing but their number behind.
      if (byId.size > 20000) for (const [old, ref] of byId) if (!ref.deref()) byId.delete(old);
    }
    return id;
  };

  const collect = (ask) => {
    const counter = { next: ask.next };
    const out = { elements: [], frames: [], off: 0, more: 0, other: 0 };
    const words = ask.query ? ask.query.toLowerCase() : null;
    const everywhere = ask.wholePage === true;
    const taken = [];
    // In one document or shadow root: what is active by its markup is asked for at once; the rest is walked, without
    // the parts that are out of view.
    const visit = (root, at, clip) => {
      const seen = new Set(), active = root.querySelectorAll(ACTIVE);
      // In this document's own pixels.
      const left = (clip.left - at.x) / at.scale, right = (clip.right - at.x) / at.scale;
      const above = (clip.top - at.y) / at.scale, below = (clip.bottom - at.y) / at.scale;
      const inView = (box) => box.top < below && box.bottom > above && box.left < right && box.right > left && box.width > 0 && box.height > 0;
      const placed = (box, inside) => ({ box, inside, x: at.x + box.x * at.scale, y: at.y + box.y * at.scale, width: box.width * at.scale, height: box.height * at.scale });
      const place = (el) => { const box = el.getBoundingClientRect(); return placed(box, inView(box)); };
      const take = (el, where) => {
        seen.add(el);
        if (where.width && where.height && shown(el) && !(el.localName === "option" && el.closest("select"))) {
          taken.push({ el, where });
        }
      };
      const here = new Map();
      let off = 0;
      // By number: the list's own iterator is several times slower.
      for (let index = 0, count = active.length; index < count; index += 1) {
        const el = active[index];
        if (!isActive(el)) continue;
        const box = el.getBoundingClientRect(), inside = inView(box);
        if (inside || (everywhere && box.width && box.height)) here.set(el, placed(box, inside));
        else if (box.width && box.height) off += 1;
      }
      out.off += off;
      const walk = (parent, pointing, held) => {
        for (let el = parent.firstElementChild; el; el = el.nextElementSibling) {
          const tag = el.localName;
          if (tag === "iframe" || tag === "frame") { enter(el, at, clip); continue; }
          if (SKIP.has(el.nodeName)) continue;
          let where = here.get(el);
          const marked = where !== undefined, inner = el.firstElementChild;
          // A leaf that nothing makes active needs no box: boxes cost most of all.
          if (!marked && !inner && !el.shadowRoot && !ask.everything) {
            if (held) continue;
            const style = getComputedStyle(el);
            if (!out.layered && style.position !== "static") out.layered = true;
            if (style.cursor !== "pointer") continue;
          }
          if (!where) {
            const box = el.getBoundingClientRect(), inside = inView(box);
            if (!inside && box.width && box.height && !everywhere && !el.shadowRoot) continue;
            where = placed(box, inside);
          }
          const bare = !where.width || !where.height;
          if (marked) take(el, where);
          let points = pointing, style = null;
          // What a page makes of plain boxes is known by the pointer's shape. Styles are dear: no more is read than is used.
          const pointer = !marked || ask.everything;
          if (!held && !bare && (pointer || !out.layered)) {
            style = getComputedStyle(el);
            if (!out.layered && (style.position !== "static" ||
              (inner && el !== document.body && style.overflowX !== "visible"))) out.layered = true;
            if (pointer) points = style.cursor === "pointer";
            // A row that can be clicked may hold an icon with an action of its own: a star, a bin.
            if (!marked && (where.inside || everywhere) && points && (!pointing || iconic(el, style, where))) take(el, where);
          }
          if (ask.everything && !seen.has(el) && (where.inside || everywhere) &&
            (el.matches(SHAPES) || hasText(el) || (style && painted(el, style)))) take(el, where);
          if (el.shadowRoot) visit(el.shadowRoot, at, clip);
          if (inner) walk(el, points, held || (marked && !ask.everything));
        }
      };
      walk(root, false, false);
      for (const [el, where] of here) if (!seen.has(el)) take(el, where);
    };
    const enter = (frame, at, clip) => {
      const box = frame.getBoundingClientRect();
      if (!box.width || !box.height || !shown(frame)) return;
      const inner = frameBox(frame);
      const next = { x: at.x + inner.x * at.scale, y: at.y + inner.y * at.scale, scale: at.scale * inner.scale };
      const edge = { left: Math.max(clip.left, next.x), top: Math.max(clip.top, next.y),
        right: Math.min(clip.right, next.x + frame.clientWidth * next.scale),
        bottom: Math.min(clip.bottom, next.y + frame.clientHeight * next.scale) };
      const doc = innerDocument(frame);
      if (doc) { if (everywhere || (edge.right > edge.left && edge.bottom > edge.top)) visit(doc, next, edge); }
      else out.frames.push({ id: idOf(frame, counter), ...next, ...edge });
    };
    visit(document, ask.at || { x: 0, y: 0, scale: 1 }, ask.clip || { left: 0, top: 0, right: innerWidth, bottom: innerHeight });

    const focus = new Map();
    for (const { el, where } of taken) {
      const { box, x, y, width, height } = where, doc = el.ownerDocument;
      const name = nameOf(el), role = roleOf(el), value = valueOf(el), hint = hintOf(el, name);
      if (words && !`${role}\n${name}\n${value}\n${hint}`.toLowerCase().includes(words)) { out.other += 1; continue; }
      if (out.elements.length >= ask.limit) { out.more += 1; continue; }
      if (!focus.has(doc)) focus.set(doc, deepFocus(doc));
      const states = statesOf(el, focus.get(doc));
      if (!where.inside) states.push("offscreen");
      else if (out.layered) {
        // Without layers and boxes that cut, nothing lies over anything.
        const px = box.x + box.width / 2, py = box.y + box.height / 2;
        if (px >= 0 && py >= 0 && px < doc.defaultView.innerWidth && py < doc.defaultView.innerHeight && covering(el, px, py)) states.push("covered");
      }
      const one = { id: idOf(el, counter), role, name, x, y, width, height };
      if (value) one.value = value;
      if (hint) one.hint = hint;
      if (states.length) one.states = states;
      const href = el.localName === "a" && el.href;
      if (href) one.href = String(href).slice(0, 300);
      if (el.localName === "select") one.options = options(el).slice(0, 30);
      out.elements.push(one);
    }
    out.next = counter.next;
    return { ...out, about: about() };
  };

  const about = () => {
    const view = window.visualViewport || { scale: 1, offsetLeft: 0, offsetTop: 0 };
    const el = document.scrollingElement || document.documentElement;
    const entry = performance.getEntriesByType("navigation")[0];
    return { title: squeeze(document.title, TEXT), url: location.href.slice(0, VALUE), visible: document.visibilityState === "visible", focused: document.hasFocus(),
      ready: document.readyState, status: (entry && entry.responseStatus) || 0, born: performance.timeOrigin,
      geometry: [screenX, screenY, outerWidth, outerHeight, innerWidth, innerHeight, devicePixelRatio, view.scale, view.offsetLeft, view.offsetTop],
      scroll: [el ? el.scrollTop : 0, el ? el.scrollHeight : 0], pointers };
  };

  const find = (id) => {
    const el = byId.get(id)?.deref();
    return el && el.isConnected ? el : null;
  };
  const kindOf = (el) => {
    if (el.localName === "select") return "select";
    if (el.localName === "textarea") return "text";
    if (el.localName === "input") {
      if (/^(date|time|month|week|datetime-local|color|range)$/.test(el.type)) return "set";
      if (/^(checkbox|radio|button|submit|reset|image|file)$/.test(el.type)) return el.type;
      return "text";
    }
    return el.isContentEditable ? "rich" : "other";
  };
  const told = (el) => ({ called: describe(el), kind: kindOf(el), type: type(el), disabled: disabled(el), readonly: el.readOnly === true,
    options: el.localName === "select" ? options(el).slice(0, 100) : undefined });

  // The element in view, a point of it that takes the click, and a watch for what the click does.
  const ready = (ask) => {
    const el = find(ask.id);
    if (!el) return { gone: true };
    const doc = el.ownerDocument, win = doc.defaultView;
    const fits = (x, y) => x >= 0 && y >= 0 && x < win.innerWidth && y < win.innerHeight;
    const look = () => {
      let cover = null;
      const boxes = [...el.getClientRects()].filter((box) => box.width > 0 && box.height > 0);
      for (const box of boxes) {
        for (const [u, v] of [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.1], [0.9, 0.9]]) {
          const x = box.x + box.width * u, y = box.y + box.height * v;
          if (!fits(x, y)) continue;
          const over = covering(el, x, y);
          if (!over) return { x, y };
          cover ||= describe(over);
        }
      }
      return { cover, empty: boxes.length === 0 };
    };
    let spot = look();
    const box = el.getBoundingClientRect();
    if (ask.moved !== true && (spot.x === undefined || !fits(box.x + box.width / 2, box.y + box.height / 2))) {
      el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
      spot = { ...look(), scrolled: true };
    }
    const at = toTop(doc);
    const out = { ...told(el), cover: spot.cover, empty: spot.empty === true || !shown(el), scrolled: spot.scrolled === true };
    if (spot.x !== undefined) { out.x = at.x + spot.x * at.scale; out.y = at.y + spot.y * at.scale; }
    if (ask.watch) watch(el, ask.watch);
    return out;
  };
  const watch = (el, what) => {
    if (watched) watched.stop();
    const doc = el.ownerDocument, win = doc.defaultView;
    const state = { el, hit: null, changes: 0, before: still(el) };
    const heard = (event) => {
      const path = event.composedPath();
      const labelled = el.labels && [...el.labels].some((label) => path.includes(label));
      state.hit = state.hit === true || path.includes(el) || labelled ? true : describe(path[0]?.nodeType === 1 ? path[0] : doc.documentElement);
    };
    win.addEventListener(what, heard, true);
    const observer = new MutationObserver((list) => { state.changes += list.length; });
    for (const one of new Set([document, doc, el.getRootNode()])) {
      observer.observe(one, { subtree: true, childList: true, attributes: true, characterData: true });
    }
    state.stop = () => { observer.disconnect(); win.removeEventListener(what, heard, true); };
    state.flush = () => { state.changes += observer.takeRecords().length; };
    watched = state;
  };
  const still = (el) => JSON.stringify([valueOf(el), statesOf(el, null), type(el) === "password" ? el.value.length : 0]);
  const after = () => {
    if (!watched) return { ...about() };
    watched.flush();
    const { el, hit, changes, before } = watched;
    const states = statesOf(el, deepFocus(el.ownerDocument));
    return { hit, changes, connected: el.isConnected, altered: before !== still(el), states, value: valueOf(el), ...about() };
  };
  const finish = () => { if (watched) watched.stop(); watched = null; return {}; };

  const focusText = (ask) => {
    const el = find(ask.id);
    if (!el) return { gone: true };
    const rect = el.getBoundingClientRect();
    if (rect.y < 0 || rect.bottom > el.ownerDocument.defaultView.innerHeight) el.scrollIntoView({ block: "center", behavior: "instant" });
    el.focus({ preventScroll: true });
    const editor = el.isContentEditable;
    prior = ask.append ? textOf(el) : "";
    if (editor) {
      const range = el.ownerDocument.createRange();
      range.selectNodeContents(el);
      if (ask.append) range.collapse(false);
      const selection = el.ownerDocument.getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
    } else if (ask.append) {
      try { el.setSelectionRange(el.value.length, el.value.length); } catch { /* a number or e-mail field has no caret to set */ }
    } else if (el.select) el.select();
    return { focused: deepFocus(el.getRootNode()) === el || deepFocus(el.ownerDocument) === el || editor };
  };
  const textOf = (el) => (el.isContentEditable ? el.innerText.replace(/\n$/, "") : el.value ?? "");
  const plain = (text) => text.replace(/\r\n?/g, "\n").replace(/\u00a0/g, " ");
  // Whether the element holds exactly this; what it holds is told only where it is no secret.
  const holds = (ask) => {
    const el = find(ask.id);
    if (!el) return { gone: true };
    const text = plain(textOf(el)), wanted = plain(prior + ask.text);
    const equal = el.isContentEditable ? text.replace(/\n+/g, "\n").trim() === wanted.replace(/\n+/g, "\n").trim() : text === wanted;
    const secret = type(el) === "password";
    return { equal, secret, length: text.length, value: secret ? "" : text.slice(0, VALUE) };
  };
  const fire = (el) => {
    el.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    el.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const setValue = (ask) => {
    const el = find(ask.id);
    if (!el) return { gone: true };
    el.focus({ preventScroll: true });
    el.value = ask.text;
    fire(el);
    return { value: el.value, equal: el.value === ask.text || (el.type === "range" && Number(el.value) === Number(ask.text)) || (el.type === "color" && el.value === ask.text.toLowerCase()) };
  };
  const choose = (ask) => {
    const el = find(ask.id);
    if (!el) return { gone: true };
    const wanted = el.multiple ? ask.text.split("\n").filter((line) => line.trim()) : [ask.text];
    const fold = (text) => squeeze(text, 500).toLowerCase();
    const list = [...el.options];
    const picked = wanted.map((text) => list.find((one) => squeeze(one.label || one.text, 500) === squeeze(text, 500)) ||
      list.find((one) => fold(one.label || one.text) === fold(text)) || list.find((one) => one.value === text) ||
      (() => { const some = list.filter((one) => fold(one.text).includes(fold(text))); return fold(text) && some.length === 1 ? some[0] : null; })());
    const missing = wanted.filter((_, index) => !picked[index]);
    if (missing.length) return { missing, options: options(el).slice(0, 100) };
    const off = picked.find((one) => one.disabled);
    if (off) return { refused: squeeze(off.text, 80) };
    el.focus({ preventScroll: true });
    if (el.multiple) for (const one of list) one.selected = picked.includes(one);
    else el.selectedIndex = list.indexOf(picked[0]);
    fire(el);
    return { value: valueOf(el), equal: picked.every((one) => one.selected) };
  };

  // What the protocol of Chromium does from outside, for browsers that only run scripts: text at the caret, as an editor
  // takes it and can undo it; Enter; a press.
  const insert = (ask) => {
    const el = find(ask.id);
    if (!el) return { gone: true };
    const doc = el.ownerDocument;
    const took = ask.text === "" ? doc.execCommand("delete") : doc.execCommand("insertText", false, ask.text);
    if (!took && "value" in el && plain(el.value) !== plain(prior + ask.text)) {
      // The setter of the element's class: frameworks put one of their own on the element.
      Object.getOwnPropertyDescriptor(Object.getPrototypeOf(el), "value").set.call(el, prior + ask.text);
      fire(el);
    }
    return {};
  };
  const enter = (ask) => {
    const el = find(ask.id);
    if (!el) return { gone: true };
    const { KeyboardEvent } = el.ownerDocument.defaultView;
    const key = (name) => el.dispatchEvent(new KeyboardEvent(name, { key: "Enter", code: "Enter", keyCode: 13, which: 13, bubbles: true, cancelable: true, composed: true }));
    if (key("keydown") && key("keypress")) {
      const button = el.form && [...el.form.elements].find((one) => one.type === "submit");
      if (el.localName === "input" && button) button.click();
      else if (el.localName === "input" && el.form) el.form.requestSubmit();
      else if (el.localName === "textarea" || el.isContentEditable) el.ownerDocument.execCommand("insertText", false, "\n");
    }
    key("keyup");
    return {};
  };
  const press = (ask) => {
    const el = find(ask.id);
    if (!el) return { gone: true };
    el.focus({ preventScroll: true });
    el.click();
    return {};
  };

  const BLOCK = new Set(["ADDRESS", "ARTICLE", "ASIDE", "BLOCKQUOTE", "DD", "DETAILS", "DIALOG", "DIV", "DL", "DT", "FIELDSET",
    "FIGCAPTION", "FIGURE", "FOOTER", "FORM", "H1", "H2", "H3", "H4", "H5", "H6", "HEADER", "HR", "LI", "MAIN", "NAV", "OL", "P",
    "PRE", "SECTION", "SUMMARY", "TABLE", "TR", "UL", "IFRAME"]);
  const read = (ask) => {
    const parts = [], frames = [], counter = { next: ask.next };
    let size = 0;
    let last = "\n\n";
    const put = (text) => { parts.push(text); size += text.length; last = (last + text).slice(-2); };
    // At least so many line breaks before what follows.
    const part = (count) => { while (!last.endsWith("\n".repeat(count))) put("\n"); };
    const walk = (node) => {
      if (size > 2000000) return;
      if (node.nodeType === 3) {
        const kept = node.parentElement && node.parentElement.closest("pre");
        let text = kept ? node.data : node.data.replace(/[ \t\r\n]+/g, " ");
        if (!kept && /[\n ]$/.test(last)) text = text.replace(/^ /, "");
        if (text) put(text);
        return;
      }
      if (node.nodeType === 1) {
        const tag = node.nodeName.toUpperCase();
        if (SKIP.has(tag) || !shown(node) && getComputedStyle(node).display !== "contents") return;
        if (tag === "BR") return put("\n");
        if (tag === "IMG") { const alt = squeeze(node.alt, TEXT); if (alt) put(`[image: ${alt}]`); return; }
        if (/^(INPUT|SELECT|OPTION)$/.test(tag)) return;
        // Its text may be longer than what a list of elements tells.
        if (tag === "TEXTAREA") { part(1); put(node.value); part(1); return; }
        if (tag === "IFRAME" || tag === "FRAME") {
          const doc = innerDocument(node);
          if (doc && doc.body) { part(1); walk(doc.body); part(1); } else frames.push({ id: idOf(node, counter) });
          return;
        }
        const block = BLOCK.has(tag);
        if (block) part(tag === "P" || /^H[1-6]$/.test(tag) ? 2 : 1);
        if (/^H[1-6]$/.test(tag)) put("#".repeat(Number(tag[1])) + " ");
        if (tag === "LI") put("- ");
        const link = ask.links && tag === "A" && /^https?:/.test(node.href);
        if (link) put("[");
        inside(node);
        if (link) put(`](${node.href})`);
        if (tag === "TD" || tag === "TH") put("\t");
        if (block) part(tag === "P" || /^H[1-6]$/.test(tag) ? 2 : 1);
      }
    };
    const inside = (node) => {
      if (node.shadowRoot) return [...node.shadowRoot.childNodes].forEach(walk);
      if (node.localName === "slot") {
        const given = node.assignedNodes();
        if (given.length) return given.forEach(walk);
      }
      for (const child of node.childNodes) walk(child);
    };
    const tidy = () => parts.join("").replace(/[ \t]+\n/g, "\n").replace(/\n{3,}/g, "\n\n").trim();
    let text = "";
    const main = document.querySelector("main,[role=main],article");
    if (main && ask.whole !== true) { walk(main); text = tidy(); }
    if (text.length < 200 && document.body) {
      parts.length = 0; frames.length = 0; size = 0; last = "\n\n";
      walk(document.body);
      text = tidy();
    }
    return { text, frames, next: counter.next, ...about() };
  };
  // What it is called now, and where its link or form leads. A form's fields may be named like its properties, and so may a document's forms: the
  // prototypes' own are asked.
  const form = (ask) => {
    const el = find(ask.id);
    if (!el) return { gone: true };
    const button = Element.prototype.closest.call(el, "button, input");
    const submits = !!button && /^(submit|image)$/.test(button.type);
    const its = (button || el).form || null, url = location.href, name = nameOf(el);
    // Of the page itself: whatever frames it may take the keys away. Frames of its own site are walked from here.
    const hides = type(el) === "password" && top === self && el.ownerDocument === document;
    // Rows change places, and each has a button of the same name.
    const ROW = "tr, li, dialog, article, [role=row], [role=listitem], [role=dialog], [role=article]";
    const around = Element.prototype.closest.call(el, ROW);
    const row = around ? squeeze(Object.getOwnPropertyDescriptor(Node.prototype, "textContent").get.call(around), 500) : "";
    const attribute = (of, name) => Element.prototype.getAttribute.call(of, name) || "";
    const base = Object.getOwnPropertyDescriptor(Node.prototype, "baseURI").get.call(el);
    const leadsTo = (href) => URL.canParse(href, base) ? new URL(href, base).href : href;
    // A link around it, or else the one in it that a click may hit.
    const links = "a[href], area[href]";
    let link = el;
    while (link && !(link.nodeType === 1 && Element.prototype.matches.call(link, links))) link = link.parentNode || link.host || null;
    link = submits ? null : link || Element.prototype.querySelector.call(el, links);
    const href = link ? attribute(link, "href").trim() : "";
    if (href && !/^javascript:/i.test(href)) return { name, url, row, submits: true, action: leadsTo(href) };
    const closest = (of, selector) => Element.prototype.closest.call(of, selector);
    const SEARCH = "search, [role=search], [role=searchbox], input[type=search]";
    if (!its) return { name, url, row, hides, submits: false, searches: !!closest(el, SEARCH) };
    const own = (of, name) => (submits && attribute(button, "form" + name)) || attribute(of, name);
    const action = own(its, "action"), to = leadsTo(action || url);
    // What only asks its own site for something, as the page says it; one that names no place may be a script's.
    const searches = /^(get)?$/i.test(own(its, "method").trim()) && URL.canParse(to) && new URL(to).origin === new URL(url).origin
      && !!(action || closest(its, SEARCH) || Element.prototype.querySelector.call(its, SEARCH));
    return { name, url, row, hides, submits, searches, form: submits, action: to };
  };
  const outer = (ask) => {
    const el = find(ask.id);
    if (!el) return { gone: true };
    if (ask.show) {
      const box = el.getBoundingClientRect();
      if (box.y < 0 || box.x < 0 || box.bottom > innerHeight || box.right > innerWidth) el.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    }
    const inner = frameBox(el), at = toTop(el.ownerDocument);
    return { x: at.x + inner.x * at.scale, y: at.y + inner.y * at.scale, scale: inner.scale * at.scale };
  };
  return { collect, about, ready, after, finish, focusText, holds, setValue, choose, insert, enter, press, read, form, outer, element: (ask) => find(ask.id), told: (ask) => { const el = find(ask.id); return el ? told(el) : { gone: true }; } };
})()
