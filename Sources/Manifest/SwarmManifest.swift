/// A room for Docker Swarm: a service of one replica on the machines' own network.
///
/// A replicated service and no job: a job of a machine that is lost is never started elsewhere.
package enum SwarmManifest {
    /// `stack.yml`, to be given to `docker stack deploy -c`, and the pipeline beside it.
    package static func files(_ request: ManifestRequest) -> [ManifestFile] {
        let needs = RoomNeeds(
            request,
            places: PortablePipeline.Places(
                secrets: "/run/secrets", files: RoomNeeds.filesDirectory, control: "127.0.0.1:8081"))
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
                "docker stack deploy -c stack.yml \(needs.name.label), where pipeline.json lies beside this file.",
                "The room listens on the machine itself: rooms that may share one need ports of their own.",
            ]
        if request.storage == nil {
            for place in needs.absoluteDirectories {
                head.append(
                    "\(place.path) lies in the container's memory, which has a limit: write a relative path, or give --storage."
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

    private static func service(_ needs: RoomNeeds, _ request: ManifestRequest) -> YAMLNode {
        let user = "\(RoomNeeds.user):\(RoomNeeds.user)"
        var entries = [
            YAMLEntry("image", .text(request.image)),
            YAMLEntry("command", .words(["run", "--ended-ok", RoomNeeds.pipelinePath])), YAMLEntry("user", .text(user)),
            YAMLEntry("read_only", true), YAMLEntry("working_dir", .text(RoomNeeds.workingDirectory)),
            YAMLEntry("cap_drop", .words(["ALL"])), YAMLEntry("networks", .words(["machine"])),
            YAMLEntry("stop_grace_period", .text("\(needs.graceSeconds)s")),
        ]
        if !needs.variables.isEmpty {
            let variables = needs.variables.map { name, file in
                // The client puts it in from its own environment; without it, it refuses.
                YAMLEntry(name, .text("${\(name):?\(file.hint)}"))
            }
            entries.append(
                YAMLEntry(
                    "environment", .map(variables),
                    "From the environment in which the stack is deployed, never from this file."))
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
                                YAMLEntry("uid", .text("\(RoomNeeds.user)")), YAMLEntry("mode", 256),
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

    private static func mounted(_ needs: RoomNeeds) -> [YAMLNode] {
        [.flow([YAMLEntry("source", "pipeline"), YAMLEntry("target", .text(RoomNeeds.pipelinePath))])]
            + needs.plainFiles.map { file in
                .flow([
                    YAMLEntry("source", .text(PortablePipeline.slug(file.name))),
                    YAMLEntry("target", .text("\(RoomNeeds.filesDirectory)/\(file.name)")),
                ])
            }
    }

    private static func configurations(_ needs: RoomNeeds) -> YAMLNode {
        let plain = needs.plainFiles.map { file in
            YAMLEntry(
                PortablePipeline.slug(file.name), .map([YAMLEntry("file", .text("./\(file.name)"))]),
                "A copy of \(file.origin ?? file.name) beside this file; up to 500 kB.")
        }
        return .map([YAMLEntry("pipeline", .flow([YAMLEntry("file", .text("./pipeline.json"))]))] + plain)
    }

    private static func secrets(_ needs: RoomNeeds) -> YAMLNode {
        .map(
            needs.secretFiles.map { file in
                YAMLEntry(
                    file.name,
                    .flow([
                        YAMLEntry("external", true), YAMLEntry("name", .text("\(needs.name.label)-\(file.name)")),
                    ]))
            })
    }

    private static func volumes(_ needs: RoomNeeds, _ request: ManifestRequest) -> [YAMLNode] {
        func directory(_ source: String?, _ target: String) -> YAMLNode {
            guard let source else {
                return .flow([YAMLEntry("type", "tmpfs"), YAMLEntry("target", .text(target))])
            }
            return .flow([
                YAMLEntry("type", "bind"), YAMLEntry("source", .text(source)), YAMLEntry("target", .text(target)),
            ])
        }
        // Memory that a tmpfs takes is the container's, which is killed for it: a window of an hour is gigabytes. A volume without a
        // name lies on the machine's disk and goes with the container; it is the user's where the image's directory is.
        let own =
            request.storage == nil
            ? YAMLNode.flow([YAMLEntry("type", "volume"), YAMLEntry("target", .text(RoomNeeds.workingDirectory))])
            : directory(request.storage, RoomNeeds.workingDirectory)
        return [own]
            + needs.absoluteDirectories.map { place in
                directory(request.storage.map { "\($0)/\(needs.name.label)/\(place.outputID)" }, place.path)
            } + [directory(nil, "/tmp")]
    }

    private static func deployment(_ needs: RoomNeeds) -> YAMLNode {
        let milli = needs.cost.peakMillicores
        let hundredths = (milli + 9) / 10
        let cores = "\(hundredths / 100).\(String(String(hundredths % 100 + 100).dropFirst()))"
        return .map([
            YAMLEntry("mode", "replicated"), YAMLEntry("replicas", 1),
            YAMLEntry(
                "restart_policy", .flow([YAMLEntry("condition", "on-failure"), YAMLEntry("delay", "1s")]),
                "Exit 0, a room that is over, is not started again; everything else is, elsewhere where need be."),
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
