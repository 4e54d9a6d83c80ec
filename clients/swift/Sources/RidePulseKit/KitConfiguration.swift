public import Foundation

/// What the kit must know of the app.
public struct KitConfiguration: Sendable {
  /// Returns the headers of a person's session: `["Authorization": "Bearer …"]`, `[:]` if none are needed, nil if
  /// the session is over or can't be read now; a call then waits.
  public typealias Authorization = @Sendable (_ owner: String) async -> [String: String]?

  /// The app's name in the rule files.
  public var app: String
  /// What precedes `/v1/devices` at your backend.
  public var backend: String
  /// The folder of the queue. With a service extension it belongs to the App Group of both.
  public var folder: URL
  /// An ID that stays while the app is installed: `identifierForVendor`, which RidePulsePhone adds.
  public var installation: String?
  /// The environment of the tokens.
  public var environment: PushEnvironment?
  /// Returns a session's headers.
  public var authorization: Authorization
  /// Receives what to log.
  public var onEvent: @Sendable (KitEvent) -> Void

  /// Creates a configuration.
  public init(
    app: String, backend: String, folder: URL, installation: String?,
    environment: PushEnvironment? = .current(),
    authorization: @escaping Authorization, onEvent: @escaping @Sendable (KitEvent) -> Void
  ) {
    (self.app, self.backend, self.folder) = (app, backend, folder)
    (self.installation, self.environment) = (installation, environment)
    (self.authorization, self.onEvent) = (authorization, onEvent)
  }
}
