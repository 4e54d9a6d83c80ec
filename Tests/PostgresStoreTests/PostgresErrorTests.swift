import Testing

@testable import PostgresStore

@Suite struct PostgresErrorTests {
  @Test(arguments: [
    ("word", "host=a password=S3cret user=b"),
    ("blanks around", "host=a password = S3cret user=b"),
    ("quoted", "host=a password='x S3cret' user=b"),
    ("quote within", #"host=a password='x\'S3cret' user=b"#),
    ("quote without end", "host=a password='x S3cret user=b"),
    ("in capitals", "PASSWORD=S3cret"),
    ("the key's", "sslpassword=S3cret host=a"),
    ("URL", "postgres://me:S3cret@host/db"),
    ("URL without a user", "postgresql://:S3cret@host/db"),
    ("URL with @ in it", "postgres://me:x@S3cret@host/db"),
    ("URL with / in it", "postgres://me:x/S3cret@host/db"),
    ("URL parameter", "postgres://host/db?user=me&password=S3cret"),
    ("two of them", "password=S3cret and postgres://me:S3cret@host/db"),
    ("over lines", "one\npassword=S3cret\ntwo"),
  ])
  func `a password is hidden`(form: String, text: String) {
    for kind in [
      .unreachable(reason: text), .connectionLost(sent: true, reason: text),
      .invalidConninfo(reason: text), .protocol(reason: text),
      .server(ServerError(sqlState: "XX000", message: text)),
    ] as [PostgresError.Kind] {
      let shown = PostgresError(kind).description
      #expect(!shown.contains("S3cret") && shown.contains("***") && !shown.contains("\n"))
    }
  }

  @Test(arguments: [
    "host=/tmp/x port=5432 user=me dbname=y", "postgres://me@host:5432/db?sslmode=require",
  ])
  func `what is no password stays`(text: String) {
    #expect(PostgresError(.unreachable(reason: text)).description.hasSuffix(text))
  }

  @Test(
    arguments: [
      ("blank in a password", "host=a password=x S3cret user=b", nil),
      ("broken escape", "postgres://me:S3cret%zz@host/db", nil),
      ("unknown option", "host=a colour=S3cret", "colour"),
      ("unknown URL parameter", "postgres://host/db?colour=S3cret", "colour"),
    ] as [(String, String, String?)])
  func `a connection string that cannot be read is refused`(
    problem: String, conninfo: String, names: String?
  ) {
    let error = #expect(throws: PostgresError.self) { try PostgresSession(conninfo: conninfo) }
    guard case .invalidConninfo = error?.kind else {
      Issue.record("got \(String(describing: error))")
      return
    }
    let shown = error?.description ?? ""
    #expect(!shown.contains("S3cret") && error?.isTransient == false)
    if let names { #expect(shown.contains(names)) }
  }

  @Test func `values of rows are not shown`() {
    let unique = ServerError(
      sqlState: "23505", message: "duplicate key value violates unique constraint \"t_pkey\"",
      detail: "Key (token)=(S3cret) already exists.", constraint: "t_pkey", statement: "insert_t")
    #expect(
      PostgresError(.server(unique)).description
        == "23505: duplicate key value violates unique constraint \"t_pkey\" in insert_t "
        + "(constraint t_pkey)")
    let input = ServerError(
      sqlState: "22P02", message: "invalid input syntax for type json: \"S3cret\"")
    #expect("\(input)" == "22P02: invalid input syntax for type json")
    let marked = ServerError(
      sqlState: "22P02", message: "invalid input syntax for type json: \"\u{301}S3cret\"")
    #expect("\(marked)" == "22P02: invalid input syntax for type json")
  }

  @Test(arguments: [
    ("40001", true), ("40P01", true), ("53300", true), ("57P01", true), ("08006", true),
    ("25006", true), ("55P03", true), ("23505", false), ("42P01", false), ("57014", false),
  ])
  func `what may pass by itself`(state: String, isTransient: Bool) {
    let error = PostgresError(.server(ServerError(sqlState: state, message: "")))
    #expect(error.isTransient == isTransient)
    #expect(!error.mayHaveCommitted)
  }
}
