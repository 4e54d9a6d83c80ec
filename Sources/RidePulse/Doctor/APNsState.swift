import APNSClient
import RideCore

/// The probe results of APNs and of its environment variables.
struct APNsState: Sendable {
  /// The probe results of one APNs environment.
  struct World: Sendable {
    var environment: APNsEnvironment
    /// The URL that its pushes are sent to.
    var endpoint: String
    /// Nil if the connection was established.
    var problem: ConnectivityFailure?
    /// The outcomes of the pushes to a made-up token, by app; empty if none could be sent.
    var answers: [App: PushOutcome] = [:]
    /// How far the clock of APNs is ahead of the one that signs tokens; nil if no answer had a
    /// time.
    var lead: Duration?
  }

  /// The result of reading `APNS_SANDBOX`, the endpoints and the CA file; on failure, what is
  /// wrong.
  var settings: Probe<String> = .unasked
  var hasCAFile = false
  var bundleIDs: [App: String] = [:]
  var key = KeyState()
  var worlds: [World] = []
  /// Whether tokens were signed by the database's clock, as in the service.
  var goesByDatabase = false

  /// The names of the failed checks that prevent a push; empty if one can be sent.
  var missing: [String] {
    (KeyCheck.isUsable(key) ? [] : ["key"]) + (bundleIDs.isEmpty ? ["bundle IDs"] : [])
  }
}
