import Testing

@testable import Base
@testable import RideCore

@Suite("phone.contact") struct PhoneContactTests {
  private static let away = "phone.contact == null || now - phone.contact > duration('5m')"

  /// The seconds since the phone's contact, if it had one, and whether the phone receives the push.
  static let rows: [(Int64?, Bool)] = [
    (nil, true), (-2, false), (0, false), (299, false), (300, false), (301, true), (86_400, true),
  ]

  private func view(contact age: Int64?) -> RideView {
    var view = ConditionTests.view(#"{"plate": "B"}"#)
    var phone = Sample.phone()
    phone.contactedAt = age.map { Sample.now - .seconds($0) }
    view.phones = [phone]
    return view
  }

  @Test(arguments: rows)
  func `a phone in contact lately receives nothing if the condition excludes it`(
    age: Int64?, isSent: Bool
  ) throws {
    let rule = try ConditionTests.rule(Self.away)
    let decision = decide(view(contact: age), by: Sample.book([rule]), now: Sample.now)
    #expect(decision.pushes.count == (isSent ? 1 : 0))
    #expect(
      decision.ended.map(\.reason?.code) == (isSent ? [] : [.engine(.conditionFalse)]))
  }

  @Test func `each phone is judged by its own contact`() throws {
    var view = view(contact: 10)
    view.phones.append(Sample.phone(2, token: Sample.driverToken))
    let rule = try ConditionTests.rule(Self.away)
    let decision = decide(view, by: Sample.book([rule]), now: Sample.now)
    #expect(decision.pushes.map(\.entry.phone) == [2])
    #expect(decision.ended.map(\.phone) == [1])
  }

  @Test func `contacts are read only for rules whose condition names them`() throws {
    for (text, isRead) in [
      (Self.away, true), ("phone.locale == 'de'", false), ("contact == null", false),
    ] {
      let rules = Sample.book([try ConditionTests.rule(text)]).rules
      #expect(rules.asksForPhoneContacts == isRead, "\(text)")
    }
  }
}
