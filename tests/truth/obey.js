// What the page tells, and what it is told.
const say = (key, value) => {
  const line = `${key}=${value}`;
  // Told before anything else happens: a dialog of the page would hold back what is still to be sent.
  const request = new XMLHttpRequest();
  request.open("POST", "/log", false);
  request.send(line);
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
