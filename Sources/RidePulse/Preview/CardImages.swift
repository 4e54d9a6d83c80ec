import Base
import Foundation

/// The app's own pictures of its card: `STATE.png` or `STATE.svg` in one directory, as its snapshot
/// tests write them.
struct CardImages {
  let directory: String
  /// Data URIs by the word in the card's state.
  private var urls: [String: String] = [:]

  /// A page with larger ones could not be sent by mail.
  private static let sizeLimit = 1 << 20

  init(directory: String) throws {
    self.directory = directory
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    } catch {
      throw CommandFailure("--card-images \(directory): the directory can't be read")
    }
    for name in names {
      let url = URL(fileURLWithPath: directory).appendingPathComponent(name)
      guard let type = Self.types[url.pathExtension.lowercased()] else { continue }
      guard let data = try? Data(contentsOf: url) else {
        throw CommandFailure("\(url.path): the picture can't be read")
      }
      guard data.count <= Self.sizeLimit else {
        throw CommandFailure("\(url.path): \(data.count) bytes; expected at most \(Self.sizeLimit)")
      }
      let word = url.deletingPathExtension().lastPathComponent
      urls[word] = urls[word] ?? "data:\(type);base64,\(data.base64EncodedString())"
    }
    if urls.isEmpty {
      throw CommandFailure(
        "--card-images \(directory): no picture; expected STATE.png or STATE.svg, such as "
          + "driver_arrived.png")
    }
  }

  private static let types = ["png": "image/png", "svg": "image/svg+xml"]

  /// Returns the pictures of these states.
  func used(by states: [JSONValue]) -> [String: String] {
    let words = Set(states.flatMap(\.words))
    return urls.filter { words.contains($0.key) }
  }

  /// Returns the words of states without a picture, in their order.
  func missing(for states: [JSONValue]) -> [String] {
    let open = states.filter { state in !state.words.contains { urls[$0] != nil } }
    return Set(open.compactMap(\.stateWord)).sorted()
  }
}

extension JSONValue {
  /// The texts of a card's fields.
  fileprivate var words: [String] {
    guard case .object(let members) = self else { return [] }
    return members.values.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }

  /// The text that names a card's state: that of a field called so, else one that is written like
  /// an enum's.
  fileprivate var stateWord: String? {
    guard case .object(let members) = self else { return nil }
    let named = members.sorted { $0.key < $1.key }
      .first { ["status", "state", "phase"].contains($0.key.lowercased()) }?.value
    if case .string(let text)? = named { return text }
    return words.sorted().first { word in
      word.contains("_") && word.utf8.allSatisfy { $0 == 0x5f || (65...90).contains($0 & 0xdf) }
    }
  }
}
