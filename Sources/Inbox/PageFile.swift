internal import CPage
import SimulatorKit

/// The files of the page, which are embedded in the binary.
enum PageFile {
  /// What the page consists of, by its path; the binary also has the files of the live page.
  private static let names = [
    "/": "inbox.html", "/inbox.css": "inbox.css", "/inbox.js": "inbox.js",
    "/inbox-phone.js": "inbox-phone.js", "/inbox-message.js": "inbox-message.js",
    "/phone.js": "phone.js", "/phone.css": "phone.css", "/dom.js": "dom.js",
    "/page.css": "page.css", "/icon.svg": "icon.svg",
  ]

  private static let types = [
    "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml",
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
  static func file(at path: String) -> Answer? {
    guard let name = names[path], let body = text(of: name) else { return nil }
    let type = types[String(name.split(separator: ".").last ?? "")] ?? ""
    return Answer(
      status: 200, headers: [Header(name: "content-type", value: type)] + headers, body: body)
  }

  private static func text(of wanted: String) -> [UInt8]? {
    var index = 0
    while let entry = unsafe ridepulse_page_file_at(index) {
      index += 1
      guard let name = unsafe entry.pointee.name, unsafe String(cString: name) == wanted else {
        continue
      }
      let size = unsafe Int(entry.pointee.size)
      return unsafe Array(UnsafeBufferPointer(start: entry.pointee.text, count: size))
    }
    return nil
  }
}
