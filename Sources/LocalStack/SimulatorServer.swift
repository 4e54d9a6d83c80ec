internal import Glibc

/// A process of one of the two simulators on a free port.
struct SimulatorServer {
  /// The address it listens on: `https://127.0.0.1:PORT`.
  let url: String
  let process: ChildProcess

  /// Starts a simulator and waits until it listens.
  init(_ name: String, directory: String, options: [String]) throws {
    process = try ChildProcess(
      [
        LocalBinary.path(name), "--port", "0", "--state", directory, "--exit-with-stdin", "--quiet",
        "--strict", "all",
      ] + options, input: .pipe, output: .pipe)
    let line = (try? process.waitForOutput("\n")) ?? ""
    guard let word = line.split(separator: " ").first(where: { $0.hasPrefix("https://") }) else {
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
