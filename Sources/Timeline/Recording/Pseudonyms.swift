import Base
import RideCore

/// Replaces IDs and tokens by others that only the holder of the salt could find again.
///
/// The same ID always has the same pseudonym under one salt, so days of one operator can be compared.
package struct Pseudonyms: Sendable {
  /// What an ID identifies: the same text has another pseudonym in each role.
  package enum Kind: String, Sendable {
    case ride, owner, installation, activity, text
  }

  /// Nil leaves everything as it is.
  private let hmac: HMAC?

  /// Replaces nothing: for a ride that is shown to a reader with access to its rows.
  static let none = Pseudonyms(hmac: nil)

  private init(hmac: HMAC?) { self.hmac = hmac }

  /// - Parameter salt: The key of HMAC-SHA256 (RFC 2104).
  package init(salt: String) { self.init(hmac: HMAC(key: Array(salt.utf8))) }

  var replacesNothing: Bool { hmac == nil }

  /// Returns the HMAC of a message.
  func code(_ message: String) -> [UInt8] { hmac?.code(Array(message.utf8)) ?? [] }

  /// Returns the pseudonym of an ID, such as `owner_3f9c2a1b…` with 80 bits.
  package func id(_ kind: Kind, _ text: String) -> String {
    if replacesNothing { return text }
    return "\(kind.rawValue)_\(SHA256.hex(code("\(kind.rawValue) \(text)").prefix(10)))"
  }

  /// Returns the pseudonym of a token: 64 hexadecimal digits, as tokens have.
  package func token(_ token: String) -> String {
    replacesNothing ? token : SHA256.hex(code("token \(token.lowercased())"))
  }

  /// Returns the pseudonym of an address at FCM, in its form: that of an installation ID, or of a
  /// registration token.
  func registration(_ address: FCMRegistration) -> String {
    if replacesNothing { return address.text }
    let code = SHA256.hex(code("registration \(address.text)"))
    return address.isFID ? "d" + code.prefix(21) : "\(code.prefix(22)):\(code)"
  }

  /// Returns the pseudonym of what a push was sent to, whose platform is not recorded.
  func address(_ text: String) -> String {
    if text.allSatisfy(\.isHexDigit) { return token(text) }
    return FCMRegistration(text).map(registration) ?? token(text)
  }

  /// Returns a stand-in for a text: equal for equal texts, because a card is sent if its text changes.
  func text(_ text: String) -> String {
    "text_\(SHA256.hex(code("text \(text)").prefix(4)))"
  }

  /// Returns a stand-in for a number that may identify a person: below a million.
  func number(_ number: String) -> Int64 {
    let bits = code("number \(number)").prefix(4).reduce(0) { $0 << 8 | Int64($1) }
    return bits % 1_000_000
  }
}

// Records with pseudonyms.
extension Pseudonyms {
  func owner(_ owner: OwnerID) -> OwnerID { OwnerID(id(.owner, owner.text)) }

  func installation(_ text: String) -> InstallationID { InstallationID(id(.installation, text)) }

  func person(_ person: Participant) -> Participant {
    Participant(app: person.app, ownerID: owner(person.ownerID))
  }

  func registration(_ plain: Registration) -> Registration {
    var named = plain
    named.ownerID = owner(plain.ownerID)
    named.token =
      switch plain.platform {
      case .ios: token(plain.token)
      case .android: FCMRegistration(plain.token).map(registration) ?? token(plain.token)
      }
    named.installationID = plain.installationID.map { installation($0.text) }
    named.activityID = plain.activityID.map { id(.activity, $0) }
    return named
  }
}
