package import MediaTypes

/// Output that sends renditions to WebRTC viewers, who ask for them with WHEP at the viewers' listener of the HLS output.
///
/// The video is that of the renditions; the audio is encoded as Opus while somebody watches.
package struct WebRTCOutput: Sendable, Hashable {
    /// Id of the output: `[A-Za-z0-9_.-]{1,64}`. Default `webrtc`.
    package var outputID = "webrtc"
    /// Names of the renditions that viewers can watch; the first one is played at `/whep`. Empty: the largest rendition
    /// with video.
    package var renditions: [String] = []
    /// Address from which all viewers receive their media, by UDP, or by TCP if their network blocks UDP. Default
    /// `0.0.0.0:8190`.
    package var udp = ListenAddress.tcp(host: "0.0.0.0", port: 8190)
    /// IP addresses at which viewers reach the UDP port; empty: the address of ``udp``, which then is not a wildcard.
    package var publicAddresses: [String] = []
    /// Bit rate of the Opus stream in bit/s (16,000…256,000). Default 128,000.
    package var audioBitrate = 128_000
    /// Maximum number of concurrent viewers (1…10,000). Default 100.
    package var maxViewers = 100

    package init() {}

    /// The preset of the output's renditions that name none.
    static let preset = VideoEncoding.Preset.tandemRealtime

    static let rule = ObjectRule(
        "sends renditions to WebRTC viewers (WHEP) with a delay of less than a second; needs the hls output's viewers' listener",
        WebRTCOutput(),
        [
            Field("type", always: "webrtc", isRequired: true, "the kind of output"),
            .outputID(\.outputID),
            Field(
                "rendition", \.renditions, .names(32, marks: "_-", upTo: 16),
                "name or names of the renditions that viewers can watch, without B-frames; the first is played at /whep, each at /whep/NAME; default the largest rendition with video",
                derived: true),
            Field(
                "udp", \.udp, .address(unix: false),
                "host:port of UDP, from which all viewers receive their media, and of TCP for viewers whose network blocks UDP; port 0: any free port"
            ),
            Field(
                "publicAddresses", \.publicAddresses, .list(of: .ipLiteral, 0...8, standIn: "127.0.0.1"),
                "IP addresses at which viewers reach the UDP port; default the address of udp, unless that is 0.0.0.0 or ::"
            ),
            Field(
                "audioBitrate", \.audioBitrate, .integer(16_000...256_000),
                "bit rate of the audio (Opus) in bit/s; it is encoded only while somebody watches"),
            Field(
                "maxViewers", \.maxViewers, .integer(1...10_000),
                "maximum number of concurrent viewers; further ones get status 503"),
        ])
}

extension Pipeline {
    /// The WebRTC output; `nil` if there is none.
    package var webRTCOutput: WebRTCOutput? {
        for case .webRTC(let output) in self.outputs { return output }
        return nil
    }

    /// The renditions that WebRTC viewers can watch, the default one first; empty without a WebRTC output.
    package var webRTCRenditions: [Rendition] {
        guard let output = self.webRTCOutput else { return [] }
        if output.renditions.isEmpty { return self.largestRendition.map { [$0] } ?? [] }
        return output.renditions.compactMap { name in self.renditions.first { $0.name == name } }
    }

    /// The first of the renditions with the most pixels; `nil` if all are audio only.
    private var largestRendition: Rendition? {
        self.videoRenditions.reduce(nil) { best, next in
            guard let best else { return next }
            return next.width * next.height > best.width * best.height ? next : best
        }
    }

    /// Whether a rendition is sent to WebRTC viewers.
    package func isForWebRTC(_ rendition: Rendition) -> Bool {
        self.webRTCRenditions.contains { $0.name == rendition.name }
    }
}

extension PipelineRules {
    /// Checks that viewers can reach the output, and that they can show its renditions.
    func check(_ output: WebRTCOutput, _ path: String, _ log: inout SpecLog) {
        if self.pipeline.clock == .offline, log.isValid("clock") {
            log.mistake(
                path, "a webrtc output needs a live room, but clock is \"offline\"",
                fix: "remove this output, or remove clock")
        }
        self.checkListener(path, &log)
        self.checkPaths(path, &log)
        if output.publicAddresses.isEmpty, output.udp.ipAddress.map({ $0.isUnspecified }) ?? true,
            log.isValid("\(path).udp", "\(path).publicAddresses")
        {
            log.mistake(
                "\(path).publicAddresses",
                "is empty, and \(output.udp) is not the address of one interface, so it is not known where viewers can connect",
                fix: "list the IP addresses at which viewers reach this machine, or put one of them into udp")
        }
        guard log.isValid("\(path).rendition", "renditions") else { return }
        for name in output.renditions where !self.pipeline.renditions.contains(where: { $0.name == name }) {
            log.mistake(
                "\(path).rendition", "there is no rendition \(SpecText.quoted(name))",
                fix: "write \(SpecText.choice(self.pipeline.renditions.map(\.name), quoted: true))")
        }
        if output.renditions.isEmpty, self.pipeline.videoRenditions.isEmpty {
            log.mistake(
                "\(path).rendition", "is missing, and no rendition has video to be sent by default",
                fix: "write \(SpecText.choice(self.pipeline.renditions.map(\.name), quoted: true))")
        }
        for (index, rendition) in self.pipeline.renditions.enumerated() where self.pipeline.isForWebRTC(rendition) {
            self.checkOrder(of: rendition, "renditions[\(index)]", for: path, &log)
        }
    }

    /// Checks that no rendition's files have paths below `/whep`, where viewers send their requests.
    private func checkPaths(_ path: String, _ log: inout SpecLog) {
        let lists = [
            ("renditions", self.pipeline.renditions.map(\.name)),
            ("audioRenditions", self.pipeline.audioRenditions.map(\.name)),
        ]
        for (list, names) in lists {
            for (index, name) in names.enumerated() where name == "whep" && log.isValid("\(list)[\(index)].name") {
                log.mistake(
                    "\(list)[\(index)].name",
                    "viewers could not get the files of this rendition: paths below /whep are those of \(path)",
                    fix: "use another name")
            }
        }
    }

    /// Checks that there is a viewers' listener, and that the HLS output is not encrypted: this output would send the same
    /// media without that encryption.
    private func checkListener(_ path: String, _ log: inout SpecLog) {
        guard let hls = self.pipeline.hls, hls.http.listen != nil || self.pipeline.clock == .offline else {
            let index = self.pipeline.outputs.firstIndex { if case .hls = $0 { true } else { false } }
            guard index.map({ log.isValid("outputs[\($0)].http.listen") }) ?? log.isValid("outputs") else { return }
            log.mistake(
                path, "viewers ask for WebRTC at the viewers' listener of an hls output, and there is none",
                fix: index.map { "remove \"listen\": null from outputs[\($0)].http" }
                    ?? "add { \"type\": \"hls\", \"path\": … }")
            return
        }
        if hls.encryption != nil {
            log.mistake(
                path, "the hls output is encrypted, but WebRTC viewers would get the media without its keys",
                fix: "remove this output, or remove the hls output's encryption")
        }
    }

    /// Checks that a rendition has no B-frames: browsers show the frames of WebRTC in the order in which they arrive.
    private func checkOrder(of rendition: Rendition, _ path: String, for output: String, _ log: inout SpecLog) {
        guard !rendition.isAudioOnly, rendition.video.bFrames > 0,
            log.isValid("\(path).video.bFrames", "\(path).video.preset")
        else { return }
        if log.isWritten("\(path).video.bFrames") {
            log.mistake(
                "\(path).video.bFrames",
                "\(output) sends this rendition to WebRTC viewers, which cannot show B-frames",
                fix: "write 0, or name another rendition in \(output).rendition")
        } else {
            log.mistake(
                "\(path).video.preset",
                "\(rendition.video.preset.rawValue) uses B-frames, and \(output) sends this rendition to WebRTC viewers, which cannot show them",
                fix: "add \"bFrames\": 0, or remove the preset for the default of \(WebRTCOutput.preset.rawValue)")
        }
    }
}
