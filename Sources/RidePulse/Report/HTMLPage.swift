import Base
import Foundation

/// A page that loads nothing: its policy allows its own style sheet and its own script, by their
/// hashes, and nothing else.
struct HTMLPage {
  var title: String
  /// The style sheet, next to the one that all pages share.
  var style: String
  var script: String?
  /// Whether it has pictures, which are part of it as data URIs.
  var hasImages = false
  /// Made safe by the caller.
  var body: String

  var text: String {
    let style = Self.base + style
    let script = script.map { "\n<script type=\"module\">\($0)</script>" } ?? ""
    return """
      <!doctype html>
      <html lang="en">
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="\(policy(of: style))">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>RidePulse \(title)</title>
      <style>\(style)</style>
      \(body)\(script)
      </html>

      """
  }

  private func policy(of style: String) -> String {
    let scripts = script.map { "script-src 'sha256-\(Self.hash($0))'; " } ?? ""
    let images = hasImages ? "img-src data:; " : ""
    return "default-src 'none'; style-src 'sha256-\(Self.hash(style))'; \(scripts)\(images)"
      + "base-uri 'none'; form-action 'none'"
  }

  private static func hash(_ text: String) -> String {
    Data(SHA256.digest(text.utf8)).base64EncodedString()
  }

  private static let base = #"""

      :root { color-scheme: light dark; --line: light-dark(#0002, #fff3);
        --page: light-dark(#fff, #131417); --ink: light-dark(#111, #f4f4f5);
        --dim: light-dark(#5b6470, #a5adb8); }
      body { font: 15px/1.4 system-ui, sans-serif; margin: 1.5rem; max-width: 80rem;
        background: var(--page); color: var(--ink); }
      h1 { font-size: 1.3rem; }

    """#
}

/// Text within HTML.
enum HTML {
  /// Escapes markup and control characters; marks of direction stay, because texts need them and each
  /// element isolates its own.
  static func text(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      case _ where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value): result += "\u{fffd}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
