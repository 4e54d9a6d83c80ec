import PostgresStore

/// The grant that a command's login needs.
enum MissingGrant {
  /// Returns the text of an error; of one about rights, with the grant that ends it.
  static func text(_ error: any Error, of form: CommandForm) -> String {
    let failure =
      switch error {
      case MigrationError.database(let failure): failure
      default: error as? PostgresError
      }
    guard let failure, failure.refusesRights, let role = form.role else { return "\(error)" }
    let name = Database.named(role.rawValue)
    return "\(failure). \(form.name) needs the rights of \(name): as the schema's owner, "
      + "psql -c 'grant \(name) to LOGIN'; migrate --roles makes that role"
  }
}
