/// The version of this build.
enum Version {
  /// What `ridepulse --version` prints, and what `make deb` calls its package.
  static let text = "0.1.0"
}
