import Testing

@testable import Base
@testable import RideCore

@Suite("Android phones in decisions") struct AndroidPhoneTests {
  private static func troubled(_ change: (inout PhoneProblem) -> Void) -> Phone {
    var phone = AndroidSample.phone()
    var problem = PhoneProblem()
    change(&problem)
    phone.problem = problem
    return phone
  }

  @Test func `an Android phone and an iPhone of one person each get their own push`() {
    let rule = AndroidSample.rule()
    var iPhone = Sample.phone(2)
    iPhone.environment = .sandbox
    let view = Sample.view(phones: [AndroidSample.phone(), iPhone])
    let pushes = decide(view, by: AndroidSample.book([rule]), now: Sample.now).pushes
    #expect(pushes.map(\.network) == [.android, .sandbox])
    #expect(pushes.map(\.lane.network) == [.android, .sandbox])
    #expect(pushes.last?.headers.topic == "com.example.customer")
    #expect(pushes.first?.entry.tokenSuffix == "Q7wE1a")
  }

  @Test func `an app without a bundle ID reaches Android phones`() {
    #expect(AndroidSample.decision(AndroidSample.rule()).pushes.count == 1)
  }

  /// The account of another app is none.
  @Test(arguments: [[], [.driver]] as [Set<App>])
  func `without a service account a push is suppressed, with the variable to set`(
    apps: Set<App>
  ) {
    for rule in [AndroidSample.rule(), AndroidSample.background()] {
      var book = AndroidSample.book([rule])
      book.androidApps = apps
      let phones = [AndroidSample.phone(1), Sample.phone(2)]
      let decision = decide(Sample.view(phones: phones), by: book, now: Sample.now)
      #expect(decision.pushes.map(\.entry.phone) == [2], "\(rule.name)")
      #expect(decision.ended.map { $0.reason?.code } == [.engine(.noServiceAccount)])
      #expect(
        decision.reasons == [
          "suppressed: no service account for customer: set FCM_CUSTOMER_SERVICE_ACCOUNT_PATH or "
            + "FCM_SERVICE_ACCOUNT_PATH"
        ])
      let result = decision.settled([.accepted], now: Sample.now) { 0 }
      #expect(result.memo.waiting.isEmpty && result.observations.isEmpty)
    }
  }

  @Test func `the variable to set has the app's name as variables spell it`() {
    let text = LedgerReason.noServiceAccount(of: App(rawValue: "food-courier")).text
    #expect(text.contains("for food-courier: set FCM_FOOD_COURIER_SERVICE_ACCOUNT_PATH or"))
  }

  @Test func `a push that waits when its service account is gone ends suppressed`() {
    let rule = AndroidSample.rule()
    let first = AndroidSample.decision(rule)
    let settlement = first.settled([.unanswered(.timeout)], now: AndroidSample.at) { 0 }
    var ride = Ride(id: "4711", state: "driver_arrived")
    ride.customerID = "c"
    let view = RideView(
      rideID: "4711", ride: ride, phones: [AndroidSample.phone()], memo: settlement.memo)
    let again = decide(view, by: Sample.book([rule]), now: AndroidSample.at + .seconds(100))
    #expect(again.pushes.isEmpty && again.ended.map(\.id) == first.pushes.map(\.entry.id))
    #expect(again.ended.map { $0.reason?.code } == [.engine(.noServiceAccount)])
  }

  @Test func `an Android phone is never tried in an environment of APNs`() throws {
    var book = AndroidSample.book([AndroidSample.rule()])
    book.probesEnvironment = true
    let view = Sample.view(phones: [AndroidSample.phone()])
    let decision = decide(view, by: book, now: Sample.now)
    #expect(decision.pushes.map(\.mayProbe) == [false])
    let refused = PushOutcome.refused(Refusal(status: 400, reason: "INVALID_REGISTRATION"))
    let result = decision.settled([refused], now: Sample.now) { 0 }
    #expect(result.observations == [PhoneObservation(phone: 1, .bad(probe: nil))])
    let id = try #require(decision.pushes.first?.entry.id)
    let probed = Self.troubled { $0.probe = id }
    #expect(!probed.mayBeProbed(book))
    let again = decide(Sample.view(phones: [probed]), by: book, now: Sample.now)
    #expect(again.pushes.map(\.network) == [.android])
    #expect(again.pushes.map(\.isProbe) == [false])
  }

  @Test func `a phone that FCM refused three times is in quarantine, and the reason names FCM`() {
    let phone = Self.troubled {
      $0.refusals = 3
      $0.isQuarantined = true
    }
    let decision = AndroidSample.decision(AndroidSample.rule(), phones: [phone])
    #expect(
      decision.reasons == [
        "suppressed: the phone is in quarantine: FCM refused its token 3 times in a row"
      ])
  }

  @Test func `a phone whose quota is used up waits, with FCM's word`() {
    let quiet = AndroidSample.at + .seconds(60)
    let phone = Self.troubled { $0.quietUntil = quiet.microseconds }
    let decision = AndroidSample.decision(AndroidSample.rule(), phones: [phone])
    #expect(decision.pushes.isEmpty)
    #expect(decision.deferred.map(\.due) == [quiet])
    #expect(
      decision.deferred.map { $0.entry.reason?.code.word } == ["DEVICE_QUOTA_EXCEEDED"])
  }

  @Test func `an accepted push clears the refusals of a phone`() {
    let phone = Self.troubled { $0.refusals = 1 }
    let decision = AndroidSample.decision(AndroidSample.rule(), phones: [phone])
    let result = decision.settled([.accepted], now: AndroidSample.at) { 0 }
    #expect(result.observations == [PhoneObservation(phone: 1, .good)])
  }

  @Test(arguments: Platform.allCases)
  func `a phone with alerts off gets data and no alert`(platform: Platform) {
    var phone = platform == .android ? AndroidSample.phone() : Sample.phone()
    phone.hasAlertsOff = true
    func decision(_ rule: Rule) -> Decision {
      decide(Sample.view(phones: [phone]), by: AndroidSample.book([rule]), now: Sample.now)
    }
    let alert = decision(AndroidSample.rule())
    #expect(alert.pushes.isEmpty)
    #expect(alert.ended.map { $0.reason?.code } == [.engine(.alertsOff)])
    #expect(decision(AndroidSample.background()).pushes.count == 1)
  }

  private static func alert(_ change: (inout Alert) -> Void) -> Alert {
    var alert = Alert()
    change(&alert)
    return alert
  }

  @Test(
    arguments: [
      (alert { $0.badge = Sample.text("3") }, [.ios]),
      (alert { $0.contentAvailable = true }, [.ios, .android]),
      (alert { ($0.badge, $0.contentAvailable) = (Sample.text("3"), true) }, [.ios, .android]),
      (alert { $0.sound = Alert.Sound(Sample.text("default")) }, []),
      (alert { $0.bodyKey = Alert.LocalizedKey(key: Sample.text("HERE")) }, []),
      (alert { $0.subtitleKey = Alert.LocalizedKey(key: Sample.text("HERE")) }, []),
      (alert { $0.title = LocalizedText(Sample.text("Here")) }, []),
    ] as [(Alert, [Platform])])
  func `with alerts off, a phone gets what it neither shows nor sounds`(
    alert: Alert, platforms: [Platform]
  ) {
    for platform in Platform.allCases {
      var phone = platform == .android ? AndroidSample.phone() : Sample.phone()
      phone.hasAlertsOff = true
      let decision = decide(
        Sample.view(phones: [phone]), by: AndroidSample.book([AndroidSample.rule(alert)]),
        now: Sample.now)
      #expect(decision.pushes.count == (platforms.contains(platform) ? 1 : 0), "\(platform)")
      // A badge alone is for iPhones.
      let code = decision.ended.first?.reason?.code
      #expect(
        platforms.contains(platform)
          || code == .engine(platforms == [.ios] ? .appleOnly : .alertsOff), "\(platform)")
    }
  }

  @Test func `an alert that alerts off keeps back is escalated at once`() {
    var rule = AndroidSample.rule()
    rule.escalation = Escalation(unlessSeenWithin: .seconds(60), emit: "eta_changed")
    var phone = AndroidSample.phone()
    phone.hasAlertsOff = true
    let decision = AndroidSample.decision(rule, phones: [phone])
    let settlement = decision.settled([], now: AndroidSample.at) { 0 }
    #expect(settlement.emits.map(\.name) == ["eta_changed"])
    #expect(settlement.memo.waiting.isEmpty)
  }

  @Test(arguments: AppExtension.allCases)
  func `pushes to extensions of Apple's are suppressed, without a retry`(target: AppExtension) {
    let rule = Rule(
      name: "reload", app: .customer, when: .on(["driver_arrived"]), what: .toExtension(target),
      expires: .after(.seconds(60)), source: "sample.yaml:1")
    let decision = AndroidSample.decision(rule)
    #expect(decision.pushes.isEmpty)
    #expect(
      decision.reasons == ["suppressed: \(target.pushType.rawValue) pushes reach iPhones only"])
    #expect(decision.settled([], now: AndroidSample.at) { 0 }.memo.waiting.isEmpty)
  }

  /// A condition, and which of an Android phone and an iPhone without an environment it admits.
  @Test(
    arguments: [
      ("phone.platform == 'android'", [1]), ("phone.platform == 'ios'", [2]),
      ("phone.platform in ['ios', 'android']", [1, 2]),
      ("phone.environment == 'production'", [1]), ("phone.environment == 'sandbox'", [2]),
    ] as [(String, [Int64])])
  func `if reads the platform, and Android has no test builds`(
    text: String, admitted: [Int64]
  ) throws {
    var rule = AndroidSample.rule()
    rule.condition = try Condition(text)
    let view = Sample.view(phones: [AndroidSample.phone(1), Sample.phone(2)])
    let decision = decide(
      view, by: AndroidSample.book([rule], environment: .sandbox), now: Sample.now)
    #expect(decision.pushes.map(\.entry.phone) == admitted)
  }

  @Test func `nothing of an alert is journalled, because it may be sent twice`() {
    let decision = AndroidSample.decision(AndroidSample.rule())
    #expect(decision.journal(now: AndroidSample.at) == nil)
    let result = decision.settled([.unanswered(.timeout)], now: AndroidSample.at) { 0 }
    #expect(result.entries.map(\.status) == [.pending])
  }
}
