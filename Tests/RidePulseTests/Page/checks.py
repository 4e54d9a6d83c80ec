"""What must hold of the page, whatever it shows."""

import importlib.util
import os
from urllib.parse import urlparse

CONTRAST = """
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const channel = value => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const rgb = text => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const ground = node => {
    for (; node; node = node.parentElement) {
      const color = rgb(getComputedStyle(node).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  const poor = [];
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
    if (!own || node.closest('svg, .unseen, .skip, noscript, [hidden]')) continue;
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(ground(node))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) poor.push(`${node.tagName} "${node.textContent.slice(0, 30)}" ${contrast.toFixed(2)}`);
  }
  return poor;
"""

NAMES = """
  const poor = [];
  const say = (node, what) => poor.push(`${node.outerHTML.slice(0, 80)}: ${what}`);
  for (const node of document.querySelectorAll('input, select, textarea')) {
    if (!node.labels.length && !node.getAttribute('aria-label')) say(node, 'no label');
  }
  for (const node of document.querySelectorAll('button, a')) {
    if (!node.textContent.trim() && !node.getAttribute('aria-label')) say(node, 'no name');
  }
  for (const node of document.querySelectorAll('img')) if (!node.hasAttribute('alt')) say(node, 'no alt');
  for (const node of document.querySelectorAll('svg')) {
    if (node.getAttribute('aria-hidden') !== 'true' && !node.getAttribute('aria-label')) say(node, 'no name');
  }
  for (const node of document.querySelectorAll('section')) {
    if (!document.getElementById(node.getAttribute('aria-labelledby'))) say(node, 'no heading');
  }
  for (const node of document.querySelectorAll('table')) if (!node.caption) say(node, 'no caption');
  const ids = [...document.querySelectorAll('[id]')].map(node => node.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) poor.push(`two of ${id}`);
  let level = 0;
  for (const node of document.querySelectorAll('h1, h2, h3, h4')) {
    const own = Number(node.tagName[1]);
    if (own > level + 1) say(node, 'a level of headings is left out');
    level = own;
  }
  if (document.querySelectorAll('main').length !== 1) poor.push('not one main');
  if (!document.documentElement.lang) poor.push('no language');
  return poor;
"""


AXE = """
  return axe.run(document, { resultTypes: ['violations'] }).then(found => found.violations.map(one =>
    `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')}`));
"""


def axe_core():
    """The script of axe-core, from the package of PyPI that `make browser-test` installs; or nothing."""
    found = importlib.util.find_spec("axe_playwright_python")
    for folder in found.submodule_search_locations if found else ():
        path = os.path.join(folder, "axe.min.js")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    return None


def accessible(browser):
    assert (poor := browser.run(NAMES)) == [], poor
    assert (poor := browser.run(CONTRAST)) == [], poor
    if script := axe_core():
        browser.run(script)
        assert (poor := browser.run(AXE)) == [], "\n".join(poor)


def fits(browser, width):
    found = browser.run("return document.documentElement.scrollWidth")
    assert found <= width, f"{found} pixels wide and not {width}"


def at_peace(browser, url, is_expected=lambda entry: False):
    """No error on the console, and no request to anywhere else. Returns the paths of all requests."""
    import json
    entries = [entry for entry in browser.log("browser")
               if entry["level"] in ("SEVERE", "WARNING") and not is_expected(entry)]
    assert entries == [], entries
    asked = []
    for entry in browser.log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] != "Network.requestWillBeSent":
            continue
        address = urlparse(message["params"]["request"]["url"])
        if address.scheme in ("data", "chrome", "about"):
            continue
        asked.append(address.path)
        assert f"{address.scheme}://{address.netloc}" == url, message["params"]["request"]["url"]
    assert asked, "no request was seen at all"
    return asked
