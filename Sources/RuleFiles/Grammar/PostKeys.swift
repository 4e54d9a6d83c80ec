/// The keys of rules that post to a receiver of the service.
enum PostKeys {
  static let post = Key(
    "post", .word(.receiver),
    "Posts JSON to this receiver of the service, once for each owner, see [Post](#post).")

  static let text = Key(
    "text", .localizedText, "The text of a post, in the person's language.", nextTo: ["post"],
    otherwise: "it next to post only: an alert has a title and a body")
}
