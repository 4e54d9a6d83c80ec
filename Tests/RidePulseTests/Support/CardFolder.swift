import Foundation
import TestSupport

/// A rule directory with one card, for tests of `generate`.
struct CardFolder {
  let path: String
  var lock: String { path + "/contract.lock" }

  func write(_ text: String, _ name: String = "a.yaml") throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
  }

  func read(_ name: String) throws -> String {
    try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
  }

  func run(_ words: String...) throws -> Tool {
    try Command.ridepulse(words, ["RIDEPULSE_SCHEDULES": path])
  }

  static let card = """
    rules:
      - name: card
        app: customer
        expires: 5m
        live-activity:
          attributes-type: RideAttributes
          stale-after: 2m
          content-state:
            status: "{{ride.state}}"
            eta: { value: "{{ride.attributes.eta}}", type: int }
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: Your driver is here }
        expires: 5m

    """

  /// The card's rule for a second app.
  static func second(_ type: String = "RideAttributes") -> String {
    (card.components(separatedBy: "  - name: arrived").first ?? "")
      .replacing("name: card", with: "name: second").replacing("customer", with: "driver")
      .replacing("RideAttributes", with: type)
  }

  static func with(_ body: (CardFolder) throws -> Void) throws {
    try ScratchFolder.with { path in
      let folder = CardFolder(path: path)
      try folder.write(card)
      try body(folder)
    }
  }
}
