extension KubernetesManifest {
    /// Variable with the address of the pod's node, whose host ports publishers use.
    static let nodeAddress = "NODE_IP"

    static func volumes(_ needs: RoomDeployment, _ request: ManifestRequest) -> [YAMLNode] {
        let label = needs.name.label
        var volumes: [YAMLNode] = [.flow(["name": "pipeline", "configMap": .flow(["name": .text(label)])])]
        if !needs.secretFiles.isEmpty {
            let items = needs.secretFiles.map { YAMLNode.flow(["key": .text($0.name), "path": .text($0.name)]) }
            volumes.append([
                "name": "secrets",
                "secret": ["secretName": .text(self.secretName(needs, request)), "items": .list(items)],
            ])
        }
        if !needs.plainFiles.isEmpty {
            volumes.append(.flow(["name": "files", "configMap": .flow(["name": "\(label)-files"])]))
        }
        if let claim = request.storage {
            volumes.append(.flow(["name": "rooms", "persistentVolumeClaim": .flow(["claimName": .text(claim)])]))
        } else {
            let limit = self.ownMebibytes(request).map { [YAMLEntry("sizeLimit", .text("\($0)Mi"))] } ?? []
            volumes.append([
                "name": "rooms",
                "emptyDir": .noted(
                    .flow(.map(limit)),
                    "Lost with the pod: a successor on another node starts a new session. With a claim that all",
                    "nodes can mount (--storage CLAIM), it continues the same playlists."),
            ])
        }
        volumes.append(.flow(["name": "tmp", "emptyDir": .flow(["medium": "Memory", "sizeLimit": "16Mi"])]))
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
            "name": "POD_NAME", "valueFrom": .flow(["fieldRef": .flow(["fieldPath": "metadata.name"])]),
        ])
        let variables = needs.variables.map { name, file in
            YAMLNode.map([
                YAMLEntry("name", .text(name)),
                YAMLEntry(
                    "valueFrom",
                    [
                        "secretKeyRef": .flow([
                            "name": .text(self.secretName(needs, request)), "key": .text(file.name),
                        ])
                    ]),
            ])
        }
        let node = YAMLNode.flow([
            "name": .text(self.nodeAddress), "valueFrom": .flow(["fieldRef": .flow(["fieldPath": "status.hostIP"])]),
        ])
        let isNeeded = needs.pipeline.ingest.webRTC?.publicAddressesEnv == self.nodeAddress
        entries.append(YAMLEntry("env", .list([podName] + (isNeeded ? [node] : []) + variables)))
        let ports = self.ports(needs)
        if !ports.isEmpty { entries.append(YAMLEntry("ports", .list(ports))) }
        entries += [
            YAMLEntry(
                "resources",
                [
                    "requests": .flow(["cpu": "\(needs.cost.peakMillicores)m", "memory": "\(needs.memoryMiB)Mi"]),
                    "limits": .flow(["memory": "\(needs.memoryLimitMiB)Mi"]),
                ], "No CPU limit: throttling would make frames late."),
            YAMLEntry("startupProbe", self.probe(needs, "started", "startupz", period: 1, failures: 30)),
            YAMLEntry("readinessProbe", self.probe(needs, "ready", "readyz", period: 5, failures: 3)),
            YAMLEntry("livenessProbe", self.probe(needs, nil, "livez", period: 5, failures: 3)),
            YAMLEntry("volumeMounts", .list(self.mounts(needs))),
            YAMLEntry(
                "securityContext",
                [
                    "readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false,
                    "capabilities": .flow(["drop": .words(["ALL"])]),
                ]),
        ]
        return .map(entries)
    }

    private static func ports(_ needs: RoomDeployment) -> [YAMLNode] {
        let ingestPorts = needs.ingestPorts.map { port -> YAMLNode in
            // A host port: publishers and WebRTC viewers reach it directly, and the scheduler never places two rooms with the same port on
            // one node.
            var entries = [
                YAMLEntry("name", .text(port.name)), YAMLEntry("containerPort", .number(Int64(port.number))),
                YAMLEntry("hostPort", .number(Int64(port.number))),
            ]
            if port.isUDP { entries.append(YAMLEntry("protocol", "UDP")) }
            return .flow(.map(entries))
        }
        let inside = [needs.viewers, needs.control].compactMap(\.self).map { port in
            YAMLNode.flow(["name": .text(port.name), "containerPort": .number(Int64(port.number))])
        }
        return ingestPorts + inside
    }

    /// Returns an HTTP probe if the kubelet can reach the control port; otherwise a probe that runs
    /// `tandem healthcheck`.
    private static func probe(_ needs: RoomDeployment, _ flag: String?, _ path: String, period: Int64, failures: Int64)
        -> YAMLNode
    {
        let times = [
            YAMLEntry("periodSeconds", .number(period)), YAMLEntry("failureThreshold", .number(failures)),
            YAMLEntry("timeoutSeconds", 3),
        ]
        guard needs.control != nil else {
            let command = ["tandem", "healthcheck", needs.controlAddress] + (flag.map { ["--\($0)"] } ?? [])
            return .map([YAMLEntry("exec", ["command": .words(command)])] + times)
        }
        let request = YAMLNode.flow(["path": "/\(path)", "port": "control"])
        return .map([YAMLEntry("httpGet", request)] + times)
    }

    private static func mounts(_ needs: RoomDeployment) -> [YAMLNode] {
        func mount(_ name: String, _ path: String, readOnly: Bool = false, part: String? = nil) -> YAMLNode {
            var entries = [YAMLEntry("name", .text(name)), YAMLEntry("mountPath", .text(path))]
            if let part { entries.append(YAMLEntry("subPath", .text(part))) }
            if readOnly { entries.append(YAMLEntry("readOnly", true)) }
            return .flow(.map(entries))
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
