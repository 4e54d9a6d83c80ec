import Foundation
import TestSupport
import Testing

/// The manifests of `deploy/kubernetes`, held against the schemas of the API.
@Suite("Kubernetes") struct KubernetesTests {
  private static let script = Project.path("Tests/RidePulseTests/Kubernetes/validate.py")
  private static let hasSchemas =
    (try? Tool.run("/usr/bin/env", ["python3", "-c", "import kubernetes_validate, yaml"]))?
    .status == 0

  private func validate(_ root: String) throws -> (status: Int32, output: String) {
    let result = try Tool.run("/usr/bin/env", ["python3", Self.script, root])
    return (result.status, result.output + result.errors)
  }

  @Test(.enabled(if: hasSchemas, "needs kubernetes-validate from PyPI"))
  func `The manifests are valid, restricted, and fit the rules and variables`() throws {
    let result = try validate(Project.path("."))
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output == "valid\n")
  }

  /// A file, a text in it, what takes its place, and what is reported.
  private static let faults: [(file: String, text: String, other: String, problem: String)] = [
    ("serve.yaml", "replicas: 2", "replica: 2", "'replica' was unexpected"),
    (
      "serve.yaml", "replicas: 2", "replicas: two",
      "ridepulse: spec.replicas: 'two'"
    ),
    ("serve.yaml", "- ALL", "- KILL", "has capabilities"),
    ("serve.yaml", "runAsNonRoot: true", "runAsNonRoot: false", "may run as root"),
    ("serve.yaml", "memory: 512Mi", "cpu: 1", "a limit of processor time"),
    (
      "serve.yaml", "{ key: de.yaml, path: strings/de.yaml }", "{ key: de.yaml, path: de.yaml }",
      "['de.yaml', 'strings/de.yaml']"
    ),
    (
      "serve.yaml", "value: /run/secrets/ridepulse/admin-token", "value: /etc/admin-token",
      "RIDEPULSE_ADMIN_TOKEN_FILE is in no volume"
    ),
    ("kustomization.yaml", "- budget.yaml", "- budgets.yaml", "budget.yaml is in no kustomization"),
    ("variables.env", "0.0.0.0:9464", "0.0.0.0:9465", "probes reach another port"),
    ("variables.env", "RIDEPULSE_SCHEDULES", "RIDEPULSE_RULES", "['RIDEPULSE_RULES']"),
    ("budget.yaml", "policy/v1", "policy/v9", "the API 1.31 has no such kind of policy/v9"),
  ]

  @Test(.enabled(if: hasSchemas, "needs kubernetes-validate from PyPI"), arguments: faults.indices)
  func `A fault in a manifest is found`(index: Int) throws {
    let fault = Self.faults[index]
    let copy = try ScratchFolder.create()
    defer { ScratchFolder.remove(copy) }
    try FileManager.default.createDirectory(
      atPath: copy + "/deploy", withIntermediateDirectories: true)
    for folder in ["deploy/kubernetes", "docs", "schedules"] {
      try FileManager.default.copyItem(
        atPath: Project.path(folder), toPath: copy + "/" + folder)
    }
    let url = URL(fileURLWithPath: copy + "/deploy/kubernetes/" + fault.file)
    let text = try String(contentsOf: url, encoding: .utf8)
    let changed = text.replacing(fault.text, with: fault.other, maxReplacements: 1)
    #expect(changed != text)
    try Data(changed.utf8).write(to: url)
    let result = try validate(copy)
    #expect(result.status == 1)
    #expect(result.output.contains(fault.problem), "\(result.output)")
  }
}
