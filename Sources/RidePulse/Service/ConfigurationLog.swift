import Base
import RideCore
import Synchronization

/// Logs the configuration mistakes that pushes reveal, each once until keys are reloaded.
final class ConfigurationLog: Sendable {
  private let log: Log
  private let mistakes = Mutex(ConfigurationMistakes())

  init(log: Log) {
    self.log = log
  }

  func handle(_ settlements: [Settlement]) {
    let new = mistakes.withLock { $0.add(settlements) }
    for mistake in new { record(mistake) }
  }

  /// Logs each mistake again that is still there.
  func reloaded() {
    mistakes.withLock { $0.forgetAll() }
  }

  private func record(_ mistake: ConfigurationMistake) {
    let explanation = mistake.code.explanation
    log(
      .error, .pushesNotConfigured,
      [
        "app": mistake.app.rawValue, "environment": mistake.network?.rawValue ?? "both",
        "reason": mistake.code.word, "meaning": explanation?.meaning ?? "",
        "action": explanation?.advice(variable: mistake.app.variableName) ?? "ridepulse doctor",
      ])
  }
}
