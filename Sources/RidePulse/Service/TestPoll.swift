#if DEBUG
  import Orchestrator

  /// Lengthens the rests of an engine between its polls: a test of waking needs a service that finds
  /// nothing by itself. Release builds do not contain it.
  enum TestPoll {
    /// Returns the settings of the engine; the variable holds the interval in seconds.
    static func settings(_ environment: [String: String]) -> EngineSettings {
      var settings = EngineSettings()
      guard let seconds = environment["RIDEPULSE_TEST_POLL"].flatMap({ Int($0) }) else {
        return settings
      }
      settings.pollInterval = .seconds(seconds)
      settings.longestTurn = .seconds(2 * seconds)
      return settings
    }
  }
#endif
