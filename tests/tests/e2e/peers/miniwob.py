"""An agent of another program, by the protocol's own Python SDK, that does small tasks in a browser (MiniWoB++).

It sees and acts by the tools of `miki mcp desktop` and by nothing else: what a page wants it reads on the page, and that a
task is over it knows by the cover that the page lays over itself. Whether it did right it is never told.

Arguments: the program of Miki, its data folder, where the pages are, the tasks. Says what it did of each, a line of JSON
each. A task with `!` is one in which its user says no: what it is told then is said, too.
"""
import asyncio
import json
import os
import re
import sys
import time

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import Implementation

PROGRAM, HOME, PAGES, *TASKS = sys.argv[1:]
PATIENCE = 30
# An element as it is told in a line: its ref and role, and what there is of its name, description, value, states, actions;
# its bounds.
LINE = re.compile(
    r"\s*(?P<ref>\S+) (?P<role>[^`=\[;(]*?)(?: `(?P<name>[^`]*)`)?(?: \(`[^`]*`\))?(?: = `(?P<value>[^`]*)`)?"
    r"(?: \[(?P<states>[^\]]*)\])?(?: do `[^`]*`)?; (?P<x>\S+),(?P<y>\S+) (?P<width>[^x]+)x(?P<height>\S+)", re.DOTALL)


class Refused(Exception):
    """What the server said instead."""


class Element:
    def __init__(self, told):
        if isinstance(told, str):
            told = LINE.fullmatch(told).groupdict()
            told["bounds"] = {side: told[side] for side in ("x", "y", "width", "height")}
            told["states"] = (told["states"] or "").split(", ")
        self.ref, self.role, self.name = told["ref"], told["role"], told.get("name") or ""
        self.hint, self.states = told.get("hint") or "", told.get("states") or []
        bounds = {side: float(number) for side, number in told["bounds"].items()}
        self.x, self.y, self.width, self.height = (bounds[side] for side in ("x", "y", "width", "height"))

    def hinted(self, word):
        return word in re.split(r"[ ,]", self.hint)


class Hands:
    def __init__(self, client):
        self.client, self.calls = client, 0

    async def call(self, tool, **arguments):
        self.calls += 1
        result = await self.client.call_tool(tool, arguments)
        text = next(block.text for block in result.content if block.type == "text")
        if result.is_error:
            raise Refused(text)
        return json.loads(text)["data"]

    async def read(self):
        """The line that says what is to be done, and the others."""
        text = (await self.call("webRead"))["text"].split("Last reward:")[0]
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return lines[0] if lines else "", lines[1:]

    async def task(self):
        return (await self.read())[0]

    async def elements(self, **which):
        return [Element(told) for told in (await self.call("webElements", **which))["elements"]]

    async def seek(self, what, pick, **which):
        """Looks until it is there."""
        end = time.monotonic() + PATIENCE
        while True:
            seen = await self.elements(**which)
            if found := pick(seen):
                return found
            if time.monotonic() > end:
                raise TimeoutError(f"no {what} among {[(one.role, one.name, one.hint) for one in seen]}")

    async def named(self, name, **which):
        return await self.seek(name, lambda seen: next((one for one in seen if one.name == name), None), **which)

    async def of_role(self, role, least=1):
        def pick(seen):
            found = sorted((one for one in seen if one.role == role), key=lambda one: (one.y, one.x))
            return found if len(found) >= least else None
        return await self.seek(role, pick)

    async def click(self, element):
        """In the page."""
        await self.call("webClick", ref=element.ref, reason="the task asks for it")

    async def point(self, element):
        """By the real pointer."""
        x, y = element.x + element.width / 2, element.y + element.height / 2
        await self.call("click", x=x, y=y, reason="the task asks for it")

    async def fill(self, element, text):
        await self.call("webType", ref=element.ref, text=text, reason="the task asks for it")

    async def click_named(self, name):
        await self.click(await self.named(name))


def quoted(text):
    return re.findall(r'"([^"]*)"', text)


def between(text, start, end):
    return text.split(start, 1)[1].split(end, 1)[0].strip()


def ordinals(text):
    return [int(number) - 1 for number in re.findall(r"(\d+)(?:st|nd|rd|th)\b", text)]


async def click_that_button(at):
    await at.point(await at.named(between(await at.task(), "Click button ", ".")))


async def one_then_two(at):
    task = await at.task()
    await at.click_named(between(task, "Click button ", ","))
    await at.click_named(between(task, "then click button ", "."))


async def click_what_is_quoted(at):
    await at.click_named(quoted(await at.task())[0])


async def button_of_a_dialog(at):
    name = quoted(await at.task())[0]
    await at.click_named("Close" if name == "x" else name)


async def kind_of_widget(at):
    kind = quoted(await at.task())[0]
    role = {"textarea": "textbox", "text": "textbox"}.get(kind, kind)

    def pick(seen):
        return next((one for one in seen if one.role == role
                     and ("multiline" in one.states) == (kind == "textarea")), None)
    await at.point(await at.seek(kind, pick))


async def focus_a_field(at):
    place = ordinals(await at.task())[0]
    await at.point((await at.of_role("textbox", place + 1))[place])


async def click_a_tab(at):
    name = between(await at.task(), "Click on ", ".")
    await at.click(await at.seek(name, lambda seen: next(
        (one for one in seen if one.role == "link" and one.name == name), None)))


async def option(at):
    name = between(await at.task(), "Select ", " and click Submit")
    await at.click(await at.seek(name, lambda seen: next(
        (one for one in seen if one.role == "radio" and one.name == name), None)))
    await at.click_named("Submit")


async def boxes(at):
    names = between(await at.task(), "Select ", " and click Submit").split(", ")
    for name in names:
        if name != "nothing":
            await at.click(await at.seek(name, lambda seen, name=name: next(
                (one for one in seen if one.role == "checkbox" and one.name == name), None)))
    await at.click_named("Submit")


async def one_of_a_list(at):
    name = between(await at.task(), "Select ", " from the list")
    await at.fill((await at.of_role("combobox"))[0], name)
    await at.click_named("Submit")


async def text(at):
    task = await at.task()
    await at.fill((await at.of_role("textbox"))[0], quoted(task)[0])
    await at.click_named("Submit")


async def text_by_keys(at):
    task = await at.task()
    wanted = quoted(task)[0]
    await at.point((await at.of_role("textbox"))[0])
    await at.call("type", text=wanted.upper() if "upper case" in task else wanted.lower())
    await at.click_named("Submit")


async def password_twice(at):
    task = await at.task()
    for field in await at.of_role("textbox", 2):
        await at.fill(field, quoted(task)[0])
    await at.click_named("Submit")


async def login(at):
    fields, words = await at.of_role("textbox", 2), quoted(await at.task())
    for field, word in zip(fields, words):
        await at.fill(field, word)
    await at.click_named("Login")


async def date(at):
    month, day, year = between(await at.task(), "Enter ", " as the date").split("/")
    await at.fill((await at.of_role("textbox"))[0], f"{year}-{month}-{day}")
    await at.click_named("Submit")


async def value_of_a_table(at):
    task, lines = await at.read()
    key = between(task, "Enter the value of ", " into the text field")
    rows = dict(tuple(map(str.strip, line.split("\t", 1))) for line in lines if "\t" in line)
    await at.fill((await at.of_role("textbox"))[0], rows[key])
    await at.click_named("Submit")


async def arithmetic(at):
    _, lines = await at.read()
    one, sign, other = re.search(r"(\d+) (\S) (\d+) =", "\n".join(lines)).groups()
    one, other = int(one), int(other)
    result = {"+": one + other, "-": one - other}.get(sign, one * other)
    await at.fill((await at.of_role("textbox"))[0], str(result))
    await at.click_named("Submit")


async def word_of_a_text(at):
    task, lines = await at.read()
    word = lines[0].split()[ordinals(task)[0]]
    await at.fill((await at.of_role("textbox"))[0], re.sub(r"[^A-Za-z]", "", word))
    await at.click_named("Submit")


async def search_result(at):
    task = await at.task()
    place = ordinals(task)[0]
    await at.fill((await at.of_role("textbox"))[0], quoted(task)[0])
    await at.click_named("Search")
    if place >= 3:
        await at.click_named(str(place // 3 + 1))

    def pick(seen):
        links = sorted((one for one in seen if one.role == "link" and len(one.name) > 1), key=lambda one: one.y)
        return links[place % 3] if len(links) > place % 3 else None
    await at.click(await at.seek("result", pick))


async def shapes(at):
    wanted = between(await at.task(), "How many ", "s are there").split()
    seen = await at.elements(all=True)
    board = next(one for one in seen if one.role == "image").height
    kinds = {"rect": ("shape", "rectangle"), "circle": ("shape", "circle"), "polygon": ("shape", "triangle")}
    codes = {"red": "#ff0000", "green": "#008000", "blue": "#0000ff", "aqua": "#00ffff", "black": "#000000",
             "magenta": "#ff00ff", "yellow": "#ffff00"}

    def fits(one):
        letter = ("digit" if one.name.isdigit() else "letter", one.name)
        kind = kinds.get(one.role) or (letter if one.role == "text" else None)
        large = one.height > board * 0.1
        return kind and wanted[-1] in ("item", *kind) and all(
            {"large": large, "small": not large}.get(word, codes.get(word, "") in one.hint) for word in wanted[:-1])
    count = str(sum(bool(fits(one)) for one in seen))
    await at.click(next(one for one in seen if one.role == "button" and one.name == count))


async def reply_to_a_mail(at):
    task = await at.task()
    sender = between(task, "Find the email by ", " and reply")
    await at.click(await at.seek(sender, lambda seen: next(
        (one for one in seen if one.role == "generic" and one.name.startswith(f"{sender} ")), None), wholePage=True))
    await at.click(await at.named("Reply", all=True, wholePage=True))
    await at.fill((await at.of_role("textbox"))[0], quoted(task)[0])
    await at.click(await at.seek("the way to send it", lambda seen: next(
        (one for one in seen if one.hinted("send-reply")), None), all=True, wholePage=True))


async def copy_and_paste(at):
    fields = await at.of_role("textbox", 2)
    source = next(one for one in fields if "multiline" in one.states)
    target = next(one for one in fields if "multiline" not in one.states)
    await at.point(source)
    await at.call("hotkey", keys=["ctrl", "a"])
    await at.call("hotkey", keys=["ctrl", "c"])
    await at.point(target)
    await at.call("hotkey", keys=["ctrl", "v"])
    await at.click_named("Submit")


WAYS = {
    "click-test-2": click_that_button,
    "click-button-sequence": one_then_two,
    "click-button": click_what_is_quoted,
    "click-link": click_what_is_quoted,
    "click-dialog-2": button_of_a_dialog,
    "click-widget": kind_of_widget,
    "focus-text-2": focus_a_field,
    "click-tab": click_a_tab,
    "click-option": option,
    "click-checkboxes": boxes,
    "choose-list": one_of_a_list,
    "enter-text": text,
    "enter-text-2": text_by_keys,
    "enter-password": password_twice,
    "enter-date": date,
    "login-user": login,
    "copy-paste": copy_and_paste,
    "read-table": value_of_a_table,
    "simple-arithmetic": arithmetic,
    "find-word": word_of_a_text,
    "search-engine": search_result,
    "count-shape": shapes,
    "email-inbox-reply": reply_to_a_mail,
}


async def has_begun(at):
    await at.seek("episode", lambda seen: seen and all(one.name != "START" for one in seen))


async def is_over(at):
    await at.seek("end of the episode", lambda seen: any(one.name == "START" for one in seen))


async def main():
    environment = {**os.environ, "MIKI_HOME": HOME}
    server = StdioServerParameters(command=PROGRAM, args=["mcp", "desktop"], env=environment)
    client = Client(stdio_client(server), client_info=Implementation(name="Pond Desktop", version="1"))
    async with client:
        at = Hands(client)
        for task in TASKS:
            is_refused, name = task.startswith("!"), task.lstrip("!")
            begun, at.calls, told = time.monotonic(), 0, None
            try:
                await at.call("webNavigate", url=f"{PAGES}/miniwob/{name}.html", reason="the task asks for it")
                await has_begun(at)
                await WAYS[name](at)
                if not is_refused:
                    await is_over(at)
            except Refused as refused:
                told = str(refused)
            seconds = round(time.monotonic() - begun, 1)
            print(json.dumps({"task": name, "calls": at.calls, "seconds": seconds, "told": told}), flush=True)


asyncio.run(main())
