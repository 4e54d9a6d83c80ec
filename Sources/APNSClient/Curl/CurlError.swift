/// Why a connection could not be opened, or ended: text for a person.
struct CurlError: Error, Hashable {
  let text: String
  var kind = ConnectivityFailure.Kind.unreachable
}
