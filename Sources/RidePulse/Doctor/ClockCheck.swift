import Base
import RideCore

enum ClockCheck {
  /// A synchronized clock is off by far less; times are read in whole seconds.
  private static let tolerated: Duration = .seconds(5)
  /// Beyond this, certificates, expirations and slots are wrong.
  private static let wrong: Duration = .seconds(60)

  private static let remedy = "timedatectl set-ntp true"

  static func database(_ lead: Probe<Duration>) -> [CheckResult] {
    lead.judged("clock", needs: "postgres", else: "Postgres' clock can't be read") { lead in
      [
        judge(
          "clock", lead, of: "Postgres", against: "this machine",
          "\(remedy), on this machine or on that of Postgres: run date on both to see which is wrong"
        )
      ]
    }
  }

  /// - Parameter lead: How far APNs is ahead of the clock that signs; nil if APNs sent no time.
  static func apns(
    _ environment: APNsEnvironment, lead: Duration?, isDatabase: Bool, answered: Bool
  ) -> CheckResult {
    let name = "clock \(environment.rawValue)"
    guard answered else { return .skipped(name, needs: "an answer from APNs") }
    guard let lead else {
      return .ok(name, "the answers contain no time; APNs accepted ours")
    }
    let ours = isDatabase ? "Postgres" : "this machine"
    return judge(
      name, lead, of: "APNs", against: ours,
      "\(remedy), on \(isDatabase ? "the machine of Postgres" : "this machine")")
  }

  private static func judge(
    _ name: String, _ lead: Duration, of other: String, against own: String, _ remedy: String
  ) -> CheckResult {
    let size = Duration.microseconds(abs(lead.microseconds))
    if size <= tolerated { return .ok(name, "\(other) and \(own) agree") }
    let what = "\(other) is \(size.rideText) \(lead > .zero ? "ahead of" : "behind") \(own)"
    return size > wrong
      ? .failure(name, "\(what): pushes expire and slots fire at the wrong time", remedy)
      : .warning(name, what, remedy)
  }
}
