import Base
import RideCore

extension RuleChanges {
  /// The names by what happened to them, as `preview --diff` and `POST /v1/reload` return them.
  var json: JSONValue { .object(members) }

  var members: [String: JSONValue] {
    [
      "added": Self.json(added), "removed": Self.json(removed), "changed": Self.json(changed),
      "also_changed": Self.json(others),
    ]
  }

  private static func json(_ names: [String]) -> JSONValue { .array(names.map { .string($0) }) }
}
