package import Page

extension PageFile {
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
