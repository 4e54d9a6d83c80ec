"""Holds deploy/kubernetes against the schemas of Kubernetes' API, and against what RidePulse needs.

usage: validate.py ROOT, the folder of deploy/, docs/ and schedules/. Prints a line for each problem;
status 1 if there is one. Needs PyYAML and PyPI's kubernetes-validate; kubectl, if it is there, builds the
kustomization as well.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import kubernetes_validate
import yaml

# The oldest version that knows all fields that are used, and a current one.
VERSIONS = ["1.31", "1.35"]
root = pathlib.Path(sys.argv[1])
folder = root / "deploy/kubernetes"
problems = []


def check(fine, text):
    if not fine:
        problems.append(text)


def documents(path):
    return [d for d in yaml.safe_load_all(path.read_text()) if d]


def validate(document, source):
    name = f"{source}: {document['kind']} {document['metadata']['name']}"
    if document["kind"] == "PodMonitor":
        # Of the Prometheus operator: the API's schemas do not have it.
        known = {"jobLabel", "selector", "podMetricsEndpoints", "namespaceSelector", "podTargetLabels"}
        unknown = set(document["spec"]) - known
        check(not unknown, f"{name}: unknown {sorted(unknown)}")
        return
    for version in VERSIONS:
        try:
            kubernetes_validate.validate(document, version, strict=True)
        except kubernetes_validate.SchemaNotFoundError:
            check(False, f"{name}: the API {version} has no such kind of {document['apiVersion']}")
            return
        except kubernetes_validate.ValidationError as error:
            check(False, f"{name}: {'.'.join(map(str, error.path))}: {error.message[:200]}")
            return


def pods(document):
    spec = document.get("spec", {}).get("template", {}).get("spec")
    return [spec] if spec else []


def restricted(pod, source):
    """The profile `restricted` of the pod security standards, and a root that is read-only."""
    own = pod.get("securityContext", {})
    check(own.get("runAsNonRoot") is True, f"{source}: the pod may run as root")
    check(own.get("seccompProfile", {}).get("type") == "RuntimeDefault", f"{source}: no seccompProfile")
    for container in pod["containers"]:
        security = container.get("securityContext", {})
        check(security.get("allowPrivilegeEscalation") is False, f"{source}: may gain privileges")
        check(security.get("readOnlyRootFilesystem") is True, f"{source}: the root can be written")
        check(security.get("capabilities", {}).get("drop") == ["ALL"], f"{source}: has capabilities")
        limits = container["resources"].get("limits", {})
        check("cpu" not in limits, f"{source}: a limit of processor time")
        check("memory" in limits, f"{source}: no limit of memory")


def mounts(pod, source):
    names = {volume["name"] for volume in pod.get("volumes", [])}
    for container in pod["containers"]:
        paths = [mount["mountPath"] for mount in container.get("volumeMounts", [])]
        used = {mount["name"] for mount in container.get("volumeMounts", [])}
        check(used == names, f"{source}: volumes {sorted(names)}, mounted {sorted(used)}")
        for variable in container.get("env", []):
            value = variable.get("value", "")
            fits = any(value.startswith(path + "/") for path in paths)
            check(not value.startswith("/") or fits, f"{source}: {variable['name']} is in no volume")


def names(kustomization):
    for key in ["resources", "components"]:
        yield from kustomization.get(key, [])
    for generator in kustomization.get("configMapGenerator", []):
        yield from generator.get("files", []) + generator.get("envs", [])


found = {}
for path in sorted(folder.rglob("*.yaml")):
    source = str(path.relative_to(folder))
    if path.name == "kustomization.yaml":
        continue
    for document in documents(path):
        validate(document, source)
        found[document["kind"], document["metadata"]["name"]] = document
        for pod in pods(document):
            restricted(pod, source)
            mounts(pod, source)

listed = set()
for path in [*folder.rglob("kustomization.yaml"), root / "schedules/Kustomization"]:
    for name in names(yaml.safe_load(path.read_text())):
        file = (path.parent / name).resolve()
        check(file.exists(), f"{path.relative_to(root)}: there is no {name}")
        listed.add(file)
rules = root / "schedules"
for path in [*folder.rglob("*.yaml"), *rules.glob("*.yaml"), *rules.glob("strings/*.yaml")]:
    fits = path.resolve() in listed or path.name == "kustomization.yaml"
    check(fits, f"{path.relative_to(root)} is in no kustomization")

serve = found["Deployment", "ridepulse"]["spec"]["template"]["spec"]
projected = [v for v in serve["volumes"] if v["name"] == "rules"][0]["projected"]["sources"]
items = {i["path"] for s in projected for i in s["configMap"].get("items", [])}
texts = {f"strings/{path.name}" for path in rules.glob("strings/*.yaml")}
check(items == texts, f"serve.yaml: texts that differ from schedules/strings: {sorted(items ^ texts)}")
check(serve["terminationGracePeriodSeconds"] >= 20, "serve.yaml: a graceful stop takes up to 13 s")

variables = dict(
    line.split("=", 1) for line in (folder / "variables.env").read_text().split("\n") if line)
port = serve["containers"][0]["ports"][0]["containerPort"]
check(variables["RIDEPULSE_ADMIN"] == f"0.0.0.0:{port}", "variables.env: probes reach another port")
documented = set(re.findall(r"`([A-Z_]{6,})`", (root / "docs/configuration.md").read_text()))
used = set(variables) | {
    v["name"] for d in found.values() for p in pods(d) for c in p["containers"] for v in c.get("env", [])}
check(used <= documented, f"variables that docs/configuration.md lacks: {sorted(used - documented)}")

if shutil.which("kubectl"):
    built = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True)
    check(built.returncode == 0, f"kubectl kustomize: {built.stderr}")
    for document in yaml.safe_load_all(built.stdout):
        validate(document, "kubectl kustomize")
        size = sum(len(text) for text in document.get("data", {}).values())
        check(size < 1_000_000, f"{document['metadata']['name']} is too large for a ConfigMap")

print("\n".join(problems) or "valid")
sys.exit(1 if problems else 0)
