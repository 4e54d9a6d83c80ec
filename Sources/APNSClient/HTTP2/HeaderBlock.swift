import CNghttp2
import RideCore

/// The request headers of one connection.
///
/// Constant fields are written once, the others for each push. nghttp2 copies the values, so the
/// next push may overwrite them.
@safe
final class HeaderBlock {
  private enum Place {
    static let method = 0
    static let scheme = 1
    static let authority = 2
    static let path = 3
    static let authorization = 4
    static let contentType = 5
    static let id = 6
    static let topic = 7
    static let pushType = 8
    static let priority = 9
    static let expiration = 10

    /// The last place, because a push without it sends one header less.
    static let collapseID = 11
    static let count = 12
  }

  private let fields: UnsafeMutablePointer<nghttp2_nv>
  private var authority: [UInt8]
  private var authorization: [UInt8]
  private var scratch: [UInt8] = []
  private var isForChannels = false

  init(authority: String, authorization: [UInt8]) {
    self.authority = Array(authority.utf8)
    self.authorization = authorization
    unsafe fields = .allocate(capacity: Place.count)
    unsafe fields.initialize(repeating: nghttp2_nv(), count: Place.count)
    name(Place.method, ":method", constant: "POST")
    name(Place.scheme, ":scheme", constant: "https")
    name(Place.authority, ":authority")
    // These differ with each push; if indexed, they would evict the repeated headers from the
    // table.
    name(Place.path, ":path", isIndexed: false)
    name(Place.authorization, "authorization")
    name(Place.contentType, "content-type", constant: "application/json")
    name(Place.id, "apns-id", isIndexed: false)
    name(Place.topic, "apns-topic")
    name(Place.pushType, "apns-push-type")
    name(Place.priority, "apns-priority")
    name(Place.expiration, "apns-expiration", isIndexed: false)
    name(Place.collapseID, "apns-collapse-id", isIndexed: false)
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
    let path = write { $0.append(pathTo: request.address) }
    let id = write { $0.append(uuid: request.headers.id.bits) }
    let topic = write { $0.append(contentsOf: aim(at: request).utf8) }
    let pushType = write { $0.append(contentsOf: request.headers.pushType.rawValue.utf8) }
    let priority = write { $0.append(decimal: Int64(request.headers.priority.rawValue)) }
    let expiration = write { $0.append(decimal: request.headers.expiration.epochSeconds) }
    let collapseID = isForChannels ? nil : request.headers.collapseID
    let collapse = write { if let collapseID { $0.append(contentsOf: collapseID.text.utf8) } }
    let count = collapseID == nil ? Place.count - 1 : Place.count
    return unsafe scratch.withUnsafeMutableBufferPointer { scratch in
      unsafe set(Place.path, path, in: scratch)
      unsafe set(Place.id, id, in: scratch)
      unsafe set(Place.topic, topic, in: scratch)
      unsafe set(Place.pushType, pushType, in: scratch)
      unsafe set(Place.priority, priority, in: scratch)
      unsafe set(Place.expiration, expiration, in: scratch)
      unsafe set(Place.collapseID, collapse, in: scratch)
      return unsafe authority.withUnsafeMutableBufferPointer { authority in
        unsafe authorization.withUnsafeMutableBufferPointer { authorization in
          unsafe set(Place.authority, 0..<authority.count, in: authority)
          unsafe set(Place.authorization, 0..<authorization.count, in: authorization)
          return unsafe body(fields, count)
        }
      }
    }
  }

  /// Names the two headers that depend on the kind of address; returns the value of the second.
  ///
  /// A broadcast has its channel ID in the place of the topic.
  private func aim(at request: PushRequest) -> String {
    switch request.address {
    case .device:
      if isForChannels {
        name(Place.id, "apns-id", isIndexed: false)
        name(Place.topic, "apns-topic")
        isForChannels = false
      }
      return request.headers.topic
    case .channel(let channel):
      if !isForChannels {
        name(Place.id, "apns-request-id", isIndexed: false)
        name(Place.topic, "apns-channel-id")
        isForChannels = true
      }
      return channel.id.rawValue
    }
  }

  private func write(_ append: (inout [UInt8]) -> Void) -> Range<Int> {
    let start = scratch.count
    append(&scratch)
    return start..<scratch.count
  }

  private func set(
    _ place: Int, _ range: Range<Int>, in values: UnsafeMutableBufferPointer<UInt8>
  ) {
    unsafe fields[place].value = unsafe values.baseAddress.map { unsafe $0 + range.lowerBound }
    unsafe fields[place].valuelen = range.count
  }
}
