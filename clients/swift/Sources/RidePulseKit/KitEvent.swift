/// What an app may log: no call is lost without one. Names have no tokens.
public enum KitEvent: Hashable, Sendable {
  /// A call will not be sent: its name, and the reason.
  case dropped(String, String)
  /// The backend refused a call for good: its name, and the status.
  case refused(String, String)
  /// A call failed and is repeated: its name, the reason, and the pause in seconds.
  case retrying(String, String, Double)
  /// The queue's file can't be read now, as before the phone's first unlock: calls wait in memory until it can.
  case notRead(String)
  /// The queue's file was broken, and was moved to this path; the next sign-in registers all again.
  case brokenFile(String)
  /// The queue could not be written: a call that waits is lost if the app ends now.
  case notSaved(String)
  /// Apple's frameworks refused something: what, and the reason.
  case system(String, String)
}
