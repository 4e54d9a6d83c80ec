import Glibc

/// Writes a record file such as `requests.jsonl`.
///
/// Lines are collected in memory and handed to the kernel in one write, before the answers of the
/// same loop turn are sent.
@safe final class Recorder {
  private let path: String
  private let file: Int32
  private var lines: [UInt8] = []
  private var hasFailed = false

  init(path: String) throws(FileError) {
    self.path = path
    file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw FileError("open", path) }
  }

  deinit {
    flush()
    close(file)
  }

  func append(_ record: RequestRecord) {
    record.write(to: &lines)
  }

  func append(_ json: JSON) {
    lines += json.serialized
    lines.append(UInt8(ascii: "\n"))
  }

  func flush() {
    if lines.isEmpty { return }
    var written = 0
    while written < lines.count {
      let count = unsafe lines.withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
        return unsafe write(file, rest.baseAddress, rest.count)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else {
        logFailureOnce()
        break
      }
      written += count
    }
    lines.removeAll(keepingCapacity: true)
  }

  /// A full disk must not fill the log as well.
  private func logFailureOnce() {
    if !hasFailed { Log.write(FileError("write", path).description) }
    hasFailed = true
  }
}

/// One file for each kind of request, so that a reader of one kind can ignore the others.
struct Recorders {
  let pushes: Recorder
  let broadcasts: Recorder
  /// Channel calls.
  let calls: Recorder
  let deliveries: Recorder

  init(_ state: StateDirectory) throws(FileError) {
    pushes = try Recorder(path: state.requestsPath)
    broadcasts = try Recorder(path: state.broadcastsPath)
    calls = try Recorder(path: state.channelRequestsPath)
    deliveries = try Recorder(path: state.deliveriesPath)
  }

  func of(_ kind: ChannelCall.Kind?) -> Recorder { kind == .broadcast ? broadcasts : calls }

  func flush() {
    pushes.flush()
    broadcasts.flush()
    calls.flush()
    deliveries.flush()
  }
}

/// The counts that `GET /simulator/stats` returns.
struct Statistics: Equatable, Sendable {
  private(set) var requests = 0
  private(set) var byStatus: [Int: Int] = [:]
  private(set) var byReason: [String: Int] = [:]
  private(set) var accepted = 0
  var connectionsOpen = 0
  var connectionsTotal = 0

  /// Counts a push of sink mode; a dictionary would cost too much there.
  mutating func countAcceptance() {
    requests += 1
    accepted += 1
  }

  /// - Parameter status: Zero if a fault left the push without an answer.
  mutating func count(status: Int, reason: String?) {
    requests += 1
    if status == 200 { accepted += 1 } else { byStatus[status, default: 0] += 1 }
    if let reason { byReason[reason, default: 0] += 1 }
  }

  var json: JSON {
    var statuses = byStatus.map { (String($0), JSON.integer($1)) }
    statuses.append(("200", .integer(accepted)))
    return .object([
      "requests": .integer(requests),
      "status": .object(Dictionary(uniqueKeysWithValues: statuses)),
      "reason": .object(byReason.mapValues { .integer($0) }),
      "connections": .object([
        "open": .integer(connectionsOpen), "total": .integer(connectionsTotal),
      ]),
    ])
  }
}
