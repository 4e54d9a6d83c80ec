import Foundation
import TestSupport
import Testing

/// Runs `PostReceiver/receiver.py` in a separate process, which ends when its standard input closes.
final class PostServer: Sendable {
  /// One line printed by the receiver.
  struct Line: Decodable, Sendable {
    var event: String
    var port: Int?
    var id: String?
    var problem: String?
    var body: String?
    var type: String?
  }

  let port: Int
  private let process: LineProcess

  init(secret: String) throws {
    process = try LineProcess(
      "/usr/bin/python3",
      [Project.path("Tests/PushClientTests/PostReceiver/receiver.py"), secret])
    port = try #require(
      Self.line(process.firstLine)?.port, "the receiver did not start: \(process.firstLine)")
  }

  private static func line(_ text: String) -> Line? {
    try? JSONDecoder().decode(Line.self, from: Data(text.utf8))
  }

  /// Waits until it has got a post.
  func gotPost() async {
    for await _ in process.lines { return }
  }

  /// Ends the receiver and returns the posts that it got.
  func stop() async -> [Line] {
    process.closeInput()
    for await _ in process.lines {}
    return process.printed.dropFirst().compactMap(Self.line)
  }
}
