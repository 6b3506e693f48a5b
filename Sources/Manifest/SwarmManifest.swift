/// Makes the Docker Swarm stack of a room: a service with one replica on the host network.
///
/// It is a replicated service and not a job, because Swarm does not restart a job elsewhere if its machine is lost.
package enum SwarmManifest {
    /// Returns `stack.yml` for `docker stack deploy -c`, and the pipeline file next to it.
    package static func files(_ request: ManifestRequest) -> [ManifestFile] {
        let needs = RoomDeployment(
            request,
            places: PortablePipeline.Places(
                secrets: "/run/secrets", files: RoomDeployment.filesDirectory, control: "127.0.0.1:8081"))
        let stack = YAMLNode.map(
            [
                YAMLEntry("version", .text("3.8")), YAMLEntry("services", ["room": self.service(needs, request)]),
                YAMLEntry("networks", ["machine": .flow(["external": true, "name": "host"])]),
                YAMLEntry("configs", self.configurations(needs)),
            ] + (needs.secretFiles.isEmpty ? [] : [YAMLEntry("secrets", self.secrets(needs))]))
        var head =
            needs.head("Docker Swarm") + [
                "docker stack deploy -c stack.yml \(needs.name.label), with pipeline.json in the same directory.",
                "The room uses the host network: rooms on the same machine need different ports.",
            ]
        if request.storage == nil {
            for place in needs.absoluteDirectories {
                head.append(
                    "\(place.path) is in the container's memory, which is limited: use a relative path, or --storage.")
            }
        }
        for file in needs.secretFiles {
            head.append("docker secret create \(needs.name.label)-\(file.name) -   # \(file.hint)")
        }
        return [
            ManifestFile("stack.yml", head.map { "# \($0)\n" }.joined() + stack.document),
            ManifestFile("pipeline.json", needs.pipelineText),
        ]
    }

    private static func service(_ needs: RoomDeployment, _ request: ManifestRequest) -> YAMLNode {
        let user = "\(RoomDeployment.user):\(RoomDeployment.user)"
        var entries = [
            YAMLEntry("image", .text(request.image)),
            YAMLEntry("command", .words(["run", "--ended-ok", RoomDeployment.pipelinePath])),
            YAMLEntry("user", .text(user)), YAMLEntry("read_only", true),
            YAMLEntry("working_dir", .text(RoomDeployment.workingDirectory)), YAMLEntry("cap_drop", .words(["ALL"])),
            YAMLEntry("networks", .words(["machine"])), YAMLEntry("stop_grace_period", .text("\(needs.graceSeconds)s")),
        ]
        if !needs.variables.isEmpty {
            let variables = needs.variables.map { name, file in
                // The docker client inserts the value from its own environment, and refuses if it is not set.
                YAMLEntry(name, .text("${\(name):?\(file.hint)}"))
            }
            entries.append(
                YAMLEntry(
                    "environment", .map(variables),
                    "From the environment of `docker stack deploy`, never from this file."))
        }
        entries.append(YAMLEntry("configs", .list(self.mounted(needs))))
        if !needs.secretFiles.isEmpty {
            entries.append(
                YAMLEntry(
                    "secrets",
                    .list(
                        needs.secretFiles.map { file in
                            .flow([
                                "source": .text(file.name), "target": .text(file.name), "uid": "\(RoomDeployment.user)",
                                "mode": 256,
                            ])
                        })))
        }
        entries.append(YAMLEntry("volumes", .list(self.volumes(needs, request))))
        entries.append(
            YAMLEntry(
                "healthcheck",
                [
                    "test": .words(["CMD", "tandem", "healthcheck", needs.controlAddress]), "interval": "5s",
                    "timeout": "3s", "retries": 3, "start_period": "30s",
                ]))
        entries.append(YAMLEntry("deploy", self.deployment(needs)))
        return .map(entries)
    }

    private static func mounted(_ needs: RoomDeployment) -> [YAMLNode] {
        [.flow(["source": "pipeline", "target": .text(RoomDeployment.pipelinePath)])]
            + needs.plainFiles.map { file in
                .flow([
                    "source": .text(PortablePipeline.slug(file.name)),
                    "target": "\(RoomDeployment.filesDirectory)/\(file.name)",
                ])
            }
    }

    private static func configurations(_ needs: RoomDeployment) -> YAMLNode {
        let plain = needs.plainFiles.map { file in
            YAMLEntry(
                PortablePipeline.slug(file.name), ["file": "./\(file.name)"],
                "Copy \(file.origin ?? file.name) to the directory of this file; at most 500 kB.")
        }
        return .map([YAMLEntry("pipeline", .flow(["file": "./pipeline.json"]))] + plain)
    }

    private static func secrets(_ needs: RoomDeployment) -> YAMLNode {
        .map(
            needs.secretFiles.map { file in
                YAMLEntry(file.name, .flow(["external": true, "name": "\(needs.name.label)-\(file.name)"]))
            })
    }

    private static func volumes(_ needs: RoomDeployment, _ request: ManifestRequest) -> [YAMLNode] {
        func directory(_ source: String?, _ target: String) -> YAMLNode {
            guard let source else { return .flow(["type": "tmpfs", "target": .text(target)]) }
            return .flow(["type": "bind", "source": .text(source), "target": .text(target)])
        }
        // A tmpfs uses the container's memory, and exceeding the memory limit kills the container; a playlist window of
        // an hour takes gigabytes. An anonymous volume is on the machine's disk and is deleted with the container. The
        // volume belongs to the user if the image has the directory.
        let own =
            request.storage == nil
            ? YAMLNode.flow(["type": "volume", "target": .text(RoomDeployment.workingDirectory)])
            : directory(request.storage, RoomDeployment.workingDirectory)
        return [own]
            + needs.absoluteDirectories.map { place in
                directory(request.storage.map { "\($0)/\(needs.name.label)/\(place.outputID)" }, place.path)
            } + [directory(nil, "/tmp")]
    }

    private static func deployment(_ needs: RoomDeployment) -> YAMLNode {
        let milli = needs.cost.peakMillicores
        let hundredths = (milli + 9) / 10
        let cores = "\(hundredths / 100).\(String(String(hundredths % 100 + 100).dropFirst()))"
        return [
            "mode": "replicated", "replicas": 1,
            "restart_policy": .noted(
                .flow(["condition": "on-failure", "delay": "1s"]),
                "Exit code 0 (the room has ended) is not restarted; any other exit is, on another machine if needed."),
            "update_config": .flow(["order": "stop-first"]),
            "resources": [
                "reservations": .flow(["cpus": .text(cores), "memory": "\(needs.memoryMiB)M"]),
                "limits": .flow(["memory": "\(needs.memoryLimitMiB)M"]),
            ],
        ]
    }
}
