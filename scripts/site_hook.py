"""What mkdocs does not know of this repository.

Pages that are not in git come from the folder that `scripts/site` fills. Links to files outside docs/ work in the
repository; here they become pages of the site, below repository/: Markdown as it is, folders as lists, and the other
files of a folder together, as their texts. And GitHub's Markdown is brought into the form that mkdocs reads.
"""

import ast
import os
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File, Files, InclusionLevel
from pymdownx.slugs import slugify
from pymdownx.superfences import fence_code_format

ROOT = Path(__file__).resolve().parent.parent
# The pages that are not in git, at their paths from the root of the repository.
MADE = Path(os.environ["SITE_PAGES"])
# For those who work on Tresse.
AS_TEXT = "papers/catalogue"
# Longer files, and those that browsers show well, are copied as they are.
LONGEST_PAGE = 60_000
COPIED = {".json"}
# Scripts that are part of the site; `scripts/site` fetches them.
DIAGRAMS = "mermaid.min.js"
SEARCH_FROM_DISK = "iframe-worker.js"
# Keys of an experiment are on separate pages; the version is not a function.
WITHOUT_PAGE = ("__version__", "keys")
# The page with the texts of a folder's files.
TEXTS = "texts.md"
# As in mkdocs.yml.
SLUG = slugify(case="lower")
LANGUAGES = {".h": "c", ".rs": "rust", ".ts": "typescript", ".service": "ini", ".py": "python"}
# Sources would fill the search with irrelevant results.
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
ITEM = re.compile(r"^( *)([-*+]|\d+\.) ")


def place(path: str) -> str:
    """Where a path of the repository is in the site."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"repository/{path}"


def source(uri: str) -> str:
    """The path in the repository of a page."""
    return uri.removeprefix("repository/") if uri.startswith("repository/") else f"docs/{uri}"


def page_of(path: str) -> str | None:
    """The page that shows a file or folder of the repository; None if it stays a file, or is not there."""
    file = ROOT / path
    if file.is_dir():
        name = "README.md" if (file / "README.md").exists() else "index.md"
        return posixpath.join(place(path), name)
    if path.endswith(".md") and not path.startswith(AS_TEXT):
        return place(path)
    if path.startswith("docs/") or file.suffix in COPIED or not file.exists():
        return None
    is_shown = file.stat().st_size <= LONGEST_PAGE and is_text(file)
    return posixpath.join(place(folder_of(path)), TEXTS) if is_shown else None


def folder_of(path: str) -> str:
    """The folder whose texts a file is shown among: at most the second one of its path."""
    return "/".join(posixpath.dirname(path).split("/")[:2])


def name_in_folder(path: str) -> str:
    """The heading of a file among the texts of its folder."""
    return posixpath.relpath(path, folder_of(path))


def anchor_of(path: str) -> str:
    """Where the text of a file is on the page of its folder's texts."""
    return "#" + SLUG(name_in_folder(path), "-")


def is_text(file: Path) -> bool:
    """Whether a file is no picture and the like."""
    try:
        file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False
    return True


def linked(text: str, uri: str):
    """The paths in the repository that a page links to."""
    folder = posixpath.dirname(source(uri))
    for line in outside_code(text):
        for match in LINK.finditer(line):
            if ":" not in match[2]:
                yield posixpath.normpath(posixpath.join(folder, match[2]))


def outside_code(text: str):
    """The lines that are not in a fence."""
    fence = None
    for line in text.split("\n"):
        match = FENCE.match(line)
        if match and fence is None:
            fence = match[1]
        elif match and match[1].startswith(fence):
            fence = None
        elif fence is None:
            yield line


def listing(path: str) -> str:
    """The page of a folder. Other folders in it are only named: their files would bring everything into the site."""
    rows = ""
    for file in sorted(ROOT.joinpath(path).iterdir()):
        if file.name[0] in "._":
            continue
        if file.is_dir() and not (file / "README.md").exists():
            rows += f"- {file.name}/\n"
        else:
            rows += f"- [{file.name}]({file.name})\n"
    return f"{UNSEARCHED}# {path}\n\n{rows}"


def text_of(path: str) -> str:
    """The Markdown of a file or folder of the repository."""
    file = ROOT / path
    return listing(path) if file.is_dir() else file.read_text(encoding="utf-8")


def texts(paths: set[str]) -> str:
    """The Markdown of the page with the texts of these files of one folder."""
    page = f"{UNSEARCHED}# {folder_of(min(paths))}\n"
    for path in sorted(paths):
        file = ROOT / path
        text = file.read_text(encoding="utf-8").rstrip()
        fence = "`" * (max(2, *map(len, re.findall("`+", text)), 0) + 1)
        language = LANGUAGES.get(file.suffix, file.suffix.removeprefix("."))
        page += f"\n## {name_in_folder(path)}\n\n{fence}{language}\n{text}\n{fence}\n"
    return page


def on_config(config):
    """Put the scripts that the theme would load into the site, and write the navigation out."""
    # If the theme does not find these, it loads them from the network. Without them diagrams stay text.
    is_there = "SITE_LIBRARIES" in os.environ
    if is_there:
        fences = [{"name": "mermaid", "class": "mermaid", "format": fence_code_format}]
        config.mdx_configs["pymdownx.superfences"] = {"custom_fences": fences}
        config.extra_javascript.append(DIAGRAMS)
    config.extra["polyfills"] = [SEARCH_FROM_DISK] if is_there else []
    named = set(named_in(config.nav))
    config.nav = list(expanded(config.nav, named))
    return config


def named_in(nav):
    """The pages that the navigation names."""
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            if isinstance(value, list):
                yield from named_in(value)
            else:
                yield value


def expanded(nav, named):
    """The navigation with every page of `FOLDER/*`, and with the places of pages outside docs/."""
    for entry in nav:
        if isinstance(entry, dict):
            ((title, value),) = entry.items()
            if isinstance(value, list):
                yield {title: list(expanded(value, named))}
            else:
                yield {title: value.replace("../", "repository/")}
        elif entry.endswith("/*"):
            folder = posixpath.normpath(posixpath.join("docs", entry[:-2]))
            pages = [page.relative_to(root) for root in (ROOT, MADE) for page in root.joinpath(folder).glob("*.md")]
            uris = [place(page.as_posix()) for page in sorted(pages)]
            yield from (uri for uri in uris if uri not in named)
        else:
            yield entry


def python_page() -> str:
    """The page of the Python package's names, from its docstrings."""
    package = ast.parse((ROOT / "python/tresse/__init__.py").read_text(encoding="utf-8"))
    lists = (node for node in package.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    names = [name for name in ast.literal_eval(next(lists).value) if name not in WITHOUT_PAGE]
    return "# Python\n\n[How to use it](../python.md).\n\n" + "".join(f"::: tresse.{name}\n\n" for name in names)


def on_files(files: Files, config):
    """Add pages for what links name outside docs/."""
    if folder := os.environ.get("SITE_LIBRARIES"):
        for name in (DIAGRAMS, SEARCH_FROM_DISK):
            files.append(File.generated(config, name, abs_src_path=f"{folder}/{name}"))
    files.append(File.generated(config, "reference/python.md", content=python_page()))
    for page in sorted(MADE.rglob("*.md")):
        uri = page.relative_to(MADE / "docs").as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(page)))
    open_pages = [file.src_uri for file in files.documentation_pages()]
    wanted = ["CONTRIBUTING.md", "CHANGELOG.md"]
    shown: dict[str, set[str]] = {}
    while open_pages or wanted:
        if open_pages:
            uri = open_pages.pop()
            wanted += linked(files.get_file_from_path(uri).content_string, uri)
            continue
        path = wanted.pop()
        uri = page_of(path)
        if uri is None and not path.startswith("docs/") and (ROOT / path).is_file():
            if files.get_file_from_path(place(path)) is None:
                files.append(File.generated(config, place(path), abs_src_path=str(ROOT / path)))
        elif uri is not None and posixpath.basename(uri) == TEXTS:
            shown.setdefault(uri, set()).add(path)
        elif uri is not None and files.get_file_from_path(uri) is None and (ROOT / path).exists():
            target = f"{path}/README.md" if uri.endswith("/README.md") and (ROOT / path).is_dir() else path
            page = File.generated(config, uri, content=text_of(target))
            page.inclusion = InclusionLevel.NOT_IN_NAV
            files.append(page)
            open_pages.append(uri)
    for uri, paths in shown.items():
        page = File.generated(config, uri, content=texts(paths))
        page.inclusion = InclusionLevel.NOT_IN_NAV
        files.append(page)
    return files


def on_page_markdown(markdown, page, **_):
    """Lead links to where files are in the site, and bring lists into the form that mkdocs reads."""
    uri = page.file.src_uri
    folder = posixpath.dirname(source(uri))
    here = posixpath.dirname(uri)

    def relink(match):
        if ":" in match[2]:
            return match[0]
        path = posixpath.normpath(posixpath.join(folder, match[2]))
        to = page_of(path) or place(path)
        end = anchor_of(path) + ")" if posixpath.basename(to) == TEXTS else match[3]
        return match[1] + posixpath.relpath(to, here or ".") + end

    lines = []
    fence = None
    for line in markdown.split("\n"):
        match = FENCE.match(line)
        if match:
            fence = match[1] if fence is None else (None if match[1].startswith(fence) else fence)
            # This word after the language is for a test; with it, mkdocs sees no fence.
            line = line.replace("```console root", "```console")
        elif fence is None:
            line = LINK.sub(relink, line).replace("<details>", '<details markdown="1">')
            item = ITEM.match(line)
            # A list may follow a paragraph without an empty line, and lists within lists are indented by two.
            if item and not item[1] and lines and lines[-1] and not in_list(lines):
                lines.append("")
            if item and 2 <= len(item[1]) <= 3 and in_list(lines):
                line = "  " + line
        lines.append(line)
    return "\n".join(lines)


def in_list(lines):
    """Whether the last line belongs to an item of a list."""
    for line in reversed(lines):
        if not line or not line.startswith(" "):
            return bool(ITEM.match(line))
        if ITEM.match(line):
            return True
    return False
