package import Control
package import MediaTypes
package import PipelineSpec
import Push

/// The room's RTMP outputs: starts, changes and restarts them, and reports their events.
package struct PushService: OutputService {
    let host: any OutputsHost

    /// Starts the RTMP outputs. Each connects as soon as its rendition has packets.
    ///
    /// - Throws: ``MediaError`` if secrets or CA certificates cannot be read.
    package func start(_ pipeline: Pipeline) throws(MediaError) {
        try self.stages.live?.outputs.start(Self.settings(of: pipeline.pushes, in: pipeline), events: self.report)
    }

    private static func settings(
        of outputs: [RTMPOutput], in pipeline: Pipeline
    ) throws(MediaError) -> [PushSettings] {
        var settings: [PushSettings] = []
        for output in outputs {
            guard let rendition = pipeline.rendition(of: output) else { continue }
            let audio = rendition.audio.first.flatMap { name in pipeline.audioRenditions.first { $0.name == name } }
            let bitrate = (rendition.isAudioOnly ? 0 : rendition.video.bitrate) + (audio?.bitrate ?? 0)
            settings.append(try output.settings(rendition: rendition.name, bitrate: bitrate))
        }
        return settings
    }

    /// The RTMP outputs that a new version of the document removes and adds.
    package struct Change: Sendable {
        fileprivate var gone: Set<String>
        fileprivate var made: [PreparedOutput]
        /// Ids of all RTMP outputs, in the order of the pipeline.
        fileprivate var order: [String]
    }

    /// Prepares a change of the RTMP outputs: reads their secrets and CA certificates, but connects to no server.
    ///
    /// - Returns: nil if no RTMP output changes.
    /// - Throws: 422 with the path of the output whose URL, key or CA certificates cannot be used.
    package func change(from before: Pipeline, to after: Pipeline) throws(ControlFailure) -> Change? {
        guard let live = self.stages.live, before.pushes != after.pushes else { return nil }
        let gone = before.pushes.filter { !after.pushes.contains($0) }.map(\.outputID)
        let begun = after.pushes.filter { !before.pushes.contains($0) }
        do throws(MediaError) {
            let made = try live.outputs.prepare(try Self.settings(of: begun, in: after))
            return Change(gone: Set(gone), made: made, order: after.pushes.map(\.outputID))
        } catch {
            let index = after.outputs.firstIndex { error.place == "output[\($0.outputID)]" }
            throw .invalidValue(index.map { "outputs[\($0)]" } ?? "outputs", error.what, fix: error.fix)
        }
    }

    /// Carries out a change. Servers are connected and disconnected on the thread of the outputs.
    package func apply(_ change: Change) {
        self.stages.live?.outputs.change(
            removing: change.gone, adding: change.made, order: change.order,
            reason: "the room's document has changed", events: self.report)
    }

    /// Disconnects the output from its server and connects again.
    ///
    /// - Returns: False for an offline job, which has no RTMP outputs.
    /// - Throws: 409 if the output's URL, key or CA certificates cannot be used.
    package func restart(_ output: RTMPOutput, in pipeline: Pipeline) throws(ControlFailure) -> Bool {
        guard let live = self.stages.live else { return false }
        do throws(MediaError) {
            live.outputs.change(
                removing: [output.outputID],
                adding: try live.outputs.prepare(try Self.settings(of: [output], in: pipeline)),
                order: pipeline.pushes.map(\.outputID), reason: "an operator restarts the output", events: self.report)
            return true
        } catch {
            throw .conflict(error.what, fix: error.fix)
        }
    }

    private var report: @Sendable (PushStatus, PushCore.Event) -> Void {
        { [events = self.events] in Self.report($0, $1, events) }
    }

    /// Emits the events of the RTMP outputs. Called on their thread.
    private static func report(_ status: PushStatus, _ event: PushCore.Event, _ events: any OutputEvents) {
        let (id, url, rendition) = (
            JSONValue.string(status.outputID), JSONValue.string(status.url), JSONValue.string(status.rendition)
        )
        switch event {
        case .connecting:
            events.emit("output.connecting", ["outputId": id, "url": url, "rendition": rendition])
        case .live:
            events.emit(
                "output.live", ["outputId": id, "url": url, "rendition": rendition, "level": "normal"])
        case .failed(let failure, let reason, let retryMs):
            events.emit(
                "output.failed",
                [
                    "outputId": id, "url": url, "rendition": rendition, "level": "alert_2",
                    "code": .string(failure.rawValue), "reason": .string(reason), "retryMs": JSONValue(retryMs),
                ])
        case .stopped(let reason):
            events.emit(
                "output.stopped", ["outputId": id, "url": url, "rendition": rendition, "reason": .string(reason)])
        }
    }

    /// Adds metrics of the RTMP outputs.
    package func addMetrics(to metrics: inout MetricsText) {
        let rows = self.stages.live?.outputs.statuses ?? []
        guard !rows.isEmpty else { return }
        metrics.family("tandem_output_state", .gauge, "1 for the state the RTMP output is in.")
        for row in rows {
            for one in PushCore.State.allCases {
                metrics.sample(
                    "tandem_output_state", ["output": row.outputID, "state": one.rawValue], one == row.state ? 1 : 0)
            }
        }
        func each(_ name: String, _ help: String, _ value: (PushStatus) -> Int64) {
            metrics.family(name, .counter, help)
            for row in rows { metrics.sample(name, ["output": row.outputID], value(row)) }
        }
        each("tandem_output_sent_bytes_total", "Bytes sent to the RTMP server.") { Int64(clamping: $0.bytes) }
        each(
            "tandem_output_dropped_packets_total",
            "Packets dropped because the RTMP server was too slow or a connection failed."
        ) { Int64($0.dropped) }
        each("tandem_output_retries_total", "Connection attempts after a failure.") { Int64($0.retries) }
        metrics.family("tandem_output_queue_seconds", .gauge, "Media waiting for the RTMP server.")
        for row in rows {
            metrics.seconds(
                "tandem_output_queue_seconds", ["output": row.outputID], nanoseconds: row.queuedMs * 1_000_000)
        }
    }
}
