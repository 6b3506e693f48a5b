import Control
import Encoding
import Events
import LibAV
import Logging
import MediaTypes
import PipelineSpec
import RoomAPI
import RoomOutputs

/// Renditions whose hardware encoder was replaced by libx264: event, alarms, metrics and state.
struct EncoderReports {
    let ladder: EncodingStage
    let renditions: [Rendition]
    let events: RoomEvents
    let logger: Logger

    /// Announces that libx264 encodes a rendition instead of its hardware encoder.
    func fellBack(_ track: Int, _ fallback: EncoderFallback) {
        guard self.ladder.renditions.indices.contains(track) else { return }
        let name = self.ladder.renditions[track].name
        self.logger.warning(
            "libx264 replaces a hardware encoder",
            metadata: ["rendition": "\(name)", "encoder": "\(fallback.from.rawValue)", "error": "\(fallback.error)"])
        self.events.emit(
            "encoder.fallback",
            [
                "rendition": .string(name), "encoder": .string(fallback.from.rawValue),
                "tick": fallback.tick.map { .integer($0) } ?? .null, "reason": .string(fallback.error.description),
                "fix": .string(fallback.error.fix),
            ])
    }

    /// Announces hardware encoders that did not open at the start. Called after `room.ready`.
    func announceAtStart() {
        for (track, fallback) in self.ladder.control.fallbacks.sorted(by: { $0.key < $1.key })
        where fallback.tick == nil { self.fellBack(track, fallback) }
    }

    /// One alarm for each rendition that libx264 encodes instead of its hardware encoder; they last until the room
    /// ends.
    var alarms: [RoomAlarm] {
        self.ladder.control.fallbacks.sorted { $0.key < $1.key }.compactMap { track, fallback in
            guard self.ladder.renditions.indices.contains(track) else { return nil }
            let name = self.ladder.renditions[track].name
            return RoomAlarm(
                "encoder.fallback", "alert_2", kind: "encoder", subject: name,
                message: "\(name): libx264 encodes instead of \(fallback.from.rawValue): \(fallback.error.what)")
        }
    }

    /// Name of the encoder that a rendition has now; nil if the rendition has only audio.
    func encoder(of rendition: Rendition) -> String? {
        guard !rendition.isAudioOnly,
            let track = self.ladder.renditions.firstIndex(where: { $0.name == rendition.name })
        else { return nil }
        let isReplaced = self.ladder.control.fallbacks[track] != nil
        return isReplaced ? H264Implementation.libx264.rawValue : rendition.video.encoder.rawValue
    }

    /// Adds the encoder that each rendition has now.
    func addMetrics(_ metrics: inout MetricsText) {
        metrics.family("tandem_rendition_encoder", .gauge, "1 for the encoder that the rendition has.")
        for rendition in self.renditions {
            guard let encoder = self.encoder(of: rendition) else { continue }
            metrics.sample("tandem_rendition_encoder", ["rendition": rendition.name, "encoder": encoder], 1)
        }
    }
}
