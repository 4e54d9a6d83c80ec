import Testing

@testable import Inbox
@testable import SimulatorKit

@Suite struct MessageQueryTests {
  @Test func `each word is read`() throws {
    let query = try MessageQuery(
      "/messages?token=a%20b&type=alert&refused=true&after=7&wait=1m30s&screen=true")
    var expected = try MessageQuery("/messages")
    expected.token = "a b"
    expected.type = "alert"
    expected.isRefused = true
    expected.after = 7
    expected.waitMilliseconds = 90_000
    expected.hasScreen = true
    #expect(query == expected)
  }

  @Test(arguments: [
    (
      "tokn=a",
      "unknown \"tokn\"; did you mean token?, expected one of token, type, refused, after, "
        + "wait, screen"
    ),
    ("token=", "token: found \"\", expected a token, its beginning or end, or a phone"),
    ("type=", "type: found \"\", expected a push type such as alert"),
    ("refused=yes", "refused: found \"yes\", expected true or false"),
    ("after=-1", "after: found \"-1\", expected a number from 0 to 9007199254740992"),
    (
      "after=9223372036854775807",
      "after: found \"9223372036854775807\", expected a number from 0 to 9007199254740992"
    ),
    (
      "after=99999999999999999999",
      "after: found \"99999999999999999999\", expected a number from 0 to 9007199254740992"
    ),
    ("wait=5", "wait: found \"5\", expected a time such as 5s, at most 5m"),
    ("wait=0s", "wait: found \"0s\", expected a time such as 5s, at most 5m"),
    ("wait=5m1s", "wait: found \"5m1s\", expected a time such as 5s, at most 5m"),
    ("screen", "screen: found \"\", expected true or false"),
    ("after=1&after=2", "after appears twice"),
  ])
  func `a wrong word is named`(words: String, problem: String) {
    #expect(throws: MessageQuery.Fault(description: problem)) {
      try MessageQuery("/messages?" + words)
    }
  }

  @Test(arguments: [
    ("", true), ("token=ABCDEF01", true), ("token=abcdef", true), ("token=cdef01", true),
    ("token=abcde", false), ("token=mine", true), ("token=min", false), ("token=bcdef0", false),
    ("type=alert", true), ("type=voip", false), ("refused=false", true), ("refused=true", false),
    ("type=alert&token=other1", false),
  ])
  func `a message matches, or does not`(words: String, matches: Bool) throws {
    let message = InboxMessage.sample(to: "abcdef01", phone: "mine")
    #expect(try MessageQuery("/messages?" + words).matches(message) == matches)
  }
}

@Suite struct HostCheckTests {
  @Test(arguments: [
    ("127.0.0.1:2199", nil, true, true), ("localhost", nil, true, true),
    ("LOCALHOST:1", nil, true, true), ("192.168.0.7:1", nil, true, true),
    ("evil.example", nil, true, false), ("127.0.0.1.evil.example:1", nil, true, false),
    ("apns", nil, true, false), ("apns:2199", nil, false, true),
    ("evil.example:1", nil, false, false), (nil, nil, true, false), ("", nil, false, false),
    ("127.0.0.1:2199", "http://127.0.0.1:2199", true, true),
    ("127.0.0.1:2199", "http://127.0.0.1:9999", true, false),
    ("127.0.0.1:2199", "https://evil.example", true, false),
    ("127.0.0.1:2199", "null", true, false),
  ])
  func `a page of another site is refused`(
    host: String?, origin: String?, isLoopback: Bool, isAdmitted: Bool
  ) {
    var request = Request()
    if let host { request.headers.append(Header(name: "host", value: host)) }
    if let origin { request.headers.append(Header(name: "origin", value: origin)) }
    let problem = HostCheck(isLoopback: isLoopback).problem(with: request)
    #expect((problem == nil) == isAdmitted, "\(problem ?? "")")
  }

  // A page's image or script has no Origin, and its Host is right.
  @Test(arguments: [
    ("cross-site", false), ("same-site", true), ("same-origin", true), ("none", true),
  ])
  func `a call that a browser makes for another site is refused`(site: String, isAdmitted: Bool) {
    var request = Request()
    request.headers = [
      Header(name: "host", value: "127.0.0.1:2199"), Header(name: "sec-fetch-site", value: site),
    ]
    #expect((HostCheck(isLoopback: true).problem(with: request) == nil) == isAdmitted)
  }
}
