import Control
package import MediaTypes
package import PipelineSpec
package import Push
import Secrets

extension RTMPOutput {
    /// What it is to do.
    ///
    /// - Parameter bitrate: Of the rendition, in bits per second.
    /// - Throws: ``MediaError`` for a secret that cannot be read, and for what is no URL.
    package func settings(rendition: String, bitrate: Int) throws(MediaError) -> PushSettings {
        let place = "output[\(self.outputID)]"
        let text = try self.url.resolved(place: place)
        let key = try self.key?.resolved(place: place)
        if let key, !RTMPOutput.isKey(key) {
            throw MediaError(
                .rejected, "the key is not one line of 1 to 256 printable ASCII characters", at: place,
                fix: "write the stream key, and nothing else, where the output looks for it")
        }
        guard let url = RTMPURL(text, allowsTLS: true, key: key), url.streamName.first.map({ $0 != "?" }) == true else {
            throw MediaError(
                .rejected, "the URL is not rtmp://host[:port]/app/key", at: place, fix: "correct it, or its key")
        }
        var core = PushCore.Settings(url: url)
        core.stallTimeout = Int64(self.stallTimeoutMs) * 1_000_000
        core.firstRetry = Int64(self.retry.initialDelayMs) * 1_000_000
        core.longestRetry = Int64(self.retry.maxDelayMs) * 1_000_000
        // Half a second of media: whoever hangs is to be seen before the next two are overdue.
        core.acknowledgementWindow = UInt32(clamping: min(max(bitrate / 16, 32 << 10), 1 << 20))
        var settings = PushSettings(outputID: self.outputID, rendition: rendition, core: core)
        settings.authorities = self.tls.authorities
        settings.trustsAnybody = !self.tls.verify
        return settings
    }
}

extension Room {
    /// Begins the RTMP outputs; they connect once something is on air.
    ///
    /// - Throws: ``MediaError`` for secrets and authorities that cannot be read.
    func startPushes() throws(MediaError) {
        guard let live = self.live else { return }
        self.listeners.update { $0.live = live.outputs }
        let pipeline = self.pipeline
        try live.outputs.start(Self.settings(of: pipeline.pushes, in: pipeline)) { [weak self] in
            self?.push($0, did: $1)
        }
    }

    private static func settings(
        of outputs: [RTMPOutput], in pipeline: Pipeline
    ) throws(MediaError) -> [PushSettings] {
        var settings: [PushSettings] = []
        for output in outputs {
            guard let rendition = pipeline.rendition(of: output) else { continue }
            let sound = rendition.audio.first.flatMap { name in pipeline.audioRenditions.first { $0.name == name } }
            let bitrate = (rendition.isAudioOnly ? 0 : rendition.video.bitrate) + (sound?.bitrate ?? 0)
            settings.append(try output.settings(rendition: rendition.name, bitrate: bitrate))
        }
        return settings
    }

    /// The RTMP outputs that end and that begin with another version of the document.
    struct PushChange {
        var gone: Set<String>
        var made: [PreparedOutput]
        /// All ids, in the order of the pipeline.
        var order: [String]
    }

    /// What is to be done with the RTMP outputs, with their secrets and authorities read; `nil`: nothing.
    func pushChange(from before: Pipeline, to after: Pipeline) throws(ControlFailure) -> PushChange? {
        guard let live = self.live, before.pushes != after.pushes else { return nil }
        let gone = before.pushes.filter { !after.pushes.contains($0) }.map(\.outputID)
        let begun = after.pushes.filter { !before.pushes.contains($0) }
        do throws(MediaError) {
            let made = try live.outputs.prepare(try Self.settings(of: begun, in: after))
            return PushChange(gone: Set(gone), made: made, order: after.pushes.map(\.outputID))
        } catch {
            let index = after.outputs.firstIndex { error.place == "output[\($0.outputID)]" }
            throw .invalidValue(index.map { "outputs[\($0)]" } ?? "outputs", error.what, fix: error.fix)
        }
    }

    /// Servers are met and left on the outputs' own thread.
    func apply(_ change: PushChange) {
        self.live?.outputs.change(
            removing: change.gone, adding: change.made, order: change.order,
            reason: "the room's document has changed"
        ) { [weak self] in self?.push($0, did: $1) }
    }

    /// Takes leave of the output's server and begins anew.
    ///
    /// - Returns: False where there are no such outputs.
    func restart(_ output: RTMPOutput, in pipeline: Pipeline) throws(ControlFailure) -> Bool {
        guard let live = self.live else { return false }
        do throws(MediaError) {
            live.outputs.change(
                removing: [output.outputID],
                adding: try live.outputs.prepare(try Self.settings(of: [output], in: pipeline)),
                order: pipeline.pushes.map(\.outputID), reason: "an operator restarts it"
            ) { [weak self] in self?.push($0, did: $1) }
            return true
        } catch {
            throw ControlFailure(code: "requestFailed", number: 1417, status: 409, what: error.what, fix: error.fix)
        }
    }

    /// What the outputs report, on their thread.
    private func push(_ status: PushStatus, did event: PushCore.Event) {
        let (id, url, rendition) = (
            JSONValue.string(status.outputID), JSONValue.string(status.url), JSONValue.string(status.rendition)
        )
        switch event {
        case .connecting:
            self.events.emit("output.connecting", ["outputId": id, "url": url, "rendition": rendition])
        case .live:
            self.events.emit(
                "output.live", ["outputId": id, "url": url, "rendition": rendition, "level": "normal"])
        case .failed(let failure, let reason, let retryMs):
            self.events.emit(
                "output.failed",
                [
                    "outputId": id, "url": url, "rendition": rendition, "level": "alert_2",
                    "code": .string(failure.rawValue), "reason": .string(reason), "retryMs": JSONValue(retryMs),
                ])
        case .stopped(let reason):
            self.events.emit(
                "output.stopped", ["outputId": id, "url": url, "rendition": rendition, "reason": .string(reason)])
        }
    }

    /// As the room's document shows it beside the output's id and type.
    static func members(_ push: PushStatus) -> [JSONValue.Member] {
        [
            .init("url", .string(push.url)), .init("rendition", .string(push.rendition)),
            .init("state", .string(push.state.rawValue)), .init("bytes", .integer(Int64(clamping: push.bytes))),
            .init("acknowledged", push.acknowledged.map { .integer(Int64(clamping: $0)) } ?? .null),
            .init("dropped", JSONValue(push.dropped)), .init("queuedMs", .integer(push.queuedMs)),
            .init("retries", JSONValue(push.retries)), .init("lastError", JSONValue(push.lastError)),
            .init("code", JSONValue(push.lastFailure?.rawValue)),
        ]
    }

    func addPushes(_ metrics: inout MetricsText) {
        guard let live = self.live?.outputs else { return }
        let rows = live.statuses
        if !rows.isEmpty {
            metrics.family("tandem_output_state", .gauge, "1 for the state the RTMP output is in.")
            for row in rows {
                for one in PushCore.State.allCases {
                    metrics.sample(
                        "tandem_output_state", ["output": row.outputID, "state": one.rawValue],
                        one == row.state ? 1 : 0)
                }
            }
            metrics.family("tandem_output_sent_bytes_total", .counter, "Bytes sent to the RTMP server.")
            for row in rows {
                metrics.sample(
                    "tandem_output_sent_bytes_total", ["output": row.outputID], Int64(clamping: row.bytes))
            }
            metrics.family(
                "tandem_output_dropped_packets_total", .counter, "Packets that the RTMP server was too slow for.")
            for row in rows {
                metrics.sample("tandem_output_dropped_packets_total", ["output": row.outputID], Int64(row.dropped))
            }
            metrics.family("tandem_output_retries_total", .counter, "Attempts after the first.")
            for row in rows {
                metrics.sample("tandem_output_retries_total", ["output": row.outputID], Int64(row.retries))
            }
            metrics.family("tandem_output_queue_seconds", .gauge, "Media that waits for the RTMP server.")
            for row in rows {
                metrics.seconds(
                    "tandem_output_queue_seconds", ["output": row.outputID], nanoseconds: row.queuedMs * 1_000_000)
            }
        }
    }
}
