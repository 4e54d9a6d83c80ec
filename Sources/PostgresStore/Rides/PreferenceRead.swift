import Base
internal import RideCore

/// Reads what people have turned off, for posts with a topic.
///
/// A phone's row has its owner's choices, too, but a post needs no phone.
struct PreferenceRead: Sendable {
  let ride: ResultColumn<String>
  let app: ResultColumn<String>
  let owner: ResultColumn<String>
  /// The topics that the owner has turned off; nil for none.
  let optOuts: ResultColumn<String>
  /// Its parameters are the rows of `RidePerson`.
  let statement: Statement

  static let all = PreferenceRead()

  private init() {
    var list = SelectList()
    ride = list.text("person.ride_id")
    app = list.text("person.app")
    owner = list.text("person.owner_id")
    optOuts = list.text(OptOutColumn.sql(of: "person"))
    statement = Statement(
      name: "topics_of_people",
      sql: "select \(list.sql) from \(RidePerson.rows.table("person"))")
  }
}
