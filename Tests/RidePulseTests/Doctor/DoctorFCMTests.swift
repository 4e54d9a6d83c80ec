import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

@testable import PushClient
@testable import RidePulse

@Suite("The doctor's checks of FCM", .timeLimit(.minutes(60))) struct DoctorFCMTests {
  private func register(_ stage: Stage) async throws {
    try await stage.sql(
      """
      select ridepulse.register_device(
        'customer', 'c1', '\(FCMStage.installation)', platform => 'android')
      """)
  }

  @Test func `A service account gets a token and may send, without a message to any phone`()
    async throws
  {
    try await FCMStage.run { fcm in
      try await register(fcm.stage)
      let checkup = try Checkup(fcm.environment(rules: AndroidDeliveryTests.rules))
      checkup.expect("FCM customer", "ok", "project rides, key 5fc0de")
      checkup.expect("FCM customer", "ok", "may send; 1 Android phone")
      checkup.expect("FCM endpoint", "warning", "is not Google's")
      checkup.expect("phones customer", "ok", "1 android")
      #expect(try fcm.deliveries().isEmpty)
    }
  }

  @Test func `What Google refuses is named with what to do`() async throws {
    try await FCMStage.run { fcm in
      try await register(fcm.stage)
      let environment = try fcm.environment(rules: AndroidDeliveryTests.rules)
      for (fault, words) in [
        (
          #"{"match": {"call": "send"}, "action": {"answer": {"status": 403, "reason": "PERMISSION_DENIED"}}}"#,
          "role Firebase Cloud Messaging API Admin"
        ),
        (
          #"{"match": {"call": "token"}, "action": {"answer": {"status": 400, "body": "{\"error\": \"invalid_grant\", \"error_description\": \"Invalid JWT Signature.\"}"}}}"#,
          "create a key in Firebase's console"
        ),
        (
          #"{"match": {"call": "send"}, "action": {"answer": {"status": 503, "reason": "UNAVAILABLE"}}}"#,
          "doctor later"
        ),
      ] {
        try fcm.faults("[\(fault)]")
        try Checkup(environment).expect("FCM customer", "failure", words)
      }
      try fcm.faults("[]")
      try Checkup(environment.merging(["FCM_CA_FILE": ""]) { $1 })
        .expect("FCM customer", "failure", "export FCM_CA_FILE=ca.pem")
      try Checkup(environment.merging(["FCM_URL": "http://127.0.0.1"]) { $1 })
        .expect("FCM", "failure", "https://")
      try Checkup(environment.merging(["FCM_SERVICE_ACCOUNT_PATH": "/nope.json"]) { $1 })
        .expect("FCM customer", "failure", "export FCM_SERVICE_ACCOUNT_PATH")
    }
  }

  @Test func `Android phones without a service account are a failure, and nothing else is shown`()
    async throws
  {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: AndroidDeliveryTests.rules)
      let before = try Checkup(environment)
      #expect(!before.checks.contains { $0.name.hasPrefix("FCM") }, "\(before)")
      try await register(stage)
      let after = try Checkup(
        environment.merging(["GOOGLE_APPLICATION_CREDENTIALS": "/nope.json"]) { $1 })
      after.expect("FCM customer", "failure", "1 Android phone and no service account")
      after.expect("FCM customer", "failure", "GOOGLE_APPLICATION_CREDENTIALS is set")
    }
  }

  @Test func `A key that Google refuses does not stop a running service at once`() {
    func remedy(_ word: String) -> String {
      FCMRemedy.text(word, "", variable: "FCM_SERVICE_ACCOUNT_PATH")
    }
    #expect(
      remedy("invalid_grant").hasSuffix(
        "FCM_SERVICE_ACCOUNT_PATH leads to; a running service sends with its last access token for up "
          + "to an hour"))
    #expect(!remedy("PERMISSION_DENIED").contains("access token"))
  }

  @Test func `Broken rule files hide neither the service account nor the phones it is for`()
    async throws
  {
    try await FCMStage.run { fcm in
      let environment = try fcm.environment(rules: "rules: [")
      let before = try Checkup(environment)
      before.expect("FCM", "ok", "may send; no Android phone is registered")
      try await register(fcm.stage)
      let after = try Checkup(environment)
      after.expect("rule files", "failure", "")
      after.expect("FCM customer", "ok", "may send; 1 Android phone")
    }
  }

  /// Returns the state with one account, for two apps unless others are given.
  private func state(
    _ finding: FCMProbeResult.Finding = .maySend, apps: [App] = [.customer, .driver]
  ) -> FCMState {
    var state = FCMState()
    state.accounts = [
      FCMState.Account(
        apps: apps, variable: "FCM_SERVICE_ACCOUNT_PATH", path: "/a.json",
        tokenURI: "https://oauth2.googleapis.com/token", name: .known("project rides, key 3f9a21"),
        answer: .known(FCMProbeResult(finding: finding, tokenTime: .milliseconds(84))))
    ]
    return state
  }

  @Test func `Phones that can't be counted are not taken for none`() {
    let failed = FCMCheck.results(state(apps: [.driver]), phones: .failed("no answer within 5 s"))
    #expect(
      failed == [
        .ok(
          "FCM driver",
          "project rides, key 3f9a21: access token in 84 ms, may send; its Android phones were not "
            + "counted"),
        .warning(
          "Android phones", "they can't be counted: no answer within 5 s",
          "run ridepulse doctor again"),
      ])
    #expect(FCMCheck.results(FCMState(), phones: .failed("timeout")).map(\.standing) == [.warning])
    let unasked = FCMCheck.results(state(apps: [.driver]), phones: .unasked)
    #expect(unasked.map { $0.what.hasSuffix("its Android phones were not counted") } == [true])
    #expect(FCMCheck.results(FCMState(), phones: .unasked).isEmpty)
  }

  @Test(
    arguments: [
      (.unreachable, "curl -v --http2 "), (.untrusted, "export FCM_CA_FILE=ca.pem"),
      (.noHTTP2, "must support h2"), (.badAuthorities, "path of a PEM file"),
    ] as [(ConnectivityFailure.Kind, String)])
  func `What keeps FCM from being reached has its own remedy`(
    kind: ConnectivityFailure.Kind, words: String
  ) {
    let problem = AccessTokenProblem(
      word: "no_connection", connectivity: kind, text: "no", isOfConfiguration: false)
    for (finding, host) in [
      (.unreachable(ConnectivityFailure(kind, "no")), "fcm.googleapis.com"),
      (.noToken(problem), "oauth2.googleapis.com"),
    ] as [(FCMProbeResult.Finding, String)] {
      let remedies = FCMCheck.results(state(finding), phones: .known([])).flatMap(\.remedy)
      #expect(remedies.count == 2 && remedies.allSatisfy { $0.contains(words) }, "\(remedies)")
      if kind == .unreachable { #expect(remedies.allSatisfy { $0.contains(host) }) }
    }
  }

  @Test func `A file for all apps is not named as missing where rules are`() {
    var state = state(apps: [.driver])
    state.isForAllApps = true
    let results = FCMCheck.results(
      state, phones: .known([AndroidPhoneCount(app: .customer, live: 2)]))
    #expect(
      results.last
        == .warning(
          "FCM customer", "2 Android phones, and no rule is for customer: nothing is sent to them",
          "write a rule for customer"))
  }

  @Test func `What is registered is counted`() {
    let results = FCMCheck.results(
      state(),
      phones: .known([
        AndroidPhoneCount(app: .customer, live: 2310, quarantined: 1, quiet: 12, lost: 3)
      ]))
    #expect(
      results == [
        .ok(
          "FCM customer",
          "project rides, key 3f9a21: access token in 84 ms, may send; 2310 Android phones, 12 not "
            + "registered again for 30 days, 1 in quarantine, 3 disabled as UNREGISTERED this week"),
        .ok(
          "FCM driver",
          "project rides, key 3f9a21: access token in 84 ms, may send; no Android phone is registered"
        ),
      ])
  }
}
