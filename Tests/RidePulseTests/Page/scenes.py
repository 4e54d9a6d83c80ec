"""The scenes that the browser tests ask for: python3 scenes.py SCENE URL FOLDER.

Each prints what it has seen; a line `waiting: …` on standard output asks the test to change the world,
and it goes on when a line comes back."""

import sys

from checks import accessible, at_peace, fits
from webdriver import BACKSPACE, ENTER, ESCAPE, HOME, TAB, Browser

NUMBER = "return parseInt(document.getElementById(arguments[0]).textContent.replaceAll(',', '')) "


# Clock times and IDs of the list that are on more than one line.
BROKEN = """
  return [...document.querySelectorAll('#hour-list td.whole')].filter(cell => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1;
  }).map(cell => cell.textContent);
"""


def ask(what):
    print(f"waiting: {what}", flush=True)
    assert sys.stdin.readline(), "the test is gone"


def live(browser, url):
    browser.size(1280)
    browser.go(url + "/")
    browser.until("the stream", "return document.getElementById('link').textContent === 'live'")


def busy(browser, url, folder):
    """A fleet in motion: figures, their change without a load, the hour."""
    live(browser, url)
    browser.run("window.isSame = true")
    browser.until("300 rides", NUMBER + ">= 300", "live-rides")
    browser.until("several states",
                  "return document.querySelectorAll('#states tbody tr').length >= 4")
    first = browser.until("a rate", NUMBER + "> 0", "rate") and browser.text("#verdicts")
    browser.until("other numbers",
                  "return document.getElementById('verdicts').textContent !== arguments[0]", first)
    assert browser.run("return window.isSame") is True, "the page was loaded anew"
    browser.until("latencies", "return /ms|s/.test(document.getElementById('p99').textContent)")
    browser.until("pushes by type", "return document.querySelectorAll('#types tbody tr').length >= 2")
    browser.until("an open lane", "return document.querySelector('#lanes')"
                  ".textContent.includes('open')")
    browser.until("the hour", "return document.querySelectorAll('#hour-chart rect').length > 20"
                  " && document.querySelectorAll('#hour-list tbody tr').length > 10")
    assert browser.text("#ready") == "ready"
    browser.until("the cards", "return document.querySelector('#cards').textContent"
                  ".includes(arguments[0])", "the rule's type is date-epoch")
    for word in ("content-state.status", "1,200", "RideAttribute", "1 token"):
        assert word in browser.text("#cards"), f"no {word} in {browser.text('#cards')}"
    browser.until("a minute of it", "return document.getElementById('window').textContent"
                  ".includes('last minute')", limit=300)
    fits(browser, 1280)
    accessible(browser)
    browser.screenshot(f"{folder}/page-busy.png", 1280, 1010)
    x, y, width, height = browser.run(
        "const box = document.getElementById('cards').closest('section').getBoundingClientRect();"
        "return [box.x + scrollX, box.y + scrollY, box.width, box.height]")
    browser.screenshot(f"{folder}/page-cards.png", width, height, x, y)
    at_peace(browser, url)


def dark(browser, url, folder):
    browser.scheme("dark")
    live(browser, url)
    ground = browser.run("return getComputedStyle(document.body).backgroundColor")
    browser.scheme("light")
    other = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert ground != other, f"{ground} in both"
    browser.scheme("dark")
    browser.until("rides", NUMBER + "> 0", "live-rides")
    browser.until("a curve", "return (document.querySelector('.curve')?.points.length ?? 0) > 5")
    browser.until("the hour", "return document.querySelectorAll('#hour-chart rect').length > 20")
    accessible(browser)
    browser.screenshot(f"{folder}/page-dark.png", 1280, 1010)
    at_peace(browser, url)


def narrow(browser, url, folder):
    live(browser, url)
    browser.size(360, 740)
    browser.until("rides", NUMBER + "> 0", "live-rides")
    browser.until("the hour", "return document.querySelectorAll('#hour-list tbody tr').length > 10")
    fits(browser, 360)
    accessible(browser)
    browser.size(400, 740)
    broken = browser.run(BROKEN)
    assert broken == [], f"broken over lines: {broken[:5]}"
    browser.size(360, 740)
    browser.screenshot(f"{folder}/page-narrow.png", 360, 1280)
    open_first_ride(browser)
    fits(browser, 360)
    at_peace(browser, url)


def open_first_ride(browser):
    browser.run("document.querySelector('#hour-list a').click()")
    browser.until("a history", "return document.querySelector('#ride-history dl') !== null")


def paused(browser, url, folder):
    """APNs refuses one app: its lane is paused, the page says so, and says when that is over."""
    live(browser, url)
    browser.until("a rate", NUMBER + "> 0", "rate")
    ask("faults")
    browser.until("a paused lane", "return document.querySelector('#lanes')"
                  ".textContent.includes('paused')")
    browser.until("a problem", "return document.querySelector('#problems').textContent"
                  ".includes('pushes to customer (production) are paused')")
    browser.until("its verdicts", "return document.querySelector('#verdicts').textContent"
                  ".includes('InternalServerError')")
    accessible(browser)
    browser.screenshot(f"{folder}/page-paused.png", 1280, 760)
    ask("no faults")
    browser.until("an open lane", "return !document.querySelector('#lanes')"
                  ".textContent.includes('paused')", limit=400)
    browser.until("no problem", "return document.querySelector('#problems').children.length === 0")
    at_peace(browser, url)


def clocks(browser):
    """A phone's clock follows its zone in any form of its locale, and its locale in any zone."""
    for lang, zone, shown in (("de_DE", "Asia/Tokyo", "09:14"), ("-", "Asia/Tokyo", "09:14"),
                              ("fi_FI", "Mars/Base", "00.14"), ("-", "Mars/Base", "00:14")):
        clock = browser.run(
            "return import('/phone.js').then(({ drawPhone }) => drawPhone({ platform: 'ios', app: 'c',"
            " at: 840, online: true, cards: [], threads: [], waiting: [], counts: {} },"
            " { lang: arguments[0], zone: arguments[1] }).querySelector('.phone-clock').textContent)",
            lang, zone)
        assert clock == shown, f"{lang} {zone}: {clock}"


def explain(browser, url, folder):
    """A ride by keyboard alone, and back."""
    live(browser, url)
    browser.keys("/")
    assert browser.run("return document.activeElement.id") == "ride-id"
    browser.keys("r-7" + ENTER)
    browser.until("a history", "return document.querySelectorAll('.timeline > li').length > 0")
    assert browser.run("return document.activeElement.id") == "ride-title"
    history = browser.text("#ride-history")
    for word in ("accepted", "apns-id", "driver_arrived", "Ana", "priority 10"):
        assert word in history, f"no {word} in {history[:2000]}"
    assert browser.run("return document.querySelectorAll('#ride-history .phone').length") >= 1
    assert "not recorded" in browser.text(".screens"), browser.text(".screens")
    clocks(browser)
    browser.until("rides", NUMBER + "> 0", "live-rides")
    fits(browser, 1280)
    accessible(browser)
    browser.screenshot(f"{folder}/page-ride.png", 1280, 720)
    browser.keys(TAB)
    assert browser.run("return document.activeElement.id") == "ride-again"
    assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.keys(TAB)
    assert browser.run("return document.activeElement.id") == "ride-close"
    # The phones at another time: two buttons, and a slider that arrow keys move.
    for word in ("Change before", "Next change"):
        browser.keys(TAB)
        assert browser.run("return document.activeElement.textContent") == word
    browser.keys(TAB)
    time = browser.text(".screens-time")
    browser.keys(HOME)
    assert browser.text(".screens-time") != time, "the slider moves nothing"
    browser.keys(ESCAPE)
    assert browser.run("return document.getElementById('ride').hidden") is True
    assert browser.run("return document.activeElement.id") == "ride-id"
    browser.run("history.back()")
    browser.until("the history again", "return document.querySelectorAll('.timeline > li').length > 0")
    browser.keys("/")
    browser.keys("nobody" + ENTER)
    browser.until("no such ride", "return document.querySelector('#ride-history').textContent"
                  ".includes('Nothing is recorded')")
    # Each thing that can be worked is reached by Tab alone, from the top of a fresh page.
    browser.go(url + "/")
    browser.until("the hour", "return document.querySelectorAll('#hour-list a').length > 10")
    reached = set()
    for _ in range(13):
        browser.keys(TAB)
        reached.add(browser.run("return document.activeElement.id"
                                " || document.activeElement.textContent"))
    for name in ("Skip to the live state", "ride-id", "Explain", "hour-list"):
        assert name in reached, f"{name} is not among {reached}"
    assert any(name.startswith("r-") for name in reached), f"no ride is among {reached}"
    at_peace(browser, url, lambda entry: "/ride?id=nobody" in entry["message"])


def strange(browser, url, folder):
    """Markup as a ride's ID, state and attributes is text."""
    live(browser, url)
    bad = sys.stdin.readline().rstrip("\n")
    browser.until("its state", "return document.querySelector('#states').textContent"
                  ".includes(arguments[0])", bad)
    browser.until("its ID", "return document.querySelector('#hour-list').textContent"
                  ".includes(arguments[0])", bad)
    open_first_ride(browser)
    browser.until("its title", "return document.querySelector('#ride-title').textContent"
                  ".includes(arguments[0])", bad)
    assert browser.text("#ride-history").count(bad) >= 2
    browser.keys("/" + bad + ENTER)
    browser.until("the other ride's title",
                  "return document.querySelector('#ride-title').textContent === 'Ride ' + arguments[0]"
                  " && document.querySelector('#ride-history dl') !== null", bad)
    # Its state, its customer, an attribute's name and its value.
    history = browser.text("#ride-history")
    assert history.count(bad) >= 4, history
    assert browser.run("return document.querySelectorAll('main img, main script').length") == 0
    assert browser.run("return window.wasHurt ?? null") is None
    fits(browser, 1280)
    browser.size(360)
    fits(browser, 360)
    at_peace(browser, url)


def cell(browser, url, folder):
    """The page of one of several cells: its name, its rides alone, and no address outside."""
    origin, path = url[:url.index("/cells/")], url[url.index("/cells/"):]
    live(browser, url)
    browser.until("its name", "return document.title.includes('wien')"
                  " && document.getElementById('cell').textContent.includes('wien')")
    browser.until("one ride", NUMBER + "=== 1", "live-rides")
    browser.until("the hour", "return document.querySelectorAll('#hour-list a').length > 0")
    assert "w1" in browser.text("#hour-list") and "b1" not in browser.text("#hour-list")
    open_first_ride(browser)
    assert browser.run("return location.pathname + location.hash") == path + "/#ride=w1"
    browser.keys("/b1" + ENTER)
    browser.until("no ride of another cell", "return document.querySelector('#ride-history')"
                  ".textContent.includes('Nothing is recorded')")
    browser.go(url + "/#owner=c-w1")
    browser.until("a person", "return document.querySelector('#ride-history').textContent"
                  ".includes('Phones')")
    browser.run("document.querySelector('#ride-history a.ride').click()")
    browser.until("the ride of the person", "return document.querySelector('#ride-history dl') !== null")
    browser.run("document.getElementById('ride-close').click()")
    assert browser.run("return location.href") == url + "/"
    accessible(browser)
    fits(browser, 1280)
    asked = at_peace(browser, origin, lambda entry: "/ride?id=b1" in entry["message"])
    files = (".js", ".css", ".svg")
    outside = [one for one in asked if not one.startswith(path + "/") and not one.endswith(files)]
    assert outside == [], outside


def language(tag):
    return (f"const list = document.getElementById('language');"
            f"list.value = [...list.options].find(one => one.text.endsWith('({tag})')).value;"
            f"list.dispatchEvent(new Event('change'))")


UNFOLD = "document.querySelectorAll('details').forEach(one => { one.open = true })"

# How a page without a server is worked before it is checked again: scripts, each for one more look.
CHOICES = {
    "ride": ["document.querySelector('.screens-bar button').click()"],
    "shipped": [language("de"), language("ar"),
                "document.querySelector('input[name=cards]:not(:checked)').click()"],
    "preview": [UNFOLD], "rehearse": [UNFOLD], "limits": [UNFOLD],
}

# What is wider than its part of a page, and neither scrolls nor is shortened on purpose.
CLIPPED = """
  return [...document.querySelectorAll('body *')].filter(node => {
    const style = getComputedStyle(node);
    return node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 1 && style.display !== 'inline'
      && style.overflowX !== 'auto' && style.textOverflow !== 'ellipsis';
  }).map(node => node.outerHTML.slice(0, 160));
"""


def offline(browser, url, folder):
    """A page without a server: in two widths, in light and dark, and after each of its choices."""
    name = url.rsplit("/", 1)[1].split(".")[0]
    for width in (1280, 400):
        for scheme in ("light", "dark"):
            browser.size(width)
            browser.scheme(scheme)
            browser.go(url)
            browser.until("the page", "return document.readyState === 'complete'")
            for choice in [None, *CHOICES.get(name, [])]:
                if choice:
                    browser.run(choice)
                fits(browser, width)
                accessible(browser)
                assert (clipped := browser.run(CLIPPED)) == [], clipped
    at_peace(browser, "file://")


def lost(browser, url, folder):
    """The service goes and comes again at the same address."""
    live(browser, url)
    browser.run("window.isSame = true")
    ask("stop")
    browser.until("the loss", "return document.getElementById('link').textContent"
                  ".includes('connection lost, retrying')")
    ask("start")
    browser.until("the stream again",
                  "return document.getElementById('link').textContent === 'live'")
    assert browser.run("return window.isSame") is True, "the page was loaded anew"


def inbox(browser, url, folder):
    """The inbox of a simulator: phones, pushes, the filter, a phone that is off; light, dark, narrow."""
    browser.size(1280)
    browser.go(url + "/")
    browser.until("the link", "return document.getElementById('link').textContent === 'live'")
    browser.until("two phones", "return document.querySelectorAll('#phones .phone').length >= 2")
    assert "Your driver is here" in browser.text("#phones")
    browser.run("window.isSame = true")
    ask("push")
    browser.until("the new push", "return document.querySelector('#phones').textContent"
                  ".includes('While you wait') && document.querySelector('#list').textContent"
                  ".includes('While you wait')")
    ask("refusal")
    browser.until("the refusal", "return document.querySelector('#list .badge[data-kind=bad]')"
                  "?.textContent === '400 BadDeviceToken'")
    assert browser.run("return window.isSame") is True, "the page was loaded anew"
    fits(browser, 1280)
    accessible(browser)
    browser.screenshot(f"{folder}/inbox.png", 1280, 1000)
    # A push that is opened has its headers, its payload and the reason; all by keyboard.
    browser.run("document.querySelector('#list summary').focus()")
    browser.keys(ENTER)
    browser.until("its parts", "return document.querySelectorAll('#list details[open] table').length === 2")
    opened = browser.text("#list details[open]")
    for word in ("BadDeviceToken", "apns-topic", '"aps"'):
        assert word in opened, f"no {word} in {opened[:1500]}"
    accessible(browser)
    browser.run("[...document.querySelectorAll('#phones button')].find(one => !one.hidden).focus()")
    browser.keys(ENTER)
    browser.until("a phone that is off", "return document.querySelector('#phones .phone-off') !== null")
    assert browser.run("return document.activeElement.textContent") == "Bring online"
    browser.keys(ENTER)
    browser.until("it is on", "return document.querySelector('#phones .phone-off') === null")
    browser.run("document.getElementById('main').focus()")
    browser.keys("/")
    assert browser.run("return document.activeElement.id") == "token"
    browser.keys("d1d1d1d1")
    browser.until("one phone", "return document.querySelectorAll('#phones article').length === 1"
                  " && document.getElementById('link').textContent === 'live'")
    browser.keys(BACKSPACE * 8 + "zz")
    browser.until("the refused one", "return document.querySelectorAll('#list > li').length === 1")
    browser.keys(BACKSPACE * 2)
    browser.until("all phones", "return document.querySelectorAll('#phones article').length >= 2")
    browser.scheme("dark")
    browser.until("its colours", "return document.getAnimations().length === 0")
    accessible(browser)
    browser.size(400, 800)
    fits(browser, 400)
    accessible(browser)
    at_peace(browser, url)


def choose(browser, selector, value=None):
    """Works a switch as a person does, with its event."""
    assert browser.run("""
        const node = document.querySelector(arguments[0]);
        if (!node) return false;
        if (arguments[1] === null) { node.click(); return true; }
        node.value = arguments[1];
        node.dispatchEvent(new Event('change'));
        return true;""", selector, value), f"no {selector}"


def phones(browser, url, folder):
    """The picture of the README: two phones of one ride, when the driver is found and when he is there."""
    browser.size(1040)
    browser.go(url)
    choose(browser, "#unsent")
    choose(browser, "input[name=cards]:not(:checked)")
    shown = browser.run("""
        const steps = [...document.querySelectorAll('#story-steps > *')];
        const kept = steps.filter(step => /^(ride_offer|driver_assigned|driver_arrived)$/.test(
          step.querySelector('h2 b, h2 strong, h2')?.textContent.replace(/^[0-9:]+ */, '').trim()));
        for (const step of steps) if (!kept.includes(step)) step.remove();
        return kept.map(step => step.textContent).join(' ');""")
    for word in ("New ride", "Ana is your driver", "Ana is here"):
        assert word in shown, f"no {word} in {shown[:2000]}"
    x, y, width, height = browser.run("""
        const box = document.querySelector('#story-steps').getBoundingClientRect();
        return [box.x - 12, box.y + scrollY, box.width + 24, box.height + 12];""")
    browser.screenshot(f"{folder}/ride-on-phones.png", width, height, x, y)


def story(browser, url, folder):
    """A story: whole lock screens, and other ones with each switch."""
    browser.size(1280)
    browser.go(url)
    steps = "return document.querySelector('#story-steps').textContent"
    first = browser.run(steps)
    for word in ("Your driver is here", "covered by the card", "rang 1"):
        assert word in first, f"no {word} in {first[:3000]}"
    assert browser.run("return document.querySelectorAll('.phone').length") > 6
    fits(browser, 1280)
    accessible(browser)
    browser.screenshot(f"{folder}/story-page.png", 1280, 1400)
    seen = {first}

    def differs(what):
        now = browser.run(steps)
        assert now not in seen, f"{what} shows what another switch shows"
        seen.add(now)

    choose(browser, "#unsent")
    differs("without what was not sent")
    assert "covered by the card" not in browser.run(steps)
    choose(browser, "#unsent")
    choose(browser, "input[name=cards]:not(:checked)")
    differs("the other choice of cards")
    choose(browser, "input[name=cards]:not(:checked)")
    choose(browser, "input[name=night]:not(:checked)")
    differs("the night")
    choose(browser, "input[name=night]:not(:checked)")
    choose(browser, "#language", "1")
    differs("the other language")
    assert browser.run("return document.querySelectorAll('.phone-glass[dir=rtl]').length") > 6
    accessible(browser)
    choose(browser, "#language", "0")
    choose(browser, "#hole", "2")
    differs("a hole")
    for word in ("no network", "the network is back", "waiting at APNs"):
        assert word in browser.run(steps), f"no {word}"
    accessible(browser)
    choose(browser, "#hole", "0")
    assert browser.run(steps) == first
    light = browser.run("return getComputedStyle(document.body).backgroundColor")
    choose(browser, "#scheme-2")
    assert light != browser.run("return getComputedStyle(document.body).backgroundColor")
    accessible(browser)
    choose(browser, "#find", "09:46")
    assert browser.run("return document.activeElement.textContent").startswith("09:45")
    browser.size(400)
    browser.run("dispatchEvent(new Event('resize'))")
    fits(browser, 400)
    accessible(browser)
    at_peace(browser, "file://")


if __name__ == "__main__":
    scene, url, folder = sys.argv[1:]
    with Browser() as browser:
        globals()[scene](browser, url, folder)
    print("done", flush=True)
