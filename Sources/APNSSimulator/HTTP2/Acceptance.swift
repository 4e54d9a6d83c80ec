import CNghttp2

/// The header fields of `:status 200` with an `apns-id` that counts up.
///
/// They are laid out once and rewritten in place, because sink mode must cost little compared with
/// nghttp2 and TLS.
@safe final class Acceptance {
  private static let template = ":status200apns-id00000000-0000-4000-8000-000000000000"
  private static let fieldCount = 2

  private let text: UnsafeMutablePointer<UInt8>
  private let fields: UnsafeMutablePointer<nghttp2_nv>
  private var count: UInt64 = 0

  init() {
    let bytes = Array(Self.template.utf8)
    unsafe text = .allocate(capacity: bytes.count)
    unsafe text.initialize(from: bytes, count: bytes.count)
    unsafe fields = .allocate(capacity: Self.fieldCount)
    unsafe fields.initialize(
      to: nghttp2_nv(name: text, value: text + 7, namelen: 7, valuelen: 3, flags: 0))
    let flags = UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
    unsafe (fields + 1).initialize(
      to: nghttp2_nv(name: text + 10, value: text + 17, namelen: 7, valuelen: 36, flags: flags))
  }

  deinit {
    unsafe fields.deallocate()
    unsafe text.deallocate()
  }

  /// Returns the fields of the next answer, valid until the next call.
  func nextFields() -> UnsafeBufferPointer<nghttp2_nv> {
    count &+= 1
    var rest = count
    // The last twelve digits of the UUID are a counter of 48 bits.
    var position = 52
    while rest > 0, position > 40 {
      unsafe text[position] = [UInt8].hexDigits[Int(rest & 15)]
      rest >>= 4
      position -= 1
    }
    return unsafe UnsafeBufferPointer(start: fields, count: Self.fieldCount)
  }
}
