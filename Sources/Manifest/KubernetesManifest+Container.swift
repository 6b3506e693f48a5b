extension KubernetesManifest {
    static func volumes(_ needs: RoomDeployment, _ request: ManifestRequest) -> [YAMLNode] {
        let label = needs.name.label
        var volumes: [YAMLNode] = [
            .flow([YAMLEntry("name", "pipeline"), YAMLEntry("configMap", .flow([YAMLEntry("name", .text(label))]))])
        ]
        if !needs.secretFiles.isEmpty {
            let items = needs.secretFiles.map {
                YAMLNode.flow([YAMLEntry("key", .text($0.name)), YAMLEntry("path", .text($0.name))])
            }
            volumes.append(
                .map([
                    YAMLEntry("name", "secrets"),
                    YAMLEntry(
                        "secret",
                        .map([
                            YAMLEntry("secretName", .text(self.secretName(needs, request))),
                            YAMLEntry("items", .list(items)),
                        ])),
                ]))
        }
        if !needs.plainFiles.isEmpty {
            volumes.append(
                .flow([
                    YAMLEntry("name", "files"),
                    YAMLEntry("configMap", .flow([YAMLEntry("name", .text("\(label)-files"))])),
                ]))
        }
        if let claim = request.storage {
            volumes.append(
                .flow([
                    YAMLEntry("name", "rooms"),
                    YAMLEntry("persistentVolumeClaim", .flow([YAMLEntry("claimName", .text(claim))])),
                ]))
        } else {
            let limit = self.ownMebibytes(request).map { [YAMLEntry("sizeLimit", .text("\($0)Mi"))] } ?? []
            volumes.append(
                .map([
                    YAMLEntry("name", "rooms"),
                    YAMLEntry(
                        "emptyDir", .flow(limit),
                        "Lost with the pod: a successor on another node starts a new session. With a claim that all",
                        "nodes can mount (--storage CLAIM), it continues the same playlists."),
                ]))
        }
        volumes.append(
            .flow([
                YAMLEntry("name", "tmp"),
                YAMLEntry("emptyDir", .flow([YAMLEntry("medium", "Memory"), YAMLEntry("sizeLimit", "16Mi")])),
            ]))
        return volumes
    }

    static func container(_ needs: RoomDeployment, _ request: ManifestRequest) -> YAMLNode {
        var entries = [
            YAMLEntry("name", "tandem"), YAMLEntry("image", .text(request.image)),
            YAMLEntry("args", .words(["run", "--ended-ok", RoomDeployment.pipelinePath])),
            YAMLEntry("workingDir", .text(RoomDeployment.workingDirectory)),
        ]
        // The name under which the worker's log lines are found.
        let podName = YAMLNode.flow([
            YAMLEntry("name", "POD_NAME"),
            YAMLEntry(
                "valueFrom", .flow([YAMLEntry("fieldRef", .flow([YAMLEntry("fieldPath", "metadata.name")]))])),
        ])
        let variables = needs.variables.map { name, file in
            YAMLNode.map([
                YAMLEntry("name", .text(name)),
                YAMLEntry(
                    "valueFrom",
                    .map([
                        YAMLEntry(
                            "secretKeyRef",
                            .flow([
                                YAMLEntry("name", .text(self.secretName(needs, request))),
                                YAMLEntry("key", .text(file.name)),
                            ]))
                    ])),
            ])
        }
        entries.append(YAMLEntry("env", .list([podName] + variables)))
        let ports = self.ports(needs)
        if !ports.isEmpty { entries.append(YAMLEntry("ports", .list(ports))) }
        entries += [
            YAMLEntry(
                "resources",
                .map([
                    YAMLEntry(
                        "requests",
                        .flow([
                            YAMLEntry("cpu", .text("\(needs.cost.peakMillicores)m")),
                            YAMLEntry("memory", .text("\(needs.memoryMiB)Mi")),
                        ])),
                    YAMLEntry("limits", .flow([YAMLEntry("memory", .text("\(needs.memoryLimitMiB)Mi"))])),
                ]), "No CPU limit: throttling would make frames late."),
            YAMLEntry("startupProbe", self.probe(needs, "started", "startupz", period: 1, failures: 30)),
            YAMLEntry("readinessProbe", self.probe(needs, "ready", "readyz", period: 5, failures: 3)),
            YAMLEntry("livenessProbe", self.probe(needs, nil, "livez", period: 5, failures: 3)),
            YAMLEntry("volumeMounts", .list(self.mounts(needs))),
            YAMLEntry(
                "securityContext",
                .map([
                    YAMLEntry("readOnlyRootFilesystem", true), YAMLEntry("allowPrivilegeEscalation", false),
                    YAMLEntry("capabilities", .flow([YAMLEntry("drop", .words(["ALL"]))])),
                ])),
        ]
        return .map(entries)
    }

    private static func ports(_ needs: RoomDeployment) -> [YAMLNode] {
        let doors = needs.doors.map { port -> YAMLNode in
            // A host port: publishers reach it directly, and the scheduler never places two rooms with the same port on
            // one node.
            var entries = [
                YAMLEntry("name", .text(port.name)), YAMLEntry("containerPort", .number(Int64(port.number))),
                YAMLEntry("hostPort", .number(Int64(port.number))),
            ]
            if port.isUDP { entries.append(YAMLEntry("protocol", "UDP")) }
            return .flow(entries)
        }
        let inside = [needs.viewers, needs.control].compactMap(\.self).map { port in
            YAMLNode.flow([
                YAMLEntry("name", .text(port.name)), YAMLEntry("containerPort", .number(Int64(port.number))),
            ])
        }
        return doors + inside
    }

    /// An HTTP probe if the kubelet can reach the control port; otherwise the healthcheck command.
    private static func probe(
        _ needs: RoomDeployment, _ flag: String?, _ path: String, period: Int64, failures: Int64
    ) -> YAMLNode {
        let times = [
            YAMLEntry("periodSeconds", .number(period)), YAMLEntry("failureThreshold", .number(failures)),
            YAMLEntry("timeoutSeconds", 3),
        ]
        guard needs.control != nil else {
            let command = ["tandem", "healthcheck", needs.controlAddress] + (flag.map { ["--\($0)"] } ?? [])
            return .map([YAMLEntry("exec", .map([YAMLEntry("command", .words(command))]))] + times)
        }
        let request = YAMLNode.flow([YAMLEntry("path", .text("/\(path)")), YAMLEntry("port", "control")])
        return .map([YAMLEntry("httpGet", request)] + times)
    }

    private static func mounts(_ needs: RoomDeployment) -> [YAMLNode] {
        func mount(_ name: String, _ path: String, readOnly: Bool = false, part: String? = nil) -> YAMLNode {
            var entries = [YAMLEntry("name", .text(name)), YAMLEntry("mountPath", .text(path))]
            if let part { entries.append(YAMLEntry("subPath", .text(part))) }
            if readOnly { entries.append(YAMLEntry("readOnly", true)) }
            return .flow(entries)
        }
        var mounts = [mount("pipeline", "/etc/tandem", readOnly: true)]
        if !needs.secretFiles.isEmpty { mounts.append(mount("secrets", "/run/secrets/tandem", readOnly: true)) }
        if !needs.plainFiles.isEmpty { mounts.append(mount("files", RoomDeployment.filesDirectory, readOnly: true)) }
        mounts.append(mount("rooms", RoomDeployment.workingDirectory))
        for directory in needs.absoluteDirectories {
            mounts.append(mount("rooms", directory.path, part: "\(needs.name.label)/\(directory.outputID)"))
        }
        mounts.append(mount("tmp", "/tmp"))
        return mounts
    }
}
