"""Take a picture of a dashboard with Debian's Chromium: picture.py SUPERSET PAGE FILE HEIGHT."""

from __future__ import annotations

import shutil
import sys

from playwright.sync_api import sync_playwright

BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")


def main(superset: str, page_address: str, file: str, height: str) -> None:
    program = next(found for name in BROWSERS if (found := shutil.which(name)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": int(height)})
        page.goto(f"{superset}/login/")
        page.fill("#username", "admin")
        page.fill("#password", "admin")
        page.keyboard.press("Enter")
        page.wait_for_load_state("networkidle")
        page.goto(page_address)
        page.wait_for_selector(".dashboard-component-chart-holder", timeout=60_000)
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(6_000)
        page.screenshot(path=file)
        browser.close()


main(*sys.argv[1:])
