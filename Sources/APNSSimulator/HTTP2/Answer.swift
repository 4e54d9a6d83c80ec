/// A response that is ready to be sent.
struct Answer: Equatable, Sendable {
  let status: Int
  let headers: [Header]
  let body: [UInt8]
}
