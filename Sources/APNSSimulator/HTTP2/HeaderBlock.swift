import CNghttp2

/// The names and values of one answer in one buffer; nghttp2 copies them from pointers.
struct HeaderBlock {
  private var text: [UInt8] = []
  private var lengths: [(name: Int, value: Int)] = []

  mutating func append(_ name: String, _ value: String) {
    text += name.utf8
    text += value.utf8
    lengths.append((name.utf8.count, value.utf8.count))
  }

  /// Calls `body` with the fields, which are valid only within it.
  mutating func withFields(_ body: (UnsafeBufferPointer<nghttp2_nv>) -> Int32) {
    unsafe text.withUnsafeMutableBufferPointer { buffer in
      guard var position = buffer.baseAddress else { return }
      var fields: [nghttp2_nv] = unsafe []
      for length in lengths {
        // Only the status is worth indexing: the other values never repeat.
        let isStatus = unsafe fields.isEmpty
        let flag = isStatus ? NGHTTP2_NV_FLAG_NONE : NGHTTP2_NV_FLAG_NO_INDEX
        unsafe fields.append(
          nghttp2_nv(
            name: position, value: position + length.name, namelen: length.name,
            valuelen: length.value, flags: UInt8(flag.rawValue)))
        unsafe position += length.name + length.value
      }
      _ = unsafe fields.withUnsafeBufferPointer(body)
    }
  }
}
