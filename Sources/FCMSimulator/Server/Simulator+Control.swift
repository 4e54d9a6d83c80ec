import SimulatorKit

extension Simulator {
  /// Whether a request is a call of a test.
  func isControl(_ request: Request) -> Bool {
    request.path.hasPrefix("/simulator/") || request.path.hasPrefix("/phones/")
  }

  /// Answers a call of a test.
  func controlAnswer(_ request: Request, at time: WallTime) -> Answer {
    let call = "\(request.method) \(request.path)"
    do {
      if let result = try faults.execute(call, request.body) {
        return Answer(status: 200, json: result)
      }
      switch call {
      case "GET /simulator/stats": return Answer(status: 200, json: statistics.json)
      case "POST /simulator/expire-tokens":
        tokens.expireAll(at: time.seconds)
        return Answer(status: 200, json: .object([:]))
      default:
        if let answer = phoneAnswer(request, at: time) { return answer }
        return Answer(status: 404, json: .object(["error": .string("no such call: \(call)")]))
      }
    } catch {
      return Answer(status: 400, json: .object(["error": .string("\(error)")]))
    }
  }

  /// Executes `POST /phones/REGISTRATION/STATE`.
  private func phoneAnswer(_ request: Request, at time: WallTime) -> Answer? {
    let parts = request.path.split(separator: "/", omittingEmptySubsequences: false)
    guard request.method == "POST", parts.count == 4, parts[1] == "phones",
      let state = Phone.State(rawValue: String(parts[3]))
    else { return nil }
    let lines = change(FormBody.decoded(parts[2]), to: state, at: time)
    return Answer(status: 200, json: .object([state.rawValue: .array(lines)]))
  }
}
