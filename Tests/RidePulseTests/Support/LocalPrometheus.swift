import Base
import Foundation
import LocalStack
import RideCore
import TestSupport

/// A Prometheus that scrapes one service each second, with the alerts of `deploy/`.
struct LocalPrometheus {
  private let process: ChildProcess
  private let url: String

  static let rules = Project.path("deploy/prometheus/alerts.yaml")

  /// Starts it, and returns once it answers.
  init(scraping port: String, in directory: String) throws {
    let settings = directory + "/prometheus.yml"
    let text = """
      global: { scrape_interval: 1s, evaluation_interval: 1s }
      rule_files: ["\(Self.rules)"]
      scrape_configs:
        - { job_name: ridepulse, static_configs: [{ targets: ["127.0.0.1:\(port)"] }] }

      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: settings))
    process = try ChildProcess(
      [
        "/usr/bin/prometheus", "--config.file=\(settings)",
        "--storage.tsdb.path=\(directory)/prometheus", "--web.listen-address=127.0.0.1:0",
      ], environment: ChildProcess.bareEnvironment, output: .null, errors: .pipe)
    ProcessGuard.shared.hold(process.pid)
    let mark = #"msg="Listening on" address="#
    // The line ends with the address.
    var log = try process.waitForOutput(mark)
    while Self.port(in: log) == nil { log += try process.waitForOutput("\n") }
    url = "http://127.0.0.1:\(Self.port(in: log) ?? "")/api/v1"
    // Until then it answers 503.
    let ready = "Server is ready to receive web requests"
    if !log.contains(ready) { _ = try process.waitForOutput(ready) }
    process.discardOutput()
  }

  private static func port(in log: String) -> Substring? {
    log.firstMatch(of: /msg="Listening on" address=127\.0\.0\.1:(\d+)\s/)?.output.1
  }

  func stop() { process.send(signal: SIGKILL) }

  /// Returns the series of a query's result now, each with its value.
  func query(_ expression: String) throws -> [(labels: JSONValue, value: String)] {
    let answer = try get("query", ["--get", "--data-urlencode", "query=\(expression)"])
    guard case .array(let series)? = answer.value(at: ["data", "result"]) else {
      throw TestFailure("\(expression): \(answer.text)")
    }
    return series.map { one in
      guard case .array(let pair)? = one.value(at: ["value"]), pair.count == 2,
        case .string(let value) = pair[1]
      else { return (.null, "") }
      return (one.value(at: ["metric"]) ?? .null, value)
    }
  }

  /// Returns the rules, as Prometheus has evaluated them.
  func ruleStates() throws -> [JSONValue] {
    let answer = try get("rules", [])
    guard case .array(let groups)? = answer.value(at: ["data", "groups"]) else {
      throw TestFailure(answer.text)
    }
    return groups.flatMap { group -> [JSONValue] in
      if case .array(let rules)? = group.value(at: ["rules"]) { return rules }
      return []
    }
  }

  private func get(_ path: String, _ options: [String]) throws -> JSONValue {
    let result = try Command.run("/usr/bin/curl", ["--silent"] + options + ["\(url)/\(path)"])
    guard let answer = JSONValue(json: result.output.utf8) else {
      throw TestFailure("\(path) \(options): \(result.output)\(result.errors)")
    }
    return answer
  }
}
