import Base
import Foundation
import RideCore
import SystemSupport
import Timeline

/// The pushes of one rule to one app for one ride at one time: one for each phone.
struct PreviewGroup {
  var at: Timestamp
  var ride: Ride
  var pushes: [PlannedPush]

  var first: PlannedPush { pushes[0] }

  /// `3`, or `3 (2 iOS, 1 Android)` if Android phones are among them.
  var phones: String {
    let android = pushes.count { $0.platform == .android }
    guard android > 0 else { return String(pushes.count) }
    let parts = [(pushes.count - android, Platform.ios), (android, .android)]
      .compactMap { $0 > 0 ? "\($0) \($1.title)" : nil }
    return "\(pushes.count) (\(parts.joined(separator: ", ")))"
  }

  /// Groups the pushes of one decision by rule, app and slot.
  static func groups(_ decision: Decision, at instant: Timestamp) -> [PreviewGroup] {
    guard let ride = decision.view.ride else { return [] }
    var groups: [PreviewGroup] = []
    for push in decision.pushes {
      if let last = groups.last?.first.entry, last.rule == push.entry.rule,
        last.app == push.entry.app, last.event == push.entry.event
      {
        groups[groups.count - 1].pushes.append(push)
      } else {
        groups.append(PreviewGroup(at: instant, ride: ride, pushes: [push]))
      }
    }
    return groups
  }
}

/// Reports what is unusual about a push.
enum PreviewWarning {
  /// Returns a warning if a payload reaches nine tenths of its limit.
  static func payload(_ push: PlannedPush) -> String? {
    var (size, limit) = (push.payload.count, push.address.payloadLimit)
    if push.platform == .android {
      // Only keys and values count; the whole is never less.
      if size * 10 < AndroidSize.limit * 9 { return nil }
      (size, limit) = (AndroidSize.count(push.payload), AndroidSize.limit)
    }
    return size * 10 < limit * 9 ? nil : "payload has \(size) of \(limit) bytes"
  }
}

/// Receives the pushes of a preview in time order.
protocol PreviewWriter {
  mutating func write(_ group: PreviewGroup) throws
  /// Receives a whole decision after its pushes.
  mutating func observe(_ pass: Pass)
  mutating func end(_ summary: PreviewSummary) throws
}

extension PreviewWriter {
  mutating func observe(_ pass: Pass) {}
}

/// Writes the result of a command to standard output or a file, in large chunks.
final class PreviewOutput {
  private let file: OutputFile?
  private let name: String
  private var buffer: [UInt8] = []

  /// - Throws: `CommandFailure` if the file can't be written.
  init(path: String?, readers: OutputFile.Readers) throws {
    name = path ?? "standard output"
    file = try path.map { path in
      do throws(OutputFile.Failure) {
        return try OutputFile(path: path, readers: readers)
      } catch {
        throw CommandFailure("--output: \(path) can't be written: \(error)")
      }
    }
  }

  func write(_ text: String) throws { try write(Array(text.utf8)) }

  func write(_ bytes: [UInt8]) throws {
    buffer += bytes
    if buffer.count >= 1 << 16 { try drain() }
  }

  /// Completes the output; a file has its name only now.
  func close() throws {
    try drain()
    do throws(OutputFile.Failure) {
      try file?.commit()
    } catch {
      throw CommandFailure("\(name) can't be written: \(error)")
    }
  }

  private func drain() throws {
    if buffer.isEmpty { return }
    do {
      if let file {
        try file.write(buffer)
      } else {
        try FileHandle.standardOutput.write(contentsOf: Data(buffer))
      }
    } catch let error as OutputFile.Failure {
      throw CommandFailure("\(name) can't be written: \(error)")
    } catch {
      throw CommandFailure("\(name) can't be written: \(error.localizedDescription)")
    }
    buffer.removeAll(keepingCapacity: true)
  }
}
