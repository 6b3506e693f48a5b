package import Control
package import Encoding
import HLS
package import Logging
package import MediaTypes
package import PipelineSpec
import Synchronization
package import WHEP

/// Passes the encoders' packets to the renditions that WebRTC viewers can watch, and encodes the audio for them.
///
/// All viewers hear the same Opus stream. It is encoded while somebody watches.
package final class WebRTCFeeds: Sendable {
    /// The number of feeds whose viewers need the audio.
    private final class AudioDemand: Sendable {
        private struct State {
            // Weak, since the encoder's thread refers to the feeds, and they to this object.
            weak var stage: OpusStage?
            var listeners = 0
        }

        private let state = Mutex(State())

        func set(_ stage: OpusStage) {
            self.state.withLock { state in
                state.stage = stage
                stage.setNeeded(state.listeners > 0)
            }
        }

        func change(_ isNeeded: Bool) {
            self.state.withLock { state in
                state.listeners = max(0, state.listeners + (isNeeded ? 1 : -1))
                state.stage?.setNeeded(state.listeners > 0)
            }
        }
    }

    /// The feeds of the renditions; the first one is the output's default.
    private let feeds: [WHEPFeed]
    /// The feed of each encoder track with video; nil for a rendition that the output does not send.
    private let tracks: [WHEPFeed?]
    private let audio: OpusStage
    private let output: WebRTCOutput
    private let server = Mutex<WHEPServer?>(nil)

    private init(_ output: WebRTCOutput, feeds: [WHEPFeed], tracks: [WHEPFeed?], audio: OpusStage) {
        (self.output, self.feeds, self.tracks, self.audio) = (output, feeds, tracks, audio)
    }

    /// Makes the feeds, and starts the thread that encodes the audio; nil without a WebRTC output, and for an offline job.
    ///
    /// - Parameter failed: Called once if the audio encoder fails; viewers then only get video.
    /// - Throws: ``MediaError/Code/unavailable`` if this FFmpeg cannot encode Opus.
    package static func open(
        _ pipeline: Pipeline, failed: @escaping @Sendable (MediaError) -> Void
    ) throws(MediaError) -> WebRTCFeeds? {
        guard let output = pipeline.webRTCOutput, pipeline.clock == .live else { return nil }
        let demand = AudioDemand()
        let feeds = pipeline.webRTCRenditions.map { rendition in
            let hasAudio = !rendition.audio.isEmpty
            return WHEPFeed(name: rendition.name, hasVideo: !rendition.isAudioOnly, hasAudio: hasAudio) { isNeeded in
                if hasAudio { demand.change(isNeeded) }
            }
        }
        guard !feeds.isEmpty else { return nil }
        let stage = try OpusStage.open(
            bitrate: output.audioBitrate,
            packet: { packet in
                // The codec's delay would put the first packet of a program before its start.
                guard packet.pts >= 0 else { return }
                for feed in feeds { feed.receiveAudio(packet) }
            }, failed: failed)
        demand.set(stage)
        let tracks = pipeline.videoRenditions.map { rendition in feeds.first { $0.name == rendition.name } }
        return WebRTCFeeds(output, feeds: feeds, tracks: tracks, audio: stage)
    }

    // MARK: Calls from the encoders

    /// Sets the codec parameters when the encoders are open.
    package func begin(_ parameters: [CodecParameters]) {
        for (track, parameters) in parameters.enumerated() { self.configure(track: track, parameters) }
    }

    /// Changes the format of a track. Called on the thread of ``receive(track:_:)``.
    package func configure(track: Int, _ change: EncodingStage.Reconfiguration) {
        self.configure(track: track, change.parameters, width: change.width, height: change.height)
    }

    /// Passes an encoded packet of a track to its feed; without effect for audio, which is encoded again.
    package func receive(track: Int, _ packet: CodedPacket) {
        guard self.tracks.indices.contains(track) else { return }
        self.tracks[track]?.receive(packet)
    }

    /// Adds interleaved stereo of the mixer, the first pair at `position`. Does not block.
    package func put(audio samples: [Float], position: Int64) { self.audio.put(samples, position: position) }

    private func configure(track: Int, _ parameters: CodecParameters, width: Int = 0, height: Int = 0) {
        guard self.tracks.indices.contains(track), let feed = self.tracks[track], parameters.kind == .video,
            let record = AVCConfiguration(extradata: parameters.configuration)?.record
        else { return }
        feed.configure(
            CodecParameters(codec: parameters.codec, configuration: record), width: width, height: height)
    }

    /// Ends the audio encoder, then every feed: viewers are disconnected. Called after the last packet.
    package func finish() {
        self.audio.finish()
        for feed in self.feeds { feed.end() }
    }

    // MARK: The server

    /// Opens the UDP socket for the viewers.
    ///
    /// - Parameter wallClock: Returns nanoseconds since 1970.
    /// - Throws: Errors of ``WHEPServer/start(_:feeds:clock:wallClock:logger:)``.
    package func start(
        clock: any MonotonicClock, wallClock: @escaping @Sendable () -> Int64, logger: Logger
    ) async throws(MediaError) -> WHEPServer {
        let settings = WHEPSettings(
            udp: self.output.udp.description, rendition: self.feeds.first?.name ?? "",
            publicAddresses: self.output.publicAddresses, maxViewers: self.output.maxViewers)
        let server = try await WHEPServer.start(
            settings, feeds: self.feeds, clock: clock, wallClock: wallClock, logger: logger)
        self.server.withLock { $0 = server }
        return server
    }

    /// Name of the rendition that `/whep` plays.
    var rendition: String? { self.feeds.first?.name }
    /// `HOST:PORT` of the UDP socket; nil before ``start(clock:wallClock:logger:)``.
    var address: String? { self.server.withLock { $0?.boundAddress } }
    /// The measurements of the viewers so far.
    package var statistics: WHEPStatistics { self.server.withLock { $0?.statistics } ?? WHEPStatistics() }

    /// Adds metrics of the WebRTC viewers.
    package func addMetrics(to metrics: inout MetricsText) {
        let values = self.statistics
        metrics.family("tandem_whep_viewers", .gauge, "Connected WebRTC viewers by rendition.")
        for feed in self.feeds {
            metrics.sample("tandem_whep_viewers", ["rendition": feed.name], Int64(values.renditions[feed.name] ?? 0))
        }
        func each(_ name: String, _ help: String, _ value: UInt64) {
            metrics.family(name, .counter, help)
            metrics.sample(name, Int64(clamping: value))
        }
        each("tandem_whep_sessions_total", "WebRTC viewers that have connected.", values.sessions)
        each("tandem_whep_refused_total", "Offers of WebRTC viewers that were refused.", values.refused)
        each("tandem_whep_sent_bytes_total", "Bytes sent to WebRTC viewers, retransmissions included.", values.bytes)
        each(
            "tandem_whep_sent_packets_total", "Packets sent to WebRTC viewers, retransmissions included.",
            values.packets)
        each(
            "tandem_whep_retransmitted_packets_total", "Packets sent to WebRTC viewers again.", values.retransmitted)
        each("tandem_whep_lost_packets_total", "Packets that WebRTC viewers reported as lost.", values.lost)
        each(
            "tandem_whep_key_frame_requests_total", "Key frames that WebRTC viewers asked for (PLI and FIR).",
            values.pictureLossRequests)
        each(
            "tandem_whep_skipped_gops_total",
            "GOPs skipped because a WebRTC viewer was too slow, counted per viewer.",
            values.skippedGOPs)
    }
}
