/// One step of a pipeline: one message to the server, one result back.
enum PipelineStep: Hashable, Sendable {
  /// Prepares a statement.
  case prepare(Statement)
  /// Executes the prepared statement of the call at this index.
  case executePrepared(Int)
  /// Executes the SQL text of the call at this index.
  case execute(Int)

  /// Returns the steps for calls; an unknown statement is prepared just before its first use.
  static func plan(
    _ calls: [Call], known: [String: String], named: Bool
  ) -> [PipelineStep] {
    var known = known
    var steps: [PipelineStep] = []
    for (index, call) in calls.enumerated() {
      let statement = call.statement
      guard named, !statement.name.isEmpty else {
        steps.append(.execute(index))
        continue
      }
      if known[statement.name] != statement.sql {
        steps.append(.prepare(statement))
        known[statement.name] = statement.sql
      }
      steps.append(.executePrepared(index))
    }
    return steps
  }
}

/// Follows the replies to one transaction and classifies each of them.
struct PipelineStateMachine: Sendable {
  /// The results of libpq, reduced to what matters here.
  enum Reply: Equatable { case success, failure, aborted, sync, endOfStep, foreign(String) }

  enum Verdict: Equatable {
    case goOn
    /// The result belongs to a call and goes to the caller.
    case keep
    /// The server now holds this statement.
    case prepared(Statement)
    /// The result is an error; the first one is the error of the transaction.
    case failed
    case finished
    /// The server is out of step; the connection must be replaced.
    case broken(String)
  }

  private enum Form { case pipeline([PipelineStep]), script }

  private let form: Form
  private var position = 0
  private var answered = false
  private var hasFailed = false

  init(pipeline steps: [PipelineStep]) { form = .pipeline(steps) }

  /// The machine for several commands in one text: any number of results, until none is left.
  static var script: PipelineStateMachine { PipelineStateMachine(form: .script) }

  private init(form: Form) { self.form = form }

  /// The step whose result is expected next; nil after the last step, and for a script.
  var currentStep: PipelineStep? {
    guard case .pipeline(let steps) = form, position < steps.count else { return nil }
    return steps[position]
  }

  mutating func receive(_ reply: Reply) -> Verdict {
    switch (form, reply) {
    case (_, .foreign(let what)): return .broken(what)
    case (_, .failure):
      // This may also come after the last step: a deferred constraint fails only at the commit.
      (answered, hasFailed) = (true, true)
      return .failed
    case (.script, .success): return .goOn
    case (.script, .endOfStep): return .finished
    case (.script, .aborted), (.script, .sync): return .broken("a pipeline reply to a script")
    case (.pipeline, .success): return success()
    case (.pipeline, .aborted):
      answered = true
      return hasFailed ? .goOn : .broken("an aborted step without an error before it")
    case (.pipeline(let steps), .endOfStep):
      guard answered else { return .broken("a step without a result") }
      answered = false
      position = min(position + 1, steps.count)
      return .goOn
    case (.pipeline(let steps), .sync):
      return position == steps.count ? .finished : .broken("the end came before all results")
    }
  }

  private mutating func success() -> Verdict {
    guard !answered, let step = currentStep else { return .broken("a result too many") }
    answered = true
    if case .prepare(let statement) = step { return .prepared(statement) }
    return .keep
  }
}
