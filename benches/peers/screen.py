"""Peers of capture and pointer: pyautogui, mss with Pillow, and the shell's scrot, convert and xdotool."""

from serve import serve

import base64
import io
import itertools
import os
import subprocess
import tempfile

import mss
import pyautogui
from PIL import Image, ImageDraw

DOT = (768, 324)
RADIUS = 11
# Over the bare desktop, as ours does.
PLACES = itertools.cycle([(192, 1004), (576, 1036)])

camera = mss.MSS()
folder = tempfile.mkdtemp()


def marked(image):
    x, y = DOT
    ImageDraw.Draw(image).ellipse((x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS), fill=(230, 20, 30))
    file = io.BytesIO()
    image.save(file, "JPEG", quality=85)
    return len(base64.b64encode(file.getvalue()))


def by_mss():
    shot = camera.grab(camera.monitors[1])
    return marked(Image.frombytes("RGB", shot.size, shot.bgra, "raw", "BGRX"))


def by_pyautogui():
    return marked(pyautogui.screenshot().convert("RGB"))


def by_scrot():
    png, jpeg = os.path.join(folder, "screen.png"), os.path.join(folder, "screen.jpg")
    subprocess.run(["scrot", "--overwrite", "--pointer", png], check=True)
    x, y = DOT
    dot = ["-fill", "rgb(230,20,30)", "-draw", f"circle {x},{y} {x + RADIUS},{y}"]
    subprocess.run(["convert", png, *dot, "-quality", "85", jpeg], check=True)
    with open(jpeg, "rb") as file:
        return len(base64.b64encode(file.read()))


def xdotool(*words):
    x, y = next(PLACES)
    subprocess.run(["xdotool", "mousemove", str(x), str(y), *words], check=True)
    return 1


def pointer(act):
    act(*next(PLACES))
    return 1


serve(
    {
        "mss": by_mss,
        "pyautogui": by_pyautogui,
        "scrot": by_scrot,
        # With its pause after each call, as it comes.
        "pyautogui-move": lambda: pointer(pyautogui.moveTo),
        "pyautogui-click": lambda: pointer(pyautogui.click),
        "xdotool-move": xdotool,
        "xdotool-click": lambda: xdotool("click", "1"),
    }
)
