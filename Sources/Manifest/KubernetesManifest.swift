/// A room for Kubernetes: a Job, since a room ends, and what it reads.
package enum KubernetesManifest {
    private static let secrets = "/run/secrets/tandem"
    /// Failures after which a Job is given up for good.
    ///
    /// Kubernetes holds two numbers against it, and forgets none as long as the Job lives: pods that failed, those a drain replaced
    /// among them, and restarts in place of the pod that is there. A room that lives a month and is moved or started again each hour
    /// has 720. Between two there are minutes soon: a room that never starts asks for little. No more than it takes, for failed pods
    /// stay listed where none is restarted in place.
    private static let mostFailures: Int64 = 1_000
    /// What a worker says that was told to stop while its room goes on.
    private static let drained: Int64 = 143

    /// One file with all objects, for `kubectl apply -f FILE` once the secrets are in it.
    package static func files(_ request: ManifestRequest) -> [ManifestFile] {
        let needs = RoomNeeds(
            request,
            places: PortablePipeline.Places(
                secrets: self.secrets, files: RoomNeeds.filesDirectory, control: "127.0.0.1:8081",
                diskBytes: self.ownMebibytes(request).map { $0 << 20 }))
        var objects: [YAMLNode] = []
        if needs.portable.files.contains(where: \.isSecret) { objects.append(self.secret(needs)) }
        objects.append(self.configuration(needs))
        if let service = self.service(needs) { objects.append(service) }
        objects.append(self.job(needs, request))
        var head = needs.head("Kubernetes")
        if !needs.plainFiles.isEmpty {
            let files = needs.plainFiles.map { "--from-file=\($0.name)=\(Self.shellWord($0.origin ?? $0.name))" }
            head.append("Its files: kubectl create configmap \(needs.name.label)-files \(files.joined(separator: " "))")
        }
        head += [
            "Exit 0, a room that is over, completes the Job. Exit 143, a worker that was drained or evicted, and every",
            "other code start the room again, elsewhere where the machine is gone: kubectl delete job stops it.",
        ]
        let text = head.map { "# \($0)\n" }.joined() + objects.map(\.document).joined(separator: "---\n")
        return [ManifestFile("\(needs.name.label).yaml", text)]
    }

    /// Mebibytes that the room's own directory may hold; `nil`: it has none of its own, or one without a limit.
    ///
    /// Twice the window: what leaves the playlists stays a while, and clips stay. A pod beyond its limit is evicted, so that the
    /// room is told of it, which gives up clips before. What grows as long as the room lives has none.
    static func ownMebibytes(_ request: ManifestRequest) -> Int64? {
        guard request.storage == nil, !request.pipeline.growsOnDisk else { return nil }
        return max(256, (request.cost.windowBytes * 2) >> 20, Int64(request.pipeline.limits.maxDiskBytes ?? 0) >> 20)
    }

    /// One word of a command line.
    private static func shellWord(_ text: String) -> String {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-".contains($0)) }
        if isPlain { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    private static func metadata(_ needs: RoomNeeds, name: String? = nil) -> YAMLNode {
        .map([YAMLEntry("name", .text(name ?? needs.name.label)), YAMLEntry("labels", self.labels(needs))])
    }

    private static func labels(_ needs: RoomNeeds) -> YAMLNode {
        .map([
            YAMLEntry("app.kubernetes.io/name", "tandem"),
            YAMLEntry("app.kubernetes.io/instance", .text(needs.name.value)),
        ])
    }

    private static func secret(_ needs: RoomNeeds) -> YAMLNode {
        let entries = needs.portable.files.filter(\.isSecret).map {
            YAMLEntry($0.name, .text(ManifestRequest.placeholder), $0.hint)
        }
        return .map([
            YAMLEntry("apiVersion", "v1"), YAMLEntry("kind", "Secret"), YAMLEntry("metadata", self.metadata(needs)),
            YAMLEntry("type", "Opaque"),
            YAMLEntry(
                "stringData", .map(entries),
                "Put the values in, or leave this object out and make it another way (kubectl create secret, an",
                "external secret store). They are nowhere else in this file."),
        ])
    }

    private static func configuration(_ needs: RoomNeeds) -> YAMLNode {
        .map([
            YAMLEntry("apiVersion", "v1"), YAMLEntry("kind", "ConfigMap"), YAMLEntry("metadata", self.metadata(needs)),
            YAMLEntry("data", .map([YAMLEntry("pipeline.json", .block(needs.pipelineText))])),
        ])
    }

    private static func service(_ needs: RoomNeeds) -> YAMLNode? {
        let ports = [needs.viewers, needs.control].compactMap(\.self).map { port in
            YAMLNode.flow([
                YAMLEntry("name", .text(port.name)), YAMLEntry("port", .number(Int64(port.number))),
                YAMLEntry("targetPort", .text(port.name)),
            ])
        }
        guard !ports.isEmpty else { return nil }
        return .map([
            YAMLEntry("apiVersion", "v1"), YAMLEntry("kind", "Service"), YAMLEntry("metadata", self.metadata(needs)),
            YAMLEntry("spec", .map([YAMLEntry("selector", self.labels(needs)), YAMLEntry("ports", .list(ports))])),
        ])
    }

    private static func job(_ needs: RoomNeeds, _ request: ManifestRequest) -> YAMLNode {
        var spec = [
            YAMLEntry(
                "backoffLimit", .number(self.mostFailures),
                "Counted as long as the room lives: its restarts, and without a podFailurePolicy its drains as well."),
            YAMLEntry("ttlSecondsAfterFinished", 600),
        ]
        if request.failsFast {
            spec.append(
                YAMLEntry(
                    "podReplacementPolicy", "Failed",
                    "The price of giving up at once: a room on a machine that is lost starts elsewhere only when its old",
                    "pod is gone for good."))
            spec.append(YAMLEntry("podFailurePolicy", self.failurePolicy))
        }
        spec.append(YAMLEntry("template", self.template(needs, request)))
        return .map([
            YAMLEntry("apiVersion", "batch/v1"), YAMLEntry("kind", "Job"), YAMLEntry("metadata", self.metadata(needs)),
            YAMLEntry("spec", .map(spec)),
        ])
    }

    /// What no second try mends ends the Job; what a machine's drain ended does not count.
    private static let failurePolicy: YAMLNode = .map([
        YAMLEntry(
            "rules",
            .list([
                .map([
                    YAMLEntry("action", "Ignore"),
                    YAMLEntry(
                        "onPodConditions",
                        .list([.flow([YAMLEntry("type", "DisruptionTarget"), YAMLEntry("status", "True")])])),
                ]),
                .map([
                    YAMLEntry("action", "Ignore"),
                    YAMLEntry(
                        "onExitCodes",
                        .flow([
                            YAMLEntry("containerName", "tandem"), YAMLEntry("operator", "In"),
                            YAMLEntry("values", .list([.number(Self.drained)])),
                        ]),
                        "Drained or deleted: the room goes on in the next pod."),
                ]),
                .map([
                    YAMLEntry("action", "FailJob"),
                    YAMLEntry(
                        "onExitCodes",
                        .flow([
                            YAMLEntry("containerName", "tandem"), YAMLEntry("operator", "In"),
                            YAMLEntry("values", .list([64, 65, 66, 73, 78])),
                        ])),
                ]),
            ]))
    ])

    private static func template(_ needs: RoomNeeds, _ request: ManifestRequest) -> YAMLNode {
        var metadata = [YAMLEntry("labels", self.labels(needs))]
        var annotations = [YAMLEntry("cluster-autoscaler.kubernetes.io/safe-to-evict", .text("false"))]
        if let control = needs.control {
            annotations.append(YAMLEntry("prometheus.io/scrape", .text("true"), "With the token of control.tokenFile."))
            annotations.append(YAMLEntry("prometheus.io/port", .text("\(control.number)")))
        }
        metadata.append(YAMLEntry("annotations", .map(annotations)))
        // Five minutes, the default, is far too long for a live room.
        let tolerations = ["not-ready", "unreachable"].map { condition in
            YAMLNode.flow([
                YAMLEntry("key", .text("node.kubernetes.io/\(condition)")), YAMLEntry("operator", "Exists"),
                YAMLEntry("effect", "NoExecute"), YAMLEntry("tolerationSeconds", 5),
            ])
        }
        let spec = [
            YAMLEntry("restartPolicy", request.failsFast ? "Never" : "OnFailure"),
            YAMLEntry("terminationGracePeriodSeconds", .number(Int64(needs.graceSeconds))),
            YAMLEntry("automountServiceAccountToken", false), YAMLEntry("enableServiceLinks", false),
            YAMLEntry("tolerations", .list(tolerations)),
            YAMLEntry(
                "securityContext",
                .map([
                    YAMLEntry("runAsNonRoot", true), YAMLEntry("runAsUser", .number(RoomNeeds.user)),
                    YAMLEntry("runAsGroup", .number(RoomNeeds.user)), YAMLEntry("fsGroup", .number(RoomNeeds.user)),
                    YAMLEntry("seccompProfile", .flow([YAMLEntry("type", "RuntimeDefault")])),
                ])),
            YAMLEntry("volumes", .list(self.volumes(needs, request))),
            YAMLEntry("containers", .list([self.container(needs, request)])),
        ]
        return .map([YAMLEntry("metadata", .map(metadata)), YAMLEntry("spec", .map(spec))])
    }
}
