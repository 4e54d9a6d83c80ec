/// A list of strings in C's form: one block of bytes and an array of pointers into it.
struct CStrings {
  private var bytes: [UInt8] = []
  private var offsets: [Int?] = []

  init(_ strings: [String?]) {
    bytes.reserveCapacity(strings.reduce(0) { $0 + ($1?.utf8.count ?? 0) + 1 })
    offsets.reserveCapacity(strings.count)
    for string in strings {
      offsets.append(string == nil ? nil : bytes.count)
      guard let string else { continue }
      bytes.append(contentsOf: string.utf8)
      bytes.append(0)
    }
  }

  /// Calls `body` with the pointers: NULL for each nil, and one more NULL at the end.
  func withPointers<R>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R) -> R {
    unsafe bytes.withUnsafeBytes { block in
      let start = unsafe block.assumingMemoryBound(to: CChar.self).baseAddress
      var pointers = unsafe offsets.map { offset in
        unsafe offset.flatMap { offset in unsafe start.map { unsafe $0 + offset } }
      }
      unsafe pointers.append(nil)
      return unsafe pointers.withUnsafeBufferPointer { unsafe body($0.baseAddress) }
    }
  }
}
