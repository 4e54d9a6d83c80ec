import Foundation
import LocalStack
import RideCore
import Testing
import TestSupport

/// Tests that secrets of a process reach no name server, log, core dump or key log file.
@Suite(.timeLimit(.minutes(60))) struct SecrecyTests {
  @Test(arguments: [
    "postgres://me:x@S3cret@host.invalid/db", "postgres://me:x/S3cret@host.invalid/db",
    "postgres://me@tenant:S3cret@host.invalid/db",
  ]) func `A password with unescaped @ or slash is never printed`(url: String) throws {
    for command in ["migrate", "doctor", "serve"] {
      let environment = [
        "DATABASE_URL": url, "APNS_KEY_ID": "ABC123DEFG", "APNS_TEAM_ID": "DEF123GHIJ",
        "APNS_PRIVATE_KEY_PATH": "/nope.p8", "APNS_CUSTOMER_BUNDLE_ID": "com.example.customer",
        "RIDEPULSE_SCHEDULES": Stage.rules,
      ]
      let result = try Command.ridepulse([command], environment)
      let said = result.output + result.errors
      #expect(result.status != 0 && !said.contains("S3cret"), "\(said)")
      if command == "migrate" {
        #expect(said.contains("%40") && !said.contains("could not translate"), "\(said)")
      }
    }
  }

  @Test func `SSLKEYLOGFILE is ignored`() async throws {
    try await Stage.run { stage in
      let file = stage.directory + "/keys.log"
      let server = try Server(stage.environment.merging(["SSLKEYLOGFILE": file]) { $1 })
      try await stage.addRide(state: "driver_en_route")
      try await stage.sql("update ridepulse.rides set state = 'driver_arrived' where id = 'r1'")
      try await stage.settled()
      #expect(try stage.arrivals().contains { $0.isAccepted })
      #expect(server.log.contains("SSLKEYLOGFILE is ignored"))
      #expect(server.stop() == 0)
      let channels = try Command.ridepulse(
        ["channels", "list", "--app", "customer"],
        stage.environment.merging(["SSLKEYLOGFILE": file]) { $1 })
      #expect(channels.status == 0)
      #expect(!FileManager.default.fileExists(atPath: file), "TLS secrets are in a file")
    }
  }

  /// False if the system passes core dumps to a program, since a test cannot read those.
  private static var writesCoreFiles: Bool {
    let pattern = try? String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
    return pattern.map { !$0.hasPrefix("|") && !$0.hasPrefix("/") } ?? false
  }

  @Test(.enabled(if: writesCoreFiles)) func `A crash leaves no core dump`() async throws {
    try await Stage.run { stage in
      let folder = stage.directory + "/crash"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      // The process ID is written to a file, since the shell becomes the service.
      let script =
        "ulimit -c unlimited && cd \(folder) && echo $$ > pid && exec \(try Command.ridepulse) serve"
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", script]
      process.environment = stage.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
      process.standardError = FileHandle.nullDevice
      try process.run()
      ProcessGuard.shared.hold(process.processIdentifier)
      try await stage.until("select count(*) > 0 from ridepulse.nodes", is: "t")
      kill(process.processIdentifier, SIGSEGV)
      process.waitUntilExit()
      #expect(process.terminationReason == .uncaughtSignal)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["pid"])
    }
  }

  @Test func `The package's units forbid core dumps`() throws {
    let file = URL(fileURLWithPath: Stage.rules).deletingLastPathComponent()
      .appendingPathComponent("scripts/debian/hardening.conf")
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text.split(separator: "\n").contains("LimitCORE=0"))
  }
}

/// Tests of settings whose path leads to a file that never ends or never begins.
@Suite(.timeLimit(.minutes(60))) struct SettingFileTests {
  @Test func `A key replaced by a named pipe does not block a reload or a stop`() async throws {
    try await Stage.run { stage in
      let key = stage.directory + "/own.p8"
      var environment = stage.environment
      try FileManager.default.copyItem(
        atPath: try #require(environment["APNS_PRIVATE_KEY_PATH"]), toPath: key)
      environment["APNS_PRIVATE_KEY_PATH"] = key
      let server = try Server(environment)
      try await stage.addRide(state: "driver_en_route")
      for trap in ["named pipe", "directory", "device"] {
        try FileManager.default.removeItem(atPath: key)
        switch trap {
        case "named pipe": #expect(unsafe mkfifo(key, 0o600) == 0)
        case "directory":
          try FileManager.default.createDirectory(atPath: key, withIntermediateDirectories: true)
        default:
          try FileManager.default.createSymbolicLink(
            atPath: key, withDestinationPath: "/dev/zero")
        }
        server.hangUp()
        try await server.waitForLog("it is a \(trap), not a regular file")
      }
      try await stage.sql("update ridepulse.rides set state = 'driver_arrived' where id = 'r1'")
      try await stage.settled()
      #expect(try stage.arrivals().contains { $0.isAccepted }, "the old key is still in use")
      #expect(server.stop() == 0)
    }
  }

  @Test func `Commands accept only regular files`() throws {
    let folder = "/tmp/ridepulse-pipe-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let pipe = folder + "/pipe.yaml"
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let apns = [
      "APNS_KEY_ID": "ABC123DEFG", "APNS_TEAM_ID": "DEF123GHIJ", "APNS_PRIVATE_KEY_PATH": pipe,
      "APNS_CUSTOMER_BUNDLE_ID": "com.example.customer", "RIDEPULSE_SCHEDULES": Stage.rules,
      "DATABASE_URL": "host=/nowhere",
    ]
    let cases: [([String], [String: String])] = [
      (["check", folder], [:]), (["channels", "list", "--app", "customer"], apns),
      (["serve"], apns.merging(["APNS_CA_FILE": pipe]) { $1 }), (["doctor"], apns),
    ]
    for (words, environment) in cases {
      let result = try Command.ridepulse(words, environment)
      #expect((result.output + result.errors).contains("it is a named pipe"), "\(words): \(result)")
    }
  }
}
