import Base
import RideCore

/// All check results, in the order in which the problems have to be fixed.
struct Diagnosis: Hashable {
  var results: [CheckResult]

  func count(_ standing: CheckResult.Standing) -> Int {
    results.count { $0.standing == standing }
  }

  /// Warnings do not count as problems; a check is skipped only because of another problem.
  var status: ExitStatus { count(.failure) > 0 ? .foundProblems : .done }

  var json: JSONValue {
    let results = results.map { result in
      JSONValue.object([
        "name": .string(result.name), "status": .string(result.standing.rawValue),
        "message": .string(result.what), "remedy": .array(result.remedy.map { .string($0) }),
      ])
    }
    return .object(["ok": .bool(status == .done), "checks": .array(results)])
  }
}

enum Probe<Value: Sendable>: Sendable {
  case known(Value)
  /// The value could not be read; the text is the reason, without a secret.
  case failed(String)
  /// The probe did not run, because something that it needs is missing.
  case unasked

  var value: Value? {
    if case .known(let value) = self { value } else { nil }
  }

  /// Returns a check's results for the value; a warning if it could not be read.
  ///
  /// - Parameters:
  ///   - cause: What a probe needs that did not run; nil if another check reports that.
  ///   - unread: What can't be done, such as "they can't be counted".
  func judged(
    _ name: String, needs cause: String? = nil, else unread: String,
    _ judge: (Value) -> [CheckResult]
  ) -> [CheckResult] {
    switch self {
    case .unasked: cause.map { [.skipped(name, needs: $0)] } ?? []
    case .failed(let why): [.warning(name, "\(unread): \(why)", "run ridepulse doctor again")]
    case .known(let value): judge(value)
    }
  }

  /// Runs `work` within a time limit, and abandons it if it takes longer.
  ///
  /// The limit holds even if the work can't be cancelled, such as a name lookup.
  static func find(
    within limit: Duration, _ work: @escaping @Sendable () async throws -> Value
  ) async -> Probe {
    let (answers, feed) = AsyncStream.makeStream(of: Probe.self)
    let worker = Task {
      do { feed.yield(.known(try await work())) } catch { feed.yield(.failed("\(error)")) }
    }
    let timer = Task {
      guard (try? await Task.sleep(for: limit)) != nil else { return }
      feed.yield(.failed("no answer within \(limit.rideText)"))
    }
    defer {
      worker.cancel()
      timer.cancel()
    }
    for await answer in answers { return answer }
    return .unasked
  }
}

/// Formats a diagnosis for people: one line per check, followed by what fixes it.
struct DoctorTable {
  let diagnosis: Diagnosis
  let hasColour: Bool

  private static let width = 9

  var text: String {
    let width = diagnosis.results.map { Escape.line($0.name).count }.max() ?? 0
    var lines: [String] = []
    for result in diagnosis.results {
      let word = padded(result.standing.rawValue.uppercased(), to: Self.width)
      lines.append(
        "\(coloured(word, result.standing))\(padded(Escape.line(result.name), to: width))  "
          + Escape.line(result.what))
      lines += result.remedy.map { padded("", to: Self.width) + "do: \(Escape.line($0))" }
    }
    return (lines + ["", summary]).joined(separator: "\n")
  }

  private var summary: String {
    let words = [
      (CheckResult.Standing.failure, "failure", "failures"), (.warning, "warning", "warnings"),
      (.skipped, "skipped", "skipped"),
    ].compactMap { standing, one, many in
      let count = diagnosis.count(standing)
      return count == 0 ? nil : counted(count, one, many)
    }
    let list = words.joined(separator: ", ")
    if diagnosis.count(.failure) > 0 { return list }
    return list.isEmpty ? "all OK" : "OK, with \(list)"
  }

  private func coloured(_ text: String, _ standing: CheckResult.Standing) -> String {
    guard hasColour else { return text }
    let code =
      switch standing {
      case .ok: 32
      case .warning: 33
      case .failure: 31
      case .skipped: 2
      }
    return "\u{1b}[\(code)m\(text)\u{1b}[0m"
  }
}
