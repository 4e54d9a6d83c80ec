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
  private let authority: UnsafeMutableBufferPointer<UInt8>
  private var authorization: UnsafeMutableBufferPointer<UInt8>?

  /// The path of all pushes; nil if each has its own path and headers.
  private let path: UnsafeMutableBufferPointer<UInt8>?

  /// The index of the first of the push's own headers, which are at most six.
  private let own: Int
  private var scratch: [UInt8] = []

  /// - Parameters:
  ///   - authorization: Nil if a client certificate identifies the sender.
  ///   - path: The path of all pushes if they differ only in their bodies, as FCM's do.
  init(authority: String, authorization: [UInt8]?, path: String? = nil) {
    unsafe self.authority = Self.copy(Array(authority.utf8))
    unsafe self.path = path.map { unsafe Self.copy(Array($0.utf8)) }
    unsafe self.authorization = authorization.map { unsafe Self.copy($0) }
    own = HeaderIndex.authorization + (authorization == nil ? 0 : 1)
    unsafe fields = .allocate(capacity: HeaderIndex.count)
    unsafe fields.initialize(repeating: nghttp2_nv(), count: HeaderIndex.count)
    name(HeaderIndex.method, ":method", constant: "POST")
    name(HeaderIndex.scheme, ":scheme", constant: "https")
    name(HeaderIndex.authority, ":authority")
    name(HeaderIndex.path, ":path", isIndexed: path != nil)
    name(HeaderIndex.contentType, "content-type", constant: "application/json")
    unsafe set(HeaderIndex.authority, self.authority)
    if let path = unsafe self.path { unsafe set(HeaderIndex.path, path) }
    if let value = unsafe self.authorization {
      name(HeaderIndex.authorization, "authorization")
      unsafe set(HeaderIndex.authorization, value)
    }
  }

  deinit {
    unsafe fields.deallocate()
    unsafe authority.deallocate()
    unsafe path?.deallocate()
    unsafe authorization?.deallocate()
  }

  /// Sets the authorization of all following pushes.
  func setAuthorization(_ value: [UInt8]) {
    unsafe authorization?.deallocate()
    let copy = unsafe Self.copy(value)
    unsafe authorization = copy
    unsafe set(HeaderIndex.authorization, copy)
  }

  private static func copy(_ bytes: [UInt8]) -> UnsafeMutableBufferPointer<UInt8> {
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
    unsafe _ = copy.initialize(fromContentsOf: bytes)
    return unsafe copy
  }

  private func set(_ index: Int, _ value: UnsafeMutableBufferPointer<UInt8>) {
    unsafe fields[index].value = value.baseAddress
    unsafe fields[index].valuelen = value.count
  }

  private func name(
    _ index: Int, _ name: StaticString, constant: StaticString? = nil, isIndexed: Bool = true
  ) {
    var flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue
    if !isIndexed { flags |= NGHTTP2_NV_FLAG_NO_INDEX.rawValue }
    // nghttp2 only reads them; the pointers are mutable because the C type has no const.
    unsafe fields[index].name = UnsafeMutablePointer(mutating: name.utf8Start)
    unsafe fields[index].namelen = name.utf8CodeUnitCount
    if let constant {
      flags |= NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
      unsafe fields[index].value = UnsafeMutablePointer(mutating: constant.utf8Start)
      unsafe fields[index].valuelen = constant.utf8CodeUnitCount
    }
    unsafe fields[index].flags = UInt8(truncatingIfNeeded: flags)
  }

  /// Calls the closure with the headers of one push, which are valid only within the closure.
  func withFields<Result>(
    of request: PushRequest, _ body: (UnsafeMutablePointer<nghttp2_nv>, Int) -> Result
  ) -> Result {
    if unsafe path != nil { return unsafe body(fields, own) }
    // The buffer is moved out and back, because each use of a property of a class is checked.
    var bytes: [UInt8] = []
    swap(&bytes, &scratch)
    defer { swap(&bytes, &scratch) }
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: request.address.pathPrefix.utf8)
    bytes.append(contentsOf: request.address.pathEnd.utf8)
    let path = bytes.count
    unsafe fields[HeaderIndex.path].valuelen = path
    var count = own
    request.headers.write(to: request.address, into: &bytes) { header, range in
      name(count, header.text, isIndexed: header.repeats)
      unsafe fields[count].valuelen = range.count
      count += 1
    }
    return unsafe bytes.withUnsafeMutableBufferPointer { bytes in
      // The values follow one another.
      var value = bytes.baseAddress
      unsafe fields[HeaderIndex.path].value = value
      unsafe value = value.map { unsafe $0 + path }
      for index in own..<count {
        unsafe fields[index].value = value
        unsafe value = value.map { unsafe $0 + fields[index].valuelen }
      }
      return unsafe body(fields, count)
    }
  }
}
