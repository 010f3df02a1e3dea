"""Orders, as a page: serves `page.html`, opens it in the browser that the arguments name, the last of them with the
address behind it, and hands on what the page says (`@key=value`) and what it is told.
"""

import pathlib
import queue
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import orders

FOLDER = pathlib.Path(__file__).parent
PAGES = {"/": (FOLDER / "page.html").read_bytes(), "/gone": b"<title>Gone</title><script src=/obey.js></script>"}
PAGES["/obey.js"] = (FOLDER / "obey.js").read_bytes()
# The newest page's; those before it are gone.
listening = queue.Queue()
lock = orders.threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def do_GET(self):
        global listening
        path = self.path.partition("?")[0]
        self.send_response(200 if path in PAGES or path == "/commands" else 404)
        if path != "/commands":
            self.send_header("Content-Type", "text/javascript" if path.endswith(".js") else "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(PAGES.get(path, b""))
            return
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        mine = queue.Queue()
        with lock:
            listening = mine
        self.wfile.write(b"data: hello\n\n")
        self.wfile.flush()
        while True:
            line = mine.get()
            self.wfile.write(f"data: {line}\n\n".encode())
            self.wfile.flush()

    def do_POST(self):
        said = self.rfile.read(int(self.headers["Content-Length"])).decode()
        key, _, value = said.partition("=")
        orders.log(key, value)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
orders.threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}/"
number = 0
for line in sys.stdin:
    line = line.strip()
    if line == "reset":
        number += 1
        if number == 1:
            *browser, option = sys.argv[1:]
            subprocess.Popen([*browser, f"{option}{address}?1"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            continue
        line = f"reset {number}"
    with lock:
        listening.put(line)
