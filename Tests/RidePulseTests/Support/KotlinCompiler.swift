import Foundation
import Testing
import TestSupport

/// Debian's kotlinc with Android's org.json: it compiles Kotlin for the JVM, without Android.
enum KotlinCompiler {
  private static let libraries = ["json-android", "kotlin-stdlib"]
    .map { "/usr/share/java/\($0).jar" }

  static let isInstalled =
    ["kotlinc", "javac", "java"].allSatisfy(isProgram)
    && libraries.allSatisfy { FileManager.default.fileExists(atPath: $0) }

  static let missing: Comment =
    "needs Debian's kotlin, libandroid-json-org-java and default-jdk-headless"

  private static func isProgram(_ name: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
  }

  /// Compiles Java sources to a folder of classes.
  static func javac(_ sources: [String], to folder: String) throws {
    let result = try Tool.run("/usr/bin/env", ["javac", "-nowarn", "-d", folder] + sources)
    if result.status != 0 { throw TestFailure("javac: \(result.errors)") }
  }

  /// Compiles Kotlin sources to a jar; throws at an error or a warning of the source.
  static func compile(
    _ sources: [String], to jar: String, classes: [String] = [], in directory: String
  ) throws {
    let path = (classes + libraries).joined(separator: ":")
    let result = try Tool.run(
      "/usr/bin/env", ["kotlinc", "-cp", path, "-d", jar] + sources, in: directory)
    let complaints = result.errors.split(separator: "\n").filter { $0.contains(".kt:") }
    if result.status != 0 || !complaints.isEmpty { throw TestFailure("kotlinc: \(result.errors)") }
  }

  /// Runs a class of compiled Kotlin, such as `com.example.rides.DecodeKt`, to its end.
  ///
  /// - Parameter settings: system properties, such as `sdk=35`.
  static func run(
    _ type: String, _ arguments: [String], classes: [String], settings: [String] = [],
    input: String = ""
  ) throws -> Tool {
    try Tool.run(
      "/usr/bin/env", command(type, arguments, classes: classes, settings: settings),
      input: Data(input.utf8))
  }

  /// The words after `env` that run a class.
  static func command(
    _ type: String, _ arguments: [String], classes: [String], settings: [String] = []
  ) -> [String] {
    let path = (classes + libraries).joined(separator: ":")
    return ["java", "-cp", path] + settings.map { "-D" + $0 } + [type] + arguments
  }
}
