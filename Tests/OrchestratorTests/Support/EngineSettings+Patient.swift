import Orchestrator

extension EngineSettings {
  /// Settings of a test in real time: on a busy machine minutes may pass between a claim and what
  /// follows, and no lease ends in these tests.
  static var patient: EngineSettings {
    var settings = EngineSettings()
    settings.pollInterval = .milliseconds(20)
    settings.sendWithin = .seconds(1000)
    settings.followWithin = .seconds(1000)
    return settings
  }
}
