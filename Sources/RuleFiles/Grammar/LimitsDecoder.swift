import Foundation
import RideCore

/// Decodes the keys by which a rule spares people, and `defaults`.
struct LimitsDecoder: FileDecoder {
  let diagnostics: Diagnostics

  /// Returns the limits of a rule; nil if one of them can't be read.
  func limits(_ fields: Fields, _ what: Rule.What?, _ defaults: RuleDefaults) -> RuleLimits? {
    var limits = RuleLimits()
    var isWhole = true
    func value<Value>(_ name: String, _ decoded: (Field) -> Value?) -> Value? {
      guard let field = fields[name] else { return nil }
      let value = decoded(field)
      if value == nil { isWhole = false }
      return value
    }
    limits.topic = value("topic") { decode.word($0).map { Topic($0.text) } }
    limits.cap = value("at-most", cap)
    if fields["quiet"] != nil {
      limits.quiet = value("quiet", quiet)?.hours
    } else if let what {
      limits.quiet = defaults.quiet(for: what, topic: limits.topic)
    }
    if let what, let field = fields["topic"] { check(field, what) }
    return isWhole ? limits : nil
  }

  func defaults(_ fields: Fields) -> RuleDefaults {
    RuleDefaults(
      quiet: fields["quiet"].flatMap { hours($0.node) },
      locale: fields["locale"].flatMap(decode.word)?.text,
      zone: fields["time-zone"].flatMap(decode.zoneName))
  }

  /// Reports a topic that no person could turn off.
  private func check(_ field: Field, _ what: Rule.What) {
    guard case .liveActivity(let life) = what, life.broadcast != nil else { return }
    diagnostics.report(
      field.location, "topic in a rule with a broadcast card",
      expected: "the rule without it: everyone watches one channel, so no person can turn it off")
  }

  private func cap(_ field: Field) -> PushCap? {
    guard let fields = Fields(field.node, as: KeyTable.cap, diagnostics: diagnostics) else {
      return nil
    }
    let count = fields.required("count").flatMap(decode.integer)
    let period = fields.required("per").flatMap(self.period)
    guard let count, let period else { return nil }
    return PushCap(count: count, per: period)
  }

  private func period(_ field: Field) -> PushCap.Period? {
    guard case .periodOrRide(let limit) = field.key.form else { return nil }
    if field.node.string == "ride" { return .ride }
    return decode.time(field.node, for: field.name, such: "10m or 1h, or ride", limit: limit)
      .map { .time($0) }
  }

  /// Decodes `off`, which has no hours, or quiet hours.
  private func quiet(_ field: Field) -> (hours: QuietHours?, Void)? {
    if field.node.string == "off" { return (nil, ()) }
    if case .mapping = field.node.kind { return hours(field.node).map { ($0, ()) } }
    return field.refused(
      "off, or hours such as { from: \"22:00\", to: \"07:00\", then: hold }",
      among: ["off"])
  }

  private func hours(_ node: YAMLNode) -> QuietHours? {
    guard let fields = Fields(node, as: KeyTable.quiet, diagnostics: diagnostics) else {
      return nil
    }
    let from = fields.required("from").flatMap(time)
    let to = fields.required("to").flatMap(time)
    let zone = fields["time-zone"].map(decode.zoneOfQuietHours) ?? .ride
    let action = fields.required("then").flatMap { decode.choice($0, of: QuietHours.Action.self) }
    guard let from, let to, let zone, let action else { return nil }
    if from == to, let field = fields["to"] {
      diagnostics.report(
        field.node.location, "quiet hours from \(from.text) to \(to.text)",
        expected: "two times: with one, nothing is quiet, or everything")
      return nil
    }
    return QuietHours(from: from, to: to, zone: zone, then: action)
  }

  private func time(_ field: Field) -> QuietHours.TimeOfDay? {
    if let time = field.node.string.flatMap(QuietHours.TimeOfDay.init(text:)) { return time }
    return field.refused("a time of day such as \"22:00\", up to \"23:59\"")
  }
}
