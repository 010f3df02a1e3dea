// What the page tells, and what it is told.
const waiting = [];
// One after the other, so that they come in order; the first at once: a dialog of the page holds back what waits.
// A request that the page waits for would lose keys in Firefox.
const send = () =>
  fetch("/log", { method: "POST", body: waiting[0], keepalive: true }).finally(() => {
    waiting.shift();
    if (waiting.length) send();
  });
const say = (key, value) => {
  if (waiting.push(`${key}=${value}`) === 1) send();
};
const commands = {
  hello: () => say("ready", location.search.slice(1)),
  ping: (at) => say("pong", at),
  reset: (number) => (location.href = `/?${number}`),
  close: () => (location.href = "/gone"),
};
addEventListener("load", () => {
  new EventSource("/commands").onmessage = ({ data }) => {
    const at = data.indexOf(" ");
    const [name, rest] = at < 0 ? [data, ""] : [data.slice(0, at), data.slice(at + 1)];
    commands[name](...rest.split("|"));
  };
});
