import Base
import Foundation
import LocalStack

/// h2load, whose CPU time for one push is the unit of all CPU figures.
///
/// It sends what the client sends to the same sink: bodies of the same size, and header blocks with
/// as many new bytes. h2load cannot vary a header, so the bytes of `apns-id` and `apns-collapse-id`
/// are part of its path, which it does vary; both are literals that HPACK does not index.
struct Yardstick {
  private let simulator: LocalSimulator
  private let body: String
  private let paths: String
  /// Enough for half a second: the kernel counts CPU in hundredths.
  private let pushes = 100_000

  init(directory: String) throws {
    simulator = try LocalSimulator(
      directory: directory + "/yardstick", options: ["--sink", "--initial-streams", "1000"])
    body = directory + "/body"
    paths = directory + "/paths"
    try Data(repeating: UInt8(ascii: "x"), count: 500).write(to: URL(fileURLWithPath: body))
    let lines = (0..<10_000).map { "\(simulator.url)/3/device/\(Self.path($0))" }
    try lines.joined(separator: "\n").write(toFile: paths, atomically: true, encoding: .utf8)
  }

  /// A device token, and the 72 bytes that the client's two headers have for each push.
  private static func path(_ number: Int) -> String {
    let padded = String(UInt64(number) &* 0x9e37_79b9_7f4a_7c15, radix: 16, width: 16)
    return String(repeating: padded, count: 4) + "?"
      + String(repeating: padded, count: 5).prefix(71)
  }

  /// Returns what a push costs h2load in the minute of the call.
  func measure() throws -> H2Load {
    try H2Load(
      pushes: pushes,
      [
        "-c", "1", "-m", "1000", "-d", body, "-i", paths,
        "-H", ":method: POST",
        "-H", "authorization: bearer " + String(repeating: "x", count: 194),
        "-H", "apns-topic: com.example.customer", "-H", "apns-push-type: alert",
        "-H", "apns-priority: 10", "-H", "apns-expiration: 1795248300",
        "-H", "content-type: application/json",
      ])
  }
}
