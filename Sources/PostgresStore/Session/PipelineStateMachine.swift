/// One step of a pipeline: one message for the server, one result back.
enum PipelineStep: Hashable, Sendable {
  /// Makes the prepared form of a statement.
  case prepare(Statement)
  /// Executes the prepared form for the call of this index.
  case executePrepared(Int)
  /// Executes the text of the call of this index.
  case execute(Int)

  /// The steps for calls: each unknown statement is prepared just before its first use.
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

/// Follows the replies to one run and says what each of them means.
struct PipelineStateMachine: Sendable {
  /// What libpq hands over, reduced to what matters here.
  enum Reply: Equatable { case success, failure, aborted, sync, endOfStep, foreign(String) }

  enum Verdict: Equatable {
    case goOn
    /// The result answers a call; the caller wants it.
    case keep
    /// The server now holds this statement.
    case prepared(Statement)
    /// The result is an error; the first of them is what the run fails with.
    case failed
    case finished
    /// The server is out of step; this connection is of no more use.
    case broken(String)
  }

  private enum Form { case pipeline([PipelineStep]), script }

  private let form: Form
  private var position = 0
  private var answered = false
  private var hasFailed = false

  init(pipeline steps: [PipelineStep]) { form = .pipeline(steps) }

  /// Several commands in one text: any number of results, until there are no more.
  static var script: PipelineStateMachine { PipelineStateMachine(form: .script) }

  private init(form: Form) { self.form = form }

  /// The index of the call that is being answered.
  var currentStep: PipelineStep? {
    guard case .pipeline(let steps) = form, position < steps.count else { return nil }
    return steps[position]
  }

  mutating func receive(_ reply: Reply) -> Verdict {
    switch (form, reply) {
    case (_, .foreign(let what)): return .broken(what)
    case (_, .failure):
      // Also past the last step: a deferred constraint speaks only at the commit.
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
