import RideCore

extension CardContract {
  /// The types of all fields at every level; a list or object of unknown content counts as unknown.
  var fieldTypes: Set<FieldType> {
    func types(_ type: FieldType) -> [FieldType] {
      switch type {
      case .list(let element): types(element ?? .unknown)
      case .object(let members): members?.values.flatMap { types($0.type) } ?? [.unknown]
      default: [type]
      }
    }
    let fields = Array(attributes.values) + Array(contentState.values)
    return Set(fields.flatMap { types($0.type) })
  }
}
