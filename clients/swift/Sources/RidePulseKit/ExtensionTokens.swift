public import Foundation

/// Passes the tokens of widgets and controls from the widget extension, where iOS gives them, to the app, which
/// registers them for the person who is signed in: at its next launch, foreground or background push.
public struct ExtensionTokens: Sendable {
  private let folder: TokenFolder
  private let onEvent: @Sendable (KitEvent) -> Void

  /// `folder` is that of the app's configuration, in the App Group of both.
  public init(folder: URL, onEvent: @escaping @Sendable (KitEvent) -> Void) {
    self.folder = TokenFolder(folder: folder)
    self.onEvent = onEvent
  }

  /// Call it in `WidgetPushHandler.pushTokenDidChange`. `app` is the widgets' own app in the rules.
  public func widgets(token: Data, of app: String) { store([token], of: app, areControls: false) }

  /// Call it in `ControlPushHandler.pushTokensDidChange`; those that are missing are withdrawn.
  public func controls(tokens: [Data], of app: String) { store(tokens, of: app, areControls: true) }

  private func store(_ tokens: [Data], of app: String, areControls: Bool) {
    do {
      try folder.store(
        TokenFolder.Tokens(
          app: app, tokens: tokens.map(\.hexadecimal).sorted(), areControls: areControls))
    } catch { onEvent(.notSaved("\(error)")) }
  }
}
