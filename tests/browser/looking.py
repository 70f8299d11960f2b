"""What a page shows and does, looked at from outside: what it asked for, what it complained of, and how it looks."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator

LEAST_CONTRAST = 4.5  # WCAG 2, level AA, for text of normal size

# The ratio of each text to what lies behind it: the nearest backgrounds, put over each other. Text in an SVG is filled.
_CONTRASTS = """
root => {
  const parse = colour => {
    const [r, g, b, a = 1] = colour.match(/[\\d.]+/g).map(Number);
    return {rgb: [r, g, b], a};
  };
  const over = (top, rgb) => rgb.map((below, i) => top.rgb[i] * top.a + below * (1 - top.a));
  const background = element => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const layer = parse(getComputedStyle(e).backgroundColor);
      if (layer.a > 0) layers.push(layer);
      if (layer.a === 1) break;
    }
    return layers.reduceRight((rgb, layer) => over(layer, rgb), [255, 255, 255]);
  };
  const luminance = rgb => {
    const [r, g, b] = rgb.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.textContent.trim(), element = texts.currentNode.parentElement;
    if (!text || element.closest('defs, style, script')) continue;
    const style = getComputedStyle(element), behind = background(element);
    const ink = over(parse(element instanceof SVGElement ? style.fill : style.color), behind);
    const [dark, light] = [luminance(ink), luminance(behind)].sort((a, b) => a - b);
    found.push([text, (light + 0.05) / (dark + 0.05)]);
  }
  return found;
}
"""

# Pictures that say nothing: neither named, nor marked as decoration.
_UNNAMED = """
root => [...root.querySelectorAll('svg, img, canvas')]
  .filter(picture => !picture.closest('[aria-hidden="true"], [role="presentation"]'))
  .filter(picture => !((picture.tagName === 'IMG' && picture.getAttribute('alt'))
    || (picture.getAttribute('role') === 'img' && picture.getAttribute('aria-label'))))
  .map(picture => picture.outerHTML.slice(0, 200))
"""

# While a kernel starts, jupyter_server may answer this poll with 500; JupyterLab asks again.
_KERNEL_LIST = re.compile(r"^http://127\.0\.0\.1:\d+/api/kernels\?\d+$")


class Watched:
    """The hosts that a browser context asked, and the errors it put on its console, from now on."""

    def __init__(self, context: BrowserContext) -> None:
        self.hosts: set[str] = set()
        self.errors: list[str] = []
        context.on("request", lambda request: self._note(request.url))
        context.on("page", lambda page: page.on("websocket", lambda socket: self._note(socket.url)))
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        context.on("console", self._note_console)

    def _note_console(self, said: ConsoleMessage) -> None:
        if said.type == "error" and not _KERNEL_LIST.search(said.location["url"]):
            self.errors.append(f"{said.text} ({said.location['url']})")

    def _note(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob"):
            self.hosts.add(parts.hostname or url)


def contrasts(root: Locator) -> dict[str, float]:
    """Each text below `root`, and how it contrasts with what is behind it: 1 is invisible, 21 is black on white."""
    found = {text: round(ratio, 2) for text, ratio in root.evaluate(_CONTRASTS)}
    if not found:
        raise ValueError(f"there is no text in {root}")
    return found


def hard_to_read(root: Locator) -> dict[str, float]:
    return {text: ratio for text, ratio in contrasts(root).items() if ratio < LEAST_CONTRAST}


def pictures_without_words(root: Locator) -> list[str]:
    """Pictures below `root` that a screen reader finds nothing to say about."""
    found: list[str] = root.evaluate(_UNNAMED)
    return found


def faults(root: Locator) -> list[str]:
    """What axe holds against the one element `root` and all below it, where it is serious or critical.

    axe finds its elements by a selector, so ours carries a mark while it looks.
    """
    root.evaluate("element => element.setAttribute('data-looked-at', '')")
    found = Axe().run(root.page, context="[data-looked-at]").response
    root.evaluate("element => element.removeAttribute('data-looked-at')")
    if not found["passes"]:
        raise ValueError(f"axe found nothing to look at in {root}")
    return [
        f"{fault['id']} ({fault['impact']}): {node['html'][:200]}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
