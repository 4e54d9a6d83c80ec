import Base

/// What a service repeats next to its engine, as metrics name it.
enum ServiceTask: String, CaseIterable {
  case tokenOutcomes = "token_outcomes"
  case channels
  case watchedTables = "watched_tables"
  case cardTypes = "card_types"
  case ledger
  case recorded
  case oldRows = "old_rows"
  case backfills
  case phones
  case rules
  case tracedReceipts = "traced_receipts"

  /// What the log records about a failure.
  var failure: LogEvent {
    switch self {
    case .tokenOutcomes: .tokenOutcomesNotApplied
    case .channels: .channelsNotReconciled
    case .watchedTables: .watchProblemsNotRead
    case .cardTypes: .cardTypesNotRecorded
    case .ledger: .ledgerNotRotated
    case .recorded: .recordedPassesNotRotated
    case .oldRows: .oldRowsNotDeleted
    case .backfills: .tablesNotBackfilled
    case .phones: .phonesNotCounted
    case .rules: .rulesNotCompared
    case .tracedReceipts: .tracedReceiptsNotRead
    }
  }
}
