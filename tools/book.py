#!/usr/bin/env python3
"""Builds the pages of docs/ as a site by mdBook, and checks every link of the site.

    tools/book.py [OUT]     OUT is target/book unless it is given; mdbook is on the PATH

If web/dist is there, the site contains that page for a browser. mdBook reads one folder, and pages of docs/ link to pages outside of it. So this script copies both
to a folder of their own, in the same places. It exits with 1 if a link of the site leads nowhere.
"""

import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Page(html.parser.HTMLParser):
    """The targets and the anchors of a page."""

    def __init__(self):
        super().__init__()
        self.targets, self.anchors = [], set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if value and name == "id":
                self.anchors.add(value)
            elif value and name in ("href", "src") and tag in ("a", "img", "iframe"):
                self.targets.append(value)


def source(folder):
    """The pages, and the files that they link to, in the places that they have here."""
    for name in ["docs", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "proofs/README.md",
                 "fuzz/README.md"]:
        place = os.path.join(folder, "src", name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        copy = shutil.copytree if os.path.isdir(os.path.join(ROOT, name)) else shutil.copy
        copy(os.path.join(ROOT, name), place)
    for name in ["CITATION.cff", "LICENSE-MIT", "LICENSE-APACHE", "LICENSE-DEJAVU"]:
        shutil.copy(os.path.join(ROOT, name), os.path.join(folder, "src", name))
    summary = open(os.path.join(ROOT, "docs/SUMMARY.md"), encoding="utf-8").read()
    summary = re.sub(r"\]\((?!\.\./)", "](docs/", summary).replace("](../", "](")
    open(os.path.join(folder, "src/SUMMARY.md"), "w", encoding="utf-8").write(summary)
    os.remove(os.path.join(folder, "src/docs/SUMMARY.md"))
    # The summary is the side bar there.
    readme = os.path.join(folder, "src/README.md")
    text = open(readme, encoding="utf-8").read()
    open(readme, "w", encoding="utf-8").write(text.replace("](docs/SUMMARY.md)", "](#rtflash)"))
    shutil.move(os.path.join(folder, "src/docs/book.toml"), os.path.join(folder, "book.toml"))


def with_page(folder):
    """Adds the page for a browser, as node web/build.mjs made it, and shows it where it is named."""
    page = os.path.join(ROOT, "web/dist")
    if not os.path.exists(os.path.join(page, "index.html")):
        return
    shutil.copytree(page, os.path.join(folder, "src/docs/page"))
    place = os.path.join(folder, "src/docs/browser.md")
    text = open(place, encoding="utf-8").read()
    assert "<!-- the page -->" in text, "docs/browser.md has no place for the page"
    shown = ('<p><a href="page/index.html">Open the page by itself</a></p>\n<iframe src="page/index.html" title="rtflash" '
             'style="width: 100%; height: 90vh; border: 1px solid"></iframe>')
    open(place, "w", encoding="utf-8").write(text.replace("<!-- the page -->", shown))


def lost(out):
    """The links of the site that lead nowhere, and how many links there are."""
    pages = {}
    for folder, _, names in os.walk(out):
        for name in names:
            if name.endswith(".html") and name not in ("print.html", "toc.html", "404.html"):
                page = Page()
                page.feed(open(os.path.join(folder, name), encoding="utf-8").read())
                pages[os.path.join(folder, name)] = page
    found, links = [], 0
    for place, page in pages.items():
        for target in page.targets:
            address = urllib.parse.urlsplit(target)
            if address.scheme:
                continue
            links += 1
            to = os.path.normpath(os.path.join(os.path.dirname(place), urllib.parse.unquote(address.path)))
            to = to if address.path else place
            anchor = urllib.parse.unquote(address.fragment)
            if not os.path.exists(to) or anchor and to in pages and anchor not in pages[to].anchors:
                found.append(f"{os.path.relpath(place, out)}: {target}")
    return found, links


def main():
    out = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "target/book"))
    with tempfile.TemporaryDirectory() as folder:
        source(folder)
        with_page(folder)
        subprocess.run(["mdbook", "build", folder, "--dest-dir", out], check=True)
    found, links = lost(out)
    print("\n".join(found + [f"{links} links, {len(found)} of them lead nowhere"]))
    return 1 if found or links < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
