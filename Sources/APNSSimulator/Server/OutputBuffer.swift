/// Frames waiting for TLS records: appended at the end, sent from the front.
struct OutputBuffer {
  /// The largest TLS record: smaller writes would cost more system calls, larger ones would be
  /// split.
  static let recordBytes = 16_384

  private var bytes: [UInt8] = []
  private var sent = 0

  var isEmpty: Bool { sent == bytes.count }
  var isFull: Bool { bytes.count - sent >= Self.recordBytes }

  mutating func append(_ more: UnsafeBufferPointer<UInt8>) {
    unsafe bytes.append(contentsOf: more)
  }

  func withNextRecord<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe bytes.withUnsafeBytes { all in
      let end = min(all.count, sent + Self.recordBytes)
      return unsafe body(UnsafeRawBufferPointer(rebasing: all[sent..<end]))
    }
  }

  mutating func markSent(_ count: Int) {
    sent += count
    if sent == bytes.count {
      bytes.removeAll(keepingCapacity: true)
      sent = 0
    }
  }
}
