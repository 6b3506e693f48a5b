"""Checks rendered Kubernetes objects for mistakes that the schemas of Kubernetes do not find: test-kubernetes.py FILE…

Each FILE is one rendering of Kustomize. Prints each mistake, and exits with 1 if there is one."""
import re, sys, yaml

ANY = object()  # A value that is not checked further.
LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
HOST = rf"(\*\.)?{LABEL}(\.{LABEL})*"
DURATION = r"([0-9]{1,5}(h|m|s|ms)){1,4}"

class Required:
    """A field that must exist."""
    def __init__(self, shape): self.shape = shape

# The fields that these files use, as Gateway API 1.4 and the Prometheus operator 0.80 define them: a text is a pattern for the value, a list is a list of such elements.
SHAPES = {
    ("gateway.networking.k8s.io/v1", "HTTPRoute"): {
        "parentRefs": Required([{"name": Required(LABEL), "namespace": LABEL, "sectionName": HOST, "port": int}]),
        "hostnames": [HOST],
        "rules": Required([{
            "matches": [{"path": {"type": "Exact|PathPrefix", "value": Required(r"/[A-Za-z0-9/._~%-]*")}}],
            "filters": [{"type": Required("URLRewrite"), "urlRewrite": {
                "hostname": HOST, "path": {"type": Required("ReplacePrefixMatch"), "replacePrefixMatch": "/.*"}}}],
            "timeouts": {"request": DURATION, "backendRequest": DURATION},
            "backendRefs": [{"name": Required(HOST), "port": Required(int), "weight": int}]}])},
    ("monitoring.coreos.com/v1", "PodMonitor"): {
        "selector": Required({"matchLabels": ANY}),
        "podMetricsEndpoints": Required([{
            "port": LABEL, "path": "/.*", "interval": r"[0-9]+(ms|s|m)", "scheme": "https?",
            "authorization": {"type": "Bearer", "credentials": Required({"name": Required(HOST), "key": Required(".+")})},
            "relabelings": [{"sourceLabels": ["[a-zA-Z_][a-zA-Z0-9_]*"], "targetLabel": "[a-zA-Z_][a-zA-Z0-9_]*", "regex": ".+",
                             "action": "replace|keep|drop", "replacement": ".*"}]}])}}
NAMESPACE_LESS = {"Namespace", "PriorityClass"}

mistakes = []
def check(condition, text):
    if not condition: mistakes.append(text)

def match(value, shape, place):
    if isinstance(shape, Required): shape = shape.shape
    if shape is ANY: return
    if isinstance(shape, dict):
        if not isinstance(value, dict): return check(False, f"{place} is not an object")
        for name in value: check(name in shape, f"{place}.{name} is not a known field")
        for name, inner in shape.items():
            if name in value: match(value[name], inner, f"{place}.{name}")
            else: check(not isinstance(inner, Required), f"{place}.{name} is missing")
    elif isinstance(shape, list):
        if not isinstance(value, list): return check(False, f"{place} is not a list")
        for i, one in enumerate(value): match(one, shape[0], f"{place}[{i}]")
    elif shape is int: check(type(value) is int, f"{place} is not a whole number")
    else: check(isinstance(value, str) and re.fullmatch(shape, value), f"{place}: {value!r} does not match {shape}")

def selects(selector, labels): return bool(selector) and selector.items() <= labels.items()

def pod_of(one): return one["spec"]["template"] if one["kind"] in ("Job", "DaemonSet", "Deployment") else None

def judge(file):
    objects = [one for one in yaml.safe_load_all(open(file)) if one]
    by = lambda kind: [one for one in objects if one["kind"] == kind]
    names = [(one["kind"], one["metadata"]["name"]) for one in objects]
    check(len(set(names)) == len(names), f"{file}: two objects with one name")
    check(not by("Secret"), f"{file}: a Secret is rendered: secrets are references")
    text = open(file).read()
    check("REPLACE-ME" not in text and "localhost/" not in text, f"{file}: a placeholder, or an image without a registry")
    for one in objects:
        what = f"{file}: {one['kind']} {one['metadata']['name']}"
        check(one["kind"] in NAMESPACE_LESS or one["metadata"].get("namespace") == "rooms", f"{what}: not in the namespace rooms")
        if (shape := SHAPES.get((one["apiVersion"], one["kind"]))): match(one["spec"], shape, what)
    jobs = {job["metadata"]["name"]: job for job in by("Job")}
    labels = {name: job["spec"]["template"]["metadata"]["labels"] for name, job in jobs.items()}
    port_names, host_ports = set(), []
    for name, job in jobs.items():
        what, pod = f"{file}: Job {name}", job["spec"]["template"]["spec"]
        ports = pod["containers"][0]["ports"]
        port_names |= {port["name"] for port in ports}
        host_ports += [(port["hostPort"], port.get("protocol", "TCP")) for port in ports if "hostPort" in port]
        budgets = [one for one in by("PodDisruptionBudget") if selects(one["spec"]["selector"]["matchLabels"], labels[name])]
        check(len(budgets) == 1 and budgets[0]["spec"]["minAvailable"] == 1, f"{what}: not exactly one disruption budget")
        check(pod["terminationGracePeriodSeconds"] > 10, f"{what}: too little time to drain")
        check(not pod["automountServiceAccountToken"], f"{what}: gets a token of the API server")
        for volume in pod["volumes"]:
            if "configMap" in volume and not volume["configMap"]["name"].endswith("-files"):
                check(("ConfigMap", volume["configMap"]["name"]) in names, f"{what}: the ConfigMap of {volume['name']} is missing")
            if "persistentVolumeClaim" in volume:
                claim = volume["persistentVolumeClaim"]["claimName"]
                check(("PersistentVolumeClaim", claim) in names, f"{what}: there is no claim {claim}")
    if all("affinity" not in job["spec"]["template"]["spec"] for job in jobs.values()):
        check(len(set(host_ports)) == len(host_ports), f"{file}: two rooms with one host port")
    node_ports = [port["nodePort"] for one in by("Service") for port in one["spec"]["ports"] if "nodePort" in port]
    check(len(set(node_ports)) == len(node_ports), f"{file}: two rooms with one node port")
    for port in node_ports: check(30000 <= port <= 32767, f"{file}: {port} is not a port of NodePort services")
    services = {one["metadata"]["name"]: one for one in by("Service")}
    for name, service in services.items():
        chosen = [job for job in jobs if selects(service["spec"]["selector"], labels[job])]
        check(len(chosen) == 1, f"{file}: Service {name} selects {len(chosen)} rooms")
        for port in service["spec"]["ports"]:
            check(port["targetPort"] in port_names, f"{file}: Service {name}: no room has the port {port['targetPort']}")
    def backend(what, name, port):
        ports = services.get(name, {"spec": {"ports": []}})["spec"]["ports"]
        check(any(port in (one["port"], one["name"]) and one["name"] == "viewers" for one in ports), f"{what}: not the viewers of {name}")
    for route in by("HTTPRoute"):
        what = f"{file}: HTTPRoute {route['metadata']['name']}"
        for rule in route["spec"]["rules"]:
            for one in rule["backendRefs"]: backend(what, one["name"], one["port"])
        room = route["metadata"]["labels"]["app.kubernetes.io/instance"]
        check(route["spec"]["rules"][0]["matches"][0]["path"]["value"] == f"/{room}", f"{what}: the path is not the room's id")
    for ingress in by("Ingress"):
        what, rules = f"{file}: Ingress {ingress['metadata']['name']}", ingress["spec"]["rules"]
        for rule in rules:
            for path in rule["http"]["paths"]: backend(what, path["backend"]["service"]["name"], path["backend"]["service"]["port"]["name"])
        check({rule["host"] for rule in rules} == set(ingress["spec"]["tls"][0]["hosts"]), f"{what}: the certificate is for other hosts")
    for policy in by("NetworkPolicy"):
        for name in labels: check(selects(policy["spec"]["podSelector"]["matchLabels"], labels[name]), f"{file}: {policy['metadata']['name']} does not select {name}")
        # The addresses of clouds' metadata services.
        for block in [peer["ipBlock"] for rule in policy["spec"].get("egress", []) for peer in rule["to"]]:
            address = {"0.0.0.0/0": "169.254.169.254/32", "::/0": "fd00:ec2::254/128"}.get(block["cidr"])
            check(address in block.get("except", []), f"{file}: {policy['metadata']['name']} does not block {address}")
    for monitor in by("PodMonitor"):
        for name in labels: check(selects(monitor["spec"]["selector"]["matchLabels"], labels[name]), f"{file}: PodMonitor does not select {name}")
        if jobs: check(monitor["spec"]["podMetricsEndpoints"][0]["port"] in port_names, f"{file}: PodMonitor reads a port that no room has")
    for one in by("DaemonSet") + by("Deployment"):
        own = pod_of(one)["metadata"]["labels"]
        check(selects(one["spec"]["selector"]["matchLabels"], own), f"{file}: {one['metadata']['name']} does not select its pods")
        check(own["app.kubernetes.io/name"] != "tandem", f"{file}: {one['metadata']['name']} looks like a room")
    # Every pod of a Job, DaemonSet or Deployment must satisfy the pod security level "restricted", except that it may have host ports.
    for one in objects:
        if (template := pod_of(one)) is None: continue
        pod, what = template["spec"], f"{file}: {one['kind']} {one['metadata']['name']}"
        check(pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault", f"{what}: has rights")
        for container in pod["containers"] + pod.get("initContainers", []):
            context = container["securityContext"]
            check(context["readOnlyRootFilesystem"] and not context["allowPrivilegeEscalation"] and context["capabilities"]["drop"] == ["ALL"], f"{what}: has rights")
            check("cpu" not in container["resources"]["limits"], f"{what}: a limit of CPU would make frames late")
    return len(objects), {one["kind"] for one in objects}

kinds, count = set(), 0
for file in sys.argv[1:]:
    objects, found = judge(file)
    count, kinds = count + objects, kinds | found
for kind in ("Job", "Service", "ConfigMap", "HTTPRoute", "Ingress", "PodMonitor", "NetworkPolicy", "PodDisruptionBudget", "DaemonSet"):
    check(kind in kinds, f"no {kind} was rendered")
for text in mistakes: print(text, file=sys.stderr)
print(f"{count} objects in {len(sys.argv) - 1} renderings, {len(mistakes)} mistakes")
sys.exit(1 if mistakes else 0)
