internal import CPage

/// One file of the page at `/`, from the repository's folder `page`.
package struct PageFile: Sendable {
  /// The file's name, such as `page.css`.
  package let name: String
  package let bytes: [UInt8]

  /// The files that are embedded in the binary.
  package static var all: [PageFile] {
    var files: [PageFile] = []
    while let entry = unsafe ridepulse_page_file_at(files.count) {
      let name = unsafe entry.pointee.name.map { unsafe String(cString: $0) } ?? ""
      let size = unsafe Int(entry.pointee.size)
      let bytes = unsafe UnsafeBufferPointer(start: entry.pointee.text, count: size)
      files.append(PageFile(name: name, bytes: unsafe Array(bytes)))
    }
    return files
  }

  /// The value of `Content-Type`; browsers refuse to run a script with a wrong one.
  var contentType: String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    default: "image/svg+xml"
    }
  }

  /// The routes of the live page's files: `/` for `index.html`, `/NAME` for every other file.
  package static var routes: [Route] {
    // The inbox is served by the simulators, and a story's page has its files within it.
    all.filter { !$0.name.hasPrefix("inbox") && !$0.name.hasPrefix("story") }.map { file in
      let answer = HTTPResponse(
        status: 200, contentType: file.contentType, headers: PageHeaders.all, body: file.bytes)
      return Route("GET", file.name == "index.html" ? "/" : "/" + file.name) { _ in answer }
    }
  }
}

/// The security headers of everything that the page shows.
package enum PageHeaders {
  /// Resources only from this server, nothing inline, no framing, and no referrer.
  package static let all = [
    "Content-Security-Policy":
      "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
      + "object-src 'none'",
    "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
  ]
}
