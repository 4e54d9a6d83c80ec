import Foundation

/// The tokens of widgets and controls that the widget extension left for the app: a file for each app of the
/// rules, because the two are processes of their own.
struct TokenFolder: Sendable {
  /// All tokens that an app of the rules has now.
  struct Tokens: Codable, Hashable, Sendable {
    let app: String
    let tokens: [String]
    /// Controls have a token each; of widgets, the newest counts.
    let areControls: Bool
  }

  let folder: URL

  private var tokens: URL { folder.appendingPathComponent("tokens") }

  func store(_ new: Tokens) throws {
    let name = Data(new.app.utf8).hexadecimal + ".json"
    try QueueFile.write(
      try JSONEncoder().encode(new), to: tokens.appendingPathComponent(name), in: tokens)
  }

  /// Returns those that can be read now, in the order of their files.
  func all() -> [Tokens] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: tokens.path)) ?? []
    return names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted().compactMap {
      (try? Data(contentsOf: tokens.appendingPathComponent($0)))
        .flatMap { try? JSONDecoder().decode(Tokens.self, from: $0) }
    }
  }
}
