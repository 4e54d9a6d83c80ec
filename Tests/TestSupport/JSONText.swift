package import Foundation

/// JSON in one form, so that texts with the same content are equal: sorted keys, one member a line.
package enum JSONText {
  package static func normalized(_ json: some DataProtocol) throws -> String {
    let value = try JSONSerialization.jsonObject(
      with: Data(json), options: .fragmentsAllowed)
    let data = try JSONSerialization.data(
      withJSONObject: value,
      options: [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes, .fragmentsAllowed])
    return String(decoding: data, as: UTF8.self) + "\n"
  }
}
