import PipelineSpec

/// A room for systemd: an instance of `tandem@.service`, its pipeline, and what it alone needs.
package enum SystemdManifest {
    /// The template of all rooms, `deploy/tandem@.service`.
    package static let unit = """
        # A room by systemd: `systemctl start tandem@ROOM` runs /etc/tandem/ROOM.json, as `tandem manifest --for systemd` makes it.
        # Written by Tandem (Sources/Manifest); a test holds the two in step.
        [Unit]
        Description=Tandem, room %i
        After=network-online.target
        Wants=network-online.target
        StartLimitIntervalSec=60
        StartLimitBurst=5

        [Service]
        Type=notify
        NotifyAccess=main
        ExecStart=/usr/bin/tandem run --ended-ok /etc/tandem/%i.json
        ExecReload=/bin/kill -HUP $MAINPID
        WatchdogSec=10s
        TimeoutStartSec=30s
        TimeoutStopSec=40s
        KillMode=mixed
        Restart=on-failure
        RestartSec=500ms
        # A drained room (143) ended well; no second try mends these.
        SuccessExitStatus=143
        RestartPreventExitStatus=64 65 66 73 78
        DynamicUser=yes
        RuntimeDirectory=tandem/%i
        StateDirectory=tandem/%i
        WorkingDirectory=%S/tandem/%i
        LimitNOFILE=65536
        # A core file would hold stream keys and tokens. With LimitCORE=infinity and Environment=TANDEM_CORE_DUMPS=1 there is one.
        LimitCORE=0
        # A room's own drop-in has its own.
        MemoryMax=4G
        # The clock's thread asks to run before the encoders when the machine is full.
        LimitNICE=-10
        OOMPolicy=stop
        NoNewPrivileges=yes
        ProtectSystem=strict
        ProtectHome=yes
        PrivateTmp=yes
        PrivateDevices=yes
        ProtectKernelTunables=yes
        ProtectKernelModules=yes
        ProtectKernelLogs=yes
        ProtectControlGroups=yes
        ProtectClock=yes
        ProtectHostname=yes
        ProtectProc=invisible
        ProcSubset=pid
        RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        LockPersonality=yes
        RemoveIPC=yes
        KeyringMode=private
        # Files are for the user and its group; a room's drop-in opens those that another service reads.
        UMask=0027
        CapabilityBoundingSet=
        AmbientCapabilities=
        SystemCallArchitectures=native
        SystemCallFilter=@system-service
        SystemCallFilter=~@privileged
        SystemCallErrorNumber=EPERM

        [Install]
        WantedBy=multi-user.target

        """

    /// The drop-in, the pipeline and the template, by their paths below `/etc`.
    package static func files(_ request: ManifestRequest) -> [ManifestFile] {
        let roomID = request.pipeline.room.roomID
        let needs = RoomNeeds(
            request,
            places: PortablePipeline.Places(
                secrets: "/run/credentials/tandem@\(roomID).service", files: "/etc/tandem/\(roomID).files",
                control: "unix:/run/tandem/\(roomID)/control.sock"))
        var lines = needs.head("systemd").map { "# \($0)" }
        lines.append("# Goes to /etc/systemd/system/tandem@\(roomID).service.d/room.conf")
        for file in needs.plainFiles {
            lines.append("# Copy \(file.origin ?? file.name) to /etc/tandem/\(roomID).files/\(file.name)")
        }
        lines += [
            "[Service]", "# A hundred is a core's worth of weight: rooms that need more get more when all want all.",
            "CPUWeight=\(min(10_000, max(1, needs.cost.peakMillicores / 10)))",
            "MemoryHigh=\(needs.memoryLimitMiB * 9 / 10)M", "MemoryMax=\(needs.memoryLimitMiB)M",
            "TimeoutStopSec=\(needs.graceSeconds)s",
        ]
        let outside = needs.absoluteDirectories.map(\.path)
        if !outside.isEmpty {
            lines += [
                "# These must be there, writable for a user that is made at the start (DynamicUser): of a group, which is named",
                "# here by SupplementaryGroups=GROUP. What has a relative path lies below /var/lib/tandem and needs nothing.",
                "ReadWritePaths=\(outside.map(Self.listed).joined(separator: " "))",
                "# Others may read what is written there, such as a web server of another user.", "UMask=0022",
            ]
        }
        for file in needs.secretFiles {
            lines.append("# \(file.hint)")
            lines.append("LoadCredential=\(file.name):/etc/tandem/\(roomID).secrets/\(file.name)")
        }
        if !needs.variables.isEmpty {
            lines.append("# Readable by root alone, a line NAME=VALUE each:")
            for (name, file) in needs.variables { lines.append("#   \(name): \(file.hint)") }
            lines.append("EnvironmentFile=/etc/tandem/\(roomID).env")
        }
        return [
            ManifestFile("systemd/system/tandem@\(roomID).service.d/room.conf", lines.map { $0 + "\n" }.joined()),
            ManifestFile("tandem/\(roomID).json", needs.pipelineText),
            ManifestFile("systemd/system/tandem@.service", self.unit),
        ]
    }

    /// A path as it stands in a list: systemd parts lists by spaces, and takes per cent signs for specifiers.
    ///
    /// Spec: systemd.syntax(7), "Quoting"; systemd.unit(5), "Specifiers".
    private static func listed(_ path: String) -> String {
        let text = path.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
        guard text.contains(where: { " \t\"'\\".contains($0) }) else { return text }
        return "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
    }
}
