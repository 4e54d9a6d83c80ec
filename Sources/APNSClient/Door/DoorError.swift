/// Why a connection could not be opened, or ended: text for a person.
struct DoorError: Error, Hashable {
  let text: String
  var kind = DoorTrouble.Kind.unreachable
}
