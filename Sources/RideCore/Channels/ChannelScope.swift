/// The channels of one app in one APNs environment.
package struct ChannelScope: Hashable, Sendable {
  /// The app's own bundle ID, without any suffix.
  package var bundleID: String

  package var environment: APNsEnvironment

  package init(bundleID: String, environment: APNsEnvironment) {
    self.bundleID = bundleID
    self.environment = environment
  }

  /// Whether the bundle ID is safe in a URL path: only letters, digits, `-` and `.`.
  package var isPlain: Bool {
    !bundleID.isEmpty
      && bundleID.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      }
  }
}

extension ChannelScope: CustomStringConvertible {
  /// For example `com.example.customer (production)`.
  package var description: String { "\(bundleID) (\(environment.rawValue))" }
}
