// Events and cards as parts of a memo's JSON.

package import Base

extension RideEvent: StoredObject {
  package static var blank: RideEvent {
    RideEvent(id: 0, name: "", at: Timestamp(microseconds: 0))
  }

  /// A memo does not store people: each push that waits in it already has its recipient.
  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("id", &id)
    try fields.field("name", &name)
    try fields.field("at", &at)
    try fields.field("data", &data)
    try fields.field("firesAt", &firesAt)
  }
}

extension LedgerReason: StoredValue {
  package init(stored: JSONValue) throws(StoredFault) {
    var fields = try FieldReader(stored)
    var (code, text) = ("", "")
    try fields.field("code", &code)
    try fields.field("text", &text)
    self.init(Code(word: code), text)
  }

  package func store(in json: inout [UInt8]) {
    var (code, text) = (code.word, text)
    FieldWriter.object(in: &json) { fields in
      fields.field("code", &code)
      fields.field("text", &text)
    }
  }
}

extension RideImage: StoredValue {
  package convenience init(stored: JSONValue) throws(StoredFault) {
    var fields = try FieldReader(stored)
    var row = StoredImage()
    try row.visit(&fields)
    self.init(
      state: row.state, customer: row.customer, driver: row.driver, pickupAt: row.pickupAt,
      timeZone: row.timeZone, attributes: row.attributes)
  }

  package func store(in json: inout [UInt8]) {
    StoredImage(
      state: state, customer: customer, driver: driver, pickupAt: pickupAt, timeZone: timeZone,
      attributes: attributes
    ).store(in: &json)
  }
}

private struct StoredImage: StoredObject {
  var state: String?
  var customer: OwnerID?
  var driver: OwnerID?
  var pickupAt: Timestamp?
  var timeZone = "UTC"
  var attributes = "{}"

  static var blank: StoredImage { StoredImage() }

  mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("state", &state)
    try fields.field("customer", &customer)
    try fields.field("driver", &driver)
    try fields.field("pickupAt", &pickupAt)
    try fields.field("timeZone", &timeZone)
    try fields.field("attributes", &attributes)
  }
}

extension CardMemo: StoredObject {
  package static let blank = CardMemo(
    of: Card(
      .activity(0), app: .customer, ownerID: "", token: "",
      registeredAt: Timestamp(microseconds: 0)),
    now: Timestamp(microseconds: 0))

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("since", &since)
    try fields.field("lastEventAt", &lastEventAt)
    try fields.field("token", &token)
    try fields.field("timestamp", &timestamp)
    try fields.field("number", &number)
    try fields.field("shown", &shown)
    try fields.field("staleAt", &staleAt)
    try fields.field("sentAt", &sentAt)
    try fields.field("failures", &failures)
    try fields.field("isPending", &isPending)
    try fields.field("subject", &subject)
    try fields.field("retryAt", &retryAt)
    try fields.field("urgentAt", &urgentAt)
    try fields.field("cause", &cause)
    try fields.field("isUrgent", &isUrgent)
    try fields.field("alert", &alert)
    try fields.field("endsAt", &endsAt)
    try fields.field("endedBy", &endedBy)
    try fields.field("isDismissed", &isDismissed)
    try fields.field("scoredBy", &scoredBy)
    try fields.field("isRefused", &isRefused)
    try fields.field("hasMatchedOwner", &hasMatchedOwner)
    try fields.field("complaint", &complaint)
    try fields.field("android", &android)
  }
}

extension StartMemo: StoredObject {
  package static var blank: StartMemo { StartMemo(entry: .blank, owner: "", isOpen: false) }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("entry", &entry)
    try fields.field("owner", &owner)
    try fields.field("shown", &shown)
    try fields.field("isOpen", &isOpen)
    try fields.field("installationID", &installationID)
  }
}

extension PhoneProblem: StoredObject {
  package static var blank: PhoneProblem { PhoneProblem() }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("refusals", &refusals)
    try fields.field("probe", &probe)
    try fields.field("isProbed", &isProbed)
    try fields.field("quietUntil", &quietUntil)
    try fields.field("isQuarantined", &isQuarantined)
  }
}
