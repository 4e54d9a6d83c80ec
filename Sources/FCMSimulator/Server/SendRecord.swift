import SimulatorKit

/// One line of `requests.jsonl`.
struct SendRecord {
  let receivedAt: WallTime
  let connection: Int
  let stream: Int32
  let request: Request
  var project = ""
  var registration: String?
  var message: JSON?
  var name: String?
  var status = 0
  var word: String?
  var detail: String?
  var fault: String?
  var repeated: RepeatHistory.Repeat?

  func write(to output: inout [UInt8]) {
    var members: [String: JSON] = [
      "connection": .integer(connection), "stream": .integer(Int(stream)),
      "status": .integer(status), "method": .string(request.method), "path": .string(request.path),
      "project": .string(project), "bytes": .integer(request.bodyBytes),
      "http": .string(request.value(":scheme") == nil ? "1.1" : "2"),
    ]
    members["authority"] = request.value(":authority").map { .string($0) }
    members["registration"] = registration.map { .string($0) }
    members["message"] = message
    members["name"] = name.map { .string($0) }
    members["code"] = word.map { .string($0) }
    members["detail"] = detail.map { .string($0) }
    members["repeat"] = repeated.map { .string($0.rawValue) }
    members["fault"] = fault.map { .string($0) }
    output += "{\"received_at\":".utf8
    output += receivedAt.decimalSeconds.utf8
    output.append(UInt8(ascii: ","))
    output += JSON.object(members).serialized.dropFirst()
    output.append(UInt8(ascii: "\n"))
  }
}
