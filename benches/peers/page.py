"""Peer of the page's elements: Playwright's snapshot, over the browser's debugging port."""

from serve import serve

import sys

from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{sys.argv[1]}")
    page = browser.contexts[0].pages[0]

    def snapshot():
        return len(page.locator("body").aria_snapshot().splitlines())

    serve({"snapshot": snapshot})
