import Foundation
import TestSupport

/// The kit of `clients/kotlin`, compiled with stubs of Android's and Firebase's classes.
enum KotlinPhone {
  /// What docs/android.md quotes: the files that an app adapts.
  static let quoted = ["RideMessages.kt", "RidePulse.kt", "RidePulseMessaging.kt"]
  /// What has no Android in it, and stores and sends the calls.
  static let queue = ["RideCall.kt", "RideClient.kt", "RideQueue.kt"]
  static let kit = quoted + queue
  static let main = "com.example.rides.PhoneKt"

  /// Compiles it in a folder; returns the class path.
  static func compile(in directory: String) throws -> [String] {
    let folder = Project.path("Tests/RidePulseTests/Kotlin")
    let stubs = try FileManager.default.contentsOfDirectory(atPath: folder + "/stubs")
    try KotlinCompiler.javac(
      stubs.sorted().map { "\(folder)/stubs/\($0)" }, to: directory + "/stubs")
    let jar = directory + "/phone.jar"
    let sources = kit.map { Project.path("clients/kotlin/\($0)") } + [folder + "/Phone.kt"]
    try KotlinCompiler.compile(sources, to: jar, classes: [directory + "/stubs"], in: directory)
    return [jar, directory + "/stubs"]
  }

  /// Compiles the queue and its random schedules, without stubs; returns the class path.
  static func compileSchedules(in directory: String) throws -> [String] {
    let folder = Project.path("Tests/RidePulseTests/Kotlin")
    let jar = directory + "/schedules.jar"
    let sources =
      queue.map { Project.path("clients/kotlin/\($0)") }
      + ["ModelServer.kt", "Schedules.kt"].map { "\(folder)/\($0)" }
    try KotlinCompiler.compile(sources, to: jar, in: directory)
    return [jar]
  }

  /// Runs a phone that has its files in a folder, and a backend if one is named, to the end of its input.
  static func live(
    _ lines: [String], _ classes: [String], files: String, backend: [String] = []
  ) throws -> Tool {
    let result = try KotlinCompiler.run(
      main, backend, classes: classes, settings: ["files=\(files)"],
      input: lines.map { $0 + "\n" }.joined())
    if result.status != 0 { throw TestFailure("the phone failed: \(result.errors)") }
    return result
  }

  /// Returns what a phone prints for each line of input.
  static func run(
    _ lines: [String], _ classes: [String], in directory: String, sdk: Int = 36,
    isMuted: Bool = false
  ) throws -> [[String]] {
    let settings = ["files=\(directory)/files-\(UUID())", "sdk=\(sdk)", "muted=\(isMuted)"]
    let result = try KotlinCompiler.run(
      main, [], classes: classes, settings: settings,
      input: lines.map { $0 + "\n" }.joined())
    if result.status != 0 { throw TestFailure("the phone failed: \(result.errors)") }
    let printed = result.output.split(separator: "\n").dropFirst().map(String.init)
    return printed.split(separator: "done", omittingEmptySubsequences: false).map(Array.init)
      .dropLast()
  }
}
