import Base
import Foundation
import PostgresStore
import RideCore
import SystemSupport

/// Commits one raw push from the command line and, if asked, waits for its verdict.
struct RawPushSender {
  let context: CommandContext
  let target: RawPush.Target
  let pushType: PushType

  private var isBroadcast: Bool { target.isBroadcast }

  func run() async throws -> ExitStatus {
    let order = try order()
    return try await Database.with(context.environment, name: isBroadcast ? "broadcast" : "push") {
      session in
      try await Database.requireSchema(session)
      let commands = RawPushCommands(session: session)
      let id = try await commit(order, commands)
      let waits = context.arguments.has("--wait")
      switch format {
      case .table: Terminal.print("\(id)")
      case .json: if !waits { report(id, nil) }
      }
      return waits ? try await verdict(id, order, commands) : .done
    }
  }

  private var format: OutputFormat { context.arguments.choice("--format") ?? .table }

  private func report(_ id: PushID, _ row: LedgerRow?) {
    var members: [String: JSONValue] = ["apns_id": .string("\(id)")]
    if context.arguments.has("--wait") {
      members["delivery"] = row.map { .object($0.decision([:])) } ?? .null
    }
    Terminal.print(json: .object(members))
  }

  /// Reads and checks the arguments.
  private func order() throws -> RawPushCommands.Order {
    let arguments = context.arguments
    let priority = arguments.value("--priority").flatMap { Int($0) }.flatMap(PushPriority.init)
    let expires = try arguments.value("--expires").map { try expiry($0) }
    let payload = try PayloadFile.read(arguments.value("--payload") ?? "", arguments)
    let problem = RawPushProblem.of(
      pushType, priority: priority, payload: payload, to: target)
    if let problem { throw arguments.error("\(problem.field.option) \(problem.text)") }
    return RawPushCommands.Order(
      app: App(rawValue: arguments.value("--app") ?? ""), target: target,
      payload: String(decoding: payload, as: UTF8.self), pushType: pushType, priority: priority,
      expires: expires)
  }

  private func expiry(_ text: String) throws(UsageError) -> RuleExpiry {
    guard let expiry = RuleExpiry(text: text) else {
      throw context.arguments.error(
        "--expires \(text) is not a duration; expected one such as 30s, 5m or 1h30m, or never-store"
      )
    }
    let longest = target.longestStorage
    if expiry.storage <= longest { return expiry }
    throw context.arguments.error(
      "--expires \(text) is longer than \(target.service) stores a \(isBroadcast ? "broadcast" : "push"); "
        + "expected \(longest.rideText) at most")
  }

  private func commit(
    _ order: RawPushCommands.Order, _ commands: RawPushCommands
  ) async throws -> PushID {
    do {
      return try await commands.commit(order)
    } catch {
      // An argument that only the database can check, such as the app.
      guard let server = error.server, server.sqlState == "22023" else { throw error }
      throw context.arguments.error([server.message, server.hint ?? ""].joined(separator: ". "))
    }
  }

  private func verdict(
    _ id: PushID, _ order: RawPushCommands.Order, _ commands: RawPushCommands
  ) async throws -> ExitStatus {
    let limit = ContinuousClock.now + .seconds(60)
    while true {
      let row = try await commands.outcome(of: id, order)
      let status = row.flatMap { LedgerEntry.Status(rawValue: $0.status) }
      if let row, status != .pending {
        switch format {
        case .table: Terminal.print(DryRunReport.line(of: row))
        case .json: report(id, row)
        }
        return status == .accepted ? .done : .failed
      }
      if ContinuousClock.now > limit {
        if format == .json { report(id, nil) }
        let last = row?.reason.map { "; the last attempt ended with \(Escape.line($0))" }
        throw CommandFailure(
          "no verdict within 60 s\(last ?? ": is ridepulse serve running?")"
            + ". `select * from \(Database.schema).deliveries where apns_id = '\(id)'` shows it later"
        )
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}

/// Reads the payload of a raw push.
enum PayloadFile {
  /// More than any push may have: a larger file is refused as a whole.
  private static let limit = 1 << 20

  /// The maximum nesting depth, as over HTTP.
  private static let depthLimit = 32

  /// - Throws: `UsageError` with the line and column of an error in the JSON.
  static func read(_ path: String, _ arguments: Arguments) throws -> [UInt8] {
    let bytes: [UInt8]
    do throws(RegularFile.Failure) {
      bytes = path == "-" ? try standardInput() : try RegularFile.read(path, limit: limit)
    } catch {
      throw CommandFailure("--payload \(Escape.line(path)) can't be read: \(error)")
    }
    if String(validating: bytes, as: UTF8.self) == nil {
      throw arguments.error("--payload \(path) is not UTF-8")
    }
    do throws(JSONParser.Fault) {
      _ = try JSONParser.parse(bytes, depthLimit: depthLimit)
    } catch {
      throw arguments.error(
        "--payload \(path) is not JSON at \(error.location(in: bytes)): \(error.what)")
    }
    return bytes
  }

  private static func standardInput() throws(RegularFile.Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count <= limit {
      let part: Data?
      do {
        part = try FileHandle.standardInput.read(upToCount: limit)
      } catch {
        throw RegularFile.Failure(description: "\(error)")
      }
      guard let part, !part.isEmpty else { return bytes }
      bytes += part
    }
    throw RegularFile.Failure(description: "it has more than \(limit) bytes")
  }
}
