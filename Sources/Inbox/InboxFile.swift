import Page
import SimulatorKit

/// The files of the inbox's page.
enum InboxFile {
  /// What the page consists of, by its path; the binary also has the files of the live page.
  private static let names = [
    "/": "inbox.html", "/inbox.css": "inbox.css", "/inbox.js": "inbox.js",
    "/inbox-phone.js": "inbox-phone.js", "/inbox-message.js": "inbox-message.js",
    "/phone.js": "phone.js", "/phone.css": "phone.css", "/dom.js": "dom.js",
    "/page.css": "page.css", "/icon.svg": "icon.svg",
  ]

  /// Nothing from elsewhere, nothing inline, no framing.
  private static let headers = [
    Header(
      name: "content-security-policy",
      value: "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; "
        + "frame-ancestors 'none'; object-src 'none'"),
    Header(name: "x-frame-options", value: "DENY"),
    Header(name: "referrer-policy", value: "no-referrer"),
    Header(name: "cross-origin-resource-policy", value: "same-origin"),
    Header(name: "x-content-type-options", value: "nosniff"),
  ]

  /// Returns nil if there is no such file.
  static func answer(at path: String) -> Answer? {
    guard let name = names[path], let file = PageFile.named(name) else { return nil }
    let type = Header(name: "content-type", value: file.contentType)
    return Answer(status: 200, headers: [type] + headers, body: file.bytes)
  }
}
