import Foundation
import TestSupport

/// The kit of `clients/kotlin`, compiled with stubs of Android's and Firebase's classes.
enum KotlinPhone {
  static let kit = ["RideMessages.kt", "RidePulse.kt", "RidePulseMessaging.kt"]
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
