/// The version of this build.
enum Version {
  /// The version that `ridepulse --version` prints and that `make deb` gives its package.
  static let text = "0.1.0"
}
