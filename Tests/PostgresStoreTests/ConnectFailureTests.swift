import Testing

@testable import PostgresStore

/// Tests which refusals of a connection another attempt cannot change.
@Suite("Failed attempts to connect") struct ConnectFailureTests {
  private static let prefix = "connection to server at \"db\" (10.0.0.1), port 5432 failed: "

  static let messages: [(message: String, needsPassword: Bool, isFinal: Bool, shown: String)] = [
    (
      prefix + "FATAL:  28P01: password authentication failed for user \"x\"\n"
        + "LOCATION:  auth_failed, auth.c:339\n", false, true,
      prefix + "FATAL:  password authentication failed for user \"x\""
    ),
    (
      prefix + "FATAL:  3D000: database \"x\" does not exist\n", false, true,
      prefix + "FATAL:  database \"x\" does not exist"
    ),
    (
      prefix + "FATAL:  57P03: the database system is starting up\nLOCATION:  x, y.c:1\n", false,
      false, prefix + "FATAL:  the database system is starting up"
    ),
    (
      prefix + "SCHWERWIEGEND:  53300: zu viele Verbindungen\n", false, false,
      prefix + "SCHWERWIEGEND:  zu viele Verbindungen"
    ),
    (prefix + "Connection refused\n", false, false, prefix + "Connection refused"),
    (
      prefix + "fe_sendauth: no password supplied\n", true, true,
      prefix + "fe_sendauth: no password supplied"
    ),
    // The first host is down, and the second one knows the password.
    (
      prefix + "Connection refused\n" + prefix + "FATAL:  28000: no entry\n", false, true,
      prefix + "Connection refused\n" + prefix + "FATAL:  no entry"
    ),
    // A wrong password on a host that libpq did not stop at.
    (
      prefix + "FATAL:  28P01: wrong\n" + prefix + "FATAL:  57P03: shutting down\n", false, false,
      prefix + "FATAL:  wrong\n" + prefix + "FATAL:  shutting down"
    ),
  ]

  @Test(arguments: messages)
  func `R112: a refusal is final if waiting cannot help`(
    message: String, needsPassword: Bool, isFinal: Bool, shown: String
  ) {
    let failure = ConnectFailure(verbose: message, needsPassword: needsPassword)
    #expect(failure.isFinal == isFinal)
    #expect(failure.reason == shown)
  }

  @Test func `R112: a refused connection reports whether it is final, and the first attempt`()
    async throws
  {
    let url = try await makeDatabase()
    let missing = try PostgresSession(conninfo: url + "x")
    let error = await #expect(throws: PostgresError.self) { try await missing.connect() }
    #expect(error?.isFinal == true)
    #expect(error?.description.contains("does not exist") == true)
    #expect(error?.description.contains("3D000") == false)
    let absent = try PostgresSession(conninfo: "host=/nowhere")
    let other = await #expect(throws: PostgresError.self) { try await absent.connect() }
    #expect(other?.isFinal == false)
    await missing.close()
    await absent.close()
  }

  @Test(
    arguments: [
      ("", ["PGHOST": "a,b"], ["a,b", "read-write"]),
      ("port=1", ["PGHOST": "a,b", "PGTARGETSESSIONATTRS": "any"], ["a,b"]),
      ("host=c", ["PGHOST": "a,b"], []),
      ("service=s", ["PGHOST": "a,b"], []), ("", ["PGHOST": "a,b", "PGSERVICE": "s"], []),
      ("postgres:///?service=s", ["PGHOST": "a,b", "PGPORT": "1,2"], []),
      ("service=s host=a,b", [:], []),
    ] as [(String, [String: String], [String])])
  func `R107: the environment's hosts do not outweigh a service file`(
    conninfo: String, environment: [String: String], added: [String]
  ) throws {
    let settings = try ConnectionSettings(
      conninfo: conninfo, applicationName: "x", connectTimeout: .seconds(1),
      variable: { environment[$0] })
    let own = settings.parameters(first: 0)
    #expect(
      own.filter { ["host", "target_session_attrs"].contains($0.key) }.map(\.value).sorted()
        == added)
  }

  @Test(
    arguments: [
      ("host=a,b", "read-write", false), ("postgres://a,b/x", "read-write", false),
      ("host=a", nil, false), ("host=a,b target_session_attrs=any", nil, true),
      ("host=a,b target_session_attrs=primary", nil, false),
      ("host=a target_session_attrs=standby", nil, false),
    ] as [(String, String?, Bool)])
  func `R107: of several hosts the one that accepts writes is used`(
    conninfo: String, added: String?, mayReachStandby: Bool
  ) throws {
    let settings = try ConnectionSettings(
      conninfo: conninfo, applicationName: "x", connectTimeout: .seconds(1))
    let own = settings.parameters(first: 0).first { $0.key == "target_session_attrs" }
    #expect(own?.value == added)
    #expect(settings.mayReachStandby == mayReachStandby)
  }
}
