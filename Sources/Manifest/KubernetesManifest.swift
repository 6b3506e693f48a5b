/// Makes the Kubernetes manifest of a room: a Job, because a room ends, a ConfigMap with the room's configuration, and
/// a Service for the ports of viewers and of the control API, if it has any. If the room has secrets, the Job refers to
/// a Secret by name. The manifest contains this Secret, with placeholders as values, only if
/// ``ManifestRequest/printsSecret`` is true.
package enum KubernetesManifest {
    private static let secrets = "/run/secrets/tandem"
    /// The Job's `backoffLimit`: number of failures after which Kubernetes gives up a Job.
    ///
    /// Kubernetes counts two numbers for the whole life of the Job: failed pods, including those replaced by a drain,
    /// and restarts within the current pod. A room that lives a month and is moved or restarted every hour has 720. The
    /// back-off between restarts soon reaches minutes, so a room that never starts costs little. The limit is not
    /// higher than needed, because failed pods stay listed if the restart policy is not OnFailure.
    private static let mostFailures: Int64 = 1_000
    /// Exit code of a worker that was asked to stop while its room continues.
    private static let drained: Int64 = 143

    /// Returns one file with all objects, for `kubectl apply -f FILE`. Unless ``ManifestRequest/printsSecret`` is true,
    /// the file only names the Secret, so that a room waits until the Secret exists, and applying the file again does
    /// not change the secrets.
    package static func files(_ request: ManifestRequest) -> [ManifestFile] {
        let needs = RoomDeployment(
            request,
            places: PortablePipeline.Places(
                secrets: self.secrets, files: RoomDeployment.filesDirectory, control: "127.0.0.1:8081",
                diskBytes: self.ownMebibytes(request).map { $0 << 20 }, nodeAddress: self.nodeAddress))
        var objects: [YAMLNode] = []
        let hasSecrets = needs.portable.files.contains(where: \.isSecret)
        if hasSecrets, request.printsSecret { objects.append(self.secret(needs, request)) }
        objects.append(self.configuration(needs))
        if let service = self.service(needs) { objects.append(service) }
        objects.append(self.job(needs, request))
        var head = needs.head("Kubernetes")
        if !needs.plainFiles.isEmpty {
            let files = needs.plainFiles.map { "--from-file=\($0.name)=\(Self.shellWord($0.origin ?? $0.name))" }
            head.append("Its files: kubectl create configmap \(needs.name.label)-files \(files.joined(separator: " "))")
        }
        if hasSecrets, !request.printsSecret { head += self.secretCommand(needs, request) }
        head.append(
            "Exit code 0 (the room has ended) completes the Job. After exit code 143 (drained or evicted) and every")
        head +=
            request.failsFast
            ? [
                "other code except those of podFailurePolicy, which fail the Job, the room is started again, on another",
                "node if necessary. kubectl delete job stops it.",
            ]
            : ["other code, the room is started again, on another node if necessary. kubectl delete job stops it."]
        let text = head.map { "# \($0)\n" }.joined() + objects.map(\.document).joined(separator: "---\n")
        return [ManifestFile("\(needs.name.label).yaml", text)]
    }

    /// Returns the size limit in MiB of the room's own directory; `nil` if the room uses shared storage, or must not
    /// have a limit.
    ///
    /// The limit is twice the window, because segments stay for a while after they leave the playlists, and clips are
    /// kept; at least 256 MiB and `limits.maxDiskBytes`. A pod beyond its limit is evicted; the room knows the limit,
    /// so that it stops making clips first. There is no limit for output that grows during the life of the room.
    static func ownMebibytes(_ request: ManifestRequest) -> Int64? {
        guard request.storage == nil, !request.pipeline.growsOnDisk else { return nil }
        return max(256, (request.cost.windowBytes * 2) >> 20, Int64(request.pipeline.limits.maxDiskBytes ?? 0) >> 20)
    }

    /// Returns one word of a shell command, in single quotes if necessary.
    private static func shellWord(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-".contains($0)) }
        if isPlain { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    private static func metadata(_ needs: RoomDeployment, name: String? = nil) -> YAMLNode {
        ["name": .text(name ?? needs.name.label), "labels": self.labels(needs)]
    }

    private static func labels(_ needs: RoomDeployment) -> YAMLNode {
        ["app.kubernetes.io/name": "tandem", "app.kubernetes.io/instance": .text(needs.name.value)]
    }

    /// Returns the name of the Secret that the room reads.
    static func secretName(_ needs: RoomDeployment, _ request: ManifestRequest) -> String {
        request.secretName ?? needs.name.label
    }

    /// Returns comment lines with the command that creates the Secret, for the head of the file.
    private static func secretCommand(_ needs: RoomDeployment, _ request: ManifestRequest) -> [String] {
        let secrets = needs.portable.files.filter(\.isSecret)
        let name = self.secretName(needs, request)
        let files = secrets.map { file in
            "    --from-file=" + file.name + (file.origin.map { "=\(Self.shellWord($0))" } ?? "")
        }
        return [
            "This file only names the secrets: without the Secret \(name) the room waits. Create it with the command",
            "below, or let an external secret store do that. A value that comes from no file goes into a file of the",
            "key's name, without a line break at the end.",
        ] + secrets.filter { $0.origin == nil }.map { "  \($0.name): \($0.hint)" }
            + ["  kubectl create secret generic \(self.shellWord(name)) \\"]
            + files.enumerated().map { $1 + ($0 + 1 < files.count ? " \\" : "") }
    }

    private static func secret(_ needs: RoomDeployment, _ request: ManifestRequest) -> YAMLNode {
        let entries = needs.portable.files.filter(\.isSecret).map {
            YAMLEntry($0.name, .text(ManifestRequest.placeholder), $0.hint)
        }
        return [
            "apiVersion": "v1", "kind": "Secret",
            "metadata": self.metadata(needs, name: self.secretName(needs, request)), "type": "Opaque",
            "stringData": .noted(.map(entries), "Insert the values. They are nowhere else in this file."),
        ]
    }

    private static func configuration(_ needs: RoomDeployment) -> YAMLNode {
        [
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": self.metadata(needs),
            "data": ["pipeline.json": .block(needs.pipelineText)],
        ]
    }

    private static func service(_ needs: RoomDeployment) -> YAMLNode? {
        let ports = [needs.viewers, needs.control].compactMap(\.self).map { port in
            YAMLNode.flow([
                "name": .text(port.name), "port": .number(Int64(port.number)), "targetPort": .text(port.name),
            ])
        }
        guard !ports.isEmpty else { return nil }
        return [
            "apiVersion": "v1", "kind": "Service", "metadata": self.metadata(needs),
            "spec": ["selector": self.labels(needs), "ports": .list(ports)],
        ]
    }

    private static func job(_ needs: RoomDeployment, _ request: ManifestRequest) -> YAMLNode {
        var spec = [
            YAMLEntry(
                "backoffLimit", .number(self.mostFailures),
                "Counts all restarts during the life of the room, and without a podFailurePolicy its drains as well."),
            YAMLEntry("ttlSecondsAfterFinished", 600),
        ]
        if request.failsFast {
            spec.append(
                YAMLEntry(
                    "podReplacementPolicy", "Failed",
                    "A consequence of failing fast: if a node is lost, the room starts on another one only after its",
                    "old pod has been deleted."))
            spec.append(YAMLEntry("podFailurePolicy", self.failurePolicy))
        }
        spec.append(YAMLEntry("template", self.template(needs, request)))
        return ["apiVersion": "batch/v1", "kind": "Job", "metadata": self.metadata(needs), "spec": .map(spec)]
    }

    /// The `podFailurePolicy`: it ends the Job on exit codes that a restart cannot fix, and does not count exits
    /// because of a drained node.
    private static let failurePolicy: YAMLNode = [
        "rules": [
            ["action": "Ignore", "onPodConditions": [.flow(["type": "DisruptionTarget", "status": "True"])]],
            [
                "action": "Ignore",
                "onExitCodes": .noted(
                    .flow(["containerName": "tandem", "operator": "In", "values": [.number(Self.drained)]]),
                    "Drained or deleted: the room continues in the next pod."),
            ],
            [
                "action": "FailJob",
                "onExitCodes": .flow(["containerName": "tandem", "operator": "In", "values": [64, 65, 66, 73, 78]]),
            ],
        ]
    ]

    private static func template(_ needs: RoomDeployment, _ request: ManifestRequest) -> YAMLNode {
        var metadata = [YAMLEntry("labels", self.labels(needs))]
        var annotations = [YAMLEntry("cluster-autoscaler.kubernetes.io/safe-to-evict", .text("false"))]
        if let control = needs.control {
            annotations.append(
                YAMLEntry(
                    "prometheus.io/scrape", .text("true"), "Scraping needs the read token (control.readTokenFile)."))
            annotations.append(YAMLEntry("prometheus.io/port", .text("\(control.number)")))
        }
        metadata.append(YAMLEntry("annotations", .map(annotations)))
        // The default of five minutes is far too long for a live room.
        let tolerations = ["not-ready", "unreachable"].map { condition in
            YAMLNode.flow([
                "key": "node.kubernetes.io/\(condition)", "operator": "Exists", "effect": "NoExecute",
                "tolerationSeconds": 5,
            ])
        }
        let spec: YAMLNode = [
            "restartPolicy": request.failsFast ? "Never" : "OnFailure",
            "terminationGracePeriodSeconds": .number(Int64(needs.graceSeconds)),
            "automountServiceAccountToken": false, "enableServiceLinks": false, "tolerations": .list(tolerations),
            "securityContext": [
                "runAsNonRoot": true, "runAsUser": .number(RoomDeployment.user),
                "runAsGroup": .number(RoomDeployment.user), "fsGroup": .number(RoomDeployment.user),
                "seccompProfile": .flow(["type": "RuntimeDefault"]),
            ],
            "volumes": .list(self.volumes(needs, request)), "containers": [self.container(needs, request)],
        ]
        return ["metadata": .map(metadata), "spec": spec]
    }
}
