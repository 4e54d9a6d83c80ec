import Foundation
import Glibc
import Testing
import TestSupport

/// Debian's chromium, if it is installed.
enum Browser {
  /// Whether the package of PyPI is there that has axe-core.
  static let hasAxe: Bool = {
    let code = "import importlib.util as i; exit(not i.find_spec('axe_playwright_python'))"
    return (try? Command.run("/usr/bin/python3", ["-c", code]))?.status == 0
  }()

  static let isInstalled = ["chromium", "chromedriver"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0)
  }
}

/// The scenes of `Page/scenes.py`, in a browser.
extension Stage {
  /// Where screenshots are written to: with RECORD_GOLDEN=1 those of the documentation are retaken.
  private var folder: String {
    Golden.isRecording ? Project.path("docs/screenshots") : directory
  }

  /// Plays a scene; when the scene requests a change, `change` receives its name.
  func play(
    _ scene: String, _ url: String, input: String = "",
    _ change: (String) async throws -> Void = { _ in }
  ) async throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = [
      "-B", Project.path("Tests/RidePulseTests/Page/scenes.py"), scene, url, folder,
    ]
    let (words, answers) = (Pipe(), Pipe())
    process.standardInput = words
    process.standardOutput = answers
    let errors = directory + "/\(scene).err"
    try Data().write(to: URL(fileURLWithPath: errors))
    process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
    try process.run()
    // SIGTERM has no effect: the threads that start a process here block it.
    defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    try words.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    var isDone = false
    for await line in lines(answers) {
      if line == "done" { isDone = true }
      guard line.hasPrefix("waiting: ") else { continue }
      try await change(String(line.dropFirst(9)))
      try words.fileHandleForWriting.write(contentsOf: Data("done\n".utf8))
    }
    process.waitUntilExit()
    let said = try String(contentsOfFile: errors, encoding: .utf8)
    #expect(isDone && process.terminationStatus == 0, "\(scene): \(said.suffix(4000))")
  }

  /// Returns the output of a process line by line until its end. Our scripts write whole lines.
  private func lines(_ pipe: Pipe) -> AsyncStream<String> {
    AsyncStream { lines in
      pipe.fileHandleForReading.readabilityHandler = { handle in
        let data = handle.availableData
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
          lines.yield(String(line))
        }
        guard data.isEmpty else { return }
        handle.readabilityHandler = nil
        lines.finish()
      }
    }
  }

  /// Adds some hundred rides in several states, with a phone for each person and a card for some.
  func addFleet() async throws {
    try await sql(
      """
      select ridepulse.register_device(app, left(app, 1) || '-' || n, md5(app || n) || md5(n::text))
      from generate_series(1, 320) n, unnest(array['customer', 'driver']) app;
      insert into ridepulse.rides (id, state, customer_id, driver_id, pickup_at, attributes)
      select 'r-' || n,
        (array['requested', 'driver_assigned', 'driver_en_route', 'driver_arrived', 'ride_started'])
          [1 + (n + 2) % 5],
        'c-' || n, 'd-' || n, now() + n * interval '20 seconds',
        jsonb_build_object('driver_name', 'Ana', 'plate', 'B-RP ' || n)
      from generate_series(1, 320) n;
      select ridepulse.register_live_activity(
        'r-' || n, 'customer', 'c-' || n, md5('card' || n) || md5('c' || n), 'activity-' || n)
      from generate_series(2, 60) n;
      -- An earlier rule sent texts; a node records its own counts only once a minute.
      insert into ridepulse.card_type_hours (attributes_type, field, json_type, count)
      values ('RideAttributes', 'content-state.status', 'string', 1200),
        ('RideAttributes', 'content-state.etaEpoch', 'string', 7),
        ('RideAttributes', 'content-state.etaEpoch', 'int', 1193);
      select ridepulse.register_push_to_start('customer', 'c-1', 'a1', 'RideAttribute')
      """)
    try await settled()
  }
}
