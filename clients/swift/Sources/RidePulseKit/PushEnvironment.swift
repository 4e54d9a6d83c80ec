public import Foundation

/// Apple's environment of the app's tokens: that of the build, not of the phone.
public enum PushEnvironment: String, Codable, Sendable {
  case production, sandbox

  /// Reads the entitlement `aps-environment`; nil if it can't be read, and the server finds the environment.
  ///
  /// A build of the App Store or of TestFlight has no profile in it: its tokens are production's.
  public static func current(bundle: Bundle = .main) -> PushEnvironment? {
    #if targetEnvironment(simulator)
      return .sandbox
    #else
      guard let url = bundle.url(forResource: "embedded", withExtension: "mobileprovision") else {
        return .production
      }
      return (try? Data(contentsOf: url)).flatMap(PushEnvironment.init(profile:))
    #endif
  }

  /// Reads the property list within a signed provisioning profile.
  public init?(profile: Data) {
    guard let from = profile.range(of: Data("<?xml".utf8)),
      let to = profile.range(of: Data("</plist>".utf8), in: from.lowerBound..<profile.endIndex),
      let list = try? PropertyListSerialization.propertyList(
        from: profile.subdata(in: from.lowerBound..<to.upperBound), format: nil),
      let entitlements = (list as? [String: Any])?["Entitlements"] as? [String: Any]
    else { return nil }
    switch entitlements["aps-environment"] as? String {
    case "development": self = .sandbox
    case "production": self = .production
    default: return nil
    }
  }
}
