import Base
import Page
import Timeline

/// Formats the screens of a ride as one HTML page that needs no network: its script draws each phone
/// at each step.
struct StoryPage {
  let screens: StoryScreens
  /// Shown by browsers without scripts, made safe by the caller.
  let plain: String

  var html: String {
    let body = """
      <main>
      <h1>\(HTML.text(screens.heading))</h1>
      <noscript>
      <p>\(HTML.text(screens.summary))</p>
      \(plain)
      </noscript>
      <div id="story"></div>
      </main>
      <script id="data" type="application/json">\(Escape.jsonInHTML(screens.json.text))</script>
      """
    let style = ["phone.css", "story.css"].map(PageFile.text(of:)).joined(separator: "\n")
    return HTMLPage(
      title: "story", style: style, script: Self.script, hasImages: !screens.images.isEmpty,
      body: body
    ).text
  }

  /// One module: files of a page that loads nothing can't import each other.
  static let script = ["dom.js", "phone.js", "story-chart.js", "story.js"]
    .map(PageFile.text(of:)).joined(separator: "\n")
}
