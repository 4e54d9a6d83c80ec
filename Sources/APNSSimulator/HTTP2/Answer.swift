/// One response, ready for the wire.
struct Answer: Equatable, Sendable {
  let status: Int
  let headers: [Header]
  let body: [UInt8]
}
