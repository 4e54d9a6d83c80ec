import Base
import CNghttp2
import RideCore
import Testing

@testable import PushClient

@Suite struct HeaderBlockTests {
  private struct Field: Equatable {
    var name: String
    var value: String
    var isIndexed: Bool
  }

  private func fields(_ block: HeaderBlock, _ request: PushRequest) -> [Field] {
    unsafe block.withFields(of: request) { fields, count in
      (0..<count).map { index in
        let field = unsafe fields[index]
        let name = unsafe UnsafeBufferPointer(start: field.name, count: field.namelen)
        let value = unsafe UnsafeBufferPointer(start: field.value, count: field.valuelen)
        return unsafe Field(
          name: String(decoding: name, as: UTF8.self),
          value: String(decoding: value, as: UTF8.self),
          isIndexed: UInt32(field.flags) & NGHTTP2_NV_FLAG_NO_INDEX.rawValue == 0)
      }
    }
  }

  private func request(_ number: UInt64, collapse: String?) -> PushRequest {
    var request = PushRequest.test(number)
    request.headers.collapseID = collapse.flatMap { CollapseID($0) }
    request.headers.expiration = .at(Timestamp(epochSeconds: 1_700_000_000))
    request.headers.priority = number.isMultiple(of: 2) ? .powerAware : .immediate
    return request
  }

  @Test("The headers are those of PushHeaders.fields, with path, token and type")
  func fieldsAsShown() {
    let block = HeaderBlock(authority: "a.example:1", authorization: Array("bearer x.y.z".utf8))
    // One block for all pushes: no value of one may remain in the next.
    for (number, collapse) in [(1, "ride-1"), (2, nil), (3, "Größe"), (4, nil)]
      as [(UInt64, String?)]
    {
      let request = request(number, collapse: collapse)
      let all = fields(block, request)
      #expect(
        all.prefix(6).map { "\($0.name): \($0.value)" } == [
          ":method: POST", ":scheme: https", ":authority: a.example:1",
          ":path: /3/device/00112233445566778899aabbccddeeff", "content-type: application/json",
          "authorization: bearer x.y.z",
        ])
      let expected = request.headers.fields(to: request.address).map { "\($0.name): \($0.value)" }
      #expect(all.dropFirst(6).map { "\($0.name): \($0.value)" } == expected)
    }
  }

  @Test func `a broadcast's path and headers are those that a dry run prints`() throws {
    var request = request(1, collapse: "ride-1")
    let scope = ChannelScope(bundleID: "com.example.customer", environment: .production)
    let id = try #require(ChannelID("dHN0LXNyY2gtY2hubA=="))
    request.address = .channel(try #require(BroadcastChannel(id: id, scope: scope)))
    let block = HeaderBlock(authority: "a", authorization: [])
    _ = fields(block, self.request(2, collapse: "c"))
    let all = fields(block, request).map { "\($0.name): \($0.value)" }
    #expect(all.contains(":path: \(request.address.shownPath)"))
    let shown = request.headers.fields(to: request.address).map { "\($0.name): \($0.value)" }
    #expect(Array(all.dropFirst(6)) == shown)
    #expect(shown.contains("apns-channel-id: dHN0LXNyY2gtY2hubA=="))
    #expect(!shown.contains { $0.hasPrefix("apns-collapse-id") || $0.hasPrefix("apns-topic") })
  }

  @Test func `R105: next to a client certificate there is no authorization`() {
    let block = HeaderBlock(authority: "a", authorization: nil)
    let request = request(1, collapse: "c")
    let all = fields(block, request).map { "\($0.name): \($0.value)" }
    #expect(!all.contains { $0.hasPrefix("authorization") })
    let shown = request.headers.fields(to: request.address).map { "\($0.name): \($0.value)" }
    #expect(Array(all.dropFirst(5)) == shown)
  }

  @Test("What differs with each push stays out of the header table")
  func indexing() {
    let block = HeaderBlock(authority: "a", authorization: [])
    let bare = fields(block, request(1, collapse: "c")).filter { !$0.isIndexed }.map(\.name)
    #expect(bare == [":path", "apns-id", "apns-expiration", "apns-collapse-id"])
  }

  @Test func `messages to FCM differ only in their bodies`() {
    let block = HeaderBlock(
      authority: "a", authorization: [], path: "/v1/projects/rides/messages:send")
    block.setAuthorization(Array("Bearer token".utf8))
    for number in 1...2 as ClosedRange<UInt64> {
      let all = fields(block, .message(number))
      #expect(
        all.map { "\($0.name): \($0.value)" } == [
          ":method: POST", ":scheme: https", ":authority: a",
          ":path: /v1/projects/rides/messages:send", "content-type: application/json",
          "authorization: Bearer token",
        ])
      #expect(all.allSatisfy { $0.isIndexed })
    }
  }

  @Test("A new provider token goes with the next push")
  func authorization() {
    let block = HeaderBlock(authority: "a", authorization: Array("bearer old".utf8))
    block.setAuthorization(Array("bearer new".utf8))
    #expect(fields(block, .test(1)).contains { $0.value == "bearer new" })
  }
}
