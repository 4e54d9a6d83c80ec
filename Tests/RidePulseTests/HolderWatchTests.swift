import Testing

@testable import PostgresStore
@testable import RidePulse

@Suite struct HolderWatchTests {
  private let start = ContinuousClock.now

  private func holder(_ xid: String?, age: Duration? = nil) -> BlockingBackend {
    BlockingBackend(
      kind: .session, processID: 71, name: "a report", age: age, transactions: 5, xid: xid)
  }

  @Test func `a holder that hides its age is as old as it has been seen`() {
    var watch = HolderWatch()
    #expect(watch.age(of: holder("7"), at: start + .seconds(100)) == .zero)
    #expect(watch.age(of: holder("7"), at: start + .seconds(115)) == .seconds(15))
    #expect(watch.age(of: holder("7"), at: start + .seconds(3800)) == .seconds(3700))
    #expect(watch.age(of: nil, at: start + .seconds(3815)) == .zero)
    #expect(watch.age(of: holder("7"), at: start + .seconds(3830)) == .zero)
  }

  @Test func `another transaction begins anew, also one without an ID`() {
    for next in [holder("8"), holder(nil)] {
      var watch = HolderWatch()
      _ = watch.age(of: holder("7"), at: start + .seconds(100))
      #expect(watch.age(of: next, at: start + .seconds(200)) == .zero)
    }
  }

  @Test func `an age that is known counts`() {
    var watch = HolderWatch()
    #expect(
      watch.age(of: holder("7", age: .seconds(900)), at: start + .seconds(100)) == .seconds(900))
  }
}
