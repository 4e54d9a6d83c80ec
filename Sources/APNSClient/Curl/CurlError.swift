/// Why a connection could not be opened, or why it ended; the text is meant for people.
struct CurlError: Error, Hashable {
  let text: String
  var kind = ConnectivityFailure.Kind.unreachable
}
