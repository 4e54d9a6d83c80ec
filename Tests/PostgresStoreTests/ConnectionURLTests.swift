import Testing

@testable import PostgresStore

@Suite struct ConnectionURLTests {
  /// URLs for which libpq would send part of the password to a name server.
  @Test(arguments: [
    "postgres://me:x@S3cret@host/db", "postgresql://me:S3cret@x@host:5432/db?sslmode=require",
    "postgres://me@server:S3cret@host/db", "postgres://me:x/S3cret@host/db",
    "postgres://me:12/S3cret@host/db", "postgres://me:x@y/S3cret@host/db",
    "postgres://me:x@@S3cret@h1,h2/db", "postgres://me:x@\u{301}S3cret@host/db",
    "host=me:x@S3cret dbname=y",
  ])
  func `a password that ends nobody knows where is refused before anything is looked up`(
    conninfo: String
  ) {
    let error = #expect(throws: PostgresError.self) { try PostgresSession(conninfo: conninfo) }
    guard case .invalidConninfo(let reason) = error?.kind else {
      Issue.record("got \(String(describing: error))")
      return
    }
    #expect(reason.contains("%40") && !"\(error as Any)".contains("S3cret"), "\(reason)")
  }

  @Test(arguments: [
    "postgres://me:x%40S3cret@host/db", "postgres://me@host/tenant@city", "postgres:///db@x",
    "postgres://host:5432/tenant@city", "postgres://[::1]:5432/db", "postgres://h1:1,h2:2/db",
    "postgres://me:x@host/db?application_name=a@b", "postgres://me:x?y@host/db",
    "postgres:///db?host=/run/a@b", "host=/run/a@b", "host=@abstract", "postgres://%40abstract/db",
    "password='x@y z' host=h",
  ])
  func `what is certain is taken`(conninfo: String) throws {
    _ = try ConnectionSettings(
      conninfo: conninfo, applicationName: "test", connectTimeout: .seconds(1))
  }

  /// Connection strings whose decoded password may appear in a message of libpq or the server.
  @Test(arguments: [
    "postgres://me:S3cr%40et%21x@host/db", "host=h password='S3cr@et!x'",
    "host=h sslpassword=S3cr@et!x", "postgres://host/db?password=S3cr%40et%21x",
  ])
  func `a password that is known is hidden wherever it stands`(conninfo: String) throws {
    let settings = try ConnectionSettings(
      conninfo: conninfo, applicationName: "test", connectTimeout: .seconds(1))
    for text in [
      "could not translate host name \"S3cr@et!x\" to address", "xS3cr@et!xx", "S3cr@et!x\u{301}",
    ] {
      let shown = settings.secrets.removed(from: text)
      let scalars = String(shown.unicodeScalars.filter { $0 != "\u{301}" })
      #expect(!scalars.contains("et!x") && scalars.contains("***"), "\(shown)")
    }
  }

  @Test(arguments: [
    #"host=a password=x\ S3cret user=b"#, "PGPASSWORD=S3cret", "password: S3cret",
    #"{"password":"S3cret"}"#, #"password="x S3cret" user=b"#, "postgres://me:x S3cret@host/db",
    "postgres://me:a@b@c S3cret@host/db", "postgres://me:\u{301}S3cret@host/db",
    "password=\u{301}S3cret", "oauth_client_secret=S3cret", "scram_client_key=S3cret",
    "postgres://m/e:x@S3cret@host",
  ])
  func `a password in any of its forms is hidden`(text: String) {
    let shown = PostgresError(.unreachable(reason: text)).description
    #expect(!shown.contains("S3cret") && shown.contains("***"), "\(shown)")
  }

  @Test(arguments: [
    "postgress://u:S3cret=x", "postgres://u:S3cret", "S3cret", "mysql://u:S3cret@h/d?x=y",
    "host=a S3cret=b", "postgres://host/db?S3cret", "postgres://host/db?S3cret=1",
  ])
  func `what libpq's parser quotes is hidden`(conninfo: String) {
    do {
      _ = try PostgresSession(conninfo: conninfo)
    } catch {
      #expect(!"\(error)".contains("S3cret"), "\(error)")
    }
  }
}
