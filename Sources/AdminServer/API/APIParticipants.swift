import Base
import RideCore

extension APIField {
  private static let personFields = [
    APIField("app", .app), APIField("owner_id", .word),
    APIField("attributes", .object, isRequired: false),
  ]
  /// The bytes of a participant's attributes, as the database limits them.
  private static let attributesLimit = 8192

  /// Returns the people of a list, each with an app, an owner and perhaps attributes.
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
    try refuseStray(members.keys, known: Self.personFields.map(\.name), at: path) {
      "\(path) has no field \($0)"
    }
    var checked: [String: JSONValue] = [:]
    for field in Self.personFields {
      let inList = APIField("\(path).\(field.name)", field.kind)
      let value = members[field.name] ?? .null
      if value == .null {
        if !field.isRequired { continue }
        throw APIError(.missingField, "\(inList.name) is missing; send it", field: inList.name)
      }
      let accepted = try inList.checked(value, apps: apps)
      if field.kind == .object, accepted.json.count > Self.attributesLimit {
        throw APIError(
          .invalidValue,
          "\(inList.name) has \(accepted.json.count) bytes; it may have \(Self.attributesLimit)",
          field: inList.name)
      }
      checked[field.name] = accepted
    }
    return checked
  }
}
