import Foundation
import LegacyGateway
import RideCore
import TestSupport
import Testing

@Suite("Who may connect") struct CertificateTests {
  private static let bundle = "com.example.customer"

  /// Creates a CA, a second CA, and certificates of both.
  private static func makeFiles() throws -> String {
    let directory = try ScratchFolder.create("gateway")
    let arguments = [
      "-ec",
      """
      key='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'
      for ca in ca other; do
        openssl req -x509 $key -keyout $ca.key -subj /CN=$ca -out $ca.pem
      done
      sign() { # CA NAME SUBJECT
        openssl req $key -keyout $2.key -subj "$3" -out $2.csr
        openssl x509 -req -in $2.csr -CA $1.pem -CAkey $1.key -CAcreateserial -out $2.crt
        cat $2.crt $2.key > $2.pem
      }
      sign ca uid '/UID=\(bundle)/CN=whoever'
      sign ca cn '/CN=\(bundle)'
      sign ca apple '/CN=Apple Push Services: \(bundle)'
      sign ca driver '/UID=com.example.driver/CN=\(bundle)'
      sign ca longer '/CN=com.example.customer.more'
      sign ca before '/CN=evilcom.example.customer'
      sign ca suffix '/CN=evil Push Services: \(bundle)'
      sign ca two '/CN=com.example.driver/CN=\(bundle)'
      sign ca server '/CN=localhost'
      sign other stranger '/UID=\(bundle)'
      """,
    ]
    let result = try Tool.run("/bin/sh", arguments, in: directory)
    try #require(result.status == 0, "\(result.errors)")
    return directory
  }

  /// The name of the certificate's file, and whether the gateway accepts it.
  private static let senders: [(String, Bool)] = [
    ("uid", true), ("cn", true), ("apple", true), ("driver", false), ("longer", false),
    ("before", false), ("suffix", false), ("two", false), ("stranger", false), ("", false),
  ]

  @Test func `only certificates for the app are accepted`() async throws {
    let files = try Self.makeFiles()
    defer { try? FileManager.default.removeItem(atPath: files) }
    let change: (inout GatewaySettings) -> Void = { settings in
      settings.clientCA = files + "/ca.pem"
      settings.identity = .files(
        certificate: files + "/server.crt", key: files + "/server.key")
    }
    try await GatewayFixture.run(change) { fixture in
      for (index, (name, isWelcome)) in Self.senders.enumerated() {
        let frame =
          "send:"
          + FrameBuilder.push(index).map { String(UInt16($0) + 256, radix: 16).suffix(2) }
          .joined()
        let before = fixture.events.all.count
        let quiet = isWelcome ? "quiet:300" : "quiet:20000"
        let output =
          name.isEmpty
          ? try await fixture.client(frame, quiet)
          : try await fixture.client("--cert", "\(files)/\(name).pem", frame, quiet)
        #expect((output == ["quiet"]) == isWelcome, "\(name): \(output)")
        if !isWelcome {
          let reported = fixture.events.all.dropFirst(before).joined()
          #expect(reported.contains("turnedAway"), "\(name): \(reported)")
        }
      }
      try await fixture.until { fixture.store.taken == [0, 1, 2] }
    }
  }

  @Test func `an unusable file is named in the error`() throws {
    func complaint(_ change: (inout GatewaySettings) -> Void) -> String {
      var settings = GatewaySettings(
        app: .customer, bundleID: Self.bundle, identity: .selfSigned(name: "x"))
      settings.port = 0
      settings.feedbackPort = 0
      change(&settings)
      do throws(GatewayError) {
        _ = try GatewayServer(settings, store: FakePushStore()) { _ in }
        return ""
      } catch {
        return error.description
      }
    }
    #expect(complaint { _ in } == "")
    #expect(complaint { $0.clientCA = "/nope.pem" }.contains("client CA /nope.pem"))
    #expect(
      complaint { $0.identity = .files(certificate: "/nope.crt", key: "/x") }
        .contains("certificate /nope.crt"))
    let pipe = "/tmp/ridepulse-gateway-\(UUID().uuidString)"
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    defer { try? FileManager.default.removeItem(atPath: pipe) }
    let why = "\(pipe): it is a named pipe, not a regular file"
    #expect(complaint { $0.clientCA = pipe } == "client CA \(why)")
    #expect(
      complaint { $0.identity = .files(certificate: pipe, key: "/x") } == "certificate \(why)")
    #expect(complaint { $0.clientCA = #filePath }.hasPrefix("client CA \(#filePath): "))
    #expect(complaint { $0.address = "nowhere" }.contains("nowhere is not an address"))
    #expect(complaint { $0.address = "192.0.2.1" }.contains("can't listen on 192.0.2.1"))
  }
}
