import Base

/// What an Android phone shows of a card, with its texts prepared: `rp_look`.
struct CompiledLook: Sendable {
  private let look: AndroidLook
  /// What depends on more than the ride's state, in the order of the keys.
  private let members: [(key: String, value: CompiledPayload)]
  /// Whether phones may receive different texts because of their locales or zones.
  let variesByPhone: Bool
  /// Whether people may receive different texts in one locale.
  let readsMe: Bool

  init(_ look: AndroidLook, defaultLocale: String?) {
    self.look = look
    var members: [(key: String, value: CompiledPayload)] = []
    if case .object(let templates) = look.template {
      members = templates.sorted { $0.key < $1.key }.map { key, template in
        // An object of its own names the key in messages.
        let member = CompiledPayload(
          fields: [key: template], path: "android", states: [], defaultLocale: defaultLocale)
        return (key, member)
      }
    }
    self.members = members
    variesByPhone = members.contains(where: \.value.variesByPhone)
    readsMe = members.contains(where: \.value.readsMe)
  }

  /// Returns the JSON object. Nothing in it is required: what has no value is left out.
  ///
  /// - Parameter broken: gets why something is left out although it has a value.
  func render(
    in context: TemplateContext, locale: String?, broken: inout [RenderingError]
  ) -> [UInt8] {
    var values: [String: JSONValue] = [:]
    for (key, member) in members {
      do throws(RenderingError) {
        let json = try member.render(in: context, locale: locale, broken: &broken)
        let value = JSONValue(json: json)?.value(at: [key])
        if let value, value != .null { values[key] = value }
      } catch {
        if case .missing = error { continue }
        if case .emptyText = error { continue }
        broken.append(error)
      }
    }
    values["fraction"] = values["fraction"].flatMap(Self.fraction)
    if !look.steps.isEmpty {
      values["steps"] = .integer(Int64(look.steps.count))
      values["step"] = look.step(in: context.ride.state).map { .integer(Int64($0)) }
    }
    return JSONValue.object(values).json
  }

  /// A share that is out of range stays within its segment.
  private static func fraction(_ value: JSONValue) -> JSONValue? {
    switch value {
    case .integer(let number): .integer(min(max(number, 0), 1))
    case .number(let number): .number(min(max(number, 0), 1))
    default: nil
    }
  }
}
