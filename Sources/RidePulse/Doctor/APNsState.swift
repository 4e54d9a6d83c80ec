import APNSClient
import RideCore

/// What was seen of APNs, and of what the environment says of it.
struct APNsState: Sendable {
  /// One of Apple's worlds, as far as it was asked.
  struct World: Sendable {
    var environment: APNsEnvironment
    /// Where its pushes go.
    var endpoint: String
    /// Nil where a connection stood.
    var problem: ConnectivityFailure?
    /// What became of a push to a made-up token; empty where none could be sent.
    var answers: [App: PushOutcome] = [:]
    /// How far APNs' clock is ahead of the one that signs; nil where no answer said so.
    var lead: Duration?
  }

  /// `APNS_SANDBOX`, the endpoints and further authorities; the text says what is wrong.
  var settings: Probe<String> = .unasked
  var hasCAFile = false
  var bundleIDs: [App: String] = [:]
  var key = KeyState()
  var worlds: [World] = []
  /// Tokens were signed by the database's clock, as the service does.
  var goesByDatabase = false

  /// Why no push can be sent, in the names of findings; empty where one can.
  var missing: [String] {
    (KeyCheck.isUsable(key) ? [] : ["key"]) + (bundleIDs.isEmpty ? ["bundle IDs"] : [])
  }
}
