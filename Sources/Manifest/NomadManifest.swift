/// Makes the Nomad job of a room: a batch job, because a room ends.
///
/// It follows Nomad's job specification, but has not been tested with a Nomad server.
package enum NomadManifest {
    package static func files(_ request: ManifestRequest) -> [ManifestFile] {
        let needs = RoomDeployment(
            request,
            places: PortablePipeline.Places(
                // /tmp in the container is read-only, like the rest of the image.
                secrets: "/secrets", files: "/local/files", control: "127.0.0.1:8081",
                socket: "unix:/alloc/tmp/control.sock",
                // The address of the host for the port of this name.
                nodeAddress: "NOMAD_IP_webrtc"))
        let directory = request.storage == nil ? "/alloc/data" : RoomDeployment.workingDirectory
        var lines = needs.head("Nomad").map { "# \($0)" }
        // One command, because a second one for the same variable is refused.
        let secrets = needs.portable.files.filter(\.isSecret)
        lines += secrets.map { "# item \(self.key($0)): \($0.hint)" }
        if !secrets.isEmpty {
            let items = secrets.map { "\(self.key($0))=…" }.joined(separator: " ")
            lines.append("# nomad var put nomad/jobs/\(needs.name.label) \(items)")
        }
        for file in needs.plainFiles {
            lines.append(
                "# \(file.origin ?? file.name) must be fetched to local/files/\(file.name): add an artifact block")
        }
        let writable = [directory, "/alloc", "/local"]
        for place in needs.absoluteDirectories
        where !writable.contains(where: { "\(place.path)/".hasPrefix("\($0)/") }) {
            lines.append(
                "# \(place.path) is read-only in the container: add a writable volume, or use a relative path"
            )
        }
        if needs.graceSeconds > Self.usualKillTimeout {
            lines.append(
                "# Nomad clients limit kill_timeout to their max_kill_timeout (\(Self.usualKillTimeout)s): raise it to \(needs.graceSeconds)s"
            )
        }
        lines += [
            "job \"\(needs.name.label)\" {", "  type = \"batch\"", "  group \"room\" {", "    count = 1",
            "    restart {", "      attempts = 3", "      interval = \"5m\"", "      delay    = \"1s\"",
            "      mode     = \"fail\"", "    }", "    reschedule {", "      delay          = \"5s\"",
            "      delay_function = \"constant\"", "      unlimited      = true", "    }", "    network {",
            "      mode = \"host\"",
        ]
        var numbers: Set<Int> = []
        for port in needs.ingestPorts + [needs.viewers, needs.control].compactMap(\.self)
        // A port is reserved for TCP and UDP together.
        where numbers.insert(port.number).inserted {
            lines += ["      port \"\(port.name)\" {", "        static = \(port.number)", "      }"]
        }
        lines += [
            "    }", "    task \"tandem\" {", "      driver       = \"docker\"", "      kill_signal  = \"SIGTERM\"",
            "      kill_timeout = \"\(needs.graceSeconds)s\"",
            "      user         = \"\(RoomDeployment.user):\(RoomDeployment.user)\"",
            "      config {", "        image           = \(self.quoted(request.image))",
            "        args            = [\"run\", \"--ended-ok\", \"/local/pipeline.json\"]",
            "        work_dir        = \"\(directory)\"",
            "        network_mode    = \"host\"", "        readonly_rootfs = true",
            "        cap_drop        = [\"all\"]",
        ]
        if let storage = request.storage {
            lines.append("        volumes         = [\(self.quoted("\(storage):\(RoomDeployment.workingDirectory)"))]")
        }
        lines += [
            "      }", "      resources {", "        # In MHz, assuming cores of 2.5 GHz.",
            "        cpu        = \((needs.cost.peakMillicores * 5 + 1) / 2)",
            "        memory     = \(needs.memoryMiB)",
            "        memory_max = \(needs.memoryLimitMiB)", "      }",
        ]
        lines += self.template(needs.pipelineText, to: "local/pipeline.json", isSecret: false)
        for file in needs.secretFiles {
            lines += self.template(self.value(needs, file), to: "secrets/\(file.name)", isSecret: true)
        }
        if !needs.variables.isEmpty {
            let text = needs.variables.map { "\($0.name)=\(self.value(needs, $0.file))\n" }.joined()
            lines += self.template(text, to: "secrets/environment", isSecret: true, isEnvironment: true)
        }
        lines += ["    }", "  }", "}"]
        return [ManifestFile("\(needs.name.label).nomad.hcl", lines.map { $0 + "\n" }.joined())]
    }

    /// Default of a Nomad client's `max_kill_timeout`, in seconds.
    private static let usualKillTimeout = 30

    /// Returns a template expression that reads a Nomad variable.
    private static func value(_ needs: RoomDeployment, _ file: PortableFile) -> String {
        "[[ with nomadVar \"nomad/jobs/\(needs.name.label)\" ]][[ .\(self.key(file)) ]][[ end ]]"
    }

    private static func key(_ file: PortableFile) -> String { String(file.name.map { $0 == "-" ? "_" : $0 }) }

    /// Returns the lines of a template block. The template uses brackets as delimiters, because JSON is full of braces;
    /// HCL interpolation is escaped.
    private static func template(
        _ text: String, to path: String, isSecret: Bool, isEnvironment: Bool = false
    ) -> [String] {
        var escaped = ""
        for character in text {
            if character == "{", escaped.hasSuffix("$") || escaped.hasSuffix("%") {
                escaped.append(escaped.hasSuffix("$") ? "$" : "%")
            }
            escaped.append(character)
        }
        if escaped.hasSuffix("\n") { escaped.removeLast() }
        var lines = [
            "      template {", "        destination     = \"\(path)\"",
            "        left_delimiter  = \"\(isSecret ? "[[" : "[[[[")\"",
            "        right_delimiter = \"\(isSecret ? "]]" : "]]]]")\"",
        ]
        if isSecret { lines.append("        perms           = \"0444\"") }
        if isEnvironment { lines.append("        env             = true") }
        return lines + ["        data            = <<TANDEM", escaped, "TANDEM", "      }"]
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
    }
}
