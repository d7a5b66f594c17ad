#!/usr/bin/env python3
"""Writes what commands print into the tutorials and how-tos that show it.

    tools/pages.py [PAGE …]     rtflash is on the PATH; PAGE is a file of docs/, all if none is given

It follows a page as tests/it/pages.rs does. Output that is shown whole is replaced. Output that is
shown with `…` is compared, and the script names the commands whose output has changed: those lines
are a writer's choice. It exits with 1 if there are any.
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def is_shown(printed, shown):
    """Whether what was printed is what is shown; `…` stands for any lines, or the rest of one."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(is_shown(printed[at:], shown[1:]) for at in range(len(printed) + 1))
    begin = shown[0].removesuffix("…")
    equal = printed and (printed[0].startswith(begin) if begin != shown[0] else printed[0] == shown[0])
    return bool(equal) and is_shown(printed[1:], shown[1:])


def followed(text, folder):
    """The page with the output of its commands, and the commands whose lines a writer has to choose."""
    out, changed, block, name = [], [], None, None
    for line in text.split("\n"):
        if line.startswith("```"):
            if block is None:
                name = re.search(r"file=(\S+)", line)
                block = []
                out.append(line)
                console = line == "```console"
                continue
            if name:
                open(os.path.join(folder, name.group(1)), "w", encoding="utf-8").write("\n".join(block) + "\n")
            parts = re.split(r"(?m)^\$ ", "\n".join(block))[1:] if console else []
            out += block if not parts else []
            for part in parts:
                command, *shown = part.rstrip("\n").split("\n")
                run = subprocess.run(["sh", "-c", f"{{ {command}\n}} 2>&1"], cwd=folder, stdout=subprocess.PIPE)
                printed = [line.rstrip() for line in run.stdout.decode().splitlines()]
                if not is_shown(printed, shown):
                    whole = not any(line.endswith("…") for line in shown)
                    shown = printed if whole else shown
                    changed += [] if whole else [command]
                out += [f"$ {command}", *shown]
            out.append(line)
            block = None
        elif block is None:
            out.append(line)
        else:
            block.append(line)
    return "\n".join(out), changed


def main():
    summary = open(os.path.join(ROOT, "docs/SUMMARY.md"), encoding="utf-8").read()
    parts = [part for part in summary.split("\n# ") if part.startswith(("Tutorials", "How-to"))]
    pages = sys.argv[1:] or re.findall(r"\]\((.*?)\)", "".join(parts))
    status = 0
    for page in pages:
        path = os.path.join(ROOT, "docs", page)
        text = open(path, encoding="utf-8").read()
        with tempfile.TemporaryDirectory() as folder:
            for name in ["tasksets", "scenarios", "docs", "crates", "examples", "contrib"]:
                os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
            new, changed = followed(text, folder)
        open(path, "w", encoding="utf-8").write(new)
        for command in changed:
            print(f"docs/{page}: choose the lines of: {command}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
