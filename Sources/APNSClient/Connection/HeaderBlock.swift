import CNghttp2
import RideCore

/// The request headers of one connection.
///
/// Constant fields are written once, the others for each push. nghttp2 copies the values, so the
/// next push may overwrite them.
@safe
final class HeaderBlock {
  private enum HeaderIndex {
    static let method = 0
    static let scheme = 1
    static let authority = 2
    static let path = 3
    static let contentType = 4

    /// The last constant field, because a client certificate replaces it.
    static let authorization = 5
    static let count = 12
  }

  private let fields: UnsafeMutablePointer<nghttp2_nv>
  private var authority: [UInt8]
  private var authorization: [UInt8]?

  /// The index of the first of the push's own headers, which are at most six.
  private let own: Int
  private var scratch: [UInt8] = []
  private var ranges: [Range<Int>] = []

  /// - Parameter authorization: Nil if a client certificate identifies the sender.
  init(authority: String, authorization: [UInt8]?) {
    self.authority = Array(authority.utf8)
    self.authorization = authorization
    own = HeaderIndex.authorization + (authorization == nil ? 0 : 1)
    unsafe fields = .allocate(capacity: HeaderIndex.count)
    unsafe fields.initialize(repeating: nghttp2_nv(), count: HeaderIndex.count)
    name(HeaderIndex.method, ":method", constant: "POST")
    name(HeaderIndex.scheme, ":scheme", constant: "https")
    name(HeaderIndex.authority, ":authority")
    name(HeaderIndex.path, ":path", isIndexed: false)
    name(HeaderIndex.contentType, "content-type", constant: "application/json")
    if authorization != nil { name(HeaderIndex.authorization, "authorization") }
  }

  deinit { unsafe fields.deallocate() }

  /// Sets the authorization of all following pushes.
  func setAuthorization(_ value: [UInt8]) { authorization = value }

  private func name(
    _ place: Int, _ name: StaticString, constant: StaticString? = nil, isIndexed: Bool = true
  ) {
    var flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue
    if !isIndexed { flags |= NGHTTP2_NV_FLAG_NO_INDEX.rawValue }
    // nghttp2 only reads them; the pointers are mutable because the C type has no const.
    unsafe fields[place].name = UnsafeMutablePointer(mutating: name.utf8Start)
    unsafe fields[place].namelen = name.utf8CodeUnitCount
    if let constant {
      flags |= NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
      unsafe fields[place].value = UnsafeMutablePointer(mutating: constant.utf8Start)
      unsafe fields[place].valuelen = constant.utf8CodeUnitCount
    }
    unsafe fields[place].flags = UInt8(truncatingIfNeeded: flags)
  }

  /// Calls the closure with the headers of one push, which are valid only within the closure.
  func withFields<Result>(
    of request: PushRequest, _ body: (UnsafeMutablePointer<nghttp2_nv>, Int) -> Result
  ) -> Result {
    scratch.removeAll(keepingCapacity: true)
    ranges.removeAll(keepingCapacity: true)
    scratch.append(contentsOf: request.address.pathPrefix.utf8)
    scratch.append(contentsOf: request.address.pathEnd.utf8)
    let path = 0..<scratch.count
    request.headers.write(to: request.address, into: &scratch) { header, range in
      name(own + ranges.count, header.text, isIndexed: header.repeats)
      ranges.append(range)
    }
    return unsafe scratch.withUnsafeMutableBufferPointer { scratch in
      unsafe set(HeaderIndex.path, path, in: scratch)
      for (index, range) in ranges.enumerated() {
        unsafe set(own + index, range, in: scratch)
      }
      return unsafe authority.withUnsafeMutableBufferPointer { authority in
        unsafe set(HeaderIndex.authority, 0..<authority.count, in: authority)
        return unsafe authorization?.withUnsafeMutableBufferPointer { authorization in
          unsafe set(HeaderIndex.authorization, 0..<authorization.count, in: authorization)
          return unsafe body(fields, own + ranges.count)
        } ?? body(fields, own + ranges.count)
      }
    }
  }

  private func set(
    _ place: Int, _ range: Range<Int>, in values: UnsafeMutableBufferPointer<UInt8>
  ) {
    unsafe fields[place].value = unsafe values.baseAddress.map { unsafe $0 + range.lowerBound }
    unsafe fields[place].valuelen = range.count
  }
}
