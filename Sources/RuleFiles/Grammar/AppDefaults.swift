import Base
import RideCore

/// What the rules of each app have unless they state it: `defaults.apps`.
struct AppDefaults {
  private var apps: [String: [YAMLNode.Pair]] = [:]

  init() {}

  /// Decodes every default once, so that a problem is reported at its own location.
  init(_ field: Field, diagnostics: Diagnostics) {
    guard case .mappingByApp(let form) = field.key.form else { return }
    guard case .mapping(let pairs) = field.node.kind else {
      diagnostics.reportType(
        of: field.node, for: field.name,
        expected: "a map of app to what its rules share, such as { customer: { expires: 5m } }")
      return
    }
    for pair in pairs {
      guard WordForm.app.allows(pair.key) else {
        diagnostics.report(
          pair.keyLocation, "\(quoted(pair.key)) as an app in defaults", expected: WordForm.app.rule
        )
        continue
      }
      let fields = Fields(
        pair.value, as: form, of: "the defaults of \(pair.key)", diagnostics: diagnostics)
      guard let fields else { continue }
      apps[pair.key] = fields.present(fields.keys).map { field in
        let isValid = Self.isValid(field, diagnostics)
        return YAMLNode.Pair(
          key: field.name, keyLocation: field.location,
          value: isValid ? field.node : YAMLNode(location: field.node.location, kind: .refused))
      }
    }
  }

  private static func isValid(_ field: Field, _ diagnostics: Diagnostics) -> Bool {
    let before = diagnostics.problems.count
    let templates = TemplateDecoder(diagnostics: diagnostics)
    let decode = NodeDecoder(diagnostics: diagnostics)
    switch field.key.form {
    case _ where field.name == KeyTable.android.name:
      _ = AndroidDecoder(diagnostics: diagnostics).style(field, as: KeyTable.androidAlert)
    case .expiry: _ = decode.expiry(field)
    case .payload: _ = templates.payload(field)
    case .flag: _ = decode.flag(field)
    case .mapping(let form):
      let fields = Fields(field.node, as: form, diagnostics: diagnostics)
      for field in fields.map({ $0.present($0.keys) }) ?? [] { _ = isValid(field, diagnostics) }
    default: _ = field.name == "collapse" ? templates.collapse(field) : templates.text(field)
    }
    return diagnostics.problems.count == before
  }

  /// Returns an entry of `rules` with what its app's defaults add, and without what `none` removes.
  func applied(to entry: YAMLNode) -> YAMLNode {
    guard case .mapping(let own) = entry.kind else { return entry }
    let actions = own.map(\.key).filter(KeyTable.actions.contains)
    guard actions.count == 1, let action = actions.first else { return entry }
    let app = own.first { $0.key == "app" }?.value.string
    let defaults = (app.flatMap { apps[$0] } ?? []).filter { Self.takes($0.key, action) }
    var pairs = own.map { pair in
      let shared = defaults.first { $0.key == pair.key }
      guard ["data", "alert", "android"].contains(pair.key) else { return pair }
      return Self.merged(pair, shared)
    }
    pairs.removeAll { $0.key == "collapse" && $0.value.string == "none" }
    let stated = Set(own.map(\.key))
    pairs += defaults.filter { !stated.contains($0.key) }
    return YAMLNode(location: entry.location, kind: .mapping(pairs))
  }

  /// Returns whether a rule with this action takes a default.
  ///
  /// A background push with an alert's collapse ID would replace the alert at APNs, and it is never
  /// stored unless its rule says so.
  private static func takes(_ key: String, _ action: String) -> Bool {
    switch key {
    case "data": KeyTable.pushes.contains(action)
    case "expires": action != "emit" && action != "background"
    default: action == "alert"
    }
  }

  private static func merged(_ own: YAMLNode.Pair, _ shared: YAMLNode.Pair?) -> YAMLNode.Pair {
    guard case .mapping(let pairs) = own.value.kind else { return own }
    var defaults: [YAMLNode.Pair] = []
    if case .mapping(let pairs) = shared?.value.kind { defaults = pairs }
    let removable =
      own.key == "alert" ? KeyTable.appAlert.textNames : Set(defaults.map(\.key))
    let kept = pairs.filter { !(removable.contains($0.key) && $0.value.string == "none") }
    let stated = Set(pairs.map(\.key))
    let value = YAMLNode(
      location: own.value.location,
      kind: .mapping(kept + defaults.filter { !stated.contains($0.key) }))
    return YAMLNode.Pair(
      key: own.key, keyLocation: own.keyLocation, value: value, isRepeated: own.isRepeated)
  }
}

extension MappingForm {
  /// The keys whose value is a text.
  fileprivate var textNames: Set<String> {
    Set(keys.filter { if case .text = $0.form { true } else { false } }.map(\.name))
  }
}
