import Foundation

/// Makes one attempt of a call.
struct CallSender: Sendable {
  let configuration: KitConfiguration
  let transport: any CallTransport

  /// `leaves` is asked once the call has all that it needs; false means not to send it.
  func send(_ call: Call, leaves: @Sendable () async -> Bool) async -> CallResult {
    var headers = call.farewell?.headers
    if headers == nil { headers = await configuration.authorization(call.owner) }
    guard var headers else { return .failed("no authorization") }
    guard let url = URL(string: configuration.backend + call.path) else {
      return .refused("the address of the backend")
    }
    headers["Idempotency-Key"] = call.key
    var body: Data?
    if let fields = call.body {
      headers["Content-Type"] = "application/json"
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      do { body = try encoder.encode(fields) } catch { return .refused("\(error)") }
    }
    guard await leaves() else { return .failed("not needed any more") }
    do {
      let answer = try await transport.send(
        CallRequest(method: call.method, url: url, headers: headers, body: body))
      return CallResult(
        status: answer.status, retryAfter: answer.retryAfter, report: call.report,
        isFarewell: call.farewell != nil)
    } catch { return .failed("no answer: \(error)") }
  }
}
