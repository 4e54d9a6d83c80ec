internal import Glibc

/// A process of one of the two simulators on a free port.
struct SimulatorServer {
  /// The address it listens on: `https://127.0.0.1:PORT`.
  let url: String
  /// Where its inbox is: `http://127.0.0.1:PORT/`; nil without `--inbox`.
  let inboxURL: String?
  let process: ChildProcess

  /// Starts a simulator and waits until it listens.
  init(_ name: String, directory: String, options: [String]) throws {
    process = try ChildProcess(
      [
        LocalBinary.path(name), "--port", "0", "--state", directory, "--exit-with-stdin", "--quiet",
        "--strict", "all",
      ] + options, input: .pipe, output: .pipe)
    // Each line is written at once; the one about the inbox is the last.
    let end = options.contains("--inbox") ? "inbox at http://" : "\n"
    let line = (try? process.waitForOutput(end)) ?? ""
    let words = line.split(whereSeparator: \.isWhitespace)
    inboxURL = words.first { $0.hasPrefix("http://") }.map(String.init)
    guard let word = words.first(where: { $0.hasPrefix("https://") }) else {
      process.send(signal: SIGTERM)
      throw LocalBinaryError(text: "\(name) did not start; its output: \(line)")
    }
    url = String(word)
  }

  func stop() {
    process.closeInput()
    process.waitForEndBlocking()
  }
}
