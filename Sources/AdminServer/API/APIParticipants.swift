import Base
import RideCore

extension APIField {
  private static let personFields = [APIField("app", .app), APIField("owner_id", .word)]

  /// Returns the people of a list, each with an app and an owner.
  ///
  /// - Throws: the first error found, whose field names the path in the list.
  func participants(_ people: [JSONValue], _ apps: [App]) throws(APIError) -> JSONValue {
    if people.count > Participant.limit {
      throw invalid("has \(people.count) people; it may have \(Participant.limit)")
    }
    var checked: [JSONValue] = []
    for (index, person) in people.enumerated() {
      let path = "\(name)[\(index)]"
      guard case .object(let members) = person else {
        throw APIError(
          .wrongType, "\(path) is \(person.typeName); send an object with app and owner_id",
          field: path)
      }
      checked.append(.object(try participant(members, path, apps)))
    }
    return .array(checked)
  }

  private func participant(
    _ members: [String: JSONValue], _ path: String, _ apps: [App]
  ) throws(APIError) -> [String: JSONValue] {
    let known = Self.personFields.map(\.name)
    if let stray = members.keys.filter({ !known.contains($0) }).min() {
      let prefixed = known.first { !stray.isEmpty && $0.hasPrefix(stray) }
      throw APIError(
        .unknownField,
        "\(path) has no field \(APIBody.clipped(stray)); "
          + hint(for: stray, among: known, or: prefixed),
        field: path)
    }
    var checked: [String: JSONValue] = [:]
    for field in Self.personFields {
      let inList = APIField("\(path).\(field.name)", field.kind)
      let value = members[field.name] ?? .null
      if value == .null {
        throw APIError(.missingField, "\(inList.name) is missing; send it", field: inList.name)
      }
      checked[field.name] = try inList.checked(value, apps: apps)
    }
    return checked
  }
}
