internal import CPage

/// One file of the repository's folder `page`, which is embedded in the binary.
package struct PageFile: Sendable {
  /// The file's name, such as `page.css`.
  package let name: String
  package let bytes: [UInt8]

  package static let all: [PageFile] = {
    var files: [PageFile] = []
    while let entry = unsafe ridepulse_page_file_at(files.count) {
      let name = unsafe entry.pointee.name.map { unsafe String(cString: $0) } ?? ""
      let size = unsafe Int(entry.pointee.size)
      let bytes = unsafe UnsafeBufferPointer(start: entry.pointee.text, count: size)
      files.append(PageFile(name: name, bytes: unsafe Array(bytes)))
    }
    return files
  }()

  package static func named(_ name: String) -> PageFile? { all.first { $0.name == name } }

  /// Returns a file's text, for a page that has its files within it; it is empty if there is no file.
  package static func text(of name: String) -> String {
    named(name).map { String(decoding: $0.bytes, as: UTF8.self) } ?? ""
  }

  /// The value of `Content-Type`; browsers refuse to run a script with a wrong one.
  package var contentType: String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    default: "image/svg+xml"
    }
  }
}
