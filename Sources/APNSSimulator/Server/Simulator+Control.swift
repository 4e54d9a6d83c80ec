/// The calls by which tests control a running simulator, on the same port as pushes.
extension Simulator {
  /// Returns nil for any path except `/simulator/…`.
  func controlAnswer(_ request: PushRequest) -> Answer? {
    guard request.path.hasPrefix("/simulator/") else { return nil }
    // Sink mode examines only paths; in it every control call returns the statistics.
    let call = options.isSink ? "GET /simulator/stats" : "\(request.method) \(request.path)"
    do {
      return Self.answer(200, try perform(call, request.body))
    } catch let error as FormatError {
      return Self.answer(400, .object(["error": .string(error.description)]))
    } catch {
      return Self.answer(404, .object(["error": .string("no such call: \(call)")]))
    }
  }

  private struct UnknownCall: Error {}

  private func perform(_ call: String, _ body: [UInt8]) throws -> JSON {
    switch call {
    case "GET /simulator/stats":
      return statistics.json
    case "GET /simulator/faults":
      return .object(["faults": faults.json])
    case "POST /simulator/faults":
      faults = FaultSet(try FaultReader.read(text: body))
      return .object(["faults": .integer(faults.count)])
    case "DELETE /simulator/faults":
      faults = FaultSet()
      return .object(["faults": .integer(0)])
    case "POST /simulator/tokens":
      deviceTokens.merge(try DeviceTokenRegistry(text: body))
      return .object(["tokens": .integer(deviceTokens.count)])
    case "DELETE /simulator/tokens":
      deviceTokens = DeviceTokenRegistry()
      return .object(["tokens": .integer(0)])
    default:
      throw UnknownCall()
    }
  }

  private static func answer(_ status: Int, _ json: JSON) -> Answer {
    let type = Header(name: "content-type", value: "application/json")
    return Answer(status: status, headers: [type], body: json.serialized)
  }
}
