import Foundation

/// Receipts that the notification service extension left for the app: a file for each, because the two
/// are processes of their own.
struct ReceiptFolder: Sendable {
  struct Receipt: Codable, Hashable, Sendable {
    let id: String
    let session: Int
    let owner: String
  }

  let folder: URL

  private var receipts: URL { folder.appendingPathComponent("seen") }

  /// Stores a receipt; an `id` that is not a UUID is none of RidePulse's.
  func add(_ receipt: Receipt) throws {
    guard let file = file(of: receipt.id) else { return }
    try QueueFile.write(try JSONEncoder().encode(receipt), to: file, in: receipts)
  }

  /// Returns the receipts that can be read now, and removes files that are none.
  func all() -> [Receipt] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: receipts.path)) ?? []
    return names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted().compactMap {
      name in
      let file = receipts.appendingPathComponent(name)
      guard let data = try? Data(contentsOf: file) else { return nil }
      if let receipt = try? JSONDecoder().decode(Receipt.self, from: data) { return receipt }
      try? FileManager.default.removeItem(at: file)
      return nil
    }
  }

  func remove(_ id: String) {
    if let file = file(of: id) { try? FileManager.default.removeItem(at: file) }
  }

  private func file(of id: String) -> URL? {
    UUID(uuidString: id).map {
      receipts.appendingPathComponent($0.uuidString.lowercased() + ".json")
    }
  }
}
