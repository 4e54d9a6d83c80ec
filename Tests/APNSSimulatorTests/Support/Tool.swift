import Foundation

/// A finished system command: an independent client, signer or prober.
struct Tool {
  let status: Int32
  let output: String
  let errors: String

  static func run(_ path: String, _ words: [String], input: Data = Data()) throws -> Tool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = words
    let files = try (0..<2).map { _ in try ScratchFile() }
    process.standardOutput = try FileHandle(forWritingTo: files[0].url)
    process.standardError = try FileHandle(forWritingTo: files[1].url)
    let source = try ScratchFile(input)
    process.standardInput = try FileHandle(forReadingFrom: source.url)
    try process.run()
    process.waitUntilExit()
    return Tool(
      status: process.terminationStatus,
      output: String(decoding: try Data(contentsOf: files[0].url), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: files[1].url), as: UTF8.self))
  }
}

/// A file that is deleted with its owner.
final class ScratchFile {
  let url: URL

  init(_ content: Data = Data()) throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try content.write(to: url)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }
}
