/// Makes the Docker Swarm stack of a room: a service with one replica on the host network.
///
/// It is a replicated service and not a job, because Swarm does not restart a job elsewhere if its machine is lost.
package enum SwarmManifest {
    /// `stack.yml` for `docker stack deploy -c`, and the pipeline file next to it.
    package static func files(_ request: ManifestRequest) -> [ManifestFile] {
        let needs = RoomDeployment(
            request,
            places: PortablePipeline.Places(
                secrets: "/run/secrets", files: RoomDeployment.filesDirectory, control: "127.0.0.1:8081"))
        let stack = YAMLNode.map(
            [
                YAMLEntry("version", .text("3.8")),
                YAMLEntry("services", .map([YAMLEntry("room", self.service(needs, request))])),
                YAMLEntry(
                    "networks",
                    .map([
                        YAMLEntry(
                            "machine", .flow([YAMLEntry("external", true), YAMLEntry("name", "host")]))
                    ])), YAMLEntry("configs", self.configurations(needs)),
            ] + (needs.secretFiles.isEmpty ? [] : [YAMLEntry("secrets", self.secrets(needs))]))
        var head =
            needs.head("Docker Swarm") + [
                "docker stack deploy -c stack.yml \(needs.name.label), with pipeline.json in the same directory.",
                "The room uses the host network: rooms on the same machine need different ports.",
            ]
        if request.storage == nil {
            for place in needs.absoluteDirectories {
                head.append(
                    "\(place.path) is in the container's memory, which is limited: use a relative path, or --storage."
                )
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
            YAMLEntry("user", .text(user)),
            YAMLEntry("read_only", true), YAMLEntry("working_dir", .text(RoomDeployment.workingDirectory)),
            YAMLEntry("cap_drop", .words(["ALL"])), YAMLEntry("networks", .words(["machine"])),
            YAMLEntry("stop_grace_period", .text("\(needs.graceSeconds)s")),
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
                                YAMLEntry("source", .text(file.name)), YAMLEntry("target", .text(file.name)),
                                YAMLEntry("uid", .text("\(RoomDeployment.user)")), YAMLEntry("mode", 256),
                            ])
                        })))
        }
        entries.append(YAMLEntry("volumes", .list(self.volumes(needs, request))))
        entries.append(
            YAMLEntry(
                "healthcheck",
                .map([
                    YAMLEntry("test", .words(["CMD", "tandem", "healthcheck", needs.controlAddress])),
                    YAMLEntry("interval", "5s"), YAMLEntry("timeout", "3s"), YAMLEntry("retries", 3),
                    YAMLEntry("start_period", "30s"),
                ])))
        entries.append(YAMLEntry("deploy", self.deployment(needs)))
        return .map(entries)
    }

    private static func mounted(_ needs: RoomDeployment) -> [YAMLNode] {
        [.flow([YAMLEntry("source", "pipeline"), YAMLEntry("target", .text(RoomDeployment.pipelinePath))])]
            + needs.plainFiles.map { file in
                .flow([
                    YAMLEntry("source", .text(PortablePipeline.slug(file.name))),
                    YAMLEntry("target", .text("\(RoomDeployment.filesDirectory)/\(file.name)")),
                ])
            }
    }

    private static func configurations(_ needs: RoomDeployment) -> YAMLNode {
        let plain = needs.plainFiles.map { file in
            YAMLEntry(
                PortablePipeline.slug(file.name), .map([YAMLEntry("file", .text("./\(file.name)"))]),
                "Copy \(file.origin ?? file.name) to the directory of this file; at most 500 kB.")
        }
        return .map([YAMLEntry("pipeline", .flow([YAMLEntry("file", .text("./pipeline.json"))]))] + plain)
    }

    private static func secrets(_ needs: RoomDeployment) -> YAMLNode {
        .map(
            needs.secretFiles.map { file in
                YAMLEntry(
                    file.name,
                    .flow([
                        YAMLEntry("external", true), YAMLEntry("name", .text("\(needs.name.label)-\(file.name)")),
                    ]))
            })
    }

    private static func volumes(_ needs: RoomDeployment, _ request: ManifestRequest) -> [YAMLNode] {
        func directory(_ source: String?, _ target: String) -> YAMLNode {
            guard let source else {
                return .flow([YAMLEntry("type", "tmpfs"), YAMLEntry("target", .text(target))])
            }
            return .flow([
                YAMLEntry("type", "bind"), YAMLEntry("source", .text(source)), YAMLEntry("target", .text(target)),
            ])
        }
        // A tmpfs uses the container's memory, and exceeding its limit kills the container; a window of an hour is
        // gigabytes. An anonymous volume is on the machine's disk and is deleted with the container. It belongs to the
        // user if the image has the directory.
        let own =
            request.storage == nil
            ? YAMLNode.flow([YAMLEntry("type", "volume"), YAMLEntry("target", .text(RoomDeployment.workingDirectory))])
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
        return .map([
            YAMLEntry("mode", "replicated"), YAMLEntry("replicas", 1),
            YAMLEntry(
                "restart_policy", .flow([YAMLEntry("condition", "on-failure"), YAMLEntry("delay", "1s")]),
                "Exit code 0 (the room has ended) is not restarted; any other exit is, on another machine if needed."
            ),
            YAMLEntry("update_config", .flow([YAMLEntry("order", "stop-first")])),
            YAMLEntry(
                "resources",
                .map([
                    YAMLEntry(
                        "reservations",
                        .flow([YAMLEntry("cpus", .text(cores)), YAMLEntry("memory", .text("\(needs.memoryMiB)M"))])),
                    YAMLEntry("limits", .flow([YAMLEntry("memory", .text("\(needs.memoryLimitMiB)M"))])),
                ])),
        ])
    }
}
